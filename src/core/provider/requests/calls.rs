//! The tool that a proxy adds to requests, and the calls of it that a client did not receive: where both are in a request.

use super::{RequestApi, RequestDocument};
use crate::model::Key;
use crate::provider::ByteEdit;
use crate::provider::json::{elements, equals, member, members, range_in, text_of};
use rustc_hash::FxHashMap;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A tool with one text as its input.
#[derive(Clone, Copy, Debug)]
pub struct ToolDefinition {
    pub name: &'static str,
    pub description: &'static str,
    pub input: &'static str,
}

impl ToolDefinition {
    pub fn json(&self, api: RequestApi) -> String {
        let mut properties = serde_json::Map::new();
        properties.insert(self.input.to_owned(), json!({"type": "string"}));
        let schema = json!({"type": "object", "properties": properties, "required": [self.input]});
        let (name, description) = (self.name, self.description);
        let tool = match api {
            RequestApi::Messages => json!({"name": name, "description": description, "input_schema": schema}),
            RequestApi::Responses => {
                json!({"type": "function", "name": name, "description": description, "strict": false, "parameters": schema})
            }
            RequestApi::Chat => {
                json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
            }
        };
        tool.to_string()
    }

    /// Returns the edit that adds the tool after all others; `None` if the request offers no tools of the client, has one of this name,
    /// lets the model only call a certain one, or if its answers cannot be continued.
    pub fn offer(&self, api: RequestApi, document: &RequestDocument<'_>) -> Option<ByteEdit> {
        let tools = document.member("tools").filter(|tools| tools.get().starts_with('['))?;
        let listed = elements(tools);
        let is_function = |tool: &RawValue| equals(member(tool, "type"), "function");
        let is = |name: &str, value: &str| document.member(name).is_some_and(|found| found.get() == value);
        let is_client = |tool: &&RawValue| match api {
            RequestApi::Messages => member(tool, "input_schema").is_some(),
            // Otherwise the API keeps the response with the call, and the next request only refers to it.
            RequestApi::Responses => {
                is_function(tool) && is("store", "false") && document.member("previous_response_id").is_none()
            }
            // Several answers to one request would have calls of their own.
            RequestApi::Chat => is_function(tool) && (document.member("n").is_none() || is("n", "1")),
        };
        let has_name = |tool: &&RawValue| {
            let holder = if api == RequestApi::Chat { member(tool, "function") } else { Some(*tool) };
            holder.and_then(|holder| text_of(member(holder, "name"))).is_some_and(|name| name == self.name)
        };
        let choice = document.member("tool_choice").and_then(|choice| text_of(member(choice, "type")));
        if !listed.iter().any(is_client)
            || listed.iter().any(has_name)
            || choice.is_some_and(|choice| matches!(&*choice, "tool" | "function"))
        {
            return None;
        }
        let end = range_in(document.bytes, tools).end - 1;
        Some((end..end, format!(",{}", self.json(api)).into_bytes()))
    }
}

/// Returns true if the model has not yet answered in a conversation.
pub fn begins(document: &RequestDocument<'_>) -> bool {
    let is_answer = |item: &RawValue| is_of_model(item) || is_item(item, &["compaction"]);
    !["messages", "input"].into_iter().any(|name| document.values(name).any(is_answer))
}

/// Returns true if the model wrote a message or an item.
pub(super) fn is_of_model(item: &RawValue) -> bool {
    has_role(item, "assistant") || is_item(item, &["reasoning", "_call"])
}

/// Returns the hash of the lasting part of a content block: its id, its signature or its text; `None` if it has none. `get` returns
/// members.
pub fn block_key<'a>(get: &dyn Fn(&str) -> Option<Cow<'a, str>>) -> Option<Key> {
    let kind = get("type")?;
    let lasting = ["id", "signature", "data", "tool_use_id", "thinking", "text"];
    let lasting = lasting.iter().filter_map(|name| get(name)).find(|text| !text.trim().is_empty())?;
    Some(Key::from_bytes([&kind, ":", lasting.trim()].concat().as_bytes()))
}

