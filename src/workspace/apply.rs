//! Applies plans. Only this module writes session files.

use super::file::{SessionFile, SessionRows};
use super::{Workspace, companions};
use crate::fsio::{
    Disk, Identity, LOCK_STEP, LOCK_STEPS, NewFile, expect_one_name, is_packed, sync_directory_of, temporary_path,
};
use crate::model::{Address, Edit, Event, Fault, History, Operation, OperationId, OperationState, Plan, RowKind, Session, Slot};
use crate::planning::{Addresses, Rows, Splice, SpliceError, moves_turns, splice, turn_numbers};
use crate::provider::ProviderAdapter;
use crate::store::{SessionKey, Store, StoreError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const READ_BYTES: usize = 1 << 18;
const WRITE_BYTES: usize = 1 << 18;
/// The interval and the maximum number of checks whether another program still writes to the old file.
const WATCH_STEP: Duration = Duration::from_millis(2);
const WATCH_STEPS: u32 = 500;
/// The maximum number of waits for a program to finish a partly written row.
const ROW_STEPS: u32 = 100;
/// The time after the last write of a file, in milliseconds, from which on nothing writes the rest of its last row.
const ROW_MILLISECONDS: u64 = 10_000;
/// The maximum number of times that appended rows are copied before the rename, each time those that came during the last.
const CATCH_UPS: u32 = 10;

/// The reason why a plan was not applied, or may not be completely applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("the session was rewritten by another program since it was read")]
    Changed,
    #[error("another aperture process is changing the session")]
    Locked,
    #[error("the conversation continued since it was read")]
    MovedOn,
    #[error("its last row is half written: a program is writing it")]
    HalfWritten,
    #[error("process {} has it open for writing", list(.0))]
    HeldOpen(Vec<u32>),
    #[error("the client has compressed the file, which is only read in this form")]
    Packed,
    #[error("the change was made, but its last step failed")]
    Unsure(#[source] io::Error),
    #[error("the store cannot be used")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<SpliceError> for ApplyError {
    fn from(error: SpliceError) -> ApplyError {
        match error {
            SpliceError::Mismatch => ApplyError::Changed,
            SpliceError::Io(error) => ApplyError::Io(error),
        }
    }
}

fn list(processes: &[u32]) -> String {
    processes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// The outcome of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Applied {
    /// `None` if there was nothing to do.
    pub operation: Option<OperationId>,
    /// True if rows that a program wrote to the old file during the rename follow rows that it wrote to the new one.
    pub is_out_of_order: bool,
}

impl Applied {
    fn operation(id: OperationId) -> Applied {
        Applied { operation: Some(id), is_out_of_order: false }
    }

    pub fn note(&self) -> Option<&'static str> {
        const NOTE: &str = "rows that the client wrote during the change follow rows that it wrote right after it";
        self.is_out_of_order.then_some(NOTE)
    }
}

