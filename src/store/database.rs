//! Opens and migrates the database of the store.

use super::disposable::{format, is_damaged};
use super::seal::Seal;
use super::seal_file::KeyMethod;
use crate::fsio::{Disk, RealDisk};
use crate::provider::{self, ProviderAdapter};
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Row, Transaction, TransactionBehavior, ffi};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File name of the store.
pub const STORE_FILE: &str = "store.db";

/// Migrations from an empty database to the current schema. A released migration is never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_history.sql"),
    include_str!("migrations/0002_proposals.sql"),
    include_str!("migrations/0003_deltas.sql"),
    include_str!("migrations/0004_messages.sql"),
    include_str!("migrations/0005_block_edits.sql"),
    include_str!("migrations/0006_requests.sql"),
    include_str!("migrations/0007_live.sql"),
    include_str!("migrations/0008_wire.sql"),
    include_str!("migrations/0009_wire_calls.sql"),
    include_str!("migrations/0011_window_changes.sql"),
    include_str!("migrations/0012_deferred.sql"),
    include_str!("migrations/0013_unapplied.sql"),
    include_str!("migrations/0014_memories.sql"),
    include_str!("migrations/0015_memory_reads.sql"),
    include_str!("migrations/0016_companions.sql"),
    include_str!("migrations/0017_turn_numbers.sql"),
    include_str!("migrations/0018_held_prompts.sql"),
    include_str!("migrations/0019_contents.sql"),
];

/// Longest wait of a command for another process that has locked the store.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Number of attempts to open a store whose file is replaced meanwhile.
const REOPENINGS: u32 = 3;
/// Pause between attempts where SQLite does not wait by itself.
const BUSY_STEP: Duration = Duration::from_millis(5);

/// Opens a database that no program can write at present.
fn as_it_is(file: &Path) -> rusqlite::Result<Connection> {
    let path = file.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)
}

/// Opens a database of another program for reading, and makes no file beside it.
pub fn open_unchanged(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if has_journal(file) { Connection::open_with_flags(file, flags) } else { as_it_is(file) }
}

/// Codes of calls of the system that failed: those that lock a file, or map the memory that processes share.
const LOCK_FAILURES: [i32; 5] = [
    ffi::SQLITE_IOERR_LOCK,
    ffi::SQLITE_IOERR_RDLOCK,
    ffi::SQLITE_IOERR_UNLOCK,
    ffi::SQLITE_IOERR_SHMLOCK,
    ffi::SQLITE_IOERR_SHMMAP,
];

/// Errors of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store was written by a newer aperture (format {found}, this version supports up to {known})")]
    Newer { found: usize, known: usize },
    #[error(
        "the store has session {session} as one of '{provider}', which this version of aperture does not know: a newer one wrote it"
    )]
    UnknownProvider { session: String, provider: String },
    #[error("the store is damaged: {0}")]
    Damaged(String),
    #[error("the store is sealed with another key")]
    OtherKey,
    #[error("the store is not sealed, although its keys exist")]
    Unsealed,
    #[error("the {} does not open the store", .0.name())]
    WrongKey(KeyMethod),
    #[error("a recipient is not a valid key")]
    InvalidRecipient,
    #[error("another process has it open")]
    InUse,
    #[error("the platform gives no random numbers")]
    NoRandomNumbers,
    #[error("the store was replaced while it was opened")]
    Replaced,
    #[error("{}: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Database(rusqlite::Error),
}

/// Distinguishes a damaged database from other errors of SQLite.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType};
        match error {
            FromSqlConversionFailure(..) | InvalidColumnType(..) => StoreError::Damaged(error.to_string()),
            _ if is_damaged(&error) => StoreError::Damaged(error.to_string()),
            _ => StoreError::Database(error),
        }
    }
}

impl StoreError {
    /// Returns true if the file system of the store has no locks.
    pub fn lacks_locks(&self) -> bool {
        let StoreError::Database(error) = self else { return false };
        self.code() == Some(ErrorCode::FileLockingProtocolFailed)
            || error.sqlite_error().is_some_and(|error| LOCK_FAILURES.contains(&error.extended_code))
    }

    pub fn is_of_full_disk(&self) -> bool {
        self.code() == Some(ErrorCode::DiskFull)
    }

    pub fn is_denied(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen))
    }

    fn code(&self) -> Option<ErrorCode> {
        let StoreError::Database(error) = self else { return None };
        error.sqlite_error_code()
    }

    /// Returns true if another process holds the lock: a retry may succeed.
    pub fn is_busy(&self) -> bool {
        let StoreError::Database(error) = self else { return false };
        is_busy(error)
    }
}

/// The originals and the operations of one user.
pub struct Store {
    pub(super) connection: Connection,
    /// Device and inode of the opened file.
    file: Option<(u64, u64)>,
    /// The longest wait for other processes.
    patience: Duration,
}

/// A session in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub(super) i64);

/// A session as recorded in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    pub key: SessionKey,
    pub provider: String,
    pub session: String,
    pub path: PathBuf,
    /// Name of the project's directory among the sessions of the provider.
    pub project: String,
}

