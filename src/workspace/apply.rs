//! The only writer of sessions.

use super::base::Base;
use super::{ApplyError, Workspace};
use crate::fsio::{Disk, NewFile};
use crate::model::{Address, History, Operation, OperationId, OperationState, Plan, RowKind, Slot};
use crate::planning::{Addresses, Rows, Splice, splice};
use crate::provider::ProviderAdapter;
use crate::store::{SessionKey, Store, StoreError};
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes that are written in one call.
const WRITE_BYTES: usize = 1 << 18;
/// How often, and for how long in all, it is looked whether another program still writes to the old file.
const WATCH_STEP: Duration = Duration::from_millis(2);
const WATCH_STEPS: u32 = 500;
/// How long a program may take to finish a row that it began.
const ROW_STEPS: u32 = 100;

/// Applies a plan to the session that it was made for.
///
/// The order of the steps is what makes every interruption harmless: the new file is complete on the disk before the log says
/// that it is prepared, the log is on the disk before the file takes its place, and one rename is all that a reader sees.
/// What the client appended since the session was read, and what it appends to the old file until nobody holds that one any
/// more, is carried over.
///
/// # Errors
///
/// The session is another one by now, a program keeps it open for writing, or the disk or the store fails; then it is as it
/// was, or, if only the last steps failed, as the plan wants it, and the next command settles which.
pub fn apply(
    workspace: &Workspace<'_>,
    store: &Store,
    key: SessionKey,
    plan: &Plan,
    now: i64,
    wait: &dyn Fn(Duration),
) -> Result<Option<OperationId>, ApplyError> {
    if plan.is_empty() {
        return Ok(None);
    }
    if !plan.writes_file() {
        return Ok(Some(store.prepare(key, plan, now, std::iter::empty(), None)?));
    }
    let (disk, provider) = (workspace.disk, workspace.provider);
    let path = disk.resolve(&workspace.path)?;
    let identity = disk.identify(&path)?;
    refuse_writers(disk, &path, wait)?;
    // What follows must still follow the row that it names, and what is added must be the last one.
    let fixed_end = plan.slots().any(|(slot, ..)| slot == Slot::Line);
    let session = &workspace.reading.session;
    let base = Base::open(disk, &path)?;
    let hunks = plan.reversal.as_ref().map_or(&[][..], |reversal| &reversal.hunks);
    let splice = splice(provider, session, &Addresses::new(session), &base, plan.base_bytes, &plan.edits, hunks)?;
    let mut old = base.into_reader()?;
    let temporary = temporary(&path);
    let written = write(disk, &temporary, &path, &splice, plan.base_hash, &mut old).and_then(|(writer, after)| {
        let tail = tail(&mut old, wait)?;
        if fixed_end && moves_on(provider, &tail) {
            return Err(ApplyError::MovedOn);
        }
        Ok((finish(writer, &tail)?, after, plan.base_bytes + tail.len() as u64))
    });
    let (mut file, after, known_bytes) = written.inspect_err(|_| discard(disk, &temporary))?;
    let logged = file.set_modified(identity.modified).and_then(|()| file.sync()).map_err(ApplyError::from);
    let logged = logged.and_then(|()| Ok(store.prepare(key, plan, now, splice.hunks(), Some(after))?));
    let id = logged.inspect_err(|_| discard(disk, &temporary))?;
    let replaced = late_rows(&mut old).and_then(|late| {
        let now = disk.identify(&path)?;
        if now.inode != identity.inode || now.bytes < known_bytes + late.len() as u64 {
            return Err(ApplyError::Changed);
        }
        if fixed_end && moves_on(provider, &late) {
            return Err(ApplyError::MovedOn);
        }
        add_late(&mut *file, &late, identity.modified)?;
        drop(file);
        Ok(disk.rename(&temporary, &path)?)
    });
    if let Err(error) = replaced {
        discard(disk, &temporary);
        // If the store fails now too, the next command finds out that the file was never replaced.
        let _ = store.settle(key, id, OperationState::Aborted);
        return Err(error);
    }
    // From here on the plan is done, whatever else fails: the log is settled by what the file says.
    let carried = carry_over(disk, &path, &identity, &mut old, wait);
    let synced = path.parent().map_or(Ok(()), |directory| disk.sync_directory(directory));
    store.settle(key, id, OperationState::Committed)?;
    carried.and(synced).map_err(ApplyError::Unsure)?;
    Ok(Some(id))
}

