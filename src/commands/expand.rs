//! `aperture expand`: restores blocks to a longer level.

use super::ChangeOptions;
use super::compress::level;
use crate::model::Level;

/// Arguments of `expand`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture expand 412                   its original, byte for byte
  aperture expand '\"auth flow\"'         the blocks about a topic
  aperture expand compressed            everything that was shortened
  aperture expand 412 --level trimmed   its essential lines

Blocks are named by selectors: aperture help selectors.")]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Level of the result: trimmed or summarized [default: the original]
    #[arg(long, value_name = "LEVEL", value_parser = level(), hide_possible_values = true)]
    pub level: Option<Level>,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
