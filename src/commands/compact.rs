//! `aperture compact` and `aperture uncompact`: fold whole turns, and undo a compaction.

use super::ChangeOptions;

/// Arguments of `compact`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture compact 2..5 --dry-run            what would become of turns 2 to 5
  aperture compact 2..5                      one note in their place
  aperture compact 3 --summary 'auth works'  with your own words

The rows stay in the file; aperture undo puts the turns back. The last turn cannot be
folded, and of the first one the prompt stays.")]
pub struct Arguments {
    /// Turns: a number or a range
    pub turns: String,
    /// What the note says [default: prompts, tools and answers of the turns]; - reads standard input
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
  aperture uncompact             what the last /compact hid is seen again")]
pub struct UncompactArguments {
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
