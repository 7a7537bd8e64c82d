//! Facts of the content of one block: sizes, counts, terms, keywords and a preview.

pub mod encoded;
pub mod excerpts;
mod function_words;
pub mod keywords;
mod measure;
pub mod stop_words;
pub mod terms;

pub use measure::{counts, measure, preview};
