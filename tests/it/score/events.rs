//! The events of a session, in order, as both sides of the conversation received them. They are parsed independently from the rows,
//! and not by the program that is scored.

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Map, Serializer, Value};
use std::collections::{HashMap, HashSet};
use std::io;

/// The source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The user, or a summary in the user's place.
    User,
    /// A text of the agent.
    Text,
    /// A call of a tool by the agent.
    Call,
    /// The result of a tool.
    Result,
}

/// A message, a call or a result.
#[derive(Clone, Debug)]
pub struct Event {
    /// The response of the agent that it is part of or follows, from 1 on.
    pub step: u32,
    /// The source.
    pub kind: Kind,
    /// The whole text; for a call, its input as JSON.
    pub text: String,
    /// The name of the tool that is called; empty for all else.
    pub tool: String,
    /// The input of a call; empty for all else.
    pub input: Map<String, Value>,
    /// The id that a call and its result share; empty for all else.
    pub id: String,
}

/// A row of the file with its place in the conversation.
pub struct Row {
    /// The row, verbatim.
    pub line: String,
    /// The last response that began in it or before it.
    pub step: u32,
}

/// The part of a session between two compactions.
#[derive(Default)]
pub struct Stretch {
    /// Its rows.
    pub rows: Vec<Row>,
    /// Its events.
    pub events: Vec<Event>,
}

/// Returns the stretches of a session; `codex` is true for a rollout of Codex, and false for a session of Claude Code.
pub fn stretches(text: &str, codex: bool) -> Vec<Stretch> {
    let mut reader = Reader { stretches: vec![Stretch::default()], ..Reader::default() };
    for line in text.lines().map(str::trim) {
        let Ok(Value::Object(row)) = serde_json::from_str(line) else { continue };
        if codex { reader.codex(line, &row) } else { reader.claude_code(line, &row) }
    }
    reader.stretches
}

/// State of the reader between rows.
#[derive(Default)]
struct Reader {
    stretches: Vec<Stretch>,
    step: u32,
    /// The response that the last row was part of (Claude Code).
    message: Option<String>,
    /// True if the last event was one of the agent (Codex).
    speaking: bool,
    seen: HashSet<String>,
    tools: HashMap<String, String>,
}

impl Reader {
    fn claude_code(&mut self, line: &str, row: &Map<String, Value>) {
        let kind = row.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "system" && row.get("subtype").and_then(Value::as_str) == Some("compact_boundary") {
            return self.stretches.push(Stretch::default());
        }
        let message = &row.get("message").cloned().unwrap_or_default();
        let own = matches!(kind, "user" | "assistant") && row.get("isSidechain") != Some(&Value::Bool(true));
        let fresh = own && row.get("uuid").and_then(Value::as_str).is_none_or(|uuid| self.seen.insert(uuid.to_owned()));
        let said = fresh && message["model"] != "<synthetic>";
        if said && kind == "assistant" && message["id"].as_str() != self.message.as_deref() {
            self.step += 1;
            self.message = message["id"].as_str().map(str::to_owned);
        }
        self.row(line);
        let whole = [serde_json::json!({"type": "text", "text": message["content"]})];
        let blocks = message["content"].as_array().map_or(&whole[..], Vec::as_slice);
        for block in blocks.iter().filter(|_| said) {
            let text = block["text"].as_str().unwrap_or_default();
            match (kind, block["type"].as_str().unwrap_or_default()) {
                ("assistant", "text") if !text.trim().is_empty() => self.event(Kind::Text, text),
                ("assistant", "tool_use") => {
                    let input = block["input"].as_object().cloned().unwrap_or_default();
                    self.call(&block["id"], &block["name"], &spaced(&input), input);
                }
                ("user", "text") => self.event(Kind::User, text),
                ("user", "tool_result") => self.result(&block["tool_use_id"], &flat(&block["content"])),
                _ => {}
            }
        }
    }

    fn codex(&mut self, line: &str, row: &Map<String, Value>) {
        if row.get("type").and_then(Value::as_str) == Some("compacted") {
            return self.stretches.push(Stretch::default());
        }
        let item = match row.get("payload") {
            Some(payload) if row.get("type").and_then(Value::as_str) == Some("response_item") => payload,
            _ => &Value::Null,
        };
        let kind = item["type"].as_str().unwrap_or_default();
        let call = matches!(kind, "function_call" | "custom_tool_call" | "local_shell_call");
        let agent = call || kind == "message" && item["role"] == "assistant";
        if agent && !self.speaking {
            self.step += 1;
        }
        self.row(line);
        let answer = matches!(kind, "function_call_output" | "custom_tool_call_output");
        if agent || answer || kind == "message" {
            self.speaking = agent;
        }
        if call {
            let given = [&item["arguments"], &item["input"]].into_iter().filter_map(Value::as_str).find(|text| !text.is_empty());
            let text = given.map_or_else(|| spaced(&item["action"]), str::to_owned);
            let parsed = serde_json::from_str(&text).ok().filter(|_| kind == "function_call");
            let alone = || Map::from_iter([("input".to_owned(), Value::from(&*text))]);
            let input = parsed.unwrap_or_else(alone);
            self.call(&item["call_id"], &item["name"], &text, input);
        } else if answer {
            let output = &item["output"];
            let text = if output.is_object() { spaced(output) } else { flat(output) };
            self.result(&item["call_id"], &text);
        } else if kind == "message" {
            self.event(if agent { Kind::Text } else { Kind::User }, &flat(&item["content"]));
        }
    }

    fn last(&mut self) -> &mut Stretch {
        self.stretches.last_mut().unwrap()
    }

    fn row(&mut self, line: &str) {
        let row = Row { line: line.to_owned(), step: self.step };
        self.last().rows.push(row);
    }

    fn event(&mut self, kind: Kind, text: &str) {
        let (tool, input, id) = Default::default();
        let event = Event { step: self.step, kind, text: text.to_owned(), tool, input, id };
        self.last().events.push(event);
    }

    fn call(&mut self, id: &Value, name: &Value, text: &str, input: Map<String, Value>) {
        self.event(Kind::Call, text);
        let (id, tool) = (id.as_str().unwrap_or_default().to_owned(), name.as_str().unwrap_or("shell").to_owned());
        self.tools.insert(id.clone(), tool.clone());
        let event = self.last().events.last_mut().unwrap();
        (event.id, event.tool, event.input) = (id, tool, input);
    }

    fn result(&mut self, id: &Value, text: &str) {
        self.event(Kind::Result, text);
        self.last().events.last_mut().unwrap().id = id.as_str().unwrap_or_default().to_owned();
    }
}

/// The text of a content that is a string or a list of parts.
fn flat(content: &Value) -> String {
    let part = |part: &Value| match part["type"].as_str() {
        Some("image") => Some("[image]".to_owned()),
        _ => part.as_str().or(part["text"].as_str()).map(str::to_owned),
    };
    match content {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(part).collect::<Vec<_>>().join("\n"),
    }
}

/// Returns JSON with a space after each comma and colon, as a model receives it.
fn spaced(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced)).unwrap();
    String::from_utf8(bytes).unwrap()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
