//! Requests about the store, session files and the program itself.

pub mod check;
mod clients;
pub mod complete;
pub mod completions;
pub mod export;
pub mod gc;
pub mod git_hook;
pub mod help;
pub mod import;
pub mod stored;
pub mod util;
pub mod verify;
