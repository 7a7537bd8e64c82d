//! The lines of the protocol: filters incoming lines and masks outgoing ones.

use crate::output::Gate;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// The maximum size of a line, its line feed included, in bytes.
const LONGEST_LINE: usize = 16 << 20;
/// The number of bytes at the start and the end of a longer line that are searched for its id.
const LOOKED_AT: usize = 4 << 10;
/// The number of lines that can wait for execution.
const WAITING: usize = 4;

/// The protocol's error code for a line that is not JSON.
const UNPARSABLE: i32 = -32700;
/// The protocol's error code for an invalid request.
const INVALID: i32 = -32600;

/// Returns both directions over standard input and output.
pub fn stdio(gate: Gate) -> (Incoming, Outgoing) {
    let output: Output = Arc::new(Mutex::new(Box::new(io::stdout())));
    let (sender, receiver) = mpsc::channel(WAITING);
    let errors = output.clone();
    // A separate thread, because a blocking read cannot be cancelled; it ends with the program.
    std::thread::spawn(move || pass(&mut io::stdin().lock(), &errors, &|line| sender.blocking_send(line).is_ok()));
    (Incoming { lines: receiver, line: Vec::new(), read: 0 }, Outgoing { gate, output, line: Vec::new() })
}

type Output = Arc<Mutex<Box<dyn Write + Send>>>;

fn write(output: &Output, line: &[u8]) -> io::Result<()> {
    // A line is written in one call, so a panic of another writer leaves no partial line.
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(line)?;
    output.flush()
}

/// Reads lines until the input ends or `next` returns false. Lines of valid JSON go to `next`; all others are answered with an
/// error.
fn pass(input: &mut dyn BufRead, output: &Output, next: &dyn Fn(Vec<u8>) -> bool) {
    loop {
        let answer = match read_line(input) {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::Whole(line)) if line.trim_ascii().is_empty() => continue,
            Ok(Line::Whole(line)) => match unparsable(&line) {
                None if next(line) => continue,
                None => return,
                Some(why) => error(UNPARSABLE, &format!("the line is not JSON: {why}"), Value::Null),
            },
            Ok(Line::Oversized { head, tail, bytes }) => {
                let text = format!("the request has {bytes} bytes; at most {LONGEST_LINE} are read");
                error(INVALID, &text, id_of(&head, &tail))
            }
        };
        if write(output, &answer).is_err() {
            return;
        }
    }
}

fn error(code: i32, message: &str, id: Value) -> Vec<u8> {
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    format!("{error}\n").into_bytes()
}

/// Returns the reason why a line is not JSON; `None` if it is.
fn unparsable(line: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    serde_json::from_str::<Value>(text).err().map(|error| error.to_string())
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

/// Incoming lines.
pub struct Incoming {
    lines: mpsc::Receiver<Vec<u8>>,
    line: Vec<u8>,
    read: usize,
}

impl AsyncRead for Incoming {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        if own.read == own.line.len() {
            match ready!(own.lines.poll_recv(context)) {
                Some(line) => (own.line, own.read) = (line, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = &own.line[own.read..];
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..taken]);
        own.read += taken;
        Poll::Ready(Ok(()))
    }
}

/// Outgoing lines: each is written in one call, after it passed the gate.
pub struct Outgoing {
    gate: Gate,
    output: Output,
    line: Vec<u8>,
}

impl AsyncWrite for Outgoing {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            own.line.extend_from_slice(piece);
            if own.line.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&std::mem::take(&mut own.line)).into_owned();
                write(&own.output, own.gate.json(&line).as_str().as_bytes())?;
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Collects the written bytes.
    #[derive(Clone, Default)]
    struct Collected(Arc<Mutex<Vec<u8>>>);

    impl Write for Collected {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the lines that are passed on, and the answers.
    fn passed(input: &[u8]) -> (Vec<String>, Vec<Value>) {
        let (written, lines) = (Collected::default(), RefCell::new(Vec::new()));
        let output: Output = Arc::new(Mutex::new(Box::new(written.clone())));
        pass(&mut io::BufReader::new(input), &output, &|line| {
            lines.borrow_mut().push(String::from_utf8(line).unwrap());
            true
        });
        let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        (lines.into_inner(), written.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[test]
    fn json_lines_are_passed_on_and_others_are_answered() {
        let (lines, answers) = passed(b"{\"a\":1}\n\n  \r\ngarbage\n{\n[]\n\xff\n\"\\ud800\"\n{\"b\":2}\n{\"half\":");
        assert_eq!(lines, ["{\"a\":1}\n", "[]\n", "{\"b\":2}\n"]);
        assert_eq!(answers.len(), 4);
        for answer in answers {
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(UNPARSABLE), &Value::Null), "{answer}");
        }
    }

    #[test]
    fn a_request_that_is_too_long_is_refused_by_its_id() {
        let long = "x".repeat(LONGEST_LINE);
        for (request, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"a":"{long}"}}}}"#), json!(7)),
            (format!(r#"{{"method":"tools/call","params":{{"a":"{long}"}},"jsonrpc":"2.0","id":"seven"}}"#), json!("seven")),
            (format!(r#"["{long}"]"#), Value::Null),
        ] {
            let (lines, answers) = passed(format!("{request}\n{{}}\n").as_bytes());
            assert_eq!(lines, ["{}\n"]);
            assert_eq!((&answers[0]["error"]["code"], &answers[0]["id"]), (&json!(INVALID), &id));
        }
    }
}
