//! Databases that may be lost at any time: no write waits for the disk, and one of another version is emptied.

use super::seal::Seal;
use crate::fsio::{Disk, RealDisk};
use rusqlite::{Connection, ErrorCode, TransactionBehavior, ffi};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

pub(super) struct Form {
    pub file: &'static str,
    /// Its version, which increases with any change of its form or meaning.
    pub version: i32,
    pub patience: Duration,
    pub settings: &'static str,
    /// The statements that replace its tables by empty ones.
    pub tables: &'static str,
}

/// A database whose every failure is a miss; without one, every lookup is a miss and every write a no-op.
#[derive(Default)]
pub(super) struct Disposable(Option<Mutex<Connection>>);

impl Disposable {
    pub fn new(opened: rusqlite::Result<Connection>) -> Disposable {
        Disposable(opened.ok().map(Mutex::new))
    }

    pub fn with<T>(&self, run: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Option<T> {
        let mut connection = self.0.as_ref()?.lock().ok()?;
        run(&mut connection).ok()
    }
}

/// Opens a database in a directory, or creates it, and returns it with the version that it had; 0 if it is new. One that is damaged, or
/// sealed with another key, is deleted first: emptying it would leave its content in free pages.
pub(super) fn opened(directory: &Path, form: &Form, seal: &Seal) -> rusqlite::Result<(Connection, i32)> {
    let path = directory.join(form.file);
    let open = || prepared(Connection::open(&path)?, form, seal);
    match open() {
        Err(error) if is_damaged(&error) => {
            delete(directory, form.file);
            // A new file is readable by its owner only.
            let _ = RealDisk.make(&path, true);
            open()
        }
        opened => opened,
    }
}

/// Deletes a database with the files beside it, as far as possible.
pub fn delete(directory: &Path, file: &str) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let _ = RealDisk.remove(&directory.join(format!("{file}{ending}")));
    }
}

/// Returns true if an error means that the file of a database is damaged.
pub fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Prepares a database, and returns it with the version that it had; 0 if it is new.
pub(super) fn prepared(mut db: Connection, form: &Form, seal: &Seal) -> rusqlite::Result<(Connection, i32)> {
    db.busy_timeout(form.patience)?;
    db.execute_batch(form.settings)?;
    seal.register(&db)?;
    let (version, id) = format(&db)?;
    if version != 0 && id != seal.id() {
        return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOTADB), None));
    }
    if version != form.version {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(form.tables)?;
        transaction.pragma_update(None, "user_version", form.version)?;
        transaction.pragma_update(None, "application_id", seal.id())?;
        transaction.commit()?;
    }
    Ok((db, version))
}

/// Returns the version of a database, and the number of the key that it is sealed with.
pub(super) fn format(db: &Connection) -> rusqlite::Result<(i32, i32)> {
    let sql = "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id";
    db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}
