//! `aperture explain`: prints the reasons for a block's state, the references to it, and its size at each level.

mod report;
mod run;

pub use report::ExplainReport;
pub use run::{of_block, report, run};

/// Arguments of `explain`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture explain 12          why it is stale or in use, and the result at each level
  aperture explain toolu_01…   a tool result, by the id of its use
  aperture explain 12 --json | jq .levels

It changes nothing. The rules are described in: aperture help lifecycle.
Blocks are named by selectors: aperture help selectors.")]
pub struct Arguments {
    /// One block, by a selector
    #[arg(value_name = "BLOCK", required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
}
