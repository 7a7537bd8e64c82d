//! The numbers of turns, which stay when an operation adds or removes rows.

use super::database::{SessionKey, Store, StoreError, damaged};
use super::rows::key as row_key;
use crate::model::Key;
use rusqlite::params;

impl Store {
    /// Returns the recorded turns of a session, by number: the identity of each and its number.
    /// Errors: the store is damaged, or cannot be read.
    pub fn turn_numbers(&self, key: SessionKey) -> Result<Vec<(Key, u32)>, StoreError> {
        let sql = "SELECT open(turn), number FROM turn_numbers WHERE session = ?1 ORDER BY number";
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map([key.0], |row| Ok((row_key(row, 0)?, row.get(1)?)))?;
        rows.map(|row| row.map_err(damaged)).collect()
    }

    pub fn record_turn_numbers(&self, key: SessionKey, turns: &[(Key, u32)]) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        for (turn, number) in turns {
            let sql = "INSERT OR IGNORE INTO turn_numbers VALUES (?1, ?2, seal(?3))";
            transaction.prepare_cached(sql)?.execute(params![key.0, number, turn.0.to_le_bytes()])?;
        }
        transaction.commit()?;
        Ok(())
    }
}
