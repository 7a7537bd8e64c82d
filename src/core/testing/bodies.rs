//! Bodies of requests as the client of a session would send them.

use crate::model::{BlockKind, BlockNumber, Session, Slot};
use crate::provider::{Part, ProviderAdapter, REQUESTS, Source, by_name};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns the body of the request that resumes a session, and its format. Values that a serializer would change are in it.
pub fn body(session: &Session, bytes: &[u8]) -> (&'static dyn ProviderAdapter, Vec<u8>) {
    let sample = Sample { session, bytes, provider: by_name(session.provider).unwrap() };
    match session.provider {
        "codex" => (REQUESTS[1], sample.responses().into_bytes()),
        _ => (REQUESTS[0], sample.messages().into_bytes()),
    }
}

/// Returns a session of Claude Code as the body of a Chat Completions request, and its format.
pub fn chat_body(session: &Session, bytes: &[u8]) -> (&'static dyn ProviderAdapter, Vec<u8>) {
    let sample = Sample { session, bytes, provider: by_name(session.provider).unwrap() };
    (REQUESTS[2], sample.chat().into_bytes())
}

struct Sample<'a> {
    session: &'a Session,
    bytes: &'a [u8],
    provider: &'static dyn ProviderAdapter,
}

impl<'a> Sample<'a> {
    fn messages(&self) -> String {
        let messages = self.provider.messages(self.session, &self.provider.window(self.session));
        let message = |message: &crate::provider::Message| {
            let parts: Vec<String> = message.parts.iter().map(|part| self.part(part)).collect();
            format!(r#"{{"role":"{}","content":[{}]}}"#, message.role, parts.join(", "))
        };
        let mut messages: Vec<String> = messages.iter().map(message).collect();
        if let Some(last) = messages.last_mut().filter(|last| last.ends_with("}]}")) {
            last.truncate(last.len() - 3);
            last.push_str(r#","cache_control":{"type":"ephemeral"}}]}"#);
        }
        let system = r#"{"type":"text","text":"x-header: 1"},{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}}"#;
        let tools = r#"{"name":"Read","description":"Reads a file.","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}"#;
        format!(
            "{{\"model\":\"claude\", \"messages\":[{}],\n\"system\":[{system}],\"tools\":[{tools}],\"x\":[1e400,{{\"a\":1,\"a\":\"\\u0041\"}}]}}",
            messages.join(",\n")
        )
    }

    fn chat(&self) -> String {
        let mut messages = vec![r#"{"role":"system","content":"You are an agent."}"#.to_owned()];
        for message in self.provider.messages(self.session, &self.provider.window(self.session)) {
            let (mut contents, mut calls, mut thinking) = (Vec::new(), Vec::new(), String::new());
            for part in &message.parts {
                let text = part.text(|number| self.content(number));
                let quoted = serde_json::to_string(&text).unwrap();
                let number = part.blocks().next();
                let kind = number.map(|number| self.session.blocks[number as usize - 1].kind);
                let get = |name| number.and_then(|number| self.element(number)).and_then(|element| member(element, name));
                match (kind, part.source) {
                    (_, Source::Result { of, .. }) => {
                        let call = self.element(of).and_then(|element| member(element, "id")).unwrap().get();
                        messages.push(format!(r#"{{"role":"tool","tool_call_id":{call},"content":{quoted}}}"#));
                    }
                    (Some(BlockKind::ToolResult), _) => {
                        let call = get("tool_use_id").unwrap().get();
                        messages.push(format!(r#"{{"role":"tool","tool_call_id":{call},"content":{quoted}}}"#));
                    }
                    (Some(BlockKind::ToolUse), _) => {
                        let (id, name) = (get("id").unwrap().get(), get("name").unwrap().get());
                        calls.push(format!(
                            r#"{{"id":{id}, "type":"function","function":{{"name":{name},"arguments":{quoted}}}}}"#
                        ));
                    }
                    (Some(BlockKind::Thinking), _) => thinking.push_str(&text),
                    (Some(BlockKind::Image), _) => {
                        contents
                            .push(r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}"#.to_owned());
                    }
                    _ => contents.push(spoken(&text)),
                }
            }
            let mut members = vec![format!(r#""role":"{}""#, message.role)];
            match &contents[..] {
                [] if calls.is_empty() => continue,
                [] => members.push(r#""content": null"#.to_owned()),
                _ => members.push(format!(r#""content":[{}]"#, contents.join(" ,"))),
            }
            if !thinking.is_empty() {
                members.push(format!(r#""reasoning_content":{}"#, serde_json::to_string(&thinking).unwrap()));
            }
            if !calls.is_empty() {
                members.push(format!(r#""tool_calls":[{}]"#, calls.join(",")));
            }
            messages.push(format!("{{{}}}", members.join(",")));
        }
        let tools = r#"{"type":"function","function":{"name":"Read","parameters":{}}}"#;
        format!(
            "{{\"messages\":[{}],\n\"model\" : \"openai/gpt-5\", \"tools\":[{tools}],\"x\":[1e400,{{\"a\":1,\"a\":\"\\u0041\"}}]}}",
            messages.join(",\n")
        )
    }

    fn responses(&self) -> String {
        let mut items: Vec<&str> = Vec::new();
        for row in self.provider.window(self.session).rows {
            let line: &RawValue = serde_json::from_slice(self.line(row)).unwrap();
            let payload = member(line, "payload").unwrap();
            match member(payload, "replacement_history") {
                Some(history) => {
                    items.extend(serde_json::from_str::<Vec<&RawValue>>(history.get()).unwrap().into_iter().map(RawValue::get));
                }
                None if member(line, "type").unwrap().get() == "\"response_item\"" => items.push(payload.get()),
                None => {}
            }
        }
        let tools = r#"{"type":"function","name":"shell","strict":false,"parameters":{}},{"type":"web_search"}"#;
        format!(
            "{{\"model\":\"gpt\",\"instructions\":\"You are an agent.\",\"input\":[{}], \"tools\":[{tools}],\"store\":false,\"x\":1e400}}",
            items.join(", ")
        )
    }

    fn part(&self, part: &Part) -> String {
        let text = part.text(|number| self.content(number));
        match part.source {
            Source::Block(number) => match self.element(number).filter(|element| element.get().starts_with('{')) {
                Some(element) if text == self.content(number) => element.get().to_owned(),
                Some(element) => match member(element, "tool_use_id") {
                    Some(call) => result(call, &text),
                    None => spoken(&text),
                },
                None => spoken(&text),
            },
            Source::Result { of, .. } => result(self.element(of).and_then(|element| member(element, "id")).unwrap(), &text),
            Source::Text(_) => spoken(&text),
        }
    }

    fn line(&self, row: u32) -> &'a [u8] {
        let row = &self.session.rows[row as usize];
        &self.bytes[row.offset as usize..][..row.length as usize]
    }

    fn element(&self, number: BlockNumber) -> Option<&'a RawValue> {
        let block = &self.session.blocks[number as usize - 1];
        let line = self.line(block.row);
        let range = self.provider.locate_slot(line, Slot::Element(block.index))?;
        serde_json::from_slice(&line[range]).ok()
    }

    fn content(&self, number: BlockNumber) -> Cow<'a, str> {
        let block = &self.session.blocks[number as usize - 1];
        self.provider.parse(self.line(block.row)).blocks.swap_remove(block.index as usize).content
    }
}

fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(object.get()).ok()?.remove(name)
}

fn spoken(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, serde_json::to_string(text).unwrap())
}

fn result(call: &RawValue, text: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":{},"content":{}}}"#, call.get(), serde_json::to_string(text).unwrap())
}
