//! The log of each session: operations with their values, marks and snapshots.

use super::database::{SessionKey, Statements, Store, StoreError, StoredSession, first};
use super::disposable::is_damaged;
use super::effects::{Effects, insert_effects};
use super::rows::{SESSION, edit, hunk, insert, key as row_key, mark, operation, stored};
use super::values::{StoredPath, decompressed, hexadecimal, keep};
use crate::model::{
    Address, Delta, History, JsonText, Key, LoggedEdit, LoggedHunk, MarkAddress, MarkKind, Operation, OperationId,
    OperationState, Plan, Slot, Snapshot,
};
use rusqlite::{Connection, Row, params};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The way in which an operation is logged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Logged {
    New,
    /// For the first time, before it is written.
    Deferred,
    /// It is written, after it was deferred.
    Written(OperationId),
}

/// The tables with the parts of an operation, each with the column that has its number.
pub(super) const TABLES: [(&str, &str); 7] = [
    ("operations", "number"),
    ("edits", "operation"),
    ("hunks", "operation"),
    ("marks", "operation"),
    ("block_edits", "operation"),
    ("window_changes", "operation"),
    ("companions", "operation"),
];

impl Store {
    /// Returns the session of a file; `None` if it has no log.
    pub fn find(&self, path: &Path) -> Result<Option<StoredSession>, StoreError> {
        let sql = format!("{SESSION} WHERE path = seal(?1)");
        Ok(self.connection.row(&sql, [StoredPath::of(path)], stored)?)
    }

    pub fn sessions(&self) -> Result<Vec<StoredSession>, StoreError> {
        Ok(self.connection.rows(&format!("{SESSION} ORDER BY id"), [], stored)?)
    }

    /// Returns the key of a file's session, and inserts the session if it is new.
    pub fn register(&self, provider: &str, session: &str, path: &Path, project: &str) -> Result<SessionKey, StoreError> {
        if let Some(found) = self.find(path)? {
            return Ok(found.key);
        }
        let sql = "INSERT INTO sessions (provider, session, path, project) VALUES (?1, seal(?2), seal(?3), seal(?4))";
        self.connection.run(sql, params![provider, session, StoredPath::of(path), project])?;
        Ok(SessionKey(self.connection.last_insert_rowid()))
    }

