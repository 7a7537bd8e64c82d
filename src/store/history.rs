use crate::model::{
    Actor, Address, BlockChange, Delta, History, Key, LoggedEdit, LoggedHunk, Mark, MarkAddress, MarkKind, Operation,
    OperationId, OperationKind, OperationState, Plan, RowAddress, Slot, Snapshot,
};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the store in its directory.
pub const STORE_FILE: &str = "store.db";

/// The steps from an empty database to the present form. A step that was released is never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_history.sql"),
    include_str!("migrations/0002_proposals.sql"),
    include_str!("migrations/0003_deltas.sql"),
    include_str!("migrations/0004_messages.sql"),
];

/// How hard values are compressed: zstd's default, beyond which little is won.
const ZSTD_LEVEL: i32 = 3;
/// Longest original that is unpacked, in bytes: a row of a session is far shorter.
const LONGEST_ORIGINAL: usize = 1 << 30;
/// How long another process may hold the store.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often that is tried where SQLite does not wait by itself.
const BUSY_STEP: Duration = Duration::from_millis(5);

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer aperture wrote it.
    #[error("the store was written by a newer aperture: its format is {found}, this one knows {known}")]
    Newer {
        /// The format of the store.
        found: usize,
        /// The newest format that is known.
        known: usize,
    },
    /// It is damaged.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// SQLite could not do what was asked.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
}

impl StoreError {
    /// Whether another process holds it, so that trying again may work.
    pub fn is_busy(&self) -> bool {
        let StoreError::Database(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}

/// The originals and the operations of one user.
pub struct Store {
    pub(super) connection: Connection,
}

/// A session in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub(super) i64);

/// A session file as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// Its key.
    pub key: SessionKey,
    /// The provider's name.
    pub provider: String,
    /// The session's id.
    pub session: String,
    /// The file.
    pub path: PathBuf,
    /// The directory name that stands for its project.
    pub project: String,
}

impl Store {
    /// Opens the store in a directory that exists, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// It was written by a newer version, is damaged, or cannot be opened.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        Store::connect(Connection::open(directory.join(STORE_FILE))?)
    }

    /// Opens the store in a directory for reading, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_existing(directory: &Path) -> Result<Option<Store>, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = directory.join(STORE_FILE);
        // On a read-only disk it can still be read, as long as nobody left a journal behind.
        let connection = Connection::open_with_flags(&file, flags).or_else(|_| Connection::open_with_flags(&file, read_only));
        match connection {
            Ok(connection) => Store::checked(connection).map(Some),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn checked(connection: Connection) -> Result<Store, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        let found = format(&connection)?;
        if found != MIGRATIONS.len() {
            // One that is older is brought up to date by the first command that changes something.
            let known = MIGRATIONS.len();
            return if found > known { Err(StoreError::Newer { found, known }) } else { Store::connect(connection) };
        }
        Ok(Store { connection })
    }