/// Settles what an interrupted command left behind: an operation that is logged and not known to be done, and its file.
///
/// # Errors
///
/// The store or the session cannot be read or written.
pub fn settle(disk: &dyn Disk, store: &Store, path: &Path) -> Result<Option<SessionKey>, ApplyError> {
    let path = disk.resolve(path)?;
    discard(disk, &temporary(&path));
    let Some(session) = store.find(&path)? else { return Ok(None) };
    for operation in store.prepared(session.key)? {
        let done = was_done(disk, store, &path, &operation)?;
        let state = if done { OperationState::Committed } else { OperationState::Aborted };
        store.settle(session.key, operation.id, state)?;
    }
    Ok(Some(session.key))
}

/// Returns whether a file is as a prepared operation left it, or went on from there. A file that loses its last rows begins with
/// what
/// is to be left of it whether that was done or not: then it was done if the file does not begin with what it was before.
///
/// # Errors
///
/// The file or the store cannot be read.
pub fn was_done(disk: &dyn Disk, store: &Store, path: &Path, operation: &Operation) -> Result<bool, ApplyError> {
    let (Some(bytes), Some(after)) = (operation.after_bytes, operation.after_hash) else { return Ok(true) };
    let base = Base::open(disk, path)?;
    let begins_with = |bytes, expected| -> io::Result<bool> { Ok(base.hash(bytes)?.is_some_and(|(hash, _)| hash == expected)) };
    match &operation.delta {
        _ if !begins_with(bytes, after)? => Ok(false),
        Some(delta) => Ok(delta.base_bytes <= bytes || !begins_with(delta.base_bytes, delta.base_hash)?),
        None => Ok(!still_there(disk, store, path, operation)?),
    }
}

