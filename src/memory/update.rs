//! Changes a tree: one logged operation, under a lock, written file by file, and settled after an interruption.

use super::MemoryError;
use super::place::TreePlace;
use super::tree::{Tree, bytes_of, resolved};
use crate::engine::memory::{Change, Document};
use crate::fsio::{Disk, LOCK_STEP, expect_one_name, sync_directory_of, temporary_path, write_whole};
use crate::model::{FileChange, Memory, MemoryActor, MemoryFile, MemoryOperation};
use crate::store::Store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The machine that a tree is changed on.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    pub disk: &'a dyn Disk,
    pub data: &'a Path,
    pub wait: &'a dyn Fn(Duration),
    /// Longest wait for another process that changes the same tree.
    pub patience: Duration,
}

/// A change of a tree, as it is logged.
#[derive(Clone, Debug)]
pub struct Update {
    pub command: String,
    pub actor: MemoryActor,
    /// The time, in milliseconds since 1970, UTC.
    pub time: i64,
    pub is_dry_run: bool,
}

/// The result of a change.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The number of the operation; `None` if nothing changed, or for a dry run.
    pub operation: Option<u32>,
    pub changes: Vec<Change>,
    pub files: Vec<FileChange>,
    pub tree: Tree,
}

/// Changes a tree. The function receives the tree as it is under the lock, so that concurrent changes are not lost. Entries that
/// a person deleted since the last operation are noted as deleted first. Without a store only a dry run is possible.
/// Errors: the function failed, the tree is locked, or a file or the store cannot be read or written. The tree is then unchanged,
/// or the next change settles it.
pub fn update<E: From<MemoryError>>(
    machine: &Machine<'_>,
    store: Option<&Store>,
    place: &TreePlace,
    update: &Update,
    change: &mut dyn FnMut(&mut Tree) -> Result<(), E>,
) -> Result<Updated, E> {
    inverting(machine, store, place, update, &mut |tree| change(tree).map(|()| None))
}

/// As [`update`]; the function returns the number of the operation that it undoes.
pub(super) fn inverting<E: From<MemoryError>>(
    machine: &Machine<'_>,
    store: Option<&Store>,
    place: &TreePlace,
    update: &Update,
    change: &mut dyn FnMut(&mut Tree) -> Result<Option<u32>, E>,
) -> Result<Updated, E> {
    let _lock = if update.is_dry_run { None } else { Some(lock(machine, place)?) };
    let disk = machine.disk;
    if let (Some(store), false) = (store, update.is_dry_run) {
        settle_locked(disk, store, place)?;
    }
    let mut tree = Tree::read(disk, place)?;
    let noted = store.map(|store| note_deletions(disk, store, &mut tree, update.time)).transpose()?.unwrap_or_default();
    let before: Vec<Memory> = tree.memories().cloned().collect();
    let inverts = change(&mut tree)?;
    let (changes, files) = (tree.changes_since(&before), tree.file_changes());
    let mut updated = Updated { operation: None, changes, files, tree };
    let Some(store) = store.filter(|_| !update.is_dry_run && !updated.files.is_empty()) else { return Ok(updated) };
    for file in &updated.files {
        expect(disk, place, file)?;
    }
    // The states that others gave to files are logged too, so that the entries missing in them are noted once.
    let is_unchanged = |noted: &&FileChange| updated.files.iter().all(|file| file.path != noted.path);
    let operation = MemoryOperation {
        id: 0,
        time: update.time,
        command: update.command.clone(),
        actor: update.actor,
        inverts,
        changes: updated.files.iter().chain(noted.iter().filter(is_unchanged)).cloned().collect(),
    };
    let number = store.prepare_memories(&place.key(disk), &operation).map_err(MemoryError::from)?;
    let written = updated.files.iter().try_for_each(|file| write(disk, place, file));
    if let Err(error) = written {
        // Completed if a part was written, undone if another program changed a file, else aborted.
        let is_done = settle_operation(disk, store, place, &MemoryOperation { id: number, ..operation });
        if !matches!(is_done, Ok(true)) {
            return Err(error.into());
        }
    } else {
        store.commit_memories(number).map_err(MemoryError::from)?;
    }
    updated.operation = Some(number);
    Ok(updated)
}

/// Returns true if no interrupted change of the tree waits to be settled.
pub fn is_settled(disk: &dyn Disk, store: &Store, place: &TreePlace) -> Result<bool, MemoryError> {
    Ok(store.prepared_memories(&place.key(disk))?.is_empty())
}

/// Settles changes that were interrupted: each is completed or, if nothing of it was written, dropped.
/// Errors: the tree is locked, or a file or the store cannot be read or written.
pub fn settle(machine: &Machine<'_>, store: &Store, place: &TreePlace) -> Result<(), MemoryError> {
    if is_settled(machine.disk, store, place)? {
        return Ok(());
    }
    let _lock = lock(machine, place)?;
    settle_locked(machine.disk, store, place)
}

fn settle_locked(disk: &dyn Disk, store: &Store, place: &TreePlace) -> Result<(), MemoryError> {
    for operation in store.prepared_memories(&place.key(disk))? {
        settle_operation(disk, store, place, &operation)?;
    }
    Ok(())
}

