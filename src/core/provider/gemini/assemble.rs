//! The lines of a session, each message once, from the records that the client appended or from its document.

use super::parse;
use crate::model::{BlockKind, Key};
use crate::provider::Framing;
use crate::provider::json::{self, elements, fields, member, text_of};
use crate::provider::recorded::push;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::value::RawValue;
use std::ops::Range;

fields! {
    RecordFields {
        id = "id",
        messages = "messages",
        session = "sessionId",
        set = "$set",
        rewind = "$rewindTo",
    }
}

enum Line<'a> {
    Message {
        id: String,
        record: &'a RawValue,
    },
    /// The conversation continues with the messages after it, since a time.
    Cut(Option<&'a RawValue>),
    /// The user left the last turns.
    Left(usize),
    /// A record that cannot be read.
    Broken(&'a [u8]),
}

#[derive(Default)]
struct Conversation<'a> {
    lines: Vec<Line<'a>>,
    /// The ids of the messages that the client would send, in order.
    live: Vec<String>,
    /// The whole conversation as the client wrote it last, and when, until something follows: to resume, it writes it twice, the first
    /// time empty.
    written: Option<(Vec<&'a RawValue>, Option<&'a RawValue>)>,
}

/// Returns the lines of a session, from its file and from that with the directory of the project.
pub(super) fn assemble(parts: &[Vec<u8>]) -> Vec<u8> {
    let Some((file, others)) = parts.split_first() else { return Vec::new() };
    let mut conversation = Conversation::default();
    let mut head: Option<&RawValue> = None;
    let mut title = None;
    let records = match json::document(file) {
        Some(_) => Vec::from([Range { start: 0, end: file.len() }]),
        None => Framing::Lines.rows(file),
    };
    for record in records {
        let Ok(record) = serde_json::from_slice::<&RawValue>(&file[record.clone()]) else {
            conversation.settle();
            conversation.lines.push(Line::Broken(&file[record]));
            continue;
        };
        let fields: RecordFields<'_> = serde_json::from_str(record.get()).unwrap_or_default();
        title = member(fields.set.unwrap_or(record), "summary").or(title);
        match (fields.rewind.map(|id| text_of(Some(id))), text_of(fields.id)) {
            (Some(id), _) => {
                conversation.settle();
                conversation.rewind(&id.unwrap_or_default());
            }
            (None, Some(id)) => {
                conversation.settle();
                conversation.add(id.into_owned(), record);
            }
            (None, None) => {
                if let Some(messages) = fields.set.and_then(|set| member(set, "messages")).or(fields.messages) {
                    conversation.written = Some((elements(messages), fields.set.and_then(|set| member(set, "lastUpdated"))));
                }
                head = head.or(fields.session.map(|_| record));
            }
        }
    }
    conversation.settle();
    let mut lines = Vec::new();
    if let Some(head) = head {
        let directory = others.first().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned());
        let directory = directory.filter(|name| !name.is_empty()).or_else(|| conversation.directory());
        push(&mut lines, &session(head, title, directory));
    }
    conversation.write(&mut lines);
    lines
}

/// Returns the line with what is known of the session.
fn session(head: &RawValue, title: Option<&RawValue>, directory: Option<String>) -> String {
    let known = ["sessionId", "projectHash", "startTime", "kind", "directories"];
    let mut members: Vec<String> =
        known.iter().filter_map(|name| Some(format!("\"{name}\":{}", member(head, name)?.get()))).collect();
    members.extend(directory.map(|directory| format!("\"directory\":{}", serde_json::Value::from(directory))));
    members.extend(title.map(|title| format!("\"summary\":{}", title.get())));
    format!("{{{}}}", members.join(","))
}

impl<'a> Conversation<'a> {
    /// Adds a message, or replaces its earlier form.
    fn add(&mut self, id: String, record: &'a RawValue) {
        let is_live = self.live.contains(&id);
        let known = self.lines.iter_mut().rev().find_map(|line| match line {
            Line::Message { id: own, record } if *own == id && is_live => Some(record),
            _ => None,
        });
        match known {
            Some(known) if supersedes(record, known) => *known = record,
            Some(_) => {}
            None => {
                self.live.push(id.clone());
                self.lines.push(Line::Message { id, record });
            }
        }
    }

    /// Leaves a message and all after it; all messages if there is no such message.
    fn rewind(&mut self, id: &str) {
        let from = self.live.iter().position(|live| live == id).unwrap_or_default();
        let left: FxHashSet<String> = self.live.drain(from..).collect();
        let prompts = self.lines.iter().filter(|line| match line {
            Line::Message { id, record } => left.contains(id) && parse::parse(record.get().as_bytes()).row.prompt,
            _ => false,
        });
        let count = prompts.count();
        self.lines.push(Line::Left(count));
    }

