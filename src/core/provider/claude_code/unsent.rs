//! Data that the client stores beside the conversation and never sends: copies of results for its screen, snapshots of files, records of
//! requests.

use super::parse;
use crate::provider::UnsentRecord;
use crate::provider::json::{self, key_of, member, strings, text_of, with_values};
use serde_json::value::RawValue;

/// Minimum length of a text that leaves the copy of a result, in bytes, quotes included: the client reads shorter ones.
const LONG_TEXT: usize = 256;

/// The text in the place of a longer one, as JSON.
const REMOVED: &str = r#""[removed by aperture shrink]""#;

/// Classifies a row that the client never sends and does not link to others.
pub(super) fn record(row: &[u8]) -> Option<UnsentRecord> {
    let whole: &RawValue = json::first(row)?;
    let key = |name| key_of(member(whole, name));
    match &*text_of(member(whole, "type"))? {
        "file-history-snapshot" | "file-history-delta" => {
            Some(UnsentRecord::FileSnapshot { message: key("messageId")?, continues: key("snapshotMessageId") })
        }
        "api-request" | "api-request-blob" | "api-request-shape" => Some(UnsentRecord::Request),
        _ => None,
    }
}

/// Returns the copy of a result for the screen without its long texts; `None` if it has none.
pub(super) fn short_display(row: &[u8]) -> Option<Vec<u8>> {
    let copy = parse::fields(row)?.result?;
    let bytes = copy.get().as_bytes();
    let is_name = |end: usize| bytes[end..].trim_ascii_start().first() == Some(&b':');
    let texts =
        strings(bytes).into_iter().map(|(_, range)| range).filter(|range| range.len() >= LONG_TEXT && !is_name(range.end));
    // Data in base64 has no blanks; a sentence in its place would be wrong data.
    let is_text = |value: &[u8]| value.contains(&b' ');
    let edits: Vec<_> =
        texts.map(|range| (range.clone(), if is_text(&bytes[range]) { REMOVED } else { r#""""# }.into())).collect();
    (!edits.is_empty()).then(|| with_values(bytes, edits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Key;

    #[test]
    fn the_copy_of_a_result_keeps_its_shape_and_its_short_texts() {
        let long = "x".repeat(LONG_TEXT);
        let row = |copy: &str| format!(r#"{{"type":"user","uuid":"a","toolUseResult":{copy},"message":{{"content":"{long}"}}}}"#);
        let check = |copy: String, expected: Option<&str>| {
            let short = short_display(row(&copy).as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(short.as_deref(), expected, "{copy}");
        };
        check(format!(r#"{{"stdout": "{long}", "exit": 0}}"#), Some(r#"{"stdout": "", "exit": 0}"#));
        check(format!(r#"[{{"type":"text","text":"\"{long}"}},"{long}"]"#), Some(r#"[{"type":"text","text":""},""]"#));
        check(format!(r#"{{"{long}":1,"agentId":"a1"}}"#), None);
        check(format!(r#""{long}""#), Some(r#""""#));
        check(format!(r#""a b{long}""#), Some(REMOVED));
        check(r#""ok""#.to_owned(), None);
        assert_eq!(short_display(format!(r#"{{"type":"user","uuid":"a","message":"{long}"}}"#).as_bytes()), None);
    }

    #[test]
    fn rows_that_are_never_sent_are_told_apart() {
        let snapshot = |message: &str, continues: Option<&str>| {
            let key = Key::from_text;
            Some(UnsentRecord::FileSnapshot { message: key(message), continues: continues.map(key) })
        };
        for (row, expected) in [
            (r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#, snapshot("m", None)),
            (r#"{"type":"file-history-delta","messageId":"m","snapshotMessageId":"s"}"#, snapshot("m", Some("s"))),
            (r#"{"type":"file-history-snapshot","snapshot":{}}"#, None),
            (r#"{"type":"api-request","id":"r"}"#, Some(UnsentRecord::Request)),
            (r#"{"type":"api-request-resumed"}"#, None),
            (r#"{"type":"last-prompt","leafUuid":"m"}"#, None),
            (r#"{"type":"user","uuid":"m"}"#, None),
            ("{", None),
        ] {
            assert_eq!(record(row.as_bytes()), expected, "{row}");
        }
    }
}
