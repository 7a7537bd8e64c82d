//! Requests of a session that pass the proxy: the operations of the session hold from the next request on.
#![allow(clippy::disallowed_types, reason = "the client and the API of the proxy")]

use crate::changing::bytes;
use crate::network::{Api, Proxy, SECRET, answer_events, message, send, stream};
use crate::sandbox::{PATIENCE, Sandbox, wait_for};
use aperture::wire::stages::STAGES;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// A client behind the proxy: its session, and the contents that its requests have.
pub struct Client {
    pub sandbox: Sandbox,
    pub api: Api,
    pub proxy: Proxy,
    pub session: String,
    result: String,
}

impl Client {
    fn new() -> Client {
        Client::with("")
    }

    pub fn with(settings: &str) -> Client {
        Client::of("tools-and-spill", settings, Api::new(stream))
    }

    pub fn of(fixture: &str, settings: &str, api: Api) -> Client {
        Client::behind(fixture, settings, api, &[])
    }

    /// Creates a client behind a proxy with these arguments.
    fn behind(fixture: &str, settings: &str, api: Api, arguments: &[&str]) -> Client {
        let sandbox = Sandbox::of(fixture);
        sandbox.write("aperture.toml", settings);
        let proxy = Proxy::start(&sandbox, &[&["--upstream", &api.url()], arguments].concat());
        let session = sandbox.first_session().file_stem().unwrap().to_string_lossy().into_owned();
        let result = sandbox.json(&["show", "16"], "aperture.show/2")["blocks"][0]["content"].as_str().unwrap().to_owned();
        Client { sandbox, api, proxy, session, result }
    }

    /// Returns the body of a request with these prompts after the first turn.
    pub fn body(&self, prompts: &[&str]) -> String {
        let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "shop/big.py"}});
        let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": self.result});
        let mut messages = vec![
            json!({"role": "user", "content": "read it"}),
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "before"}, call]}),
            json!({"role": "user", "content": [result]}),
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "after"}, {"type": "text", "text": "done"}]}),
        ];
        for (place, prompt) in prompts.iter().enumerate() {
            messages.push(json!({"role": "user", "content": prompt}));
            if place + 1 < prompts.len() {
                messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "fine"}]}));
            }
        }
        json!({"model": "claude-opus-5-5", "messages": messages, "tools": [{"name": "Read"}], "stream": true}).to_string()
    }

    /// Sends a body and returns the one that the API received.
    pub fn send(&self, body: &str) -> String {
        let headers =
            format!("x-claude-code-session-id: {}\r\nx-api-key: key\r\ncontent-type: application/json\r\n", self.session);
        let (head, _) = self.proxy.post("/v1/messages?beta=true", &headers, body.as_bytes());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        String::from_utf8(self.api.last_body()).unwrap()
    }

    /// Waits until the proxy has recorded the session, after its first request.
    pub fn settle(&self) {
        let store = self.sandbox.home.join(".aperture/store.db");
        wait_for("the record of the session", || {
            let store = rusqlite::Connection::open_with_flags(&store, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
            let sql = "SELECT process FROM wire_sessions WHERE session = ?1";
            store.query_row(sql, [&self.session], |row| row.get::<_, i64>(0)).ok()
        });
    }
}

