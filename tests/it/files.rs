//! Sessions in files that no client lists: bodies of requests, lines of messages, logs of gateways.

use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::fs;

/// A Chat Completions request of two turns.
fn chat(model: &str) -> Value {
    let log = (1..=300).map(|line| format!("line {line}: compiled module_{line}\n")).collect::<String>();
    json!({"model": model, "stream": true, "messages": [
        {"role": "system", "content": "You are an agent. Answer briefly."},
        {"role": "user", "content": "Why does the build of the shop fail?"},
        {"role": "assistant", "content": "", "reasoning_content": "The log will tell.", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"make all\"}"}},
            {"id": "call_2", "type": "function", "function": {"name": "read", "arguments": "{\"filePath\":\"/work/shop/src/total.rs\"}"}},
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": log},
        {"role": "tool", "tool_call_id": "call_2", "content": "fn total() -> u64 {\n    missing\n}\n"},
        {"role": "assistant", "content": "The name `missing` is not defined in src/total.rs."},
        {"role": "user", "content": [{"type": "text", "text": "Then define it as 3."}]},
    ], "tools": [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]})
}

fn messages() -> Value {
    json!({"model": "claude-sonnet-4-5", "system": "You are an agent.", "messages": [
        {"role": "user", "content": "List the files."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "LS", "input": {"path": "/work"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.rs\nb.rs"}]},
    ], "max_tokens": 100})
}

fn responses() -> Value {
    json!({"model": "gpt-5", "instructions": "You are an agent.", "input": [
        {"role": "user", "type": "message", "content": [{"type": "input_text", "text": "List the files."}]},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{\"command\":[\"ls\"]}"},
        {"type": "function_call_output", "call_id": "c", "output": "a.rs"},
    ]})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn a_saved_body_is_a_session() {
    let sandbox = Sandbox::new();
    sandbox.write("chat.json", serde_json::to_string_pretty(&chat("gpt-5")).unwrap());
    sandbox.write("messages.json", messages().to_string());
    sandbox.write("responses.json", responses().to_string());
    let commands = ["status", "blocks", "transcript", "manifest", "check"].map(|command| format!("{command} -s chat.json"));
    let others = ["blocks -s messages.json", "transcript -s responses.json", "compress 4 --dry-run -s chat.json"];
    let all: Vec<&str> = commands.iter().map(String::as_str).chain(others).collect();
    sandbox.snapshot("files-bodies", &all);
}

#[test]
fn a_changed_body_is_restored_byte_for_byte() {
    let sandbox = Sandbox::new();
    let chat = serde_json::to_string_pretty(&chat("gpt-5")).unwrap() + " \n";
    for (name, body) in
        [("chat.json", chat), ("messages.json", messages().to_string()), ("responses.json", responses().to_string())]
    {
        let path = sandbox.write(name, &body);
        let number = if name == "chat.json" { "6" } else { "4" };
        sandbox.text(&["update", number, "other text", "-s", name]);
        let changed = fs::read_to_string(&path).unwrap();
        assert!(changed != body && changed.contains("other text"), "{name}");
        serde_json::from_str::<Value>(&changed).unwrap();
        sandbox.text(&["undo", "-s", name]);
        assert!(fs::read_to_string(&path).unwrap() == body, "{name}");
    }
}

#[test]
fn lines_of_messages_are_a_session() {
    let sandbox = Sandbox::new();
    let messages = chat("gpt-5")["messages"].as_array().unwrap().clone();
    let path = sandbox.write("lines.jsonl", lines(&messages));
    sandbox.snapshot("files-lines", &["blocks -s lines.jsonl", "archive 6 -s lines.jsonl", "undo -s lines.jsonl"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), lines(&messages));
}

#[test]
fn the_newest_request_of_a_log_is_a_session_that_is_only_read() {
    let sandbox = Sandbox::new();
    let answer = json!({"choices": [{"message": {"role": "assistant", "content": "Done."}}]});
    let log = lines(&[
        json!({"request": {"body": {"messages": [{"role": "user", "content": "an older request"}]}}}),
        json!({"id": 2, "request": {"url": "/v1/chat/completions", "body": chat("gpt-5")}, "response": {"status": 200, "body": answer}}),
    ]);
    let path = sandbox.write("gateway.jsonl", &log);
    let examples =
        [json!({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}), chat("gpt-5")];
    sandbox.write("examples.jsonl", lines(&examples));
    let commands = [
        "blocks -s gateway.jsonl",
        "compress 6 --dry-run -s gateway.jsonl",
        "compress 6 -s gateway.jsonl",
        "blocks -s examples.jsonl",
    ];
    sandbox.snapshot("files-logs", &commands);
    assert_eq!(fs::read_to_string(&path).unwrap(), log);
}

#[test]
fn tokens_are_counted_in_the_vocabulary_of_the_model() {
    let sandbox = Sandbox::new();
    let text = "日本語のテキスト\nfn main() {\n        3\n}\n";
    let mut counts = Vec::new();
    for model in ["gpt-5", "gpt-4"] {
        let body = json!({"model": model, "messages": [{"role": "user", "content": text.repeat(20)}]});
        sandbox.write("body.json", body.to_string());
        for _ in 0..2 {
            counts
                .push(sandbox.json(&["blocks", "-s", "body.json"], "aperture.blocks/2")["blocks"][0]["tokens"]["value"].clone());
        }
    }
    let counts: Vec<u64> = counts.iter().map(|count| count.as_f64().unwrap() as u64).collect();
    assert!(counts.chunks(2).all(|pair| pair[0] == pair[1]), "{counts:?}");
    assert!(counts[0] < counts[2], "{counts:?}");
}
