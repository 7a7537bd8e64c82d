//! `aperture restore`: restores a session to a point in its log.

use super::changing::{ChangeOptions, Said, change};
use super::diff::point;
use super::undo::inexact;
use crate::app::{CommandError, Env};
use crate::output::ChangeReport;

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture restore before-cleanup    a snapshot
  aperture restore 3                 as it was after operation 3
  aperture restore original          as it was before aperture

Restores the exact bytes of that point; rows that a client appended since stay. aperture undo inverts it.")]
pub struct Arguments {
    /// Snapshot, operation, or `original`
    point: String,
    #[command(flatten)]
    options: ChangeOptions,
}

/// Restores the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    change(env, arguments.options, &|draft, opened| {
        let restored = draft.restore_to(point(&opened.workspace.history, &arguments.point)?)?;
        let what = Some(format!("the session as of '{}'", arguments.point));
        Ok(Said { what, notes: inexact(restored), ..Said::change("restored") })
    })
}
