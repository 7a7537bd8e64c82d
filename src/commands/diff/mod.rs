//! `aperture diff`: compares two states of the content that the model sees.

mod run;

pub use run::{point, report, run, since, since_turn};

/// Arguments of `diff`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture diff                    the changes since the original
  aperture diff 3                  the changes since operation 3
  aperture diff before-cleanup 7   between a snapshot and operation 7
  aperture diff --stat             one line per block
  aperture diff --exit-code        exit 1 if there is a difference")]
pub struct Arguments {
    /// Snapshot, operation, or `original`
    pub from: Option<String>,
    /// Snapshot or operation [default: now]
    pub to: Option<String>,
    /// One line per block
    #[arg(long)]
    pub stat: bool,
    /// Show whole texts, even if most of a text was removed
    #[arg(long, conflicts_with = "stat")]
    pub full: bool,
    /// Exit with 1 if there is a difference
    #[arg(long)]
    pub exit_code: bool,
}
