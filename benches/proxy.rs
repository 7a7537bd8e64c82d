//! Measures the proxy as ratios within one run, against a relay that only copies bytes: time added to requests and to the events of
//! a response, many streams at once, memory.
//!
//! `cargo bench --bench proxy` needs no network but the loopback. The API is a thread of this program, the relay and the proxy are
//! processes. The requests are those of a generated session, as large as the target says; a third of its results is archived. Requests of
//! one session also offer the tool of aperture, and an earlier call of it is put back into them. Arguments select parts: `requests`,
//! `streams`, `growth`, `memory`, `sealed`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark runs programs, reads the clock, uses the network and prints"
)]

#[allow(dead_code, reason = "shared with another benchmark")]
mod generate;
#[allow(dead_code, reason = "shared with another benchmark")]
mod measure;

use aperture::model::{Actor, BlockEdit, Key, Level, OperationKind, OperationState, Plan, ReplyPart, WithheldReply};
use aperture::store::Store;
use aperture::wire::{PipelineSettings, RequestFacts, RequestHead, Wire};
use generate::Generator;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use measure::{Round, Target, command, median};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const APERTURE: &str = env!("CARGO_BIN_EXE_aperture");
/// The id of the session with operations.
const CHANGED: &str = "11111111-1111-4111-8111-111111111111";
/// The id of a session with operations and the tool of aperture.
const OFFERED: &str = "33333333-3333-4333-8333-333333333333";
/// The id of a session without operations.
const PLAIN: &str = "22222222-2222-4222-8222-222222222222";
/// Number of requests of the conversation that the rounds repeat, each with more messages than the one before.
const REQUESTS: usize = 8;
/// The number of events of a response, and the time between two of them.
const EVENTS: usize = 100;
const EVENT_STEP: Duration = Duration::from_millis(2);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [job, upstream] if job == "--relay" => return relay(upstream),
        [job, upstream] if job == "--http" => return http_relay(upstream.clone()),
        _ => {}
    }
    // `cargo test` runs benches without `--bench`: then a look is enough.
    let brief = !std::env::args().any(|argument| argument == "--bench");
    let (rounds, many) = if brief { (3, 30) } else { (200, 10_000) };
    let measures = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    let directory = tempfile::tempdir().expect("a directory for the session");
    let api = api();
    let place = Place::new(directory.path(), if brief { 2_000_000 } else { 30_000_000 });
    let [relay, http] = ["--relay", "--http"].map(|job| Process::relay(job, &api));
    let mut targets = Vec::new();
    for (name, bytes) in
        [("200 kB", 200_000), ("1 MB", 1_000_000), ("4 MB", 4_000_000)].into_iter().filter(|_| measures("requests"))
    {
        let proxy = place.proxy(&api);
        begin(&proxy);
        let conversation = place.conversation(bytes);
        in_process(&place, name, &conversation, rounds, &mut targets);
        through_sockets(&api, [&relay, &http, &proxy], name, &conversation, rounds, &mut targets);
    }
    if measures("streams") {
        let proxy = place.proxy(&api);
        events(&api, &relay, &proxy, if brief { 1 } else { 5 }, &mut targets);
        streams(&relay, &proxy, &place.conversation(200_000), if brief { 1 } else { 9 }, &mut targets);
    }
    if measures("growth") {
        growth(&place, &place.proxy(&api), &place.conversation(50_000), many, &mut targets);
    }
    if measures("memory") {
        memory(&place, &api, if brief { &[1] } else { &[1, 2, 4, 8, 24] }, &mut targets);
    }
    if measures("sealed") {
        sealed(directory.path(), &api, rounds, &mut targets);
    }
    println!("\n{:<66} {:>9}  {:>9}", "target", "limit", "measured");
    for target in targets {
        println!("{target}");
    }
}

/// Copies bytes between its clients and another address.
fn relay(upstream: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the relay listens");
    println!("listening on {}", listener.local_addr().expect("its address"));
    for client in listener.incoming() {
        let (client, api) = (client.expect("a client"), TcpStream::connect(upstream).expect("the API"));
        for (mut from, mut to) in [(&client, &api), (&api, &client)].map(|(from, to)| (clone(from), clone(to))) {
            let _ = from.set_nodelay(true);
            thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(read @ 1..) = from.read(&mut buffer) {
                    if to.write_all(&buffer[..read]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(std::net::Shutdown::Write);
            });
        }
    }
}

