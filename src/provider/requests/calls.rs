//! The tool that a proxy adds to requests, and the calls of it that a client did not receive: where both are in a request.

use super::{BodyEdit, RequestApi, RequestDocument};
use crate::model::{Key, ReplyPart, WithheldReply};
use crate::provider::json::{elements, member, members, range_in, text_of, with_values};
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// A tool with one text as its input.
#[derive(Clone, Copy, Debug)]
pub struct ToolDefinition {
    /// Its name.
    pub name: &'static str,
    /// Its description for the model.
    pub description: &'static str,
    /// The name of its input.
    pub input: &'static str,
}

impl ToolDefinition {
    /// Returns its JSON in requests to an API; `None` if calls in responses of the API cannot be withheld.
    pub fn json(&self, api: RequestApi) -> Option<String> {
        let mut properties = serde_json::Map::new();
        properties.insert(self.input.to_owned(), json!({"type": "string"}));
        let schema = json!({"type": "object", "properties": properties, "required": [self.input]});
        match api {
            RequestApi::Messages => {
                Some(json!({"name": self.name, "description": self.description, "input_schema": schema}).to_string())
            }
            RequestApi::Chat | RequestApi::Responses => None,
        }
    }

    /// Returns the edit that adds the tool after all others; `None` if the request offers no tools of the client, has one of this name,
    /// or lets the model only call a certain one.
    pub fn offer(&self, api: RequestApi, document: &RequestDocument<'_>) -> Option<BodyEdit> {
        let tools = document.member("tools").filter(|tools| tools.get().starts_with('['))?;
        let listed = elements(tools);
        let is_client = |tool: &&RawValue| member(tool, "input_schema").is_some();
        let has_name = |tool: &&RawValue| text_of(member(tool, "name")).is_some_and(|name| name == self.name);
        let choice = document.member("tool_choice").and_then(|choice| text_of(member(choice, "type")));
        if !listed.iter().any(is_client) || listed.iter().any(has_name) || choice.is_some_and(|choice| choice == "tool") {
            return None;
        }
        let end = range_in(document.bytes, tools).end - 1;
        Some((end..end, format!(",{}", self.json(api)?).into_bytes()))
    }
}

/// Returns true if the model has not yet answered in a conversation.
pub fn begins(document: &RequestDocument<'_>) -> bool {
    !messages(document).into_iter().any(|message| has_role(message, "assistant"))
}

/// Returns the hash of the lasting part of a content block: its id, its signature or its text; `None` if it has none. `get` returns the
/// text of a member.
pub fn block_key<'a>(get: &dyn Fn(&str) -> Option<Cow<'a, str>>) -> Option<Key> {
    let kind = get("type")?;
    let lasting = ["id", "signature", "data", "tool_use_id", "thinking", "text"];
    let lasting = lasting.iter().filter_map(|name| get(name)).find(|text| !text.trim().is_empty())?;
    Some(Key::from_bytes([&kind, ":", lasting.trim()].concat().as_bytes()))
}

/// Returns the JSON of the result of a call.
pub fn call_result(id: &str, text: &str) -> String {
    json!({"type": "tool_result", "tool_use_id": id, "content": text}).to_string()
}

