//! Facts of the content of one block: sizes, counts, terms, keywords and a preview.

pub mod encoded;
pub mod excerpts;
pub mod keywords;
mod measure;
pub mod rules;
pub mod terms;

pub use measure::{counts, measure, preview};
