//! `aperture explain`: prints the reasons for a block's state, the references to it, and its size at each level.

/// Arguments of `explain`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture explain 12          why it is stale or in use, and what would be left of it
  aperture explain toolu_01…   a tool result, by the id of its use
  aperture explain 12 --json | jq .levels

Nothing is changed. aperture help lifecycle lists the rules that it names.
aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// One block, by a selector
    #[arg(value_name = "BLOCK")]
    pub selector: String,
}
