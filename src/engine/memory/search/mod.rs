//! Search in earlier sessions: documents, ranking, digests.

mod index;
mod names;
mod words;

pub use index::{DocumentKind, Documents, RowName, SearchDocument};
