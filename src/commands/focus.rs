//! `aperture focus` and `aperture unfocus`: mark blocks as relevant, and clear the marks.

use super::ChangeOptions;

/// Arguments of `focus`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture focus '\"auth flow\"'     the blocks that are relevant now
  aperture focus 12..14 --add      in addition to the current ones

The manifest lists the blocks, and they are not shortened. The next focus replaces them,
and after five turns (setting focus.turns) the marks are cleared.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub selector: String,
    /// Keep the current focus marks
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
  aperture unfocus          clears all focus marks
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
