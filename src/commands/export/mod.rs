//! `aperture export`: writes the originals and the log of a session to one file.

mod report;
mod run;

pub use report::ExportReport;
pub use run::run;

use super::BulkOptions;
use std::path::PathBuf;

/// Arguments of `export`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture export -o shop.aperture        the newest session of this project
  aperture export 6666 -o shop.aperture   also a session without a file
  aperture export --all -o backup         every session with operations, one file each, in a directory

The export contains every value that undo and recall need, secrets included; only its owner can read it.
It does not contain the session file. aperture import reads it, here or on another machine.
With --all or --project, a file that has the same content already is not written again; many sessions: aperture help bulk.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all_sessions", "project"])]
    pub session: Option<String>,
    /// File to write; with --all or --project, the directory of the files
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// The sessions, if there are many.
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}
