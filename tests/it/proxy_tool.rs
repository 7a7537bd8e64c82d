//! The tool of aperture behind the proxy: the model calls it, the client never sees it, and later requests have the calls.
#![allow(clippy::disallowed_types, reason = "the client and the API of the proxy")]

use crate::network::{Api, Proxy, SECRET, answer_events, send};
use crate::sandbox::{Sandbox, wait_for};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The answers of a scripted model.
pub type Script = Arc<Mutex<VecDeque<Answer>>>;

pub enum Answer {
    /// A stream of events.
    Events(String),
    /// A document, with this as the end of its head.
    Document(&'static str, Vec<u8>),
    /// An error of the API.
    Error,
}

fn event(value: Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

/// Returns a response with these content blocks, each with one delta.
fn response(blocks: &[Value]) -> Answer {
    let usage = json!({"input_tokens": 7, "cache_read_input_tokens": 100, "output_tokens": 1});
    let mut events = event(json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": usage}}));
    for (index, block) in blocks.iter().enumerate() {
        let (mut start, delta) = (block.clone(), block["type"].as_str().unwrap());
        let delta = match delta {
            "thinking" => json!({"type": "signature_delta", "signature": start["signature"].take()}),
            "text" => json!({"type": "text_delta", "text": start["text"].take()}),
            _ => json!({"type": "input_json_delta", "partial_json": start["input"].take().to_string()}),
        };
        let empty = |value: &mut Value, name: &str, to: Value| value.get_mut(name).map(|value| *value = to);
        empty(&mut start, "signature", json!(""));
        empty(&mut start, "text", json!(""));
        empty(&mut start, "input", json!({}));
        events += &event(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events += &event(json!({"type": "content_block_stop", "index": index}));
    }
    let stop = if blocks.iter().any(|block| block["type"] == "tool_use") { "tool_use" } else { "end_turn" };
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 10}});
    Answer::Events(events + &event(delta) + &event(json!({"type": "message_stop"})))
}

fn thinking(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "", "signature": signature})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn own(id: &str, commands: &str) -> Value {
    call(id, "aperture", json!({"commands": commands}))
}

/// A client whose model has the tool.
pub struct Talk {
    pub sandbox: Sandbox,
    pub api: Api,
    pub proxy: Proxy,
    pub session: String,
    script: Script,
    messages: Vec<Value>,
}

impl Talk {
    pub fn new(answers: Vec<Answer>) -> Talk {
        let script: Script = Arc::new(Mutex::new(answers.into()));
        let next = script.clone();
        let api = Api::new(move |_, stream| match next.lock().unwrap().pop_front() {
            Some(Answer::Events(events)) => answer_events(stream, &events),
            Some(Answer::Document(head, document)) => send(stream, &format!("200 OK\r\n{head}"), &document),
            Some(Answer::Error) => {
                let _ = stream.write_all(b"HTTP/1.1 529 Overloaded\r\ncontent-length: 2\r\n\r\n{}");
            }
            None => panic!("a request too many"),
        });
        Talk::with(script, api)
    }

    fn with(script: Script, api: Api) -> Talk {
        let sandbox = Sandbox::of("tools-and-spill");
        sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\n");
        let proxy = Talk::proxy(&sandbox, &api);
        let session = sandbox.first_session().file_stem().unwrap().to_string_lossy().into_owned();
        Talk { sandbox, api, proxy, session, script, messages: Vec::new() }
    }

    fn proxy(sandbox: &Sandbox, api: &Api) -> Proxy {
        Proxy::start(sandbox, &["--upstream", &format!("http://127.0.0.1:{}", api.port)])
    }

    pub fn restart(&mut self) {
        // A proxy that is still running would be found.
        self.sandbox.text(&["proxy", "stop"]);
        self.proxy = Talk::proxy(&self.sandbox, &self.api);
    }

    fn body(&self) -> String {
        let tools = json!([{"name": "Read", "input_schema": {"type": "object"}}]);
        json!({"model": "claude-opus-5-5", "messages": self.messages, "tools": tools, "stream": true}).to_string()
    }

    fn headers(&self) -> String {
        format!("x-claude-code-session-id: {}\r\n", self.session)
    }

