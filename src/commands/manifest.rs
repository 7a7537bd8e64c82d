//! `aperture manifest`: prints the context manifest.

use crate::output::Tier;

/// Arguments of `manifest`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture manifest                        the newest session here
  aperture manifest --tier summary         at most 200 tokens
  aperture manifest 6666 --max-tokens 300  a session by the beginning of its id
  aperture manifest --since turn:12        the memory diff: what came and what changed

Figures are as billed; estimates have a ~ before them.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// How much it says: summary (at most 200 tokens), detailed (at most 500), full
    #[arg(long, default_value = "detailed")]
    #[serde(serialize_with = "super::json::choice")]
    pub tier: Tier,
    /// Tokens that the text may take, in place of what the tier allows; JSON is never cut
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,
    /// Only what is different since then: an operation, a snapshot, or a turn such as turn:12
    #[arg(long, value_name = "POINT", conflicts_with_all = ["tier", "max_tokens"])]
    pub since: Option<String>,
}