/// Applies a plan to the session that it was made for.
///
/// The order of the steps makes every interruption harmless. The new file is durable before the log records the operation as
/// prepared, the log is durable before the file is replaced, and the replacement is one atomic rename. Rows that the client
/// appended since the session was read, and rows that it appends to the old file until no process has that file open, are carried
/// over: whole ones before the rename, a row that is half written after it, when it is whole. `deferred` is the number of the deferred
/// operation that the plan writes, which stays deferred after an error.
/// Errors: the session changed since it was read, a program has it open for writing or has written half a row, or the disk or the
/// store failed. The session is then unchanged. If only the last steps failed, the plan may be applied, and the next command settles the
/// state of the operation.
pub fn apply(
    workspace: &Workspace<'_>,
    store: &Store,
    key: SessionKey,
    plan: &Plan,
    deferred: Option<OperationId>,
    now: i64,
    wait: &dyn Fn(Duration),
) -> Result<Applied, ApplyError> {
    if plan.is_empty() && deferred.is_none() {
        return Ok(Applied::default());
    }
    if !plan.writes_file() {
        return beside_file(workspace.disk, store, key, plan, deferred, now).map(Applied::operation);
    }
    let (disk, provider) = (workspace.disk, workspace.provider);
    let path = disk.resolve(&workspace.path)?;
    if is_packed(&path) {
        return Err(ApplyError::Packed);
    }
    expect_one_name(disk, &path)?;
    let mut temporary = Temporary::new(disk, &path, wait)?;
    let identity = disk.identify(&path)?;
    refuse_writers(disk, &path, wait)?;
    let session = &workspace.reading.session;
    if !session.ends_with_newline && now.abs_diff(identity.modified.div_euclid(1_000_000) as i64) < ROW_MILLISECONDS {
        refuse_half_row(&mut *disk.open(&path, plan.base_bytes)?, session, wait)?;
    }
    let adds_marks = adds_only_marks(provider, plan);
    let base = (plan.base_bytes, plan.base_hash);
    let followed = if adds_marks { behind_newest(disk, provider, &path, plan, wait)? } else { None };
    let plan = followed.as_ref().unwrap_or(plan);
    // A relinked row must keep its place after its parent, and an added content must be the last one.
    let fixed_end = !adds_marks && plan.slots().any(|(slot, ..)| slot == Slot::Line);
    let hunks = plan.reversal.as_ref().map_or(&[][..], |reversal| &reversal.hunks);
    let rows = SessionRows::new(workspace);
    let splice = splice(provider, session, &Addresses::new(session), &rows, plan.base_bytes, &plan.edits, hunks)?;
    // The file on the disk is read again: it must still have the bytes that the plan is for.
    let mut old = BufReader::with_capacity(READ_BYTES, disk.open(&path, 0)?);
    let mut writer = BufWriter::with_capacity(WRITE_BYTES, &mut temporary.file);
    let (base_hash, after) = write(&mut writer, &splice, base, &mut old)?;
    let appended = |old: &mut dyn Read| match tail(provider, old, wait)? {
        rows if fixed_end && moves_on(provider, &rows) => Err(ApplyError::MovedOn),
        rows => Ok(rows),
    };
    let mut tail = appended(&mut old)?;
    writer.write_all(&tail)?;
    writer.flush()?;
    drop(writer);
    temporary.file.set_modified(identity.modified)?;
    temporary.file.sync()?;
    let hashed = followed.as_ref().map(|plan| Plan { base_hash, ..plan.clone() });
    let plan = hashed.as_ref().unwrap_or(plan);
    if moves_turns(plan) {
        store.record_turn_numbers(key, &turn_numbers(&workspace.reading))?;
    }
    let id = store.prepare(key, plan, now, splice.hunks(), Some(after), deferred)?;
    companions::write(disk, &plan.companions).inspect_err(|_| abort(store, key, id))?;
    let mut catch_up = || {
        for _ in 0..CATCH_UPS {
            let (now, known) = (disk.identify(&path)?, plan.base_bytes + tail.len() as u64);
            if now.inode != identity.inode || now.bytes < known {
                return Err(ApplyError::Changed);
            }
            if now.bytes == known {
                break;
            }
            let late = appended(&mut old)?;
            append_late_rows(&mut *temporary.file, &late, identity.modified)?;
            tail.extend(late);
        }
        Ok(())
    };
    if let Err(error) = catch_up().and_then(|()| Ok(temporary.rename(&path)?)) {
        if companions::revert(disk, &plan.companions).is_ok() {
            abort(store, key, id);
        }
        return Err(error);
    }
    // From here on the change is made, whatever fails later: the log is settled by the contents of the file.
    let carried = carry_over(disk, &path, &identity, &mut old, after.0 + tail.len() as u64, wait);
    let synced = sync_directory_of(disk, &path);
    store.settle(key, id, OperationState::Committed)?;
    let is_out_of_order = carried.and_then(|carried| synced.map(|()| carried)).map_err(ApplyError::Unsure)?;
    Ok(Applied { is_out_of_order, ..Applied::operation(id) })
}

