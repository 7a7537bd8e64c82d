//! The queue of a local model, its answers and its health, in a database of their own: `sidecar.db`.
//!
//! The queue has places and addresses, never contents. Everything in it can be made again, so no write waits for the disk.

use super::database::{Statements, StoreError, existing, first, is_there, named};
use super::disposable::{Form, format, opened};
use super::seal::Seal;
use crate::engine::sidecar::{AnswerFault, MOST_ATTEMPTS, SidecarTask, TASKS, is_unreliable, retry_after};
use crate::model::Key;
use rusqlite::{Connection, ErrorCode, Row, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File name of the database, in the directory of the store.
pub const SIDECAR_FILE: &str = "sidecar.db";

/// The longest wait of the worker for another process, and that of a command.
const PATIENCE: Duration = Duration::from_secs(5);
const SHORT_PATIENCE: Duration = Duration::from_millis(20);
const KEPT_CALLS: i64 = 500;
const MOST_TASKS: i64 = 50_000;
/// Consecutive failures of the server after which it is not asked for a while.
const MOST_FAILURES: u32 = 3;

const FORM: Form = Form {
    file: SIDECAR_FILE,
    version: 2,
    patience: PATIENCE,
    settings: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON",
    tables: "
        DROP TABLE IF EXISTS queue; DROP TABLE IF EXISTS results; DROP TABLE IF EXISTS calls; DROP TABLE IF EXISTS models;
        DROP TABLE IF EXISTS shares;
        CREATE TABLE queue (
            id INTEGER PRIMARY KEY,
            task TEXT NOT NULL,
            version INTEGER NOT NULL,
            address BLOB NOT NULL,
            priority INTEGER NOT NULL,
            place TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            due INTEGER NOT NULL DEFAULT 0,
            lease INTEGER NOT NULL DEFAULT 0,
            error TEXT,
            is_aside INTEGER NOT NULL DEFAULT 0,
            UNIQUE (address, task, version)
        );
        CREATE INDEX queue_order ON queue (is_aside, priority, id);
        CREATE INDEX queue_leased ON queue (lease) WHERE lease > 0;
        CREATE TABLE results (
            address BLOB NOT NULL,
            task TEXT NOT NULL,
            version INTEGER NOT NULL,
            model TEXT NOT NULL,
            value BLOB,
            fault TEXT,
            time INTEGER NOT NULL,
            PRIMARY KEY (address, task, version, model)
        ) WITHOUT ROWID;
        CREATE TABLE calls (
            id INTEGER PRIMARY KEY,
            model TEXT NOT NULL,
            time INTEGER NOT NULL,
            milliseconds INTEGER NOT NULL,
            sent_tokens INTEGER NOT NULL,
            answer_tokens INTEGER NOT NULL,
            error TEXT
        );
        CREATE TABLE models (
            model TEXT PRIMARY KEY,
            failures INTEGER NOT NULL DEFAULT 0,
            asked_again INTEGER NOT NULL DEFAULT 0,
            improves INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        CREATE TABLE shares (
            model TEXT NOT NULL,
            task TEXT NOT NULL,
            answers INTEGER NOT NULL,
            refused INTEGER NOT NULL,
            PRIMARY KEY (model, task)
        ) WITHOUT ROWID;
    ",
};

/// The database of the sidecar.
pub struct SidecarStore {
    connection: Connection,
}

/// A task to queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    pub task: SidecarTask,
    pub address: Key,
    pub session: PathBuf,
    /// The model whose answer is missing.
    pub model: String,
}

/// A task in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedTask {
    pub id: i64,
    pub task: SidecarTask,
    pub version: u32,
    pub address: Key,
    pub session: PathBuf,
    pub attempts: u32,
    /// The time of the next attempt, in milliseconds since 1970, UTC; 0 for at once.
    pub due: i64,
    /// The end of the current attempt at the latest; 0 if it is not being done. It identifies the lease as well.
    pub lease: i64,
    pub error: Option<String>,
    /// True if it is not tried again.
    pub is_aside: bool,
}

