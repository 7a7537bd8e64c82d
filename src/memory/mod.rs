//! Memory that outlives sessions: what session files teach, and the trees of Markdown files that keep it. Only this layer writes trees.
//!
//! A change of a tree is one logged operation: prepared in the store, written file by file, committed. An interrupted one is settled
//! when the tree is opened again.

mod error;
mod place;
mod sessions;
mod tree;
mod undo;
mod update;

#[cfg(test)]
mod tests;

pub use error::MemoryError;
pub use place::{IN_PROJECT, MemoryProject, TreePlace};
pub use sessions::{LearnedSession, learn_sessions, sessions_of, worked_files};
pub use tree::{Problem, Tree};
pub use undo::{changes_of, undo, undone_by};
pub use update::{Machine, Update, Updated, is_settled, settle, update};
