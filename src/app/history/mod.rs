//! Requests that read the log of a session, and that go back in it.

pub mod diff;
pub mod log;
pub mod redo;
pub mod restore;
pub mod snapshot;
pub mod undo;
