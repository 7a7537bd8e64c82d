//! A talk of many turns behind the proxy: its requests stay within the budget, and what left the window is found.
#![allow(clippy::disallowed_types, reason = "the client and the API of the proxy")]

use crate::network::{Api, Proxy, Seen, answer_events};
use crate::sandbox::{Sandbox, all_or};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ID: &str = "30030030-0000-4000-8000-000000000000";
const PAUSE: Duration = Duration::from_secs(3);
const FACT: &str = "the code of the harbour gate is XQ-4471";

fn tokens(body: &[u8]) -> usize {
    body.len() / 3
}

/// Answers a question with a call of the tool, the result of the call with an end, and any other prompt with `answer`.
fn respond(seen: &Seen, stream: &mut TcpStream) {
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let last = messages.last().unwrap()["content"].to_string();
    let usage = json!({"input_tokens": tokens(&seen.body), "output_tokens": 200});
    let (block, delta, stop) = match () {
        () if last.contains("tool_result") => text("It is found."),
        () if last.contains("Which code") => {
            let input = json!({"commands": "@recall(\"code of the harbour gate\")"}).to_string();
            let block = json!({"type": "tool_use", "id": "own", "name": "aperture", "input": {}});
            (block, json!({"type": "input_json_delta", "partial_json": input}), "tool_use")
        }
        () => text(&answer(turn_of(&last))),
    };
    let events = [
        json!({"type": "message_start", "message": {"id": format!("m{}", seen.body.len()), "role": "assistant", "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 200}}),
        json!({"type": "message_stop"}),
    ];
    let events = events.map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    answer_events(stream, &events.concat());
}

fn text(text: &str) -> (Value, Value, &'static str) {
    (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}), "end_turn")
}

fn turn_of(prompt: &str) -> usize {
    let digits = prompt.split("part ").nth(1).unwrap_or_default();
    digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse().unwrap_or_default()
}

/// Returns what the agent says in a turn.
fn answer(turn: usize) -> String {
    let depths: String = (0..3).map(|at| format!("Buoy {at} of part {turn} is at a depth of {} feet. ", turn * 7 + at)).collect();
    let fact = if turn == 3 { format!("By the way, {FACT}. ") } else { String::new() };
    format!("Part {turn} is checked.\n\n{depths}\n\n{fact}{depths}")
}

/// A client that writes each turn to its file and sends the whole conversation.
struct Talker {
    sandbox: Sandbox,
    api: Api,
    proxy: Proxy,
    file: PathBuf,
    messages: Vec<Value>,
}

impl Talker {
    fn new(budget: usize) -> Talker {
        let sandbox = Sandbox::new();
        sandbox.write("aperture.toml", format!("[budget]\ntokens = {budget}\n[pipeline]\nmanifest = false\nbudget = true\n"));
        let api = Api::new(respond);
        let proxy = Proxy::of(&sandbox, &api);
        let file = sandbox.session(ID, String::new(), 0);
        Talker { sandbox, api, proxy, file, messages: Vec::new() }
    }

    /// Writes a row of the file.
    fn write(&self, kind: &str, message: &Value) {
        let number = self.messages.len();
        let parent = if number > 1 { json!(format!("u{}", number - 1)) } else { Value::Null };
        let time = format!("2026-11-21T{:02}:{:02}:{:02}.000Z", 10 + number / 3600, number / 60 % 60, number % 60);
        let row = json!({
            "type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "timestamp": time, "isSidechain": false,
            "cwd": "/home/dev/shop", "sessionId": ID, "version": "2.1.330", "message": message,
        });
        let mut file = fs::OpenOptions::new().append(true).open(&self.file).unwrap();
        file.write_all(format!("{row}\n").as_bytes()).unwrap();
    }

    /// Sends a prompt and returns the tokens of its request upstream.
    fn send(&mut self, prompt: &str, said: &str) -> usize {
        let message = json!({"role": "user", "content": prompt});
        self.messages.push(message.clone());
        self.write("user", &message);
        let tools = json!([{"name": "Read", "input_schema": {"type": "object"}}]);
        let body = json!({"model": "claude-opus-5-5", "messages": self.messages, "tools": tools, "stream": true});
        let headers = format!("x-claude-code-session-id: {ID}\r\n");
        let (head, _) = self.proxy.post("/v1/messages?beta=true", &headers, body.to_string().as_bytes());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let sent = tokens(&self.api.last_body());
        let content = json!([{"type": "text", "text": said}]);
        self.messages.push(json!({"role": "assistant", "content": content}));
        let usage = json!({"input_tokens": sent, "output_tokens": 200});
        let id = format!("msg_{}", self.messages.len());
        let row = json!({
            "id": id, "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": content,
            "stop_reason": "end_turn", "usage": usage,
        });
        self.write("assistant", &row);
        sent
    }

    fn operations(&self) -> usize {
        self.sandbox.json(&["log", "-s", ID], "aperture.log/2")["operations"].as_array().unwrap().len()
    }
}

#[test]
fn a_long_talk_stays_within_the_budget_and_an_early_fact_is_found() {
    let (turns, budget) = all_or((300, 20_000), (100, 8_000));
    let mut talk = Talker::new(budget);
    let (mut whole, mut most, mut changes) = (0, 0, 0);
    for turn in 1..=turns {
        let sent = talk.send(&format!("check part {turn} of the map"), &answer(turn));
        whole = whole.max(tokens(json!(talk.messages).to_string().as_bytes()));
        most = most.max(sent);
        // A person reads each answer before the next prompt.
        let started = Instant::now();
        while sent > budget && talk.operations() == changes && started.elapsed() < PAUSE {
            std::thread::sleep(Duration::from_millis(100));
        }
        changes = if sent > budget { talk.operations() } else { changes };
    }
    assert!(whole > budget * 3 / 2 && changes > 1, "{whole} tokens, {changes} changes");
    assert!(most < budget + budget / 20, "{most} tokens in a request, {changes} changes");
    let before = talk.api.seen().len();
    talk.send("Which code opens the harbour gate?", "It is found.");
    let bodies = talk.api.bodies();
    assert!(bodies.len() <= before + 2, "{} requests", bodies.len() - before);
    assert!(String::from_utf8_lossy(bodies.last().unwrap()).contains(FACT), "{}", talk.operations());
    talk.sandbox.text(&["verify"]);
}