/// Returns the body of a request that continues another one after the model's answer. `answer` and `results` are the content blocks of
/// both new messages, as JSON.
pub fn continued(document: &RequestDocument<'_>, answer: &[String], results: &[String]) -> Option<Vec<u8>> {
    let list = document.member("messages").filter(|list| list.get().starts_with('['))?;
    let end = range_in(document.bytes, list).end - 1;
    let (answer, results) = (answer.join(","), results.join(","));
    let added = format!(r#",{{"role":"assistant","content":[{answer}]}},{{"role":"user","content":[{results}]}}"#);
    Some(spliced(document.bytes, vec![(end..end, added.into_bytes())]))
}

/// Returns a body with edits, which do not overlap.
pub fn spliced(body: &[u8], edits: Vec<BodyEdit>) -> Vec<u8> {
    with_values(body, edits)
}

/// Returns the edits that put withheld calls and their results back into the conversation, and their number. Calls whose neighbors are
/// not in it are left out.
pub fn restored(api: RequestApi, document: &RequestDocument<'_>, replies: &[WithheldReply]) -> (Vec<BodyEdit>, usize) {
    if api != RequestApi::Messages || replies.is_empty() {
        return (Vec::new(), 0);
    }
    let messages = messages(document);
    let mut left: Vec<&WithheldReply> = replies.iter().collect();
    let mut edits = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        if left.is_empty() {
            break;
        }
        if !has_role(message, "assistant") {
            continue;
        }
        let Some(mut answer) = Answer::new(document.bytes, message) else { continue };
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
    /// A withheld content block.
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
    /// The results for the message that follows.
    results: Vec<String>,
}

impl<'a, 'r> Answer<'a, 'r> {
    /// `None` if the message has no content blocks.
    fn new(bytes: &'a [u8], message: &'a RawValue) -> Option<Answer<'a, 'r>> {
        let part = |part: &'a RawValue| {
            let members = members(part);
            let get = |name: &str| {
                let found = members.iter().rev().find(|(known, _)| known == name);
                text_of(found.map(|(_, value)| *value))
            };
            (range_in(bytes, part), block_key(&get))
        };
        let parts: Vec<_> = member(message, "content").map(elements).unwrap_or_default().into_iter().map(part).collect();
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

    /// Returns the edits of the message.
    fn edits(&self) -> Vec<BodyEdit> {
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
fn with_results(bytes: &[u8], message: &RawValue, results: &str) -> Option<BodyEdit> {
    let content = member(message, "content")?;
    let range = range_in(bytes, content);
    if content.get().starts_with('"') {
        let whole = format!(r#"[{results},{{"type":"text","text":{}}}]"#, content.get());
        return Some((range, whole.into_bytes()));
    }
    let parts = elements(content);
    let is_result = |part: &&&RawValue| text_of(member(part, "type")).is_some_and(|kind| kind == "tool_result");
    let insert = |place: usize, text: String| Some((place..place, text.into_bytes()));
    match (parts.iter().rfind(is_result), parts.first()) {
        (Some(last), _) => insert(range_in(bytes, last).end, format!(",{results}")),
        (None, Some(first)) => insert(range_in(bytes, first).start, format!("{results},")),
        (None, None) => None,
    }
}

fn messages<'a>(document: &RequestDocument<'a>) -> Vec<&'a RawValue> {
    document.member("messages").map(elements).unwrap_or_default()
}

fn has_role(message: &RawValue, role: &str) -> bool {
    text_of(member(message, "role")).is_some_and(|found| found == role)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: ToolDefinition = ToolDefinition { name: "own", description: "It does.", input: "commands" };
    const OWN: &str = r#"{"type":"tool_use","id":"o1","name":"own","input":{}}"#;
    const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"o1","content":"found"}"#;

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
        let found = String::from_utf8(spliced(document.bytes, edits)).unwrap();
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
    }

    #[test]
    fn calls_in_a_row_divide_a_message_once_each() {
        let replies = [reply(&[own()], Some("text:Found.")), reply(&[own()], Some("text:Found."))];
        check(
            r#"[{"content":[{"type":"text","text":"Found."}],"role":"assistant"}]"#,
            &replies,
            r#"[{"content":[OWN],"role":"assistant"},{"role":"user","content":[RESULT]},{"content":[OWN],"role":"assistant"},{"role":"user","content":[RESULT]},{"content":[{"type":"text","text":"Found."}],"role":"assistant"}]"#,
        );
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
    fn the_tool_is_the_last_one_where_the_client_has_tools() {
        let offered = |body: &str| {
            let document = RequestDocument::new(body.as_bytes()).unwrap();
            let edit = TOOL.offer(RequestApi::Messages, &document);
            edit.map(|edit| String::from_utf8(spliced(document.bytes, vec![edit])).unwrap())
        };
        let own = TOOL.json(RequestApi::Messages).unwrap();
        let tools = r#"{"tools":[{"name":"Read","input_schema":{},"cache_control":{"type":"ephemeral"}} ],"x":1e400}"#;
        assert_eq!(offered(tools), Some(tools.replace(" ]", &format!(" ,{own}]"))));
        for body in [
            r#"{"tools":[{"type":"web_search_20250305","name":"web_search"}]}"#,
            r#"{"tools":[{"name":"own","input_schema":{}}]}"#,
            r#"{"tools":[{"name":"Read","input_schema":{}}],"tool_choice":{"type":"tool","name":"Read"}}"#,
            r#"{"tools":{}}"#,
            "{}",
        ] {
            assert_eq!(offered(body), None, "{body}");
        }
    }

    #[test]
    fn a_continuation_has_the_answer_and_the_results() {
        let body = r#"{"messages":[{"role":"user","content":"ask"}],"x":1e400}"#;
        let document = RequestDocument::new(body.as_bytes()).unwrap();
        let found = continued(&document, &[OWN.to_owned()], &[RESULT.to_owned()]).unwrap();
        let added = format!(r#"}},{{"role":"assistant","content":[{OWN}]}},{{"role":"user","content":[{RESULT}]}}],"x""#);
        assert_eq!(String::from_utf8(found).unwrap(), body.replace(r#"}],"x""#, &added));
        assert_eq!(call_result("o1", "found"), RESULT);
    }
}
