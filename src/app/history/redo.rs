//! `aperture redo`: inverts an undo.

use crate::app::history::undo::invert;
use crate::app::{CommandError, Env};
use crate::commands::redo::Arguments;
use crate::model::OperationKind;
use crate::output::ChangeReport;

/// Inverts the last undo, or the given one.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    invert(env, arguments.options, OperationKind::Redo, arguments.operation)
}
