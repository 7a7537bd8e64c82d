//! The log of memory trees: each change of a tree with the bytes of its files before and after.

use super::database::{Store, StoreError, damaged};
use super::values::{compressed, decompressed_bytes};
use crate::model::{Address, FileChange, MemoryActor, MemoryOperation};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::BTreeMap;

const PREPARED: &str = "prepared";
const COMMITTED: &str = "committed";

impl Store {
    /// Logs a change of a tree as prepared, durably; returns its number. The number in `operation` is ignored.
    pub fn prepare_memories(&self, tree: &str, operation: &MemoryOperation) -> Result<u32, StoreError> {
        let transaction = self.writing()?;
        transaction.execute(
            "INSERT INTO memory_operations (tree, state, time, command, actor, inverts) VALUES (seal(?1), ?2, ?3, seal(?4), ?5, ?6)",
            params![tree, PREPARED, operation.time, operation.command, operation.actor.name(), operation.inverts],
        )?;
        let number = transaction.last_insert_rowid();
        for change in &operation.changes {
            let before = change.before.as_deref().map(|bytes| keep(&transaction, bytes)).transpose()?;
            let after = change.after.as_deref().map(|bytes| keep(&transaction, bytes)).transpose()?;
            let values = params![number, change.path, before, after];
            transaction
                .prepare_cached("INSERT INTO memory_changes VALUES (?1, seal(?2), seal(?3), seal(?4))")?
                .execute(values)?;
        }
        transaction.commit()?;
        u32::try_from(number).map_err(|_| StoreError::Damaged("the log of memories is full".to_owned()))
    }

    pub fn commit_memories(&self, number: u32) -> Result<(), StoreError> {
        self.connection.execute("UPDATE memory_operations SET state = ?2 WHERE number = ?1", params![number, COMMITTED])?;
        Ok(())
    }