    /// Returns the committed changes of windows, of each session file in order: the time in milliseconds since 1970, UTC, and the
    /// tokens that the model no longer receives; negative if it receives more.
    pub fn window_changes(&self) -> Result<BTreeMap<PathBuf, Vec<(i64, f64)>>, StoreError> {
        let sql =
            "SELECT open(path), time, tokens_before - tokens_after FROM operations JOIN sessions ON sessions.id = operations.session
                   WHERE state = ?1 AND tokens_before <> tokens_after ORDER BY sessions.id, number";
        let mut changes: BTreeMap<PathBuf, Vec<(i64, f64)>> = BTreeMap::new();
        let states = [OperationState::Committed.name()];
        for row in self.connection.rows(sql, states, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))? {
            let (path, time, saved): (StoredPath, i64, f64) = row;
            changes.entry(path.0).or_default().push((time, saved));
        }
        Ok(changes)
    }

    /// Returns the session of each file with operations, by its path, and the key of the numbers, times and states of these.
    pub fn logged_files(&self) -> Result<BTreeMap<PathBuf, (SessionKey, Key)>, StoreError> {
        let sql = "SELECT open(path), sessions.id, number, time, state FROM operations JOIN sessions ON sessions.id = operations.session
                   ORDER BY sessions.id, number";
        let mut files: BTreeMap<PathBuf, (SessionKey, String)> = BTreeMap::new();
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
        for (path, key, number, time, state) in self.connection.rows(sql, [], read)? {
            let (path, number, time, state): (StoredPath, OperationId, i64, String) = (path, number, time, state);
            let (_, operations) = files.entry(path.0).or_insert((SessionKey(key), String::new()));
            *operations += &format!("{number} {time} {state}\n");
        }
        Ok(files.into_iter().map(|(path, (key, operations))| (path, (key, Key::from_text(&operations)))).collect())
    }

    /// Returns the edits of a session by operations in any state, the oldest first, without their effects on blocks.
    pub fn edited_values(&self, key: SessionKey) -> Result<Vec<LoggedEdit>, StoreError> {
        let sql = "SELECT operation, open(row), occurrence, slot, open(before), open(after), NULL FROM edits WHERE session = ?1
                   ORDER BY operation, place";
        Ok(self.connection.rows(sql, [key.0], edit)?.into_iter().map(|(_, edit)| edit).collect())
    }

    /// Returns the lines that operations removed together and that are not in the file of a session again: the address of each run.
    pub fn removed_rows(&self, key: SessionKey) -> Result<Vec<Address>, StoreError> {
        let sql = "SELECT open(row), open(before), open(after) FROM edits
                   JOIN operations ON operations.session = edits.session AND operations.number = edits.operation
                   WHERE edits.session = ?1 AND slot = ?2 AND state = ?3 AND before IS NOT NULL AND after IS NOT NULL
                   ORDER BY operation, place";
        // The values before and after at one place, the oldest first; an undo exchanges them.
        type Values = Vec<(Address, Address)>;
        let mut places: BTreeMap<Vec<u8>, Values> = BTreeMap::new();
        let values = params![key.0, Slot::Ahead.to_text(), OperationState::Committed.name()];
        for row in self.connection.rows(sql, values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))? {
            let (row, before, after): (Vec<u8>, Address, Address) = row;
            let place = places.entry(row).or_default();
            if place.last() == Some(&(after, before)) {
                place.pop();
            } else {
                place.push((before, after));
            }
        }
        Ok(places.into_values().flatten().map(|(before, _)| before).collect())
    }

    /// Returns the committed operations of a session and its snapshots.
    pub fn history(&self, key: SessionKey) -> Result<History, StoreError> {
        let mut history = History { operations: self.operations(key)?, ..History::default() };
        history.operations.retain(|operation| operation.state == OperationState::Committed);
        let edits = history.operations.iter().flat_map(|operation| &operation.edits);
        let names = |edit: &&LoggedEdit| edit.change.as_ref().is_some_and(|change| change.named_credentials);
        let naming: BTreeSet<Address> = edits.filter(names).filter_map(|edit| edit.before).collect();
        // The address of a deleted value is NULL.
        let texts = naming.iter().filter_map(|address| self.original(address).ok());
        history.naming = texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
        let edits = history.operations.iter().flat_map(|operation| &operation.edits);
        let redacts = |edit: &&LoggedEdit| edit.change.as_ref().is_some_and(|change| change.redacted);
        let redacted: BTreeSet<(Address, Address)> =
            edits.filter(redacts).filter_map(|edit| edit.before.zip(edit.after)).collect();
        let text = |address: &Address| Some(String::from_utf8_lossy(&self.original(address).ok()?).into_owned());
        history.redacted = redacted.iter().filter_map(|(before, after)| text(before).zip(text(after))).collect();
        let mut marks: BTreeMap<(MarkAddress, MarkKind), String> = BTreeMap::new();
        for mark in history.operations.iter().flat_map(|operation| &operation.marks) {
            match &mark.after {
                Some(value) => marks.insert((mark.address, mark.kind), value.clone()),
                None => marks.remove(&(mark.address, mark.kind)),
            };
        }
        history.marks = marks.into_iter().map(|((address, kind), value)| (address, kind, value)).collect();
        let sql = "SELECT open(name) AS text, operation, time FROM snapshots WHERE session = ?1 ORDER BY time, text";
        history.snapshots = self
            .connection
            .rows(sql, [key.0], |row| Ok(Snapshot { name: row.get(0)?, operation: row.get(1)?, time: row.get(2)? }))?;
        let sql = "SELECT open(turn), number FROM turn_numbers WHERE session = ?1 ORDER BY number";
        history.turns = self.connection.rows(sql, [key.0], |row| Ok((row_key(row, 0)?, row.get(1)?)))?;
        Ok(history)
    }

    /// Records the numbers of turns, which stay when an operation adds or removes rows.
    pub fn record_turn_numbers(&self, key: SessionKey, turns: &[(Key, u32)]) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        insert_turn_numbers(&transaction, key, turns)?;
        Ok(transaction.commit()?)
    }

    pub fn has_operations(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM operations)";
        Ok(self.connection.query_row(sql, [], first)?)
    }

    pub fn prepared(&self, key: SessionKey) -> Result<Vec<Operation>, StoreError> {
        let operations = self.operations(key)?;
        Ok(operations.into_iter().filter(|operation| operation.state == OperationState::Prepared).collect())
    }

    pub(super) fn operations(&self, key: SessionKey) -> Result<Vec<Operation>, StoreError> {
        let sql = "SELECT number, kind, state, time, open(command), actor, inverts, tokens_before, tokens_after, open(last_row),
                   after_bytes, open(after_hash), base_bytes, open(base_hash), point FROM operations WHERE session = ?1 ORDER BY number";
        let mut operations = self.connection.rows(sql, [key.0], operation)?;
        let places: BTreeMap<OperationId, usize> =
            operations.iter().enumerate().map(|(place, operation)| (operation.id, place)).collect();
        let sql =
            "SELECT operation, open(row), occurrence, slot, open(before), open(after), open(change) FROM edits WHERE session = ?1
                   ORDER BY operation, place";
        for (id, edit) in self.connection.rows(sql, [key.0], edit)? {
            if let Some(place) = places.get(&id) {
                operations[*place].edits.push(edit);
            }
        }
        let sql = "SELECT operation, offset, open(before), open(after) FROM hunks WHERE session = ?1 ORDER BY operation, place";
        for (id, hunk) in self.connection.rows(sql, [key.0], hunk)? {
            if let Some(delta) = places.get(&id).and_then(|place| operations[*place].delta.as_mut()) {
                delta.hunks.push(hunk);
            }
        }
        let sql =
            "SELECT operation, open(row), occurrence, block, open(content), kind, open(before), open(after), number FROM marks
                   WHERE session = ?1 ORDER BY operation, place";
        for (id, mark) in self.connection.rows(sql, [key.0], mark)? {
            if let Some(place) = places.get(&id) {
                operations[*place].marks.push(mark);
            }
        }
        Ok(operations)
    }

    /// Logs a plan as prepared, with all its values, in one transaction that is durable when this returns.
    ///
    /// `hunks` are the bytes that it replaces, each with its offset. `after` is the prefix of the new file: its length and
    /// BLAKE3 hash; `None` for a plan that writes no file, which is committed at once. `deferred` is the number of the deferred operation
    /// that it writes.
    pub fn prepare<'h>(
        &self,
        key: SessionKey,
        plan: &Plan,
        time: i64,
        hunks: impl Iterator<Item = (u64, Cow<'h, [u8]>, Cow<'h, [u8]>)>,
        after: Option<(u64, Address)>,
        deferred: Option<OperationId>,
    ) -> Result<OperationId, StoreError> {
        self.log(key, plan, time, hunks, after, deferred.map_or(Logged::New, Logged::Written))
    }

    pub(super) fn log<'h>(
        &self,
        key: SessionKey,
        plan: &Plan,
        time: i64,
        hunks: impl Iterator<Item = (u64, Cow<'h, [u8]>, Cow<'h, [u8]>)>,
        after: Option<(u64, Address)>,
        logged: Logged,
    ) -> Result<OperationId, StoreError> {
        let transaction = self.writing()?;
        let id = match logged {
            Logged::Written(id) => {
                for (table, column) in TABLES {
                    let sql = format!("DELETE FROM {table} WHERE session = ?1 AND {column} = ?2");
                    transaction.execute(&sql, params![key.0, id])?;
                }
                id
            }
            Logged::New | Logged::Deferred => {
                let sql = "SELECT coalesce(max(number), 0) + 1 FROM operations WHERE session = ?1";
                transaction.query_row(sql, [key.0], |row| row.get(0))?
            }
        };
        let reversal = plan.reversal.as_ref();
        let mut edits = reversal.map_or_else(Vec::new, |reversal| reversal.logged.clone());
        for edit in reversal.iter().flat_map(|reversal| &reversal.relinked).chain(&plan.edits) {
            let keep = |value: &Option<Vec<u8>>| value.as_deref().map(|value| keep(&transaction, value)).transpose();
            let (before, after) = (keep(&edit.before)?, keep(&edit.after)?);
            edits.push(LoggedEdit { row: edit.row, slot: edit.slot, before, after, change: edit.change.clone() });
        }
        let mut replaced = Vec::new();
        for (offset, before, after) in hunks {
            let keep = |value: &[u8]| (!value.is_empty()).then(|| keep(&transaction, value)).transpose();
            replaced.push(LoggedHunk { offset, before: keep(&before)?, after: keep(&after)? });
        }
        let delta = Delta { base_bytes: plan.base_bytes, base_hash: plan.base_hash, hunks: replaced };
        let operation = Operation {
            id,
            kind: plan.kind,
            state: match logged {
                Logged::Deferred => OperationState::Deferred,
                Logged::New | Logged::Written(_) if after.is_some() || !plan.companions.is_empty() => OperationState::Prepared,
                Logged::New | Logged::Written(_) => OperationState::Committed,
            },
            time,
            command: plan.command.clone(),
            actor: plan.actor,
            inverts: plan.inverts,
            edits,
            marks: plan.marks.clone(),
            tokens_before: plan.tokens_before,
            tokens_after: plan.tokens_after,
            last_row: plan.last_row,
            after_bytes: after.map(|(bytes, _)| bytes),
            after_hash: after.map(|(_, hash)| hash),
            delta: after.map(|_| delta),
            point: reversal.map(|reversal| reversal.point),
        };
        insert(&transaction, key, &operation)?;
        insert_effects(&transaction, key, id, &Effects::of_plan(&transaction, id, plan)?)?;
        if logged != Logged::New {
            let sql = "UPDATE operations SET deferred = 1 WHERE session = ?1 AND number = ?2";
            transaction.run(sql, params![key.0, id])?;
        }
        transaction.commit()?;
        Ok(id)
    }

    /// Sets the final state of a prepared operation. A deferred one that is aborted stays deferred.
    pub fn settle(&self, key: SessionKey, id: OperationId, state: OperationState) -> Result<(), StoreError> {
        let sql = "UPDATE operations SET state = CASE WHEN ?3 = ?4 AND deferred = 1 THEN ?5 ELSE ?3 END
                   WHERE session = ?1 AND number = ?2";
        let (aborted, deferred) = (OperationState::Aborted.name(), OperationState::Deferred.name());
        self.connection.change(sql, params![key.0, id, state.name(), aborted, deferred])
    }

    pub fn original(&self, address: &Address) -> Result<Vec<u8>, StoreError> {
        let broken = || StoreError::Damaged(format!("the original {} is damaged: its hash does not match", hexadecimal(address)));
        let sql = "SELECT open(content, ?1) FROM originals WHERE address = seal(?1)";
        // A sealed value is authenticated.
        let content = self.connection.row(sql, [address], first::<Vec<u8>>);
        let content = content.map_err(|error| if is_damaged(&error) { broken() } else { error.into() })?;
        let bytes = decompressed(&content.ok_or_else(|| missing(address))?).ok_or_else(broken)?;
        if blake3::hash(&bytes).as_bytes() == address { Ok(bytes) } else { Err(broken()) }
    }

    /// Returns the length of a value in bytes, by its address.
    pub fn original_length(&self, address: &Address) -> Result<u64, StoreError> {
        let sql = "SELECT bytes FROM originals WHERE address = seal(?1)";
        let bytes = self.connection.row(sql, [address], first::<i64>)?;
        bytes.map(|bytes| bytes as u64).ok_or_else(|| missing(address))
    }

    /// Sets a snapshot; one of the same name is moved.
    pub fn save_snapshot(&self, key: SessionKey, snapshot: &Snapshot) -> Result<(), StoreError> {
        insert_snapshot(&self.connection, key, snapshot)?;
        Ok(())
    }

    pub fn delete_snapshot(&self, key: SessionKey, name: &str) -> Result<bool, StoreError> {
        Ok(self.connection.run("DELETE FROM snapshots WHERE session = ?1 AND name = seal(?2)", params![key.0, name])? > 0)
    }

    /// Returns the findings of SQLite's integrity check; empty if there are none.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut problems: Vec<String> = self.connection.rows("PRAGMA integrity_check", [], first)?;
        problems.retain(|problem| problem != "ok");
        Ok(problems)
    }

    pub fn addresses(&self) -> Result<Vec<Address>, StoreError> {
        Ok(self.connection.rows("SELECT open(address) FROM originals", [], first)?)
    }

    pub fn size(&self) -> Result<(u64, u64), StoreError> {
        let number = |sql: &str| self.connection.query_row(sql, [], first::<i64>);
        let values = number("SELECT coalesce(sum(bytes), 0) FROM originals")?;
        Ok((values as u64, (number("PRAGMA page_count")? * number("PRAGMA page_size")?) as u64))
    }
}

fn missing(address: &Address) -> StoreError {
    StoreError::Damaged(format!("the original {} is missing", hexadecimal(address)))
}

/// Adds the numbers of turns that are not recorded yet.
pub(super) fn insert_turn_numbers(connection: &Connection, key: SessionKey, turns: &[(Key, u32)]) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO turn_numbers VALUES (?1, ?2, seal(?3))";
    turns.iter().try_for_each(|(turn, number)| connection.run(sql, params![key.0, number, turn.0.to_le_bytes()]).map(drop))
}

/// Sets a snapshot; one of the same name is moved.
pub(super) fn insert_snapshot(connection: &Connection, key: SessionKey, snapshot: &Snapshot) -> rusqlite::Result<usize> {
    let values = params![key.0, snapshot.name, snapshot.operation, snapshot.time];
    connection.run("INSERT OR REPLACE INTO snapshots VALUES (?1, seal(?2), ?3, ?4)", values)
}
