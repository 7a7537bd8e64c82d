//! Faults of the network, of the API, of the client and of aperture's own files while requests pass the proxy: for each of them, what
//! client and API saw.
#![allow(clippy::disallowed_types, reason = "the client and the API of the proxy")]

use crate::network::{Api, EVENTS, Proxy, SECRET, STREAM, Seen, chunk, dechunked, find, header, requests, send, split, stream};
use crate::sandbox::{Sandbox, wait_for};
use crate::wire::Client;
use std::any::Any;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The body of a request.
const BODY: &[u8] = br#"{"model":"m","messages":[{"role":"user","content":"ask"}],"tools":[{"name":"Read"}]}"#;
/// A body that is not JSON.
const BROKEN: &[u8] = br#"{"model":"m","messages":[{"role":"#;
/// The beginning of a file of gzip.
const PACKED: &[u8] = b"\x1f\x8b\x08\x00packed";
/// An error of the API.
const ERROR: &[u8] = br#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
/// Maximum time of a request, far below the limits at which a client or the store gives up.
const LONGEST: Duration = Duration::from_secs(8);

/// A way in which the API answers.
type Answer = fn(&Seen, &mut TcpStream);

/// A fault, and what it does to a request.
struct Fault {
    name: &'static str,
    answer: Answer,
    /// The headers and the body of the request.
    request: (&'static str, &'static [u8]),
    client_saw: &'static str,
    api_saw: &'static str,
    outcome: &'static str,
    reported: &'static [&'static str],
}

impl Fault {
    /// A request whose answer is passed on whole.
    const NONE: Fault = Fault {
        name: "none",
        answer: stream,
        request: ("", BODY),
        client_saw: "200, all",
        api_saw: "the body as sent",
        outcome: "done",
        reported: &[],
    };
}

/// Answers with a status, whose number of seconds to wait is passed on too.
fn refuse<const STATUS: u16>(_: &Seen, stream: &mut TcpStream) {
    send(stream, &format!("{STATUS} Odd\r\nretry-after: 7\r\nx-should-retry: true\r\ncontent-type: application/json"), ERROR);
}

