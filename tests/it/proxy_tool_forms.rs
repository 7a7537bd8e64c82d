//! The tool of aperture in the Chat Completions API, and in responses that are not streams.

use crate::proxy_tool::{Answer, Talk};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn call(id: &str, name: &str, commands: &str) -> Value {
    let arguments = json!({"commands": commands}).to_string();
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn usage(output: u64) -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": output, "total_tokens": 100 + output})
}

/// Returns a stream of chunks with a text and calls, whose arguments are divided.
fn chunks(id: &str, text: &str, calls: &[Value]) -> Answer {
    let chunk = |delta: Value, reason: Option<&str>| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        format!("data: {}\n\n", json!({"id": id, "object": "chat.completion.chunk", "choices": choices}))
    };
    let mut stream = chunk(json!({"role": "assistant", "content": ""}), None);
    stream += &text.split_inclusive(' ').map(|word| chunk(json!({"content": word}), None)).collect::<String>();
    for (index, call) in calls.iter().enumerate() {
        let mut start = call.clone();
        let arguments = start["function"]["arguments"].take().as_str().unwrap().to_owned();
        (start["index"], start["function"]["arguments"]) = (index.into(), "".into());
        stream += &chunk(json!({"tool_calls": [start]}), None);
        for part in [&arguments[..5], &arguments[5..]] {
            stream += &chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]}), None);
        }
    }
    stream += &chunk(json!({}), Some(if calls.is_empty() { "stop" } else { "tool_calls" }));
    let end = json!({"id": id, "object": "chat.completion.chunk", "choices": [], "usage": usage(10)});
    Answer::Events(stream + &format!("data: {end}\n\ndata: [DONE]\n\n"))
}

fn post(talk: &Talk, path: &str, body: &Value) -> String {
    let headers = format!("x-session-id: {}\r\n", talk.session);
    let (head, answer) = talk.proxy.post(path, &headers, body.to_string().as_bytes());
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let is_chunked = head.to_ascii_lowercase().contains("chunked");
    let answer = if is_chunked { crate::network::dechunked(&answer).0 } else { answer };
    String::from_utf8(answer).unwrap()
}

/// Sends a conversation and returns the message that the client receives, and the reason of its end.
fn send(talk: &Talk, messages: &[Value]) -> (Value, String) {
    let tools = json!([{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]);
    let body = json!({"model": "m", "messages": messages, "tools": tools, "stream": true, "tool_choice": "auto"});
    let before = talk.api.bodies().len();
    let stream = post(talk, "/v1/chat/completions", &body);
    assert!(!stream.contains("\"aperture\""), "the client never sees the tool: {stream}");
    let data: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let (last, data) = data.split_last().unwrap();
    assert_eq!((*last, stream.matches("[DONE]").count()), ("[DONE]", 1), "{stream}");
    let chunks: Vec<Value> = data.iter().map(|data| serde_json::from_str(data).unwrap()).collect();
    let ids: BTreeSet<&str> = chunks.iter().map(|chunk| chunk["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1, "{stream}");
    let (mut content, mut calls, mut roles, mut reasons): (String, Vec<Value>, u32, Vec<&str>) = Default::default();
    for chunk in &chunks {
        let delta = &chunk["choices"][0]["delta"];
        content += delta["content"].as_str().unwrap_or_default();
        roles += u32::from(delta["role"].is_string());
        reasons.extend(chunk["choices"][0]["finish_reason"].as_str());
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = piece["index"].as_u64().unwrap() as usize;
            if piece["id"].is_string() {
                assert_eq!(index, calls.len(), "{stream}");
                calls.push(piece.clone());
                calls[index].as_object_mut().unwrap().remove("index");
            } else {
                let arguments = &mut calls[index]["function"]["arguments"];
                *arguments = [arguments.as_str().unwrap(), piece["function"]["arguments"].as_str().unwrap()].concat().into();
            }
        }
    }
    assert_eq!((roles, reasons.len()), (1, 1), "{stream}");
    let figures: Vec<&Value> = chunks.iter().map(|chunk| &chunk["usage"]).filter(|usage| usage.is_object()).collect();
    let responses = talk.api.bodies().len() - before;
    assert_eq!(figures, [&usage(10 * responses as u64)], "{stream}");
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    (message, reasons[0].to_owned())
}

/// Returns the messages of all requests that the API received.
fn upstream(talk: &Talk) -> Vec<Vec<Value>> {
    let bodies = talk.api.bodies().into_iter().map(|body| serde_json::from_slice::<Value>(&body).unwrap());
    bodies
        .map(|body| {
            assert_eq!(body["tools"][1]["function"]["name"], "aperture", "each request of the conversation offers it");
            body["messages"].as_array().unwrap().clone()
        })
        .collect()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

#[test]
fn a_chat_call_alone_is_answered_within_the_same_message() {
    let own = call("o1", "aperture", "@recall(16)");
    let mut talk = Talk::new(vec![
        chunks("a", "I look.", std::slice::from_ref(&own)),
        chunks("b", "Found it.", &[]),
        chunks("c", "You are welcome.", &[]),
        chunks("c", "You are welcome.", &[]),
    ]);
    let original = talk.sandbox.json(&["show", "16"], "aperture.show/2")["blocks"][0]["content"].as_str().unwrap().to_owned();
    talk.sandbox.text(&["archive", "16"]);
    let (message, reason) = send(&talk, &[user("ask")]);
    assert_eq!((&message["content"], &*reason), (&json!("I look.\n\nFound it."), "stop"));
    let seen = upstream(&talk);
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1][..2], [user("ask"), json!({"role": "assistant", "content": "I look.", "tool_calls": [own]})]);
    let result = &seen[1][2];
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("o1")));
    let found = result["content"].as_str().unwrap();
    assert!(found.starts_with("@recall(16): Recalled from earlier in this session"), "{found}");
    assert!(found.contains(original.lines().next().unwrap()), "{found}\n{original}");
    // Later requests have the conversation as the model had it, also after a restart.
    let later = [user("ask"), message, user("thanks")];
    send(&talk, &later);
    talk.restart();
    send(&talk, &later);
    let bodies = talk.api.bodies();
    assert_eq!(bodies[2], bodies[3], "the same bytes");
    let messages = upstream(&talk).pop().unwrap();
    assert_eq!(messages[..3], seen[1]);
    assert_eq!(messages[3..], [json!({"role": "assistant", "content": "Found it."}), user("thanks")]);
    assert_eq!(talk.left(), 0);
}

