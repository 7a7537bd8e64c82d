//! Converts what is stored to other keys, or to none: each database and each file is written again beside the old one, and renamed over it.
//! Each tells by itself whether it is converted, so a conversion that was interrupted is continued.

use super::database::{STORE_FILE, Statements, StoreError, first, is_there};
use super::disposable::{delete, format};
use super::requests::REQUESTS_FILE;
use super::seal::{Seal, TAIL};
use super::sealed_disk::{is_sealed_name, opened_path, sealed_path};
use crate::fsio::{Disk, read_head};
use rayon::prelude::*;
use rusqlite::Error::Utf8Error;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// The databases of a store.
pub const DATABASES: [&str; 2] = [STORE_FILE, REQUESTS_FILE];

/// The bytes of the header of a database that name its key.
const ID: Range<usize> = 68..72;

/// The columns of texts and bytes that are not sealed. All others are.
const CLEAR: [(&str, &str); 10] = [
    ("sessions", "provider"),
    ("operations", "kind"),
    ("operations", "state"),
    ("operations", "actor"),
    ("edits", "slot"),
    ("marks", "kind"),
    ("proposals", "status"),
    ("wire_lines", "unapplied"),
    ("memory_operations", "state"),
    ("memory_operations", "actor"),
];
/// The column that is bound to another of its row, in the tables of contents.
const BOUND: &str = "content";
const ADDRESS: &str = "address";
const CONTENTS: [&str; 2] = ["originals", "memory_contents"];
const COUNTED: [&str; 7] = ["sessions", "operations", "originals", "snapshots", "proposals", "staged_texts", "memory_operations"];
/// The maximum number of rows that are sealed at a time, on all cores, and their size from which on no other is added, in bytes: they
/// are written while a core has them in its cache.
const TOGETHER: usize = 1024;
const TOGETHER_BYTES: usize = 2 << 20;
/// The maximum number of such groups that wait to be written.
const WAITING: usize = 4;
/// Bytes of the old database that are read without a call of the system for each page.
const MAPPED: i64 = 2 << 30;
/// Size of a database from which on it gets larger pages, and their size, in bytes. Source: measured, they are written in half the time.
const LARGE_BYTES: i64 = 64 << 20;
const LARGE_PAGE_BYTES: i64 = 16 << 10;
/// Bytes of rows after which they are handed to the device while others are written: syncing all at the end waits for it alone.
const SYNCED_BYTES: u64 = 64 << 20;
const BUSY_STEP: Duration = Duration::from_millis(20);
/// The endings of a database and of a file that are being written.
const NEW: &str = ".new";
const CONVERTING: &str = "converting";

/// Converts a database to the keys of a seal, unless it has them already. Returns the number of its rows; 0 if there is nothing to do.
/// `progress` receives the number of converted bytes of contents from time to time.
/// Errors: another process has it open, its keys are others, it is damaged, or it cannot be written. It is then unchanged.
pub fn convert_database(
    disk: &dyn Disk,
    directory: &Path,
    file: &str,
    seal: &Seal,
    patience: Duration,
    progress: &dyn Fn(u64),
) -> Result<u64, StoreError> {
    let (path, new) = (directory.join(file), format!("{file}{NEW}"));
    delete(directory, &new);
    if !is_there(&path)? {
        return Ok(0);
    }
    let source = Connection::open(&path)?;
    let (version, id) = format(&source)?;
    if version == 0 || id == seal.id() {
        return Ok(0);
    }
    let keys = seal.of_database(id)?;
    source.pragma_update(None, "mmap_size", MAPPED)?;
    lock(&source, patience)?;
    let unreadable = |cause| StoreError::Unreadable { path: directory.join(&new), cause };
    disk.make(&directory.join(&new), true).map_err(unreadable)?;
    let written = |mut source: Connection| {
        // Syncs the file, which SQLite does not.
        let sync = || disk.append(&directory.join(&new), &[]).map(drop);
        let rows = write(&mut source, &keys, &directory.join(&new), seal, version, &Steps { progress, sync: &sync })?;
        sync().map_err(unreadable)?;
        // Windows replaces no file that is open; if another process has opened it, the renaming fails.
        #[cfg(windows)]
        drop(source);
        disk.rename(&directory.join(&new), &path).map_err(unreadable)?;
        disk.sync_directory(directory).map_err(unreadable)?;
        Ok(rows)
    };
    written(source).inspect_err(|_| delete(directory, &new))
}

