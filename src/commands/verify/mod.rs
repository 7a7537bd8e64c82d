//! `aperture verify`: checks the store against the session files.

mod report;
mod run;

pub use report::VerifyReport;
pub use run::run;

use super::BulkOptions;

/// Arguments of `verify`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture verify                 the newest session of this project
  aperture verify 6666            a session by an id prefix
  aperture verify --all           every session with operations
  aperture verify --project       those of this project
  aperture verify --all --json | jq '.sessions[].findings[]'

It writes nothing. Exit code 0 without problems, 1 otherwise. A missing session file and an interrupted
command are reported but do not count as problems: the next command settles the latter.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all_sessions", "project"])]
    pub session: Option<String>,
    /// The sessions, if there are many.
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}
