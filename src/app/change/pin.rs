//! `aperture pin` and `aperture unpin`: protect blocks from changes.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::commands::pin::{Arguments, UnpinArguments};
use crate::model::{BlockNumber, MarkKind};
use crate::output::ChangeReport;
use crate::workspace::{Draft, PlanError, SkipReason};

/// Pins the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let pin = arguments.place();
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("pinned");
        for number in selector.select(&opened.workspace.reading)? {
            mark(draft, &mut summary, number, MarkKind::Pin, Some(pin.name().to_owned()))?;
        }
        Ok(summary)
    })
}

/// Unpins the blocks.
pub fn run_unpin(env: &Env, arguments: &UnpinArguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("unpinned");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.pin.is_some()) {
                mark(draft, &mut summary, number, MarkKind::Pin, None)?;
            } else {
                summary.keep(SkipReason::AsItIs, number);
            }
        }
        Ok(summary)
    })
}

/// Sets or clears a mark on a block; skips blocks that cannot be identified again later.
pub fn mark(
    draft: &mut Draft<'_>,
    summary: &mut ChangeSummary,
    number: BlockNumber,
    kind: MarkKind,
    value: Option<String>,
) -> Result<(), CommandError> {
    let before = draft.marks();
    match draft.mark(number, kind, value) {
        Ok(()) if draft.marks() == before => summary.keep(SkipReason::AsItIs, number),
        Ok(()) => {}
        Err(PlanError::Immutable(_)) => summary.keep(SkipReason::Bound, number),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