/// Returns the hash of the lasting part of an item of the Responses API: the id of a call, encrypted thinking, the text of a message, or
/// an id, which some clients leave out; `None` if it has none.
pub fn item_key(item: &serde_json::Value) -> Option<Key> {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned).filter(|text| !text.trim().is_empty());
    let parts = item["content"].as_array().into_iter().flatten().filter_map(|part| text(&part["text"]));
    let whole = || Some(parts.collect::<Vec<_>>().join("\n")).filter(|whole| !whole.is_empty());
    let named = |names: &[&str]| names.iter().find_map(|name| text(&item[*name]));
    let lasting = named(&["call_id", "encrypted_content"]).or_else(whole).or_else(|| named(&["id"]))?;
    // Only the type of a message can be left out.
    let kind = item["type"].as_str().or(item["role"].as_str().map(|_| "message"))?;
    Some(Key::from_bytes([kind, ":", lasting.trim()].concat().as_bytes()))
}

/// The text between the texts of two messages of the Chat Completions API that the client receives as one.
pub const BETWEEN_TEXTS: &str = "\n\n";

/// Returns the hash of a call of the Chat Completions API.
pub fn chat_call_key(id: &str) -> Key {
    Key::from_bytes(["call:", id].concat().as_bytes())
}

/// Returns the hash of a message of the Chat Completions API without calls, by its text; `None` if it is empty.
pub fn chat_text_key(text: &str) -> Option<Key> {
    let text = text.trim();
    (!text.is_empty()).then(|| Key::from_bytes(["text:", text].concat().as_bytes()))
}

/// Numbers the hashes of equal content blocks of a conversation, so that each has another one: the first keeps its hash.
#[derive(Clone, Debug, Default)]
pub struct Occurrences(FxHashMap<Key, u32>);

impl Occurrences {
    /// Counts the content blocks of the model in a request.
    pub fn of(api: RequestApi, body: &[u8]) -> Occurrences {
        let mut occurrences = Occurrences::default();
        let Some(document) = RequestDocument::new(body) else { return occurrences };
        let answers = document.values("messages").filter(|message| has_role(message, "assistant"));
        let keys: Vec<Option<Key>> = match api {
            RequestApi::Responses => document.values("input").map(key_of_item).collect(),
            RequestApi::Chat => answers.flat_map(chat_keys).map(Some).collect(),
            RequestApi::Messages => answers.flat_map(|answer| content(answer)).map(key_of_block).collect(),
        };
        for key in keys.into_iter().flatten() {
            occurrences.count(key);
        }
        occurrences
    }

    /// Returns the numbered hash that the next content block with this hash will have.
    pub fn next(&self, key: Key) -> Key {
        match self.0.get(&key) {
            None => key,
            Some(before) => Key::from_bytes(format!("{before} {key:?}").as_bytes()),
        }
    }

    /// Returns the numbered hash of the next content block.
    pub fn count(&mut self, key: Key) -> Key {
        let numbered = self.next(key);
        *self.0.entry(key).or_default() += 1;
        numbered
    }
}

pub(super) fn content(message: &RawValue) -> Vec<&RawValue> {
    member(message, "content").map(elements).unwrap_or_default()
}

/// Returns the hash of the lasting part of a content block. See [`block_key`].
pub(super) fn key_of_block(block: &RawValue) -> Option<Key> {
    let members = members(block);
    let value = |name: &str| members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value);
    block_key(&|name| text_of(value(name)))
}

/// Returns the hash of the lasting part of an item. See [`item_key`].
pub(super) fn key_of_item(item: &RawValue) -> Option<Key> {
    serde_json::from_str(item.get()).ok().and_then(|item| item_key(&item))
}

/// Returns the hashes of a message of the Chat Completions API: of its calls or, without any, of its text.
pub(super) fn chat_keys(message: &RawValue) -> Vec<Key> {
    let calls = chat_calls(message);
    if calls.is_empty() {
        return chat_text_key(&chat_text(message)).into_iter().collect();
    }
    calls.into_iter().map(|call| chat_call_key(&text_of(member(call, "id")).unwrap_or_default())).collect()
}

pub(in crate::provider) fn chat_calls(message: &RawValue) -> Vec<&RawValue> {
    member(message, "tool_calls").map(elements).unwrap_or_default()
}

/// Returns the text of a message of the Chat Completions API, or of a part of one.
pub(in crate::provider) fn chat_text(message: &RawValue) -> Cow<'_, str> {
    let text = text_of(member(message, "content"));
    let parts = || content(message).into_iter().filter_map(|part| text_of(member(part, "text")));
    text.unwrap_or_else(|| parts().collect::<String>().into())
}

