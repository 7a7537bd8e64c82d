//! Proposals: commands of the model, each stored once.

use super::database::{SessionKey, Statements, Store, StoreError, StoredSession, first};
use super::rows::{SESSION, key, stored, word};
use crate::model::{CommandPlace, Key, MessageId, OperationId, Proposal, ProposalNumber, ProposalStatus, ReportedMessage, texts};
use rusqlite::{Row, params};

/// Outcome of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub status: ProposalStatus,
    /// Message to the model about the outcome; empty for none.
    pub answer: String,
    pub operation: Option<OperationId>,
    pub count: u32,
}

/// A proposal that is not stored yet.
#[derive(Clone, Copy, Debug)]
pub struct NewProposal<'a> {
    pub place: CommandPlace,
    pub turn: u32,
    /// The command as it was written in the text, or the command line of a tool call.
    pub command: &'a str,
    /// The addresses of its blocks; empty if it names none.
    pub blocks: &'a str,
    /// The request of a tool call, as JSON.
    pub request: Option<&'a str>,
}

texts! {
    /// A moment of a session that is recorded, each in a table.
    #[derive(Clone, Copy, Debug)]
    pub enum Moment, table {
        /// The manifest was sent to the model.
        ManifestTold = "manifests",
        /// A prompt was held.
        PromptHeld = "held_prompts",
    }
}

const COLUMNS: &str = "number, open(row), block, place, turn, open(command), open(blocks), status, open(answer), operation, count, time, message, open(request)";

impl Store {
    /// Returns the first turn of a session with unread commands; `None` if the session was never searched for commands.
    pub fn obeyed_until(&self, session: SessionKey) -> Result<Option<u32>, StoreError> {
        Ok(self.connection.row("SELECT turn FROM obeyed WHERE session = ?1", [session.0], first)?)
    }

    pub fn obeyed(&self, session: SessionKey, turn: u32) -> Result<(), StoreError> {
        self.connection.change("INSERT OR REPLACE INTO obeyed VALUES (?1, ?2)", params![session.0, turn])
    }

    /// Stores a command and its blocks as begun, and returns its number; `None` if it is stored already, in
    /// this session or in one that it was forked from. The result is durable.
    pub fn propose(
        &self,
        session: SessionKey,
        proposal: &NewProposal<'_>,
        time: i64,
    ) -> Result<Option<ProposalNumber>, StoreError> {
        let sql = "INSERT OR IGNORE INTO proposals
                   (session, row, block, place, turn, command, blocks, status, answer, told, count, time, request)
                   VALUES (?1, seal(?2), ?3, ?4, ?5, seal(?6), seal(?7), 'begun', seal(''), 1, 0, ?8, seal(?9))";
        let NewProposal { place, turn, command, blocks, request } = proposal;
        let row = place.row.0.to_le_bytes();
        let values = params![session.0, row, place.block, place.offset, turn, command, blocks, time, request];
        let added = self.connection.run(sql, values)?;
        Ok((added > 0).then(|| self.connection.last_insert_rowid()))
    }

