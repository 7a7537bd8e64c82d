//! The state of requests that pass a proxy: what was dropped, inserted and staged, and the calls that the proxy answered in the place of
//! the client.

use super::database::{Statements, Store, StoreError, StoredSession, first};
use super::rows::{SESSION, stored};
use crate::model::{
    BlockEdit, Key, OperationId, OperationState, ProposalNumber, ReplyPart, WindowChange, WithheldReply, request_id,
};
use rusqlite::types::Type;
use rusqlite::{Row, params};
use serde_json::value::RawValue;

/// The changes of contents by one operation, in the form that applies to any medium.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentOperation {
    pub id: OperationId,
    /// For an exact undo, redo or restore: the operation after which the contents were as they are after this one.
    pub point: Option<OperationId>,
    /// The changed contents, in the order of the session.
    pub edits: Vec<BlockEdit>,
    pub window: Option<WindowChange>,
}

/// The state of a line of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireLine {
    /// The operation up to which the log was in force in the last request.
    pub point: OperationId,
    /// Hashes of the thinking that is no longer sent, and of the prompts without the reminder of the client.
    pub dropped: Vec<Key>,
    /// The reason why requests are sent as the client writes them.
    pub observed: Option<String>,
    /// The operations whose contents the last request did not have.
    pub unapplied: Vec<OperationId>,
}

/// A text that requests contain after a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// Hash of the content of the prompt.
    pub anchor: Key,
    /// Number of equal prompts before it.
    pub occurrence: u32,
    pub text: String,
}

/// A text that waits for the next prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedText {
    /// Its number, unique in the store.
    pub number: i64,
    pub text: String,
}

impl Store {
    /// Returns a number that differs after any other connection changed the store.
    pub fn version(&self) -> Result<i64, StoreError> {
        Ok(self.connection.query_row("PRAGMA data_version", [], first)?)
    }

    /// Returns the sessions with this id: those with a file first, then the newest.
    pub fn sessions_with_id(&self, id: &str) -> Result<Vec<StoredSession>, StoreError> {
        let sql = format!("{SESSION} WHERE session = seal(?1) ORDER BY id DESC");
        let mut sessions = self.connection.rows(&sql, [id], stored)?;
        sessions.sort_by_key(|session| request_id(&session.path).is_some());
        Ok(sessions)
    }

