//! Requests that change the window of a session.

pub mod archive;
pub mod compact;
pub mod compress;
pub mod create;
pub mod deferred;
pub mod expand;
pub mod focus;
pub mod pin;
pub mod pipeline;
pub mod preset;
pub mod redact;
pub mod repair;
pub mod shrink;
pub mod update;
