//! `aperture restore`: restores a session to a point in its log.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::history::diff::point;
use crate::app::history::undo::{inexact, revert_companions};
use crate::app::{CommandError, Env};
use crate::commands::restore::Arguments;
use crate::output::ChangeReport;

/// Restores the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    change(env, arguments.options, &|draft, opened| {
        let point = point(&opened.workspace.history, &arguments.point)?;
        let restored = draft.restore_to(point)?;
        let what = Some(format!("the session as of '{}'", arguments.point));
        let mut summary = ChangeSummary { what, notes: inexact(restored), ..ChangeSummary::change("restored") };
        revert_companions(env, opened, &|operation| operation > point, &mut summary)?;
        Ok(summary)
    })
}
