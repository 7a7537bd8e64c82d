//! `aperture import`: reads the originals and the log of a session from an export.

mod report;
mod run;

pub use report::ImportReport;
pub use run::run;

use std::path::PathBuf;

/// Arguments of `import`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture import shop.aperture                        the session with the same id on this machine
  aperture import shop.aperture --session copy.jsonl   another file of the same session

It checks the export and that its log belongs to the session before it writes. The session is not
changed. A different log in the store is only replaced with --force.")]
pub struct Arguments {
    /// File written by aperture export
    pub file: PathBuf,
    /// Replace another log, or import one that does not match the session
    #[arg(long)]
    pub force: bool,
}
