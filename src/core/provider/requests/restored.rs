//! Withheld calls in a conversation: put back between the blocks that the client has.

use super::calls::{Occurrences, content, has_role, key_of_block, key_of_item};
use super::restored_chat::restored_in_chat;
use super::{RequestApi, RequestDocument};
use crate::model::{Key, ReplyPart, WithheldReply};
use crate::provider::ByteEdit;
use crate::provider::json::{elements, equals, member, range_in};
use serde_json::value::RawValue;
use std::ops::Range;

/// Returns the edits that put withheld calls and their results back into the conversation, and their number. Others are left out.
pub fn restored(api: RequestApi, document: &RequestDocument<'_>, replies: &[WithheldReply]) -> (Vec<ByteEdit>, usize) {
    match api {
        _ if replies.is_empty() => (Vec::new(), 0),
        RequestApi::Messages => restored_in_messages(document, replies),
        RequestApi::Responses => restored_in_items(document, replies),
        RequestApi::Chat => restored_in_chat(document, replies),
    }
}

/// Withheld calls precede the block that continues them, together with their results, or follow the block before them.
fn restored_in_items(document: &RequestDocument<'_>, replies: &[WithheldReply]) -> (Vec<ByteEdit>, usize) {
    let items: Vec<&RawValue> = document.values("input").collect();
    let mut seen = Occurrences::default();
    let keys: Vec<Option<Key>> = items.iter().map(|item| key_of_item(item).map(|key| seen.count(key))).collect();
    let find = |part: &ReplyPart| match part {
        ReplyPart::Passed(key) => keys.iter().position(|known| *known == Some(*key)),
        ReplyPart::Withheld(_) => None,
    };
    // The elements before each item, and after the last one.
    let mut gaps: Vec<Vec<&str>> = (0..=items.len()).map(|_| Vec::new()).collect();
    let mut count = 0;
    for reply in replies {
        let last = reply.parts.iter().rev().find_map(&find).map(|place| place + 1);
        let next = reply.next.map(|next| find(&ReplyPart::Passed(next)));
        // The results follow all calls of the response.
        let Some(results) = next.unwrap_or(last) else { continue };
        for (index, part) in reply.parts.iter().enumerate() {
            let ReplyPart::Withheld(json) = part else { continue };
            let before = reply.parts[..index].iter().rev().find_map(&find).map(|place| place + 1);
            let after = || reply.parts[index..].iter().find_map(&find);
            gaps[before.or_else(after).unwrap_or(results).min(results)].push(json);
        }
        gaps[results].extend(reply.results.iter().map(String::as_str));
        count += 1;
    }
    (filled(document.bytes, &items, &gaps), count)
}

/// Returns the edits that add elements to an array: those before each of its elements, and after the last one.
pub(super) fn filled(bytes: &[u8], elements: &[&RawValue], gaps: &[Vec<&str>]) -> Vec<ByteEdit> {
    let edit = |(place, added): (usize, &Vec<&str>)| {
        let added = added.join(",");
        Some(match (elements.get(place), elements.last()) {
            (Some(element), _) => (range_in(bytes, *element).start, format!("{added},")),
            (None, Some(last)) => (range_in(bytes, *last).end, format!(",{added}")),
            (None, None) => return None,
        })
    };
    let gaps = gaps.iter().enumerate().filter(|(_, added)| !added.is_empty());
    gaps.filter_map(edit).map(|(place, added)| (place..place, added.into_bytes())).collect()
}

fn restored_in_messages(document: &RequestDocument<'_>, replies: &[WithheldReply]) -> (Vec<ByteEdit>, usize) {
    let messages: Vec<&RawValue> = document.values("messages").collect();
    let mut seen = Occurrences::default();
    let mut left: Vec<&WithheldReply> = replies.iter().collect();
    let mut edits = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        if left.is_empty() {
            break;
        }
        if !has_role(message, "assistant") {
            continue;
        }
        let Some(mut answer) = Answer::new(document.bytes, message, &mut seen) else { continue };
        let following = messages.get(place + 1).filter(|following| has_role(following, "user"));
        left.retain(|reply| !answer.take(reply, following.is_some()));
        if let Some(following) = following.filter(|_| !answer.results.is_empty()) {
            match with_results(document.bytes, following, &answer.results.join(",")) {
                Some(edit) => edits.push(edit),
                None => continue,
            }
        }
        edits.extend(answer.edits());
    }
    (edits, replies.len() - left.len())
}