/// Settles an operation; returns true if it is committed then.
fn settle_operation(disk: &dyn Disk, store: &Store, place: &TreePlace, operation: &MemoryOperation) -> Result<bool, MemoryError> {
    let (mut done, mut pending, mut has_foreign) = (Vec::new(), Vec::new(), false);
    for change in operation.changes.iter().filter(|change| change.before != change.after) {
        let path = place.directory.join(&change.path);
        let _ = disk.discard(&temporary_path(&target(disk, &path)?));
        let now = bytes_of(disk, &path)?;
        if now == change.after {
            done.push(change);
        } else if now == change.before {
            pending.push(change);
        } else {
            has_foreign = true;
        }
    }
    if done.is_empty() {
        store.abort_memories(operation.id)?;
        return Ok(false);
    }
    if has_foreign {
        for change in done {
            let back = FileChange { path: change.path.clone(), before: change.after.clone(), after: change.before.clone() };
            write(disk, place, &back)?;
        }
        store.abort_memories(operation.id)?;
        return Ok(false);
    }
    pending.into_iter().try_for_each(|change| write(disk, place, change))?;
    store.commit_memories(operation.id)?;
    Ok(true)
}

fn lock(machine: &Machine<'_>, place: &TreePlace) -> Result<Box<dyn Send>, MemoryError> {
    let path = place.lock(machine.disk, machine.data);
    let mut left = machine.patience;
    loop {
        match machine.disk.lock(&path).map_err(MemoryError::of("lock", &place.directory))? {
            Some(lock) => return Ok(lock),
            None if left.is_zero() => return Err(MemoryError::Locked(place.directory.clone())),
            None => {
                (machine.wait)(LOCK_STEP);
                left = left.saturating_sub(LOCK_STEP);
            }
        }
    }
}

/// Notes as deleted the entries that aperture wrote last and that are in no file now. Returns the files that others changed since.
fn note_deletions(disk: &dyn Disk, store: &Store, tree: &mut Tree, now: i64) -> Result<Vec<FileChange>, MemoryError> {
    let key = tree.place.key(disk);
    let written = store.last_written_memories(&key)?;
    let mut last_id = 0;
    let (keys, ids): (BTreeSet<u64>, BTreeSet<u32>) = tree.memories().map(|memory| (memory.key, memory.id)).unzip();
    // In a project, a file with an earlier state was restored, as git does for another branch: nothing was deleted by hand.
    let mut is_restored = false;
    let mut changed = Vec::new();
    for (path, after) in &written {
        let current = tree.read_bytes(path);
        if current == after.as_deref() {
            continue;
        }
        let was_written = match current {
            Some(bytes) => store.was_written_memory(&key, path, bytes)?,
            None => false,
        };
        is_restored |= was_written;
        changed.push((path, after, current.is_some(), was_written));
    }
    let is_gone = resolved(disk, &tree.place.directory)?.is_none();
    let is_shared = !tree.place.is_private;
    let as_it_is = |path: &String| {
        let bytes = tree.read_bytes(path).map(<[u8]>::to_vec);
        FileChange { path: path.clone(), before: bytes.clone(), after: bytes }
    };
    let noted: Vec<FileChange> = changed.iter().map(|(path, ..)| as_it_is(path)).collect();
    let mut deleted = Vec::new();
    for (path, after, exists, was_written) in changed {
        let (Some(file), Some(after)) = (MemoryFile::from_name(path), after) else { continue };
        let is_excused = is_shared && (was_written || (!exists && (is_restored || is_gone)));
        let Ok(document) = Document::parse(after, file.clone(), tree.place.scope) else { continue };
        last_id = last_id.max(document.highest_id());
        if is_excused || is_gone || tree.blocked(&file).is_some() {
            continue;
        }
        let entries = document.memories().filter(|memory| !memory.is_by_hand());
        deleted
            .extend(entries.filter(|memory| !keys.contains(&memory.key) && !ids.contains(&memory.id)).map(|memory| memory.key));
    }
    deleted.into_iter().for_each(|key| tree.forgotten.add(key, now));
    tree.reserve(last_id);
    Ok(noted)
}

/// Returns an error if a file does not have the bytes before a change.
fn expect(disk: &dyn Disk, place: &TreePlace, change: &FileChange) -> Result<(), MemoryError> {
    let path = place.directory.join(&change.path);
    if bytes_of(disk, &path)? == change.before { Ok(()) } else { Err(MemoryError::Changed(path)) }
}

/// Writes a file atomically, if it still has the bytes before the change.
fn write(disk: &dyn Disk, place: &TreePlace, change: &FileChange) -> Result<(), MemoryError> {
    let path = place.directory.join(&change.path);
    let real = target(disk, &path)?;
    if change.before.is_some() {
        expect_one_name(disk, &real).map_err(MemoryError::of("write", &path))?;
    }
    let failed = |error| MemoryError::of("write", &path)(error);
    let Some(after) = &change.after else {
        expect(disk, place, change)?;
        return disk.remove(&real).and_then(|()| sync_directory_of(disk, &real)).map_err(failed);
    };
    write_whole(disk, &real, failed, |temporary| {
        // One of an interrupted run may have another mode.
        let _ = disk.discard(temporary);
        let is_new = place.is_private || change.before.is_none();
        let make = || if is_new { disk.make(temporary, place.is_private) } else { Ok(()) };
        let mut file = make().and_then(|()| disk.create(temporary, if is_new { temporary } else { &real })).map_err(failed)?;
        file.write_all(after).and_then(|()| file.sync()).map_err(failed)?;
        expect(disk, place, change)?;
        Ok(file)
    })
}

/// Returns the file that a path names, or the path itself if it does not exist yet.
fn target(disk: &dyn Disk, path: &Path) -> Result<PathBuf, MemoryError> {
    Ok(resolved(disk, path)?.unwrap_or_else(|| path.to_owned()))
}
