//! What the model asked for, each once.

use super::database::{SessionKey, Store, StoreError, StoredSession};
use super::rows::{key, stored, word};
use crate::model::{CommandPlace, Key, MessageId, OperationId, Proposal, ProposalNumber, ProposalStatus, ReportedMessage};
use rusqlite::{OptionalExtension, Row, params};

/// What became of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What became of it.
    pub status: ProposalStatus,
    /// What the model is told about that; nothing where it is empty.
    pub answer: String,
    /// The operation that carried it out.
    pub operation: Option<OperationId>,
    /// How many blocks that concerned.
    pub count: u32,
}

const COLUMNS: &str = "number, row, block, place, turn, command, blocks, status, answer, operation, count, time, message";

impl Store {
    /// The first turn of a session of which not every command was looked at; none where nobody ever looked.
    pub fn obeyed_until(&self, session: SessionKey) -> Result<Option<u32>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT turn FROM obeyed WHERE session = ?1")?;
        Ok(statement.query_row([session.0], |row| row.get(0)).optional()?)
    }

    /// Says that every command before a turn was looked at.
    pub fn obeyed(&self, session: SessionKey, turn: u32) -> Result<(), StoreError> {
        self.connection.execute("INSERT OR REPLACE INTO obeyed VALUES (?1, ?2)", params![session.0, turn])?;
        Ok(())
    }

    /// Keeps a command and the blocks that it names, as a selector, as begun, and returns its number; none where it is known already, in this session or in one that it
    /// was forked from. What it returns is on the disk.
    pub fn propose(
        &self,
        session: SessionKey,
        place: CommandPlace,
        turn: u32,
        command: &str,
        blocks: &str,
        time: i64,
    ) -> Result<Option<ProposalNumber>, StoreError> {
        let sql = "INSERT OR IGNORE INTO proposals
                   (session, row, block, place, turn, command, blocks, status, answer, told, count, time)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'begun', '', 1, 0, ?8)";
        let row = place.row.0.to_le_bytes();
        let values = params![session.0, row, place.block, place.offset, turn, command, blocks, time];
        let added = self.connection.execute(sql, values)?;
        Ok((added > 0).then(|| self.connection.last_insert_rowid()))
    }

    /// Whether a command at a place is known.
    pub fn is_proposed(&self, place: CommandPlace) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM proposals WHERE row = ?1 AND block = ?2 AND place = ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.exists(params![place.row.0.to_le_bytes(), place.block, place.offset])?)
    }

    /// Records a reported message and its commands, each with its offset in the text, in one transaction. Returns the message's
    /// number; `None` if it is known already. What it returns is on the disk.
    pub fn record_message(
        &self,
        session: SessionKey,
        message: &ReportedMessage,
        turn: u32,
        commands: &[(u32, &str)],
        time: i64,
    ) -> Result<Option<MessageId>, StoreError> {
        let transaction = self.writing()?;
        let after = message.after.unwrap_or(Key(0)).0.to_le_bytes();
        let sql = "INSERT OR IGNORE INTO messages (session, after, prompts, content) VALUES (?1, ?2, ?3, ?4)";
        if transaction.execute(sql, params![session.0, after, message.prompts, message.content])? == 0 {
            return Ok(None);
        }
        let id: MessageId = transaction.last_insert_rowid();
        let row = Key::from_bytes(format!("reported message {id}").as_bytes()).0.to_le_bytes();
        for (offset, command) in commands {
            let sql = "INSERT INTO proposals
                       (session, row, block, place, turn, command, blocks, status, answer, told, count, time, message)
                       VALUES (?1, ?2, 0, ?3, ?4, ?5, '', 'recorded', '', 1, 0, ?6, ?7)";
            transaction.execute(sql, params![session.0, row, offset, turn, command, time, id])?;
        }
        transaction.commit()?;
        Ok(Some(id))
    }

    /// The reported messages whose rows were not found yet, the oldest first: those of a session, and those that come after a row
    /// of any session, because forks keep the identities of rows.
    pub fn unlocated_messages(&self, session: SessionKey) -> Result<Vec<(MessageId, ReportedMessage)>, StoreError> {
        let sql = "SELECT id, after, prompts, content FROM messages
                   WHERE row IS NULL AND (session = ?1 OR after <> zeroblob(16)) ORDER BY id";
        let message = |row: &Row<'_>| {
            let after = Some(key(row, 1)?).filter(|after| *after != Key(0));
            Ok((row.get(0)?, ReportedMessage { after, prompts: row.get(2)?, content: row.get(3)? }))
        };
        Ok(self.connection.prepare_cached(sql)?.query_map([session.0], message)?.collect::<Result<_, _>>()?)
    }

    /// Returns whether a row is the one of a reported message.
    pub fn is_located(&self, row: Key) -> Result<bool, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT 1 FROM messages WHERE row = ?1")?;
        Ok(statement.exists([row.0.to_le_bytes()])?)
    }

    /// The commands of a reported message, in the order of its text.
    pub fn commands_of(&self, message: MessageId) -> Result<Vec<(ProposalNumber, String)>, StoreError> {
        let sql = "SELECT number, command FROM proposals WHERE message = ?1 ORDER BY place";
        let command = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.connection.prepare_cached(sql)?.query_map([message], command)?.collect::<Result<_, _>>()?)
    }

    /// Says which row a reported message has, and where in the file its commands are, in one transaction.
    pub fn locate_message(
        &self,
        message: MessageId,
        row: Key,
        places: &[(ProposalNumber, CommandPlace)],
    ) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        transaction.execute("UPDATE messages SET row = ?2 WHERE id = ?1", params![message, row.0.to_le_bytes()])?;
        for (number, place) in places {
            // A fork of the session may have it already.
            let sql = "UPDATE OR IGNORE proposals SET row = ?2, block = ?3, place = ?4 WHERE number = ?1 AND message = ?5";
            transaction.execute(sql, params![number, place.row.0.to_le_bytes(), place.block, place.offset, message])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// The last row of the conversation when the model was last told the manifest; the outer `None` if it never was.
    pub fn manifest_told(&self, session: SessionKey) -> Result<Option<Option<Key>>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT after FROM manifests WHERE session = ?1")?;
        let after = statement.query_row([session.0], |row| key(row, 0)).optional()?;
        Ok(after.map(|after| Some(after).filter(|after| *after != Key(0))))
    }

    /// Says that the model is told the manifest behind a row.
    pub fn tell_manifest(&self, session: SessionKey, after: Option<Key>) -> Result<(), StoreError> {
        let after = after.unwrap_or(Key(0)).0.to_le_bytes();
        self.connection.execute("INSERT OR REPLACE INTO manifests VALUES (?1, ?2)", params![session.0, after])?;
        Ok(())
    }

    /// Takes a recorded command, to carry it out on blocks, a selector; whether nothing was decided about it yet. It is on the disk
    /// when this returns.
    pub fn begin_recorded(&self, number: ProposalNumber, blocks: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE proposals SET status = 'begun', blocks = ?2 WHERE number = ?1 AND status = 'recorded'";
        Ok(self.connection.execute(sql, params![number, blocks])? > 0)
    }

    /// Takes a proposal that waits, to carry it out; whether it still waited.
    pub fn begin(&self, number: ProposalNumber) -> Result<bool, StoreError> {
        let sql = "UPDATE proposals SET status = 'begun' WHERE number = ?1 AND status = 'waiting'";
        Ok(self.connection.execute(sql, [number])? > 0)
    }

    /// Says what became of a proposal; the model has not been told that yet.
    pub fn conclude(&self, number: ProposalNumber, outcome: &Outcome) -> Result<(), StoreError> {
        let sql = "UPDATE proposals SET status = ?2, answer = ?3, told = ?4, operation = ?5, count = ?6 WHERE number = ?1";
        let Outcome { status, answer, operation, count } = outcome;
        self.connection.execute(sql, params![number, status.name(), answer, answer.is_empty(), operation, count])?;
        Ok(())
    }

    /// What was asked for in a session, the oldest first.
    pub fn proposals(&self, session: SessionKey) -> Result<Vec<Proposal>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM proposals WHERE session = ?1 ORDER BY number");
        Ok(self.connection.prepare_cached(&sql)?.query_map([session.0], proposal)?.collect::<Result<_, _>>()?)
    }

    /// A proposal by its number, and the session that it belongs to.
    pub fn proposal(&self, number: ProposalNumber) -> Result<Option<(StoredSession, Proposal)>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM proposals WHERE number = ?1");
        let Some(found) = self.connection.prepare_cached(&sql)?.query_row([number], proposal).optional()? else {
            return Ok(None);
        };
        let sql = "SELECT id, provider, session, path, project FROM sessions
                   WHERE id = (SELECT session FROM proposals WHERE number = ?1)";
        let session = self.connection.prepare_cached(sql)?.query_row([number], stored).optional()?;
        Ok(session.map(|session| (session, found)))
    }

    /// Takes what the model has not been told yet, the oldest first and each as `line` puts it, as long as all of it together
    /// has at most so many bytes; the first is taken in any case. Nobody gets the same twice.
    pub fn take_answers(
        &self,
        session: SessionKey,
        most_bytes: usize,
        line: &dyn Fn(&Proposal) -> String,
    ) -> Result<String, StoreError> {
        let transaction = self.writing()?;
        let sql = format!("SELECT {COLUMNS} FROM proposals WHERE session = ?1 AND told = 0 ORDER BY number");
        let mut text = String::new();
        for answer in transaction.prepare_cached(&sql)?.query_map([session.0], proposal)? {
            let answer = answer?;
            let line = line(&answer);
            if text.len() + line.len() > most_bytes && !text.is_empty() {
                break;
            }
            transaction.execute("UPDATE proposals SET told = 1 WHERE number = ?1", [answer.number])?;
            text.push_str(&line);
        }
        transaction.commit()?;
        Ok(text)
    }
}

fn proposal(row: &Row<'_>) -> rusqlite::Result<Proposal> {
    Ok(Proposal {
        number: row.get(0)?,
        place: CommandPlace { row: key(row, 1)?, block: row.get(2)?, offset: row.get(3)? },
        turn: row.get(4)?,
        command: row.get(5)?,
        blocks: row.get(6)?,
        status: word(row, 7, &ProposalStatus::ALL, ProposalStatus::name)?,
        answer: row.get(8)?,
        operation: row.get(9)?,
        count: row.get(10)?,
        time: row.get(11)?,
        message: row.get(12)?,
    })
}
