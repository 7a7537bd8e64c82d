//! `aperture archive`: moves blocks to cold storage.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::commands::archive::Arguments;
use crate::model::{BlockNumber, Level};
use crate::output::ChangeReport;
use crate::workspace::shorten;
use std::collections::BTreeMap;

/// Moves the blocks to cold storage.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        draft.name_blocks(selector.named(&opened.workspace.reading));
        let wanted: BTreeMap<BlockNumber, Level> =
            selector.select(&opened.workspace.reading)?.into_iter().map(|number| (number, Level::Archived)).collect();
        Ok(ChangeSummary { kept: shorten(draft, &wanted, &arguments.reason, None)?, ..ChangeSummary::change("archived") })
    })
}
