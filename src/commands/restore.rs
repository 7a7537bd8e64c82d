//! `aperture restore`: restores a session to a point in its log.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change};
use super::diff::point;
use super::undo::{inexact, revert_companions};
use crate::app::{CommandError, Env};
use crate::output::ChangeReport;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture restore before-cleanup    a snapshot
  aperture restore 3                 as it was after operation 3
  aperture restore original          as it was before aperture

Restores the exact bytes of that point; rows that a client appended since stay. aperture undo inverts it.")]
pub struct Arguments {
    /// Snapshot, operation, or `original`
    pub point: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

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