/// An answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SidecarResult {
    /// The accepted texts as JSON, or the numbers of a vector.
    Value(Vec<u8>),
    /// The name of the fault for which it was refused.
    Refused(String),
}

/// An attempt without an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", [error.as_str(), words].join(" ").trim_end())]
pub struct SidecarFailure {
    pub error: String,
    /// The words of the server, masked. They can repeat what was sent: they are shown, and not stored.
    pub words: String,
    /// True if another attempt of the same task would probably fail as well.
    pub is_of_task: bool,
    /// True if another task would probably fail as well.
    pub is_of_server: bool,
}

/// The figures of one call of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SidecarCall {
    pub time: i64,
    pub milliseconds: u32,
    pub sent_tokens: u32,
    pub answer_tokens: u32,
    pub error: Option<String>,
}

/// The state of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelState {
    pub answers: u64,
    /// The tasks for which it is not asked any more, because too many of its answers were refused.
    pub stopped: Vec<SidecarTask>,
    pub failures: u32,
    /// The time before which the server is not asked, in milliseconds since 1970, UTC.
    pub asked_again: i64,
}

/// The counts of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    pub waiting: u64,
    pub leased: u64,
    pub aside: u64,
    pub results: u64,
    pub refused: u64,
}

/// Attempts that ended without an answer, as by a kill, after which a task is set aside.
const MOST_KILLED: u32 = 3 * MOST_ATTEMPTS;
const EXPIRE: &str =
    "UPDATE queue SET lease = 0, is_aside = attempts >= ?1, error = COALESCE(error, seal('ended without an answer'))
                      WHERE lease > 0";
const TASK_COLUMNS: &str = "id, task, version, open(address), open(place), attempts, due, lease, open(error), is_aside";

impl SidecarStore {
    /// Opens the database in an existing directory, or creates it. The caller makes its file private.
    pub fn open(directory: &Path, seal: &Seal) -> Result<SidecarStore, StoreError> {
        let file = directory.join(SIDECAR_FILE);
        is_there(&file)?;
        let (connection, _) = opened(directory, &FORM, seal).map_err(|error| named(error.into(), &file))?;
        Ok(SidecarStore { connection })
    }

    /// Opens the existing database for a command, which hardly waits; `None` if there is none of this version with these keys.
    pub fn open_existing(directory: &Path, seal: &Seal) -> Result<Option<SidecarStore>, StoreError> {
        let Some(connection) = existing(&directory.join(SIDECAR_FILE), SHORT_PATIENCE)? else { return Ok(None) };
        seal.register(&connection)?;
        let is_known = format(&connection)? == (FORM.version, seal.id());
        Ok(is_known.then_some(SidecarStore { connection }))
    }

    pub fn result(&self, task: SidecarTask, address: Key, model: &str) -> Result<Option<SidecarResult>, StoreError> {
        let sql = "SELECT open(value), fault FROM results WHERE address = seal(?1) AND task = ?2 AND version = ?3 AND model = ?4";
        let values = params![bytes(address), task.name(), task.row().version, model];
        Ok(self.connection.row(sql, values, |row| {
            Ok(match row.get::<_, Option<Vec<u8>>>(0)? {
                Some(value) => SidecarResult::Value(value),
                None => SidecarResult::Refused(row.get(1)?),
            })
        })?)
    }

