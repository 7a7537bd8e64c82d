//! The changes of an operation that its entry in the log does not have: of blocks by their contents, of the window, and of files beside the
//! session.

use super::database::{SessionKey, Statements, Store, StoreError, first};
use super::values::{compressed, decompressed, keep};
use crate::model::{Address, BlockEdit, CompanionEdit, OperationId, OperationState, Plan, WindowChange, as_text};
use rusqlite::{Connection, params};
use serde::de::DeserializeOwned;
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

/// The changes of an operation beside its entry in the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effects {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_edits: Vec<BlockEdit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowChange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<LoggedCompanion>,
}

impl Effects {
    /// Returns those of a plan, and stores the contents of its files.
    pub(super) fn of_plan(connection: &Connection, operation: OperationId, plan: &Plan) -> rusqlite::Result<Effects> {
        let logged = |edit: &CompanionEdit| {
            let (before, after) = (keep(connection, &edit.before)?, keep(connection, &edit.after)?);
            Ok(LoggedCompanion { operation, path: edit.path.clone(), before, after })
        };
        let companions = plan.companions.iter().map(logged).collect::<rusqlite::Result<_>>()?;
        Ok(Effects { block_edits: plan.block_edits.clone(), window: plan.window.clone(), companions })
    }
}

impl Store {
    /// Returns the changes of blocks of an operation by their contents, in file order; those of an operation of an earlier version
    /// are not known.
    pub fn block_edits(&self, key: SessionKey, id: OperationId) -> Result<Vec<BlockEdit>, StoreError> {
        Ok(self.packed("block_edits", key, id)?.unwrap_or_default())
    }

    /// Returns the change of the window by an operation; `None` if it has none, or an earlier version logged it.
    pub fn window_change(&self, key: SessionKey, id: OperationId) -> Result<Option<WindowChange>, StoreError> {
        self.packed("window_changes", key, id)
    }

    fn packed<T: DeserializeOwned>(&self, table: &str, key: SessionKey, id: OperationId) -> Result<Option<T>, StoreError> {
        let sql = format!("SELECT open(packed) FROM {table} WHERE session = ?1 AND operation = ?2");
        let Some(packed) = self.connection.row(&sql, params![key.0, id], first::<Vec<u8>>)? else { return Ok(None) };
        let value = decompressed(&packed).and_then(|unpacked| serde_json::from_slice(&unpacked).ok());
        let broken = || StoreError::Damaged(format!("the {} of operation {id} are unreadable", table.replace('_', " ")));
        value.map(Some).ok_or_else(broken)
    }

    /// Returns the changes of files beside a session, in the order of its operations: of committed operations, and of prepared ones
    /// that are not settled yet.
    pub fn companions(&self, key: SessionKey) -> Result<Vec<LoggedCompanion>, StoreError> {
        let sql = "SELECT operation, open(path), open(before), open(after) FROM companions JOIN operations USING (session)
                   WHERE session = ?1 AND number = operation AND state IN (?2, ?3) ORDER BY operation, place";
        let states = params![key.0, OperationState::Committed.name(), OperationState::Prepared.name()];
        Ok(self.connection.rows(sql, states, |row| {
            let path: String = row.get(1)?;
            Ok(LoggedCompanion { operation: row.get(0)?, path: path.into(), before: row.get(2)?, after: row.get(3)? })
        })?)
    }

    /// Deletes the logged contents of files beside a session, so that they cannot be recovered. Returns the number of changes.
    pub fn forget_companions(&self, key: SessionKey) -> Result<usize, StoreError> {
        self.connection.execute_batch("PRAGMA secure_delete = ON")?;
        let count = self.connection.run("DELETE FROM companions WHERE session = ?1", [key.0])?;
        if count > 0 {
            self.sweep()?;
        }
        Ok(count)
    }
}

/// Stores the changes of an operation beside its entry in the log; the contents of files are in the store.
pub(super) fn insert_effects(
    connection: &Connection,
    key: SessionKey,
    id: OperationId,
    effects: &Effects,
) -> Result<(), StoreError> {
    if !effects.block_edits.is_empty() {
        insert_packed(connection, "block_edits", key, id, &effects.block_edits)?;
    }
    if let Some(window) = &effects.window {
        insert_packed(connection, "window_changes", key, id, window)?;
    }
    for (logged, place) in effects.companions.iter().zip(0i64..) {
        let values = params![key.0, id, place, logged.path.to_string_lossy(), logged.before, logged.after];
        connection.run("INSERT INTO companions VALUES (?1, ?2, ?3, seal(?4), seal(?5), seal(?6))", values)?;
    }
    Ok(())
}

fn insert_packed(
    connection: &Connection,
    table: &str,
    key: SessionKey,
    id: OperationId,
    value: &impl Serialize,
) -> rusqlite::Result<usize> {
    let unwritable = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    let packed = compressed(&serde_json::to_vec(value).map_err(unwritable)?)?;
    connection.run(&format!("INSERT INTO {table} VALUES (?1, ?2, seal(?3))"), params![key.0, id, packed])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Key, Level};
    use crate::store::Export;
    use std::path::Path;

    fn edit(text: &str) -> BlockEdit {
        let (text, reason) = (text.to_owned(), "long".to_owned());
        BlockEdit { content: Key(u128::MAX - 1), occurrence: 2, text, level: Level::Trimmed, reason }
    }

    /// Logs operations with some block edits as done.
    fn log(store: &Store, key: SessionKey, all: &[&[BlockEdit]]) {
        for edits in all {
            let plan = Plan { block_edits: edits.to_vec(), ..Plan::default() };
            store.prepare(key, &plan, 0, std::iter::empty(), None, None).unwrap();
        }
    }

    fn register(store: &Store, name: &str) -> SessionKey {
        store.register("claude-code", name, Path::new(name), "p").unwrap()
    }

    #[test]
    fn block_edits_go_with_an_export() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let (key, other) = (register(&store, "a"), register(&store, "b"));
        let expected = [vec![edit("x"), edit("y \u{0} \"")], Vec::new(), vec![edit("z")], Vec::new()];
        log(&store, key, &[&expected[0], &expected[1], &expected[2]]);
        let stored = store.find(Path::new("a")).unwrap().unwrap();
        let export = Export::unpack(&store.export(&stored).unwrap().pack().unwrap()).unwrap();
        let known = |key| [1, 2, 3, 4].map(|id| store.block_edits(key, id).unwrap());
        assert_eq!(known(key), expected);
        store.take_over(other, &export).unwrap();
        assert_eq!(known(other), expected);
        // A longer log that is known here keeps its own.
        log(&store, key, &[&[edit("later")]]);
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
        let key = register(&store, "a");
        log(&store, key, &[&[edit("plain"), edit("secret")], &[edit("plain")]]);
        let without = |value: &[u8]| value.windows(6).any(|part| part == b"secret").then(Vec::new);
        store.rewrite(key, &|_| true, &without, &|_| None).unwrap();
        assert_eq!([1, 2].map(|id| store.block_edits(key, id).unwrap()), [Vec::new(), vec![edit("plain")]]);
    }
}