#[test]
fn an_operation_holds_from_the_next_request_on() {
    let client = Client::with("[pipeline]\nmanifest = false\n");
    let body = client.body(&["go on"]);
    assert_eq!(client.send(&body), body, "without an operation every byte stays");
    client.settle();
    // The client has the session open, and no --live is needed.
    client.sandbox.open_in_client();
    let archived = client.sandbox.text(&["archive", "16"]);
    assert!(!archived.contains("/resume"), "{archived}");
    let sent = client.send(&body);
    let parsed: Value = serde_json::from_str(&sent).unwrap();
    let text = parsed["messages"][2]["content"][0]["content"].as_str().unwrap();
    assert!(text.starts_with("[@16 | archived from"), "{text}");
    assert!(sent.contains("\"before\"") && !sent.contains("\"after\""), "thinking after the change is left out");
    assert_eq!(client.send(&body), sent, "the same request gives the same bytes");
    client.sandbox.text(&["undo"]);
    let undone = client.send(&body);
    assert_eq!(undone, body.replace(r#"{"type":"thinking","thinking":"","signature":"after"},"#, ""));
    let requests =
        client.sandbox.json(&["proxy", "requests"], "aperture.proxy-requests/1")["requests"].as_array().unwrap().clone();
    assert_eq!(requests.len(), 4);
    let changed = &requests[1];
    assert!(changed["sent_bytes"].as_u64() < changed["client_bytes"].as_u64(), "{changed}");
    let explained = client.sandbox.text(&["proxy", "explain", "2"]);
    assert!(explained.contains("1 content as operation 1 of the log has it"), "{explained}");
}

#[test]
fn recorded_bodies_show_what_was_changed_in_a_request() {
    let settings = "[pipeline]\nmanifest = false\n";
    let client = Client::behind("tools-and-spill", settings, Api::new(stream), &["--record", "bodies"]);
    let body = client.body(&["go on"]);
    client.send(&body);
    client.settle();
    client.sandbox.text(&["archive", "16"]);
    client.send(&body);
    let explained = |number: &str, condition: fn(&str) -> bool| {
        wait_for("the records", || {
            let report = client.sandbox.json(&["proxy", "explain", number], "aperture.proxy-request/1");
            report["difference"].as_str().filter(|text| condition(text)).map(str::to_owned)
        })
    };
    explained("1", str::is_empty);
    let changed = explained("2", |text| !text.is_empty());
    assert!(changed.contains("\n+") && changed.contains("[@16 | archived from") && changed.contains("\n-"), "{changed}");
    let text = client.sandbox.text(&["proxy", "explain", "2"]);
    assert!(text.contains("lines more\n") && text.contains("bodies in ") && text.lines().count() < 60, "{text}");
}

#[test]
fn folded_turns_need_no_resume() {
    let client = Client::with("[pipeline]\nmanifest = false\n");
    let body = client.body(&["go on"]);
    client.send(&body);
    client.settle();
    client.sandbox.open_in_client();
    let original = bytes(&client.sandbox);
    let folded = client.sandbox.text(&["compress", "--preset", "handoff"]);
    assert!(!folded.contains("/resume"), "{folded}");
    let status = client.sandbox.text(&["status"]);
    assert!(!status.contains("/resume"), "{status}");
    // This request is of another conversation: it stays, with a note.
    assert_eq!(client.send(&body), body);
    let explained = client.sandbox.text(&["proxy", "explain", "2"]);
    assert!(explained.contains("operation 1 of the log is left out"), "{explained}");
    let unapplied = "operation 1 is not in effect: the last request did not have its contents; to apply: /resume 11111111";
    let joined = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for command in [&["status"][..], &["proxy", "status"]] {
        let text = joined(client.sandbox.text(command));
        assert!(text.contains(unapplied), "{text}");
    }
    crate::watch::Watching::new(&client.sandbox, &["--lines"]).until(unapplied);
    // The client has the contents that the undo restores.
    let undone = client.sandbox.text(&["undo"]);
    assert!(!undone.contains("/resume"), "{undone}");
    assert!(bytes(&client.sandbox) == original);
    let status = client.sandbox.text(&["status"]);
    assert!(!status.contains("not in effect"), "{status}");
}

#[test]
fn the_manifest_and_staged_texts_follow_each_new_prompt() {
    let client = Client::new();
    let first = client.body(&["first"]);
    assert_eq!(client.send(&first), first);
    client.settle();
    client.sandbox.text(&["stage", "the deadline is Friday"]);
    // The manifest is prepared after the answer.
    let second = wait_for("a request with the manifest", || {
        let sent = client.send(&client.body(&["first", "second"]));
        sent.contains("deadline").then_some(sent)
    });
    assert!(second.contains("the deadline is Friday"), "{second}");
    let third = client.send(&client.body(&["first", "second", "third"]));
    let prefix = second.split("]}],\"tools\"").next().unwrap();
    assert!(third.starts_with(prefix), "the inserted texts stay at their place:\n{second}\n{third}");
    assert_eq!(client.sandbox.text(&["stage"]), "no staged texts\n");
}

#[test]
fn a_proxy_that_observes_changes_nothing() {
    let client = Client::new();
    client.sandbox.text(&["archive", "16"]);
    client.sandbox.text(&["stage", "a note"]);
    let observing = Proxy::start(&Sandbox::new(), &["--observe", "--upstream", &format!("http://127.0.0.1:{}", client.api.port)]);
    let body = client.body(&["go on"]);
    let headers = format!("x-claude-code-session-id: {}\r\n", client.session);
    observing.post("/v1/messages", &headers, body.as_bytes());
    assert_eq!(client.api.last_body(), body.as_bytes());
    assert_ne!(client.send(&body), body);
}

#[test]
fn commands_in_an_answer_are_executed_once() {
    let api = Api::new(|_, stream| {
        let text = |text: &str| json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}});
        let events = ["I keep it.\n@pi", "n(16)\n"].map(|part| format!("event: content_block_delta\ndata: {}\n\n", text(part)));
        answer_events(stream, &events.concat());
    });
    let client = Client::of("tools-and-spill", "", api);
    client.send(&client.body(&["go on"]));
    client.settle();
    let pinned = wait_for("the pin", || Some(client.sandbox.text(&["pin"])).filter(|list| !list.contains("no pinned blocks")));
    assert!(pinned.contains("16"), "{pinned}");
    let log = client.sandbox.json(&["log"], "aperture.log/2");
    assert_eq!(log["operations"].as_array().unwrap().len(), 1, "{log}");
}

