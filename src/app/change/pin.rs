//! `aperture pin` and `aperture unpin`: protect blocks from changes.

use crate::app::change::pipeline::{Said, change};
use crate::app::{CommandError, Env};
use crate::commands::pin::{Arguments, UnpinArguments};
use crate::engine::Selector;
use crate::model::{BlockNumber, MarkKind};
use crate::output::ChangeReport;
use crate::workspace::{Draft, Kept, PlanError};

/// Pins the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let pin = arguments.place();
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut said = Said::change("pinned");
        for number in selector.select(&opened.workspace.reading)? {
            mark(draft, &mut said, number, MarkKind::Pin, Some(pin.name().to_owned()))?;
        }
        Ok(said)
    })
}

/// Unpins the blocks.
pub fn run_unpin(env: &Env, arguments: &UnpinArguments) -> Result<ChangeReport, CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut said = Said::change("unpinned");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.pin.is_some()) {
                mark(draft, &mut said, number, MarkKind::Pin, None)?;
            } else {
                said.keep(Kept::AsItIs, number);
            }
        }
        Ok(said)
    })
}

/// Sets or clears a mark on a block; skips blocks that cannot be identified again later.
pub fn mark(
    draft: &mut Draft<'_>,
    said: &mut Said,
    number: BlockNumber,
    kind: MarkKind,
    value: Option<String>,
) -> Result<(), CommandError> {
    let before = draft.marks();
    match draft.mark(number, kind, value) {
        Ok(()) if draft.marks() == before => said.keep(Kept::AsItIs, number),
        Ok(()) => {}
        Err(PlanError::Immutable(_)) => said.keep(Kept::Bound, number),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