/// Refuses a conversion before anything is changed, if another process has a database open.
pub fn expect_unused(directory: &Path, patience: Duration) -> Result<(), StoreError> {
    for path in DATABASES.map(|file| directory.join(file)) {
        if is_there(&path)? {
            lock(&Connection::open(&path)?, patience)?;
        }
    }
    Ok(())
}

/// Locks a database until the connection is closed, and integrates its journal into it: a journal that is left would be taken for
/// that of the new file.
fn lock(source: &Connection, patience: Duration) -> Result<(), StoreError> {
    source.busy_timeout(BUSY_STEP)?;
    let mut left = patience.as_millis() / BUSY_STEP.as_millis();
    let exclusive = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE";
    loop {
        let locked = source.execute_batch(exclusive).map_err(StoreError::from).and_then(|()| {
            let journal: String = source.query_row("PRAGMA journal_mode", [], first)?;
            Ok(journal == "delete")
        });
        match locked {
            Ok(true) => return Ok(()),
            Err(error) if !error.is_busy() => return Err(error),
            _ if left == 0 => return Err(StoreError::InUse),
            _ => {
                // Not to keep those from ending whose end this waits for.
                let _ = source.execute_batch("ROLLBACK");
                source.execute_batch("PRAGMA locking_mode = NORMAL")?;
                let _ = format(source);
                std::thread::sleep(BUSY_STEP);
                left -= 1;
            }
        }
    }
}

/// The calls while rows are written.
struct Steps<'a> {
    /// Receives the number of written bytes.
    progress: &'a dyn Fn(u64),
    /// Makes the written bytes durable.
    sync: &'a (dyn Fn() -> io::Result<()> + Sync),
}