fn late(_: &Seen, stream: &mut TcpStream) {
    thread::sleep(Duration::from_millis(400));
    write!(stream, "HTTP/1.1 {EVENTS}\r\n\r\n").unwrap();
    for piece in STREAM.as_bytes().chunks(100) {
        thread::sleep(Duration::from_millis(50));
        stream.write_all(&chunk(piece)).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
}

fn cut(_: &Seen, stream: &mut TcpStream) {
    write!(stream, "HTTP/1.1 {EVENTS}\r\n\r\n").unwrap();
    stream.write_all(&chunk(&STREAM.as_bytes()[..40])).unwrap();
    let _ = stream.shutdown(Shutdown::Both);
}

fn cut_document(_: &Seen, stream: &mut TcpStream) {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", STREAM.len());
    stream.write_all(&[head.as_bytes(), &STREAM.as_bytes()[..40]].concat()).unwrap();
    let _ = stream.shutdown(Shutdown::Both);
}

fn hang_up(_: &Seen, stream: &mut TcpStream) {
    let _ = stream.shutdown(Shutdown::Both);
}

fn garbage(_: &Seen, stream: &mut TcpStream) {
    stream.write_all(b"this is not HTTP\r\n\r\n").unwrap();
}

fn packed(_: &Seen, stream: &mut TcpStream) {
    send(stream, "200 OK\r\ncontent-encoding: gzip", PACKED);
}

const FAULTS: &[Fault] = &[
    Fault::NONE,
    Fault { name: "the API is slow", answer: late, ..Fault::NONE },
    Fault {
        name: "the stream is cut within an event",
        answer: cut,
        client_saw: "200, cut after 40 bytes",
        outcome: "cut",
        ..Fault::NONE
    },
    Fault {
        name: "the answer is cut before its length",
        answer: cut_document,
        client_saw: "200, cut after 40 bytes",
        outcome: "cut",
        ..Fault::NONE
    },
    Fault {
        name: "the API closes the connection without an answer",
        answer: hang_up,
        client_saw: "502, an error of aperture",
        outcome: "failed",
        ..Fault::NONE
    },
    Fault {
        name: "the API answers with something else than HTTP",
        answer: garbage,
        client_saw: "502, an error of aperture",
        outcome: "failed",
        ..Fault::NONE
    },
    Fault { name: "400", answer: refuse::<400>, client_saw: "400, retry after 7, all", ..Fault::NONE },
    Fault { name: "413", answer: refuse::<413>, client_saw: "413, retry after 7, all", ..Fault::NONE },
    Fault { name: "429", answer: refuse::<429>, client_saw: "429, retry after 7, all", ..Fault::NONE },
    Fault { name: "500", answer: refuse::<500>, client_saw: "500, retry after 7, all", ..Fault::NONE },
    Fault { name: "529", answer: refuse::<529>, client_saw: "529, retry after 7, all", ..Fault::NONE },
    Fault {
        name: "malformed JSON",
        request: ("", BROKEN),
        reported: &["note: the body was sent as it was received: the body is not a JSON object"],
        ..Fault::NONE
    },
    Fault {
        name: "an empty body",
        request: ("", b""),
        reported: &["note: the body was sent as it was received: the body is not a JSON object"],
        ..Fault::NONE
    },
    Fault { name: "a compressed body", request: ("content-encoding: gzip\r\n", PACKED), ..Fault::NONE },
    Fault {
        name: "a compressed response that was not asked for",
        answer: packed,
        request: ("accept-encoding: identity\r\n", BODY),
        client_saw: "200, packed",
        ..Fault::NONE
    },
];

/// Describes the answer that a client received.
fn description(answer: Vec<u8>) -> String {
    if answer.is_empty() {
        return "nothing".to_owned();
    }
    let (head, body) = split(answer);
    let status = head.split(' ').nth(1).unwrap().to_owned();
    let (body, is_whole) = match header(&head, "content-length").map(|length| length.parse::<usize>().unwrap()) {
        Some(length) => (body.clone(), body.len() == length),
        None => dechunked(&body),
    };
    let kind = match &body[..] {
        STREAM_BYTES | ERROR if is_whole => "all".to_owned(),
        PACKED if is_whole => "packed".to_owned(),
        body if is_whole && find(body, b"aperture: no response").is_some() => "an error of aperture".to_owned(),
        body if !is_whole && STREAM_BYTES.starts_with(body) => format!("cut after {} bytes", body.len()),
        body => format!("other bytes: {}", String::from_utf8_lossy(body)),
    };
    let retry = header(&head, "retry-after").map(|seconds| format!(", retry after {seconds}")).unwrap_or_default();
    assert_eq!(header(&head, "x-should-retry").is_some(), !retry.is_empty());
    format!("{status}{retry}, {kind}")
}

const STREAM_BYTES: &[u8] = STREAM.as_bytes();

/// Describes the requests that an API received.
fn seen(api: &Api, sent: &[u8]) -> String {
    match &api.seen()[..] {
        [] => "nothing".to_owned(),
        [one] if one.body == sent => "the body as sent".to_owned(),
        [one] => format!("another body: {}", String::from_utf8_lossy(&one.body)),
        several => format!("{} requests", several.len()),
    }
}

fn lines(notes: &str) -> Vec<&str> {
    notes.lines().collect()
}

#[test]
fn faults_of_api_and_bodies_pass_as_without_a_proxy() {
    for fault in FAULTS {
        let sandbox = Sandbox::new();
        let api = Api::new(fault.answer);
        let mut proxy = Proxy::of(&sandbox, &api);
        let (headers, body) = fault.request;
        let started = Instant::now();
        let length = format!("content-length: {}\r\n{headers}", body.len());
        let headers = if body.is_empty() { &length } else { headers };
        let answer = proxy.request("POST /v1/messages", headers, body);
        assert!(started.elapsed() < LONGEST, "{}", fault.name);
        let saw = (&*description(answer), &*seen(&api, body));
        assert_eq!(saw, (fault.client_saw, fault.api_saw), "{}", fault.name);
        let outcome = wait_for("the outcome", || requests(&sandbox).pop().filter(|request| request["outcome"] != "running"));
        assert_eq!(outcome["outcome"], fault.outcome, "{}", fault.name);
        // A second request has the same fault, and the proxy still works.
        let again = proxy.request("POST /v1/messages", headers, body);
        assert_eq!((description(again), api.seen().len()), (fault.client_saw.to_owned(), 2), "{}", fault.name);
        assert_eq!(lines(&proxy.kill()), fault.reported, "{}", fault.name);
    }
}

/// Answers with a stream that the API ends with an error.
fn end_with_error(_: &Seen, stream: &mut TcpStream) {
    let event = format!("event: error\ndata: {}\n\n", String::from_utf8_lossy(ERROR));
    crate::network::answer_events(stream, &[STREAM, &event].concat());
}

#[test]
fn explain_names_the_message_of_the_api_or_the_reason_of_the_end() {
    let cases: [(Answer, &str); 6] = [
        (refuse::<400>, "the API refused it (status 400): busy"),
        (refuse::<529>, "the API refused it (status 529): busy"),
        (end_with_error, "the API ended the answer with an error: busy"),
        (cut, "the response was cut: error reading a body from connection: "),
        (cut_document, "the response was cut: error reading a body from connection: "),
        (hang_up, "aperture: no response from "),
    ];
    for (answer, expected) in cases {
        let sandbox = Sandbox::new();
        let api = Api::new(answer);
        let proxy = Proxy::of(&sandbox, &api);
        proxy.request("POST /v1/messages", "", BODY);
        let explained = wait_for(expected, || {
            let text = sandbox.text(&["proxy", "explain", "1"]).split_whitespace().collect::<Vec<_>>().join(" ");
            text.contains(expected).then_some(text)
        });
        assert!(explained.starts_with("request 1: POST /v1/messages"), "{explained}");
        drop(proxy);
    }
}

#[test]
fn an_api_that_comes_back_is_used_again() {
    let sandbox = Sandbox::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut proxy = Proxy::start(&sandbox, &["--upstream", &format!("http://{free}")]);
    assert_eq!(description(proxy.request("POST /v1/messages", "", BODY)), "502, an error of aperture");
    let listener = TcpListener::bind(free).unwrap();
    let api = Api::on(listener, |_, connection| {
        // The connection is not kept.
        let _ = write!(connection, "HTTP/1.1 {EVENTS}\r\nconnection: close\r\n\r\n");
        let _ = connection.write_all(&[&chunk(STREAM_BYTES)[..], b"0\r\n\r\n"].concat());
        let _ = connection.shutdown(Shutdown::Both);
    });
    for count in 1..=3 {
        assert_eq!(description(proxy.request("POST /v1/messages", "", BODY)), "200, all");
        assert_eq!(api.seen().len(), count, "no request is sent twice");
    }
    assert_eq!(proxy.kill(), "");
}

#[test]
fn an_answer_before_the_end_of_the_body_passes() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = Proxy::start(&sandbox, &["--upstream", &format!("http://{}", listener.local_addr().unwrap())]);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The head and a part of the body.
            let _ = stream.read(&mut [0; 4096]).unwrap();
            send(&mut stream, "413 Too Large\r\nretry-after: 7\r\nx-should-retry: true\r\nconnection: close", ERROR);
            stream.shutdown(Shutdown::Write).unwrap();
            let mut rest = [0; 1 << 16];
            while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
        }
    });
    let body = vec![b'y'; 12 << 20];
    assert_eq!(description(proxy.request("POST /v1/messages", "", &body)), "413, retry after 7, all");
    assert_eq!(description(proxy.request("POST /v1/files", "", &body)), "413, retry after 7, all");
}

