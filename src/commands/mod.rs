//! The commands: each has one folder or file with its arguments, its execution and its report.

/// Returns the examples and notes below the options of a command: a file in `help/`.
macro_rules! help_text {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands/help/", $name, ".txt")).trim_ascii_end()
    };
}

mod archive;
mod arguments;
mod bare;
mod blame;
mod blocks;
mod bulk;
mod change;
mod check;
mod compact;
mod complete;
pub mod completions;
mod compress;
mod config;
mod contracts;
mod convert;
mod create;
mod diff;
mod dispatch;
mod doctor;
mod expand;
mod explain;
mod export;
mod focus;
mod fork;
mod gc;
mod git_hook;
pub mod help;
mod hook;
mod housekeeping;
mod import;
mod inbox;
mod install;
mod job;
pub mod json;
mod keep;
pub mod live;
mod log;
pub mod manifest;
mod mcp;
pub mod memory;
pub mod model;
mod obey;
mod pack;
pub mod page;
mod pin;
mod preset;
pub mod proxy;
pub mod recall;
mod redact;
mod repair;
mod report;
mod request;
mod restore;
pub mod run;
mod scope;
pub mod search;
pub mod serve;
mod sessions;
pub mod show;
mod shrink;
pub mod sidecar;
mod snapshot;
mod stage;
mod status;
mod statusline;
mod store;
mod stored;
mod summary;
mod timeline;
mod topics;
mod transcript;
mod tui;
mod undo;
mod update;
mod usage;
mod util;
mod verify;
mod watch;

pub use bare::run as run_bare;
pub use bulk::BulkOptions;
pub use change::ChangeOptions;
pub use contracts::{Contract, contracts};
pub use dispatch::{change, read, run_change, run_other, run_read};
pub use help::HELP_TOPICS;
pub use model::ModelAction;
pub use request::{Change, CommandLine, Other, Program, Read, Request, RequestEffect, definition, with_globals_in_a_line};
