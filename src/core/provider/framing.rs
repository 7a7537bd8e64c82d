//! Framing: which bytes of a session are its rows.

use super::{json, requests};
use serde_json::value::RawValue;
use std::ops::Range;

/// The division of the bytes of a session into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Lines,
    /// The bytes are one JSON object. Each element of the arrays in these members is a row; any other value of such a member is
    /// one row, except `null`.
    ///
    /// The member `model` is a row too: its name and its value.
    Elements(&'static [&'static str]),
    /// Each line is a record with the body of a request, as gateways log them. The rows are those of the last such body, as for
    /// [`Framing::Elements`], and the messages of its answer if it follows the body in the record.
    Record(&'static [&'static str]),
}

/// The member of a body that names the model.
pub(super) const MODEL: &str = "model";

impl Framing {
    /// Returns the byte range of each row, in ascending order. Bytes that are not a JSON object are a single row of
    /// [`Framing::Elements`], so that they are reported as broken.
    pub fn rows(self, bytes: &[u8]) -> Vec<Range<usize>> {
        match self {
            Framing::Lines => lines(bytes),
            Framing::Elements(names) => elements(bytes, names),
            Framing::Record(names) => record(bytes, names),
        }
    }
}

fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        if !bytes[start..end].trim_ascii().is_empty() {
            rows.push(start..end);
        }
        start = end + 1;
    }
    rows
}

fn elements(bytes: &[u8], names: &[&str]) -> Vec<Range<usize>> {
    match json::document(bytes) {
        Some(document) => members(bytes, document, names),
        None if bytes.trim_ascii().is_empty() => Vec::new(),
        None => Vec::from([Range { start: 0, end: bytes.len() }]),
    }
}

fn members(bytes: &[u8], document: &RawValue, names: &[&str]) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    for name in names {
        // Of equal names the last one counts.
        let Some(value) = json::member(document, name).filter(|value| value.get() != "null") else { continue };
        match value.get().starts_with('[') {
            true => rows.extend(json::elements(value).into_iter().map(|element| json::range_in(bytes, element))),
            false => rows.push(json::range_in(bytes, value)),
        }
    }
    let model = json::member(document, MODEL).filter(|model| model.get().starts_with('"'));
    rows.extend(model.and_then(|model| model_member(bytes, json::range_in(bytes, model))));
    rows.sort_unstable_by_key(|row| row.start);
    rows
}

/// Returns the range of the member [`MODEL`] by that of its value; `None` if its name is written with escapes.
fn model_member(bytes: &[u8], value: Range<usize>) -> Option<Range<usize>> {
    let before = bytes[..value.start].trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let quoted = format!("\"{MODEL}\"");
    before.ends_with(quoted.as_bytes()).then(|| before.len() - quoted.len()..value.end)
}

fn record(bytes: &[u8], names: &[&str]) -> Vec<Range<usize>> {
    for line in lines(bytes).into_iter().rev() {
        let Some((record, body)) = json::document(&bytes[line]).and_then(|record| Some((record, requests::request_in(record)?)))
        else {
            continue;
        };
        let mut rows = members(bytes, body, names);
        let end = json::range_in(bytes, body).end;
        let answer = requests::answer_in(record).into_iter().map(|message| json::range_in(bytes, message));
        rows.extend(answer.filter(|row| row.start >= end || json::range_in(bytes, record) == json::range_in(bytes, body)));
        rows.sort_unstable_by_key(|row| row.start);
        return rows;
    }
    lines(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(framing: Framing, bytes: &str, expected: &[&str]) {
        let rows = framing.rows(bytes.as_bytes());
        assert_eq!(rows.into_iter().map(|row| &bytes[row]).collect::<Vec<_>>(), expected, "{bytes}");
    }

    #[test]
    fn each_framing_has_its_rows() {
        check(Framing::Lines, "", &[]);
        check(Framing::Lines, "a", &["a"]);
        check(Framing::Lines, "a\n\n \nb\r\n", &["a", "b\r"]);
        let framing = Framing::Elements(&["system", "messages"]);
        check(framing, r#"{"messages":[ {"a":[1]} ,2],"x":[3],"system":"s"}"#, &[r#"{"a":[1]}"#, "2", r#""s""#]);
        check(framing, "{\n \"system\" : [\"s\"],\"messages\":[]}", &[r#""s""#]);
        check(framing, r#"{"system":null}"#, &[]);
        check(framing, r#"{"system":["old"],"system":["new"]}"#, &[r#""new""#]);
        let framing = Framing::Elements(&["messages"]);
        check(framing, r#"{"messages":[1], "model" : "m"}"#, &["1", r#""model" : "m""#]);
        check(framing, r#"{"mod\u0065l":"m","messages":[1]}"#, &["1"]);
        check(framing, r#"{"model":null,"messages":[1]}"#, &["1"]);
        let framing = Framing::Record(&["messages"]);
        let old = r#"{"request":{"messages":[{"role":"user","content":"old"}]}}"#;
        let new = r#"{"request":{"model":"m","messages":[{"role":"user"}]},"response":{"choices":[{"message":{"role":"assistant","content":"b"}}]}}"#;
        let rows = [r#""model":"m""#, r#"{"role":"user"}"#, r#"{"role":"assistant","content":"b"}"#];
        check(framing, &format!("{old}\n{new}\n"), &rows);
        check(framing, &format!("{old}\n{new}\n{{\"half"), &rows);
        check(framing, "{}\nx", &["{}", "x"]);
        let framing = Framing::Elements(&["messages"]);
        for broken in ["{\"messages\":[", "[1]", "\"text\"", "{} {}"] {
            check(framing, broken, &[broken]);
        }
        check(framing, " \n", &[]);
        assert_eq!(framing.rows(b"{\"messages\":[\"\xff\"]}"), [Range { start: 0, end: 18 }]);
    }
}