    pub fn is_proposed(&self, place: CommandPlace) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM proposals WHERE row = seal(?1) AND block = ?2 AND place = ?3";
        let values = params![place.row.0.to_le_bytes(), place.block, place.offset];
        Ok(self.connection.row(sql, values, first::<i64>)?.is_some())
    }

    /// Records a reported message and its commands, each with its offset in the text, in one transaction. Returns the message's
    /// number; `None` if it is stored already. The result is durable.
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
        let sql = "INSERT OR IGNORE INTO messages (session, after, prompts, content) VALUES (?1, seal(?2), ?3, seal(?4))";
        if transaction.run(sql, params![session.0, after, message.prompts, message.content])? == 0 {
            return Ok(None);
        }
        let id: MessageId = transaction.last_insert_rowid();
        let row = Key::from_bytes(format!("reported message {id}").as_bytes()).0.to_le_bytes();
        for (offset, command) in commands {
            let sql = "INSERT INTO proposals
                       (session, row, block, place, turn, command, blocks, status, answer, told, count, time, message)
                       VALUES (?1, seal(?2), 0, ?3, ?4, seal(?5), seal(''), 'recorded', seal(''), 1, 0, ?6, ?7)";
            transaction.run(sql, params![session.0, row, offset, turn, command, time, id])?;
        }
        transaction.commit()?;
        Ok(Some(id))
    }

    /// Returns the reported messages without a row, oldest first: those of a session, and those that follow a row
    /// of any session, because forks keep the identities of rows.
    pub fn unlocated_messages(&self, session: SessionKey) -> Result<Vec<(MessageId, ReportedMessage)>, StoreError> {
        let sql = "SELECT id, open(after), prompts, open(content) FROM messages
                   WHERE row IS NULL AND (session = ?1 OR after <> seal(zeroblob(16))) ORDER BY id";
        Ok(self.connection.rows(sql, [session.0], |row| {
            let after = Some(key(row, 1)?).filter(|after| *after != Key(0));
            Ok((row.get(0)?, ReportedMessage { after, prompts: row.get(2)?, content: row.get(3)? }))
        })?)
    }

    pub fn is_located(&self, row: Key) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM messages WHERE row = seal(?1)";
        Ok(self.connection.row(sql, [row.0.to_le_bytes()], first::<i64>)?.is_some())
    }

    pub fn commands_of(&self, message: MessageId) -> Result<Vec<(ProposalNumber, String)>, StoreError> {
        let sql = "SELECT number, open(command) FROM proposals WHERE message = ?1 ORDER BY place";
        Ok(self.connection.rows(sql, [message], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Sets the row of a reported message and the places of its commands in the file, in one transaction.
    pub fn locate_message(
        &self,
        message: MessageId,
        row: Key,
        places: &[(ProposalNumber, CommandPlace)],
    ) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        transaction.run("UPDATE messages SET row = seal(?2) WHERE id = ?1", params![message, row.0.to_le_bytes()])?;
        for (number, place) in places {
            // A fork of the session may have stored it.
            let sql = "UPDATE OR IGNORE proposals SET row = seal(?2), block = ?3, place = ?4 WHERE number = ?1 AND message = ?5";
            transaction.run(sql, params![number, place.row.0.to_le_bytes(), place.block, place.offset, message])?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns the last row of the conversation at the last moment of a kind; the outer `None` if there was none.
    pub fn moment(&self, moment: Moment, session: SessionKey) -> Result<Option<Option<Key>>, StoreError> {
        let sql = format!("SELECT open(after) FROM {} WHERE session = ?1", moment.table());
        let after = self.connection.row(&sql, [session.0], |row| key(row, 0))?;
        Ok(after.map(|after| Some(after).filter(|after| *after != Key(0))))
    }

    pub fn record_moment(&self, moment: Moment, session: SessionKey, after: Option<Key>) -> Result<(), StoreError> {
        let after = after.unwrap_or(Key(0)).0.to_le_bytes();
        let sql = format!("INSERT OR REPLACE INTO {} VALUES (?1, seal(?2))", moment.table());
        self.connection.change(&sql, params![session.0, after])
    }

    /// Claims a recorded command for execution on its blocks; true if it was undecided. The claim is durable
    /// when this returns.
    pub fn begin_recorded(&self, number: ProposalNumber, blocks: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE proposals SET status = 'begun', blocks = seal(?2) WHERE number = ?1 AND status = 'recorded'";
        Ok(self.connection.run(sql, params![number, blocks])? > 0)
    }

    /// Claims a waiting proposal for execution; true if it was still waiting.
    pub fn begin(&self, number: ProposalNumber) -> Result<bool, StoreError> {
        let sql = "UPDATE proposals SET status = 'begun' WHERE number = ?1 AND status = 'waiting'";
        Ok(self.connection.run(sql, [number])? > 0)
    }

    /// Sets the outcome of a proposal and marks it as not yet reported to the model.
    pub fn conclude(&self, number: ProposalNumber, outcome: &Outcome) -> Result<(), StoreError> {
        let sql = "UPDATE proposals SET status = ?2, answer = seal(?3), told = ?4, operation = ?5, count = ?6 WHERE number = ?1";
        let Outcome { status, answer, operation, count } = outcome;
        self.connection.change(sql, params![number, status.name(), answer, answer.is_empty(), operation, count])
    }

    pub fn mark_told(&self, number: ProposalNumber) -> Result<(), StoreError> {
        self.connection.change("UPDATE proposals SET told = 1 WHERE number = ?1", [number])
    }

    pub fn proposals(&self, session: SessionKey) -> Result<Vec<Proposal>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM proposals WHERE session = ?1 ORDER BY number");
        Ok(self.connection.rows(&sql, [session.0], proposal)?)
    }

    pub fn proposal(&self, number: ProposalNumber) -> Result<Option<(StoredSession, Proposal)>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM proposals WHERE number = ?1");
        let Some(found) = self.connection.row(&sql, [number], proposal)? else { return Ok(None) };
        let sql = format!("{SESSION} WHERE id = (SELECT session FROM proposals WHERE number = ?1)");
        Ok(self.connection.row(&sql, [number], stored)?.map(|session| (session, found)))
    }

    /// Returns the proposals whose outcomes are not yet reported to the model, oldest first.
    pub fn untold(&self, session: SessionKey) -> Result<Vec<ProposalNumber>, StoreError> {
        let sql = "SELECT number FROM proposals WHERE session = ?1 AND told = 0 ORDER BY number";
        Ok(self.connection.rows(sql, [session.0], first)?)
    }

    /// Returns outcomes not yet reported to the model, oldest first, each formatted by `line`, at most
    /// `most_bytes` bytes in total but at least one, and their numbers.
    pub fn answers(
        &self,
        session: SessionKey,
        most_bytes: usize,
        line: &dyn Fn(&Proposal) -> String,
    ) -> Result<(String, Vec<ProposalNumber>), StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM proposals WHERE session = ?1 AND told = 0 ORDER BY number");
        let (mut text, mut numbers) = (String::new(), Vec::new());
        for answer in self.connection.rows(&sql, [session.0], proposal)? {
            let line = line(&answer);
            if text.len() + line.len() > most_bytes && !text.is_empty() {
                break;
            }
            numbers.push(answer.number);
            text.push_str(&line);
        }
        Ok((text, numbers))
    }

    /// Returns outcomes as [`Store::answers`], and marks them as reported.
    pub fn take_answers(
        &self,
        session: SessionKey,
        most_bytes: usize,
        line: &dyn Fn(&Proposal) -> String,
    ) -> Result<String, StoreError> {
        let transaction = self.writing()?;
        let (text, numbers) = self.answers(session, most_bytes, line)?;
        numbers.into_iter().try_for_each(|number| self.mark_told(number))?;
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
        status: word(row, 7, ProposalStatus::from_name)?,
        answer: row.get(8)?,
        operation: row.get(9)?,
        count: row.get(10)?,
        time: row.get(11)?,
        message: row.get(12)?,
        request: row.get(13)?,
    })
}
