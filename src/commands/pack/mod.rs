//! `aperture pack`: prints what a session holds, in a budget of tokens.

mod report;
mod run;

pub use report::{PackFormat, PackReport};
pub use run::{report, run};

/// Arguments of `pack`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture pack --budget 4k                       the newest session here in 4,000 tokens
  aperture pack 6666 --budget 10k > context.md    to continue in another session
  aperture pack --budget 2k --query 'retry limit'   the lines about the query first
  aperture pack --budget 4k --explain             which parts are in, and what is left out
  aperture pack --budget 4k --format json | jq '.sections[].units[].text'

Extractive only: every line is from the session, also from content that was shortened, archived or
compacted. In this order: the newest prompt and the words of the user, what is open, files, failed calls,
commands that worked, edits and results, texts of the agent, decisions, turns. Tokens are those of
the session's model. A larger budget only adds lines.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Maximum number of tokens
    #[arg(long, value_name = "TOKENS", value_parser = crate::app::tokens)]
    pub budget: u64,
    /// Words whose lines come first, as in search
    #[arg(long, value_name = "TEXT")]
    pub query: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: PackFormat,
    /// Print the parts with their lines and tokens instead of the text
    #[arg(long)]
    pub explain: bool,
}
