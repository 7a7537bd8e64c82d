//! A body as lines: those of a conversation that grows begin with those of the request before.

use super::{RequestApi, RequestDocument};
use crate::provider::json::{self, elements, members, range_in};
use crate::provider::{body_capacity, framing};
use serde_json::value::RawValue;
use std::ops::Range;

/// The member that marks the end of a cached prefix; it moves from message to message.
const CACHE_MARK: &str = "cache_control";

/// Returns the model and the elements of a body, each in a line: what is before the conversation comes first. The format is that of
/// [`RequestApi::lines_format`].
pub fn session_lines(api: RequestApi, body: &RequestDocument<'_>) -> Vec<u8> {
    let mut lines = Vec::with_capacity(body_capacity(body.bytes.len()));
    if let Some(model) = body.member(framing::MODEL) {
        lines.extend_from_slice(format!("\"{}\":{}\n", framing::MODEL, model.get()).as_bytes());
    }
    for value in api.members().iter().filter_map(|name| body.member(name)) {
        let rows = if value.get().starts_with('[') { elements(value) } else { vec![value] };
        for row in rows {
            let line = json::with_values(row.get().as_bytes(), marks(row));
            // Between the tokens of JSON only.
            lines.extend(line.into_iter().map(|byte| if byte == b'\n' { b' ' } else { byte }));
            lines.push(b'\n');
        }
    }
    lines
}

/// Returns the edits that remove the marks of an element and of its contents.
fn marks(element: &RawValue) -> Vec<(Range<usize>, Vec<u8>)> {
    let whole = element.get().as_bytes();
    if memchr::memmem::find(whole, CACHE_MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    let contents = json::member(element, "content").map(elements).unwrap_or_default();
    let marked = contents.into_iter().chain([element]);
    marked.filter_map(|object| Some((mark(whole, object)?, Vec::new()))).collect()
}

/// Returns the bytes of the mark of an object, with its comma.
fn mark(whole: &[u8], object: &RawValue) -> Option<Range<usize>> {
    let members = members(object);
    let place = members.iter().position(|(name, _)| name == CACHE_MARK)?;
    let value = range_in(whole, members[place].1);
    if let Some((_, before)) = place.checked_sub(1).map(|before| &members[before]) {
        return Some(range_in(whole, *before).end..value.end);
    }
    let start = range_in(whole, object).start + 1;
    let comma = memchr::memchr(b',', &whole[value.end..]).filter(|_| members.len() > 1);
    Some(start..comma.map_or(value.end, |comma| value.end + comma + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(api: RequestApi, body: &str, expected: &[&str]) {
        let lines = session_lines(api, &RequestDocument::new(body.as_bytes()).unwrap());
        assert_eq!(String::from_utf8(lines).unwrap().lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_conversation_is_last() {
        check(
            RequestApi::Messages,
            r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"t"}],"system":"s","model":"m"}"#,
            &[r#""model":"m""#, r#""s""#, r#"{"name":"t"}"#, r#"{"role":"user","content":"a"}"#],
        );
        let items = [r#""i""#, r#"{"type":"message","role":"user"}"#];
        check(RequestApi::Responses, r#"{"input":[{"type":"message","role":"user"}],"instructions":"i"}"#, &items);
        check(RequestApi::Chat, "{\"messages\":[{\n\"role\":\"user\"}]}", &[r#"{ "role":"user"}"#]);
    }

    #[test]
    fn marks_of_the_cache_leave_no_trace() {
        let mark = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
        let plain = r#"{"role":"user","content":[{"type":"text","text":"cache_control"}]}"#;
        for marked in [
            format!(r#"{{"role":"user","content":[{{"type":"text","text":"cache_control", {mark}}}]}}"#),
            format!(r#"{{{mark},"role":"user","content":[{{"type":"text","text":"cache_control"}}]}}"#),
            format!(r#"{{"role":"user","content":[{{"type":"text",{mark},"text":"cache_control"}}],{mark}}}"#),
        ] {
            check(RequestApi::Messages, &format!(r#"{{"messages":[{marked}]}}"#), &[plain]);
        }
        check(RequestApi::Messages, &format!(r#"{{"messages":[{{{mark}}}]}}"#), &["{}"]);
    }
}