    fn connect(mut connection: Connection) -> Result<Store, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        let found = format(&connection)?;
        if found > MIGRATIONS.len() {
            return Err(StoreError::Newer { found, known: MIGRATIONS.len() });
        }
        write_ahead(&connection).map_err(damaged)?;
        // FULL, so that what is committed is on the disk before a session is replaced.
        connection.execute_batch("PRAGMA synchronous = FULL").map_err(damaged)?;
        if found < MIGRATIONS.len() {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            let found = format(&transaction)?;
            for migration in MIGRATIONS.iter().skip(found) {
                transaction.execute_batch(migration)?;
            }
            transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
            transaction.commit()?;
        }
        Ok(Store { connection })
    }

    /// A transaction that waits for other writers at its beginning: one that begins by reading would fail at its first write
    /// if another process wrote meanwhile.
    pub(super) fn writing(&self) -> rusqlite::Result<Transaction<'_>> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
    }

    /// The session of a file, if something was ever done to it.
    pub fn find(&self, path: &Path) -> Result<Option<StoredSession>, StoreError> {
        let sql = "SELECT id, provider, session, path, project FROM sessions WHERE path = ?1";
        Ok(self.connection.prepare_cached(sql)?.query_row([path.to_string_lossy()], stored).optional()?)
    }

    /// Every session to which something was done.
    pub fn sessions(&self) -> Result<Vec<StoredSession>, StoreError> {
        let sql = "SELECT id, provider, session, path, project FROM sessions ORDER BY id";
        Ok(self.connection.prepare_cached(sql)?.query_map([], stored)?.collect::<Result<_, _>>()?)
    }

    /// The key of a file's session, which is new if need be.
    pub fn register(&self, provider: &str, session: &str, path: &Path, project: &str) -> Result<SessionKey, StoreError> {
        if let Some(found) = self.find(path)? {
            return Ok(found.key);
        }
        let values = params![provider, session, path.to_string_lossy(), project];
        self.connection.execute("INSERT INTO sessions (provider, session, path, project) VALUES (?1, ?2, ?3, ?4)", values)?;
        Ok(SessionKey(self.connection.last_insert_rowid()))
    }

    /// Says that the file of a session is another one by now.
    pub fn moved(&self, key: SessionKey, path: &Path) -> Result<(), StoreError> {
        self.connection.execute("UPDATE sessions SET path = ?2 WHERE id = ?1", params![key.0, path.to_string_lossy()])?;
        Ok(())
    }

    /// What was done to a session, without what was aborted or is only prepared.
    pub fn history(&self, key: SessionKey) -> Result<History, StoreError> {
        let mut history = History::default();
        for operation in self.operations(key)?.into_iter().filter(|operation| operation.state == OperationState::Committed) {
            history.operations.push(operation);
        }
        let mut marks: BTreeMap<(MarkAddress, MarkKind), String> = BTreeMap::new();
        for mark in history.operations.iter().flat_map(|operation| &operation.marks) {
            match &mark.after {
                Some(value) => marks.insert((mark.address, mark.kind), value.clone()),
                None => marks.remove(&(mark.address, mark.kind)),
            };
        }
        history.marks = marks.into_iter().map(|((address, kind), value)| (address, kind, value)).collect();
        let sql = "SELECT name, operation, time FROM snapshots WHERE session = ?1 ORDER BY time, name";
        let snapshot = |row: &Row<'_>| Ok(Snapshot { name: row.get(0)?, operation: row.get(1)?, time: row.get(2)? });
        history.snapshots = self.connection.prepare_cached(sql)?.query_map([key.0], snapshot)?.collect::<Result<_, _>>()?;
        Ok(history)
    }

    /// The operations that are logged and of which it is not known whether they were done.
    pub fn prepared(&self, key: SessionKey) -> Result<Vec<Operation>, StoreError> {
        let operations = self.operations(key)?;
        Ok(operations.into_iter().filter(|operation| operation.state == OperationState::Prepared).collect())
    }

    fn operations(&self, key: SessionKey) -> Result<Vec<Operation>, StoreError> {
        let sql = "SELECT number, kind, state, time, command, actor, inverts, tokens_before, tokens_after, last_row,
                   after_bytes, after_hash, base_bytes, base_hash, point FROM operations WHERE session = ?1 ORDER BY number";
        let mut operations: Vec<Operation> =
            self.connection.prepare_cached(sql)?.query_map([key.0], operation)?.collect::<Result<_, _>>().map_err(damaged)?;
        let places: BTreeMap<OperationId, usize> =
            operations.iter().enumerate().map(|(place, operation)| (operation.id, place)).collect();
        let sql = "SELECT operation, row, occurrence, slot, before, after, change FROM edits WHERE session = ?1
                   ORDER BY operation, place";
        let edits = self.connection.prepare_cached(sql)?.query_map([key.0], edit)?.collect::<Result<Vec<_>, _>>();
        for (id, edit) in edits.map_err(damaged)? {
            if let Some(place) = places.get(&id) {
                operations[*place].edits.push(edit);
            }
        }
        let sql = "SELECT operation, offset, before, after FROM hunks WHERE session = ?1 ORDER BY operation, place";
        let hunks = self.connection.prepare_cached(sql)?.query_map([key.0], hunk)?.collect::<Result<Vec<_>, _>>();
        for (id, hunk) in hunks.map_err(damaged)? {
            if let Some(delta) = places.get(&id).and_then(|place| operations[*place].delta.as_mut()) {
                delta.hunks.push(hunk);
            }
        }
        let sql = "SELECT operation, row, occurrence, block, content, kind, before, after, number FROM marks
                   WHERE session = ?1 ORDER BY operation, place";
        let marks = self.connection.prepare_cached(sql)?.query_map([key.0], mark)?.collect::<Result<Vec<_>, _>>();
        for (id, mark) in marks.map_err(damaged)? {
            if let Some(place) = places.get(&id) {
                operations[*place].marks.push(mark);
            }
        }
        Ok(operations)
    }

    /// Logs a plan as prepared, with every value of it, in one transaction that is on the disk when this returns.
    ///
    /// `hunks` are the bytes that it replaces, each with its offset. `after` is what the file will begin with: bytes and their
    /// BLAKE3; none for a plan that writes no file, which is thereby committed.
    pub fn prepare<'h>(
        &self,
        key: SessionKey,
        plan: &Plan,
        time: i64,
        hunks: impl Iterator<Item = (u64, Cow<'h, [u8]>, Cow<'h, [u8]>)>,
        after: Option<(u64, Address)>,
    ) -> Result<OperationId, StoreError> {
        let transaction = self.writing()?;
        let last: OperationId =
            transaction
                .query_row("SELECT coalesce(max(number), 0) FROM operations WHERE session = ?1", [key.0], |row| row.get(0))?;
        let reversal = plan.reversal.as_ref();
        let mut edits = reversal.map_or_else(Vec::new, |reversal| reversal.logged.clone());
        for edit in reversal.iter().flat_map(|reversal| &reversal.relinked).chain(&plan.edits) {
            let keep = |value: &Option<Vec<u8>>| value.as_deref().map(|value| keep(&transaction, value)).transpose();
            let (before, after) = (keep(&edit.before)?, keep(&edit.after)?);
            edits.push(LoggedEdit { row: edit.row, slot: edit.slot, before, after, change: edit.change.clone() });
        }
        let mut logged = Vec::new();
        for (offset, before, after) in hunks {
            let keep = |value: &[u8]| (!value.is_empty()).then(|| keep(&transaction, value)).transpose();
            logged.push(LoggedHunk { offset, before: keep(&before)?, after: keep(&after)? });
        }
        let delta = Delta { base_bytes: plan.base_bytes, base_hash: plan.base_hash, hunks: logged };
        let operation = Operation {
            id: last + 1,
            kind: plan.kind,
            state: if after.is_some() { OperationState::Prepared } else { OperationState::Committed },
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
        transaction.commit()?;
        Ok(operation.id)
    }

    /// Says how a prepared operation ended.
    pub fn settle(&self, key: SessionKey, id: OperationId, state: OperationState) -> Result<(), StoreError> {
        let values = params![key.0, id, state.name()];
        self.connection.execute("UPDATE operations SET state = ?3 WHERE session = ?1 AND number = ?2", values)?;
        Ok(())
    }

    /// A value by its address.
    ///
    /// # Errors
    ///
    /// It is not there any more, or is not what it was.
    pub fn original(&self, address: &Address) -> Result<Vec<u8>, StoreError> {
        let missing = || StoreError::Damaged(format!("the original {} is missing", hexadecimal(address)));
        let content: Vec<u8> = self
            .connection
            .prepare_cached("SELECT content FROM originals WHERE address = ?1")?
            .query_row([address], |row| row.get(0))
            .optional()?
            .ok_or_else(missing)?;
        let broken = || StoreError::Damaged(format!("the original {} is not what it was", hexadecimal(address)));
        let bytes = zstd::bulk::decompress(&content, decompressed_bytes(&content)).map_err(|_| broken())?;
        if blake3::hash(&bytes).as_bytes() == address { Ok(bytes) } else { Err(broken()) }
    }

    /// Returns the length of a value in bytes, by its address.
    ///
    /// # Errors
    ///
    /// It is not in the store.
    pub fn original_length(&self, address: &Address) -> Result<u64, StoreError> {
        let sql = "SELECT bytes FROM originals WHERE address = ?1";
        let bytes = self.connection.prepare_cached(sql)?.query_row([address], |row| row.get::<_, i64>(0)).optional()?;
        let missing = || StoreError::Damaged(format!("the original {} is missing", hexadecimal(address)));
        bytes.map(|bytes| bytes as u64).ok_or_else(missing)
    }

    /// Names a point in the log; a name that is there already is moved.
    pub fn save_snapshot(&self, key: SessionKey, snapshot: &Snapshot) -> Result<(), StoreError> {
        let values = params![key.0, snapshot.name, snapshot.operation, snapshot.time];
        self.connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?1, ?2, ?3, ?4)", values)?;
        Ok(())
    }

    /// Takes a name away; whether there was one.
    pub fn delete_snapshot(&self, key: SessionKey, name: &str) -> Result<bool, StoreError> {
        let values = params![key.0, name];
        Ok(self.connection.execute("DELETE FROM snapshots WHERE session = ?1 AND name = ?2", values)? > 0)
    }

    /// What SQLite itself finds wrong with the file; nothing when all is well.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut problems: Vec<String> =
            self.connection.prepare("PRAGMA integrity_check")?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        problems.retain(|problem| problem != "ok");
        Ok(problems)
    }

    /// The addresses of all values that are stored.
    pub fn addresses(&self) -> Result<Vec<Address>, StoreError> {
        let mut statement = self.connection.prepare("SELECT address FROM originals")?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Bytes of the values that are stored, and of the file itself.
    pub fn size(&self) -> Result<(u64, u64), StoreError> {
        let values: i64 = self.connection.query_row("SELECT coalesce(sum(bytes), 0) FROM originals", [], |row| row.get(0))?;
        let pages: i64 = self.connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let page: i64 = self.connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        Ok((values as u64, (pages * page) as u64))
    }

    /// Forgets a session: its log, its snapshots, and every value that no other one needs. What was done cannot be undone.
    pub fn forget(&self, key: SessionKey) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        for table in ["edits", "hunks", "marks", "operations", "snapshots", "proposals", "messages", "obeyed", "manifests"] {
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

    /// Puts the log of a session from elsewhere in place of what is known of it. Each value comes with its address.
    pub fn import(&self, key: SessionKey, history: &History, values: &[Vec<u8>]) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        for table in ["edits", "hunks", "marks", "operations", "snapshots"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [key.0])?;
        }
        for value in values {
            // One that is there may be damaged: this one is not.
            transaction.execute("DELETE FROM originals WHERE address = ?1", [*blake3::hash(value).as_bytes()])?;
            keep(&transaction, value)?;
        }
        for operation in &history.operations {
            insert(&transaction, key, operation)?;
        }
        for snapshot in &history.snapshots {
            transaction.execute(
                "INSERT INTO snapshots VALUES (?1, ?2, ?3, ?4)",
                params![key.0, snapshot.name, snapshot.operation, snapshot.time],
            )?;
        }
        transaction.commit()?;
        Ok(())
    }
}