impl StoredSession {
    pub fn provider(&self) -> Result<&'static dyn ProviderAdapter, StoreError> {
        let unknown = || StoreError::UnknownProvider { session: self.session.clone(), provider: self.provider.clone() };
        provider::by_name(&self.provider).ok_or_else(unknown)
    }
}

impl Store {
    /// Opens the store in an existing directory, or creates it.
    /// Errors: it was written by a newer version, is damaged, or cannot be opened.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        Store::open_within(directory, PATIENCE, &Seal::default())
    }

    /// Opens the store as [`Store::open`], with its keys, but waits at most this long for other processes, also later. A new store is
    /// sealed if the keys seal.
    pub fn open_within(directory: &Path, patience: Duration, seal: &Seal) -> Result<Store, StoreError> {
        let file = directory.join(STORE_FILE);
        is_there(&file)?;
        unless_replaced(&file, || Store::connect(Connection::open(&file)?, patience, seal))
    }

    pub fn open_existing(directory: &Path) -> Result<Option<Store>, StoreError> {
        Store::open_existing_within(directory, PATIENCE, &Seal::default())
    }

    /// Opens the store as [`Store::open_existing`], with its keys, but waits at most this long for other processes, also later.
    pub fn open_existing_within(directory: &Path, patience: Duration, seal: &Seal) -> Result<Option<Store>, StoreError> {
        let file = directory.join(STORE_FILE);
        if !is_there(&file)? {
            return Ok(None);
        }
        // On a read-only disk the store is readable unless a journal is left.
        let opened = || match Store::checked(writable_or_not(&file)?, patience, seal) {
            // A journal would need a file of its own beside the store.
            Err(error) if error.is_denied() && !has_journal(&file) => Store::checked(as_it_is(&file)?, patience, seal),
            checked => checked,
        };
        unless_replaced(&file, opened).map(Some)
    }

    /// Returns true if the store can be read and not changed.
    pub fn is_read_only(&self) -> Result<bool, StoreError> {
        Ok(self.connection.is_readonly("main")?)
    }

    fn checked(connection: Connection, patience: Duration, seal: &Seal) -> Result<Store, StoreError> {
        connection.busy_timeout(patience)?;
        let (found, id) = version(&connection)?;
        if found != MIGRATIONS.len() {
            // An older store is migrated by the first command that writes to it.
            let known = MIGRATIONS.len();
            return if found > known {
                Err(StoreError::Newer { found, known })
            } else {
                Store::connect(connection, patience, seal)
            };
        }
        Store::new(connection, patience, &seal.of_database(id)?)
    }

    fn connect(mut connection: Connection, patience: Duration, seal: &Seal) -> Result<Store, StoreError> {
        if connection.is_readonly("main")? {
            // The first statement would make a journal with the mode of the file.
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None).into());
        }
        connection.busy_timeout(patience)?;
        let (found, id) = version(&connection)?;
        if found > MIGRATIONS.len() {
            return Err(StoreError::Newer { found, known: MIGRATIONS.len() });
        }
        if found > 0 {
            seal.of_database(id)?;
        }
        write_ahead(&connection, patience)?;
        // FULL: a commit is durable before the session file is replaced.
        connection.execute_batch("PRAGMA synchronous = FULL")?;
        if found < MIGRATIONS.len() {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            let (found, _) = version(&transaction)?;
            if found == 0 {
                transaction.pragma_update(None, "application_id", seal.id())?;
            }
            for migration in MIGRATIONS.iter().skip(found) {
                transaction.execute_batch(migration)?;
            }
            transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
            transaction.commit()?;
        }
        let (_, id) = version(&connection)?;
        Store::new(connection, patience, &seal.of_database(id)?)
    }

    fn new(connection: Connection, patience: Duration, seal: &Seal) -> Result<Store, StoreError> {
        seal.register(&connection)?;
        let file = file(&connection);
        Ok(Store { connection, file, patience })
    }

    /// Returns true if the opened file is still that of its path: it was neither deleted nor replaced.
    pub fn is_current(&self) -> bool {
        self.file == file(&self.connection)
    }

    /// Returns true if no other process holds the store at this moment. It does not wait.
    pub fn can_write_now(&self) -> bool {
        let free = self.connection.busy_timeout(Duration::ZERO).and_then(|()| self.writing().map(drop));
        self.connection.busy_timeout(self.patience).and(free).is_ok()
    }

    /// Begins a transaction that waits for other writers first: one that begins with a read would fail at its first write
    /// if another process wrote meanwhile.
    pub(super) fn writing(&self) -> rusqlite::Result<Transaction<'_>> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
    }
}

/// Returns true if there is a file at the path of a database.
/// Errors: it is a pipe, a socket or a device, in which SQLite would wait, or cannot be looked up.
pub(super) fn is_there(path: &Path) -> Result<bool, StoreError> {
    match RealDisk.identify(path) {
        Ok(_) => Ok(true),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(StoreError::Unreadable { path: path.to_owned(), cause }),
    }
}