/// Applies a plan that does not change the session file.
fn beside_file(
    disk: &dyn Disk,
    store: &Store,
    key: SessionKey,
    plan: &Plan,
    deferred: Option<OperationId>,
    now: i64,
) -> Result<OperationId, ApplyError> {
    let id = store.prepare(key, plan, now, std::iter::empty(), None, deferred)?;
    if !plan.companions.is_empty() {
        companions::write(disk, &plan.companions).inspect_err(|_| abort(store, key, id))?;
        store.settle(key, id, OperationState::Committed)?;
    }
    Ok(id)
}

/// Logs that an operation was not done. If the store fails too, the next command detects that the file was not replaced.
fn abort(store: &Store, key: SessionKey, id: OperationId) {
    let _ = store.settle(key, id, OperationState::Aborted);
}

/// Settles the operations that an interrupted command left prepared, and deletes its temporary file.
pub fn settle(disk: &dyn Disk, store: &Store, path: &Path) -> Result<Option<SessionKey>, ApplyError> {
    let path = disk.resolve(path)?;
    // One that cannot be removed is emptied by the next plan.
    let _ = disk.discard(&temporary_path(&path));
    let Some(session) = store.find(&path)? else { return Ok(None) };
    for operation in store.prepared(session.key)? {
        let done = was_done(disk, &path, &operation)?;
        let mut logged = store.companions(session.key)?;
        logged.retain(|companion| companion.operation == operation.id);
        companions::settle(disk, store, &logged, done)?;
        let state = if done { OperationState::Committed } else { OperationState::Aborted };
        store.settle(session.key, operation.id, state)?;
    }
    Ok(Some(session.key))
}

/// Returns true if a file has the state that a prepared operation wrote, possibly with appended rows. If the operation truncates
/// the file, the old file starts with the new state too: then it was done if the file does not start with the old state.
pub fn was_done(disk: &dyn Disk, path: &Path, operation: &Operation) -> Result<bool, ApplyError> {
    let (Some(bytes), Some(after)) = (operation.after_bytes, operation.after_hash) else { return Ok(true) };
    let base = SessionFile::new(disk, path);
    let begins_with = |bytes, expected| -> io::Result<bool> { Ok(base.hash(bytes)? == Some(expected)) };
    match &operation.delta {
        _ if !begins_with(bytes, after)? => Ok(false),
        Some(delta) => Ok(delta.base_bytes <= bytes || !begins_with(delta.base_bytes, delta.base_hash)?),
        None => Ok(true),
    }
}

/// Returns the settled history of a session, by the path of its file.
pub fn history(store: &Store, path: &Path) -> Result<(Option<SessionKey>, History), StoreError> {
    match store.find(path)? {
        Some(session) => Ok((Some(session.key), store.history(session.key)?)),
        None => Ok((None, History::default())),
    }
}

/// The file that replaces a session, removed unless it is renamed. Its name is the lock of the session for every store: while it is open,
/// no other process creates, removes or renames a file of this name.
struct Temporary<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    file: Box<dyn NewFile>,
    is_renamed: bool,
}

impl<'a> Temporary<'a> {
    /// Creates the file; waits while another process has it.
    fn new(disk: &'a dyn Disk, session: &Path, wait: &dyn Fn(Duration)) -> Result<Temporary<'a>, ApplyError> {
        let path = temporary_path(session);
        for _ in 0..LOCK_STEPS {
            match disk.create(&path, session) {
                Ok(file) => return Ok(Temporary { disk, path, file, is_renamed: false }),
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => wait(LOCK_STEP),
                Err(error) => return Err(error.into()),
            }
        }
        Err(ApplyError::Locked)
    }

    /// Gives the file the name of the session, and closes it.
    fn rename(mut self, session: &Path) -> io::Result<()> {
        self.disk.rename(&self.path, session)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = self.disk.remove(&self.path);
        }
    }
}

/// Refuses a file that a program keeps open for writing: after the rename, it would write to a file without a name. Waits for
/// programs that close the file soon.
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

