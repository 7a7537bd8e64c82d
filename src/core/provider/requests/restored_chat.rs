//! Withheld calls in a conversation of the Chat Completions API: put back between its messages, or among the calls of one.

use super::RequestDocument;
use super::calls::{BETWEEN_TEXTS, Occurrences, chat_calls, chat_keys, content, has_role};
use super::restored::filled;
use crate::model::{Key, ReplyPart, WithheldReply};
use crate::provider::ByteEdit;
use crate::provider::json::{member, range_in, text_of};
use serde_json::Value;
use serde_json::value::RawValue;

/// A message that the client joined from several: the texts of the earlier ones are cut off, or nothing of it is left.
enum Last {
    Cut(Vec<ByteEdit>),
    Empty,
}

/// Withheld calls are among the calls of the message that was continued by the client, and their results follow those of the client. If
/// they were alone, their message and their results precede the message that continues them, whose text begins with that of theirs.
pub(super) fn restored_in_chat(document: &RequestDocument<'_>, replies: &[WithheldReply]) -> (Vec<ByteEdit>, usize) {
    let bytes = document.bytes;
    let messages: Vec<&RawValue> = document.values("messages").collect();
    let mut seen = Occurrences::default();
    let mut gaps: Vec<Vec<&str>> = (0..=messages.len()).map(|_| Vec::new()).collect();
    let (mut edits, mut count) = (Vec::new(), 0);
    for (place, message) in messages.iter().enumerate().filter(|(_, message)| has_role(message, "assistant")) {
        let keys: Vec<Key> = chat_keys(message).into_iter().map(|key| seen.count(key)).collect();
        let before: Vec<&WithheldReply> =
            replies.iter().filter(|reply| reply.next.is_some_and(|next| keys.contains(&next))).collect();
        if let Some(last) = cut(bytes, message, &before) {
            count += before.len();
            gaps[place].extend(before.iter().flat_map(|reply| withheld(reply).chain(reply.results.iter().map(String::as_str))));
            match last {
                Last::Cut(cuts) => edits.extend(cuts),
                Last::Empty => {
                    edits.push((range_in(bytes, *message), std::mem::take(&mut gaps[place]).join(",").into_bytes()));
                    continue;
                }
            }
        }
        let is_here = |part: &ReplyPart| matches!(part, ReplyPart::Passed(key) if keys.contains(key));
        let beside = replies.iter().filter(|reply| reply.next.is_none() && reply.parts.iter().any(is_here));
        let mut calls: Vec<Vec<&str>> = (0..=keys.len()).map(|_| Vec::new()).collect();
        // The results of the client follow the message.
        let after = messages[place + 1..].iter().take_while(|message| has_role(message, "tool")).count() + place + 1;
        for reply in beside {
            let mut gap = 0;
            for part in &reply.parts {
                match part {
                    ReplyPart::Passed(key) => gap = keys.iter().position(|known| known == key).map_or(gap, |found| found + 1),
                    ReplyPart::Withheld(json) => calls[gap].push(json),
                }
            }
            gaps[after].extend(reply.results.iter().map(String::as_str));
            count += 1;
        }
        edits.extend(filled(bytes, &chat_calls(message), &calls));
    }
    edits.extend(filled(bytes, &messages, &gaps));
    (edits, count)
}

fn withheld(reply: &WithheldReply) -> impl Iterator<Item = &str> {
    reply.parts.iter().filter_map(|part| match part {
        ReplyPart::Withheld(json) => Some(json.as_str()),
        ReplyPart::Passed(_) => None,
    })
}

/// Returns a message without the texts of the messages before it; `None` if there are none, or its text does not begin with theirs.
fn cut(bytes: &[u8], message: &RawValue, before: &[&WithheldReply]) -> Option<Last> {
    if before.is_empty() {
        return None;
    }
    let earlier: Vec<Value> =
        before.iter().flat_map(|reply| withheld(reply)).map(|json| serde_json::from_str(json).unwrap_or_default()).collect();
    let mut edits: Vec<ByteEdit> = Vec::new();
    let whole = member(message, "content").filter(|content| content.get() != "null");
    let parts = content(message);
    // A list of parts has the text in its first one.
    let text = parts.first().map_or(whole, |part| member(part, "text"));
    if let (Some(whole), Some(text)) = (whole, text) {
        let before = text_of(Some(text))?;
        let rest = without(&before, &earlier, "content")?;
        if !rest.is_empty() {
            edits.push((range_in(bytes, text), Value::from(rest).to_string().into_bytes()));
        } else if before.is_empty() {
            // The message only calls tools.
        } else if parts.len() > 1 {
            return None;
        } else if chat_calls(message).is_empty() {
            return Some(Last::Empty);
        } else {
            edits.push((range_in(bytes, whole), b"null".to_vec()));
        }
    } else if earlier.iter().any(|message| message["content"].is_string()) {
        return None;
    }
    for name in ["reasoning_content", "reasoning"] {
        let value = member(message, name);
        let rest = text_of(value).and_then(|text| without(&text, &earlier, name));
        edits.extend(value.zip(rest).map(|(value, rest)| (range_in(bytes, value), Value::from(rest).to_string().into_bytes())));
    }
    Some(Last::Cut(edits))
}