/// Returns the JSON of the result of a call.
pub fn call_result(api: RequestApi, id: &str, text: &str) -> String {
    let result = match api {
        RequestApi::Messages => json!({"type": "tool_result", "tool_use_id": id, "content": text}),
        RequestApi::Chat => json!({"role": "tool", "tool_call_id": id, "content": text}),
        RequestApi::Responses => json!({"type": "function_call_output", "call_id": id, "output": text}),
    };
    result.to_string()
}

/// Returns the edit of a body with which it continues after the model's answer. `answer` and `results` are the new content blocks of
/// both messages, items or messages, as JSON.
pub fn continuation(api: RequestApi, document: &RequestDocument<'_>, answer: &[String], results: &[String]) -> Option<ByteEdit> {
    let name = if api == RequestApi::Responses { "input" } else { "messages" };
    let list = document.member(name).filter(|list| list.get().starts_with('['))?;
    let end = range_in(document.bytes, list).end - 1;
    let (answer, results) = (answer.join(","), results.join(","));
    let added = match api {
        RequestApi::Responses | RequestApi::Chat => format!(",{answer},{results}"),
        RequestApi::Messages => {
            format!(r#",{{"role":"assistant","content":[{answer}]}},{{"role":"user","content":[{results}]}}"#)
        }
    };
    Some((end..end, added.into_bytes()))
}

fn is_item(item: &RawValue, ends: &[&str]) -> bool {
    text_of(member(item, "type")).is_some_and(|kind| ends.iter().any(|end| kind.ends_with(end)))
}

pub(super) fn has_role(message: &RawValue, role: &str) -> bool {
    equals(member(message, "role"), role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::EditedBytes;

    const TOOL: ToolDefinition = ToolDefinition { name: "own", description: "It does.", input: "commands" };
    const OWN: &str = r#"{"type":"tool_use","id":"o1","name":"own","input":{}}"#;
    const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"o1","content":"found"}"#;

    fn edited(document: &RequestDocument<'_>, edit: ByteEdit) -> String {
        let body = EditedBytes::new(document.bytes.len()).with(vec![edit]);
        String::from_utf8(body.bytes(document.bytes)).unwrap()
    }

    #[test]
    fn the_tool_is_the_last_one_where_the_client_has_tools() {
        let offered = |body: &str| {
            let document = RequestDocument::new(body.as_bytes()).unwrap();
            let edit = TOOL.offer(RequestApi::Messages, &document);
            edit.map(|edit| edited(&document, edit))
        };
        let own = TOOL.json(RequestApi::Messages);
        let tools = r#"{"tools":[{"name":"Read","input_schema":{},"cache_control":{"type":"ephemeral"}} ],"x":1e400}"#;
        assert_eq!(offered(tools), Some(tools.replace(" ]", &format!(" ,{own}]"))));
        let items = r#"{"tools":[{"type":"function","name":"shell"}],"store":false}"#;
        let document = RequestDocument::new(items.as_bytes()).unwrap();
        assert!(TOOL.offer(RequestApi::Responses, &document).is_some());
        let document = RequestDocument::new(&items.as_bytes()[..items.len() - 15]);
        assert!(document.is_none_or(|document| TOOL.offer(RequestApi::Responses, &document).is_none()));
        let chat = r#"{"tools":[{"type":"function","function":{"name":"read"}}],"n":1}"#;
        for (body, is_offered) in
            [(chat, true), (&*chat.replace("read", "own"), false), (&*chat.replace(":1", ":2"), false), ("{}", false)]
        {
            let document = RequestDocument::new(body.as_bytes()).unwrap();
            assert_eq!(TOOL.offer(RequestApi::Chat, &document).is_some(), is_offered, "{body}");
        }
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
        let found = continuation(RequestApi::Messages, &document, &[OWN.to_owned()], &[RESULT.to_owned()]).unwrap();
        let added = format!(r#"}},{{"role":"assistant","content":[{OWN}]}},{{"role":"user","content":[{RESULT}]}}],"x""#);
        assert_eq!(edited(&document, found), body.replace(r#"}],"x""#, &added));
        assert_eq!(call_result(RequestApi::Messages, "o1", "found"), RESULT);
        let body = r#"{"input":[{"role":"user"}],"x":1e400}"#;
        let document = RequestDocument::new(body.as_bytes()).unwrap();
        let found = continuation(RequestApi::Responses, &document, &["1".to_owned(), "2".to_owned()], &["3".to_owned()]).unwrap();
        assert_eq!(edited(&document, found), body.replace("}]", "},1,2,3]"));
    }
}
