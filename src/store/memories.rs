//! The log of memory trees: each change of a tree with the bytes of its files before and after, and the sessions that received memories.

use super::database::{Statements, Store, StoreError, first};
use super::rows::word;
use super::values::{compressed, decompressed};
use crate::model::{Address, FileChange, MemoryActor, MemoryOperation, MemoryRead};
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;

const PREPARED: &str = "prepared";
const COMMITTED: &str = "committed";

impl Store {
    /// Logs a change of a tree as prepared, durably; returns its number. The number in `operation` is ignored.
    pub fn prepare_memories(&self, tree: &str, operation: &MemoryOperation) -> Result<u32, StoreError> {
        let transaction = self.writing()?;
        let sql = "INSERT INTO memory_operations (tree, state, time, command, actor, inverts)
                   VALUES (seal(?1), ?2, ?3, seal(?4), ?5, ?6)";
        let MemoryOperation { time, command, actor, inverts, .. } = operation;
        transaction.run(sql, params![tree, PREPARED, time, command, actor.name(), inverts])?;
        let number = transaction.last_insert_rowid();
        for change in &operation.changes {
            let keep = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(|bytes| keep(&transaction, bytes)).transpose();
            let values = params![number, change.path, keep(&change.before)?, keep(&change.after)?];
            transaction.run("INSERT INTO memory_changes VALUES (?1, seal(?2), seal(?3), seal(?4))", values)?;
        }
        transaction.commit()?;
        u32::try_from(number).map_err(|_| StoreError::Damaged("the log of memories is full".to_owned()))
    }

    pub fn commit_memories(&self, number: u32) -> Result<(), StoreError> {
        self.connection.change("UPDATE memory_operations SET state = ?2 WHERE number = ?1", params![number, COMMITTED])
    }

