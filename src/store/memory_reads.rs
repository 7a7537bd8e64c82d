//! The memories that sessions received.

use super::database::{Store, StoreError, damaged};
use crate::model::MemoryRead;
use rusqlite::params;

impl Store {
    /// Records that a session received memories of a tree; the first time counts. `time` is in milliseconds since 1970, UTC.
    pub fn record_memory_reads(&self, tree: &str, session: &str, memories: &[u32], time: i64) -> Result<(), StoreError> {
        if memories.is_empty() {
            return Ok(());
        }
        let transaction = self.writing()?;
        for memory in memories {
            let values = params![tree, memory, session, time];
            transaction
                .prepare_cached("INSERT OR IGNORE INTO memory_reads VALUES (seal(?1), ?2, seal(?3), ?4)")?
                .execute(values)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Returns which sessions received which memories of a tree.
    pub fn memory_reads(&self, tree: &str) -> Result<Vec<MemoryRead>, StoreError> {
        let sql = "SELECT memory, open(session) AS id, time FROM memory_reads WHERE tree = seal(?1) ORDER BY memory, id";
        let mut select = self.connection.prepare_cached(sql)?;
        let rows =
            select.query_map([tree], |row| Ok(MemoryRead { memory: row.get(0)?, session: row.get(1)?, time: row.get(2)? }))?;
        rows.collect::<Result<_, _>>().map_err(damaged)
    }

    pub fn memories_read_by(&self, tree: &str, session: &str) -> Result<Vec<u32>, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT memory FROM memory_reads WHERE tree = seal(?1) AND session = seal(?2)")?;
        let rows = select.query_map([tree, session], |row| row.get(0))?;
        rows.collect::<Result<_, _>>().map_err(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
