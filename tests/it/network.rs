//! A client and an API, both played by the tests, and the proxy between them.
#![allow(clippy::disallowed_types, reason = "the client and the API of the proxy")]

use crate::sandbox::{PATIENCE, Sandbox, wait_for};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as the API received it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The request line and the headers.
    pub head: String,
    /// The body without its transfer encoding.
    pub body: Vec<u8>,
}

impl Seen {
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// An API that answers each request as a function says.
pub struct Api {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Api {
    pub fn new(answer: impl Fn(&Seen, &mut TcpStream) + Send + Sync + 'static) -> Api {
        Api::on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    /// Creates an API that listens already.
    pub fn on(listener: TcpListener, answer: impl Fn(&Seen, &mut TcpStream) + Send + Sync + 'static) -> Api {
        let port = listener.local_addr().unwrap().port();
        let (seen, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let all = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, all, answer) = (stream.unwrap(), Arc::clone(&all), Arc::clone(&answer));
                stream.set_nodelay(true).unwrap();
                thread::spawn(move || {
                    let mut rest = Vec::new();
                    while let Some((head, body)) = message(&mut stream, &mut rest) {
                        let request = Seen { head, body };
                        all.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Api { port, seen }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn last(&self) -> Seen {
        self.seen().pop().unwrap()
    }

    /// Returns the bodies of all requests.
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        self.seen().into_iter().map(|seen| seen.body).collect()
    }

    /// Returns the body of the last request.
    pub fn last_body(&self) -> Vec<u8> {
        self.last().body
    }
}

/// Reads the next message of a connection; `None` at its end.
pub fn message(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let end = fill(stream, rest, |bytes| find(bytes, b"\r\n\r\n"))?;
    let head = String::from_utf8(rest.drain(..end + 4).collect()).unwrap();
    if header(&head, "expect").is_some() {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
    }
    if header(&head, "transfer-encoding") == Some("chunked") {
        let mut body = Vec::new();
        loop {
            let end = fill(stream, rest, |bytes| find(bytes, b"\r\n"))?;
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
            fill(stream, rest, |bytes| (bytes.len() >= end + 2 + size + 2).then_some(0))?;
            body.extend_from_slice(&rest[end + 2..end + 2 + size]);
            rest.drain(..end + 2 + size + 2);
            if size == 0 {
                return Some((head, body));
            }
        }
    }
    let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
    fill(stream, rest, |bytes| (bytes.len() >= length).then_some(0))?;
    Some((head, rest.drain(..length).collect()))
}

/// Returns the place of bytes in others.
pub fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// Reads until a condition has a value.
pub fn fill(stream: &mut TcpStream, rest: &mut Vec<u8>, condition: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
    let mut piece = vec![0; 1 << 16];
    loop {
        if let Some(value) = condition(rest) {
            return Some(value);
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(read) => rest.extend_from_slice(&piece[..read]),
        }
    }
}

pub fn send(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len());
    // The client can be gone.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

pub const EVENTS: &str = "200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";

/// A stream of Messages with token figures.
pub const STREAM: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\
    \"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":300,\"output_tokens\":1}}}\n\n\
    event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":40}}\n\n";

/// Answers with [`STREAM`].
pub fn stream(_: &Seen, stream: &mut TcpStream) {
    answer_events(stream, STREAM);
}

/// Answers with a stream of these events.
pub fn answer_events(stream: &mut TcpStream, events: &str) {
    let answer = [format!("HTTP/1.1 {EVENTS}\r\n\r\n").as_bytes(), &chunk(events.as_bytes()), b"0\r\n\r\n"].concat();
    let _ = stream.write_all(&answer);
}

/// The secret of the base URL of every proxy of the tests.
pub const SECRET: &str = "secret-of-the-tests";

/// A running proxy, which is killed at the end of a test.
pub struct Proxy {
    /// Its process.
    pub child: Child,
    pub port: u16,
}

impl Proxy {
    pub fn start(sandbox: &Sandbox, arguments: &[&str]) -> Proxy {
        Proxy::spawn(sandbox.command(&[&["proxy", "--listen", "127.0.0.1:0"], arguments].concat()))
    }

    /// Starts a proxy with a command.
    pub fn spawn(mut command: Command) -> Proxy {
        command.env("APERTURE_PROXY_TOKEN", "a token of a remote client").env("APERTURE_PROXY_SECRET", SECRET);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
        Proxy { child, port: port.unwrap() }
    }

    /// Starts a proxy for an API.
    pub fn of(sandbox: &Sandbox, api: &Api) -> Proxy {
        Proxy::start(sandbox, &["--upstream", &api.url()])
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and returns the whole answer; the request must close the connection.
    pub fn exchange(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // An answer can arrive before the end of the request.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        // A connection that is cut is an end too.
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Sends a request to the user's base URL.
    pub fn request(&self, line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        // Requests for the proxy itself have a token of their own.
        let is_control = line.contains(" /.aperture/");
        let line = if is_control { line.to_owned() } else { line.replacen(" /", &format!(" /{SECRET}/"), 1) };
        self.raw_request(&line, headers, body)
    }

    /// Sends a request to the path as it is.
    pub fn raw_request(&self, line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("{line} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n{headers}", self.port);
        let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
        self.exchange(&[head.as_bytes(), length.as_bytes(), b"\r\n", body].concat())
    }

    /// Ends the proxy with a signal and returns its notes.
    #[cfg(unix)]
    pub fn errors(&mut self) -> String {
        let mut errors = String::new();
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        errors
    }

    /// Sends a request to the API and returns the head and the body of its answer.
    pub fn post(&self, path: &str, headers: &str, body: &[u8]) -> (String, Vec<u8>) {
        split(self.request(&format!("POST {path}"), headers, body))
    }

    /// Kills the process and returns what it wrote to standard error.
    pub fn kill(&mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut notes = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        notes
    }

    pub fn exit_code(&mut self) -> i32 {
        let child = &mut self.child;
        wait_for("the end of the proxy", || child.try_wait().unwrap()).code().unwrap_or(-1)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn split(answer: Vec<u8>) -> (String, Vec<u8>) {
    let end = find(&answer, b"\r\n\r\n").unwrap_or_else(|| panic!("no head: {}", String::from_utf8_lossy(&answer)));
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    (head, answer[end + 4..].to_vec())
}

/// Returns the bytes of a chunked body, and if it has its end.
pub fn dechunked(mut body: &[u8]) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    while let Some(end) = find(body, b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return (bytes, true);
        }
        let piece = &body[end + 2..];
        bytes.extend_from_slice(&piece[..size.min(piece.len())]);
        body = piece.get(size + 2..).unwrap_or_default();
    }
    (bytes, false)
}

pub fn requests(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.json(&["proxy", "requests"], "aperture.proxy-requests/1")["requests"].as_array().unwrap().clone()
}

/// An API whose answer is a stream of pieces, each sent when the test says so; and the news that the client is gone.
pub fn stepwise(pieces: Vec<Vec<u8>>) -> (Api, Sender<()>, Receiver<()>) {
    let ((step, steps), (gone, is_gone)) = (channel(), channel());
    let (steps, gone) = (Mutex::new(steps), Mutex::new(gone));
    let api = Api::new(move |_, stream| {
        write!(stream, "HTTP/1.1 {EVENTS}\r\n\r\n").unwrap();
        for piece in &pieces {
            if steps.lock().unwrap().recv().is_err() {
                break;
            }
            stream.write_all(&chunk(piece)).unwrap();
        }
        if steps.lock().unwrap().recv().is_ok() {
            stream.write_all(b"0\r\n\r\n").unwrap();
        }
        if stream.read(&mut [0]).is_ok_and(|read| read == 0) {
            let _ = gone.lock().unwrap().send(());
        }
    });
    (api, step, is_gone)
}

/// Reads from a stream until its text ends with `end`.
pub fn read_until(stream: &mut TcpStream, text: &mut Vec<u8>, end: &[u8]) {
    while !text.ends_with(end) {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).unwrap();
        assert_ne!(read, 0, "the end after {:?}", String::from_utf8_lossy(text));
        text.extend_from_slice(&piece[..read]);
    }
}

pub fn begin(proxy: &Proxy, path: &str) -> TcpStream {
    let mut stream = proxy.connect();
    write!(stream, "POST /{SECRET}{path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-length: 2\r\n\r\n{{}}", proxy.port).unwrap();
    stream
}