/// The lower-case hexadecimal form of an address.
pub fn hexadecimal(address: &Address) -> String {
    blake3::Hash::from_bytes(*address).to_hex().to_string()
}

fn format(connection: &Connection) -> Result<usize, StoreError> {
    let format: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(damaged)?;
    Ok(usize::try_from(format).unwrap_or_default())
}

/// Turns write-ahead logging on. SQLite does not wait for other processes that do so at the same moment, whatever its busy
/// timeout is, so this does.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let busy =
        |error: &rusqlite::Error| matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
    let mut left = PATIENCE.as_millis() / BUSY_STEP.as_millis();
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(error) if busy(&error) && left > 0 => std::thread::sleep(BUSY_STEP),
            done => return done,
        }
        left -= 1;
    }
}

fn damaged(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
        _ => match error {
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) => {
                StoreError::Damaged(error.to_string())
            }
            _ => StoreError::Database(error),
        },
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

/// Writes an operation with its edits and marks; its values are stored already.
fn insert(connection: &Connection, key: SessionKey, operation: &Operation) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO operations (session, number, kind, state, time, command, actor, inverts, tokens_before, tokens_after,
         last_row, after_bytes, after_hash, base_bytes, base_hash, point)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        params![
            key.0,
            operation.id,
            operation.kind.name(),
            operation.state.name(),
            operation.time,
            operation.command,
            operation.actor.name(),
            operation.inverts,
            operation.tokens_before,
            operation.tokens_after,
            operation.last_row.map(|key| key.0.to_le_bytes()),
            operation.after_bytes.map(|bytes| bytes as i64),
            operation.after_hash,
            operation.delta.as_ref().map(|delta| delta.base_bytes as i64),
            operation.delta.as_ref().map(|delta| delta.base_hash),
            operation.point,
        ],
    )?;
    for (hunk, place) in operation.delta.iter().flat_map(|delta| &delta.hunks).zip(0i64..) {
        connection.prepare_cached("INSERT INTO hunks VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute(params![
            key.0,
            operation.id,
            place,
            hunk.offset as i64,
            hunk.before,
            hunk.after,
        ])?;
    }
    for (edit, place) in operation.edits.iter().zip(0i64..) {
        let change = edit.change.as_ref().and_then(|change| serde_json::to_string(change).ok());
        connection.prepare_cached("INSERT INTO edits VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(params![
            key.0,
            operation.id,
            place,
            edit.row.id.0.to_le_bytes(),
            edit.row.occurrence,
            edit.slot.name(),
            edit.before,
            edit.after,
            change,
        ])?;
    }
    for (mark, place) in operation.marks.iter().zip(0i64..) {
        connection.prepare_cached("INSERT INTO marks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?.execute(
            params![
                key.0,
                operation.id,
                place,
                mark.address.row.id.0.to_le_bytes(),
                mark.address.row.occurrence,
                mark.address.index,
                mark.address.content.0.to_le_bytes(),
                mark.kind.name(),
                mark.before,
                mark.after,
                mark.number,
            ],
        )?;
    }
    Ok(())
}