#[test]
fn a_large_body_passes_whole() {
    let sandbox = Sandbox::new();
    let api = Api::new(stream);
    let mut proxy = Proxy::of(&sandbox, &api);
    let message = |size: usize| format!(r#"{{"role":"user","content":"{}"}}"#, "line of text\\n".repeat(size / 14));
    let large = vec![message(100_000); 600].join(",");
    let body = format!(r#"{{"model":"m","tools":[{{}}],"messages":[{large}]}}"#).into_bytes();
    assert!((58_000_000..64 << 20).contains(&body.len()));
    assert_eq!(description(proxy.request("POST /v1/messages", "", &body)), "200, all");
    assert_eq!(seen(&api, &body), "the body as sent");
    assert_eq!(proxy.kill(), "");
}

/// Waits until the only request has an outcome, and returns it.
fn outcome(sandbox: &Sandbox) -> String {
    let ended = || requests(sandbox).pop().map(|request| request["outcome"].as_str().unwrap().to_owned());
    wait_for("the outcome", || ended().filter(|outcome| outcome != "running"))
}

/// Listens as an API that reads one connection to its end and then reports its bytes.
fn reading() -> (String, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, (report, reported)) = (format!("http://{}", listener.local_addr().unwrap()), channel());
    thread::spawn(move || {
        let (mut stream, mut bytes) = (listener.accept().unwrap().0, Vec::new());
        let _ = stream.read_to_end(&mut bytes);
        report.send(bytes).unwrap();
    });
    (url, reported)
}

#[test]
fn a_client_that_leaves_within_its_request_sends_nothing_on() {
    let sandbox = Sandbox::new();
    let api = Api::new(stream);
    let mut proxy = Proxy::of(&sandbox, &api);
    let mut client = proxy.connect();
    write!(client, "POST /{SECRET}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-length: 99\r\n\r\n{{", proxy.port)
        .unwrap();
    wait_for("the request", || requests(&sandbox).pop());
    drop(client);
    assert_eq!((outcome(&sandbox), seen(&api, b"")), ("aborted".to_owned(), "nothing".to_owned()));
    assert_eq!(proxy.kill(), "");
}

#[test]
fn a_client_that_leaves_within_a_stream_closes_the_connection_to_the_api() {
    let sandbox = Sandbox::new();
    let (url, reported) = reading();
    let mut proxy = Proxy::start(&sandbox, &["--upstream", &url]);
    let mut client = proxy.connect();
    let head =
        format!("POST /{SECRET}/v1/files HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-length: 99\r\n\r\nfirst bytes", proxy.port);
    client.write_all(head.as_bytes()).unwrap();
    wait_for("the request", || requests(&sandbox).pop());
    let started = Instant::now();
    drop(client);
    let bytes = reported.recv_timeout(LONGEST).unwrap();
    assert!(bytes.is_empty() || bytes.ends_with(b"first bytes") || bytes.ends_with(b"\r\n\r\n"));
    assert!(started.elapsed() < LONGEST);
    assert_eq!(outcome(&sandbox), "aborted");
    assert_eq!(proxy.kill(), "");
}

/// A fault of aperture's own files. The value that is returned keeps it up.
type Breaking = fn(&Client) -> Box<dyn Any>;

/// Opens the store from outside.
fn store(client: &Client) -> rusqlite::Connection {
    rusqlite::Connection::open(client.sandbox.home.join(".aperture/store.db")).unwrap()
}

fn locked(client: &Client) -> Box<dyn Any> {
    let store = store(client);
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    Box::new(store)
}

/// The files of the store, which are written again at the end.
struct Moved(Vec<(std::path::PathBuf, Vec<u8>)>);

impl Moved {
    /// Writes a copy of the store with everything that it contains, so that nothing is left in its log.
    fn of(client: &Client) -> Moved {
        let directory = client.sandbox.home.join(".aperture");
        let copy = directory.join("copy.db");
        store(client).execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        let bytes = fs::read(&copy).unwrap();
        fs::remove_file(copy).unwrap();
        for name in ["store.db", "store.db-wal", "store.db-shm"] {
            let _ = fs::remove_file(directory.join(name));
        }
        Moved(vec![(directory.join("store.db"), bytes)])
    }
}

impl Drop for Moved {
    fn drop(&mut self) {
        for (path, bytes) in &self.0 {
            let _ = fs::remove_file(path);
            fs::write(path, bytes).unwrap();
        }
    }
}

fn deleted(client: &Client) -> Box<dyn Any> {
    Box::new(Moved::of(client))
}

fn damaged(client: &Client) -> Box<dyn Any> {
    let moved = Moved::of(client);
    fs::write(&moved.0[0].0, "this is not a database ".repeat(1000)).unwrap();
    Box::new(moved)
}

fn newer(client: &Client) -> Box<dyn Any> {
    let moved = Moved::of(client);
    fs::write(&moved.0[0].0, &moved.0[0].1).unwrap();
    store(client).pragma_update(None, "user_version", 9999).unwrap();
    Box::new(moved)
}

/// Name, fault, and the beginning of the report.
const OWN: &[(&str, Breaking, &str)] = &[
    ("locked", locked, "note: requests have the changes of earlier ones, new changes wait: the store is not available: "),
    (
        "deleted",
        deleted,
        "note: requests have the changes of earlier ones, new changes wait: the store is not available: it was deleted",
    ),
    ("damaged", damaged, "note: requests have the changes of earlier ones, new changes wait: the store is not available: "),
    ("newer", newer, "note: requests have the changes of earlier ones, new changes wait: the store is not available: "),
];

#[test]
fn faults_of_the_store_send_the_known_changes_and_are_reported_once() {
    for (name, fault, report) in OWN {
        let mut client = Client::with("[pipeline]\nmanifest = false\n");
        let first = client.body(&["first"]);
        assert_eq!(client.send(&first), first);
        client.settle();
        client.sandbox.text(&["archive", "16"]);
        let changed = client.send(&first);
        assert_ne!(changed, first);
        client.sandbox.text(&["stage", "the deadline is Friday"]);
        let broken = fault(&client);
        let second = client.body(&["first", "second"]);
        let mut held = Vec::new();
        for _ in 0..2 {
            let started = Instant::now();
            held.push(client.send(&second));
            assert!(started.elapsed() < LONGEST, "{name}: {:?}", started.elapsed());
        }
        assert!(held[0] != second && held[0] == held[1] && !held[0].contains("Friday"), "{name}: {held:?}");
        let status = client.sandbox.text(&["proxy", "status"]);
        assert!(status.contains("degraded   new changes wait"), "{name}: {status}");
        let status = client.sandbox.run(&["status"]).stdout;
        assert!(status.contains("degraded  new changes wait"), "{name}: {status}");
        drop(broken);
        let repaired = client.send(&second);
        assert!(repaired.contains("the deadline is Friday"), "{name}: {repaired}");
        let status = client.sandbox.text(&["proxy", "status"]);
        assert!(!status.contains("degraded"), "{name}: {status}");
        let prefix = changed.split("]}],\"tools\"").next().unwrap().split("\"first\"").next().unwrap();
        assert!(repaired.starts_with(prefix), "{name}:\n{changed}\n{repaired}");
        assert_eq!(client.send(&second), repaired, "{name}");
        let notes = client.proxy.kill();
        let mut lines: Vec<&str> = notes.lines().collect();
        let of_requests = lines.iter().filter(|line| line.starts_with(report)).count();
        // The work beside the requests can meet the fault too, with a report of its own.
        let all = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert!(of_requests == 1 && lines.len() == all && all <= 2, "{name}: {notes}");
    }
}

#[test]
fn the_work_beside_the_requests_reports_its_faults_once() {
    let mut client = Client::with("");
    client.sandbox.text(&["stage", "the deadline is Friday"]);
    let _broken = damaged(&client);
    for _ in 0..2 {
        let body = client.body(&["first"]);
        assert_eq!(client.send(&body), body);
        // The manifest is prepared after the answer.
        thread::sleep(Duration::from_millis(800));
    }
    let notes = client.proxy.kill();
    let about = |text: &str| notes.lines().filter(|line| line.contains(text)).count();
    assert_eq!([about("the body was sent"), about("pins and the log"), notes.lines().count()], [1, 1, 2], "{notes}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_sends_the_original_bytes_and_is_reported_once() {
    let mut client = Client::with("[pipeline]\nmanifest = false\n");
    client.send(&client.body(&["first"]));
    client.settle();
    client.sandbox.text(&["archive", "16"]);
    let _open = store(&client);
    _open.query_row("SELECT COUNT(*) FROM operations", [], |row| row.get::<_, i64>(0)).unwrap();
    // A process that may write no longer file than this one, as on a full disk; the directory of records is on the same.
    drop(client.proxy.kill());
    let aperture = env!("CARGO_BIN_EXE_aperture");
    let script = format!(
        "trap '' XFSZ; ulimit -f 3; exec '{aperture}' proxy --listen 127.0.0.1:0 --record bodies --upstream {}",
        client.api.url()
    );
    let mut command = client.sandbox.command(&[]);
    let environment: Vec<_> = command.get_envs().map(|(name, value)| (name.to_owned(), value.unwrap().to_owned())).collect();
    command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(&client.sandbox.project).env_clear().envs(environment);
    client.proxy = Proxy::spawn(command);
    let body = client.body(&["first", &"a long prompt ".repeat(1000)]);
    for _ in 0..2 {
        let started = Instant::now();
        assert_eq!(client.send(&body), body);
        assert!(started.elapsed() < LONGEST);
    }
    // A graceful end waits for the thread that records.
    let notes = client.proxy.errors();
    let count = |text: &str| notes.lines().filter(|line| line.contains(text)).count();
    assert_eq!(
        (count("requests have the changes of earlier ones, new changes wait: "), count("cannot write to ")),
        (1, 1),
        "{notes}"
    );
    client.proxy = Proxy::of(&client.sandbox, &client.api);
    assert_ne!(client.send(&body), body, "with space again, the operation holds");
}

#[test]
fn a_killed_proxy_continues_with_the_same_bytes() {
    // The API answers when it is told to.
    let (step, steps) = channel::<()>();
    let steps = Mutex::new(steps);
    let api = Api::new(move |_, connection| {
        write!(connection, "HTTP/1.1 {EVENTS}\r\n\r\n").unwrap();
        let _ = connection.write_all(&chunk(&STREAM_BYTES[..40]));
        if steps.lock().unwrap().recv().is_ok() {
            let _ = connection.write_all(&[&chunk(&STREAM_BYTES[40..])[..], b"0\r\n\r\n"].concat());
        }
    });
    let mut client = Client::of("tools-and-spill", "[pipeline]\nmanifest = false\n", api);
    step.send(()).unwrap();
    client.send(&client.body(&["first"]));
    client.settle();
    client.sandbox.text(&["archive", "16"]);
    client.sandbox.text(&["stage", "the deadline is Friday"]);
    step.send(()).unwrap();
    let body = client.body(&["first"]);
    let sent = client.send(&body);
    assert!(sent != body && sent.contains("the deadline is Friday") && !sent.contains("\"after\""), "{sent}");
    let prefix = sent.split("]}],\"tools\"").next().unwrap();
    let again = |client: &mut Client| {
        let port = client.proxy.port;
        client.proxy.kill();
        let address = format!("127.0.0.1:{port}");
        let arguments = ["proxy", "--listen", &address, "--upstream", &client.api.url()];
        client.proxy = Proxy::spawn(client.sandbox.command(&arguments));
    };
    // Between two requests.
    again(&mut client);
    step.send(()).unwrap();
    assert_eq!(client.send(&body), sent);
    // While the answer passes.
    let second = client.body(&["first", "second"]);
    client.sandbox.text(&["stage", "and the door is blue"]);
    let count = client.api.seen().len();
    let mut running = client.proxy.connect();
    let port = client.proxy.port;
    let head =
        format!("host: 127.0.0.1:{port}\r\nx-claude-code-session-id: {}\r\ncontent-length: {}", client.session, second.len());
    write!(running, "POST /{SECRET}/v1/messages HTTP/1.1\r\n{head}\r\n\r\n{second}").unwrap();
    wait_for("the request", || (client.api.seen().len() > count).then_some(()));
    let mut answer = [0; 1024];
    assert!(running.read(&mut answer).unwrap() > 0);
    let before = client.api.last_body();
    again(&mut client);
    let mut rest = Vec::new();
    let _ = running.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "the answer is cut");
    step.send(()).unwrap();
    step.send(()).unwrap();
    let retried = client.send(&second);
    assert_eq!(retried.as_bytes(), before);
    assert!(retried.starts_with(prefix) && retried.contains("the door is blue"), "{prefix}\n{retried}");
}
