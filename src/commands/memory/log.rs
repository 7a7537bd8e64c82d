//! `aperture memory log`, `diff` and `undo`: the operations on the trees.

use super::report::{MemoryChangeReport, MemoryDiffReport, MemoryLogReport, MemoryLogRow};
use super::run::{Memories, SCOPES, changed};
use crate::app::CommandError;
use crate::engine::memory::ChangeKind;
use crate::memory::MemoryError;
use crate::model::{JsonOf, MemoryOperation, MemoryScope};
use std::cmp::Reverse;

/// Lists the operations on both trees, newest first.
pub fn run(memories: &Memories<'_>, limit: usize) -> Result<(), CommandError> {
    let mut rows = Vec::new();
    if let Some(store) = memories.env.existing_store()? {
        for scope in SCOPES {
            memories.read(scope)?;
            let operations = store.memory_operations(&memories.place(scope).key(memories.env.disk), usize::MAX)?;
            rows.extend(operations.iter().take(limit).map(|operation| MemoryLogRow::json_of(&(operation, &*operations, scope))));
        }
    }
    rows.sort_by_key(|row| Reverse(row.id));
    rows.truncate(limit);
    memories.env.print(&MemoryLogReport { operations: rows })
}

/// Shows the file changes made by an operation: the given one, or the newest.
pub fn diff(memories: &Memories<'_>, number: Option<u32>) -> Result<(), CommandError> {
    let mut newest: Option<MemoryOperation> = None;
    if let Some(store) = memories.env.existing_store()? {
        for scope in SCOPES {
            let tree = memories.place(scope).key(memories.env.disk);
            let found = match number {
                Some(number) => store.memory_operation(&tree, number)?,
                None => store.memory_operations(&tree, 1)?.pop(),
            };
            newest = newest.into_iter().chain(found).max_by_key(|operation| operation.id);
        }
    }
    let missing = || number.map_or(MemoryError::NoOperations, MemoryError::NoOperation);
    let operation = newest.ok_or_else(missing)?;
    let files = operation.changes.into_iter().filter(|change| change.before != change.after).collect();
    memories.env.print(&MemoryDiffReport { operation: operation.id, command: operation.command, files })
}

/// Undoes an operation: that with the number, or the newest in force of the project or of the user.
/// Errors: there is no such operation, or as for an undo.
pub fn undone(
    memories: &Memories<'_>,
    number: Option<u32>,
    of_user: bool,
    is_dry_run: bool,
) -> Result<MemoryChangeReport, CommandError> {
    let env = memories.env;
    let missing = || CommandError::from(number.map_or(MemoryError::NothingToUndo, MemoryError::NoOperation));
    let store = env.existing_store()?.ok_or_else(missing)?;
    let user = memories.place(MemoryScope::User).key(env.disk);
    let is_users = number.map_or(Ok(of_user), |number| store.memory_operation(&user, number).map(|found| found.is_some()))?;
    let scope = if is_users { MemoryScope::User } else { MemoryScope::Project };
    let (operation, updated) = memories.undo(&store, scope, number, is_dry_run)?;
    let has_removed = updated.changes.iter().any(|change| change.kind == ChangeKind::Removed);
    let mut report = changed(format!("operation {operation} undone"), updated, is_dry_run);
    if let Some(number) = report.operation {
        report.hints = vec![format!("to redo it: aperture memory undo {number}")];
        if has_removed {
            report.hints.push("what sessions say may be learned again; aperture memory forget prevents it".to_owned());
        }
    }
    Ok(report)
}