    /// Returns what the operations of a session changed in its contents, oldest first: the committed and the deferred ones, and those
    /// that were dropped, each followed by its undo.
    pub fn content_operations(&self, session: &StoredSession) -> Result<Vec<ContentOperation>, StoreError> {
        let sql = "SELECT number, point FROM operations WHERE session = ?1
                   AND (state IN (?2, ?3, ?4) OR state = ?5 AND deferred = 1) ORDER BY number";
        use OperationState::{Committed, Deferred, Dropped, Prepared};
        let [committed, deferred, dropped, prepared] = [Committed, Deferred, Dropped, Prepared].map(OperationState::name);
        let values = params![session.key.0, committed, deferred, dropped, prepared];
        let points = self.connection.rows(sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let operation = |(id, point)| {
            let (edits, window) = (self.block_edits(session.key, id)?, self.window_change(session.key, id)?);
            Ok(ContentOperation { id, point, edits, window })
        };
        points.into_iter().map(operation).collect()
    }

    /// Returns the state of a line of requests; `None` before the first request that was changed.
    pub fn wire_line(&self, session: &str, line: &str) -> Result<Option<WireLine>, StoreError> {
        let sql =
            "SELECT point, open(dropped), open(observed), unapplied FROM wire_lines WHERE session = seal(?1) AND line = seal(?2)";
        Ok(self.connection.row(sql, [session, line], |row| {
            let dropped: Vec<u8> = row.get(1)?;
            let keys = dropped.chunks(16).map(|bytes| key(bytes, 1)).collect::<Result<_, _>>()?;
            let unapplied: Vec<u8> = row.get(3)?;
            let number = |bytes: &[u8; 4]| OperationId::from_be_bytes(*bytes);
            let unapplied = unapplied.as_chunks().0.iter().map(number).collect();
            Ok(WireLine { point: row.get(0)?, dropped: keys, observed: row.get(2)?, unapplied })
        })?)
    }

    pub fn save_wire_line(&self, session: &str, line: &str, state: &WireLine) -> Result<(), StoreError> {
        let dropped: Vec<u8> = state.dropped.iter().flat_map(|key| key.0.to_be_bytes()).collect();
        let unapplied: Vec<u8> = state.unapplied.iter().flat_map(|operation| operation.to_be_bytes()).collect();
        let sql = "INSERT OR REPLACE INTO wire_lines (session, line, point, dropped, observed, unapplied)
                   VALUES (seal(?1), seal(?2), ?3, seal(?4), seal(?5), ?6)";
        self.connection.change(sql, params![session, line, state.point, dropped, state.observed, unapplied])
    }

    /// Returns the sessions whose last request did not have the contents of an operation.
    pub fn sessions_with_unapplied(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT open(session) AS id FROM wire_lines WHERE line = seal('') AND unapplied <> x'' AND observed IS NULL ORDER BY id";
        Ok(self.connection.rows(sql, [], first)?)
    }

    /// Returns the reason why requests of a session are no longer changed, the first time that it is called after they are not.
    pub fn take_refusal(&self, session: &str) -> Result<Option<String>, StoreError> {
        let sql = "UPDATE wire_lines SET announced = 1
                   WHERE session = seal(?1) AND line = seal('') AND observed IS NOT NULL AND announced = 0 RETURNING open(observed)";
        Ok(self.connection.row(sql, [session], first)?)
    }

    /// Returns the texts that requests of a line contain, oldest first.
    pub fn insertions(&self, session: &str, line: &str) -> Result<Vec<Insertion>, StoreError> {
        let sql = "SELECT open(anchor), occurrence, open(text) FROM wire_insertions WHERE session = seal(?1) AND line = seal(?2) ORDER BY number";
        Ok(self.connection.rows(sql, [session, line], |row| {
            let anchor: Vec<u8> = row.get(0)?;
            Ok(Insertion { anchor: key(&anchor, 0)?, occurrence: row.get(1)?, text: row.get(2)? })
        })?)
    }

    /// Stores a text that requests of a line contain from now on, deletes the staged texts that it consists of, and marks the outcomes of
    /// proposals in it as reported, in one transaction.
    pub fn insert_text(
        &self,
        session: &str,
        line: &str,
        insertion: &Insertion,
        staged: &[StagedText],
        told: &[ProposalNumber],
        time: i64,
    ) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        let sql =
            "INSERT INTO wire_insertions SELECT seal(?1), seal(?2), COALESCE(MAX(number), 0) + 1, seal(?3), ?4, seal(?5), ?6
                   FROM wire_insertions WHERE session = seal(?1) AND line = seal(?2)";
        let anchor = insertion.anchor.0.to_be_bytes();
        transaction.run(sql, params![session, line, anchor, insertion.occurrence, insertion.text, time])?;
        for text in staged {
            transaction.run("DELETE FROM staged_texts WHERE number = ?1", [text.number])?;
        }
        told.iter().try_for_each(|number| self.mark_told(*number))?;
        Ok(transaction.commit()?)
    }

    pub fn record_proxy(&self, session: &str, process: u32) -> Result<(), StoreError> {
        self.connection.change("INSERT OR REPLACE INTO wire_sessions VALUES (seal(?1), ?2)", params![session, process])
    }

    /// Returns the process of the proxy that the requests of a session passed last.
    pub fn proxy_of(&self, session: &str) -> Result<Option<u32>, StoreError> {
        let sql = "SELECT process FROM wire_sessions WHERE session = seal(?1)";
        Ok(self.connection.row(sql, [session], first)?)
    }

