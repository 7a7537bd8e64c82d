//! `aperture diff`: compares two states of the content that the model sees.

/// Arguments of `diff`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture diff                    the session against its original
  aperture diff 3                  against how it was after operation 3
  aperture diff before-cleanup 7   between a snapshot and operation 7
  aperture diff --stat             one line a block
  aperture diff --exit-code        exit 1 when something is different")]
pub struct Arguments {
    /// Snapshot, operation, or `original`
    pub from: Option<String>,
    /// Snapshot or operation [default: now]
    pub to: Option<String>,
    /// One line a block
    #[arg(long)]
    pub stat: bool,
    /// Show whole texts, also where most of one is gone
    #[arg(long, conflicts_with = "stat")]
    pub full: bool,
    /// Exit with 1 when something is different
    #[arg(long)]
    pub exit_code: bool,
}
