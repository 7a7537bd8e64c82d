//! Sessions of Claude Code, made row by row.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Rows of which each follows the one before, a second later.
pub struct Rows {
    pub rows: Vec<Value>,
    /// The row that the next one follows.
    pub parent: Value,
    /// The members of every row.
    pub shared: Value,
    start: Timestamp,
}

impl Rows {
    pub fn new(session: &str, directory: impl AsRef<Path>) -> Rows {
        let shared = json!({"sessionId": session, "cwd": directory.as_ref(), "version": "2.1.330", "isSidechain": false});
        Rows { rows: Vec::new(), parent: Value::Null, shared, start: "2026-11-21T10:00:00Z".parse().unwrap() }
    }

    /// The same from another time on.
    pub fn from(self, time: &str) -> Rows {
        Rows { start: time.parse().unwrap(), ..self }
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
        let (id, time) = (self.id(number), self.start + (number as i64).seconds());
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
