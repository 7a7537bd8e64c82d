//! Memories: the form of their files, and what becomes of them when new candidates arrive.

pub mod export;
pub mod forgotten;
pub mod markdown;
pub mod merge;
pub mod topic;
pub mod words;

pub use export::{SectionError, section, with_section};
pub use forgotten::{FORGOTTEN_FILE, Forgotten};
pub use markdown::{Document, DocumentError};
pub use merge::{Change, ChangeKind, MergeFacts, merge};
