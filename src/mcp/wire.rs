//! The lines of the protocol: reads messages from standard input, and writes masked ones to standard output.

use super::protocol::{INVALID, Refusal, UNPARSABLE};
use crate::app::parsed;
use crate::output::Gate;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// The maximum size of a line, its line feed included, in bytes.
const LONGEST_LINE: usize = 16 << 20;
/// The number of bytes at the start and the end of a longer line that are searched for its id.
const LOOKED_AT: usize = 4 << 10;
/// The number of messages that can wait for execution.
const WAITING: usize = 4;

/// A message; or the response to a line that is none.
type Message = Result<Value, Value>;

/// The connection to the client.
pub struct Connection {
    gate: Gate,
    messages: Receiver<Message>,
    /// Messages that arrived before a response that was waited for.
    early: VecDeque<Message>,
    requests: u64,
}

impl Connection {
    /// Connects standard input and output.
    pub fn stdio(gate: Gate) -> Connection {
        let (sender, messages) = sync_channel(WAITING);
        // A separate thread, because a blocking read has no timeout; it ends with the program.
        std::thread::spawn(move || read(&mut io::stdin().lock(), &mut |message| sender.send(message).is_ok()));
        Connection { gate, messages, early: VecDeque::new(), requests: 0 }
    }

    /// Waits for the next message; `None` if the client is gone.
    pub fn next(&mut self) -> Option<Message> {
        self.early.pop_front().or_else(|| self.messages.recv().ok())
    }

    /// Writes a message as one line, in one call.
    pub fn send(&self, message: &Value) -> io::Result<()> {
        let line = self.gate.json(&format!("{message}\n"));
        let mut output = io::stdout().lock();
        output.write_all(line.as_str().as_bytes())?;
        output.flush()
    }

    /// Requests something of the client, and returns the result; `None` if it refuses, or sends nothing for so long.
    pub fn request(&mut self, method: &str, patience: Duration) -> Option<Value> {
        let id = json!(self.requests);
        self.requests += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method})).ok()?;
        loop {
            match self.messages.recv_timeout(patience).ok()? {
                Ok(mut message) if message["id"] == id && message.get("method").is_none() => {
                    return message.get_mut("result").map(Value::take);
                }
                message => self.early.push_back(message),
            }
        }
    }
}

/// Reads lines until the input ends or `next` returns false.
fn read(input: &mut dyn BufRead, next: &mut dyn FnMut(Message) -> bool) {
    loop {
        let message = match read_line(input) {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::Whole(line)) if line.trim_ascii().is_empty() => continue,
            Ok(Line::Whole(line)) => whole_message(&line),
            Ok(Line::Oversized { head, tail, bytes }) => {
                let text = format!("the request has {bytes} bytes; at most {LONGEST_LINE} are read");
                Err(Refusal::new(INVALID, text).response(id_of(&head, &tail)))
            }
        };
        if !next(message) {
            return;
        }
    }
}

fn whole_message(line: &[u8]) -> Message {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let message = std::str::from_utf8(line).map_err(|error| error.to_string());
    let message = message.and_then(|line| parsed(line).map_err(|error| error.to_string()));
    message.map_err(|error| Refusal::new(UNPARSABLE, format!("the line is not JSON: {error}")).response(id_of(line, line)))
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// A line that is too long: its first and last bytes, and its size.
    Oversized {
        head: Vec<u8>,
        tail: Vec<u8>,
        bytes: usize,
    },
    /// The input has no further complete line.
    End,
}

fn read_line(input: &mut dyn BufRead) -> io::Result<Line> {
    let (mut line, mut bytes) = (Vec::new(), 0);
    let mut head = Vec::new();
    loop {
        let available = match input.fill_buf() {
            Ok([]) => return Ok(Line::End),
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr::memchr(b'\n', available).map(|at| at + 1);
        let taken = end.unwrap_or(available.len());
        line.extend_from_slice(&available[..taken]);
        bytes += taken;
        input.consume(taken);
        if bytes > LONGEST_LINE {
            if head.is_empty() {
                head = line[..LOOKED_AT].to_vec();
            }
            // Of the rest, only the end is needed.
            if line.len() > 2 * LOOKED_AT {
                line.drain(..line.len() - LOOKED_AT);
                line.shrink_to(4 * LOOKED_AT);
            }
        }
        if end.is_some() {
            return Ok(if bytes > LONGEST_LINE { Line::Oversized { head, tail: line, bytes } } else { Line::Whole(line) });
        }
    }
}

/// Returns the id of a request of which only the start and the end are known; null if neither contains it.
fn id_of(head: &[u8], tail: &[u8]) -> Value {
    let member = |text: Vec<u8>| serde_json::from_slice::<Map<String, Value>>(&text).ok()?.remove("id");
    let before = memchr::memmem::find(head, b"\"params\"").and_then(|end| {
        let members = head[..end].trim_ascii_end();
        member([members.strip_suffix(b",").unwrap_or(members), b"}"].concat())
    });
    let behind = || memchr::memmem::rfind(tail, b"\"id\"").and_then(|start| member([b"{", &tail[start..]].concat()));
    let id = before.or_else(behind).unwrap_or_default();
    if id.is_number() || id.is_string() { id } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(input: &[u8]) -> (Vec<Value>, Vec<Value>) {
        let (mut messages, mut responses) = (Vec::new(), Vec::new());
        read(&mut io::BufReader::new(input), &mut |message| {
            match message {
                Ok(message) => messages.push(message),
                Err(response) => responses.push(response),
            }
            true
        });
        (messages, responses)
    }

    #[test]
    fn lines_of_json_are_messages_and_others_are_answered() {
        let (messages, responses) =
            messages(b"{\"a\":1}\n\n  \r\ngarbage\n{\n[]\n\xff\n\"\\ud800\"\n\xef\xbb\xbf{\"b\":2}\n{\"half\":");
        assert_eq!(messages, [json!({"a": 1}), json!([]), json!("\u{fffd}\u{fffd}\u{fffd}"), json!({"b": 2})]);
        assert_eq!(responses.len(), 3);
        for response in responses {
            assert_eq!((&response["error"]["code"], &response["id"]), (&json!(UNPARSABLE), &Value::Null), "{response}");
        }
    }

    #[test]
    fn a_request_that_cannot_be_parsed_is_refused_by_its_id() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let params = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{{\"a\":{deep}}}}}\n");
        let text = b"{\"id\":\"x\",\"params\":{\"a\":\"\xff\"}}\n{\"params\":{\"a\":\"\xff\"},\"id\":8}\n";
        let (_, responses) = messages(&[params.as_bytes(), text].concat());
        let ids: Vec<&Value> = responses.iter().map(|response| &response["id"]).collect();
        assert_eq!(ids, [&json!(7), &json!("x"), &json!(8)]);
    }

    #[test]
    fn a_request_that_is_too_long_is_refused_by_its_id() {
        let long = "x".repeat(LONGEST_LINE);
        for (request, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"a":"{long}"}}}}"#), json!(7)),
            (format!(r#"{{"method":"tools/call","params":{{"a":"{long}"}},"jsonrpc":"2.0","id":"seven"}}"#), json!("seven")),
            (format!(r#"["{long}"]"#), Value::Null),
        ] {
            let (messages, responses) = messages(format!("{request}\n{{}}\n").as_bytes());
            assert_eq!(messages, [json!({})]);
            assert_eq!((&responses[0]["error"]["code"], &responses[0]["id"]), (&json!(INVALID), &id));
        }
    }
}