/// Opens an existing database; only for reading if it cannot be written.
fn writable_or_not(file: &Path) -> rusqlite::Result<Connection> {
    let open = |flags| Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let opened = open(OpenFlags::SQLITE_OPEN_READ_WRITE).or_else(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    // A new journal would have the mode of the file, and could not be written when the file can be again.
    if opened.is_readonly("main")? && !has_journal(file) { as_it_is(file) } else { Ok(opened) }
}

fn has_journal(file: &Path) -> bool {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    is_there(Path::new(&name)).unwrap_or(true)
}

/// Opens a database that exists; `None` if it does not.
pub(super) fn existing(file: &Path, patience: Duration) -> Result<Option<Connection>, StoreError> {
    if !is_there(file)? {
        return Ok(None);
    }
    let connection = writable_or_not(file).map_err(|error| named(error.into(), file))?;
    connection.busy_timeout(patience)?;
    Ok(Some(connection))
}

/// Opens the store at a path, again if its file was replaced meanwhile: a conversion of the store waits for those who have opened it, not
/// for those who are about to.
fn unless_replaced(path: &Path, open: impl Fn() -> Result<Store, StoreError>) -> Result<Store, StoreError> {
    for _ in 0..REOPENINGS {
        let before = RealDisk.identify(path).ok().map(|file| file.inode);
        let store = open().map_err(|error| named(error, path))?;
        if before.is_none() || before == store.file {
            return Ok(store);
        }
    }
    Err(StoreError::Replaced)
}

/// Replaces an error of SQLite that only says that a file cannot be opened by the one that the system reports.
pub(super) fn named(error: StoreError, path: &Path) -> StoreError {
    let cause = match error.code() {
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if RealDisk.list(path).is_ok() => {
            Some(io::ErrorKind::IsADirectory.into())
        }
        // SQLite has not opened it, so closing it again releases no lock.
        Some(ErrorCode::CannotOpen) => RealDisk.open(path, 0).err(),
        _ => None,
    };
    cause.map(|cause| StoreError::Unreadable { path: path.to_owned(), cause }).unwrap_or(error)
}

/// Returns device and inode of the file at the path of a store; `None` if there is none.
fn file(connection: &Connection) -> Option<(u64, u64)> {
    RealDisk.identify(Path::new(connection.path()?)).ok().map(|file| file.inode)
}

/// Returns the number of migrations of a store, and the number of its key.
fn version(connection: &Connection) -> Result<(usize, i32), StoreError> {
    let (version, id) = format(connection)?;
    Ok((usize::try_from(version).unwrap_or_default(), id))
}

/// Enables write-ahead logging. SQLite does not wait for other processes that enable it at the same moment, whatever its busy
/// timeout is, so this function retries.
fn write_ahead(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let mut left = patience.as_millis() / BUSY_STEP.as_millis();
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(error) if is_busy(&error) && left > 0 => std::thread::sleep(BUSY_STEP),
            done => return done,
        }
        left -= 1;
    }
}

/// Statements that a connection prepares once.
pub(super) trait Statements {
    /// Executes a statement, and returns the number of rows that it changed.
    fn run(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize>;

    /// Executes a statement, whatever it changes.
    fn change(&self, sql: &str, values: impl Params) -> Result<(), StoreError> {
        Ok(self.run(sql, values).map(drop)?)
    }

    /// Returns the first row of a query.
    fn row<T>(&self, sql: &str, values: impl Params, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Option<T>>;

    fn rows<T>(&self, sql: &str, values: impl Params, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>>;
}

impl Statements for Connection {
    fn run(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.prepare_cached(sql)?.execute(values)
    }

    fn row<T>(&self, sql: &str, values: impl Params, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
        self.prepare_cached(sql)?.query_row(values, read).optional()
    }

    fn rows<T>(&self, sql: &str, values: impl Params, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
        self.prepare_cached(sql)?.query_map(values, read)?.collect()
    }
}

/// Reads the only column of a query.
pub(super) fn first<T: FromSql>(row: &Row<'_>) -> rusqlite::Result<T> {
    row.get(0)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "replaces the store")]
    fn a_store_that_was_deleted_or_replaced_is_not_current() {
        let directory = tempfile::tempdir().unwrap();
        let (store, path) = (Store::open(directory.path()).unwrap(), directory.path().join(STORE_FILE));
        assert!(store.is_current());
        std::fs::rename(&path, directory.path().join("moved")).unwrap();
        assert!(!store.is_current());
        std::fs::write(&path, b"").unwrap();
        assert!(cfg!(windows) || !store.is_current());
    }

    #[test]
    fn a_store_that_many_open_at_the_same_moment_is_made_once() {
        for _ in 0..10 {
            let directory = tempfile::tempdir().unwrap();
            std::thread::scope(|scope| {
                let open: Vec<_> = (0..8).map(|_| scope.spawn(|| Store::open(directory.path()).map(drop))).collect();
                for outcome in open {
                    outcome.join().unwrap().unwrap();
                }
            });
        }
    }
}
