//! `aperture restore`: restores a session to a point in its log.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::history::diff::point;
use crate::app::history::undo::inexact;
use crate::app::{CommandError, Env};
use crate::commands::restore::Arguments;
use crate::output::ChangeReport;

/// Restores the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    change(env, arguments.options, &|draft, opened| {
        let restored = draft.restore_to(point(&opened.workspace.history, &arguments.point)?)?;
        let what = Some(format!("the session as of '{}'", arguments.point));
        Ok(ChangeSummary { what, notes: inexact(restored), ..ChangeSummary::change("restored") })
    })
}
