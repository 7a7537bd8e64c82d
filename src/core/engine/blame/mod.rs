//! Finds the edit of a session that wrote a line of a file.
//!
//! The edits of all sessions are replayed over the parts of the file that they show: what a call read, what an edit replaced, what it
//! wrote. A line has a writer if an edit added exactly this text and no later one removed it. The lines of the file are then compared
//! with these parts. Where more than one comparison is possible, or only lines match that any file has, the writer is unknown.

mod align;
mod document;
mod edits;

pub use document::{BlameLine, attribute};
pub use edits::{BlamedFile, EditReader, FileChange, FileEdit, Hunk, Listing, Said};