#[test]
fn outcomes_of_commands_follow_the_next_prompt_unless_a_hook_told_them() {
    for has_hook in [false, true] {
        let commands = AtomicBool::new(true);
        let api = Api::new(move |_, stream| {
            let text = if commands.swap(false, Ordering::Relaxed) { "Fine.\n\n@pin(9999)\n\n@archive(16)\n" } else { "fine" };
            let delta = json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}});
            answer_events(stream, &format!("event: content_block_delta\ndata: {delta}\n\n"));
        });
        let client = Client::of("tools-and-spill", "[pipeline]\nmanifest = false\n", api);
        client.send(&client.body(&["go on"]));
        wait_for("the commands", || Some(()).filter(|()| client.sandbox.text(&["inbox"]).contains("archive")));
        let hook = || {
            let payload = json!({"transcript_path": client.sandbox.first_session()}).to_string();
            client.sandbox.given(&["hook", "UserPromptSubmit"], &payload).stdout
        };
        let outcomes = ["aperture: @pin(9999) was not executed: ", "aperture: @archive(16) needs the user's approval: "];
        let told = if has_hook { hook() } else { String::new() };
        let sent = client.send(&client.body(&["go on", "second"]));
        for outcome in outcomes {
            assert_eq!((told.contains(outcome), sent.contains(outcome)), (has_hook, !has_hook), "{told}\n{sent}");
        }
        client.sandbox.text(&["deny", "--pending"]);
        let denied = "aperture: @archive(16) is denied: rejected by the user";
        let sent = client.send(&client.body(&["go on", "second", "third"]));
        assert_eq!(sent.matches(denied).count(), 1, "{sent}");
        assert!(!hook().contains(denied), "the model has it");
        let sent = client.send(&client.body(&["go on", "second", "third", "fourth"]));
        assert_eq!((sent.matches(denied).count(), sent.matches(outcomes[0]).count()), (1, usize::from(!has_hook)), "{sent}");
    }
}

#[test]
fn selected_blocks_and_headers_follow_the_next_prompt() {
    let client = Client::with("[pipeline]\nmanifest = false\nheaders = true\n");
    client.send(&client.body(&["first"]));
    client.settle();
    client.sandbox.text(&["focus", "16"]);
    let sent = wait_for("the selection", || {
        let sent = client.send(&client.body(&["first", "second"]));
        sent.contains("highlighted").then_some(sent)
    });
    let parsed: Value = serde_json::from_str(&sent).unwrap();
    let added = parsed["messages"][6]["content"][1]["text"].as_str().unwrap();
    assert!(added.starts_with("User has highlighted the following blocks as relevant: #16 ("), "{added}");
    for part in ["aperture lists here the headers", "--- Message ID: ", "[Part ID: block-"] {
        assert!(added.contains(part), "no {part}:\n{added}");
    }
    let explained = client.sandbox.text(&["proxy", "explain", "2"]);
    let stages: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
    let mut found: Vec<&str> = explained.lines().filter_map(|line| line.split(' ').next()).collect();
    found.retain(|word| stages.contains(word));
    found.dedup();
    assert_eq!(found, stages, "{explained}");
    // The explanation is added once.
    let third = wait_for("the headers of the third prompt", || {
        let sent = client.send(&client.body(&["first", "second", "third"]));
        let last = sent.rsplit("third").next().unwrap_or_default();
        last.contains("Part ID").then(|| sent.clone())
    });
    assert_eq!(third.matches("aperture lists here").count(), 1, "{third}");
}

