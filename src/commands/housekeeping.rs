//! `aperture housekeeping`: records the model's words about a turn.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change};
use super::pin::mark;
use crate::app::{CommandError, Env, refusal};
use crate::engine::model_commands::parse_housekeeping;
use crate::engine::summary::{Contents, outcome};
use crate::engine::unsupported;
use crate::model::{BlockKind, BlockNumber, FENCE, Housekeeping, MarkKind};
use crate::output::ChangeReport;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("housekeeping"))]
pub struct Arguments {
    /// The words as a JSON object; - reads standard input
    pub words: String,
    /// The turn [default: the last one]
    #[arg(long, value_name = "N", value_parser = crate::app::number::<u32>)]
    pub turn: Option<u32>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

impl Arguments {
    /// Returns the arguments for words about the last turn.
    pub fn new(words: &Housekeeping) -> Arguments {
        let words = serde_json::to_string(words).unwrap_or_default();
        Arguments { words, turn: None, options: ChangeOptions::default() }
    }
}

/// Records the words as a mark of the first block of the turn.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let words = parse_housekeeping(&env.text(&arguments.words)?);
    let words = words.map_err(CommandError::usage)?;
    change(env, arguments.options, &|draft, opened| {
        let workspace = &opened.workspace;
        let reading = &workspace.reading;
        let number = arguments.turn.unwrap_or(reading.last_turn());
        let turn = reading.turn(number).and_then(|turn| Some((turn, *turn.blocks.first()?)));
        let Some((turn, first)) = turn else {
            return Err(refusal!("no turn {number}; the last turn is {}", reading.last_turn()));
        };
        let told = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.kind != BlockKind::Thinking);
        let numbers: Vec<BlockNumber> = turn.blocks.iter().copied().filter(told).collect();
        let contents = workspace.contents(&numbers)?.into_iter().map(|content| without_blocks(&content.readable));
        let contents: Vec<String> = contents.collect();
        let by_number: Contents = numbers.into_iter().zip(contents.iter().cloned()).collect();
        let unsupported = unsupported(&words, &contents, outcome(reading, &by_number, turn));
        let recorded = Housekeeping { claimed: unsupported.is_some(), ..words.clone() };
        let what = format!("the housekeeping of turn {number}");
        let mut summary = ChangeSummary { what: Some(what), ..ChangeSummary::change("recorded") };
        mark(draft, &mut summary, first, MarkKind::Housekeeping, serde_json::to_string(&recorded).ok())?;
        summary.notes.extend(unsupported.map(|text| format!("recorded as claimed: the turn does not support '{text}'")));
        Ok(summary)
    })
}

/// Returns a text without the model's own words about the turn, which are not evidence.
fn without_blocks(text: &str) -> String {
    if text.contains("\"response_header\"") && !text.contains(FENCE) {
        return String::new();
    }
    let (mut kept, mut is_inside) = (String::new(), false);
    for line in text.lines() {
        if line.trim_end() == FENCE {
            is_inside = true;
        } else if is_inside {
            is_inside = line.trim_end() != "```";
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}
