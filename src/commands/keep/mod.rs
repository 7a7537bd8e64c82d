//! `aperture keep`: copies sessions before their clients delete them, and restores them.

mod report;
mod run;
mod status;

pub use report::{KeepForgetReport, KeepListReport, KeepReport, KeepRestoreReport};
pub use run::{keep_in_background, keep_session, run};
pub use status::{KeepStatusReport, expiring_in};

use std::path::PathBuf;

/// Arguments of `keep`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  aperture keep --all                copy every session that changed since it was copied
  aperture keep                      the current session only
  aperture keep status               sessions that a client will delete, and when
  aperture keep list                 the copies
  aperture keep restore 6666         write a session back to where its client resumes it
  aperture keep restore 6666 --to old.jsonl
  aperture keep forget 6666 --yes    delete its copies

Claude Code deletes a session 30 days after its last change (cleanupPeriodDays in its settings). A copy has
the session, its subagents, its tool results and the memory of its project, compressed, in the
directory kept of aperture's own files, readable by its owner only. Contents that a session
no longer has stay as older copies. Hooks and aperture watch copy sessions if keep is on:
aperture help settings. Sessions whose only file is a copy are in aperture sessions, and all commands
that only read accept them."
)]
pub struct Arguments {
    /// The action; without one, sessions are copied.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Session: a path, an id or an id prefix [default: the current one]
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all", "project"])]
    pub session: Option<String>,
    /// Every session on this machine
    #[arg(long, conflicts_with = "project")]
    pub all: bool,
    /// Every session of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Count the sessions; copy nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// List the sessions that clients will delete, and when
    Status,
    /// List the copies
    List,
    /// Write a session and the files beside it back to their places
    Restore {
        /// Session: an id or an id prefix
        #[arg(id = "named", value_name = "SESSION")]
        session: String,
        /// Write only the session, to this file
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// The older copy with this number; 1 is the newest of them
        #[arg(long, value_name = "N")]
        older: Option<usize>,
        /// Replace files that have another content; they are copied first
        #[arg(long)]
        force: bool,
        /// List the files; write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Delete the copies of a session (dry run unless --yes)
    Forget {
        /// Session: an id or an id prefix
        #[arg(id = "named", value_name = "SESSION")]
        session: String,
        /// Delete them
        #[arg(long)]
        yes: bool,
    },
}
