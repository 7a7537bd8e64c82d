//! The changes of the window by each operation, beside its changes of blocks.

use super::database::{SessionKey, Store, StoreError};
use super::values::{compressed, decompressed_bytes};
use crate::model::{History, OperationId, WindowChange};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

impl Store {
    /// Returns the change of the window by an operation; `None` if it has none, or an earlier version logged it.
    /// Errors: it is damaged, or the store cannot be read.
    pub fn window_change(&self, key: SessionKey, id: OperationId) -> Result<Option<WindowChange>, StoreError> {
        let sql = "SELECT open(packed) FROM window_changes WHERE session = ?1 AND operation = ?2";
        let packed: Option<Vec<u8>> =
            self.connection.prepare_cached(sql)?.query_row(params![key.0, id], |row| row.get(0)).optional()?;
        let Some(packed) = packed else { return Ok(None) };
        let unpacked = zstd::bulk::decompress(&packed, decompressed_bytes(&packed)).ok();
        let change = unpacked.and_then(|unpacked| serde_json::from_slice(&unpacked).ok());
        change.map(Some).ok_or_else(|| StoreError::Damaged(format!("the window change of operation {id} is unreadable")))
    }

    pub(super) fn all_window_changes(
        &self,
        key: SessionKey,
        history: &History,
    ) -> Result<BTreeMap<OperationId, WindowChange>, StoreError> {
        let mut all = BTreeMap::new();
        for operation in &history.operations {
            if let Some(change) = self.window_change(key, operation.id)? {
                all.insert(operation.id, change);
            }
        }
        Ok(all)
    }
}

pub(super) fn insert_window_change(
    connection: &Connection,
    key: SessionKey,
    id: OperationId,
    change: Option<&WindowChange>,
) -> rusqlite::Result<()> {
    let Some(change) = change else { return Ok(()) };
    let unwritable = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    let packed = compressed(&serde_json::to_vec(change).map_err(unwritable)?)?;
    connection.execute("INSERT INTO window_changes VALUES (?1, ?2, seal(?3))", params![key.0, id, packed])?;
    Ok(())
}