    /// Queues tasks that are neither queued nor answered, and returns their number. Returns 0 if another process writes for long.
    pub fn enqueue(&self, tasks: &[NewTask]) -> Result<usize, StoreError> {
        let mut missing = Vec::new();
        for new in tasks {
            let sql = "SELECT 1 FROM queue WHERE address = seal(?1) AND task = ?2 AND version = ?3";
            let values = params![bytes(new.address), new.task.name(), new.task.row().version];
            if self.connection.row(sql, values, first::<i64>)?.is_none() {
                missing.push(new);
            }
        }
        if missing.is_empty() {
            return Ok(0);
        }
        let writing = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = match writing {
            Ok(transaction) => transaction,
            Err(error) if is_locked(&error) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        let mut added = 0;
        let waiting: i64 = transaction.query_row("SELECT COUNT(*) FROM queue", [], first)?;
        let room = usize::try_from(MOST_TASKS - waiting).unwrap_or_default();
        for new in missing.into_iter().take(room) {
            let row = new.task.row();
            let place = new.session.to_string_lossy();
            let sql = "INSERT OR IGNORE INTO queue (task, version, address, priority, place)
                       SELECT ?1, ?2, seal(?3), ?4, seal(?5) WHERE NOT EXISTS
                       (SELECT 1 FROM results WHERE address = seal(?3) AND task = ?1 AND version = ?2 AND model = ?6)";
            let values = params![new.task.name(), row.version, bytes(new.address), row.priority, place, new.model];
            added += transaction.run(sql, values)?;
        }
        transaction.commit()?;
        Ok(added)
    }

    /// Leases the next task that is due until a time, and counts the attempt; `None` if none is due. A task whose lease has expired is
    /// leased again.
    pub fn lease(&self, now: i64, until: i64, is_wanted: &dyn Fn(SidecarTask) -> bool) -> Result<Option<QueuedTask>, StoreError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let sql = format!("{EXPIRE} AND lease <= ?2");
        transaction.run(&sql, params![MOST_KILLED, now])?;
        let sql = format!(
            "UPDATE queue SET lease = ?2, attempts = attempts + 1 WHERE id =
             (SELECT id FROM queue WHERE is_aside = 0 AND lease = 0 AND due <= ?1 AND task IN ({}) ORDER BY priority, id LIMIT 1)
             RETURNING {TASK_COLUMNS}",
            names(is_wanted)
        );
        let leased = transaction.row(&sql, params![now, until], queued)?;
        transaction.commit()?;
        Ok(leased)
    }

    /// Makes all leases expire, and deletes tasks of earlier versions, which are never read. The caller holds the lock of workers, so the
    /// worker that had the leases has ended.
    pub fn expire_leases(&self) -> Result<usize, StoreError> {
        for row in &TASKS {
            let sql = "DELETE FROM queue WHERE task = ?1 AND version < ?2";
            self.connection.run(sql, params![row.task.name(), row.version])?;
        }
        Ok(self.connection.run(EXPIRE, [MOST_KILLED])?)
    }

