//! The log of files beside a session: the parts of an operation that are in no row.

use super::database::{SessionKey, Store, StoreError, damaged};
use super::values::keep;
use crate::model::{Address, CompanionEdit, OperationId, OperationState, as_text};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A logged change of a file beside a session: its whole content by the address in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedCompanion {
    #[serde(skip)]
    pub operation: OperationId,
    pub path: PathBuf,
    #[serde(with = "as_text")]
    pub before: Address,
    #[serde(with = "as_text")]
    pub after: Address,
}

impl Store {
    /// Returns the changes of files beside a session, in the order of its operations: of committed operations, and of prepared ones
    /// that are not settled yet.
    /// Errors: the store is damaged, or cannot be read.
    pub fn companions(&self, key: SessionKey) -> Result<Vec<LoggedCompanion>, StoreError> {
        let sql = "SELECT operation, open(path), open(before), open(after) FROM companions JOIN operations USING (session)
                   WHERE session = ?1 AND number = operation AND state IN (?2, ?3) ORDER BY operation, place";
        let states = params![key.0, OperationState::Committed.name(), OperationState::Prepared.name()];
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map(states, |row| {
            let path: String = row.get(1)?;
            Ok(LoggedCompanion { operation: row.get(0)?, path: path.into(), before: row.get(2)?, after: row.get(3)? })
        })?;
        rows.map(|row| row.map_err(damaged)).collect()
    }

    /// Deletes the logged contents of files beside a session, so that they cannot be recovered. Returns the number of changes.
    pub fn forget_companions(&self, key: SessionKey) -> Result<usize, StoreError> {
        self.connection.execute_batch("PRAGMA secure_delete = ON")?;
        let count = self.connection.execute("DELETE FROM companions WHERE session = ?1", [key.0])?;
        if count > 0 {
            self.sweep()?;
        }
        Ok(count)
    }
}

/// Logs the changes of files beside a session.
pub(super) fn insert_companions(
    connection: &Connection,
    key: SessionKey,
    operation: OperationId,
    companions: &[CompanionEdit],
) -> Result<(), StoreError> {
    for (edit, place) in companions.iter().zip(0i64..) {
        let (before, after) = (keep(connection, &edit.before)?, keep(connection, &edit.after)?);
        insert_logged(connection, key, place, &LoggedCompanion { operation, path: edit.path.clone(), before, after })?;
    }
    Ok(())
}

/// Logs a change of a file beside a session whose contents are in the store.
pub(super) fn insert_logged(
    connection: &Connection,
    key: SessionKey,
    place: i64,
    logged: &LoggedCompanion,
) -> Result<(), StoreError> {
    let values = params![key.0, logged.operation, place, logged.path.to_string_lossy(), logged.before, logged.after];
    connection.prepare_cached("INSERT INTO companions VALUES (?1, ?2, ?3, seal(?4), seal(?5), seal(?6))")?.execute(values)?;
    Ok(())
}