    /// Sends the conversation with another message of the user, adds the answer to it, and returns its end.
    fn send(&mut self, content: Value) -> Value {
        self.messages.push(json!({"role": "user", "content": content}));
        let (head, answer) = self.proxy.post("/v1/messages?beta=true", &self.headers(), self.body().as_bytes());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let (blocks, end) = received(&answer);
        self.messages.push(json!({"role": "assistant", "content": blocks}));
        end
    }

    /// Returns the content blocks that the client received last.
    fn answer(&self) -> &Value {
        &self.messages.last().unwrap()["content"]
    }

    /// Returns the messages of all requests that the API received.
    fn upstream(&self) -> Vec<Vec<Value>> {
        let bodies = self.api.bodies().into_iter().map(|body| serde_json::from_slice::<Value>(&body).unwrap());
        bodies
            .map(|body| {
                assert_eq!(body["tools"][1]["name"], "aperture", "each request of the conversation offers it");
                body["messages"].as_array().unwrap().clone()
            })
            .collect()
    }

    pub fn left(&self) -> usize {
        self.script.lock().unwrap().len()
    }
}

/// Returns the content blocks of a stream and the event of its end. Checks that it is one message with all its blocks in order.
fn received(answer: &[u8]) -> (Vec<Value>, Value) {
    let answer = crate::network::dechunked(answer);
    assert!(answer.1, "the body is complete");
    let stream = String::from_utf8(answer.0).unwrap();
    let events = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).unwrap()).collect();
    let kinds = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((kinds("message_start"), kinds("message_delta"), kinds("message_stop")), (1, 1, 1), "{stream}");
    let mut blocks: Vec<Value> = Vec::new();
    for event in &events {
        let index = event["index"].as_u64().map(|index| index as usize);
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(index, Some(blocks.len()), "{stream}");
                blocks.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let (block, delta) = (&mut blocks[index.unwrap()], &event["delta"]);
                match delta["type"].as_str().unwrap() {
                    "signature_delta" => block["signature"] = delta["signature"].clone(),
                    "text_delta" => block["text"] = delta["text"].clone(),
                    _ => block["input"] = serde_json::from_str(delta["partial_json"].as_str().unwrap()).unwrap(),
                }
            }
            _ => {}
        }
    }
    assert!(!stream.contains("\"aperture\""), "the client never sees the tool: {stream}");
    (blocks, events.into_iter().find(|event| event["type"] == "message_delta").unwrap())
}

fn result_of(message: &Value, id: &str) -> String {
    let results = message["content"].as_array().unwrap().iter();
    let result = results.filter(|part| part["tool_use_id"] == id).map(|part| part["content"].as_str().unwrap().to_owned());
    result.collect::<Vec<_>>().join("|")
}

#[test]
fn a_call_alone_is_answered_within_the_same_message() {
    let first = [thinking("s1"), text("I look."), own("o1", "@recall(16)")];
    let second = [thinking("s2"), text("Found.")];
    let third = [text("You are welcome.")];
    let mut talk = Talk::new(vec![response(&first), response(&second), response(&third), response(&third)]);
    let original = talk.sandbox.json(&["show", "16"], "aperture.show/2")["blocks"][0]["content"].as_str().unwrap().to_owned();
    talk.sandbox.text(&["archive", "16"]);
    let end = talk.send(json!("ask"));
    assert_eq!(end["delta"]["stop_reason"], "end_turn");
    assert_eq!(end["usage"], json!({"output_tokens": 20, "input_tokens": 7, "cache_read_input_tokens": 100}));
    assert_eq!(talk.answer(), &json!([thinking("s1"), text("I look."), thinking("s2"), text("Found.")]));
    let seen = talk.upstream();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1][..2], [json!({"role": "user", "content": "ask"}), json!({"role": "assistant", "content": first})]);
    let found = result_of(&seen[1][2], "o1");
    assert!(found.starts_with("@recall(16): Recalled from earlier in this session"), "{found}");
    assert!(found.contains(original.lines().next().unwrap()), "{found}\n{original}");
    // Later requests have the conversation as the model had it, also after a restart.
    talk.send(json!("thanks"));
    let later = talk.upstream().pop().unwrap();
    assert_eq!(later[..3], seen[1]);
    assert_eq!(later[3..], [json!({"role": "assistant", "content": second}), json!({"role": "user", "content": "thanks"})]);
    talk.messages.pop();
    talk.messages.pop();
    talk.restart();
    talk.send(json!("thanks"));
    assert_eq!(talk.api.bodies().iter().rev().take(2).collect::<std::collections::BTreeSet<_>>().len(), 1, "the same bytes");
    assert_eq!(talk.left(), 0);
    // The numbers continue after those of the first proxy.
    let explained = talk.sandbox.text(&["proxy", "explain", "4"]);
    assert!(explained.contains("1 response with the calls of aperture put back"), "{explained}");
}

