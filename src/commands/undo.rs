//! `aperture undo`: takes an operation back.

use super::changing::{ChangeOptions, Said, change};
use crate::cli::{CommandError, Env, ErrorKind};
use crate::model::{History, Operation, OperationId, OperationKind};
use crate::output::ChangeReport;
use anyhow::anyhow;

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture undo            the last operation that is in force
  aperture undo 3          operation 3, as aperture log numbers it
  aperture undo --dry-run  only looked at

An operation is refused when a later one changed the same block. aperture redo takes an undo back.")]
pub struct Arguments {
    /// Operation [default: the last one]
    operation: Option<OperationId>,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Arguments {
    /// The operation that is named.
    pub fn operation(&self) -> Option<OperationId> {
        self.operation
    }
}

/// Takes the operation back.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    invert(env, arguments.options, OperationKind::Undo, arguments.operation)
}

/// Takes an operation back: by its number, or the last one that `kind` can take back.
pub fn invert(
    env: &Env,
    options: ChangeOptions,
    kind: OperationKind,
    operation: Option<OperationId>,
) -> Result<ChangeReport, CommandError> {
    let (verb, word) = if kind == OperationKind::Redo { ("redone", "redo") } else { ("undone", "undo") };
    change(env, options, &|draft, opened| {
        let history = &opened.workspace.history;
        let last = if kind == OperationKind::Redo { history.redoable() } else { history.undoable() };
        let nothing = || {
            CommandError::new(ErrorKind::Refused, anyhow!("there is nothing to {word}")).hint("aperture log lists the operations")
        };
        let id = operation.or(last).ok_or_else(nothing)?;
        let Some(operation) = history.operation(id) else {
            let error = anyhow!("there is no operation {id}");
            return Err(CommandError::new(ErrorKind::Refused, error).hint("aperture log lists the operations"));
        };
        if let Some(by) = history.undone_by(id) {
            let error = anyhow!("operation {id} was taken back by operation {by} already");
            return Err(CommandError::new(ErrorKind::Refused, error).hint(format!("aperture undo {by} brings it back")));
        }
        draft.invert(operation)?;
        let what = Some(named(history, operation));
        Ok(Said { kind, inverts: Some(id), what, ..Said::change(verb) })
    })
}

/// An operation as people know it: an undo by what it took back.
fn named(history: &History, operation: &Operation) -> String {
    let mut meant = operation;
    while let Some(inverted) = meant.inverts.and_then(|id| history.operation(id)) {
        meant = inverted;
    }
    format!("operation {} ({})", meant.id, meant.command)
}