/// Stores a value under its address, once.
fn keep(connection: &Connection, value: &[u8]) -> rusqlite::Result<Address> {
    let address = *blake3::hash(value).as_bytes();
    let known =
        connection.prepare_cached("SELECT 1 FROM originals WHERE address = ?1")?.query_row([address], |_| Ok(())).optional()?;
    if known.is_none() {
        let content =
            zstd::bulk::compress(value, ZSTD_LEVEL).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        connection.prepare_cached("INSERT INTO originals VALUES (?1, ?2, ?3)")?.execute(params![
            address,
            value.len() as i64,
            content
        ])?;
    }
    Ok(address)
}

/// What a compressed value says of its own length, as far as it can be true.
fn decompressed_bytes(content: &[u8]) -> usize {
    let said = zstd::zstd_safe::get_frame_content_size(content).ok().flatten();
    said.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default().min(LONGEST_ORIGINAL)
}

pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<StoredSession> {
    Ok(StoredSession {
        key: SessionKey(row.get(0)?),
        provider: row.get(1)?,
        session: row.get(2)?,
        path: PathBuf::from(row.get::<_, String>(3)?),
        project: row.get(4)?,
    })
}

pub(super) fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<Key> {
    Ok(Key(u128::from_le_bytes(row.get(column)?)))
}