/// Refuses a session whose last row is half written; waits for its end, and for the line feed of one that has none. `rest` reads what
/// follows the session.
fn refuse_half_row(rest: &mut dyn Read, session: &Session, wait: &dyn Fn(Duration)) -> Result<(), ApplyError> {
    for _ in 0..ROW_STEPS {
        if rest.read(&mut [0])? > 0 {
            return Err(ApplyError::Changed);
        }
        wait(WATCH_STEP);
    }
    let last = session.rows.last().and_then(|row| row.event.as_deref());
    if matches!(last, Some(Event::Fault(Fault::HalfWritten))) { Err(ApplyError::HalfWritten) } else { Ok(()) }
}

/// Returns true if the rows that a plan adds are all marks for old thinking, which no request contains, and it removes no row.
fn adds_only_marks(provider: &dyn ProviderAdapter, plan: &Plan) -> bool {
    let is_mark = |edit: &Edit| {
        let line = edit.after.as_deref().filter(|_| edit.before.is_none()).unwrap_or_default();
        matches!(provider.parse(line.trim_ascii()).row.event.as_deref(), Some(Event::ThinkingStripped(_)))
    };
    plan.reversal.is_none() && plan.edits.iter().filter(|edit| edit.slot == Slot::Line).all(is_mark)
}

/// Returns a plan that adds only marks for the file with the rows that the client has appended since: the marks follow the newest of
/// them, and the hash of its base is not known yet. `None` if the conversation did not continue. A client that continues it writes rows
/// without a pause, so that a new plan would be late again.
fn behind_newest(
    disk: &dyn Disk,
    provider: &dyn ProviderAdapter,
    path: &Path,
    plan: &Plan,
    wait: &dyn Fn(Duration),
) -> Result<Option<Plan>, ApplyError> {
    if !plan.edits.iter().any(|edit| edit.slot == Slot::Line) {
        return Ok(None);
    }
    let mut rest = tail(provider, &mut disk.open(path, plan.base_bytes)?, wait)?;
    // A row without its line feed follows the marks.
    rest.truncate(whole(&rest));
    let lines = || rest.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let continues = |line: &&[u8]| moves_on(provider, line) && provider.locate_slot(line, Slot::Parent).is_some();
    let Some(newest) = lines().rfind(continues).and_then(|line| provider.identity(line)) else { return Ok(None) };
    let last_row = lines().rev().find_map(|line| provider.parse(line).row.id).or(plan.last_row);
    let base_bytes = plan.base_bytes + rest.len() as u64;
    let mut followed = Plan { base_bytes, last_row, ..plan.clone() };
    let mut parent = newest;
    for line in followed.edits.iter_mut().filter(|edit| edit.slot == Slot::Line).filter_map(|edit| edit.after.as_mut()) {
        let mark = line.trim_ascii();
        let (place, own) = (provider.locate_slot(mark, Slot::Parent), provider.identity(mark));
        let (Some(place), Some(own)) = (place, own) else { return Err(ApplyError::MovedOn) };
        *line = [&mark[..place.start], &parent, &mark[place.end..], b"\n"].concat();
        parent = own;
    }
    Ok(Some(followed))
}

/// Returns the rows of the old file after the part that was read. Waits for the end of the last one.
/// Errors: the last one is half written.
fn tail(provider: &dyn ProviderAdapter, old: &mut dyn Read, wait: &dyn Fn(Duration)) -> Result<Vec<u8>, ApplyError> {
    let mut tail = Vec::new();
    old.read_to_end(&mut tail)?;
    for _ in 0..ROW_STEPS {
        if tail.is_empty() || tail.ends_with(b"\n") {
            break;
        }
        wait(WATCH_STEP);
        old.read_to_end(&mut tail)?;
    }
    let last = &tail[whole(&tail)..];
    if !last.is_empty() && provider.parse(last).row.kind == RowKind::Broken {
        return Err(ApplyError::HalfWritten);
    }
    Ok(tail)
}

/// Returns the number of bytes up to the last line feed.
fn whole(rows: &[u8]) -> usize {
    memchr::memrchr(b'\n', rows).map_or(0, |line_feed| line_feed + 1)
}