    /// Stores the answer to a leased task, removes the task and counts, in one transaction. Returns false if the lease is no longer
    /// held, so that nothing is stored twice.
    pub fn complete(&self, task: &QueuedTask, model: &str, result: &SidecarResult, now: i64) -> Result<bool, StoreError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let sql = "DELETE FROM queue WHERE id = ?1 AND lease = ?2";
        if transaction.run(sql, params![task.id, task.lease])? == 0 {
            return Ok(false);
        }
        let (value, fault) = match result {
            SidecarResult::Value(value) => (Some(value), None),
            SidecarResult::Refused(fault) => (None, Some(fault)),
        };
        let sql = "INSERT INTO results VALUES (seal(?1), ?2, ?3, ?4, seal(?5), ?6, ?7)";
        let values = params![bytes(task.address), task.task.name(), task.version, model, value, fault, now];
        transaction.run(sql, values)?;
        // For texts that are not alike, no model was asked.
        if fault.is_none_or(|fault| *fault != AnswerFault::Unlike.name()) {
            transaction.run("UPDATE models SET failures = 0, asked_again = 0 WHERE model = ?1", [model])?;
            // A poor answer is true: it says nothing against the model.
            let is_untrue = fault.is_some_and(|fault| *fault != AnswerFault::Poor.name());
            let sql = "INSERT INTO shares VALUES (?1, ?2, 1, ?3)
                       ON CONFLICT (model, task) DO UPDATE SET answers = answers + 1, refused = refused + ?3";
            transaction.run(sql, params![model, task.task.name(), is_untrue])?;
        }
        transaction.commit()?;
        Ok(true)
    }

    /// Removes a task whose content no longer exists.
    pub fn drop_task(&self, task: &QueuedTask) -> Result<(), StoreError> {
        self.connection.change("DELETE FROM queue WHERE id = ?1 AND lease = ?2", params![task.id, task.lease])
    }

    /// Returns a leased task to the queue after an error. The attempt counts if the task may be at fault: after the last one, it is set
    /// aside. Errors of the server count as well: after some, it is not asked for a while.
    pub fn fail(&self, task: &QueuedTask, model: &str, failure: &SidecarFailure, now: i64) -> Result<(), StoreError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let (attempts, due) = match failure.is_of_task {
            true => (task.attempts, now + retry_after(task.attempts)),
            false => (task.attempts.saturating_sub(1), now),
        };
        let sql = "UPDATE queue SET lease = 0, attempts = ?3, due = ?4, error = seal(?5), is_aside = ?3 >= ?6 WHERE id = ?1 AND lease = ?2";
        transaction.run(sql, params![task.id, task.lease, attempts, due, failure.error, MOST_ATTEMPTS])?;
        if failure.is_of_server {
            transaction.run("INSERT OR IGNORE INTO models (model) VALUES (?1)", [model])?;
            let sql = "UPDATE models SET failures = failures + 1 WHERE model = ?1 RETURNING failures";
            let failures: u32 = transaction.query_row(sql, [model], first)?;
            if failures >= MOST_FAILURES {
                let again = now + retry_after(failures);
                transaction.run("UPDATE models SET asked_again = ?2 WHERE model = ?1", params![model, again])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Records the figures of a call, and deletes the oldest beyond the maximum.
    pub fn record_call(&self, model: &str, call: &SidecarCall) -> Result<(), StoreError> {
        let sql = "INSERT INTO calls (model, time, milliseconds, sent_tokens, answer_tokens, error) VALUES (?1, ?2, ?3, ?4, ?5, seal(?6))";
        let values = params![model, call.time, call.milliseconds, call.sent_tokens, call.answer_tokens, call.error];
        self.connection.run(sql, values)?;
        self.connection.change("DELETE FROM calls WHERE id <= (SELECT MAX(id) FROM calls) - ?1", [KEPT_CALLS])
    }

    pub fn calls(&self, model: &str) -> Result<Vec<SidecarCall>, StoreError> {
        let sql = "SELECT time, milliseconds, sent_tokens, answer_tokens, open(error) FROM calls WHERE model = ?1 ORDER BY id";
        Ok(self.connection.rows(sql, [model], |row| {
            Ok(SidecarCall {
                time: row.get(0)?,
                milliseconds: row.get(1)?,
                sent_tokens: row.get(2)?,
                answer_tokens: row.get(3)?,
                error: row.get(4)?,
            })
        })?)
    }

    pub fn model(&self, model: &str) -> Result<ModelState, StoreError> {
        let sql = "SELECT failures, asked_again FROM models WHERE model = ?1";
        let found = self.connection.row(sql, [model], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (failures, asked_again) = found.unwrap_or_default();
        let mut state = ModelState { failures, asked_again, ..ModelState::default() };
        let sql = "SELECT task, answers, refused FROM shares WHERE model = ?1 ORDER BY task";
        for row in self.connection.rows(sql, [model], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))? {
            let (task, answers, refused): (String, i64, i64) = row;
            let [answers, refused] = [answers, refused].map(i64::unsigned_abs);
            let task = SidecarTask::from_name(&task);
            state.stopped.extend(task.filter(|_| is_unreliable(answers, refused)));
            state.answers += answers;
        }
        Ok(state)
    }

    /// Returns the reasons for which answers of a model were refused, with their numbers, the most frequent first.
    pub fn faults(&self, model: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = "SELECT fault, COUNT(*) FROM results WHERE model = ?1 AND fault != ?2 GROUP BY fault ORDER BY 2 DESC, 1";
        let values = [model, AnswerFault::Unlike.name()];
        Ok(self.connection.rows(sql, values, |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?)
    }

    /// Returns true if the vectors of a model improved search on the user's own sessions.
    pub fn improves(&self, model: &str) -> Result<bool, StoreError> {
        let found = self.connection.row("SELECT improves FROM models WHERE model = ?1", [model], first)?;
        Ok(found.unwrap_or_default())
    }

    pub fn record_improvement(&self, model: &str, improves: bool) -> Result<(), StoreError> {
        let sql = "INSERT INTO models (model, improves) VALUES (?1, ?2) ON CONFLICT (model) DO UPDATE SET improves = ?2";
        self.connection.change(sql, params![model, improves])
    }

    /// Starts a model again: its counts begin at 0, and tasks that were set aside are tried again.
    pub fn restart(&self, model: &str) -> Result<(), StoreError> {
        self.connection.run("DELETE FROM models WHERE model = ?1", [model])?;
        self.connection.run("DELETE FROM shares WHERE model = ?1", [model])?;
        self.connection.change("UPDATE queue SET is_aside = 0, attempts = 0, due = 0 WHERE is_aside = 1", [])
    }

    pub fn counts(&self, model: &str) -> Result<QueueCounts, StoreError> {
        let sql = "SELECT
            (SELECT COUNT(*) FROM queue WHERE is_aside = 0 AND lease = 0),
            (SELECT COUNT(*) FROM queue WHERE lease > 0),
            (SELECT COUNT(*) FROM queue WHERE is_aside = 1),
            (SELECT COUNT(*) FROM results WHERE model = ?1 AND value IS NOT NULL),
            (SELECT COUNT(*) FROM results WHERE model = ?1 AND fault != ?2)";
        Ok(self.connection.query_row(sql, [model, AnswerFault::Unlike.name()], |row| {
            let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
            Ok(QueueCounts { waiting: count(0)?, leased: count(1)?, aside: count(2)?, results: count(3)?, refused: count(4)? })
        })?)
    }

    /// Returns the tasks in their order, those that were set aside last; at most `limit`.
    pub fn queue(&self, limit: usize) -> Result<Vec<QueuedTask>, StoreError> {
        let sql = format!("SELECT {TASK_COLUMNS} FROM queue ORDER BY is_aside, priority, id LIMIT ?1");
        Ok(self.connection.rows(&sql, [i64::try_from(limit).unwrap_or(i64::MAX)], queued)?)
    }

    /// Returns the time at which the next wanted task is due, in milliseconds since 1970, UTC; `None` if there is none.
    pub fn next_due(&self, is_wanted: &dyn Fn(SidecarTask) -> bool) -> Result<Option<i64>, StoreError> {
        let sql = format!("SELECT MIN(MAX(due, lease)) FROM queue WHERE is_aside = 0 AND task IN ({})", names(is_wanted));
        Ok(self.connection.query_row(&sql, [], first)?)
    }

    /// Deletes the answers whose text is meant, and returns their number.
    pub fn forget(&self, is_meant: &dyn Fn(&[u8]) -> bool) -> Result<usize, StoreError> {
        let sql = "SELECT open(address), task, version, model, open(value) FROM results WHERE task != ?1";
        let mut select = self.connection.prepare(sql)?;
        let mut rows = select.query([SidecarTask::Embedding.name()])?;
        let mut deleted = 0;
        while let Some(row) = rows.next()? {
            if row.get::<_, Option<Vec<u8>>>(4)?.is_some_and(|value| is_meant(&value)) {
                let (address, task): ([u8; 16], String) = (row.get(0)?, row.get(1)?);
                let (version, model): (u32, String) = (row.get(2)?, row.get(3)?);
                let sql = "DELETE FROM results WHERE address = seal(?1) AND task = ?2 AND version = ?3 AND model = ?4";
                deleted += self.connection.run(sql, params![address, task, version, model])?;
            }
        }
        Ok(deleted)
    }

    /// Deletes the queue, the tasks that were set aside included; with `results` also the answers and the counts of models. Returns the
    /// number of deleted tasks and answers.
    pub fn clear(&self, results: bool) -> Result<(usize, usize), StoreError> {
        let tasks = self.connection.run("DELETE FROM queue", [])?;
        let answers = if results { self.connection.run("DELETE FROM results", [])? } else { 0 };
        if results {
            self.connection.execute_batch("DELETE FROM models; DELETE FROM shares; DELETE FROM calls; VACUUM")?;
        }
        Ok((tasks, answers))
    }
}

fn names(is_wanted: &dyn Fn(SidecarTask) -> bool) -> String {
    let wanted = SidecarTask::ALL.into_iter().filter(|task| is_wanted(*task));
    wanted.map(|task| format!("'{task}'")).collect::<Vec<_>>().join(", ")
}

fn bytes(address: Key) -> [u8; 16] {
    address.0.to_be_bytes()
}

fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly))
}