/// Something that is put between two content blocks.
enum Fragment<'r> {
    Block(&'r str),
    /// The results after which the model continued: the message is divided here.
    Results(String),
}

/// A message of the model as the client sends it.
struct Answer<'a, 'r> {
    bytes: &'a [u8],
    range: Range<usize>,
    parts: Vec<(Range<usize>, Option<Key>)>,
    /// The fragments before each content block, and after the last one.
    gaps: Vec<Vec<Fragment<'r>>>,
    results: Vec<String>,
}

impl<'a, 'r> Answer<'a, 'r> {
    /// `None` if the message has no content blocks.
    fn new(bytes: &'a [u8], message: &'a RawValue, seen: &mut Occurrences) -> Option<Answer<'a, 'r>> {
        let part = |part: &'a RawValue| {
            let key = key_of_block(part).map(|key| seen.count(key));
            (range_in(bytes, part), key)
        };
        let parts: Vec<_> = content(message).into_iter().map(part).collect();
        let gaps = (0..=parts.len()).map(|_| Vec::new()).collect();
        (!parts.is_empty()).then(|| Answer { bytes, range: range_in(bytes, message), parts, gaps, results: Vec::new() })
    }

    fn find(&self, part: &ReplyPart) -> Option<usize> {
        let ReplyPart::Passed(key) = part else { return None };
        self.parts.iter().position(|(_, known)| known == &Some(*key))
    }

    /// Places a reply, if this message contains it.
    fn take(&mut self, reply: &'r WithheldReply, is_followed: bool) -> bool {
        let passed = |part: &&ReplyPart| matches!(part, ReplyPart::Passed(_));
        let last = reply.parts.iter().rfind(passed);
        let is_here = last.is_none_or(|last| self.find(last).is_some());
        let cut = reply.next.map(|next| self.find(&ReplyPart::Passed(next)));
        let cut = match cut {
            Some(Some(cut)) if is_here => Some(cut),
            // Without a block of its own, a reply is in the message that continues it.
            None if is_here && last.is_some() && is_followed => None,
            _ => return false,
        };
        let mut places = Vec::new();
        for (index, part) in reply.parts.iter().enumerate() {
            let ReplyPart::Withheld(json) = part else { continue };
            let before = reply.parts[..index].iter().rev().find_map(|part| self.find(part)).map(|place| place + 1);
            let after = || reply.parts[index..].iter().find_map(|part| self.find(part));
            let Some(place) = before.or_else(after).or(cut) else { return false };
            places.push((cut.map_or(place, |cut| cut.min(place)), json));
        }
        for (place, json) in places {
            self.gaps[place].push(Fragment::Block(json));
        }
        match cut {
            Some(cut) => self.gaps[cut].push(Fragment::Results(reply.results.join(","))),
            None => self.results.extend(reply.results.iter().cloned()),
        }
        true
    }

    fn edits(&self) -> Vec<ByteEdit> {
        let (Some((first, _)), Some((last, _))) = (self.parts.first(), self.parts.last()) else { return Vec::new() };
        let text = |range: Range<usize>| String::from_utf8_lossy(&self.bytes[range]).into_owned();
        let (head, tail) = (text(self.range.start..first.start), text(last.end..self.range.end));
        let gaps = self.gaps.iter().enumerate().filter(|(_, fragments)| !fragments.is_empty());
        let edit = |(place, fragments): (usize, &Vec<Fragment<'_>>)| {
            let start = place.checked_sub(1).map_or(first.start, |before| self.parts[before].0.end);
            let end = self.parts.get(place).map_or(last.end, |(range, _)| range.start);
            let (mut written, mut has_block) = (String::new(), place > 0);
            for fragment in fragments {
                match fragment {
                    Fragment::Block(json) => {
                        written.push_str(if has_block { "," } else { "" });
                        written.push_str(json);
                        has_block = true;
                    }
                    Fragment::Results(results) => {
                        written.push_str(&format!(r#"{tail},{{"role":"user","content":[{results}]}},{head}"#));
                        has_block = false;
                    }
                }
            }
            if place < self.parts.len() && has_block {
                written.push(',');
            }
            (start..end, written.into_bytes())
        };
        gaps.map(edit).collect()
    }
}

/// Returns the edit that adds results to a message of the user, after those of the client and before everything else.
fn with_results(bytes: &[u8], message: &RawValue, results: &str) -> Option<ByteEdit> {
    let content = member(message, "content")?;
    let range = range_in(bytes, content);
    if content.get().starts_with('"') {
        let whole = format!(r#"[{results},{{"type":"text","text":{}}}]"#, content.get());
        return Some((range, whole.into_bytes()));
    }
    let parts = elements(content);
    let is_result = |part: &&&RawValue| equals(member(part, "type"), "tool_result");
    let insert = |place: usize, text: String| Some((place..place, text.into_bytes()));
    match (parts.iter().rfind(is_result), parts.first()) {
        (Some(last), _) => insert(range_in(bytes, *last).end, format!(",{results}")),
        (None, Some(first)) => insert(range_in(bytes, *first).start, format!("{results},")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::EditedBytes;

    const OWN: &str = r#"{"type":"tool_use","id":"o1","name":"own","input":{}}"#;
    const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"o1","content":"found"}"#;

    fn text(document: &RequestDocument<'_>, edits: Vec<ByteEdit>) -> String {
        String::from_utf8(EditedBytes::new(document.bytes.len()).with(edits).bytes(document.bytes)).unwrap()
    }

    fn passed(kind: &str, lasting: &str) -> ReplyPart {
        ReplyPart::Passed(Key::from_bytes(format!("{kind}:{lasting}").as_bytes()))
    }

    fn reply(parts: &[ReplyPart], next: Option<&str>) -> WithheldReply {
        let next = next.map(|next| Key::from_bytes(next.as_bytes()));
        WithheldReply { parts: parts.to_vec(), results: vec![RESULT.to_owned()], next }
    }

    fn own() -> ReplyPart {
        ReplyPart::Withheld(OWN.to_owned())
    }

    /// Checks the messages after the restoration; each is valid JSON.
    #[track_caller]
    fn check(messages: &str, replies: &[WithheldReply], expected: &str) {
        let body = format!(r#"{{"messages":{messages},"x":1e400}}"#);
        let document = RequestDocument::new(body.as_bytes()).unwrap();
        let (edits, count) = restored(RequestApi::Messages, &document, replies);
        let found = text(&document, edits);
        let expected = expected.replace("OWN", OWN).replace("RESULT", RESULT);
        assert_eq!(found, format!(r#"{{"messages":{expected},"x":1e400}}"#));
        serde_json::from_str::<serde_json::Value>(&found.replace("1e400", "1")).unwrap();
        assert_eq!(count == 0, messages == expected);
    }

    #[test]
    fn a_message_is_divided_before_the_continuation() {
        let alone = [reply(&[passed("text", "I look."), own()], Some("thinking:s2"))];
        let thinking = r#"{"type":"thinking","thinking":"","signature":"s2"}"#;
        check(
            &format!(
                r#"[{{"role":"user","content":"ask"}},{{"role":"assistant","content":[{{"type":"text","text":"I look."}}, {thinking}], "x":1}}]"#
            ),
            &alone,
            &format!(
                r#"[{{"role":"user","content":"ask"}},{{"role":"assistant","content":[{{"type":"text","text":"I look."}},OWN], "x":1}},{{"role":"user","content":[RESULT]}},{{"role":"assistant","content":[{thinking}], "x":1}}]"#
            ),
        );
        // Without the continuation, the call is left out.
        let cut = r#"[{"role":"assistant","content":[{"type":"text","text":"I look."}]},{"role":"user","content":"no"}]"#;
        check(cut, &alone, cut);
        let replies = [reply(&[own()], Some("text:Found.")), reply(&[own()], Some("text:Found."))];
        check(
            r#"[{"content":[{"type":"text","text":"Found."}],"role":"assistant"}]"#,
            &replies,
            r#"[{"content":[OWN],"role":"assistant"},{"role":"user","content":[RESULT]},{"content":[OWN],"role":"assistant"},{"role":"user","content":[RESULT]},{"content":[{"type":"text","text":"Found."}],"role":"assistant"}]"#,
        );
    }

    #[test]
    fn equal_texts_are_told_apart_by_their_order() {
        let text = r#"{"role":"assistant","content":[{"type":"text","text":"Found."}]}"#;
        let ask = r#"{"role":"user","content":"ask"}"#;
        let before = format!("[{text},{ask}]");
        let body = format!(r#"{{"messages":{before}}}"#);
        let seen = Occurrences::of(RequestApi::Messages, body.as_bytes());
        let next = seen.next(Key::from_bytes(b"text:Found."));
        let again = [WithheldReply { next: Some(next), ..reply(&[own()], None) }];
        check(&before, &again, &before);
        let called = r#"{"role":"assistant","content":[OWN]},{"role":"user","content":[RESULT]}"#;
        check(&format!("[{text},{ask},{text}]"), &again, &format!("[{text},{ask},{called},{text}]"));
    }

    #[test]
    fn a_call_beside_those_of_the_client_gets_its_place_and_its_result() {
        let beside = [reply(&[passed("tool_use", "t1"), own(), passed("tool_use", "t2")], None)];
        let [t1, t2] = ["t1", "t2"].map(|id| format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#));
        let [r1, r2] = ["t1", "t2"].map(|id| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"a"}}"#));
        let note = r#"{"type":"text","text":"note"}"#;
        check(
            &format!(r#"[{{"role":"assistant","content":[{t1},{t2}]}},{{"role":"user","content":[{r1},{r2},{note}]}}]"#),
            &beside,
            &format!(
                r#"[{{"role":"assistant","content":[{t1},OWN,{t2}]}},{{"role":"user","content":[{r1},{r2},RESULT,{note}]}}]"#
            ),
        );
        // A pair is never half restored.
        let last = format!(r#"[{{"role":"assistant","content":[{t1},{t2}]}}]"#);
        check(&last, &beside, &last);
    }

    #[test]
    fn the_result_of_a_call_that_was_not_continued_precedes_the_next_prompt() {
        let ended = [reply(&[passed("text", "I look."), own()], None)];
        let [said, asks] = [r#"{"role":"assistant","content":[{"type":"text","text":"I look."}"#, r#"{"role":"user","content":"#];
        check(
            &format!(r#"[{said}]}},{asks}"why"}}]"#),
            &ended,
            &format!(r#"[{said},OWN]}},{asks}[RESULT,{{"type":"text","text":"why"}}]}}]"#),
        );
        check(
            &format!(r#"[{said}]}},{asks}[{{"type":"text","text":"why"}}]}}]"#),
            &ended,
            &format!(r#"[{said},OWN]}},{asks}[RESULT,{{"type":"text","text":"why"}}]}}]"#),
        );
    }

    #[test]
    fn calls_among_items_get_their_places() {
        let restored = |input: &str, reply: &WithheldReply| {
            let body = format!(r#"{{"input":{input},"x":1e400}}"#);
            let document = RequestDocument::new(body.as_bytes()).unwrap();
            let (edits, _) = restored(RequestApi::Responses, &document, std::slice::from_ref(reply));
            let found = text(&document, edits);
            found.replace(OWN, "OWN").replace(RESULT, "RESULT")
        };
        let [ask, thinks, calls, output] = [
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"ask"}]}"#,
            r#"{"type":"reasoning","encrypted_content":"e1"}"#,
            r#"{"type":"function_call","id":"x","call_id":"c1"}"#,
            r#"{"type":"function_call_output","call_id":"c1"}"#,
        ];
        let beside = reply(&[passed("reasoning", "e1"), own(), passed("function_call", "c1")], None);
        let expected = format!(r#"{{"input":[{ask},{thinks},OWN,{calls},RESULT,{output}],"x":1e400}}"#);
        assert_eq!(restored(&format!("[{ask},{thinks},{calls},{output}]"), &beside), expected);
        let last = format!(r#"{{"input":[{thinks},OWN,RESULT],"x":1e400}}"#);
        assert_eq!(restored(&format!("[{thinks}]"), &beside), last, "without the call of the client");
        let alone = reply(&[own()], Some("message:ask"));
        let expected = format!(r#"{{"input":[{thinks},OWN,RESULT,{ask}],"x":1e400}}"#);
        assert_eq!(restored(&format!("[{thinks},{ask}]"), &alone), expected);
        assert_eq!(restored(&format!("[{thinks}]"), &alone), format!(r#"{{"input":[{thinks}],"x":1e400}}"#));
    }
}
