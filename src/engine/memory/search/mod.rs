//! Search in earlier sessions: documents, ranking, digests.

mod digest;
mod index;
mod names;
mod ranking;

pub use digest::digests;
pub use index::Documents;
pub use ranking::{Corpus, Hit, Query, Retrieval, Source, search};