/// Returns whether a row that an operation of an earlier version removes is still present behind what it wrote.
fn still_there(disk: &dyn Disk, store: &Store, path: &Path, operation: &Operation) -> Result<bool, ApplyError> {
    let removed = operation.edits.iter().filter(|edit| edit.slot == Slot::Line && edit.after.is_none());
    let removed: Vec<Address> = removed.filter_map(|edit| edit.before).collect();
    if removed.is_empty() {
        return Ok(false);
    }
    let mut rest = Vec::new();
    disk.open(path, operation.after_bytes.unwrap_or_default())?.read_to_end(&mut rest)?;
    for address in removed {
        if memchr::memmem::find(&rest, store.original(&address)?.trim_ascii()).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The history of a session as far as it is settled, by the file that it is in.
///
/// # Errors
///
/// The store cannot be read.
pub fn history(store: &Store, path: &Path) -> Result<(Option<SessionKey>, History), StoreError> {
    match store.find(path)? {
        Some(session) => Ok((Some(session.key), store.history(session.key)?)),
        None => Ok((None, History::default())),
    }
}

/// The file that is written before it takes the place of a session: no client takes it for one.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!(".{name}.aperture"))
}

fn discard(disk: &dyn Disk, path: &Path) {
    // What is not there, or cannot be deleted, is overwritten by the next plan.
    let _ = disk.remove(path);
}

/// A program that keeps the file open would go on writing to one that has no name any more. One that opens, writes and closes
/// is waited for.
fn refuse_writers(disk: &dyn Disk, path: &Path, wait: &dyn Fn(Duration)) -> Result<(), ApplyError> {
    let identity = disk.identify(path)?;
    let mut writers = disk.writers(path, &identity);
    for _ in 0..5 {
        if writers.is_empty() {
            return Ok(());
        }
        wait(Duration::from_millis(20));
        let still = disk.writers(path, &identity);
        writers.retain(|writer| still.contains(writer));
    }
    if writers.is_empty() { Ok(()) } else { Err(ApplyError::HeldOpen(writers)) }
}

/// What the old file holds behind what the plan is for. Its writer may be in the middle of the last row: it is waited for.
fn tail(old: &mut dyn Read, wait: &dyn Fn(Duration)) -> io::Result<Vec<u8>> {
    let mut tail = Vec::new();
    old.read_to_end(&mut tail)?;
    for _ in 0..ROW_STEPS {
        if tail.is_empty() || tail.ends_with(b"\n") {
            break;
        }
        wait(WATCH_STEP);
        old.read_to_end(&mut tail)?;
    }
    Ok(tail)
}

/// Whether the client went on with the conversation in what it appended.
fn moves_on(provider: &dyn ProviderAdapter, tail: &[u8]) -> bool {
    let rows = tail.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    rows.map(|line| provider.parse(line).row).any(|row| !matches!(row.kind, RowKind::State | RowKind::Record | RowKind::Foreign))
}

/// A file that is being written, through a buffer.
type Writer = BufWriter<Box<dyn NewFile>>;

/// Writes the new file in one pass over the old one, which must be the one that the plan is for; returns it with the length
/// and the hash of what the plan makes.
fn write(
    disk: &dyn Disk,
    temporary: &Path,
    like: &Path,
    splice: &Splice<'_>,
    base_hash: Address,
    old: &mut dyn BufRead,
) -> Result<(Writer, (u64, Address)), ApplyError> {
    let mut writer = BufWriter::with_capacity(WRITE_BYTES, disk.create(temporary, like)?);
    let (mut before, mut after) = (blake3::Hasher::new(), blake3::Hasher::new());
    let mut length = 0;
    let mut hash_old = |bytes: &[u8]| {
        before.update(bytes);
    };
    splice.run(old, &mut hash_old, &mut |bytes| {
        after.update(bytes);
        length += bytes.len() as u64;
        writer.write_all(bytes)
    })?;
    if *before.finalize().as_bytes() != base_hash {
        return Err(ApplyError::Changed);
    }
    Ok((writer, (length, *after.finalize().as_bytes())))
}

/// Writes the rest, and gives the file without its buffer.
fn finish(mut writer: Writer, tail: &[u8]) -> io::Result<Box<dyn NewFile>> {
    writer.write_all(tail)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}

/// What the old file received since it was read.
fn late_rows(old: &mut dyn Read) -> Result<Vec<u8>, ApplyError> {
    let mut late = Vec::new();
    old.read_to_end(&mut late)?;
    Ok(late)
}

/// Appends that to the new file.
fn add_late(file: &mut dyn NewFile, late: &[u8], modified: i128) -> io::Result<()> {
    if late.is_empty() {
        return Ok(());
    }
    file.write_all(late)?;
    file.set_modified(modified)?;
    file.sync()
}

/// Appends to the new file what the old one still receives, until nobody holds the old one any more: then nobody can write
/// to it, for its name leads to the new one. Where the platform does not tell, until it was quiet for a while.
fn carry_over(
    disk: &dyn Disk,
    path: &Path,
    old_identity: &crate::fsio::Identity,
    old: &mut dyn Read,
    wait: &dyn Fn(Duration),
) -> io::Result<()> {
    let mut held: Vec<u8> = Vec::new();
    // At once, before the client goes on in the new file: looking for writers takes longer.
    old.read_to_end(&mut held)?;
    pass_on(disk, path, &mut held)?;
    for step in 0..WATCH_STEPS {
        // Asked before reading: what is written after this was written by one that was seen.
        let writers = disk.writers(path, old_identity);
        old.read_to_end(&mut held)?;
        pass_on(disk, path, &mut held)?;
        if writers.is_empty() && (cfg!(target_os = "linux") || step > 10) {
            return if held.is_empty() { Ok(()) } else { disk.append(path, &held) };
        }
        wait(WATCH_STEP);
    }
    if !held.is_empty() {
        disk.append(path, &held)?;
    }
    if disk.writers(path, old_identity).is_empty() {
        return Ok(());
    }
    Err(io::Error::other("another program still writes to the file as it was"))
}

/// Appends the rows that are whole, and keeps the rest.
fn pass_on(disk: &dyn Disk, path: &Path, held: &mut Vec<u8>) -> io::Result<()> {
    let whole = memchr::memrchr(b'\n', held).map_or(0, |line_feed| line_feed + 1);
    if whole == 0 {
        return Ok(());
    }
    let rest = held.split_off(whole);
    disk.append(path, held)?;
    *held = rest;
    Ok(())
}
