//! `aperture compact` and `aperture uncompact`: fold whole turns, and undo a compaction.

use super::ChangeOptions;

/// Arguments of `compact`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture compact 2..5 --dry-run            shows the fold of turns 2 to 5
  aperture compact 2..5                      replaces them with one note
  aperture compact 3 --summary 'auth works'  with your own text

The rows stay in the file; aperture undo restores the turns. The last turn cannot be
folded, and the prompt of the first turn always stays.")]
pub struct Arguments {
    /// Turns: a number or a range
    pub turns: String,
    /// Text of the note [default: prompts, tools and answers of the turns]; - reads standard input
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Arguments of `uncompact`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture uncompact --dry-run
  aperture uncompact             restores the messages hidden by the last /compact")]
pub struct UncompactArguments {
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
