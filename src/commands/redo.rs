//! `aperture redo`: inverts an undo.

use super::ChangeOptions;
use super::undo::invert;
use crate::app::{CommandError, Env};
use crate::model::{OperationId, OperationKind};
use crate::output::ChangeReport;

/// Arguments of `redo`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture redo            the last undo, inverted byte for byte
  aperture redo 3          operation 3, even after newer changes: planned from logged values

After a new change there is nothing to redo; aperture log still lists the undone operations.")]
pub struct Arguments {
    /// Operation that was undone, or its undo [default: the last undo]
    pub operation: Option<OperationId>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Inverts the last undo, or the given one.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    invert(env, arguments.options, OperationKind::Redo, arguments.operation)
}
