//! Requests that run while a client works: watch, hooks, the status line, and their installation.

mod automatic;
pub mod hook;
pub mod install;
mod job;
pub mod pending;
mod policy;
pub mod proxied;
mod request_log;
pub mod selection;
pub mod stage;
pub mod statusline;
pub mod watch;
