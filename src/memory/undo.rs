//! Undoes an operation on a tree: exact bytes if its files are as it left them, else its entries one by one.

use super::MemoryError;
use super::place::TreePlace;
use super::tree::Tree;
use super::update::{Machine, Update, Updated, inverting};
use crate::engine::memory::{Change, ChangeKind, Document, FORGOTTEN_FILE, Forgotten};
use crate::model::{FileChange, Memory, MemoryFile, MemoryId, MemoryOperation, MemoryScope};
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Undoes an operation; without a number, the newest one in force that is not an undo. Returns its number, and the change.
/// Errors: there is no such operation, it was undone, something later changed the same entry, or as for a change.
pub fn undo(
    machine: &Machine<'_>,
    store: &Store,
    place: &TreePlace,
    wanted: Option<u32>,
    update: &Update,
) -> Result<(u32, Updated), MemoryError> {
    let mut undone = 0;
    let updated = inverting(machine, Some(store), place, update, &mut |tree| {
        let operations = store.memory_operations(&place.key(machine.disk), usize::MAX)?;
        let operation = select(&operations, wanted)?;
        undone = operation.id;
        for change in &operation.changes {
            revert(tree, &operations, operation, change)?;
        }
        Ok::<_, MemoryError>(Some(operation.id))
    })?;
    Ok((undone, updated))
}

/// Returns the operation to undo. The operations are sorted from the newest to the oldest.
fn select(operations: &[MemoryOperation], wanted: Option<u32>) -> Result<&MemoryOperation, MemoryError> {
    let Some(number) = wanted else {
        let in_force =
            |operation: &&MemoryOperation| operation.inverts.is_none() && undone_by(operations, operation.id).is_none();
        return operations.iter().find(in_force).ok_or(MemoryError::NothingToUndo);
    };
    let operation = operations.iter().find(|operation| operation.id == number).ok_or(MemoryError::NoOperation(number))?;
    match undone_by(operations, number) {
        Some(by) => Err(MemoryError::AlreadyUndone { operation: number, by }),
        None => Ok(operation),
    }
}

/// Returns the operation that undid another one and is in force; `None` if there is none.
pub fn undone_by(operations: &[MemoryOperation], number: u32) -> Option<u32> {
    // An undo can only be undone by a later operation, so this ends.
    let undoes = |operation: &&MemoryOperation| operation.inverts == Some(number) && operation.id > number;
    operations.iter().filter(undoes).find(|operation| undone_by(operations, operation.id).is_none()).map(|operation| operation.id)
}

fn revert(
    tree: &mut Tree,
    operations: &[MemoryOperation],
    operation: &MemoryOperation,
    change: &FileChange,
) -> Result<(), MemoryError> {
    if tree.read_bytes(&change.path) == change.after.as_deref() {
        tree.restore(&change.path, change.before.clone());
        return Ok(());
    }
    if change.path == FORGOTTEN_FILE {
        let keys =
            |bytes: &Option<Vec<u8>>| bytes.as_deref().and_then(|bytes| Forgotten::parse(bytes).ok()).unwrap_or_default().keys;
        let before = keys(&change.before);
        keys(&change.after).into_iter().filter(|key| !before.contains(key)).for_each(|key| tree.allow(key));
        return Ok(());
    }
    let Some(file) = MemoryFile::from_name(&change.path) else { return Ok(()) };
    let scope = tree.place.scope;
    let (before, after) = (entries(&change.before, &file, scope), entries(&change.after, &file, scope));
    let ids: BTreeSet<MemoryId> = before.keys().chain(after.keys()).copied().collect();
    for id in ids.into_iter().filter(|id| before.get(id) != after.get(id)) {
        let current = tree.find(id).filter(|memory| memory.file == file);
        if current != after.get(&id) {
            let what = scope.name_of(id);
            let touches =
                |later: &&MemoryOperation| {
                    later.changes.iter().filter(|other| other.path == change.path).any(|other| {
                        entries(&other.before, &file, scope).get(&id) != entries(&other.after, &file, scope).get(&id)
                    })
                };
            let later = operations.iter().rev().filter(|later| later.id > operation.id).find(touches);
            return Err(match later {
                Some(later) => MemoryError::ChangedLater { operation: operation.id, later: later.id, what },
                None => MemoryError::EditedByHand { operation: operation.id, what },
            });
        }
        match before.get(&id) {
            Some(memory) => drop(tree.set(memory.clone())?),
            None => drop(tree.remove(id)?),
        }
    }
    Ok(())
}

/// Returns the changes of entries by an operation.
pub fn changes_of(operation: &MemoryOperation, scope: MemoryScope) -> Vec<Change> {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    for change in &operation.changes {
        if let Some(file) = MemoryFile::from_name(&change.path) {
            before.extend(entries(&change.before, &file, scope));
            after.extend(entries(&change.after, &file, scope));
        }
    }
    let mut changes: Vec<Change> = Vec::new();
    for (id, memory) in &before {
        match after.get(id) {
            Some(now) => changes.extend(Change::between(memory, now)),
            None => changes.push(Change { kind: ChangeKind::Removed, memory: memory.clone(), before: Some(memory.clone()) }),
        }
    }
    let added = after.into_iter().filter(|(id, _)| !before.contains_key(id));
    changes.extend(added.map(|(_, memory)| Change { kind: ChangeKind::Added, memory, before: None }));
    changes
}

fn entries(bytes: &Option<Vec<u8>>, file: &MemoryFile, scope: MemoryScope) -> BTreeMap<MemoryId, Memory> {
    let document = bytes.as_deref().and_then(|bytes| Document::parse(bytes, file.clone(), scope).ok());
    let entries = document.iter().flat_map(|document| document.memories()).filter(|memory| !memory.is_by_hand());
    entries.map(|memory| (memory.id, memory.clone())).collect()
}