fn queued(row: &Row<'_>) -> rusqlite::Result<QueuedTask> {
    let (name, address): (String, [u8; 16]) = (row.get(1)?, row.get(3)?);
    let task = SidecarTask::from_name(&name).ok_or(rusqlite::Error::InvalidQuery)?;
    Ok(QueuedTask {
        id: row.get(0)?,
        task,
        version: row.get(2)?,
        address: Key(u128::from_be_bytes(address)),
        session: PathBuf::from(row.get::<_, String>(4)?),
        attempts: row.get(5)?,
        due: row.get(6)?,
        lease: row.get(7)?,
        error: row.get(8)?,
        is_aside: row.get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "m";

    fn task(number: u128) -> NewTask {
        NewTask { task: SidecarTask::Turn, address: Key(number), session: "/s.jsonl".into(), model: MODEL.into() }
    }

    fn any(_: SidecarTask) -> bool {
        true
    }

    fn open() -> (tempfile::TempDir, SidecarStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = SidecarStore::open(directory.path(), &Seal::default()).unwrap();
        (directory, store)
    }

    #[test]
    fn a_task_is_queued_once_and_answered_once() {
        let (directory, store) = open();
        assert_eq!(store.enqueue(&[task(1), task(2), task(1)]).unwrap(), 2);
        let block = NewTask { task: SidecarTask::Block, ..task(1) };
        assert_eq!(store.enqueue(&[block, task(2)]).unwrap(), 1);
        let leased = store.lease(10, 20, &any).unwrap().unwrap();
        assert_eq!((leased.address, leased.attempts, leased.lease), (Key(1), 1, 20));
        let value = SidecarResult::Value(b"{}".to_vec());
        assert!(store.complete(&leased, MODEL, &value, 11).unwrap());
        assert!(!store.complete(&leased, MODEL, &value, 11).unwrap());
        assert_eq!(store.enqueue(&[task(1)]).unwrap(), 0, "it is answered");
        let reader = SidecarStore::open_existing(directory.path(), &Seal::default()).unwrap().unwrap();
        assert_eq!(reader.result(SidecarTask::Turn, Key(1), MODEL).unwrap(), Some(value));
        assert_eq!(reader.result(SidecarTask::Turn, Key(1), "other").unwrap(), None);
        assert_eq!(reader.result(SidecarTask::Block, Key(1), MODEL).unwrap(), None);
        let counts = store.counts(MODEL).unwrap();
        assert_eq!(counts, QueueCounts { waiting: 2, results: 1, ..QueueCounts::default() });
    }

    #[test]
    fn an_expired_lease_is_given_again_and_its_answer_is_ignored() {
        let (_directory, store) = open();
        store.enqueue(&[task(1)]).unwrap();
        let first = store.lease(10, 20, &any).unwrap().unwrap();
        assert_eq!(store.lease(19, 29, &any).unwrap(), None);
        let second = store.lease(20, 30, &any).unwrap().unwrap();
        assert_eq!(second.attempts, 2);
        assert!(!store.complete(&first, MODEL, &SidecarResult::Refused("form".into()), 21).unwrap());
        assert!(store.complete(&second, MODEL, &SidecarResult::Refused("form".into()), 21).unwrap());
        assert_eq!((store.model(MODEL).unwrap().answers, store.counts(MODEL).unwrap().refused), (1, 1));
    }

    #[test]
    fn a_task_that_fails_waits_and_is_set_aside() {
        let (_directory, store) = open();
        store.enqueue(&[task(1)]).unwrap();
        let mut now = 0;
        for attempt in 1..=MOST_ATTEMPTS {
            let leased = store.lease(now, now + 5, &any).unwrap().unwrap();
            assert_eq!(leased.attempts, attempt);
            let failure =
                SidecarFailure { error: "HTTP 400".into(), words: String::new(), is_of_task: true, is_of_server: false };
            store.fail(&leased, MODEL, &failure, now).unwrap();
            assert_eq!(store.lease(now, now + 5, &any).unwrap(), None, "it waits");
            now += retry_after(attempt);
        }
        assert_eq!(store.lease(now, now + 5, &any).unwrap(), None);
        let [aside] = &store.queue(9).unwrap()[..] else { panic!() };
        assert_eq!((aside.is_aside, aside.error.as_deref()), (true, Some("HTTP 400")));
        assert_eq!(store.clear(true).unwrap(), (1, 0));
    }

    #[test]
    fn a_server_that_fails_is_not_asked_for_a_while() {
        let (_directory, store) = open();
        store.enqueue(&[task(1)]).unwrap();
        for failures in 1..=MOST_FAILURES {
            let leased = store.lease(0, 5, &any).unwrap().unwrap();
            assert_eq!(leased.attempts, 1, "the attempts before do not count");
            let failure = SidecarFailure {
                error: "connection refused".into(),
                words: String::new(),
                is_of_task: false,
                is_of_server: true,
            };
            store.fail(&leased, MODEL, &failure, 0).unwrap();
            let again = if failures == MOST_FAILURES { retry_after(failures) } else { 0 };
            assert_eq!(store.model(MODEL).unwrap().asked_again, again);
        }
        let leased = store.lease(0, 5, &any).unwrap().unwrap();
        store.complete(&leased, MODEL, &SidecarResult::Value(vec![]), 0).unwrap();
        assert_eq!((store.model(MODEL).unwrap().failures, store.next_due(&any).unwrap()), (0, None));
    }

    #[test]
    fn a_model_with_many_refusals_is_stopped_for_that_task_until_it_is_started_again() {
        let (_directory, store) = open();
        let refused = || SidecarResult::Refused("number".into());
        let answer = |task: NewTask, result: &SidecarResult| {
            store.enqueue(&[task]).unwrap();
            let leased = store.lease(0, 5, &any).unwrap().unwrap();
            store.complete(&leased, MODEL, result, 0).unwrap();
            store.model(MODEL).unwrap().stopped
        };
        for number in 0..25 {
            let block = NewTask { task: SidecarTask::Block, ..task(number) };
            let unlike = NewTask { task: SidecarTask::Duplicate, ..task(number) };
            let result = if number < 2 { refused() } else { SidecarResult::Value(vec![]) };
            let stopped: &[SidecarTask] = if number < 19 { &[] } else { &[SidecarTask::Turn] };
            assert_eq!(answer(task(number), &result), stopped, "{number}");
            assert_eq!(answer(block, &SidecarResult::Value(vec![])), stopped, "{number}");
            assert_eq!(answer(unlike, &SidecarResult::Refused("unlike".into())), stopped, "{number}");
        }
        assert_eq!(store.counts(MODEL).unwrap(), QueueCounts { results: 48, refused: 2, ..QueueCounts::default() });
        store.restart(MODEL).unwrap();
        assert_eq!(store.model(MODEL).unwrap(), ModelState::default());
    }

    #[test]
    fn a_command_does_not_wait_for_the_worker() {
        let (directory, store) = open();
        let reader = SidecarStore::open_existing(directory.path(), &Seal::default()).unwrap().unwrap();
        let writing = Transaction::new_unchecked(&store.connection, TransactionBehavior::Immediate).unwrap();
        assert_eq!(reader.enqueue(&[task(1)]).unwrap(), 0);
        assert_eq!(reader.result(SidecarTask::Turn, Key(1), MODEL).unwrap(), None);
        drop(writing);
        assert_eq!(reader.enqueue(&[task(1)]).unwrap(), 1);
        let leased = store.lease(0, 5, &any).unwrap().unwrap();
        store.complete(&leased, MODEL, &SidecarResult::Value(b"secret".to_vec()), 0).unwrap();
        assert_eq!([b"other", b"secre"].map(|text| store.forget(&|value| value.starts_with(text)).unwrap()), [0, 1]);
        let call = SidecarCall { milliseconds: 9, ..SidecarCall::default() };
        store.record_call(MODEL, &call).unwrap();
        assert_eq!(reader.calls(MODEL).unwrap(), [call]);
    }
}