/// Passes requests on as streams with the libraries of the proxy, and does nothing else: the least that a proxy of HTTP costs.
fn http_relay(upstream: String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("the relay listens");
        println!("listening on {}", listener.local_addr().expect("its address"));
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client: Client<HttpConnector, Incoming> = Client::builder(TokioExecutor::new()).build(connector);
        loop {
            let (stream, _) = listener.accept().await.expect("a client");
            let _ = stream.set_nodelay(true);
            let (client, upstream) = (client.clone(), upstream.clone());
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                *request.uri_mut() = format!("http://{upstream}{}", request.uri()).parse().expect("an address");
                client.request(request)
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
}

fn clone(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a second handle")
}

/// Starts an API that answers each request, and returns its address. With the header `x-events`, it answers with a stream of events,
/// each with the time at which it was sent.
fn api() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the API listens");
    let address = listener.local_addr().expect("its address").to_string();
    let started = Instant::now();
    STARTED.set(started).expect("one API");
    // Only a request with a bill has an account.
    let bill = r#"{"type":"message","usage":{"input_tokens":10,"cache_read_input_tokens":50000,"output_tokens":1}}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{bill}", bill.len());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut connection = Connection::of(stream.expect("a client"));
            let answer = answer.clone();
            thread::spawn(move || {
                while let Some(head) = connection.message() {
                    let answered = match head.contains("x-events") {
                        true => send_events(&mut connection.stream, started),
                        false => connection.stream.write_all(answer.as_bytes()),
                    };
                    if answered.is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

/// The start of the API, from which the times of its events count.
static STARTED: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();

fn send_events(stream: &mut TcpStream, started: Instant) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    for _ in 0..EVENTS {
        thread::sleep(EVENT_STEP);
        let event = format!("event: ping\ndata: {{\"type\":\"ping\",\"at\":{:020}}}\n\n", started.elapsed().as_nanos());
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
    }
    stream.write_all(b"0\r\n\r\n")
}

/// A connection that reads messages of HTTP.
struct Connection {
    stream: TcpStream,
    rest: Vec<u8>,
    piece: Vec<u8>,
}

impl Connection {
    fn of(stream: TcpStream) -> Connection {
        let _ = stream.set_nodelay(true);
        Connection { stream, rest: Vec::new(), piece: vec![0; 1 << 18] }
    }

    fn to(address: &str) -> Connection {
        Connection::of(TcpStream::connect(address).expect("a connection"))
    }

    fn fill(&mut self) -> Option<()> {
        let read = self.stream.read(&mut self.piece).ok().filter(|read| *read > 0)?;
        self.rest.extend_from_slice(&self.piece[..read]);
        Some(())
    }

    /// Reads a message with a body of a known length or in chunks, and returns its head.
    fn message(&mut self) -> Option<String> {
        let end = loop {
            match memchr::memmem::find(&self.rest, b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => self.fill()?,
            }
        };
        let head = String::from_utf8_lossy(&self.rest[..end]).to_lowercase();
        if head.contains("transfer-encoding: chunked") {
            while !self.rest[end..].ends_with(b"0\r\n\r\n") {
                self.fill()?;
            }
            self.rest.clear();
            return Some(head);
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.map_or(0, |length| length.trim().parse().expect("a length"));
        let mut left = (end + length).saturating_sub(self.rest.len());
        self.rest.drain(..(end + length).min(self.rest.len()));
        while left > 0 {
            // The bytes are read, not kept.
            let read = self.stream.read(&mut self.piece).ok().filter(|read| *read > 0)?;
            self.rest.extend_from_slice(&self.piece[left.min(read)..read]);
            left = left.saturating_sub(read);
        }
        Some(head)
    }

    /// Sends a request and reads its answer; the seconds that it took.
    fn exchange(&mut self, head: &str, body: &[u8]) -> f64 {
        let head =
            format!("{head}host: 127.0.0.1:80\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        let request = [head.as_bytes(), body].concat();
        let start = Instant::now();
        self.stream.write_all(&request).expect("the request is sent");
        let answer = self.message().expect("an answer");
        assert!(answer.starts_with("http/1.1 200"), "{answer}");
        start.elapsed().as_secs_f64()
    }
}

/// A process that listens: the relay or the proxy.
struct Process {
    child: Child,
    address: String,
    _output: BufReader<ChildStdout>,
}

impl Process {
    fn relay(job: &str, api: &str) -> Process {
        let mut relay = command(std::env::current_exe().expect("this program"));
        relay.args([job, api]);
        Process::start(relay)
    }

    fn start(mut command: Command) -> Process {
        command.env("APERTURE_PROXY_SECRET", SECRET);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the process starts");
        let (mut output, mut line) = (BufReader::new(child.stdout.take().expect("its output")), String::new());
        output.read_line(&mut line).expect("its address");
        let address = line.trim().rsplit(['/', ' ']).next().expect("its address").to_owned();
        Process { child, address, _output: output }
    }

    /// Returns a figure of the process in bytes; `None` if the platform does not report it.
    fn bytes(&self, name: &str) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<f64>().ok()? * 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home whose store has an operation on a session.
struct Place {
    home: PathBuf,
    /// The messages of the session, verbatim.
    messages: Vec<Box<RawValue>>,
}

impl Place {
    fn new(directory: &Path, size: u64) -> Place {
        let mut bytes = Vec::new();
        Generator::new().session(5, size, &mut bytes).expect("a session");
        let message = |line: &[u8]| {
            #[derive(serde::Deserialize)]
            struct Row<'a> {
                #[serde(borrow)]
                message: &'a RawValue,
            }
            serde_json::from_slice::<Row<'_>>(line).ok().map(|row| row.message.to_owned())
        };
        let messages = bytes.split(|byte| *byte == b'\n').filter_map(message).collect();
        // A manifest is a change.
        fs::create_dir_all(directory.join(".config/aperture")).expect("a directory for the settings");
        fs::write(directory.join(".config/aperture/config.toml"), "[pipeline]\nmanifest = false\n").expect("settings");
        let place = Place { home: directory.to_owned(), messages };
        [CHANGED, OFFERED].iter().for_each(|session| place.archive(session));
        place.withhold();
        place
    }

    /// Stores a call of the tool of aperture after the first one of the model.
    fn withhold(&self) {
        let parsed = self.messages.iter().filter_map(|message| serde_json::from_str::<Value>(message.get()).ok());
        let mut blocks = parsed.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        let call = blocks.find(|block| block["type"] == "tool_use").expect("a call");
        let key = Key::from_bytes(format!("tool_use:{}", call["id"].as_str().expect("an id")).as_bytes());
        let own = json!({"type": "tool_use", "id": "o1", "name": "aperture", "input": {"commands": "@recall(1)"}});
        let result = json!({"type": "tool_result", "tool_use_id": "o1", "content": "found"});
        let parts = vec![ReplyPart::Passed(key), ReplyPart::Withheld(own.to_string())];
        let reply = WithheldReply { parts, results: vec![result.to_string()], next: None };
        let facts = RequestFacts { session: OFFERED.to_owned(), ..RequestFacts::default() };
        self.wire(true).add_replies(&facts, vec![reply], 1).expect("a stored call");
    }

    /// Logs an operation of a session that archives a third of the large results.
    fn archive(&self, session: &str) {
        let parsed = self.messages.iter().filter_map(|message| serde_json::from_str::<Value>(message.get()).ok());
        let results = parsed.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        let contents = results.filter_map(|block| block["content"].as_str().map(str::to_owned));
        let large = contents.filter(|content| content.len() > 1000).step_by(3);
        let edit = |content: String| BlockEdit {
            content: Key::from_bytes(content.as_bytes()),
            occurrence: 0,
            text: "[@16 | archived]".to_owned(),
            level: Level::Archived,
            reason: String::new(),
        };
        let plan = Plan {
            kind: OperationKind::Change,
            command: "archive".to_owned(),
            actor: Actor::User,
            inverts: None,
            edits: Vec::new(),
            block_edits: large.map(edit).collect(),
            window: None,
            reversal: None,
            marks: Vec::new(),
            companions: Vec::new(),
            base_bytes: 0,
            base_hash: [0; 32],
            tokens_before: 0.0,
            tokens_after: 0.0,
            last_row: None,
        };
        fs::create_dir_all(self.home.join(".aperture")).expect("a directory for the store");
        let store = Store::open(&self.home.join(".aperture")).expect("a store");
        let key = store.register("claude-code", session, Path::new(&format!("/no/{session}.jsonl")), "shop").expect("a session");
        let id = store.prepare(key, &plan, 0, std::iter::empty(), None, None).expect("an operation");
        store.settle(key, id, OperationState::Committed).expect("an operation");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(APERTURE);
        command.env("HOME", &self.home).env("APERTURE_HOME", self.home.join(".aperture")).args(arguments);
        command
    }

    /// Runs a command to its end.
    fn run(&self, arguments: &[&str]) {
        let output = self.command(arguments).output().expect("the command runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn proxy(&self, api: &str) -> Process {
        let _ = fs::remove_file(self.home.join(".aperture/proxy.json"));
        Process::start(self.command(&["proxy", "--listen", "127.0.0.1:0", "--upstream", &format!("http://{api}")]))
    }

    /// Returns the bodies of requests, one after the other, of about this size.
    fn conversation(&self, bytes: usize) -> Vec<Vec<u8>> {
        let text = "how a tool is used, with each of its parameters and an example. ".repeat(20);
        let tools: Vec<Value> = (0..12)
            .map(|number| json!({"name": format!("Tool{number}"), "description": text, "input_schema": {"type": "object"}}))
            .collect();
        let mut body = prefix(&tools).into_bytes();
        let mut bodies = Vec::new();
        for (place, message) in self.messages.iter().cycle().enumerate() {
            if place > 0 {
                body.push(b',');
            }
            body.extend_from_slice(message.get().as_bytes());
            if body.len() >= bytes.saturating_sub(1000) {
                bodies.push([&body[..], b"],\"stream\":true}"].concat());
            }
            if bodies.len() == REQUESTS {
                return bodies;
            }
        }
        panic!("the session has no messages");
    }

    /// Opens the sessions of the wire within this process.
    fn wire(&self, tool: bool) -> Wire {
        let directory = self.home.join(".aperture");
        let open = move |_| Store::open_existing(&directory).map_err(|error| error.to_string());
        let settings: PipelineSettings =
            toml::from_str(&format!("injection = false\nmanifest = false\ntool = {tool}")).expect("settings");
        Wire::new(settings, Box::new(open))
    }
}

/// Returns a body up to its first message.
fn prefix(tools: &[Value]) -> String {
    let tools = serde_json::to_string(tools).expect("tools");
    format!(r#"{{"model":"claude-opus-5-5","max_tokens":32000,"tools":{tools},"messages":["#)
}

/// Sends the first request of the session with the tool, from which on it is offered, and waits until the proxy has looked at the session.
fn begin(proxy: &Process) {
    let tools = [json!({"name": "Tool0", "input_schema": {"type": "object"}})];
    let body = [&prefix(&tools), r#"{"role":"user","content":"begin"}]}"#].concat();
    Connection::to(&proxy.address).exchange(&head(OFFERED), body.as_bytes());
    thread::sleep(Duration::from_secs(1));
}

/// The secret of the base URL of the proxies.
const SECRET: &str = "secret-of-the-bench";

fn head(session: &str) -> String {
    format!("POST /{SECRET}/v1/messages?beta=true HTTP/1.1\r\nx-claude-code-session-id: {session}\r\n")
}

/// Returns the value below which this share of the values is.
fn percentile(values: &[f64], share: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * share) as usize;
    values.get(place.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// The work on a body alone, without sockets.
fn in_process(place: &Place, name: &str, conversation: &[Vec<u8>], rounds: usize, targets: &mut Vec<Target>) {
    for (kind, session) in [("edits", CHANGED), ("edits and the tool", OFFERED)] {
        let headers = vec![("x-claude-code-session-id".to_owned(), session.to_owned())];
        let head = RequestHead { method: "POST".to_owned(), target: "/v1/messages".to_owned(), headers };
        alone(&place.wire(session == OFFERED), &head, &format!("{name} with {kind}"), conversation, rounds, targets);
    }
}

fn alone(wire: &Wire, head: &RequestHead, name: &str, conversation: &[Vec<u8>], rounds: usize, targets: &mut Vec<Target>) {
    let (mut first, mut later, mut sent) = (0.0, Vec::new(), 0);
    for round in 0..rounds * 5 {
        let body = &conversation[round % conversation.len()];
        let start = Instant::now();
        let outgoing = wire.request(head, body, 1);
        let seconds = start.elapsed().as_secs_f64();
        assert!(outgoing.facts.problem.is_none() && outgoing.body.is_some(), "{:?}", outgoing.facts);
        sent = outgoing.facts.sent_bytes;
        if round == 0 {
            first = seconds;
        } else {
            later.push(seconds);
        }
    }
    let megabytes = conversation[0].len() as f64 / 1e6;
    let (half, most) = (median(later.clone()), percentile(&later, 0.99));
    println!(
        "\nthe work on a body of {name}, sent with {sent} bytes: first {:.2} ms, then p50 {:.2} ms, p99 {:.2} ms",
        first * 1e3,
        half * 1e3,
        most * 1e3
    );
    let of_megabyte = half * 1e3 / megabytes;
    targets.push(Target::new(&format!("{name}: p50 of one MB"), "4 ms", of_megabyte, "ms", of_megabyte <= 4.0));
    if conversation[0].len() < 500_000 {
        targets.push(Target::new(&format!("{name}: p99"), "5 ms", most * 1e3, "ms", most < 5e-3));
    }
}

/// Returns the time of a request, after a pause in which the work beside the one before ends: those of a client are seconds apart.
fn paused(connection: &mut Connection, head: &str, body: &[u8]) -> f64 {
    thread::sleep(Duration::from_micros(5_000 + body.len() as u64 / 100));
    connection.exchange(head, body)
}

/// Requests over kept connections, one after the other.
fn through_sockets(
    api: &str,
    [relay, http, proxy]: [&Process; 3],
    name: &str,
    conversation: &[Vec<u8>],
    rounds: usize,
    targets: &mut Vec<Target>,
) {
    let (plain, changed, offered) = (head(PLAIN), head(CHANGED), head(OFFERED));
    let other = plain.replace("/v1/messages", "/v1/other");
    let of_proxy = [&other, &plain, &changed, &offered].map(|head| (&*proxy.address, head));
    let jobs = [&[(api, &plain), (&*relay.address, &plain), (&*http.address, &plain)][..], &of_proxy].concat();
    let mut connections: Vec<(Connection, &String)> = jobs.iter().map(|(to, head)| (Connection::to(to), *head)).collect();
    let names = [
        "direct", "relay", "relay of HTTP", "proxy: another path", "proxy: no operation", "proxy: operations",
        "proxy: operations and tool",
    ];
    let mut round = Round::new(&names);
    let (mut of_changed, mut of_offered, mut of_direct) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for turn in 0..rounds + 5 {
        let body = &conversation[turn % conversation.len()];
        let times: Vec<f64> = connections.iter_mut().map(|(connection, head)| paused(connection, head, body)).collect();
        if turn >= 5 {
            of_changed.push(times[5] - times[1]);
            of_offered.push(times[6] - times[1]);
            of_direct[0].push(times[5] - times[0]);
            of_direct[1].push(times[6] - times[0]);
            round.add(&times);
        }
    }
    println!("\nrequests of {name}, {rounds} rounds:");
    round.print(1);
    for (kind, added) in [("edits", of_changed), ("edits and the tool", of_offered)] {
        let (half, most) = (median(added.clone()), percentile(&added, 0.99));
        println!("  {kind} add to the relay: p50 {:.2} ms, p99 {:.2} ms", half * 1e3, most * 1e3);
        if conversation[0].len() < 500_000 {
            let name = format!("{name} with {kind}, over the relay: p99");
            targets.push(Target::new(&name, "5 ms", most * 1e3, "ms", most < 5e-3));
        }
    }
    let limit = match conversation[0].len() {
        ..500_000 => 1.5,
        500_000..2_000_000 => 4.0,
        _ => 12.0,
    };
    for (kind, added) in ["edits", "edits and the tool"].into_iter().zip(of_direct) {
        let added = median(added) * 1e3;
        let name = format!("{name} with {kind}, over a direct request: p50");
        targets.push(Target::new(&name, &format!("{limit} ms"), added, "ms", added <= limit));
    }
    if (500_000..2_000_000).contains(&conversation[0].len()) {
        let ratio = round.ratio(4, 1);
        targets.push(Target::new(&format!("{name} passed on: of a relay, p50"), "1.3 x", ratio, "x", ratio <= 1.3));
    }
}

/// Requests with a clear and a sealed store, while another program changes both.
fn sealed(directory: &Path, api: &str, rounds: usize, targets: &mut Vec<Target>) {
    const CHANGES_EVERY: usize = 8;
    let places = ["clear", "sealed"].map(|name| {
        let home = directory.join(name);
        fs::create_dir_all(&home).expect("a home");
        let place = Place::new(&home, 2_000_000);
        let mut session = Vec::new();
        Generator::new().session(7, 100_000, &mut session).expect("a session");
        fs::write(home.join("other.jsonl"), session).expect("a session");
        if name == "sealed" {
            let key = home.join("key");
            place.run(&["store", "encrypt", "--key-file", &key.to_string_lossy()]);
        }
        place
    });
    let conversation = places[0].conversation(200_000);
    let proxies = places.each_ref().map(|place| place.proxy(api));
    proxies.iter().for_each(begin);
    for (kind, session) in [("operations", CHANGED), ("operations and tool", OFFERED)] {
        let head = head(session);
        let mut connections = proxies.each_ref().map(|proxy| Connection::to(&proxy.address));
        let mut round = Round::new(&["clear", "sealed"]);
        for turn in 0..rounds + 5 {
            if turn % CHANGES_EVERY == 0 {
                let block = (turn / CHANGES_EVERY % 20 + 1).to_string();
                let change = if turn / CHANGES_EVERY % 40 < 20 { "pin" } else { "unpin" };
                places
                    .iter()
                    .for_each(|place| place.run(&[change, &block, "-s", &place.home.join("other.jsonl").to_string_lossy()]));
            }
            let body = &conversation[turn % conversation.len()];
            let times = connections.each_mut().map(|connection| connection.exchange(&head, body));
            if turn >= 5 {
                round.add(&times);
            }
        }
        println!("\nrequests of 200 kB with {kind} and a store that changes, {rounds} rounds:");
        round.print(0);
        let ratio = round.ratio(1, 0);
        targets.push(Target::new(&format!("sealed store, {kind}: of a clear one, p50"), "1.3 x", ratio, "x", ratio <= 1.3));
    }
}

/// Returns the delays of the events of a stream, in seconds.
fn delays(address: &str) -> Vec<f64> {
    let mut connection = Connection::to(address);
    let request = format!("{}host: 127.0.0.1:80\r\nx-events: 1\r\ncontent-length: 2\r\n\r\n{{}}", head(PLAIN));
    connection.stream.write_all(request.as_bytes()).expect("the request is sent");
    let (mut delays, mut text) = (Vec::new(), Vec::new());
    let mut piece = [0; 4096];
    while delays.len() < EVENTS {
        let read = connection.stream.read(&mut piece).expect("an event");
        let now = STARTED.get().expect("the API runs").elapsed().as_nanos() as f64;
        text.extend_from_slice(&piece[..read]);
        while let Some(place) = memchr::memmem::find(&text, b"\"at\":").filter(|place| text.len() >= place + 25) {
            let sent: f64 = String::from_utf8_lossy(&text[place + 5..place + 25]).parse().expect("a time");
            delays.push((now - sent) / 1e9);
            text.drain(..place + 25);
        }
    }
    delays
}

/// The delay of each event of a response.
fn events(api: &str, relay: &Process, proxy: &Process, rounds: usize, targets: &mut Vec<Target>) {
    let mut round = Round::new(&["direct", "relay", "proxy"]);
    for _ in 0..rounds {
        round.add(&[api, &relay.address, &proxy.address].map(|address| median(delays(address))));
    }
    println!("\ndelay of an event, {rounds} rounds of {EVENTS}:");
    round.print(0);
    let added = (round.median(2) - round.median(0)) * 1e3;
    targets.push(Target::new("an event: delay by the proxy, p50", "0.2 ms", added, "ms", added < 0.2));
}

/// Many streams at the same time.
fn streams(relay: &Process, proxy: &Process, conversation: &[Vec<u8>], rounds: usize, targets: &mut Vec<Target>) {
    const STREAMS: usize = 64;
    const EACH: usize = 5;
    let all = |address: &str, head: &str| {
        let mut connections: Vec<Connection> = (0..STREAMS).map(|_| Connection::to(address)).collect();
        let start = Instant::now();
        thread::scope(|scope| {
            for connection in &mut connections {
                scope.spawn(|| {
                    (0..EACH).for_each(|turn| {
                        connection.exchange(head, &conversation[turn]);
                    });
                });
            }
        });
        start.elapsed().as_secs_f64()
    };
    let mut round = Round::new(&["relay", "proxy: no operation", "proxy: operations"]);
    for _ in 0..rounds {
        let (plain, changed) = (head(PLAIN), head(CHANGED));
        round.add(&[all(&relay.address, &plain), all(&proxy.address, &plain), all(&proxy.address, &changed)]);
    }
    println!("\n{STREAMS} streams at once, each {EACH} requests of {} kB, {rounds} rounds:", conversation[0].len() / 1000);
    round.print(0);
    let each = round.median(2) * 1e3 / (STREAMS * EACH) as f64;
    targets.push(Target::new("64 streams with edits: time of a request of 200 kB", "5 ms", each, "ms", each < 5.0));
}

/// Memory after many requests, each with its account.
fn growth(place: &Place, proxy: &Process, conversation: &[Vec<u8>], many: usize, targets: &mut Vec<Target>) {
    let mut connection = Connection::to(&proxy.address);
    let mut send = |count: usize| {
        for turn in 0..count {
            let session = [CHANGED, PLAIN, OFFERED][turn % 3];
            connection.exchange(&head(session), &conversation[turn % conversation.len()]);
        }
    };
    begin(proxy);
    let log = || {
        let files = ["requests.db", "requests.db-wal"].map(|name| fs::metadata(place.home.join(".aperture").join(name)));
        files.into_iter().flatten().map(|file| file.len()).sum::<u64>()
    };
    let before = log();
    // The list of requests is full after a thousand, and the pools of memory a little later.
    send(many / 4);
    let mut sizes = Vec::new();
    for turn in 0..4 {
        send(if turn == 0 { 0 } else { many });
        let Some(size) = proxy.bytes("VmRSS") else {
            return println!("\nmemory: this platform does not report it, skipped");
        };
        sizes.push(size / 1e6);
    }
    // The worker logs them when it has read the sessions.
    let is_logged = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(100));
        log() > before
    });
    assert!(is_logged, "the requests are not logged");
    println!("\nmemory after each {many} requests, in MB: {sizes:.1?}");
    // A leak grows each time, the pools of the allocator do not.
    let more = sizes.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    targets.push(Target::new(&format!("memory: growth over {many} requests"), "1 MB", more, "MB", more < 1.0));
}

/// Peak memory with large bodies.
fn memory(place: &Place, api: &str, sizes: &[usize], targets: &mut Vec<Target>) {
    for megabytes in sizes {
        let conversation = place.conversation(megabytes * 1_000_000);
        for (name, session) in [("no operation", PLAIN), ("operations", CHANGED), ("operations and tool", OFFERED)] {
            let proxy = place.proxy(api);
            begin(&proxy);
            let idle = proxy.bytes("VmHWM").unwrap_or_default();
            let mut connection = Connection::to(&proxy.address);
            for body in &conversation {
                connection.exchange(&head(session), body);
            }
            let Some(peak) = proxy.bytes("VmHWM") else { return };
            let largest = conversation[REQUESTS - 1].len() as f64;
            println!(
                "peak memory with bodies of {:.1} MB, {name}: {:.1} MB, idle {:.1} MB",
                largest / 1e6,
                peak / 1e6,
                idle / 1e6
            );
            let bodies = (peak - 30e6) / largest;
            targets.push(Target::new(
                &format!("bodies of {megabytes} MB, {name}: memory over 30 MB, in bodies"),
                "3 x",
                bodies,
                "x",
                bodies <= 3.0,
            ));
        }
    }
}
