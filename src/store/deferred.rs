//! Operations that are logged before they are written to their file, because a client holds it.

use super::database::{SessionKey, Store, StoreError, StoredSession};
use super::history::Logged;
use super::rows::{SESSION, insert, stored};
use crate::model::{Operation, OperationId, OperationKind, OperationState, Plan};
use rusqlite::params;

impl Store {
    /// Logs a plan as deferred: it is in force in requests, and is written to the file later.
    pub fn defer(&self, key: SessionKey, plan: &Plan, time: i64) -> Result<OperationId, StoreError> {
        self.log(key, plan, time, std::iter::empty(), None, Logged::Deferred)
    }

    /// Returns the deferred operations of a session, oldest first.
    pub fn deferred(&self, key: SessionKey) -> Result<Vec<Operation>, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM operations WHERE session = ?1 AND state = ?2)";
        let values = params![key.0, OperationState::Deferred.name()];
        let has_some: bool = self.connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        let operations = if has_some { self.operations(key)? } else { Vec::new() };
        Ok(operations.into_iter().filter(|operation| operation.state == OperationState::Deferred).collect())
    }

    pub fn deferred_sessions(&self) -> Result<Vec<StoredSession>, StoreError> {
        let sql = format!("{SESSION} WHERE id IN (SELECT session FROM operations WHERE state = ?1) ORDER BY id");
        let name = OperationState::Deferred.name();
        Ok(self.connection.prepare_cached(&sql)?.query_map([name], stored)?.collect::<Result<_, _>>()?)
    }

    /// Drops the deferred operations of a session from one on. Requests are as before it from then on, in the order of the log.
    pub fn drop_deferred(&self, key: SessionKey, from: OperationId, time: i64) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        let sql = "UPDATE operations SET state = ?3 WHERE session = ?1 AND number >= ?2 AND state = ?4";
        let (dropped, deferred) = (OperationState::Dropped.name(), OperationState::Deferred.name());
        transaction.execute(sql, params![key.0, from, dropped, deferred])?;
        let sql = "SELECT coalesce(max(number), 0) FROM operations WHERE session = ?1";
        let last: OperationId = transaction.query_row(sql, [key.0], |row| row.get(0))?;
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
        transaction.commit()?;
        Ok(())
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
}
