//! `aperture restore`: restores a session to a point in its log.

use super::ChangeOptions;

/// Arguments of `restore`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture restore before-cleanup    a snapshot
  aperture restore 3                 as it was after operation 3
  aperture restore original          as it was before aperture

Restores the exact bytes of that point; rows that a client appended since stay. aperture undo inverts it.")]
pub struct Arguments {
    /// Snapshot, operation, or `original`
    pub point: String,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
