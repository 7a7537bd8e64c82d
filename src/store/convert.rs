//! Converts what is stored to other keys, or to none: each database and each file is written again beside the old one, and renamed over it.
//! Each tells by itself whether it is converted, so a conversion that was interrupted is continued.

use super::database::{STORE_FILE, StoreError, damaged, is_there};
use super::disposable::{delete, format};
use super::requests::REQUESTS_FILE;
use super::seal::{Seal, TAIL};
use super::sealed_disk::{opened_path, sealed_path};
use crate::fsio::Disk;
use rayon::prelude::*;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// The databases of a store.
pub const DATABASES: [&str; 2] = [STORE_FILE, REQUESTS_FILE];

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
/// The tables of contents, each of which is bound to its address.
const CONTENTS: [&str; 2] = ["originals", "memory_contents"];
/// The tables that are counted for a person.
const COUNTED: [&str; 7] = ["sessions", "operations", "originals", "snapshots", "proposals", "staged_texts", "memory_operations"];
/// The maximum number of contents that are sealed at a time, on all cores, and their size from which on no other is added, in bytes: they
/// are written while a core has them in its cache.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 2 << 20;
/// The maximum number of such groups that wait to be written.
const WAITING: usize = 4;
/// Bytes of the old database that are read without a call of the system for each page.
const MAPPED: i64 = 2 << 30;
/// Size of a database from which on it gets larger pages, and their size, in bytes. Source: measured, they are written in half the time.
const LARGE_BYTES: i64 = 64 << 20;
const LARGE_PAGE_BYTES: i64 = 16 << 10;
/// Bytes of contents after which they are handed to the device while others are written: syncing all at the end waits for it alone.
const SYNCED_BYTES: u64 = 64 << 20;
/// Pause between attempts to lock a database.
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
    let (version, id) = format(&source).map_err(damaged)?;
    if version == 0 || id == seal.id() {
        return Ok(0);
    }
    let keys = seal.of_database(id)?;
    keys.register(&source)?;
    source.pragma_update(None, "mmap_size", MAPPED)?;
    lock(&source, patience)?;
    let unreadable = |cause| StoreError::Unreadable { path: directory.join(&new), cause };
    disk.make(&directory.join(&new), true).map_err(unreadable)?;
    let written = |mut source: Connection| {
        // Syncs the file, which SQLite does not.
        let sync = || disk.append(&directory.join(&new), &[]);
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
/// Errors: one has, or a database cannot be read.
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
/// Errors: another process has it open.
fn lock(source: &Connection, patience: Duration) -> Result<(), StoreError> {
    source.busy_timeout(BUSY_STEP)?;
    let mut left = patience.as_millis() / BUSY_STEP.as_millis();
    let exclusive = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE";
    loop {
        let locked = source.execute_batch(exclusive).map_err(StoreError::from).and_then(|()| {
            let journal: String = source.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
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

/// The calls while contents are written.
struct Steps<'a> {
    /// Receives the number of written bytes.
    progress: &'a dyn Fn(u64),
    /// Makes the written bytes durable.
    sync: &'a (dyn Fn() -> io::Result<()> + Sync),
}

/// Writes the content of a database to a new one, and returns the number of its rows.
fn write(
    source: &mut Connection,
    keys: &Seal,
    new: &Path,
    seal: &Seal,
    version: i32,
    steps: &Steps<'_>,
) -> Result<u64, StoreError> {
    let target = Connection::open(new)?;
    seal.register(&target)?;
    let number = |name: &str| source.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    let page = number("page_size")?;
    let page = if page * number("page_count")? < LARGE_BYTES { page } else { page.max(LARGE_PAGE_BYTES) };
    target.execute_batch(&format!(
        "PRAGMA page_size = {page}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
         PRAGMA foreign_keys = OFF; BEGIN"
    ))?;
    let tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
    let tables: Vec<(String, String)> = source
        .prepare(tables)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()
        .map_err(damaged)?;
    let mut rows = 0;
    for (table, sql) in &tables {
        target.execute_batch(sql)?;
        let count = match CONTENTS.contains(&table.as_str()) {
            true => write_contents(source, keys, &target, seal, table, steps)?,
            false => write_rows(source, &target, table)?,
        };
        let expected: i64 = source.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        if count != expected.unsigned_abs() {
            return Err(StoreError::Damaged(format!("{count} of {expected} rows of {table} are readable")));
        }
        rows += count;
    }
    let others = "SELECT sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL ORDER BY rowid";
    let others: Vec<String> = source.prepare(others)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    others.iter().try_for_each(|sql| target.execute_batch(sql))?;
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

/// Copies the rows of a table, and returns their number.
fn write_rows(source: &Connection, target: &Connection, table: &str) -> Result<u64, StoreError> {
    let columns = "SELECT name, type IN ('TEXT', 'BLOB') FROM pragma_table_info(?1) ORDER BY cid";
    let columns: Vec<(String, bool)> =
        source.prepare(columns)?.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let converted = |function: &str, column: &str, text: String, is_text: bool| {
        if is_text && !CLEAR.contains(&(table, column)) { format!("{function}({text})") } else { text }
    };
    let opened = columns.iter().map(|(column, is_text)| converted("open", column, column.clone(), *is_text));
    let sealed =
        columns.iter().zip(1..).map(|((column, is_text), place)| converted("seal", column, format!("?{place}"), *is_text));
    let (opened, sealed) = (opened.collect::<Vec<_>>().join(", "), sealed.collect::<Vec<_>>().join(", "));
    let mut select = source.prepare(&format!("SELECT {opened} FROM {table}"))?;
    let mut insert = target.prepare(&format!("INSERT INTO {table} VALUES ({sealed})"))?;
    let (mut rows, mut count) = (select.query([])?, 0);
    while let Some(row) = rows.next().map_err(damaged)? {
        let values = (0..columns.len()).map(|column| row.get(column)).collect::<Result<Vec<Value>, _>>().map_err(damaged)?;
        insert.execute(params_from_iter(values))?;
        count += 1;
    }
    Ok(count)
}

/// The address of a content.
struct ContentAddress {
    /// As the new keys seal it.
    sealed: Vec<u8>,
    opened: Vec<u8>,
    /// As it is stored.
    stored: Vec<u8>,
    /// The stored size of the content.
    bytes: usize,
}

/// Divides contents into those that are in memory at a time.
fn batches(mut addresses: &[ContentAddress]) -> impl Iterator<Item = &[ContentAddress]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |of: &&ContentAddress| {
            let is_room = bytes < TOGETHER_BYTES;
            bytes += of.bytes;
            is_room
        };
        let (batch, rest) = addresses.split_at(addresses.iter().take(TOGETHER).take_while(fits).count());
        addresses = rest;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Copies a table of contents in its order, so that each page is read and written once, and returns the number of its rows.
fn write_contents(
    source: &mut Connection,
    keys: &Seal,
    target: &Connection,
    seal: &Seal,
    table: &str,
    steps: &Steps<'_>,
) -> Result<u64, StoreError> {
    let addresses = format!("SELECT open(address), address, length(content) FROM {table}");
    let addresses: Vec<ContentAddress> = source
        .prepare(&addresses)?
        .query_map([], |row| {
            let opened: Vec<u8> = row.get(0)?;
            let sealed = seal.seal(opened.clone(), &[]);
            Ok(ContentAddress { sealed, opened, stored: row.get(1)?, bytes: row.get::<_, i64>(2)?.unsigned_abs() as usize })
        })?
        .collect::<Result<_, _>>()
        .map_err(damaged)?;
    let has_length = table == "originals";
    let select = format!("SELECT content, {} FROM {table} WHERE address = ?1", if has_length { "bytes" } else { "0" });
    let values = if has_length { "?1, ?3, ?2" } else { "?1, ?2" };
    let mut insert = target.prepare(&format!("INSERT INTO {table} VALUES ({values})"))?;
    let broken = || StoreError::Damaged(format!("a value of {table} is damaged, or sealed with another key"));
    let reseal = |(of, (content, bytes)): (&ContentAddress, (Vec<u8>, i64))| {
        Some((seal.seal(keys.open(content, &of.opened)?, &of.opened), bytes))
    };
    // Others are read and sealed while some are written.
    std::thread::scope(|scope| {
        let (sealed, to_store) = sync_channel(WAITING);
        let addresses = &addresses;
        scope.spawn(move || {
            let converted = |some: &[ContentAddress]| {
                let contents = read_contents(source, &select, some).map_err(damaged)?;
                some.par_iter().zip(contents).map(reseal).collect::<Option<Vec<_>>>().ok_or_else(broken)
            };
            // Sending fails only if writing did.
            let _ = batches(addresses).try_for_each(|some| sealed.send((some, converted(some))));
        });
        let (written, hand_over) = sync_channel(0);
        // An error here comes again at the end, where it is returned.
        let sync = steps.sync;
        scope.spawn(move || hand_over.iter().for_each(|()| drop(sync())));
        let (mut done, mut synced) = (0, 0);
        for (some, contents) in to_store {
            for (of, (content, bytes)) in some.iter().zip(contents?) {
                done += content.len() as u64;
                match has_length {
                    true => insert.execute(params![of.sealed, content, bytes])?,
                    false => insert.execute(params![of.sealed, content])?,
                };
            }
            (steps.progress)(done);
            if done - synced >= SYNCED_BYTES && written.try_send(()).is_ok() {
                synced = done;
            }
        }
        Ok::<_, StoreError>(addresses.len() as u64)
    })
}

/// Reads contents, each with the number beside it, into memory that has room for their sealed form.
fn read_contents(source: &Connection, select: &str, of: &[ContentAddress]) -> rusqlite::Result<Vec<(Vec<u8>, i64)>> {
    let mut select = source.prepare_cached(select)?;
    let mut read = |of: &ContentAddress| {
        select.query_row([&of.stored], |row| {
            let stored = row.get_ref(0)?.as_blob()?;
            let mut content = Vec::with_capacity(stored.len() + TAIL);
            content.extend_from_slice(stored);
            Ok((content, row.get(1)?))
        })
    };
    of.iter().map(&mut read).collect()
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
/// Errors: it cannot be read.
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
            if connection.query_row(exists, [table], |row| row.get::<_, i64>(0)).map_err(damaged)? > 0 {
                let rows: i64 = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
                counts.rows.extend((rows > 0).then_some((*table, rows.unsigned_abs())));
            }
        }
    }
    Ok(counts)
}

/// Converts the files in a folder and below it, with their names. Returns their number and size in bytes.
/// Errors: a file cannot be read or written, or its keys are others. All files are then as they were, or converted.
pub fn convert_folder(disk: &dyn Disk, folder: &Path, seal: &Seal) -> io::Result<(u64, u64)> {
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
    let converted = converted.map(|(path, _, stored)| convert_file(disk, folder, stored, path, seal));
    let converted: Vec<u64> = converted.collect::<io::Result<_>>()?;
    // The innermost first.
    for directory in directories.iter().skip(1).rev() {
        #[expect(clippy::disallowed_methods, reason = "the names of directories tell the names of projects")]
        let _ = std::fs::remove_dir(directory);
    }
    Ok((converted.len() as u64, converted.iter().sum()))
}

/// Writes a file to its new place and deletes the old one; returns its size in bytes.
fn convert_file(disk: &dyn Disk, folder: &Path, stored: &Path, path: &Path, seal: &Seal) -> io::Result<u64> {
    let place = |path: &Path| -> PathBuf { folder.join(sealed_path(seal, path)) };
    let (new, temporary) = (place(path), place(&path.with_extension(CONVERTING)));
    let mut content = Vec::new();
    disk.open_stored(stored)?.read_to_end(&mut content)?;
    let modified = disk.identify(stored)?.modified;
    let other = || io::Error::new(io::ErrorKind::InvalidData, format!("{} is sealed with another key", stored.display()));
    let content = seal.seal_file(seal.open_file(content).ok_or_else(other)?);
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
