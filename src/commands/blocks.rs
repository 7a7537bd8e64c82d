//! `aperture blocks`: prints the table of blocks.

use crate::output::SortKey;

/// Arguments of `blocks`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture blocks                                the blocks of the window
  aperture blocks 'stale & larger(2k)'           what could go
  aperture blocks 'tool(Read)' --sort tokens     reads, the most expensive first
  aperture blocks --tree                         under their turns
  aperture blocks cold --json                    what left the window

aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// Blocks, by a selector
    #[arg(default_value = "window")]
    pub selector: String,
    /// What to sort by
    #[arg(long, value_name = "KEY", default_value = "number")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: SortKey,
    /// Sort the other way round
    #[arg(long)]
    pub reverse: bool,
    /// Show the blocks under their turns
    #[arg(long, conflicts_with_all = ["sort", "reverse"])]
    pub tree: bool,
}