fn write(
    source: &mut Connection,
    keys: &Seal,
    new: &Path,
    seal: &Seal,
    version: i32,
    steps: &Steps<'_>,
) -> Result<u64, StoreError> {
    let target = Connection::open(new)?;
    let number = |name: &str| source.query_row(&format!("PRAGMA {name}"), [], first::<i64>);
    let page = number("page_size")?;
    let page = if page * number("page_count")? < LARGE_BYTES { page } else { page.max(LARGE_PAGE_BYTES) };
    target.execute_batch(&format!(
        "PRAGMA page_size = {page}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
         PRAGMA foreign_keys = OFF; BEGIN"
    ))?;
    let tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
    let tables: Vec<(String, String)> = source.rows(tables, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    tables.iter().try_for_each(|(_, sql)| target.execute_batch(sql))?;
    let tables: Vec<Table> = tables.into_iter().map(|(name, _)| Table::read(source, name)).collect::<Result<_, _>>()?;
    let rows = write_rows(source, keys, &target, seal, &tables, steps)?;
    let others = "SELECT sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL ORDER BY rowid";
    source.rows(others, [], first::<String>)?.iter().try_for_each(|sql| target.execute_batch(sql))?;
    // The numbers that were given are not given again.
    let sequences = "SELECT name, seq FROM sqlite_sequence";
    if source.query_row("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'", [], |_| Ok(())).optional()?.is_some() {
        target.execute("DELETE FROM sqlite_sequence", [])?;
        let mut select = source.prepare(sequences)?;
        let mut given = select.query([])?;
        while let Some(row) = given.next()? {
            let values = params![row.get::<_, String>(0)?, row.get::<_, i64>(1)?];
            target.execute("INSERT INTO sqlite_sequence VALUES (?1, ?2)", values)?;
        }
    }
    target.pragma_update(None, "user_version", version)?;
    target.pragma_update(None, "application_id", seal.id())?;
    target.execute_batch("COMMIT; PRAGMA journal_mode = WAL")?;
    target.close().map_err(|(_, error)| error)?;
    Ok(rows)
}

/// The form in which the values of a column are stored.
#[derive(Clone, Copy)]
enum Form {
    Clear,
    Sealed,
    /// Sealed; what is bound to it comes after it.
    Address,
    Bound,
}

struct Table {
    name: String,
    columns: Vec<Form>,
    rows: u64,
}

impl Table {
    fn read(source: &Connection, name: String) -> rusqlite::Result<Table> {
        let rows: i64 = source.query_row(&format!("SELECT count(*) FROM {name}"), [], first)?;
        let columns = "SELECT name, type IN ('TEXT', 'BLOB') FROM pragma_table_info(?1) ORDER BY cid";
        let form = |column: &str, is_text: bool| match column {
            ADDRESS if CONTENTS.contains(&&*name) => Form::Address,
            BOUND if CONTENTS.contains(&&*name) => Form::Bound,
            _ if is_text && !CLEAR.contains(&(&name, column)) => Form::Sealed,
            _ => Form::Clear,
        };
        let columns = source
            .prepare(columns)?
            .query_map([&name], |row| Ok(form(row.get_ref(0)?.as_str()?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(Table { name, columns, rows: rows.unsigned_abs() })
    }

    /// Returns a row as other keys seal it; `None` if it is damaged, or sealed with another key.
    fn reseal(&self, row: Vec<Value>, keys: &Seal, seal: &Seal) -> Option<Vec<Value>> {
        let (mut resealed, mut address) = (Vec::with_capacity(row.len()), Vec::new());
        for (form, value) in self.columns.iter().zip(row) {
            resealed.push(match form {
                Form::Clear => value,
                Form::Sealed => seal.seal_value(keys.open_value(value, &[])?, &[])?,
                Form::Bound => seal.seal_value(keys.open_value(value, &address)?, &address)?,
                Form::Address => {
                    let Value::Blob(opened) = keys.open_value(value, &[])? else { return None };
                    address.clone_from(&opened);
                    seal.seal_value(Value::Blob(opened), &[])?
                }
            });
        }
        Some(resealed)
    }
}

/// Reads a value into memory that has room for its sealed form.
fn read_value(value: ValueRef<'_>) -> rusqlite::Result<Value> {
    let with_room = |bytes: &[u8]| {
        let mut value = Vec::with_capacity(bytes.len() + TAIL);
        value.extend_from_slice(bytes);
        value
    };
    Ok(match value {
        ValueRef::Blob(bytes) => Value::Blob(with_room(bytes)),
        ValueRef::Text(text) => {
            Value::Text(String::from_utf8(with_room(text)).map_err(|error| Utf8Error(0, error.utf8_error()))?)
        }
        other => other.try_into()?,
    })
}

fn size(value: &Value) -> usize {
    match value {
        Value::Blob(bytes) => bytes.len(),
        Value::Text(text) => text.len(),
        _ => 0,
    }
}

/// Copies the rows of all tables, each in its order, so that each page is read and written once, and returns their number.
fn write_rows(
    source: &mut Connection,
    keys: &Seal,
    target: &Connection,
    seal: &Seal,
    tables: &[Table],
    steps: &Steps<'_>,
) -> Result<u64, StoreError> {
    // Some are read and sealed while others are written.
    std::thread::scope(|scope| {
        let (sealed, to_store) = sync_channel(WAITING);
        scope.spawn(move || {
            // Sending fails only if writing did.
            let read = |table| reseal_rows(source, keys, seal, table, &|some| sealed.send(Ok((table, some))).is_ok());
            let _ = tables.iter().try_for_each(read).map_err(|error| sealed.send(Err(error)));
        });
        let (written, hand_over) = sync_channel(0);
        // An error here comes again at the end, where it is returned.
        let sync = steps.sync;
        scope.spawn(move || hand_over.iter().for_each(|()| drop(sync())));
        let (mut count, mut done, mut synced) = (0, 0, 0);
        for some in to_store {
            let (table, rows) = some?;
            let values = vec!["?"; table.columns.len()].join(", ");
            let mut insert = target.prepare_cached(&format!("INSERT INTO {} VALUES ({values})", table.name))?;
            for row in rows {
                count += 1;
                done += row.iter().map(size).sum::<usize>() as u64;
                insert.execute(params_from_iter(row))?;
            }
            (steps.progress)(done);
            if done - synced >= SYNCED_BYTES && written.try_send(()).is_ok() {
                synced = done;
            }
        }
        Ok::<_, StoreError>(count)
    })
}

/// Reads the rows of a table and gives them to `send`, some at a time, as other keys seal them, until it returns false.
fn reseal_rows(
    source: &Connection,
    keys: &Seal,
    seal: &Seal,
    table: &Table,
    send: &dyn Fn(Vec<Vec<Value>>) -> bool,
) -> Result<(), StoreError> {
    let broken = || StoreError::Damaged(format!("a value of {} is damaged, or sealed with another key", table.name));
    let mut select = source.prepare(&format!("SELECT * FROM {}", table.name))?;
    let (mut rows, mut count) = (select.query([])?, 0);
    loop {
        let (mut some, mut bytes) = (Vec::new(), 0);
        while some.len() < TOGETHER && bytes < TOGETHER_BYTES {
            let Some(row) = rows.next()? else { break };
            let row: Vec<Value> =
                (0..table.columns.len()).map(|column| read_value(row.get_ref(column)?)).collect::<Result<_, _>>()?;
            bytes += row.iter().map(size).sum::<usize>();
            some.push(row);
        }
        if some.is_empty() {
            break;
        }
        count += some.len() as u64;
        let resealed: Option<Vec<_>> = some.into_par_iter().map(|row| table.reseal(row, keys, seal)).collect();
        if !send(resealed.ok_or_else(broken)?) {
            return Ok(());
        }
    }
    match table.rows {
        expected if count != expected => {
            Err(StoreError::Damaged(format!("{count} of {expected} rows of {} are readable", table.name)))
        }
        _ => Ok(()),
    }
}

/// The numbers of what a store holds, which are known without its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// The tables with their rows, as far as they have any.
    pub rows: Vec<(&'static str, u64)>,
    /// Size of the files of the databases, in bytes.
    pub bytes: u64,
}

/// Counts the rows of a store without its keys.
pub fn counts(disk: &dyn Disk, directory: &Path) -> Result<StoreCounts, StoreError> {
    let mut counts = StoreCounts::default();
    for (file, tables) in [(STORE_FILE, &COUNTED[..]), (REQUESTS_FILE, &["requests"])] {
        let path = directory.join(file);
        if !is_there(&path)? {
            continue;
        }
        counts.bytes += disk.identify(&path).map_or(0, |file| file.bytes);
        let connection = Connection::open(&path)?;
        let exists = "SELECT count(*) FROM sqlite_master WHERE name = ?1";
        for table in tables {
            if connection.query_row(exists, [table], first::<i64>)? > 0 {
                let rows: i64 = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], first)?;
                counts.rows.extend((rows > 0).then_some((*table, rows.unsigned_abs())));
            }
        }
    }
    Ok(counts)
}

/// Returns true if something in a data directory is sealed, which is known without its keys.
pub fn holds_sealed(disk: &dyn Disk, directory: &Path, folder: &Path) -> bool {
    let is_sealed = |file: &str| {
        let header = read_head(disk, &directory.join(file), ID.end).unwrap_or_default();
        header.starts_with(b"SQLite format 3\0") && header.get(ID).is_some_and(|id| id != [0; 4])
    };
    let mut names = disk.list(folder).unwrap_or_default().into_iter().map(|entry| entry.path);
    DATABASES.into_iter().any(is_sealed) || names.any(|path| path.file_name().is_some_and(is_sealed_name))
}

/// Converts the files in a folder and below it, with their names. Returns their number and size in bytes. `aside` returns the path in a
/// clear folder for another content of a file that is converted already.
/// Errors: a file cannot be read or written, or its keys are others. All files are then as they were, or converted.
pub fn convert_folder(
    disk: &dyn Disk,
    folder: &Path,
    seal: &Seal,
    aside: &(dyn Fn(&Path, &[u8]) -> PathBuf + Sync),
) -> io::Result<(u64, u64)> {
    let (mut files, mut directories, mut at) = (Vec::new(), vec![folder.to_owned()], 0);
    while let Some(directory) = directories.get(at).cloned() {
        at += 1;
        let entries = match disk.list(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            if entry.directory {
                directories.push(entry.path);
            } else if entry.identity.is_some() {
                files.push(entry.path);
            }
        }
    }
    // Each with its path in a clear folder, and whether it is converted. The rest of an interrupted conversion goes first.
    let opened = |stored: PathBuf| {
        let below = stored.strip_prefix(folder).unwrap_or(&stored);
        let (now, before) = (opened_path(seal, below), opened_path(&seal.before(), below));
        let is_done = now.is_some() || (before.is_none() && !seal.is_sealed());
        (now.or(before).unwrap_or_else(|| below.to_owned()), is_done, stored)
    };
    let is_rest = |path: &Path| path.extension().is_some_and(|extension| extension == CONVERTING);
    let (rest, files): (Vec<_>, Vec<_>) = files.into_iter().map(opened).partition(|(path, ..)| is_rest(path));
    rest.iter().try_for_each(|(.., stored)| disk.remove(stored))?;
    let converted = files.par_iter().filter(|(_, is_done, _)| !is_done);
    let converted = converted.map(|(path, _, stored)| convert_file(disk, folder, stored, path, seal, aside));
    let converted: Vec<u64> = converted.collect::<io::Result<_>>()?;
    // The innermost first.
    for directory in directories.iter().skip(1).rev() {
        #[expect(clippy::disallowed_methods, reason = "the names of directories tell the names of projects")]
        let _ = std::fs::remove_dir(directory);
    }
    Ok((converted.len() as u64, converted.iter().sum()))
}

/// Writes a file to its new place and deletes the old one; returns its size in bytes.
fn convert_file(
    disk: &dyn Disk,
    folder: &Path,
    stored: &Path,
    path: &Path,
    seal: &Seal,
    aside: &dyn Fn(&Path, &[u8]) -> PathBuf,
) -> io::Result<u64> {
    let place = |path: &Path| -> PathBuf { folder.join(sealed_path(seal, path)) };
    let other = || io::Error::new(io::ErrorKind::InvalidData, format!("{} is sealed with another key", stored.display()));
    let opened = |stored: &Path| {
        let mut content = Vec::new();
        disk.open_stored(stored)?.read_to_end(&mut content)?;
        seal.open_file(content).ok_or_else(other)
    };
    let modified = disk.identify(stored)?.modified;
    let content = opened(stored)?;
    // A conversion that was interrupted leaves the same content twice.
    let path = match opened(&place(path)) {
        Ok(converted) if converted != content => aside(path, &content),
        _ => path.to_owned(),
    };
    let (new, temporary) = (place(&path), place(&path.with_extension(CONVERTING)));
    let content = seal.seal_file(content);
    disk.make(&temporary, true)?;
    let mut file = disk.create(&temporary, stored)?;
    file.write_all(&content)?;
    file.set_modified(modified)?;
    file.sync()?;
    drop(file);
    disk.rename(&temporary, &new)?;
    disk.sync_directory(new.parent().unwrap_or(folder))?;
    disk.remove(stored)?;
    Ok(content.len() as u64)
}

#[cfg(test)]
mod tests;
