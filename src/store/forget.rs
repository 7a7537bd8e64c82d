//! Deletes from the store: sessions, values that no log needs, and credentials within values.

use super::database::{SessionKey, Statements, Store, StoreError, first};
use super::history::TABLES;
use super::values::keep;
use crate::model::{Address, LoggedEdit};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// The tables with rows of a session, beside those of its operations.
const FORGOTTEN: [&str; 8] =
    ["snapshots", "proposals", "messages", "obeyed", "manifests", "held_prompts", "live_operations", "turn_numbers"];

/// The columns with texts of a session, and how its rows are found: in the log and the proposals by its number, in what requests have
/// beside the texts of the client by its id.
const TEXTS: [(&str, &[&str], &str); 7] = [
    ("operations", &["command"], BY_NUMBER),
    ("edits", &["change"], BY_NUMBER),
    ("snapshots", &["name"], BY_NUMBER),
    ("proposals", &["command", "answer", "request"], BY_NUMBER),
    ("wire_insertions", &["text"], BY_ID),
    ("staged_texts", &["text"], BY_ID),
    ("wire_calls", &["parts", "results"], BY_ID),
];
const BY_NUMBER: &str = "session = ?1";
const BY_ID: &str = "session = (SELECT session FROM sessions WHERE id = ?1)";

impl Store {
    /// Deletes the log and the snapshots of a session, and the values that no other log refers to. Undo is then impossible.
    pub fn forget(&self, key: SessionKey) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        for table in TABLES.map(|(table, _)| table).into_iter().chain(FORGOTTEN) {
            transaction.run(&format!("DELETE FROM {table} WHERE session = ?1"), [key.0])?;
        }
        for table in ["wire_lines", "wire_insertions", "wire_sessions", "wire_tools", "wire_calls", "staged_texts"] {
            let sql = format!("DELETE FROM {table} WHERE session = (SELECT session FROM sessions WHERE id = ?1)");
            transaction.run(&sql, [key.0])?;
        }
        transaction.run("DELETE FROM sessions WHERE id = ?1", [key.0])?;
        sweep(&transaction)?;
        Ok(transaction.commit()?)
    }

    pub fn sweep(&self) -> Result<(), StoreError> {
        sweep(&self.connection)?;
        Ok(())
    }

    /// Rewrites values of a session's log and all texts beside them, so that the old bytes cannot be recovered.
    ///
    /// `chosen` selects the edits; `rewrite` returns the new value, `reword` the new text, or `None` if it is unchanged. Returns the number
    /// of rewritten values, and of those whose old bytes are kept because the log of another session refers to them.
    pub fn rewrite(
        &self,
        key: SessionKey,
        chosen: &dyn Fn(&LoggedEdit) -> bool,
        rewrite: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
        reword: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(usize, usize), StoreError> {
        // Deleted rows are overwritten on the disk as well.
        self.connection.execute_batch("PRAGMA secure_delete = ON")?;
        let transaction = self.writing()?;
        let mut rewritten: BTreeMap<Address, Address> = BTreeMap::new();
        for operation in self.operations(key)? {
            for (edit, place) in operation.edits.iter().zip(0i64..).filter(|(edit, _)| chosen(edit)) {
                for (column, address) in [("before", edit.before), ("after", edit.after)] {
                    let Some(address) = address else { continue };
                    let Some(value) = rewrite(&self.original(&address)?) else { continue };
                    let new = keep(&transaction, &value)?;
                    rewritten.insert(address, new);
                    let sql =
                        format!("UPDATE edits SET {column} = seal(?4) WHERE session = ?1 AND operation = ?2 AND place = ?3");
                    transaction.run(&sql, params![key.0, operation.id, place, new])?;
                }
            }
            // An operation with a missing value cannot be inverted byte by byte, so its delta is deleted as a whole.
            let hunks = operation.delta.iter().flat_map(|delta| &delta.hunks).flat_map(|hunk| [hunk.before, hunk.after]);
            let mut holds_any = false;
            for address in hunks.flatten() {
                holds_any |= rewritten.contains_key(&address) || rewrite(&self.original(&address)?).is_some();
            }
            if holds_any {
                transaction.run("DELETE FROM hunks WHERE session = ?1 AND operation = ?2", params![key.0, operation.id])?;
                let sql = "UPDATE operations SET base_bytes = NULL, base_hash = NULL WHERE session = ?1 AND number = ?2";
                transaction.run(sql, params![key.0, operation.id])?;
            }
            let (edits, window) = (self.block_edits(key, operation.id)?, self.window_change(key, operation.id)?);
            let is_rewritten = |text: &str| rewrite(text.as_bytes()).is_some();
            let has_edit = edits.iter().any(|edit| is_rewritten(&edit.text));
            let has_window = window.iter().flat_map(|window| window.texts()).any(is_rewritten);
            for (table, is_named) in [("block_edits", has_edit), ("window_changes", has_window)] {
                if holds_any || is_named {
                    let sql = format!("DELETE FROM {table} WHERE session = ?1 AND operation = ?2");
                    transaction.run(&sql, params![key.0, operation.id])?;
                }
            }
        }
        for (table, column, of_session) in
            TEXTS.iter().flat_map(|(table, columns, of_session)| columns.iter().map(move |column| (table, column, of_session)))
        {
            let sql = format!("SELECT DISTINCT open({column}) FROM {table} WHERE {of_session} AND {column} IS NOT NULL");
            for text in transaction.rows(&sql, [key.0], first::<String>)? {
                let Some(new) = reword(&text) else { continue };
                // Two names can become one: the later one is left.
                let sql = format!("UPDATE OR REPLACE {table} SET {column} = seal(?3) WHERE {of_session} AND {column} = seal(?2)");
                transaction.run(&sql, params![key.0, text, new])?;
            }
        }
        sweep(&transaction)?;
        let mut kept = 0;
        for address in rewritten.keys() {
            let sql = "SELECT count(*) FROM originals WHERE address = seal(?1)";
            kept += transaction.query_row(sql, [address], first::<i64>)? as usize;
        }
        transaction.commit()?;
        self.erase_free_pages()?;
        Ok((rewritten.len(), kept))
    }

    /// Removes deleted bytes from free pages and from the journal.
    pub(super) fn erase_free_pages(&self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?)
    }

    /// Returns the number of values that no log would refer to if some sessions were deleted, and their size in bytes.
    pub fn unneeded(&self, without: &[SessionKey]) -> Result<(u64, u64), StoreError> {
        let sql = format!("SELECT count(*), coalesce(sum(length(content)), 0) FROM {}", unreferenced(without));
        let counted = self.connection.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        Ok((counted.0 as u64, counted.1 as u64))
    }

    /// Returns free pages to the file system.
    pub fn shrink(&self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("VACUUM")?)
    }
}

