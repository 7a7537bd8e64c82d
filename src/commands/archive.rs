//! `aperture archive`: moves blocks to cold storage.

use super::ChangeOptions;

/// Arguments of `archive`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture archive 10..20 --reason 'auth is done'   a range of blocks
  aperture archive '\"auth flow\"' --dry-run          a topic, only looked at

A line stays in the place of each block; aperture recall brings it back.
aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub selector: String,
    /// Why, for the line that stays and for the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