    /// Deletes a prepared change, of which nothing was written.
    pub fn abort_memories(&self, number: u32) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        let sql = "DELETE FROM memory_changes WHERE operation IN
                   (SELECT number FROM memory_operations WHERE number = ?1 AND state = ?2)";
        transaction.execute(sql, params![number, PREPARED])?;
        transaction.execute("DELETE FROM memory_operations WHERE number = ?1 AND state = ?2", params![number, PREPARED])?;
        transaction.commit()?;
        Ok(())
    }

    /// Returns the changes of a tree that an interrupted command left prepared, oldest first.
    /// Errors: the store is damaged, or cannot be read.
    pub fn prepared_memories(&self, tree: &str) -> Result<Vec<MemoryOperation>, StoreError> {
        let sql = "SELECT number, time, open(command), actor, inverts FROM memory_operations
                   WHERE tree = seal(?1) AND state = ?2 ORDER BY number";
        self.memory_operations_by(sql, params![tree, PREPARED])
    }

    /// Returns the newest committed changes of a tree, at most `most`, newest first.
    /// Errors: the store is damaged, or cannot be read.
    pub fn memory_operations(&self, tree: &str, most: usize) -> Result<Vec<MemoryOperation>, StoreError> {
        let sql = "SELECT number, time, open(command), actor, inverts FROM memory_operations
                   WHERE tree = seal(?1) AND state = ?2 ORDER BY number DESC LIMIT ?3";
        self.memory_operations_by(sql, params![tree, COMMITTED, i64::try_from(most).unwrap_or(i64::MAX)])
    }

    /// Returns a committed change of a tree; `None` if there is none with this number.
    /// Errors: the store is damaged, or cannot be read.
    pub fn memory_operation(&self, tree: &str, number: u32) -> Result<Option<MemoryOperation>, StoreError> {
        let sql = "SELECT number, time, open(command), actor, inverts FROM memory_operations
                   WHERE tree = seal(?1) AND state = ?2 AND number = ?3";
        Ok(self.memory_operations_by(sql, params![tree, COMMITTED, number])?.pop())
    }

    /// Returns the number of committed changes of a tree.
    pub fn memory_operation_count(&self, tree: &str) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM memory_operations WHERE tree = seal(?1) AND state = ?2";
        let count: i64 = self.connection.query_row(sql, params![tree, COMMITTED], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Returns the files of a tree as aperture wrote them last, by path; `None` for a file that it deleted.
    /// Errors: the store is damaged, or cannot be read.
    pub fn last_written_memories(&self, tree: &str) -> Result<BTreeMap<String, Option<Vec<u8>>>, StoreError> {
        let sql = "SELECT open(path), open(after), max(number) FROM memory_changes JOIN memory_operations ON number = operation
                   WHERE tree = seal(?1) AND state = ?2 GROUP BY path";
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map(params![tree, COMMITTED], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut files = BTreeMap::new();
        for row in rows {
            let (path, after): (String, Option<Address>) = row.map_err(damaged)?;
            files.insert(path, after.map(|address| self.memory_content(&address)).transpose()?);
        }
        Ok(files)
    }

    /// Returns true if a file of a tree once had these bytes, by the log.
    pub fn was_written_memory(&self, tree: &str, path: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM memory_changes JOIN memory_operations ON number = operation
                   WHERE tree = seal(?1) AND path = seal(?2) AND (before = seal(?3) OR after = seal(?3)))";
        let address = *blake3::hash(bytes).as_bytes();
        Ok(self.connection.query_row(sql, params![tree, path, address], |row| row.get(0))?)
    }

    fn memory_operations_by(&self, sql: &str, values: impl rusqlite::Params) -> Result<Vec<MemoryOperation>, StoreError> {
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map(values, operation)?;
        let mut operations = Vec::new();
        for row in rows {
            let (mut operation, actor) = row.map_err(damaged)?;
            let unknown = || StoreError::Damaged(format!("unknown actor '{actor}' of memory operation {}", operation.id));
            operation.actor = MemoryActor::from_name(&actor).ok_or_else(unknown)?;
            operation.changes = self.memory_changes(operation.id)?;
            operations.push(operation);
        }
        Ok(operations)
    }

    fn memory_changes(&self, number: u32) -> Result<Vec<FileChange>, StoreError> {
        let sql = "SELECT open(path) AS name, open(before), open(after) FROM memory_changes WHERE operation = ?1 ORDER BY name";
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map([number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let mut changes = Vec::new();
        for row in rows {
            let (path, before, after): (String, Option<Address>, Option<Address>) = row.map_err(damaged)?;
            let before = before.map(|address| self.memory_content(&address)).transpose()?;
            let after = after.map(|address| self.memory_content(&address)).transpose()?;
            changes.push(FileChange { path, before, after });
        }
        Ok(changes)
    }

    fn memory_content(&self, address: &Address) -> Result<Vec<u8>, StoreError> {
        let sql = "SELECT open(content, ?1) FROM memory_contents WHERE address = seal(?1)";
        let content: Option<Vec<u8>> =
            self.connection.prepare_cached(sql)?.query_row([address], |row| row.get(0)).optional().map_err(damaged)?;
        let bytes = content.and_then(|content| zstd::bulk::decompress(&content, decompressed_bytes(&content)).ok());
        let sound = bytes.filter(|bytes| blake3::hash(bytes).as_bytes() == address);
        sound.ok_or_else(|| StoreError::Damaged("the bytes of a memory file are missing or unreadable".to_owned()))
    }
}

fn operation(row: &Row<'_>) -> rusqlite::Result<(MemoryOperation, String)> {
    let operation = MemoryOperation {
        id: row.get(0)?,
        time: row.get(1)?,
        command: row.get(2)?,
        actor: MemoryActor::User,
        inverts: row.get(4)?,
        changes: Vec::new(),
    };
    Ok((operation, row.get(3)?))
}

/// Stores bytes under their address, once.
fn keep(connection: &Connection, bytes: &[u8]) -> rusqlite::Result<Address> {
    let address = *blake3::hash(bytes).as_bytes();
    let sql = "INSERT OR IGNORE INTO memory_contents VALUES (seal(?1), seal(?2, ?1))";
    connection.prepare_cached(sql)?.execute(params![address, compressed(bytes)?])?;
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(command: &str, before: Option<&str>, after: Option<&str>) -> MemoryOperation {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let changes = vec![FileChange { path: "a/b.md".to_owned(), before: before.map(bytes), after: after.map(bytes) }];
        MemoryOperation { id: 0, time: 5, command: command.to_owned(), actor: MemoryActor::Learn, inverts: Some(3), changes }
    }

    #[test]
    fn operations_are_logged_by_tree() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let first = store.prepare_memories("/t", &operation("learn", None, Some("one"))).unwrap();
        assert_eq!((store.prepared_memories("/t").unwrap().len(), store.memory_operations("/t", 9).unwrap().len()), (1, 0));
        store.commit_memories(first).unwrap();
        let second = store.prepare_memories("/t", &operation("forget", Some("one"), None)).unwrap();
        store.abort_memories(second).unwrap();
        store.abort_memories(first).unwrap();
        assert_eq!(store.prepared_memories("/t").unwrap(), []);
        let known = store.memory_operation("/t", first).unwrap().unwrap();
        assert_eq!(known, MemoryOperation { id: first, ..operation("learn", None, Some("one")) });
        assert_eq!((store.memory_operation("/u", first).unwrap(), store.memory_operation_count("/t").unwrap()), (None, 1));
        let third = store.prepare_memories("/t", &operation("edit", Some("one"), Some("two"))).unwrap();
        assert!(third > second, "a number is used once");
        store.commit_memories(third).unwrap();
        assert_eq!(store.last_written_memories("/t").unwrap()["a/b.md"].as_deref(), Some(&b"two"[..]));
        assert!(store.was_written_memory("/t", "a/b.md", b"one").unwrap());
        assert!(!store.was_written_memory("/u", "a/b.md", b"one").unwrap());
        let newest: Vec<u32> = store.memory_operations("/t", 1).unwrap().iter().map(|operation| operation.id).collect();
        assert_eq!(newest, [third]);
        store.connection.execute("UPDATE memory_contents SET content = x'00'", []).unwrap();
        assert!(matches!(store.memory_operations("/t", 9), Err(StoreError::Damaged(_))));
    }
}