/// Deletes the values that no log refers to.
fn sweep(connection: &Connection) -> rusqlite::Result<usize> {
    connection.execute(&format!("DELETE FROM {}", unreferenced(&[])), [])
}

/// Returns the SQL of the values that no log refers to; those of some sessions do not count.
fn unreferenced(without: &[SessionKey]) -> String {
    let without = without.iter().map(|key| key.0.to_string()).collect::<Vec<_>>().join(",");
    let tables = ["edits", "hunks", "companions"].iter().flat_map(|table| ["before", "after"].map(|column| (table, column)));
    let referenced = tables
        .map(|(table, column)| format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL AND session NOT IN ({without})"));
    format!("originals WHERE address NOT IN ({})", referenced.collect::<Vec<_>>().join(" UNION "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CompanionEdit, Plan};
    use std::path::Path;

    #[test]
    fn contents_of_files_beside_a_session_are_needed_as_long_as_its_log() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let key = store.register("claude-code", "s", Path::new("/s.jsonl"), "p").unwrap();
        let edit = CompanionEdit { path: "/s/a.txt".into(), before: b"before".to_vec(), after: b"after".to_vec() };
        let plan = Plan { companions: vec![edit], ..Plan::default() };
        store.prepare(key, &plan, 0, std::iter::empty(), None, None).unwrap();
        store.sweep().unwrap();
        assert_eq!([&[][..], &[key]].map(|without| store.unneeded(without).unwrap().0), [0, 2]);
        store.forget(key).unwrap();
        assert_eq!(store.addresses().unwrap(), [[0; 32]; 0]);
    }
}
