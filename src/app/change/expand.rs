//! `aperture expand`: restores blocks to a longer level.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::commands::expand::Arguments;
use crate::model::{BlockNumber, Level};
use crate::output::{ChangeReport, plural};
use crate::workspace::shorten;
use std::collections::BTreeMap;

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