#[test]
fn a_body_that_has_no_room_while_its_response_passes_is_continued_whole() {
    let mut talk = Talk::new(vec![response(&[own("o1", "@recall(16)")]), response(&[text("Found.")])]);
    // More than all the room for running requests.
    let ask: String = (0..900_000).map(|number: u32| format!("{:08x} ", number.wrapping_mul(2_654_435_761))).collect();
    talk.send(json!(ask));
    assert_eq!(talk.answer(), &json!([text("Found.")]));
    let seen = talk.upstream();
    assert_eq!((seen.len(), &seen[1][0]), (2, &json!({"role": "user", "content": ask})));
}

#[test]
fn beside_calls_of_the_client_only_the_own_call_is_withheld() {
    let read = |id: &str| call(id, "Read", json!({"a": 1}));
    let first = [thinking("s1"), read("t1"), own("o1", "@pin(16)"), read("t2")];
    let mut talk = Talk::new(vec![response(&first), response(&[text("done")]), response(&[text("again")])]);
    let end = talk.send(json!("ask"));
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(talk.answer(), &json!([thinking("s1"), read("t1"), read("t2")]));
    assert!(talk.sandbox.text(&["pin"]).contains("16"), "it was executed at once");
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "a"});
    talk.send(json!([result("t1"), result("t2")]));
    talk.restart();
    talk.send(json!("go on"));
    let seen = talk.upstream();
    for request in &seen[1..] {
        assert_eq!(request[1]["content"], json!(first));
        let ids: Vec<&str> =
            request[2]["content"].as_array().unwrap().iter().map(|part| part["tool_use_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["t1", "t2", "o1"]);
        assert!(result_of(&request[2], "o1").starts_with("@pin(16) (from the next request on): "), "{request:?}");
    }
    assert_eq!((seen.len(), &seen[2][..3]), (3, &seen[1][..]));
}

#[test]
fn calls_in_a_row_are_answered_up_to_a_limit() {
    let mut answers: Vec<Answer> = (0..10).map(|number| response(&[own(&format!("o{number}"), "@recall(\"x y z\")")])).collect();
    answers.push(response(&[text("next")]));
    let mut talk = Talk::new(answers);
    talk.messages.push(json!({"role": "user", "content": "earlier"}));
    let end = talk.send(json!("ask"));
    assert_eq!((&end["delta"]["stop_reason"], talk.answer()), (&json!("end_turn"), &json!([])));
    assert_eq!(end["usage"]["output_tokens"], 100);
    let last = talk.upstream().pop().unwrap();
    assert_eq!(talk.left(), 1);
    assert!(result_of(&last[3], "o0").contains("no matching content"), "{last:?}");
    assert!(result_of(last.last().unwrap(), "o8").contains("too many calls"), "{last:?}");
}

#[test]
fn a_call_of_two_responses_in_a_row_divides_the_message_twice() {
    let (first, second, third) =
        ([own("o1", "@recall(\"x y z\")")], [text("Not yet."), own("o2", "nonsense")], [thinking("s3"), text("Done.")]);
    let mut talk = Talk::new(vec![response(&first), response(&second), response(&third), response(&[text("next")])]);
    talk.send(json!("ask"));
    assert_eq!(talk.answer(), &json!([text("Not yet."), thinking("s3"), text("Done.")]));
    let before = talk.upstream().pop().unwrap();
    assert!(result_of(&before[4], "o2").contains("'nonsense' is not a command"), "{before:?}");
    talk.send(json!("thanks"));
    let later = talk.upstream().pop().unwrap();
    assert_eq!(later[..5], before);
    assert_eq!(later[5], json!({"role": "assistant", "content": third}));
}

#[test]
fn a_continuation_is_told_apart_from_an_earlier_answer_with_the_same_text() {
    let (first, second) = ([text("Found.")], [own("o1", "@recall(\"x y z\")")]);
    let mut talk = Talk::new(vec![response(&first), response(&second), response(&first), response(&first)]);
    talk.send(json!("ask"));
    talk.send(json!("again"));
    let before = talk.upstream().pop().unwrap();
    talk.send(json!("thanks"));
    let later = talk.upstream().pop().unwrap();
    assert_eq!((later[..5].to_vec(), &later[5]["content"]), (before, &json!(first)));
}

#[test]
fn if_the_continuation_fails_the_message_ends_and_the_call_is_kept() {
    let first = [text("I look."), own("o1", "@recall(\"x y z\")")];
    let mut talk = Talk::new(vec![response(&first), Answer::Error, response(&[text("next")])]);
    let end = talk.send(json!("ask"));
    assert_eq!((&end["delta"]["stop_reason"], talk.answer()), (&json!("end_turn"), &json!([text("I look.")])));
    talk.send(json!("why"));
    let later = talk.upstream().pop().unwrap();
    assert_eq!(later[1]["content"], json!(first));
    assert_eq!((later[2]["content"][0]["tool_use_id"].as_str(), &later[2]["content"][1]), (Some("o1"), &text("why")));
    let requests = talk.sandbox.json(&["proxy", "requests"], "aperture.proxy-requests/1");
    let statuses: Vec<u64> =
        requests["requests"].as_array().unwrap().iter().map(|request| request["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 529, 200]);
}

#[test]
fn a_client_that_hangs_up_ends_the_continuation() {
    let (gone, is_gone) = channel();
    let gone = Mutex::new(gone);
    let api = Api::new(move |request, stream| {
        if !String::from_utf8_lossy(&request.body).contains("tool_result") {
            let Answer::Events(events) = response(&[own("o1", "@recall(\"x y z\")")]) else { panic!() };
            return answer_events(stream, &events);
        }
        let event = event(json!({"type": "ping"}));
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
        write!(stream, "{:x}\r\n{event}\r\n", event.len()).unwrap();
        while stream.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
        gone.lock().unwrap().send(()).unwrap();
    });
    let mut talk = Talk::with(Script::default(), api);
    talk.messages.push(json!({"role": "user", "content": "ask"}));
    let (body, mut stream) = (talk.body(), talk.proxy.connect());
    let head = format!("POST /{SECRET}/v1/messages HTTP/1.1\r\nhost: localhost:{}\r\n{}", talk.proxy.port, talk.headers());
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut read = Vec::new();
    wait_for("the continuation", || {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).unwrap();
        read.extend_from_slice(&piece[..count]);
        String::from_utf8_lossy(&read).contains("\"ping\"").then_some(())
    });
    drop(stream);
    wait_for("the end at the API", || is_gone.try_recv().ok());
    wait_for("the list of requests", || {
        let requests = talk.sandbox.json(&["proxy", "requests"], "aperture.proxy-requests/1");
        let outcomes: Vec<&str> =
            requests["requests"].as_array().unwrap().iter().map(|request| request["outcome"].as_str().unwrap()).collect();
        (outcomes == ["done", "aborted"]).then_some(())
    });
}

#[test]
fn a_call_in_the_first_answer_waits_for_the_session_file() {
    let mut talk = Talk::new(vec![response(&[own("o1", "@pin(16)")]), response(&[text("done")])]);
    let file = talk.sandbox.first_session();
    let away = file.with_extension("away");
    std::fs::rename(&file, &away).unwrap();
    talk.messages.push(json!({"role": "user", "content": "ask"}));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for("the call", || (talk.script.lock().unwrap().len() == 1).then_some(()));
            std::fs::rename(&away, &file).unwrap();
        });
        let (head, _) = talk.proxy.post("/v1/messages", &talk.headers(), talk.body().as_bytes());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    });
    talk.messages = talk.upstream().pop().unwrap();
    assert!(result_of(&talk.messages[2], "o1").starts_with("@pin(16) (from the next request on)"), "{:?}", talk.messages);
}

