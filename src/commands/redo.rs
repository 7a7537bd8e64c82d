//! `aperture redo`: inverts an undo.

use super::changing::ChangeOptions;
use super::undo::invert;
use crate::app::{CommandError, Env};
use crate::model::{OperationId, OperationKind};
use crate::output::ChangeReport;

/// Arguments of `redo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture redo            the last undo, inverted byte for byte
  aperture redo 3          operation 3, also when something new was done since: planned again

After a new change there is nothing to redo; aperture log keeps what was undone.")]
pub struct Arguments {
    /// Operation that was undone, or its undo [default: the last undo]
    operation: Option<OperationId>,
    #[command(flatten)]
    options: ChangeOptions,
}

/// Inverts the last undo, or the given one.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    invert(env, arguments.options, OperationKind::Redo, arguments.operation)
}