/// A word of the store as a value; an unknown one is damage.
pub(super) fn word<T: Copy>(row: &Row<'_>, column: usize, known: &[T], name: fn(T) -> &'static str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    let unknown = || rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, text.clone().into());
    known.iter().copied().find(|value| name(*value) == text).ok_or_else(unknown)
}

fn operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    use OperationKind::{Change, Redo, Undo};
    use OperationState::{Aborted, Committed, Prepared};
    Ok(Operation {
        id: row.get(0)?,
        kind: word(row, 1, &[Change, Undo, Redo], OperationKind::name)?,
        state: word(row, 2, &[Prepared, Committed, Aborted], OperationState::name)?,
        time: row.get(3)?,
        command: row.get(4)?,
        actor: word(row, 5, &Actor::ALL, Actor::name)?,
        inverts: row.get(6)?,
        edits: Vec::new(),
        marks: Vec::new(),
        tokens_before: row.get(7)?,
        tokens_after: row.get(8)?,
        last_row: row.get::<_, Option<[u8; 16]>>(9)?.map(|bytes| Key(u128::from_le_bytes(bytes))),
        after_bytes: row.get::<_, Option<i64>>(10)?.map(|bytes| bytes as u64),
        after_hash: row.get(11)?,
        delta: match (row.get::<_, Option<i64>>(12)?, row.get(13)?) {
            (Some(bytes), Some(base_hash)) => Some(Delta { base_bytes: bytes as u64, base_hash, hunks: Vec::new() }),
            _ => None,
        },
        point: row.get(14)?,
    })
}