#[test]
fn a_pinned_block_that_a_compaction_dropped_follows_the_next_prompt_once() {
    let client = Client::of("interactive-compact", "", Api::new(stream));
    client.sandbox.text(&["pin", "21"]);
    client.send(&client.body(&["first"]));
    client.settle();
    let second = wait_for("the pinned block", || {
        let sent = client.send(&client.body(&["first", "second"]));
        sent.contains("First answer done.").then_some(sent)
    });
    let third = client.send(&client.body(&["first", "second", "third"]));
    let count = |sent: &str| sent.matches("Blocks that the user pinned").count();
    assert_eq!((count(&second), count(&third)), (1, 1));
    // The manifest does not report as missing what the same prompt brings.
    assert!(second.contains("[CONTEXT MANIFEST") && !second.contains("pinned, and not in the window"), "{second}");
}

#[test]
fn a_large_body_passes_as_it_arrives_until_there_is_an_operation() {
    let client = Client::with("[pipeline]\nmanifest = false\n");
    let long = "a long prompt ".repeat(10_000);
    let body = client.body(&[&long]);
    let list =
        || client.sandbox.json(&["proxy", "requests"], "aperture.proxy-requests/1")["requests"].as_array().unwrap().clone();
    // The first request of a session is read whole, the second one passes.
    for count in 1..=2 {
        assert_eq!(client.send(&body), body);
        client.settle();
        let ended = || list().pop().filter(|request| request["outcome"] == "done");
        let listed = wait_for("the end of the request", ended);
        assert_eq!((&listed["number"], &listed["model"]), (&json!(count), &json!("claude-opus-5-5")));
        assert_eq!((&listed["session"], &listed["client_bytes"]), (&json!(client.session), &json!(body.len())));
        assert_eq!(listed["stages"].as_array().unwrap().last().unwrap()["note"], "sent as received");
    }
    client.sandbox.text(&["archive", "16"]);
    let changed = client.send(&body);
    assert!(changed.len() < body.len() && changed.contains("archived from"), "the operation holds from the next request on");
    assert_eq!(client.send(&body), changed);
}

#[test]
fn the_beginning_of_a_large_body_is_sent_before_its_end_arrives() {
    let mut client = Client::with("[pipeline]\nmanifest = false\ntool = false\n");
    let body = client.body(&[&"a long prompt ".repeat(10_000)]);
    client.send(&body);
    client.settle();
    client.proxy.kill();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (report, reported) = channel();
    thread::spawn(move || {
        loop {
            let (mut stream, mut rest) = (listener.accept().unwrap().0, Vec::new());
            stream.peek(&mut [0]).unwrap();
            report.send(Vec::new()).unwrap();
            report.send(message(&mut stream, &mut rest).unwrap().1).unwrap();
            send(&mut stream, "200 OK\r\nconnection: close", b"{}");
        }
    });
    let proxy = Proxy::start(&client.sandbox, &["--upstream", &url]);
    let (port, session) = (client.proxy.port, &client.session);
    let head = format!("host: 127.0.0.1:{port}\r\nx-claude-code-session-id: {session}\r\ncontent-length: {}", body.len());
    let (first, rest) = body.split_at(100_000);
    // A request is read whole after any change of the store, such as the record of the session after the first answer.
    for _ in 0..20 {
        let mut stream = proxy.connect();
        write!(stream, "POST /{SECRET}/v1/messages HTTP/1.1\r\nconnection: close\r\n{head}\r\n\r\n{first}").unwrap();
        let has_begun = reported.recv_timeout(Duration::from_millis(500)).is_ok();
        stream.write_all(rest.as_bytes()).unwrap();
        if !has_begun {
            reported.recv_timeout(PATIENCE).unwrap();
        }
        assert_eq!(reported.recv_timeout(PATIENCE).unwrap(), body.as_bytes());
        stream.read_to_end(&mut Vec::new()).unwrap();
        if has_begun {
            return;
        }
    }
    panic!("no request was sent before its end arrived");
}
