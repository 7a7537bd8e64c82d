//! Requests that run on many sessions at once, one session after the other.

mod changes;
mod interrupt;
mod sessions;
mod visit;

pub use changes::run;
pub use sessions::{BulkSession, listed, stored};
pub use visit::{Visited, outcome, reason, row, unchanged, visit, visit_with};

use crate::commands::request::Change;
use std::path::PathBuf;

/// The sessions of a command that can run on many of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, clap::Args)]
pub struct BulkOptions {
    /// Every session on this machine
    #[arg(long = "all", conflicts_with = "project")]
    pub all_sessions: bool,
    /// Every session of the project in this directory, including those of subagents [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Succeed if there are no sessions, instead of exit code 1
    #[arg(long)]
    pub allow_empty: bool,
}

impl BulkOptions {
    /// Returns true if the options select sessions in bulk, and not the one session of every command.
    pub fn is_bulk(&self) -> bool {
        self.all_sessions || self.project.is_some()
    }
}

impl Change {
    /// Returns the options for many sessions, if the change is of many.
    pub fn bulk(&self) -> Option<&BulkOptions> {
        let options = match self {
            Change::Compress(arguments) => &arguments.bulk,
            Change::Archive(arguments) => &arguments.bulk,
            Change::Redact(arguments) => return arguments.many(),
            Change::Repair(arguments) => &arguments.bulk,
            Change::Undo(arguments) => &arguments.bulk,
            _ => return None,
        };
        options.is_bulk().then_some(options)
    }
}