#[test]
fn beside_chat_calls_of_the_client_only_the_own_call_is_withheld() {
    let [c1, c2] = ["c1", "c2"].map(|id| call(id, "read", id));
    let (first, own) = (call("o1", "aperture", "@recall(\"x y z\")"), call("o2", "aperture", "@pin(16)"));
    let mut talk = Talk::new(vec![
        chunks("a", "I look.", std::slice::from_ref(&first)),
        chunks("b", "Not yet.", &[c1.clone(), own.clone(), c2.clone()]),
        chunks("c", "Done.", &[]),
        chunks("d", "Again.", &[]),
    ]);
    let (message, reason) = send(&talk, &[user("ask")]);
    assert_eq!((&message["tool_calls"], &*reason), (&json!([c1, c2]), "tool_calls"));
    assert!(talk.sandbox.text(&["pin"]).contains("16"), "it was executed at once");
    let output = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "a"});
    let mut messages = vec![user("ask"), message, output("c1"), output("c2")];
    messages.push(send(&talk, &messages).0);
    talk.restart();
    messages.push(user("go on"));
    send(&talk, &messages);
    let seen = upstream(&talk);
    let whole = json!({"role": "assistant", "content": "Not yet.", "tool_calls": [c1, own, c2]});
    assert_eq!(seen[2][..3], seen[1]);
    assert_eq!(seen[2][3..6], [whole, output("c1"), output("c2")]);
    let result = &seen[2][6];
    assert_eq!((seen[2].len(), &result["tool_call_id"]), (7, &json!("o2")));
    assert!(result["content"].as_str().unwrap().starts_with("@pin(16) (from the next request on): "), "{result}");
    assert_eq!((seen[3].len(), &seen[3][..7]), (9, &seen[2][..]));
}