    pub fn stage(&self, session: &str, text: &str, time: i64) -> Result<(), StoreError> {
        let sql = "INSERT INTO staged_texts (session, text, time) VALUES (seal(?1), seal(?2), ?3)";
        self.connection.change(sql, params![session, text, time])
    }

    pub fn staged(&self, session: &str) -> Result<Vec<StagedText>, StoreError> {
        let sql = "SELECT number, open(text) FROM staged_texts WHERE session = seal(?1) ORDER BY number";
        Ok(self.connection.rows(sql, [session], |row| Ok(StagedText { number: row.get(0)?, text: row.get(1)? }))?)
    }

    pub fn unstage(&self, session: &str) -> Result<usize, StoreError> {
        Ok(self.connection.run("DELETE FROM staged_texts WHERE session = seal(?1)", [session])?)
    }

    /// Returns true if the requests of a line offer the tool; `None` before it was decided.
    pub fn offers_tool(&self, session: &str, line: &str) -> Result<Option<bool>, StoreError> {
        let sql = "SELECT offered FROM wire_tools WHERE session = seal(?1) AND line = seal(?2)";
        Ok(self.connection.row(sql, [session, line], first)?)
    }

    pub fn save_offer(&self, session: &str, line: &str, offered: bool) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO wire_tools VALUES (seal(?1), seal(?2), ?3)";
        self.connection.change(sql, params![session, line, offered])
    }

    /// Returns the responses of a line with withheld calls, oldest first.
    pub fn withheld_replies(&self, session: &str, line: &str) -> Result<Vec<WithheldReply>, StoreError> {
        let sql = "SELECT open(parts), open(results), open(next) FROM wire_calls WHERE session = seal(?1) AND line = seal(?2) ORDER BY number";
        Ok(self.connection.rows(sql, [session, line], |row| {
            let next: Option<Vec<u8>> = row.get(2)?;
            let parts = elements(row, 0)?.into_iter().map(part).collect();
            let next = next.map(|next| key(&next, 2)).transpose()?;
            Ok(WithheldReply { parts, results: elements(row, 1)?, next })
        })?)
    }

    pub fn add_withheld_replies(
        &self,
        session: &str,
        line: &str,
        replies: &[WithheldReply],
        time: i64,
    ) -> Result<(), StoreError> {
        let transaction = self.writing()?;
        let sql =
            "INSERT INTO wire_calls SELECT seal(?1), seal(?2), COALESCE(MAX(number), 0) + 1, seal(?3), seal(?4), seal(?5), ?6
                   FROM wire_calls WHERE session = seal(?1) AND line = seal(?2)";
        for reply in replies {
            let parts: Vec<String> = reply.parts.iter().map(text).collect();
            let array = |elements: &[String]| format!("[{}]", elements.join(","));
            let next = reply.next.map(|next| next.0.to_be_bytes());
            transaction.run(sql, params![session, line, array(&parts), array(&reply.results), next, time])?;
        }
        Ok(transaction.commit()?)
    }
}

fn key(bytes: &[u8], column: usize) -> rusqlite::Result<Key> {
    let wrong = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error));
    bytes.try_into().map(|bytes| Key(u128::from_be_bytes(bytes))).map_err(wrong)
}

fn elements(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let text: String = row.get(column)?;
    let wrong = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    let elements: Vec<&RawValue> = serde_json::from_str(&text).map_err(wrong)?;
    Ok(elements.into_iter().map(|element| element.get().to_owned()).collect())
}

/// Reads a content block: a hash in quotes, or the JSON of a withheld one.
fn part(text: String) -> ReplyPart {
    let hash = text.trim_matches('"');
    u128::from_str_radix(hash, 16).map_or(ReplyPart::Withheld(text.clone()), |hash| ReplyPart::Passed(Key(hash)))
}

