//! The newest requests that passed a proxy, in a database of their own: each write to the store makes running proxies read it again.

use super::database::{Statements, StoreError, existing, first};
use super::disposable::format;
use super::seal::Seal;
use rusqlite::{Connection, params};
use std::path::Path;
use std::time::Duration;

/// File name of the log of requests, in the directory of the store.
pub const REQUESTS_FILE: &str = "requests.db";

/// Version of the table; a log of another version is emptied.
const FORMAT: i32 = 1;
/// Maximum number of requests; older ones are deleted.
const KEPT: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(2);

const TABLE: &str = "
    DROP TABLE IF EXISTS requests;
    CREATE TABLE requests (
        time INTEGER NOT NULL,
        number INTEGER NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (time, number)
    ) WITHOUT ROWID;
";

/// The log of requests.
pub struct RequestLog {
    connection: Connection,
}

/// A request in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Time of arrival, in milliseconds since 1970, UTC.
    pub time: i64,
    /// Its number, by the proxy that it passed.
    pub number: u64,
    /// Its facts, as JSON; without bodies and credentials.
    pub content: String,
}

impl RequestLog {
    /// Opens the log in an existing directory, or creates it.
    pub fn open(directory: &Path, seal: &Seal) -> Result<RequestLog, StoreError> {
        let connection = Connection::open(directory.join(REQUESTS_FILE))?;
        connection.busy_timeout(PATIENCE)?;
        // The log is not needed to undo anything: a commit need not be durable.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")?;
        let (version, id) = format(&connection)?;
        if version != FORMAT {
            let id = seal.id();
            let settings = format!("PRAGMA user_version = {FORMAT}; PRAGMA application_id = {id}");
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {TABLE} {settings}; COMMIT"))?;
            seal.register(&connection)?;
        } else {
            seal.of_database(id)?.register(&connection)?;
        }
        Ok(RequestLog { connection })
    }

    pub fn open_existing(directory: &Path, seal: &Seal) -> Result<Option<RequestLog>, StoreError> {
        let Some(connection) = existing(&directory.join(REQUESTS_FILE), PATIENCE)? else { return Ok(None) };
        let (version, id) = format(&connection)?;
        if version != FORMAT {
            return Ok(None);
        }
        seal.of_database(id)?.register(&connection)?;
        Ok(Some(RequestLog { connection }))
    }

    /// Adds requests, and deletes the oldest beyond the maximum, in one transaction.
    pub fn add(&mut self, requests: &[LoggedRequest]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for request in requests {
            let sql = "INSERT OR REPLACE INTO requests VALUES (?1, ?2, seal(?3))";
            transaction.run(sql, params![request.time, request.number as i64, request.content])?;
        }
        let excess = "DELETE FROM requests WHERE (time, number) IN
                      (SELECT time, number FROM requests ORDER BY time DESC, number DESC LIMIT -1 OFFSET ?1)";
        transaction.run(excess, [KEPT as i64])?;
        Ok(transaction.commit()?)
    }

    pub fn requests(&self) -> Result<Vec<LoggedRequest>, StoreError> {
        let sql = "SELECT time, number, open(content) FROM requests ORDER BY time, number";
        Ok(self.connection.rows(sql, [], |row| {
            let number: i64 = row.get(1)?;
            Ok(LoggedRequest { time: row.get(0)?, number: number.unsigned_abs(), content: row.get(2)? })
        })?)
    }

    pub fn last_number(&self) -> Result<u64, StoreError> {
        let sql = "SELECT COALESCE(MAX(number), 0) FROM requests";
        let number: i64 = self.connection.query_row(sql, [], first)?;
        Ok(number.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(time: i64, number: u64) -> LoggedRequest {
        LoggedRequest { time, number, content: format!("{{\"number\":{number}}}") }
    }

    #[test]
    fn the_newest_requests_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        assert!(RequestLog::open_existing(directory.path(), &Seal::default()).unwrap().is_none());
        let mut log = RequestLog::open(directory.path(), &Seal::default()).unwrap();
        assert_eq!((log.requests().unwrap(), log.last_number().unwrap()), (vec![], 0));
        for batch in 0..12 {
            let batch: Vec<_> = (1..=100).map(|number| request(batch * 10, batch as u64 * 100 + number)).collect();
            log.add(&batch).unwrap();
        }
        let known = RequestLog::open_existing(directory.path(), &Seal::default()).unwrap().unwrap();
        let requests = known.requests().unwrap();
        assert_eq!((requests.len(), requests[0].number, known.last_number().unwrap()), (KEPT, 201, 1200));
        assert_eq!(requests[KEPT - 1], request(110, 1200));
    }

    #[test]
    fn requests_of_two_proxies_are_kept_apart() {
        let directory = tempfile::tempdir().unwrap();
        let mut logs = [(); 2].map(|()| RequestLog::open(directory.path(), &Seal::default()).unwrap());
        logs[0].add(&[request(1, 1)]).unwrap();
        logs[1].add(&[request(2, 1), request(2, 1)]).unwrap();
        assert_eq!(logs[0].requests().unwrap(), [request(1, 1), request(2, 1)]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "damages the file")]
    fn a_log_of_another_version_is_emptied_and_a_damaged_one_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        RequestLog::open(directory.path(), &Seal::default()).unwrap().add(&[request(1, 1)]).unwrap();
        let connection = Connection::open(directory.path().join(REQUESTS_FILE)).unwrap();
        connection.pragma_update(None, "user_version", FORMAT + 1).unwrap();
        drop(connection);
        assert!(RequestLog::open_existing(directory.path(), &Seal::default()).unwrap().is_none());
        assert_eq!(RequestLog::open(directory.path(), &Seal::default()).unwrap().requests().unwrap(), []);
        std::fs::write(directory.path().join(REQUESTS_FILE), "something else, long enough to be read as a header").unwrap();
        for name in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(directory.path().join(format!("{REQUESTS_FILE}{name}")));
        }
        assert!(RequestLog::open(directory.path(), &Seal::default()).is_err());
    }
}
