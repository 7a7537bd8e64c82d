//! Operations on sessions that a client had open.

use super::database::{SessionKey, Store, StoreError};
use crate::model::OperationId;
use rusqlite::params;

/// An operation on a session file that a client had open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveOperation {
    pub operation: OperationId,
    pub process: u32,
    /// The time when the client was first known to have read the file since, in milliseconds since 1970, UTC.
    pub loaded: Option<i64>,
}

impl Store {
    /// Records that a client had the session open when an operation changed its file.
    pub fn record_live(&self, session: SessionKey, operation: OperationId, process: u32) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO live_operations VALUES (?1, ?2, ?3, NULL)";
        self.connection.execute(sql, params![session.0, operation, process])?;
        Ok(())
    }

    /// Returns the operations on a session that a client had open, oldest first.
    pub fn live_operations(&self, session: SessionKey) -> Result<Vec<LiveOperation>, StoreError> {
        let sql = "SELECT operation, process, loaded FROM live_operations WHERE session = ?1 ORDER BY operation";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([session.0], |row| {
            Ok(LiveOperation { operation: row.get(0)?, process: row.get(1)?, loaded: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Records that a client read the session file: with all operations up to `last`.
    pub fn record_loaded(&self, session: SessionKey, last: OperationId, time: i64) -> Result<(), StoreError> {
        let sql = "UPDATE live_operations SET loaded = ?3 WHERE session = ?1 AND operation <= ?2 AND loaded IS NULL";
        self.connection.execute(sql, params![session.0, last, time])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_first_load_counts() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let session = store.register("claude-code", "s", Path::new("/s.jsonl"), "p").unwrap();
        for operation in [1, 2] {
            store.record_live(session, operation, 7).unwrap();
        }
        store.record_loaded(session, 1, 10).unwrap();
        store.record_loaded(session, 2, 20).unwrap();
        let loaded: Vec<_> = store.live_operations(session).unwrap().iter().map(|live| live.loaded).collect();
        assert_eq!(loaded, [Some(10), Some(20)]);
        store.forget(session).unwrap();
        assert_eq!(store.live_operations(session).unwrap(), []);
    }
}