/// Returns true if the appended rows continue the conversation.
fn moves_on(provider: &dyn ProviderAdapter, tail: &[u8]) -> bool {
    let rows = tail.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    rows.map(|line| provider.parse(line).row).any(|row| !matches!(row.kind, RowKind::State | RowKind::Record | RowKind::Foreign))
}

/// Writes the new file in one pass over the old one, and checks that the old file begins with the bytes that the plan was made for, by
/// their number and hash. Returns the hash of the bytes read, and the length and hash of the bytes written.
fn write(
    writer: &mut dyn Write,
    splice: &Splice<'_>,
    (base_bytes, base_hash): (u64, Address),
    old: &mut dyn BufRead,
) -> Result<(Address, (u64, Address)), ApplyError> {
    let (mut before, mut after) = (blake3::Hasher::new(), blake3::Hasher::new());
    let (mut left, mut is_base, mut length) = (base_bytes, base_bytes == 0, 0);
    let mut hash_old = |bytes: &[u8]| {
        let (base, added) = bytes.split_at(bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        before.update(base);
        left -= base.len() as u64;
        if left == 0 && !base.is_empty() {
            is_base = *before.finalize().as_bytes() == base_hash;
        }
        before.update(added);
    };
    splice.run(old, &mut hash_old, &mut |bytes| {
        after.update(bytes);
        length += bytes.len() as u64;
        writer.write_all(bytes)
    })?;
    if !is_base {
        return Err(ApplyError::Changed);
    }
    Ok((*before.finalize().as_bytes(), (length, *after.finalize().as_bytes())))
}

fn append_late_rows(file: &mut dyn NewFile, late: &[u8], modified: i128) -> io::Result<()> {
    file.write_all(late)?;
    file.set_modified(modified)?;
    file.sync()
}

/// Appends to the new file what other programs still write to the old one, until no process has the old one open. No process can
/// open it later, because its name refers to the new file. On platforms that do not report open files, stops after a quiet period.
/// `end` is the length of the new file. Returns true if a program has written to the new file before.
/// Errors: the disk failed, a program still has the old file open, or half a row could not be kept with the rest of it.
fn carry_over(
    disk: &dyn Disk,
    path: &Path,
    old_identity: &Identity,
    old: &mut dyn Read,
    mut end: u64,
    wait: &dyn Fn(Duration),
) -> io::Result<bool> {
    let (mut held, mut is_out_of_order) = (Vec::new(), false);
    let mut pass_on = |held: &mut Vec<u8>, bytes: usize| -> io::Result<bool> {
        if bytes > 0 {
            let at = disk.append(path, &held[..bytes])?;
            is_out_of_order |= at != end;
            end = at + bytes as u64;
            held.drain(..bytes);
        }
        Ok(is_out_of_order)
    };
    let mut read = || -> io::Result<Vec<u8>> {
        let mut rows = Vec::new();
        old.read_to_end(&mut rows)?;
        Ok(rows)
    };
    // Do this first, before the client continues in the new file: searching for writers takes longer.
    held.extend(read()?);
    let bytes = whole(&held);
    pass_on(&mut held, bytes)?;
    let mut steps = 0;
    let is_closed = loop {
        // List the writers before reading, so that the writer of any later byte is in the list.
        let writers = disk.writers(path, old_identity);
        held.extend(read()?);
        let bytes = whole(&held);
        pass_on(&mut held, bytes)?;
        if writers.is_empty() && (cfg!(target_os = "linux") || steps > 10) {
            break true;
        }
        if steps == WATCH_STEPS {
            break false;
        }
        steps += 1;
        wait(WATCH_STEP);
    };
    // The program that wrote half a row has ended, or takes too long.
    let half = held.len();
    let is_out_of_order = pass_on(&mut held, half)?;
    match (is_closed, half > 0 && is_out_of_order) {
        (true, false) => Ok(is_out_of_order),
        (true, true) => Err(io::Error::other("a row that was half written is now behind later rows")),
        (false, _) => Err(io::Error::other("another program still writes to the file as it was")),
    }
}
