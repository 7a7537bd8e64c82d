//! The changes of blocks of each operation by their contents.

use super::database::{SessionKey, Store, StoreError};
use super::values::{compressed, decompressed_bytes};
use crate::model::{BlockEdit, OperationId};
use rusqlite::{Connection, OptionalExtension, params};

impl Store {
    /// Returns the changes of blocks of an operation by their contents, in file order; those of an operation of an earlier version
    /// are not known.
    /// Errors: they are damaged, or the store cannot be read.
    pub fn block_edits(&self, key: SessionKey, id: OperationId) -> Result<Vec<BlockEdit>, StoreError> {
        let sql = "SELECT open(packed) FROM block_edits WHERE session = ?1 AND operation = ?2";
        let packed: Option<Vec<u8>> =
            self.connection.prepare_cached(sql)?.query_row(params![key.0, id], |row| row.get(0)).optional()?;
        let Some(packed) = packed else { return Ok(Vec::new()) };
        let unpacked = zstd::bulk::decompress(&packed, decompressed_bytes(&packed)).ok();
        let edits = unpacked.and_then(|unpacked| serde_json::from_slice(&unpacked).ok());
        edits.ok_or_else(|| StoreError::Damaged(format!("the block edits of operation {id} are unreadable")))
    }
}

/// Stores the changes of blocks of an operation.
pub(super) fn insert_block_edits(
    connection: &Connection,
    key: SessionKey,
    id: OperationId,
    edits: &[BlockEdit],
) -> rusqlite::Result<()> {
    if edits.is_empty() {
        return Ok(());
    }
    let unwritable = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    let packed = compressed(&serde_json::to_vec(edits).map_err(unwritable)?)?;
    connection.execute("INSERT INTO block_edits VALUES (?1, ?2, seal(?3))", params![key.0, id, packed])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Key, Level, Plan};
    use std::path::Path;

    fn edit(text: &str) -> BlockEdit {
        BlockEdit {
            content: Key(u128::MAX - 1),
            occurrence: 2,
            text: text.to_owned(),
            level: Level::Trimmed,
            reason: "long".to_owned(),
        }
    }

    fn plan(block_edits: Vec<BlockEdit>) -> Plan {
        Plan { block_edits, ..Plan::default() }
    }

    /// Logs operations with some block edits as done.
    fn log(store: &Store, name: &str, all: &[Vec<BlockEdit>]) -> SessionKey {
        let key = store.register("claude-code", name, Path::new(name), "p").unwrap();
        for edits in all {
            store.prepare(key, &plan(edits.clone()), 0, std::iter::empty(), None, None).unwrap();
        }
        key
    }

    #[test]
    fn block_edits_go_with_an_export() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let key = log(&store, "a", &[vec![edit("x"), edit("y \u{0} \"")], Vec::new(), vec![edit("z")]]);
        let stored = store.find(Path::new("a")).unwrap().unwrap();
        let export = crate::store::Export::unpack(&store.export(&stored).unwrap().pack().unwrap()).unwrap();
        let known = |key| [1, 2, 3, 4].map(|id| store.block_edits(key, id).unwrap());
        let expected = [vec![edit("x"), edit("y \u{0} \"")], Vec::new(), vec![edit("z")], Vec::new()];
        assert_eq!(known(key), expected);
        let other = store.register("claude-code", "b", Path::new("b"), "p").unwrap();
        store.take_over(other, &export).unwrap();
        assert_eq!(known(other), expected);
        // A longer log that is known here keeps its own.
        store.prepare(key, &plan(vec![edit("later")]), 0, std::iter::empty(), None, None).unwrap();
        store.take_over(key, &export).unwrap();
        assert_eq!(store.block_edits(key, 4).unwrap(), [edit("later")]);
        store.forget(key).unwrap();
        assert_eq!(known(key), [const { Vec::new() }; 4]);
        assert_eq!(known(other), expected);
    }

    #[test]
    fn block_edits_with_credentials_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let key = log(&store, "a", &[vec![edit("plain"), edit("secret")], vec![edit("plain")]]);
        let without = |value: &[u8]| value.windows(6).any(|part| part == b"secret").then(Vec::new);
        store.rewrite(key, &|_| true, &without).unwrap();
        assert_eq!([1, 2].map(|id| store.block_edits(key, id).unwrap()), [Vec::new(), vec![edit("plain")]]);
    }
}