fn text(part: &ReplyPart) -> String {
    match part {
        ReplyPart::Passed(key) => format!("\"{:032x}\"", key.0),
        ReplyPart::Withheld(json) => json.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::request_path;
    use std::path::Path;

    #[test]
    fn a_line_is_stored_by_session_and_name() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        assert_eq!(store.wire_line("s", "").unwrap(), None);
        let line = WireLine {
            point: 3,
            dropped: vec![Key(1), Key(u128::MAX)],
            observed: Some("refused".to_owned()),
            unapplied: vec![7, 8],
        };
        store.save_wire_line("s", "", &line).unwrap();
        store.save_wire_line("s", "agent", &WireLine::default()).unwrap();
        assert_eq!(store.wire_line("s", "").unwrap(), Some(line));
        assert_eq!(store.wire_line("s", "agent").unwrap(), Some(WireLine::default()));
        assert_eq!(store.take_refusal("agent").unwrap(), None);
        assert_eq!(store.take_refusal("s").unwrap().as_deref(), Some("refused"));
        assert_eq!(store.take_refusal("s").unwrap(), None, "once");
        assert!(store.sessions_with_unapplied().unwrap().is_empty(), "its requests are not changed at all");
        store.save_wire_line("s", "", &WireLine { unapplied: vec![7], ..WireLine::default() }).unwrap();
        assert_eq!(store.sessions_with_unapplied().unwrap(), ["s"]);
    }

    #[test]
    fn a_session_with_a_file_precedes_one_in_requests() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        for path in [Path::new("/old/s.jsonl"), Path::new("/s.jsonl"), &request_path("s")] {
            store.register("codex", "s", path, "").unwrap();
        }
        let paths: Vec<_> = store.sessions_with_id("s").unwrap().into_iter().map(|session| session.path).collect();
        assert_eq!(paths, [Path::new("/s.jsonl"), Path::new("/old/s.jsonl"), &request_path("s")]);
    }

    #[test]
    fn an_inserted_text_takes_the_staged_ones_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        for text in ["a", "b"] {
            store.stage("s", text, 1).unwrap();
        }
        store.stage("other", "c", 1).unwrap();
        let staged = store.staged("s").unwrap();
        assert_eq!(staged.iter().map(|staged| &*staged.text).collect::<Vec<_>>(), ["a", "b"]);
        let insertion = |anchor, text: &str| Insertion { anchor: Key(anchor), occurrence: 0, text: text.to_owned() };
        store.insert_text("s", "", &insertion(7, "ab"), &staged, &[], 2).unwrap();
        store.insert_text("s", "", &insertion(8, "later"), &[], &[], 3).unwrap();
        assert_eq!(store.staged("s").unwrap(), []);
        assert_eq!(store.insertions("s", "").unwrap(), [insertion(7, "ab"), insertion(8, "later")]);
        assert_eq!(store.insertions("s", "agent").unwrap(), []);
        assert_eq!(store.unstage("other").unwrap(), 1);
    }

    #[test]
    fn calls_are_stored_by_session_and_line_in_their_order() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        assert_eq!(store.offers_tool("s", "").unwrap(), None);
        store.save_offer("s", "", true).unwrap();
        store.save_offer("other", "", false).unwrap();
        assert_eq!((store.offers_tool("s", "").unwrap(), store.offers_tool("other", "").unwrap()), (Some(true), Some(false)));
        let reply = |number: u128, next| WithheldReply {
            parts: vec![ReplyPart::Passed(Key(number)), ReplyPart::Withheld(r#"{"id":"é \"1\""}"#.to_owned())],
            results: vec![r#"{"content":"a"}"#.to_owned(), "{}".to_owned()],
            next,
        };
        let replies = [reply(7, None), reply(u128::MAX, Some(Key(8)))];
        store.add_withheld_replies("s", "", &replies[..1], 1).unwrap();
        store.add_withheld_replies("s", "", &replies[1..], 1).unwrap();
        assert_eq!(store.withheld_replies("s", "").unwrap(), replies);
        assert_eq!(store.withheld_replies("s", "agent").unwrap(), []);
    }
}