#[test]
fn the_responses_api_has_the_tool_too() {
    let said =
        |id: &str| json!({"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": id}]});
    let own = json!({"type": "function_call", "id": "fc_1", "call_id": "o1", "name": "aperture", "arguments": "{\"commands\":\"@pin(16)\"}"});
    let events = |items: &[Value]| {
        let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
        let added = items.iter().enumerate().flat_map(|(index, item)| {
            ["added", "done"]
                .map(|step| json!({"type": format!("response.output_item.{step}"), "output_index": index, "item": item}))
        });
        let usage = json!({"input_tokens": 9, "output_tokens": 1, "total_tokens": 10});
        let end = json!({"type": "response.completed", "response": {"id": "r", "output": items, "usage": usage}});
        let all = std::iter::once(json!({"type": "response.created", "response": {"id": "r"}})).chain(added).chain([end]);
        Answer::Events(all.map(event).collect())
    };
    let script = vec![events(&[said("m1"), own.clone()]), events(&[said("m2")]), events(&[said("m3")])];
    let talk = Talk::new(script);
    let headers = format!("session-id: {}\r\n", talk.session);
    let send = |input: &[&Value]| {
        let tools = json!([{"type": "function", "name": "shell"}]);
        let body = json!({"model": "gpt-5.5", "input": input, "tools": tools, "store": false, "stream": true}).to_string();
        let (head, answer) = talk.proxy.post("/v1/responses", &headers, body.as_bytes());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        String::from_utf8(crate::network::dechunked(&answer).0).unwrap()
    };
    let ask = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ask"}]});
    let received = send(&[&ask]);
    assert!(!received.contains("aperture"), "{received}");
    let completed = received.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let completed: Value = serde_json::from_str(completed).unwrap();
    let output = json!({"id": "r", "output": [said("m1"), said("m2")], "usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}});
    assert_eq!((&completed["type"], &completed["response"]), (&json!("response.completed"), &output));
    assert!(talk.sandbox.text(&["pin"]).contains("16"));
    send(&[&ask, &said("m1"), &said("m2"), &ask]);
    let inputs: Vec<Value> =
        talk.api.bodies().iter().map(|body| serde_json::from_slice::<Value>(body).unwrap()["input"].take()).collect();
    let result = inputs[1][3].clone();
    assert_eq!((&result["type"], &result["call_id"]), (&json!("function_call_output"), &json!("o1")));
    assert_eq!(inputs[1], json!([ask, said("m1"), own, result]));
    assert_eq!(inputs[2], json!([ask, said("m1"), own, result, said("m2"), ask]));
}

#[test]
fn a_call_that_cannot_be_stored_is_in_later_requests_all_the_same() {
    let first = [thinking("s1"), own("o1", "@recall(16)")];
    let rest = ["one", "two", "three", "four"].map(|word| response(&[text(word)]));
    let mut talk = Talk::new([response(&[text("zero")]), response(&first)].into_iter().chain(rest).collect());
    talk.send(json!("begin"));
    let store = rusqlite::Connection::open(talk.sandbox.home.join(".aperture/store.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    talk.send(json!("ask"));
    let continued = talk.upstream().pop().unwrap();
    assert!(result_of(&continued[4], "o1").contains("locked"), "{continued:?}");
    // While the store is locked, then when it can be used, and by another proxy.
    talk.send(json!("next"));
    let status = talk.sandbox.text(&["status"]);
    assert!(status.contains("degraded  new changes wait, known ones are sent from memory: the store is not"), "{status}");
    store.execute_batch("ROLLBACK").unwrap();
    talk.send(json!("next"));
    let is_degraded = || talk.sandbox.text(&["status"]).contains("degraded");
    // The work beside the request may come after its answer.
    let end = Instant::now() + Duration::from_secs(20);
    while is_degraded() {
        assert!(Instant::now() < end, "the store can be used again");
        std::thread::sleep(Duration::from_millis(100));
    }
    talk.restart();
    talk.send(json!("next"));
    for later in &talk.upstream()[3..] {
        assert_eq!(later[..5], continued[..5]);
    }
    assert_eq!(talk.left(), 0);
}
