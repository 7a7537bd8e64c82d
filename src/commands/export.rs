//! `aperture export`: writes the originals and the log of a session to one file.

use std::path::PathBuf;

/// Arguments of `export`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture export -o shop.aperture        the newest session of this project
  aperture export 6666 -o shop.aperture   also a session without a file

The export contains every value that undo and recall need, secrets included; only its owner can read it.
It does not contain the session file. aperture import reads it, here or on another machine.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}
