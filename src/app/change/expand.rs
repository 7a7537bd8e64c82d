//! `aperture expand`: restores blocks to a longer level.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::commands::expand::Arguments;
use crate::model::{BlockNumber, Level};
use crate::output::ChangeReport;
use crate::workspace::shorten;
use std::collections::BTreeMap;

/// Restores the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    let level = arguments.level.unwrap_or(Level::Original);
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let shorter = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.level > level);
        let wanted: BTreeMap<BlockNumber, Level> =
            selector.select(reading)?.into_iter().filter(shorter).map(|number| (number, level)).collect();
        Ok(ChangeSummary { kept: shorten(draft, &wanted, "", None)?, ..ChangeSummary::change("expanded") })
    })
}
