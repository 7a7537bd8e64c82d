//! Sessions of Claude Code, made row by row.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Rows of which each follows the one before, a second or a minute later.
pub struct Rows {
    pub rows: Vec<Value>,
    /// The row that the next one follows.
    pub parent: Value,
    /// The members of every row.
    pub shared: Value,
    start: Timestamp,
    /// The seconds from each row to the next.
    step: i64,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows::new("abc1", "/home/dev/shop").from("2026-11-21T21:00:00Z").each_minute()
    }
}

impl Rows {
    pub fn new(session: &str, directory: impl AsRef<Path>) -> Rows {
        let shared = json!({"sessionId": session, "cwd": directory.as_ref(), "version": "2.1.330", "isSidechain": false});
        Rows { rows: Vec::new(), parent: Value::Null, shared, start: "2026-11-21T10:00:00Z".parse().unwrap(), step: 1 }
    }

    /// The same from another time on.
    pub fn from(self, time: &str) -> Rows {
        Rows { start: time.parse().unwrap(), ..self }
    }

    pub fn each_minute(self) -> Rows {
        Rows { step: 60, ..self }
    }

    /// The same, written by another version of the client.
    pub fn version(mut self, version: &str) -> Rows {
        self.shared["version"] = json!(version);
        self
    }

    /// The id of a row.
    pub fn id(&self, number: usize) -> String {
        format!("{}-{number}", self.shared["sessionId"].as_str().unwrap())
    }

    /// Adds a row with its own members, and returns its id.
    pub fn add(&mut self, kind: &str, own: Value) -> String {
        let number = self.rows.len();
        let (id, time) = (self.id(number), self.start + (number as i64 * self.step).seconds());
        let mut row = json!({"type": kind, "uuid": id, "parentUuid": self.parent, "timestamp": format!("{time:.3}")});
        for members in [&self.shared, &own] {
            row.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        }
        self.rows.push(row);
        self.parent = json!(id);
        id
    }

    /// Adds a message of the user, or results.
    pub fn user(&mut self, content: Value) -> String {
        self.add("user", json!({"message": {"role": "user", "content": content}}))
    }

    /// Adds blocks of a message of a model.
    pub fn model(&mut self, model: &str, id: &str, content: Value, usage: Value) -> String {
        let calls = content.as_array().unwrap().iter().any(|block| block["type"] == "tool_use");
        let stop = if calls { "tool_use" } else { "end_turn" };
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": stop, "usage": usage});
        self.add("assistant", json!({"requestId": format!("req_{id}"), "message": message}))
    }

    /// Adds blocks of a message of a model without a bill.
    fn say(&mut self, block: Value) {
        let id = format!("{}-m", self.id(self.rows.len()));
        let message = json!({"id": id, "role": "assistant", "model": "claude-opus-4-5-20251101", "content": [block]});
        self.add("assistant", json!({"message": message}));
    }

    pub fn prompt(&mut self, text: &str) {
        self.user(json!(text));
    }

    pub fn answer(&mut self, text: &str) {
        self.say(json!({"type": "text", "text": text}));
    }

    pub fn call(&mut self, tool: &str, input: Value, result: &str) {
        let id = format!("{}-t", self.id(self.rows.len()));
        self.say(json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
        self.user(json!([{"type": "tool_result", "tool_use_id": id, "content": result}]));
    }

    pub fn failed_call(&mut self, tool: &str, input: Value, result: &str) {
        self.call(tool, input, result);
        self.rows.last_mut().unwrap()["message"]["content"][0]["is_error"] = json!(true);
    }

    /// Rewinds to a row, which the next row follows.
    pub fn rewind(&mut self, row: usize) {
        self.parent = json!(self.id(row));
        let session = &self.shared["sessionId"];
        self.rows.push(json!({"type": "last-prompt", "leafUuid": self.parent, "explicit": true, "sessionId": session}));
    }

    pub fn text(&self) -> String {
        self.rows.iter().map(|row| format!("{row}\n")).collect()
    }
}

/// Reads the rows of a session.
pub fn rows_of(path: impl AsRef<Path>) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// Appends to a file as a client does: opens it, writes once, closes it.
pub fn append(file: &Path, text: &str) {
    fs::OpenOptions::new().append(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
}
