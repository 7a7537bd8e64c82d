//! Requests that read the log of a session, or restore its earlier states.

pub mod diff;
pub mod fork;
pub mod log;
pub mod redo;
pub mod restore;
pub mod snapshot;
pub mod undo;
