//! Search over sessions: the index is brought up to date with the files, asked, and what it finds is read from the files.
//!
//! An index that cannot be written is completed in memory, so that an answer never depends on it.

mod find;
mod literal;
mod source;
#[cfg(test)]
mod tests;
mod update;

pub use find::{Adjust, Filter, FoundTurn, Hits, RelatedTurn, Searched, find, related};
pub use literal::{FoundLine, Pattern, PatternError, scan};
pub use source::{Source, SourceKind, prompt_files, turn_texts};
pub use update::{Indexed, hidden_values, update};
