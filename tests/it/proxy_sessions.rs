//! Sessions that exist only in requests: read and changed by other processes while the proxy runs, and by their model.
#![allow(clippy::disallowed_types, reason = "the client and the API of the proxy")]

use crate::network::{Api, Proxy, answer_events, find, header, send, split};
use crate::sandbox::{Sandbox, all_or, files_below, sample, wait_for};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An API whose requests are sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Messages,
    Chat,
    Responses,
}

const FORMS: [Form; 3] = [Form::Messages, Form::Chat, Form::Responses];
/// A word that only the result of the tool has.
const WORD: &str = "xylophone";

impl Form {
    fn path(self) -> &'static str {
        match self {
            Form::Messages => "/v1/messages",
            Form::Chat => "/v1/chat/completions",
            Form::Responses => "/v1/responses",
        }
    }

    /// Returns the body of a request whose conversation has a long result and these prompts.
    fn body(self, prompts: &[&str]) -> Value {
        let lines: Vec<String> = (0..300).map(|line| format!("line {line} of the file with a {WORD} and other words")).collect();
        let (result, input) = (lines.join("\n"), json!({"filePath": "/p/a.txt"}));
        let text = |role: &str, text: &str| match self {
            Form::Messages => json!({"role": role, "content": [{"type": "text", "text": text}]}),
            Form::Chat => json!({"role": role, "content": text}),
            Form::Responses if role == "user" => json!({"role": role, "content": [{"type": "input_text", "text": text}]}),
            Form::Responses => json!({"role": role, "content": [{"type": "output_text", "text": text}]}),
        };
        let mut messages = vec![text("user", "read the file")];
        messages.extend(match self {
            Form::Messages => vec![
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": input}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": result}]}),
            ],
            Form::Chat => vec![
                json!({"role": "assistant", "content": "", "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "read", "arguments": input.to_string()}}]}),
                json!({"role": "tool", "tool_call_id": "t1", "content": result}),
            ],
            Form::Responses => vec![
                json!({"type": "function_call", "call_id": "t1", "name": "read", "arguments": input.to_string()}),
                json!({"type": "function_call_output", "call_id": "t1", "output": result}),
            ],
        });
        for prompt in prompts {
            messages.extend([text("assistant", &format!("before {prompt}")), text("user", prompt)]);
        }
        let mut body = self.request(messages);
        if self == Form::Messages {
            // It moves from message to message.
            let last = body["messages"].as_array_mut().unwrap().last_mut().unwrap();
            last["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
        body
    }

    fn request(self, messages: Vec<Value>) -> Value {
        let parameters = json!({"type": "object"});
        match self {
            Form::Messages => json!({"model": "claude-sonnet-4-5", "system": "You are an agent.", "messages": messages,
                "tools": [{"name": "read", "input_schema": parameters}]}),
            Form::Chat => json!({"model": "m", "messages": messages,
                "tools": [{"type": "function", "function": {"name": "read", "parameters": parameters}}]}),
            Form::Responses => json!({"model": "m", "input": messages, "store": false,
                "tools": [{"type": "function", "name": "read", "parameters": parameters}]}),
        }
    }

    /// Returns a response with a text and, if commands are given, a call of the tool of aperture.
    fn response(self, text: &str, commands: Option<&str>) -> Value {
        let input = json!({"commands": commands});
        match self {
            Form::Messages => {
                let call = commands.map(|_| json!({"type": "tool_use", "id": "o1", "name": "aperture", "input": input}));
                let content: Vec<Value> = call.into_iter().chain([json!({"type": "text", "text": text})]).collect();
                let stop = if commands.is_some() { "tool_use" } else { "end_turn" };
                json!({"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": stop,
                    "usage": {"input_tokens": 9, "output_tokens": 1}})
            }
            Form::Chat => {
                let mut message = json!({"role": "assistant", "content": text});
                if commands.is_some() {
                    let function = json!({"name": "aperture", "arguments": input.to_string()});
                    message["tool_calls"] = json!([{"id": "o1", "type": "function", "function": function}]);
                }
                let reason = if commands.is_some() { "tool_calls" } else { "stop" };
                json!({"id": "c", "object": "chat.completion", "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
                    "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
            }
            Form::Responses => {
                let call = commands.map(|_| {
                    json!({"type": "function_call", "id": "f1", "call_id": "o1", "name": "aperture",
                    "arguments": input.to_string()})
                });
                let text = json!({"type": "message", "id": "m1", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
                let output: Vec<Value> = call.into_iter().chain([text]).collect();
                json!({"id": "r", "object": "response", "status": "completed", "output": output,
                    "usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}})
            }
        }
    }
}

/// A client without session files behind the proxy.
struct Client {
    sandbox: Sandbox,
    api: Api,
    proxy: Option<Proxy>,
    form: Form,
    script: Arc<Mutex<VecDeque<Value>>>,
    session: String,
}

impl Client {
    fn new(form: Form) -> Client {
        Client::with(form, Sandbox::new(), "ses_1")
    }

    fn with(form: Form, sandbox: Sandbox, session: &str) -> Client {
        let script: Arc<Mutex<VecDeque<Value>>> = Arc::default();
        let next = script.clone();
        let api = Api::new(move |_, stream| {
            let answer = next.lock().unwrap().pop_front().unwrap_or_else(|| form.response("fine", None));
            match answer.as_str() {
                Some(events) => answer_events(stream, events),
                None => send(stream, "200 OK\r\ncontent-type: application/json", answer.to_string().as_bytes()),
            }
        });
        let proxy = Some(Proxy::of(&sandbox, &api));
        Client { sandbox, api, proxy, form, script, session: session.to_owned() }
    }

    /// Sends a conversation and returns the answer.
    fn post(&self, body: &Value) -> String {
        let name = if self.session.is_empty() { String::new() } else { format!("x-session-id: {}\r\n", self.session) };
        let (head, answer) = self.proxy.as_ref().unwrap().post(self.form.path(), &name, body.to_string().as_bytes());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends the conversation with these prompts and returns the bytes that the API received.
    fn send(&self, prompts: &[&str]) -> String {
        self.post(&self.form.body(prompts));
        String::from_utf8(self.api.last_body()).unwrap()
    }

    fn run(&self, command: &[&str]) -> String {
        self.sandbox.text(&[command, &["-s", &self.session]].concat())
    }

    /// Returns the number of the long result, once the session is known.
    fn result(&self) -> String {
        wait_for("the session", || (self.sandbox.run(&["status", "-s", &self.session]).code == 0).then_some(()));
        let blocks = self.sandbox.json(&["blocks", "-s", &self.session], "aperture.blocks/2");
        let mut blocks = blocks["blocks"].as_array().unwrap().iter();
        blocks.find(|block| block["kind"] == "tool_result").unwrap()["number"].to_string()
    }

    fn stop(&mut self) {
        self.sandbox.text(&["proxy", "stop"]);
        self.proxy = None;
    }

    fn restart(&mut self) {
        self.stop();
        self.proxy = Some(Proxy::of(&self.sandbox, &self.api));
    }
}

#[test]
fn a_session_without_a_file_is_changed_by_another_process() {
    for form in FORMS {
        let sandbox = Sandbox::new();
        sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\n");
        let mut client = Client::with(form, sandbox, "ses_1");
        assert!(client.send(&[]).contains(WORD), "{form:?}");
        let result = client.result();
        let sessions = client.sandbox.json(&["sessions"], "aperture.sessions/2");
        let session = &sessions["sessions"][0];
        assert_eq!((&session["id"], &session["open"], &session["turns"]), (&json!("ses_1"), &json!(true), &json!(1)));
        let prompts = ["one", "two", "three"];
        let original = client.send(&prompts);
        assert!(client.run(&["archive", &result]).contains("1 block archived"));
        let archived = client.send(&prompts);
        assert!(!archived.contains(WORD) && archived.contains(" | archived from "), "{form:?}");
        assert!(client.run(&["show", &result]).contains("archived"));
        assert!(client.run(&["log"]).contains(&format!("archive {result}")));
        let verified = client.sandbox.text(&["verify", "--all"]);
        assert!(verified.contains("1 in force; undoing everything restores the original, byte for byte"), "{verified}");
        assert!(client.sandbox.text(&["gc"]).contains("nothing to delete"));
        // A later proxy sends the same bytes; until then the session cannot be read.
        client.stop();
        let gone = client.sandbox.run(&["status", "-s", "ses_1"]);
        assert!(gone.code == 1 && gone.stderr.contains("the session ses_1 is in no file"), "{}", gone.stderr);
        assert_eq!(client.sandbox.text(&["verify", "--all"]), verified);
        client.proxy = Some(Proxy::of(&client.sandbox, &client.api));
        assert_eq!(client.send(&prompts), archived, "{form:?}");
        // The conversation continues, then the changes are undone in order.
        client.send(&["one", "two", "three", "four"]);
        client.result();
        assert!(client.run(&["expand", &result]).contains("expanded"));
        assert_eq!(client.send(&prompts), original, "{form:?}");
        client.run(&["undo"]);
        assert_eq!(client.send(&prompts), archived, "{form:?}");
        client.run(&["undo"]);
        assert_eq!(client.send(&prompts), original, "{form:?}");
        assert!(client.sandbox.text(&["verify", "--all"]).contains("nothing is in force"));
    }
}

#[test]
fn the_bytes_of_a_session_are_sent_again_when_they_have_changed() {
    let client = Client::new(Form::Chat);
    client.send(&[]);
    let result = client.result();
    let state: Value = serde_json::from_slice(&fs::read(client.sandbox.home.join(".aperture/proxy.json")).unwrap()).unwrap();
    let path = format!("GET /.aperture/sessions/{:?}", aperture::model::Key::from_bytes(b"ses_1"));
    let get = |version: &str| {
        let token = state["token"].as_str().unwrap();
        let headers = format!("x-aperture-control: {token}\r\nif-none-match: {version}\r\n");
        let (head, body) = split(client.proxy.as_ref().unwrap().request(&path, &headers, b""));
        let version = header(&head, "etag").unwrap_or_default().to_owned();
        (head.split(' ').nth(1).unwrap().to_owned(), version, String::from_utf8(body).unwrap())
    };
    client.run(&["archive", &result]);
    let (status, version, bytes) = get("\"other\"");
    assert_eq!((status.as_str(), bytes.contains(WORD)), ("200", false));
    assert_eq!(get(&version), ("304".to_owned(), String::new(), String::new()));
    client.run(&["undo"]);
    let (status, restored, bytes) = get(&version);
    assert_eq!((status.as_str(), bytes.contains(WORD), restored == version), ("200", true, false));
    client.send(&["another prompt"]);
    let (status, _, bytes) = get(&restored);
    assert_eq!((status.as_str(), bytes.contains("another prompt")), ("200", true));
}

#[test]
fn a_session_with_large_requests_has_its_manifest() {
    let client = Client::new(Form::Messages);
    let with_image = |prompts: &[&str]| {
        let mut body = Form::Messages.body(prompts);
        let source = json!({"type": "base64", "media_type": "image/png", "data": "A".repeat(6_000_000)});
        body["messages"][0]["content"].as_array_mut().unwrap().push(json!({"type": "image", "source": source}));
        body
    };
    client.post(&with_image(&[]));
    client.result();
    let mut prompts = vec!["first"];
    wait_for("the manifest", || {
        client.post(&with_image(&prompts));
        prompts.push("next");
        std::thread::sleep(Duration::from_secs(1));
        find(&client.api.last_body(), b"[CONTEXT MANIFEST").map(drop)
    });
}

#[test]
fn the_manifest_follows_the_next_prompt() {
    for form in FORMS {
        let client = Client::new(form);
        assert!(!client.send(&[]).contains("MANIFEST"), "{form:?}");
        let mut prompts = Vec::new();
        let body = wait_for("the manifest", || {
            prompts.push(format!("prompt {}", prompts.len()));
            std::thread::sleep(Duration::from_millis(500));
            let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
            Some(client.send(&prompts)).filter(|body| body.contains("[CONTEXT MANIFEST"))
        });
        let manifest = &body[body.find("[CONTEXT MANIFEST").unwrap()..];
        let task = format!("Current task: \\\"{}\\\"", prompts.last().unwrap());
        assert!(manifest.contains(&task), "{form:?}: {manifest}");
        assert!(manifest.contains("a.txt #") && !manifest.contains("before prompt"), "{form:?}: {manifest}");
    }
}

#[test]
fn a_call_of_the_model_is_answered_with_the_content() {
    for form in FORMS {
        let mut client = Client::new(form);
        let begin = form.request(vec![json!({"role": "user", "content": "begin"})]);
        client.post(&begin);
        client.send(&[]);
        let result = client.result();
        client.run(&["archive", &result]);
        let commands = format!("@recall({result})\n@pin({result})");
        client.script.lock().unwrap().extend([form.response("", Some(&commands)), form.response("found", None)]);
        let answer = client.post(&form.body(&["one"]));
        assert!(answer.contains("found") && !answer.contains("\"aperture\""), "{form:?}: {answer}");
        let continued = String::from_utf8(client.api.last_body()).unwrap();
        assert!(continued.contains(WORD), "the recall has the archived content");
        assert!(continued.contains(&format!("@pin({result}) (from the next request on)")), "{form:?}: {continued}");
        assert!(client.run(&["log"]).contains(&format!("@pin({result})")));
        // Later requests have the call, although the client does not name the message by its id.
        let mut later = form.body(&["one"]);
        let list = if form == Form::Responses { "input" } else { "messages" };
        let kind = if form == Form::Responses { "output_text" } else { "text" };
        let found = if form == Form::Chat { json!("found") } else { json!([{"type": kind, "text": "found"}]) };
        later[list].as_array_mut().unwrap().push(json!({"role": "assistant", "content": found}));
        later[list].as_array_mut().unwrap().push(json!({"role": "user", "content": "two"}));
        client.post(&later);
        let later = String::from_utf8(client.api.last_body()).unwrap();
        assert!(later.contains(&format!("@pin({result}) (from the next request on)")), "{form:?}: {later}");
        client.restart();
    }
}

#[test]
fn commands_in_the_text_of_the_model_are_executed_once_each() {
    let client = Client::new(Form::Messages);
    client.send(&[]);
    let result = client.result();
    let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let says = |text: &str| {
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
        let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}});
        Value::from([delta, end, json!({"type": "message_stop"})].map(event).concat())
    };
    let count = || client.sandbox.json(&["log", "-s", "ses_1"], "aperture.log/2")["operations"].as_array().unwrap().len();
    for (number, verb) in ["@pin", "@unpin", "@pin"].iter().enumerate() {
        client.script.lock().unwrap().push_back(says(&format!("{verb}({result})")));
        client.send(&["one", "two", "three"][..number]);
        wait_for("the operation", || (count() == number + 1).then_some(()));
    }
    wait_for("the results", || {
        client.send(&["one", "two", "three", "four"]).contains("Results of the commands in your last message").then_some(())
    });
    let refused = client.sandbox.run(&["obey", "-s", "ses_1"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("the proxy executes the commands of this session"),
        "{}",
        refused.stderr
    );
    assert_eq!(count(), 3);
}

#[test]
fn a_selection_reaches_the_model_once() {
    for form in sample(FORMS, 2) {
        let sandbox = Sandbox::new();
        sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\n");
        let client = Client::with(form, sandbox, "ses_1");
        client.send(&[]);
        let result = client.result();
        let mut prompts = vec!["one"];
        client.send(&prompts);
        for (command, statement) in [("focus", "User has highlighted the following"), ("unfocus", "The user cleared the")] {
            client.run(&[command, &result]);
            wait_for(statement, || {
                prompts.push("next");
                std::thread::sleep(Duration::from_millis(500));
                client.send(&prompts).contains(statement).then_some(())
            });
            for _ in 0..all_or(2, 1) {
                prompts.push("later");
                std::thread::sleep(Duration::from_millis(500));
                assert_eq!(client.send(&prompts).matches(statement).count(), 1, "{form:?}");
            }
        }
    }
}

#[test]
fn outcomes_of_commands_follow_the_next_prompt() {
    for form in FORMS {
        let sandbox = Sandbox::new();
        sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\n[model]\narchive = \"approve\"\n");
        let client = Client::with(form, sandbox, "ses_1");
        client.send(&[]);
        let result = client.result();
        let commands = format!("Done.\n\n@pin(9999)\n\n@archive({result})");
        client.script.lock().unwrap().push_back(form.response(&commands, None));
        client.send(&["one"]);
        let count = |sent: &str, text: &str| sent.matches(text).count();
        let mut prompts = vec!["one"];
        let failed = wait_for("the results", || {
            prompts.push("next");
            std::thread::sleep(Duration::from_millis(500));
            Some(client.send(&prompts)).filter(|sent| sent.contains("Results of the commands"))
        });
        assert!(failed.contains("@pin(9999) was not executed"), "{form:?}: {failed}");
        assert!(failed.contains(&format!("@archive({result}) is not executed yet: the user must approve it")), "{form:?}");
        client.run(&["deny", "--pending", "--reason", "it is needed"]);
        // Not a moment later: the next prompt has it.
        prompts.push("after the decision");
        let denied = format!("@archive({result}) is denied: it is needed");
        assert_eq!(count(&client.send(&prompts), &denied), 1, "{form:?}");
        prompts.push("later");
        assert_eq!(count(&client.send(&prompts), &denied), 1, "{form:?}: it stays at its place");
    }
}

#[test]
fn a_session_that_its_client_does_not_name_has_a_hash() {
    let mut client = Client::with(Form::Chat, Sandbox::new(), "");
    let begin = Form::Chat.request(vec![json!({"role": "user", "content": "read the file"})]);
    client.post(&begin);
    assert!(find(&client.api.last_body(), b"\"aperture\"").is_some(), "the model has the tool from the first request on");
    assert!(client.send(&[]).contains("\"aperture\""));
    let id = wait_for("the session", || {
        let sessions = client.sandbox.run(&["sessions", "--json"]);
        let sessions: Value = serde_json::from_str(&sessions.stdout).ok()?;
        sessions["sessions"][0]["id"].as_str().map(str::to_owned)
    });
    client.sandbox.text(&["compress", "tool(read)", "-s", &id[..8]]);
    assert!(!client.send(&["one"]).contains("line 250 of the file"));
    client.restart();
    assert!(!client.send(&["one"]).contains("line 250 of the file"));
}

#[test]
fn contents_of_requests_are_not_written_to_a_disk() {
    let client = Client::new(Form::Responses);
    client.send(&["one"]);
    client.result();
    for command in [&["manifest"][..], &["compress", "--budget", "1k", "--dry-run"], &["summary"], &["check"]] {
        client.run(command);
    }
    let files = files_below(&client.sandbox.home);
    assert!(files.iter().any(|file| file.ends_with("store.db")), "{files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        assert!(memchr::memmem::find(&bytes, WORD.as_bytes()).is_none(), "{}", file.display());
        assert!(memchr::memmem::find(&bytes, b"proxy:/").is_none() || file.ends_with("store.db"), "{}", file.display());
    }
}

/// The first request of a session whose client names its working directory.
fn first_body(form: Form, client: &Client, prompt: &str) -> Value {
    let environment = format!("<env>\n  Working directory: {}\n</env>", client.sandbox.project.display());
    let mut body = form.request(vec![json!({"role": "user", "content": prompt})]);
    match form {
        Form::Messages => body["system"] = json!(environment),
        Form::Chat => body["messages"].as_array_mut().unwrap().insert(0, json!({"role": "system", "content": environment})),
        Form::Responses => body["instructions"] = json!(environment),
    }
    body
}

#[test]
fn a_sealed_store_serves_a_proxy_and_without_its_key_requests_pass() {
    let sandbox = Sandbox::new();
    sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\n");
    sandbox.seal();
    let mut client = Client::with(Form::Messages, sandbox, "ses_1");
    client.send(&[]);
    let (result, prompts) = (client.result(), ["one", "two", "three"]);
    let original = client.send(&prompts);
    assert!(client.run(&["archive", &result]).contains("1 block archived"));
    let archived = client.send(&prompts);
    assert!(original.contains(WORD) && !archived.contains(WORD));
    let refused = client.sandbox.run(&["store", "decrypt"]);
    assert!(refused.code == 3 && refused.stderr.contains("another process has it open"), "{}", refused.stderr);
    client.stop();
    let (key, elsewhere) = (client.sandbox.home.with_file_name("key"), client.sandbox.home.with_file_name("elsewhere"));
    fs::rename(&key, &elsewhere).unwrap();
    client.proxy = Some(Proxy::of(&client.sandbox, &client.api));
    assert_eq!(client.send(&prompts), original, "it passes as the client sent it");
    // With the key, the change is in force again.
    fs::rename(&elsewhere, &key).unwrap();
    client.restart();
    assert_eq!(client.send(&prompts), archived);
    client.stop();
    assert_eq!(client.sandbox.json(&["store"], "aperture.store-status/1")["state"], "sealed");
    client.sandbox.text(&["store", "decrypt"]);
    client.proxy = Some(Proxy::of(&client.sandbox, &client.api));
    assert_eq!(client.send(&prompts), archived);
}

#[test]
fn the_first_prompt_of_a_new_session_brings_memories() {
    const LESSON: &str = "The linter needs the network.";
    for form in FORMS {
        let sandbox = Sandbox::new();
        sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\ntool = false\n");
        sandbox.text(&["memory", "add", LESSON, "--file", "gotchas"]);
        let mut client = Client::with(form, sandbox, "ses_1");
        let first = first_body(form, &client, "begin");
        let sent = |client: &Client, body: &Value| {
            client.post(body);
            String::from_utf8(client.api.last_body()).unwrap()
        };
        let received = sent(&client, &first);
        assert!(received.contains(LESSON), "{form:?}: {received}");
        assert_eq!(sent(&client, &first), received, "the same request gives the same bytes");
        // Later prompts keep it at its place, also after a restart, and have it once.
        let list = if form == Form::Responses { "input" } else { "messages" };
        let mut later = first.clone();
        let kind = if form == Form::Responses { "output_text" } else { "text" };
        later[list].as_array_mut().unwrap().extend([
            json!({"role": "assistant", "content": [{"type": kind, "text": "fine"}]}),
            json!({"role": "user", "content": "go on"}),
        ]);
        let received_later = sent(&client, &later);
        let kept = received.split(LESSON).next().unwrap().trim_end_matches('}');
        let start = &kept[kept.find(&format!("\"{list}\"")).unwrap()..];
        assert!(received_later.contains(start) && received_later.matches(LESSON).count() == 1, "{form:?}: {received_later}");
        client.restart();
        assert_eq!(sent(&client, &later), received_later, "{form:?}");
        let reads = client.sandbox.home.join(".aperture/store.db");
        let store = rusqlite::Connection::open_with_flags(&reads, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let count: i64 =
            store.query_row("SELECT COUNT(*) FROM memory_reads WHERE session = 'ses_1'", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
    }
}

#[test]
fn memories_are_sent_only_to_new_sessions_that_have_none() {
    let sandbox = Sandbox::new();
    sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\ntool = false\n");
    sandbox.text(&["memory", "add", "The linter needs the network.", "--file", "gotchas"]);
    let client = Client::with(Form::Messages, sandbox, "ses_1");
    let is_sent = |body: &Value| {
        client.post(body);
        client.api.last_body() != body.to_string().into_bytes()
    };
    let mut body = first_body(Form::Messages, &client, "begin");
    let system = body["system"].take();
    body.as_object_mut().unwrap().remove("system");
    assert!(!is_sent(&body), "no directory, no memory");
    body["system"] = json!("Working directory: /nowhere/at/all\n");
    assert!(!is_sent(&body));
    body["system"] = system;
    let mut resumed = body.clone();
    resumed["messages"]
        .as_array_mut()
        .unwrap()
        .extend([json!({"role": "assistant", "content": "fine"}), json!({"role": "user", "content": "go on"})]);
    assert!(!is_sent(&resumed), "the session began before");
    let told = crate::hooks::told(
        &client.sandbox,
        "SessionStart",
        &json!({"session_id": "ses_1", "source": "startup", "cwd": client.sandbox.project}),
    );
    let mut hooked = body.clone();
    hooked["messages"][0]["content"] = json!(format!("{told}\nbegin"));
    assert!(told.contains("linter") && !is_sent(&hooked), "the hook of the client sent it");
    assert!(is_sent(&body));
    let off = Sandbox::new();
    off.write("aperture.toml", "[pipeline]\nmanifest = false\ntool = false\nmemory = false\n");
    off.text(&["memory", "add", "The linter needs the network.", "--file", "gotchas"]);
    let client = Client::with(Form::Messages, off, "ses_1");
    let body = first_body(Form::Messages, &client, "begin");
    client.post(&body);
    assert_eq!(String::from_utf8(client.api.last_body()).unwrap(), body.to_string());
}

#[test]
fn the_tool_of_the_model_adds_memories_to_the_project_that_the_request_names() {
    for form in FORMS {
        let client = Client::new(form);
        client.post(&first_body(form, &client, "begin"));
        wait_for("the session", || (client.sandbox.run(&["status", "-s", "ses_1"]).code == 0).then_some(()));
        client.script.lock().unwrap().extend([
            form.response("", Some("@create(\"learned: `make seed` fills the database\")\n@archive(memory-9)")),
            form.response("kept", None),
        ]);
        client.post(&first_body(form, &client, "begin"));
        let continued = String::from_utf8(client.api.last_body()).unwrap();
        assert!(continued.contains("memory-1 saved, pending until the user accepts it"), "{form:?}: {continued}");
        assert!(continued.contains("there is no memory 'memory-9'"), "{form:?}: {continued}");
        let known = client.sandbox.json(&["memory", "list"], "aperture.memories/1")["memories"][0].clone();
        assert_eq!((&known["state"], &known["by_model"]), (&json!("pending"), &json!(true)), "{form:?}");
    }
}
