//! `aperture memory log` and `diff`.

use super::report::{MemoryDiffReport, MemoryLogReport, MemoryLogRow};
use super::run::Memories;
use crate::app::CommandError;
use crate::memory::{MemoryError, changes_of, undone_by};
use crate::model::{MemoryOperation, MemoryScope};
use std::cmp::Reverse;

const SCOPES: [MemoryScope; 2] = [MemoryScope::Project, MemoryScope::User];

/// Lists the operations on both trees, newest first.
pub fn run(memories: &Memories<'_>, limit: usize) -> Result<(), CommandError> {
    let mut rows = Vec::new();
    if let Some(store) = memories.env.existing_store()? {
        for scope in SCOPES {
            memories.read(scope)?;
            let operations = store.memory_operations(&memories.place(scope).key(memories.env.disk), usize::MAX)?;
            rows.extend(operations.iter().take(limit).map(|operation| row(operation, &operations, scope)));
        }
    }
    rows.sort_by_key(|row| Reverse(row.id));
    rows.truncate(limit);
    memories.env.print(&MemoryLogReport { operations: rows })
}

fn row(operation: &MemoryOperation, operations: &[MemoryOperation], scope: MemoryScope) -> MemoryLogRow {
    let changed = operation.changes.iter().filter(|change| change.before != change.after);
    MemoryLogRow {
        id: operation.id,
        time: operation.time,
        command: operation.command.clone(),
        actor: operation.actor,
        scope,
        changes: changes_of(operation, scope),
        files: changed.map(|change| change.path.clone()).collect(),
        inverts: operation.inverts,
        undone_by: undone_by(operations, operation.id),
    }
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
