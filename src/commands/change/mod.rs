//! The way of every change of a session, and changes that are written later.

pub mod deferred;
mod options;
pub mod pipeline;

pub use options::ChangeOptions;
