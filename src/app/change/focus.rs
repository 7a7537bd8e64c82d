//! `aperture focus` and `aperture unfocus`: mark blocks as relevant, and clear the marks.

use crate::app::change::pin::mark;
use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::commands::focus::{Arguments, UnfocusArguments};
use crate::model::{BlockNumber, MarkKind};
use crate::output::ChangeReport;

/// Marks the selected blocks as relevant.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let mut summary = ChangeSummary::change("focused");
        let chosen = selector.select(reading)?;
        if !arguments.add {
            let before: Vec<BlockNumber> =
                reading.session.blocks.iter().filter(|block| block.focused).map(|block| block.number).collect();
            for number in before.into_iter().filter(|number| !chosen.contains(number)) {
                mark(draft, &mut summary, number, MarkKind::Focus, None)?;
            }
        }
        let turn = reading.turns.len().to_string();
        for number in chosen {
            mark(draft, &mut summary, number, MarkKind::Focus, Some(turn.clone()))?;
        }
        Ok(summary)
    })
}

/// Clears the focus marks.
pub fn run_unfocus(env: &Env, arguments: &UnfocusArguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("unfocused");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.focused) {
                mark(draft, &mut summary, number, MarkKind::Focus, None)?;
            }
        }
        Ok(summary)
    })
}
