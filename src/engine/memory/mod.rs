//! Memories: the form of their files, and what becomes of them when new candidates arrive.

pub mod markdown;
pub mod words;

pub use markdown::{Document, DocumentError};
