//! `aperture pack`: prints what a session holds, in a budget of tokens.

mod report;
mod run;

pub use report::{PackFormat, PackReport};
pub use run::{report, run};

use crate::commands::recall;
use crate::engine::TurnForm;
use crate::model::TurnList;

/// Arguments of `pack`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture pack --budget 4k                       the newest session here in 4,000 tokens
  aperture pack 6666 --budget 10k > context.md    to continue in another session
  aperture pack --budget 2k --query 'retry limit'   the lines about the query first
  aperture pack --budget 4k --turns 3,7..9 --as full   these turns first, whole
  aperture pack --budget 8k --across              with the other sessions of the project
  aperture pack --budget 4k --format messages     system prompt, context and user input apart
  aperture pack --budget 4k --explain             which parts are in, and what is left out
  aperture pack --budget 4k --format json | jq '.sections[].units[].text'

Extractive only: every line is from the session, also from content that was shortened, archived or
compacted. Every pack has the first goal, state and next steps of the session, and the headers of the newest
turns; a budget that is too small for them is refused with the least that is enough. Then the newest prompt,
the words of the user, what is open, failed calls, commands that worked, files, code and results, texts of
the agent, more of the summary, headers of 200 turns, functions and decisions share the budget, and a part
that ends leaves its share to the others. Of long prompts, the first and last lines precede the others. A
statement of the user that a newer one replaces is left out. Code is in pieces that are whole; lines that a
later edit replaced are left out. Tokens are those of the session's model. A larger budget only adds lines.")]
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
    /// Turns that come first: 3,7..9
    #[arg(long, value_name = "TURNS")]
    pub turns: Option<TurnList>,
    /// Form of these turns [default: mixed: summaries, then full texts]
    #[arg(id = "as", long = "as", value_name = "FORM", requires = "turns", value_parser = recall::forms())]
    #[serde(rename = "as")]
    pub form: Option<TurnForm>,
    /// Include the other sessions of the project: their titles, and summaries of the newest
    #[arg(long)]
    pub across: bool,
    /// Order of lines of equal value
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: PackFormat,
    /// Print the parts with their lines and tokens instead of the text
    #[arg(long)]
    pub explain: bool,
}
