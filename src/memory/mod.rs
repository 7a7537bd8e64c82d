//! Memory trees: Markdown files of a project or of the user, which outlive sessions. Only this layer writes them.
//!
//! A change of a tree is one logged operation: prepared in the store, written file by file, committed. An interrupted one is settled
//! when the tree is opened again.

mod error;
mod place;
mod tree;
mod undo;
mod update;

#[cfg(test)]
mod tests;

pub use error::MemoryError;
pub use place::{IN_PROJECT, MemoryProject, TreePlace};
pub use tree::{Problem, Tree};
pub use undo::{Undone, changes_of, undo, undone_by};
pub use update::{Machine, Update, Updated, is_settled, settle, update};