fn hunk(row: &Row<'_>) -> rusqlite::Result<(OperationId, LoggedHunk)> {
    let hunk = LoggedHunk { offset: row.get::<_, i64>(1)? as u64, before: row.get(2)?, after: row.get(3)? };
    Ok((row.get(0)?, hunk))
}

fn edit(row: &Row<'_>) -> rusqlite::Result<(OperationId, LoggedEdit)> {
    let name: String = row.get(3)?;
    let unknown = || rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, name.clone().into());
    let change: Option<String> = row.get(6)?;
    let edit = LoggedEdit {
        row: RowAddress { id: key(row, 1)?, occurrence: row.get(2)? },
        slot: Slot::from_name(&name).ok_or_else(unknown)?,
        before: row.get(4)?,
        after: row.get(5)?,
        change: change.and_then(|change| serde_json::from_str::<BlockChange>(&change).ok()),
    };
    Ok((row.get(0)?, edit))
}

fn mark(row: &Row<'_>) -> rusqlite::Result<(OperationId, Mark)> {
    let address =
        MarkAddress { row: RowAddress { id: key(row, 1)?, occurrence: row.get(2)? }, index: row.get(3)?, content: key(row, 4)? };
    let mark = Mark {
        address,
        kind: word(row, 5, &[MarkKind::Pin, MarkKind::Focus], MarkKind::name)?,
        before: row.get(6)?,
        after: row.get(7)?,
        number: row.get(8)?,
    };
    Ok((row.get(0)?, mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_many_open_at_the_same_moment_is_made_once() {
        for _ in 0..10 {
            let directory = tempfile::tempdir().unwrap();
            std::thread::scope(|scope| {
                let open: Vec<_> = (0..8).map(|_| scope.spawn(|| Store::open(directory.path()).map(drop))).collect();
                for outcome in open {
                    outcome.join().unwrap().unwrap();
                }
            });
        }
    }
}
