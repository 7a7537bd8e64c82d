//! Deletes from the store: sessions, values that no log needs, and credentials within values.

use super::database::{SessionKey, Store, StoreError};
use super::values::keep;
use crate::model::{Address, LoggedEdit};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// The tables with rows of a session.
const FORGOTTEN: [&str; 10] =
    ["edits", "block_edits", "hunks", "marks", "operations", "snapshots", "proposals", "messages", "obeyed", "manifests"];

impl Store {
    /// Forgets a session: its log, its snapshots, and every value that no other one needs. What was done cannot be undone.
    pub fn forget(&self, key: SessionKey) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        for table in FORGOTTEN {
            transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [key.0])?;
        }
        transaction.execute("DELETE FROM sessions WHERE id = ?1", [key.0])?;
        sweep(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Deletes every value that no log needs.
    pub fn sweep(&self) -> Result<(), StoreError> {
        sweep(&self.connection)?;
        Ok(())
    }

    /// Puts other bytes in the place of values of a session's log, of its commands, and of what the model asked for, so that the
    /// old ones are gone for good.
    ///
    /// `chosen` says which edits are meant, `rewrite` what a value becomes; none where it stays. Returns how many values were
    /// rewritten, and how many of those are kept because the log of another session needs them.
    pub fn rewrite(
        &self,
        key: SessionKey,
        chosen: &dyn Fn(&LoggedEdit) -> bool,
        rewrite: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<(usize, usize), StoreError> {
        // What is deleted is overwritten on the disk as well.
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
                    let sql = format!("UPDATE edits SET {column} = ?4 WHERE session = ?1 AND operation = ?2 AND place = ?3");
                    transaction.execute(&sql, params![key.0, operation.id, place, new])?;
                }
            }
            // An operation of which a value is gone can no longer be inverted byte by byte, so that its delta goes as a whole.
            let hunks = operation.delta.iter().flat_map(|delta| &delta.hunks).flat_map(|hunk| [hunk.before, hunk.after]);
            let mut holds_any = false;
            for address in hunks.flatten() {
                holds_any |= rewritten.contains_key(&address) || rewrite(&self.original(&address)?).is_some();
            }
            if holds_any {
                transaction.execute("DELETE FROM hunks WHERE session = ?1 AND operation = ?2", params![key.0, operation.id])?;
                let sql = "UPDATE operations SET base_bytes = NULL, base_hash = NULL WHERE session = ?1 AND number = ?2";
                transaction.execute(sql, params![key.0, operation.id])?;
            }
            let block_edits = self.block_edits(key, operation.id)?;
            if holds_any || block_edits.iter().any(|edit| rewrite(edit.text.as_bytes()).is_some()) {
                let sql = "DELETE FROM block_edits WHERE session = ?1 AND operation = ?2";
                transaction.execute(sql, params![key.0, operation.id])?;
            }
            if let Some(command) = rewrite(operation.command.as_bytes()) {
                let sql = "UPDATE operations SET command = ?3 WHERE session = ?1 AND number = ?2";
                transaction.execute(sql, params![key.0, operation.id, String::from_utf8_lossy(&command)])?;
            }
        }
        for proposal in self.proposals(key)? {
            for (column, text) in [("command", &proposal.command), ("answer", &proposal.answer)] {
                let Some(text) = rewrite(text.as_bytes()) else { continue };
                let sql = format!("UPDATE proposals SET {column} = ?2 WHERE number = ?1");
                transaction.execute(&sql, params![proposal.number, String::from_utf8_lossy(&text)])?;
            }
        }
        sweep(&transaction)?;
        let mut kept = 0;
        for address in rewritten.keys() {
            let sql = "SELECT count(*) FROM originals WHERE address = ?1";
            kept += transaction.query_row(sql, [address], |row| row.get::<_, i64>(0))? as usize;
        }
        transaction.commit()?;
        // Neither free pages nor the journal keep them.
        self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok((rewritten.len(), kept))
    }

    /// How many values no log would need if some sessions were forgotten, and the bytes that they take.
    pub fn unneeded(&self, without: &[SessionKey]) -> Result<(u64, u64), StoreError> {
        let without = without.iter().map(|key| key.0.to_string()).collect::<Vec<_>>().join(",");
        let sql = format!(
            "SELECT count(*), coalesce(sum(length(content)), 0) FROM originals WHERE address NOT IN
             (SELECT before FROM edits WHERE before IS NOT NULL AND session NOT IN ({without})
              UNION SELECT after FROM edits WHERE after IS NOT NULL AND session NOT IN ({without})
              UNION SELECT before FROM hunks WHERE before IS NOT NULL AND session NOT IN ({without})
              UNION SELECT after FROM hunks WHERE after IS NOT NULL AND session NOT IN ({without}))"
        );
        let counted = self.connection.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        Ok((counted.0 as u64, counted.1 as u64))
    }

    /// Gives the room of what was forgotten back to the disk.
    pub fn shrink(&self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("VACUUM")?)
    }
}

/// Deletes every value that no log needs.
fn sweep(connection: &Connection) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM originals WHERE address NOT IN (SELECT before FROM edits WHERE before IS NOT NULL
               UNION SELECT after FROM edits WHERE after IS NOT NULL
               UNION SELECT before FROM hunks WHERE before IS NOT NULL
               UNION SELECT after FROM hunks WHERE after IS NOT NULL)";
    connection.execute(sql, [])
}
