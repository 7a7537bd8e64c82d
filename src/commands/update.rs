//! `aperture update`: replaces the text of a block.

use super::ChangeOptions;

/// Arguments of `update`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture update 12 'the current plan'
  aperture update 12 -               from standard input

The input of a tool use is a JSON object.")]
pub struct Arguments {
    /// Block, by a selector that matches one
    pub selector: String,
    /// The new text; - reads standard input
    pub text: String,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