/// Returns the rest of a text that begins with the texts of messages; `None` if it does not. Clients can trim texts.
fn without(text: &str, messages: &[Value], name: &str) -> Option<String> {
    let mut rest = text;
    for earlier in messages.iter().filter_map(|message| message[name].as_str()) {
        rest = rest.strip_prefix(earlier).or_else(|| rest.strip_prefix(earlier.trim()))?;
        rest = rest.strip_prefix(BETWEEN_TEXTS).unwrap_or(rest);
    }
    Some(rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{RequestApi, chat_call_key, chat_text_key, restored};
    use super::*;
    use crate::provider::EditedBytes;

    const OWN: &str = r#"{"id":"o1","function":{"name":"own"}}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"o1","content":"found"}"#;
    const ASK: &str = r#"{"role":"user","content":"ask"}"#;

    /// Returns a message that only calls the own tool.
    fn alone(text: &str) -> String {
        format!(r#"{{"role":"assistant","content":{text},"tool_calls":[{OWN}]}}"#)
    }

    fn reply(parts: Vec<ReplyPart>, next: Option<Key>) -> WithheldReply {
        WithheldReply { parts, results: vec![RESULT.to_owned()], next }
    }

    fn withheld(json: &str) -> ReplyPart {
        ReplyPart::Withheld(json.to_owned())
    }

    #[track_caller]
    fn check(messages: &[&str], replies: &[WithheldReply], expected: &[&str]) {
        let body = format!(r#"{{"messages":[{}],"x":1e400}}"#, messages.join(","));
        let document = RequestDocument::new(body.as_bytes()).unwrap();
        let (edits, count) = restored(RequestApi::Chat, &document, replies);
        let found = String::from_utf8(EditedBytes::new(document.bytes.len()).with(edits).bytes(document.bytes)).unwrap();
        assert_eq!(found, format!(r#"{{"messages":[{}],"x":1e400}}"#, expected.join(",")));
        assert_eq!(count == 0, messages == expected);
    }

    #[test]
    fn a_joined_message_is_divided_where_its_text_continues() {
        let both = [
            reply(vec![withheld(&alone(r#""I look.""#))], chat_text_key("I look.\n\nFound é.")),
            reply(vec![withheld(&alone("null"))], chat_text_key("I look.\n\nFound é.")),
        ];
        let said = |content: &str| format!(r#"{{"role":"assistant","content":{content}}}"#);
        let (first, second) = (alone(r#""I look.""#), alone("null"));
        let divided = [ASK, &first, RESULT, &second, RESULT];
        for (joined, rest) in [
            (r#""I look.\n\nFound é.""#, r#""Found é.""#),
            (r#"[{"type":"text","text":"I look.\n\nFound é."}]"#, r#"[{"type":"text","text":"Found é."}]"#),
        ] {
            check(&[ASK, &said(joined), ASK], &both, &[&divided[..], &[&said(rest), ASK]].concat());
        }
        let other = said(r#""Found é.""#);
        check(&[ASK, &other], &both, &[ASK, &other]);
        // Of equal texts, the order decides.
        let joined = said(r#""I look.\n\nFound é.""#);
        let mut seen = Occurrences::default();
        let key = chat_text_key("I look.\n\nFound é.").unwrap();
        seen.count(key);
        let second = [reply(both[0].parts.clone(), Some(seen.next(key)))];
        check(&[&joined, ASK, &joined], &second, &[&joined, ASK, &first, RESULT, &said(r#""Found é.""#)]);
        let ended = [reply(vec![withheld(&alone(r#""I look. ""#))], chat_text_key("I look."))];
        let said = r#"{"role":"assistant","content":"I look."}"#;
        check(&[ASK, said], &ended, &[ASK, &alone(r#""I look. ""#), RESULT]);
        check(&[ASK, said, ASK], &ended, &[ASK, &alone(r#""I look. ""#), RESULT, ASK]);
    }

    #[test]
    fn a_call_beside_those_of_the_client_gets_its_place_and_its_result() {
        let passed = |id| ReplyPart::Passed(chat_call_key(id));
        let replies = [
            reply(vec![withheld(&alone(r#""I look.""#))], Some(chat_call_key("c1"))),
            reply(vec![passed("c1"), withheld(OWN), passed("c2")], None),
        ];
        let call = |id: &str| format!(r#"{{"id":"{id}","type":"function"}}"#);
        let message = |content: &str, calls: &[&str]| {
            format!(r#"{{"role":"assistant","content":{content},"tool_calls":[{}]}}"#, calls.join(","))
        };
        let output = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"a"}}"#);
        let (c1, c2, first) = (call("c1"), call("c2"), alone(r#""I look.""#));
        check(
            &[ASK, &message(r#""I look.""#, &[&c1, &c2]), &output("c1"), &output("c2"), ASK],
            &replies,
            &[ASK, &first, RESULT, &message("null", &[&c1, OWN, &c2]), &output("c1"), &output("c2"), RESULT, ASK],
        );
        // Without a call of the client, its place is after the one before it.
        check(
            &[&message(r#""""#, &[&c1]), &output("c1")],
            &replies[1..],
            &[&message(r#""""#, &[&c1, OWN]), &output("c1"), RESULT],
        );
    }

    #[test]
    fn thinking_is_divided_like_the_text() {
        let first = r#"{"role":"assistant","content":null,"reasoning_content":"r1","tool_calls":[]}"#;
        let replies = [reply(vec![withheld(first)], chat_text_key("Found."))];
        let said = |thinking: &str| format!(r#"{{"role":"assistant","reasoning_content":"{thinking}","content":"Found."}}"#);
        check(&[&said(r"r1\n\nr2")], &replies, &[first, RESULT, &said("r2")]);
        check(&[&said("other")], &replies, &[first, RESULT, &said("other")]);
    }
}
