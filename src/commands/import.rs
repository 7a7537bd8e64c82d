//! `aperture import`: reads the originals and the log of a session from an export.

use std::path::PathBuf;

/// Arguments of `import`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture import shop.aperture                        the session with the same id on this machine
  aperture import shop.aperture --session copy.jsonl   another file of the same session

Everything is checked first: the file, and that the session is the one that its log belongs to. The session is not
changed. A different log that is known already is only replaced with --force.")]
pub struct Arguments {
    /// File that aperture export wrote
    pub file: PathBuf,
    /// Replace another log, or take one that does not fit the session
    #[arg(long)]
    pub force: bool,
}