    /// Deletes a prepared change, of which nothing was written.
    pub fn abort_memories(&self, number: u32) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        let sql = "DELETE FROM memory_changes WHERE operation IN
                   (SELECT number FROM memory_operations WHERE number = ?1 AND state = ?2)";
        transaction.run(sql, params![number, PREPARED])?;
        transaction.run("DELETE FROM memory_operations WHERE number = ?1 AND state = ?2", params![number, PREPARED])?;
        Ok(transaction.commit()?)
    }

    /// Returns the changes of a tree that an interrupted command left prepared, oldest first.
    pub fn prepared_memories(&self, tree: &str) -> Result<Vec<MemoryOperation>, StoreError> {
        self.memory_operations_by("ORDER BY number", params![tree, PREPARED])
    }

    /// Returns the newest committed changes of a tree, at most `most`, newest first.
    pub fn memory_operations(&self, tree: &str, most: usize) -> Result<Vec<MemoryOperation>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.memory_operations_by("ORDER BY number DESC LIMIT ?3", params![tree, COMMITTED, most])
    }

    /// Returns a committed change of a tree; `None` if there is none with this number.
    pub fn memory_operation(&self, tree: &str, number: u32) -> Result<Option<MemoryOperation>, StoreError> {
        Ok(self.memory_operations_by("AND number = ?3", params![tree, COMMITTED, number])?.pop())
    }

    pub fn memory_operation_count(&self, tree: &str) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM memory_operations WHERE tree = seal(?1) AND state = ?2";
        let count: i64 = self.connection.query_row(sql, params![tree, COMMITTED], first)?;
        Ok(count.unsigned_abs())
    }

    /// Returns the files of a tree as aperture wrote them last, by path; `None` for a file that it deleted.
    pub fn last_written_memories(&self, tree: &str) -> Result<BTreeMap<String, Option<Vec<u8>>>, StoreError> {
        let sql = "SELECT open(path), open(after), max(number) FROM memory_changes JOIN memory_operations ON number = operation
                   WHERE tree = seal(?1) AND state = ?2 GROUP BY path";
        let files = self.connection.rows(sql, params![tree, COMMITTED], |row| Ok((row.get(0)?, row.get(1)?)))?;
        files.into_iter().map(|(path, after)| Ok((path, self.memory_content(after)?))).collect()
    }

    /// Returns true if a file of a tree once had these bytes, by the log.
    pub fn was_written_memory(&self, tree: &str, path: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM memory_changes JOIN memory_operations ON number = operation
                   WHERE tree = seal(?1) AND path = seal(?2) AND (before = seal(?3) OR after = seal(?3)))";
        let address = *blake3::hash(bytes).as_bytes();
        Ok(self.connection.query_row(sql, params![tree, path, address], first)?)
    }

    /// Returns the changes of a tree in a state that a condition or an order selects.
    fn memory_operations_by(&self, rest: &str, values: impl rusqlite::Params) -> Result<Vec<MemoryOperation>, StoreError> {
        let sql = format!(
            "SELECT number, time, open(command), actor, inverts FROM memory_operations WHERE tree = seal(?1) AND state = ?2 {rest}"
        );
        let mut operations = self.connection.rows(&sql, values, operation)?;
        for operation in &mut operations {
            operation.changes = self.memory_changes(operation.id)?;
        }
        Ok(operations)
    }

    fn memory_changes(&self, number: u32) -> Result<Vec<FileChange>, StoreError> {
        let sql = "SELECT open(path) AS name, open(before), open(after) FROM memory_changes WHERE operation = ?1 ORDER BY name";
        let changes = self.connection.rows(sql, [number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let content = |address| self.memory_content(address);
        let change = |(path, before, after)| Ok(FileChange { path, before: content(before)?, after: content(after)? });
        changes.into_iter().map(change).collect()
    }

    fn memory_content(&self, address: Option<Address>) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(address) = address else { return Ok(None) };
        let sql = "SELECT open(content, ?1) FROM memory_contents WHERE address = seal(?1)";
        let content = self.connection.row(sql, [address], first::<Vec<u8>>)?;
        let bytes = content.and_then(|content| decompressed(&content));
        let sound = bytes.filter(|bytes| *blake3::hash(bytes).as_bytes() == address);
        let broken = || StoreError::Damaged("the bytes of a memory file are missing or unreadable".to_owned());
        sound.map(Some).ok_or_else(broken)
    }

    /// Rewrites the logged commands and files of memory trees, so that the old bytes cannot be recovered. Files that aperture wrote last
    /// stay: the trees have them. Returns the number of rewritten files. `rewrite` returns the new value, or `None` if it is unchanged.
    pub fn rewrite_memories(&self, rewrite: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Result<usize, StoreError> {
        self.connection.execute_batch("PRAGMA secure_delete = ON")?;
        let transaction = self.writing()?;
        let last = "SELECT open(after), max(number) FROM memory_changes JOIN memory_operations ON number = operation
                    GROUP BY tree, path";
        let last: Vec<Option<Address>> = transaction.rows(last, [], first)?;
        let mut count = 0;
        for address in transaction.rows("SELECT open(address) FROM memory_contents", [], first::<Address>)? {
            if last.contains(&Some(address)) {
                continue;
            }
            let Some(new) = self.memory_content(Some(address))?.and_then(|bytes| rewrite(&bytes)) else { continue };
            let new = keep(&transaction, &new)?;
            for column in ["before", "after"] {
                let sql = format!("UPDATE memory_changes SET {column} = seal(?2) WHERE {column} = seal(?1)");
                transaction.run(&sql, [address, new])?;
            }
            transaction.run("DELETE FROM memory_contents WHERE address = seal(?1)", [address])?;
            count += 1;
        }
        let mut commands = 0;
        for command in transaction.rows("SELECT open(command) FROM memory_operations", [], first::<String>)? {
            let Some(new) = rewrite(command.as_bytes()) else { continue };
            let sql = "UPDATE memory_operations SET command = seal(?2) WHERE command = seal(?1)";
            commands += transaction.run(sql, params![command, String::from_utf8_lossy(&new)])?;
        }
        transaction.commit()?;
        if count + commands > 0 {
            self.erase_free_pages()?;
        }
        Ok(count)
    }

    /// Records that a session received memories of a tree; the first time counts. `time` is in milliseconds since 1970, UTC.
    pub fn record_memory_reads(&self, tree: &str, session: &str, memories: &[u32], time: i64) -> Result<(), StoreError> {
        if memories.is_empty() {
            return Ok(());
        }
        let transaction = self.writing()?;
        for memory in memories {
            let values = params![tree, memory, session, time];
            transaction.run("INSERT OR IGNORE INTO memory_reads VALUES (seal(?1), ?2, seal(?3), ?4)", values)?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns which sessions received which memories of a tree.
    pub fn memory_reads(&self, tree: &str) -> Result<Vec<MemoryRead>, StoreError> {
        let sql = "SELECT memory, open(session) AS id, time FROM memory_reads WHERE tree = seal(?1) ORDER BY memory, id";
        Ok(self
            .connection
            .rows(sql, [tree], |row| Ok(MemoryRead { memory: row.get(0)?, session: row.get(1)?, time: row.get(2)? }))?)
    }

    pub fn memories_read_by(&self, tree: &str, session: &str) -> Result<Vec<u32>, StoreError> {
        let sql = "SELECT memory FROM memory_reads WHERE tree = seal(?1) AND session = seal(?2)";
        Ok(self.connection.rows(sql, [tree, session], first)?)
    }
}

fn operation(row: &Row<'_>) -> rusqlite::Result<MemoryOperation> {
    let (id, time, command) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (actor, inverts) = (word(row, 3, MemoryActor::from_name)?, row.get(4)?);
    Ok(MemoryOperation { id, time, command, actor, inverts, changes: Vec::new() })
}

/// Stores bytes under their address, once.
fn keep(connection: &Connection, bytes: &[u8]) -> rusqlite::Result<Address> {
    let address = *blake3::hash(bytes).as_bytes();
    let sql = "INSERT OR IGNORE INTO memory_contents VALUES (seal(?1), seal(?2, ?1))";
    connection.run(sql, params![address, compressed(bytes)?])?;
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

    #[test]
    fn reads_of_a_tree_are_kept_by_session() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        store.record_memory_reads("/a", "one", &[1, 2], 10).unwrap();
        store.record_memory_reads("/a", "two", &[2], 20).unwrap();
        store.record_memory_reads("/a", "two", &[2], 25).unwrap();
        store.record_memory_reads("/b", "one", &[3], 30).unwrap();
        let read = |memory, session: &str, time| MemoryRead { memory, session: session.to_owned(), time };
        assert_eq!(store.memory_reads("/a").unwrap(), [read(1, "one", 10), read(2, "one", 10), read(2, "two", 20)]);
        assert_eq!(store.memories_read_by("/a", "one").unwrap(), [1, 2]);
        assert!(store.memories_read_by("/a", "three").unwrap().is_empty());
    }
}
