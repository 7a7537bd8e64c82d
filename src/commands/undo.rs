//! `aperture undo` and `redo`: invert an operation.

use super::{BulkOptions, ChangeOptions};
use crate::app::{CommandError, Env, refusal};
use crate::commands::change::deferred;
use crate::commands::change::pipeline::{ChangeSummary, NothingToChange, OpenedSession, change};
use crate::model::{History, Operation, OperationId, OperationKind};
use crate::output::{ChangeReport, short_id};
use crate::workspace::{self, Inexact, Undone};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("undo"))]
pub struct Arguments {
    /// Operation [default: the last one]
    #[arg(conflicts_with_all = ["all_sessions", "project"])]
    pub operation: Option<OperationId>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture redo            the last undo, inverted byte for byte
  aperture redo 3          operation 3, even after newer changes: planned from logged values

After a new change there is nothing to redo; aperture log still lists the undone operations.")]
pub struct RedoArguments {
    /// Operation that was undone, or its undo [default: the last undo]
    pub operation: Option<OperationId>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Undoes the operation.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    if let Some(report) = deferred::undo(env, arguments.operation, arguments.options.dry_run)? {
        return Ok(report);
    }
    invert(env, arguments.options, OperationKind::Undo, arguments.operation)
}

/// Inverts the last undo, or the given one.
pub fn run_redo(env: &Env, arguments: &RedoArguments) -> Result<ChangeReport, CommandError> {
    invert(env, arguments.options, OperationKind::Redo, arguments.operation)
}

/// Inverts an operation: the given one, or the last one that `kind` can invert.
fn invert(
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
            let name = short_id(&opened.workspace.location.id);
            let why = match (kind, history.operations.is_empty()) {
                (_, true) => format!("aperture has not changed {name}"),
                (OperationKind::Redo, _) => format!("no operation on {name} was undone since its last change"),
                _ => format!("all operations on {name} are undone"),
            };
            let error = CommandError::refused(NothingToChange(format!("nothing to {word}: {why}")));
            if history.operations.is_empty() {
                return error.hint("to list the changed sessions: aperture verify --all");
            }
            match history.dropped_redo().filter(|_| kind == OperationKind::Redo) {
                Some(dropped) => {
                    error.hint(format!("to redo an operation that was undone before the last change: aperture redo {dropped}"))
                }
                None => error.hint("to list the operations: aperture log"),
            }
        };
        let id = operation.or(last).ok_or_else(nothing)?;
        let Some(operation) = history.operation(id) else {
            return Err(refusal!("there is no operation {id}").hint("to list the operations: aperture log"));
        };
        // A change that was undone is redone through its undo.
        let operation = match kind {
            OperationKind::Redo => undo_of(history, operation)?,
            _ => operation,
        };
        let id = operation.id;
        if let Some(by) = history.undone_by(id) {
            return Err(refusal!("operation {id} was already inverted by operation {by}")
                .hint(format!("to invert that one: aperture undo {by}")));
        }
        if let Some(by) = history.reverted().remove(&id) {
            return Err(refusal!("operation {id} was already reverted by operation {by}")
                .hint(format!("to undo that one: aperture undo {by}")));
        }
        let undone = draft.toggle(operation)?;
        let what = Some(describe(history, operation));
        let mut summary = ChangeSummary { kind, inverts: Some(id), what, notes: inexact(undone), ..ChangeSummary::change(verb) };
        revert_companions(env, opened, &|logged| logged == id, &mut summary)?;
        Ok(summary)
    })
}

/// Adds to a summary the edits that revert the changes of files beside the session by some operations.
pub fn revert_companions(
    env: &Env,
    opened: &OpenedSession,
    is_chosen: &dyn Fn(OperationId) -> bool,
    summary: &mut ChangeSummary,
) -> Result<(), CommandError> {
    let Some(store) = &opened.store else { return Ok(()) };
    let Some(session) = store.find(&env.disk.resolve(&opened.workspace.path)?)? else { return Ok(()) };
    let logged = store.companions(session.key)?.into_iter().filter(|companion| is_chosen(companion.operation));
    let (edits, changed) = workspace::reverted(env.disk, store, logged)?;
    summary.notes.extend(edits.iter().map(|edit| format!("changed beside the session: {}", edit.path.display())));
    let left =
        |path: &PathBuf| format!("left as it is, because another program or a later operation changed it: {}", path.display());
    summary.notes.extend(changed.iter().map(left));
    summary.companions = edits;
    Ok(())
}

/// Returns the undo that a redo inverts: the operation itself, or the undo of it.
fn undo_of<'a>(history: &'a History, operation: &'a Operation) -> Result<&'a Operation, CommandError> {
    let undo = match operation.kind {
        OperationKind::Undo => Some(operation),
        _ => history.undone_by(operation.id).and_then(|id| history.operation(id)),
    };
    undo.ok_or_else(|| {
        refusal!("operation {} is in force, so there is nothing to redo", operation.id)
            .hint("to list the operations: aperture log")
    })
}

/// Returns the note for an undo, redo or restore that is not exact.
pub fn inexact(undone: Undone) -> Vec<String> {
    let why = match undone {
        Undone::Exactly => return Vec::new(),
        Undone::Planned(Inexact::LaterInForce) => "later operations stay in force".to_owned(),
        Undone::Planned(Inexact::LacksDelta(id)) => {
            format!("operation {id} has no delta: an earlier version logged it, or its values were deleted")
        }
        Undone::Planned(Inexact::MovesRows) => "the client stores the offsets of rows that would move".to_owned(),
        Undone::Planned(Inexact::Changed) => "another program changed the file since".to_owned(),
    };
    vec![format!("planned from logged values, not byte for byte: {why}")]
}

/// Describes an operation; an undo is described by the operation that it inverted.
pub fn describe(history: &History, operation: &Operation) -> String {
    let mut meant = operation;
    while let Some(inverted) = meant.inverts.and_then(|id| history.operation(id)) {
        meant = inverted;
    }
    format!("operation {} ({})", meant.id, meant.command)
}