    /// Takes the whole conversation that the client wrote. If messages are missing, it cut them, and the others follow the cut.
    fn settle(&mut self) {
        let (records, time) = self.written.take().unwrap_or_default();
        if records.is_empty() {
            return;
        }
        let messages: Vec<(String, &RawValue)> =
            records.into_iter().filter_map(|record| Some((text_of(member(record, "id"))?.into_owned(), record))).collect();
        let mut known: FxHashMap<String, &RawValue> = FxHashMap::default();
        let messages = self.with_known_ids(messages);
        let kept: FxHashSet<&String> = messages.iter().map(|(id, _)| id).collect();
        if self.live.iter().any(|id| !kept.contains(id)) {
            let live: FxHashSet<String> = std::mem::take(&mut self.live).into_iter().collect();
            // The client writes the results of calls that it keeps again, in another form.
            let mut is_kept_before = false;
            let is_kept = |line: &mut Line<'_>| {
                let Line::Message { id, record } = line else { return false };
                is_kept_before = live.contains(id) && (kept.contains(id) || is_kept_before && parse::answers(record));
                is_kept_before
            };
            let moved: Vec<Line<'_>> = self.lines.extract_if(.., is_kept).collect();
            self.lines.push(Line::Cut(time));
            known = moved
                .into_iter()
                .filter_map(|line| if let Line::Message { id, record } = line { Some((id, record)) } else { None })
                .collect();
        }
        for (id, record) in messages {
            if let Some(known) = known.remove(&id) {
                self.add(id.clone(), known);
            }
            self.add(id, record);
        }
    }

    /// Returns the directory that the first text of the conversation names.
    fn directory(&self) -> Option<String> {
        self.lines.iter().find_map(|line| match line {
            Line::Message { record, .. } => parse::directory_in(record),
            _ => None,
        })
    }

    /// Gives each message the id and the record of an equal one, if the client wrote it with a new id, as it does for all that it keeps
    /// when it compresses the conversation.
    fn with_known_ids(&self, messages: Vec<(String, &'a RawValue)>) -> Vec<(String, &'a RawValue)> {
        let mut known: FxHashMap<u128, Vec<(String, &RawValue)>> = FxHashMap::default();
        for line in self.lines.iter().rev() {
            if let Line::Message { id, record } = line
                && self.live.contains(id)
            {
                known.entry(content(record)).or_default().push((id.clone(), record));
            }
        }
        let same = |(id, record): (String, &'a RawValue)| match known.get_mut(&content(record)) {
            Some(equal) if !self.live.contains(&id) => equal.pop().unwrap_or((id, record)),
            _ => (id, record),
        };
        messages.into_iter().map(same).collect()
    }

    fn write(&self, lines: &mut Vec<u8>) {
        for (at, line) in self.lines.iter().enumerate() {
            match line {
                Line::Message { id, record } => {
                    push(lines, record.get());
                    let answers = |line: &Line<'_>| matches!(line, Line::Message { record, .. } if parse::answers(record));
                    // Older versions store the results in the calls only.
                    if !self.lines.get(at + 1).is_some_and(answers)
                        && let Some(results) = results(id, record)
                    {
                        push(lines, &results);
                    }
                }
                Line::Cut(time) => {
                    let time = time.map(|time| format!(",\"timestamp\":{}", time.get())).unwrap_or_default();
                    push(lines, &format!(r#"{{"cut":true{time}}}"#));
                }
                Line::Left(0) => {}
                Line::Left(turns) => push(lines, &format!(r#"{{"left":{turns}}}"#)),
                Line::Broken(bytes) => push(lines, &String::from_utf8_lossy(bytes)),
            }
        }
    }
}

/// Returns a hash of the contents of a message, without its thinking.
fn content(record: &RawValue) -> u128 {
    let parsed = parse::parse(record.get().as_bytes());
    let blocks = parsed.blocks.iter().filter(|parsed| parsed.block.kind != BlockKind::Thinking);
    let texts: Vec<String> = blocks.map(|parsed| format!("{:?} {}", parsed.block.kind, parsed.content)).collect();
    Key::from_bytes(texts.join("\0").as_bytes()).0
}

/// Returns true if a record of a message replaces an earlier one. When the client resumes, it writes messages without bills and times.
fn supersedes(new: &RawValue, old: &RawValue) -> bool {
    let [tokens, known] = [new, old].map(|record| member(record, "tokens").is_some_and(|tokens| tokens.get().starts_with('{')));
    let content = |record| member(record, "content").map(RawValue::get);
    if known { tokens } else { tokens || content(new) != content(old) || member(new, "toolCalls").is_some() }
}

/// Returns the message with the results of the calls of a message, as the client sends it; `None` if it has none.
fn results(id: &str, record: &RawValue) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut time = None;
    for call in member(record, "toolCalls").map(elements)? {
        let Some(result) = member(call, "result").filter(|result| result.get() != "null") else { continue };
        time = member(call, "timestamp").or(time);
        match result.get().as_bytes().first() {
            Some(b'[') => parts.extend(elements(result).into_iter().map(|part| part.get().to_owned())),
            Some(b'"') => {
                let [id, name] = ["id", "name"].map(|name| member(call, name).map_or("null", RawValue::get));
                let response = format!(r#"{{"id":{id},"name":{name},"response":{{"output":{}}}}}"#, result.get());
                parts.push(format!(r#"{{"functionResponse":{response}}}"#));
            }
            _ => parts.push(result.get().to_owned()),
        }
    }
    let time = time.or(member(record, "timestamp")).map_or("null", RawValue::get);
    let id = serde_json::Value::from(format!("{id}_response"));
    let line = format!(r#"{{"id":{id},"timestamp":{time},"type":"user","content":[{}]}}"#, parts.join(","));
    (!parts.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Returns what the lines of some records are: ids, and the names of other lines.
    fn lines(records: &[Value]) -> Vec<String> {
        let file = records.iter().map(|record| format!("{record}\n")).collect::<String>();
        let lines = String::from_utf8(assemble(&[file.into_bytes(), b"/w\n".to_vec()])).unwrap();
        let name = |line: Value| line["id"].as_str().map_or(line.to_string(), str::to_owned);
        lines.lines().map(|line| name(serde_json::from_str(line).unwrap())).collect()
    }

    fn user(id: &str) -> Value {
        json!({"id": id, "timestamp": "t", "type": "user", "content": id})
    }

    fn model(id: &str) -> Value {
        json!({"id": id, "timestamp": "t", "type": "gemini", "content": id})
    }

    #[test]
    fn each_message_is_a_line_in_its_last_form() {
        let head = json!({"sessionId": "s", "projectHash": "h"});
        let call = json!({"id": "b", "type": "gemini", "toolCalls": [{"id": "c", "name": "x", "result": "ok"}]});
        let known = r#"{"sessionId":"s","projectHash":"h","directory":"/w"}"#;
        assert_eq!(lines(&[head.clone(), user("a"), model("b"), call.clone()]), [known, "a", "b", "b_response"]);
        let answer = json!({"id": "r", "type": "user", "content": [{"functionResponse": {"id": "c"}}]});
        assert_eq!(lines(&[head, user("a"), model("b"), call, answer]), [known, "a", "b", "r"]);
        let document = json!({"sessionId": "s", "projectHash": "h", "messages": [user("a"), model("b")], "summary": "Title"});
        let known = r#"{"sessionId":"s","projectHash":"h","directory":"/w","summary":"Title"}"#;
        assert_eq!(lines(&[document]), [known, "a", "b"]);
        let talk = [user("a"), model("b"), user("c"), model("d"), json!({"$rewindTo": "c"}), user("e")];
        assert_eq!(lines(&talk), ["a", "b", "c", "d", r#"{"left":1}"#, "e"]);
    }

    #[test]
    fn kept_messages_follow_the_cut_that_lost_the_others() {
        let set = |messages: &[Value]| json!({"$set": {"messages": messages}});
        let talk = [user("a"), model("b"), user("c"), model("d")];
        let shorter = set(&[user("summary"), user("c"), model("d")]);
        assert_eq!(lines(&[&talk[..], &[shorter, user("e")]].concat()), ["a", "b", r#"{"cut":true}"#, "summary", "c", "d", "e"]);
        assert_eq!(lines(&[&talk[..], &[set(&talk)]].concat()), ["a", "b", "c", "d"]);
        let copied = json!({"id": "n", "type": "user", "content": [{"text": "c"}]});
        assert_eq!(
            lines(&[&talk[..], &[set(&[user("summary"), copied])]].concat()),
            ["a", "b", "d", r#"{"cut":true}"#, "summary", "c"]
        );
        let result = |id: &str, output: &str| json!({"id": id, "type": "user", "content": [{"functionResponse": {"id": "x", "response": {"output": output}}}]});
        let calls = [user("a"), model("b"), user("c"), model("d"), result("r", "1"), model("e")];
        let kept = set(&[user("summary"), user("c"), model("d"), result("s", "1 1"), model("e")]);
        assert_eq!(lines(&[&calls[..], &[kept]].concat()), ["a", "b", r#"{"cut":true}"#, "summary", "c", "d", "s", "e"]);
    }

    #[test]
    fn a_resumed_conversation_keeps_its_bills_and_its_order() {
        let set = |messages: &[Value]| json!({"$set": {"messages": messages}});
        let billed = json!({"id": "b", "type": "gemini", "content": "b", "tokens": {"input": 1}});
        let records = [
            set(&[user("x")]),
            user("a"),
            billed.clone(),
            set(&[user("x")]),
            set(&[user("x"), user("a"), model("b")]),
            user("c"),
        ];
        assert_eq!(lines(&records), ["x", "a", "b", "c"]);
        let file = records.map(|record| format!("{record}\n")).concat();
        assert!(String::from_utf8(assemble(&[file.into_bytes()])).unwrap().contains(&format!("{billed}\n")));
    }

    #[test]
    fn any_bytes_give_lines() {
        assert_eq!(assemble(&[b"{\"a\n\n[1]\n\xff".to_vec()]), "{\"a\n\u{fffd}\n".as_bytes());
        assert_eq!(assemble(&[]), b"");
    }
}
