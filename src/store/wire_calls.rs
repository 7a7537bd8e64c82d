//! The calls that a proxy answered in the place of the client, and which conversations have the tool for them.

use super::database::{Store, StoreError, damaged};
use super::wire::key;
use crate::model::{Key, ReplyPart, WithheldReply};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::value::RawValue;

impl Store {
    /// Returns true if the requests of a line offer the tool; `None` before it was decided.
    pub fn offers_tool(&self, session: &str, line: &str) -> Result<Option<bool>, StoreError> {
        let sql = "SELECT offered FROM wire_tools WHERE session = seal(?1) AND line = seal(?2)";
        Ok(self.connection.prepare_cached(sql)?.query_row([session, line], |row| row.get(0)).optional()?)
    }

    pub fn save_offer(&self, session: &str, line: &str, offered: bool) -> Result<(), StoreError> {
        self.connection
            .execute("INSERT OR REPLACE INTO wire_tools VALUES (seal(?1), seal(?2), ?3)", params![session, line, offered])?;
        Ok(())
    }

    /// Returns the responses of a line with withheld calls, oldest first.
    pub fn withheld_replies(&self, session: &str, line: &str) -> Result<Vec<WithheldReply>, StoreError> {
        let sql = "SELECT open(parts), open(results), open(next) FROM wire_calls WHERE session = seal(?1) AND line = seal(?2) ORDER BY number";
        let read = |row: &Row<'_>| {
            let next: Option<Vec<u8>> = row.get(2)?;
            let parts = elements(row, 0)?.into_iter().map(part).collect();
            let next = next.map(|next| key(&next, 2)).transpose()?;
            Ok(WithheldReply { parts, results: elements(row, 1)?, next })
        };
        let mut select = self.connection.prepare_cached(sql)?;
        select.query_map([session, line], read)?.collect::<Result<_, _>>().map_err(damaged)
    }

    /// Stores responses of a line with withheld calls, in one transaction.
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
            transaction.execute(sql, params![session, line, array(&parts), array(&reply.results), next, time])?;
        }
        transaction.commit()?;
        Ok(())
    }
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
