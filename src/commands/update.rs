//! `aperture update`: replaces the text of a block.

use super::ChangeOptions;

/// Arguments of `update`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture update 12 'the plan, as it stands now'
  aperture update 12 -               from standard input

The input of a tool use is a JSON object.")]
pub struct Arguments {
    /// Block, by a selector that fits one
    pub selector: String,
    /// What the model sees there from now on; - reads standard input
    pub text: String,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
