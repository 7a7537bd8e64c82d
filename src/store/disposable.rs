//! Databases that may be lost at any time: no write waits for the disk, and one of another version is emptied.

use rusqlite::{Connection, TransactionBehavior};
use std::time::Duration;

/// The form of a database.
pub(super) struct Form {
    /// Its version, which increases with any change of its form or meaning.
    pub version: i32,
    /// The longest wait for another process.
    pub patience: Duration,
    /// Settings of SQLite.
    pub settings: &'static str,
    /// The statements that replace its tables by empty ones.
    pub tables: &'static str,
}

/// Prepares a database, and returns it with the version that it had; 0 if it is new.
pub(super) fn prepared(mut db: Connection, form: &Form) -> rusqlite::Result<(Connection, i32)> {
    db.busy_timeout(form.patience)?;
    db.execute_batch(form.settings)?;
    let version = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version != form.version {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(form.tables)?;
        transaction.pragma_update(None, "user_version", form.version)?;
        transaction.commit()?;
    }
    Ok((db, version))
}
