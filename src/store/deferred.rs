//! Operations on sessions that a client has open: those that are written later, because it holds the file, and those that it has not read.

use super::database::{SessionKey, Statements, Store, StoreError, StoredSession, first};
use super::history::Logged;
use super::rows::{SESSION, insert, stored};
use crate::model::{Operation, OperationId, OperationKind, OperationState, Plan};
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
    /// Logs a plan as deferred: it is in force in requests, and is written to the file later.
    pub fn defer(&self, key: SessionKey, plan: &Plan, time: i64) -> Result<OperationId, StoreError> {
        self.log(key, plan, time, std::iter::empty(), None, Logged::Deferred)
    }

    /// Returns the deferred operations of a session, oldest first.
    pub fn deferred(&self, key: SessionKey) -> Result<Vec<Operation>, StoreError> {
        let sql = "SELECT 1 FROM operations WHERE session = ?1 AND state = ?2";
        let some = self.connection.row(sql, params![key.0, OperationState::Deferred.name()], first::<i64>)?;
        let operations = if some.is_some() { self.operations(key)? } else { Vec::new() };
        Ok(operations.into_iter().filter(|operation| operation.state == OperationState::Deferred).collect())
    }

    pub fn deferred_sessions(&self) -> Result<Vec<StoredSession>, StoreError> {
        let sql = format!("{SESSION} WHERE id IN (SELECT session FROM operations WHERE state = ?1) ORDER BY id");
        Ok(self.connection.rows(&sql, [OperationState::Deferred.name()], stored)?)
    }

    /// Drops the deferred operations of a session from one on. Requests are as before it from then on, in the order of the log.
    pub fn drop_deferred(&self, key: SessionKey, from: OperationId, time: i64) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        let sql = "UPDATE operations SET state = ?3 WHERE session = ?1 AND number >= ?2 AND state = ?4";
        let (dropped, deferred) = (OperationState::Dropped.name(), OperationState::Deferred.name());
        transaction.run(sql, params![key.0, from, dropped, deferred])?;
        let sql = "SELECT coalesce(max(number), 0) FROM operations WHERE session = ?1";
        let last: OperationId = transaction.query_row(sql, [key.0], first)?;
        let operation = Operation {
            id: last + 1,
            kind: OperationKind::Undo,
            state: OperationState::Dropped,
            time,
            inverts: Some(from),
            point: Some(from - 1),
            ..Operation::default()
        };
        insert(&transaction, key, &operation)?;
        Ok(transaction.commit()?)
    }

    pub fn record_live(&self, session: SessionKey, operation: OperationId, process: u32) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO live_operations VALUES (?1, ?2, ?3, NULL)";
        self.connection.change(sql, params![session.0, operation, process])
    }

    /// Returns the operations on a session that a client had open, oldest first.
    pub fn live_operations(&self, session: SessionKey) -> Result<Vec<LiveOperation>, StoreError> {
        let sql = "SELECT operation, process, loaded FROM live_operations WHERE session = ?1 ORDER BY operation";
        Ok(self.connection.rows(sql, [session.0], |row| {
            Ok(LiveOperation { operation: row.get(0)?, process: row.get(1)?, loaded: row.get(2)? })
        })?)
    }

    /// Records that a client read the session file: with all operations up to `last`.
    pub fn record_loaded(&self, session: SessionKey, last: OperationId, time: i64) -> Result<(), StoreError> {
        let sql = "UPDATE live_operations SET loaded = ?3 WHERE session = ?1 AND operation <= ?2 AND loaded IS NULL";
        self.connection.change(sql, params![session.0, last, time])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn plan(command: &str) -> Plan {
        Plan { command: command.to_owned(), ..Plan::default() }
    }

    #[test]
    fn a_deferred_operation_stays_deferred_until_it_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let key = store.register("codex", "s", Path::new("/s.jsonl"), "p").unwrap();
        let session = store.find(Path::new("/s.jsonl")).unwrap().unwrap();
        let sent = || store.content_operations(&session).unwrap().iter().map(|one| (one.id, one.point)).collect::<Vec<_>>();
        let id = store.defer(key, &plan("archive 1"), 1).unwrap();
        let later = store.defer(key, &plan("archive 2"), 2).unwrap();
        assert_eq!((id, later, store.deferred_sessions().unwrap().len()), (1, 2, 1));
        assert!(store.history(key).unwrap().operations.is_empty(), "the file does not have it");
        for state in [OperationState::Aborted, OperationState::Committed] {
            // A process that writes it is killed, and the next command finds that the file was not replaced; then it was.
            store.prepare(key, &plan("archive 1"), 3, std::iter::empty(), Some((1, [1; 32])), Some(id)).unwrap();
            assert_eq!(sent(), [(1, None), (2, None)], "requests have it meanwhile");
            store.settle(key, id, state).unwrap();
            assert_eq!(store.deferred(key).unwrap().len(), if state == OperationState::Aborted { 2 } else { 1 });
        }
        assert_eq!(store.history(key).unwrap().operations.len(), 1);
        store.drop_deferred(key, later, 4).unwrap();
        assert_eq!(store.deferred(key).unwrap(), []);
        assert_eq!(sent(), [(1, None), (2, None), (3, Some(1))], "requests are as before it");
        assert_eq!((store.history(key).unwrap().last(), store.deferred_sessions().unwrap().len()), (1, 0));
    }

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
