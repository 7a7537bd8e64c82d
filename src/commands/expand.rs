//! `aperture expand`: restores blocks to a longer level.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change};
use super::compress::level;
use crate::app::{CommandError, Env};
use crate::model::{BlockNumber, Level};
use crate::output::{ChangeReport, plural};
use crate::workspace::shorten;
use std::collections::BTreeMap;

/// Arguments of `expand`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture expand 412                   its original, byte for byte
  aperture expand '\"auth flow\"'         the blocks about a topic
  aperture expand compressed            everything that was shortened
  aperture expand 412 --level trimmed   its essential lines

Blocks are named by selectors: aperture help selectors.")]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Level of the result: trimmed or summarized [default: the original]
    #[arg(long, value_name = "LEVEL", value_parser = level(), hide_possible_values = true)]
    pub level: Option<Level>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Restores the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    let level = arguments.level.unwrap_or(Level::Original);
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let shorter = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.level > level);
        let selected = selector.select(reading)?;
        let wanted: BTreeMap<BlockNumber, Level> =
            selected.iter().copied().filter(shorter).map(|number| (number, level)).collect();
        let than = if level == Level::Original { String::new() } else { format!(" to less than {}", level.name()) };
        let notes = match &selected[..] {
            _ if !wanted.is_empty() => Vec::new(),
            [number] => vec![format!("#{number} is not shortened{than}")],
            _ => vec![format!("none of the {} is shortened{than}", plural(selected.len(), "block"))],
        };
        Ok(ChangeSummary { kept: shorten(draft, &wanted, "", None)?, notes, ..ChangeSummary::change("expanded") })
    })
}
