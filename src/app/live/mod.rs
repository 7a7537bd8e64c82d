//! Requests that run while a client works: watch, hooks, the status line, and their installation.

pub mod hook;
pub mod install;
pub mod pending;
pub mod proxied;
pub mod selection;
pub mod stage;
pub mod statusline;
pub mod watch;
