//! `aperture focus` and `aperture unfocus`: mark blocks as relevant, and clear the marks.

use super::ChangeOptions;

/// Arguments of `focus`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture focus '\"auth flow\"'     what the model should look at now
  aperture focus 12..14 --add      beside what is selected already

The blocks are shown in the manifest and are not shortened. The next focus replaces them,
and after five turns (setting focus.turns) they are let go.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub selector: String,
    /// Keep what is selected already
    #[arg(long)]
    pub add: bool,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Arguments of `unfocus`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture unfocus          nothing is selected any more
  aperture unfocus 12")]
pub struct UnfocusArguments {
    /// Blocks, by a selector
    #[arg(default_value = "focused")]
    pub selector: String,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