#[test]
fn if_a_chat_continuation_fails_the_message_ends_and_the_call_is_kept() {
    let own = call("o1", "aperture", "@recall(\"x y z\")");
    let talk = Talk::new(vec![chunks("a", "I look.", std::slice::from_ref(&own)), Answer::Error, chunks("b", "next", &[])]);
    let tools = json!([{"type": "function", "function": {"name": "read"}}]);
    let send = |messages: Value| {
        post(&talk, "/v1/chat/completions", &json!({"model": "m", "messages": messages, "tools": tools, "stream": true}))
    };
    let stream = send(json!([user("ask")]));
    assert!(stream.contains(r#""finish_reason":"stop""#) && !stream.contains("tool_calls"), "{stream}");
    let said = |text: &str| json!({"role": "assistant", "content": text});
    send(json!([user("ask"), said("I look."), user("why")]));
    let later = upstream(&talk).pop().unwrap();
    assert_eq!(later[1], json!({"role": "assistant", "content": "I look.", "tool_calls": [own]}));
    assert_eq!((later.len(), &later[2]["tool_call_id"], &later[3]), (4, &json!("o1"), &user("why")));
}

/// The requests and responses of an API that are not streams.
struct Form {
    path: &'static str,
    /// The request with these messages or items.
    request: fn(Vec<Value>) -> Value,
    /// A response with a text and the calls of aperture with these ids.
    response: fn(&str, &[&str]) -> Value,
    /// The messages or items of a response, as the next request has them.
    answer: fn(Value) -> Vec<Value>,
    list: &'static str,
}

const COMMANDS: &str = "@pin(16)";

const FORMS: [Form; 3] = [
    Form {
        path: "/v1/messages",
        request: |messages| json!({"model": "m", "messages": messages, "tools": [{"name": "read", "input_schema": {}}]}),
        response: |text, calls| {
            let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "aperture", "input": {"commands": COMMANDS}});
            let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
            let content: Value = [json!({"type": "text", "text": text})].into_iter().chain(calls.iter().map(call)).collect();
            let usage = json!({"input_tokens": 1, "output_tokens": 10});
            json!({"id": text, "role": "assistant", "content": content, "stop_reason": stop, "usage": usage})
        },
        answer: |response| vec![json!({"role": "assistant", "content": response["content"]})],
        list: "messages",
    },
    Form {
        path: "/v1/responses",
        request: |input| json!({"model": "m", "input": input, "store": false, "stream": false, "tools": [{"type": "function", "name": "read"}]}),
        response: |text, calls| {
            let arguments = json!({"commands": COMMANDS}).to_string();
            let call = |id: &&str| json!({"type": "function_call", "call_id": id, "name": "aperture", "arguments": arguments});
            let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
            let output: Value = [said].into_iter().chain(calls.iter().map(call)).collect();
            json!({"id": text, "status": "completed", "output": output, "usage": {"input_tokens": 1, "output_tokens": 10}})
        },
        answer: |response| response["output"].as_array().unwrap().clone(),
        list: "input",
    },
    Form {
        path: "/v1/chat/completions",
        request: |messages| json!({"model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "read"}}]}),
        response: |text, calls| {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                message["tool_calls"] = calls.iter().map(|id| call(id, "aperture", COMMANDS)).collect();
            }
            let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
            json!({"id": text, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage(10)})
        },
        answer: |response| vec![response["choices"][0]["message"].clone()],
        list: "messages",
    },
];

fn document(value: &Value) -> Answer {
    Answer::Document("content-type: application/json", value.to_string().into_bytes())
}

#[test]
fn a_call_in_a_response_that_is_not_a_stream_is_answered() {
    for Form { path, request, response, answer, list } in FORMS {
        let done = response("Done.", &[]);
        let answers =
            [response("I look.", &["o1"]), response("Still.", &["o2"]), response("Pinned.", &[]), done.clone(), done.clone()];
        let mut talk = Talk::new(answers.iter().map(document).collect());
        let ask = json!({"type": "message", "role": "user", "content": "ask"});
        let received = post(&talk, path, &request(vec![ask.clone()]));
        assert!(
            !received.contains("aperture") && ["I look.", "Still.", "Pinned."].iter().all(|text| received.contains(text)),
            "{received}"
        );
        let received: Value = serde_json::from_str(&received).unwrap();
        assert!(received["usage"].to_string().contains("30") && received["id"] == "I look.", "{received}");
        assert!(talk.sandbox.text(&["pin"]).contains("16"), "{path}");
        let later = request([vec![ask.clone()], answer(received), vec![ask.clone()]].concat());
        // A response without a call keeps its bytes.
        assert_eq!(post(&talk, path, &later), done.to_string());
        talk.restart();
        post(&talk, path, &later);
        let bodies = talk.api.bodies();
        assert_eq!(bodies[3], bodies[4], "{path}");
        let lists: Vec<Vec<Value>> =
            bodies.iter().map(|body| serde_json::from_slice::<Value>(body).unwrap()[list].as_array().unwrap().clone()).collect();
        let continued = lists[2].len();
        assert_eq!(lists[3][..continued], lists[2], "{path}");
        assert_eq!(lists[3][continued..], [answer(response("Pinned.", &[])), vec![ask]].concat(), "{path}");
        assert_eq!(talk.left(), 0);
    }
}

#[test]
fn compressed_responses_are_passed_on_and_identity_is_asked_for_after_the_first_one() {
    for Form { path, request, response, .. } in FORMS {
        let packed = b"\x1f\x8b packed \xff";
        let head = "content-type: application/json\r\ncontent-encoding: gzip";
        let talk = Talk::new(vec![
            Answer::Document(head, packed.to_vec()),
            document(&response("I look.", &["o1"])),
            Answer::Document(head, packed.to_vec()),
        ]);
        let headers = format!("x-session-id: {}\r\naccept-encoding: gzip\r\n", talk.session);
        let ask = json!({"type": "message", "role": "user", "content": "ask"});
        let body = request(vec![ask]).to_string();
        let (head, received) = talk.proxy.post(path, &headers, body.as_bytes());
        assert!(head.to_ascii_lowercase().contains("content-encoding: gzip"), "{head}");
        assert_eq!((talk.api.last().header("accept-encoding"), &*received), (Some("gzip"), &packed[..]));
        // So is the continuation of a response: the answer ends before it.
        let (_, received) = talk.proxy.post(path, &headers, body.as_bytes());
        let received = String::from_utf8(received).unwrap();
        assert_eq!(talk.api.last().header("accept-encoding"), Some("identity"));
        assert!(received.contains("I look.") && !received.contains("aperture"), "{received}");
        assert_eq!((talk.left(), talk.api.bodies().len()), (0, 3));
    }
}
