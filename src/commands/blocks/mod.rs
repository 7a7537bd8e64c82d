//! `aperture blocks`: prints the table of blocks.

mod report;
mod run;

pub use report::{BlockRow, BlocksReport, short_role};
pub use run::{report, run};

use report::SortKey;

/// Arguments of `blocks`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture blocks                                the blocks of the window
  aperture blocks 'stale & larger(2k)'           candidates for compression
  aperture blocks 'tool(Read)' --sort tokens     reads, the most expensive first
  aperture blocks --tree                         under their turns
  aperture blocks cold --json                    blocks outside the window

Blocks are named by selectors: aperture help selectors.")]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(default_value = "window")]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "number")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: SortKey,
    /// Reverse the order
    #[arg(long)]
    pub reverse: bool,
    /// Show the blocks under their turns
    #[arg(long, conflicts_with_all = ["sort", "reverse"])]
    pub tree: bool,
}

impl Arguments {
    /// Returns the request that lists the blocks that a selector matches.
    pub fn new(selector: &str) -> Arguments {
        Arguments { selector: vec![selector.to_owned()], sort: SortKey::Number, reverse: false, tree: false }
    }
}
