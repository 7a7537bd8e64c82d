//! `aperture summary`: summarizes a session and its turns.

mod contents;
mod report;
mod run;

pub use contents::{contents, originals};
pub use report::SummaryReport;
pub use run::{current, report, run};

use crate::model::TurnList;
use report::SummaryFormat;

/// Arguments of `summary`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("summary"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Only these turns, such as 3,7..9 or 3..
    #[arg(long, value_name = "TURNS")]
    pub turns: Option<TurnList>,
    /// Only this turn
    #[arg(long, value_name = "N", value_parser = crate::app::number::<u32>, conflicts_with = "turns")]
    pub turn: Option<u32>,
    /// Also all texts and tool calls of the turn
    #[arg(long, requires = "turn")]
    pub full: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: SummaryFormat,
}
