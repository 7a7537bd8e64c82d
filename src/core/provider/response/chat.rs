//! Responses of the Chat Completions API without the calls of one tool: what the client receives of a response, and of those that continue
//! it.

use super::filter::{Event, Joiner, Joint};
use super::{Reply, ResponseForm, WithheldCall};
use crate::model::{Key, ReplyPart};
use crate::provider::requests::{BETWEEN_TEXTS, chat_call_key, chat_text_key};
use serde_json::{Map, Value, json};

/// The reasons of a response that ends before it is complete.
const CUT: [&str; 2] = ["length", "content_filter"];
/// The reason of a complete response.
const STOP: &str = "stop";
/// The members of a message with text.
const TEXTS: [&str; 3] = ["content", "reasoning_content", "reasoning"];
/// The member with thinking as a list.
const DETAILS: &str = "reasoning_details";
const CALLS: &str = "tool_calls";

/// The responses of the Chat Completions API. The chunks of a first response keep their bytes, except calls after a withheld one.
#[derive(Debug, Default)]
pub(super) struct Chat {
    id: Value,
    message: Map<String, Value>,
    calls: Vec<Call>,
    /// The texts of the message that the client receives.
    received: Map<String, Value>,
    output: u64,
    /// The withheld end: chunks from the reason of the stop on, or a document.
    held: Vec<Value>,
}

impl Joiner for Chat {
    fn event(&mut self, joint: &mut Joint, event: Event, passed: &mut Vec<u8>) {
        let Event { bytes, mut value, .. } = event;
        self.note(joint, &value);
        if !self.held.is_empty() {
            return self.held.push(value);
        }
        let mut is_changed = joint.continues;
        let mut ends = false;
        if let Some(choice) = value.pointer_mut("/choices/0").and_then(Value::as_object_mut) {
            if let Some(delta) = choice.get_mut("delta").and_then(Value::as_object_mut) {
                is_changed |= self.add(joint, delta);
                if joint.continues {
                    delta.shift_remove("role");
                }
                if is_changed && delta.is_empty() && choice.get("finish_reason").is_none_or(Value::is_null) {
                    return;
                }
            }
            ends = choice.get("finish_reason").is_some_and(Value::is_string);
        }
        if ends && self.awaits(&value) {
            return self.hold(joint, value, passed);
        }
        if ends && joint.continues {
            joint.first = self.key();
        }
        if is_changed {
            self.combine(joint, &mut value);
            passed.extend(event_of(&value));
        } else {
            passed.extend(bytes);
        }
    }

    fn document(&mut self, joint: &mut Joint, mut document: Value) -> bool {
        self.note(joint, &document);
        let Some(message) = document.pointer_mut("/choices/0/message").and_then(Value::as_object_mut) else { return false };
        self.add(joint, message);
        if joint.continues && !(self.is_alone() && self.awaits(&document)) {
            joint.first = self.key();
        }
        self.held.push(document);
        true
    }

    fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    fn reply(&self, joint: &Joint) -> Option<Reply> {
        self.held.first().filter(|end| self.awaits(end))?;
        let is_alone = self.is_alone();
        let mut message = Map::from_iter([("role".to_owned(), json!("assistant")), ("content".to_owned(), Value::Null)]);
        message.extend(self.message.clone());
        message.insert(CALLS.to_owned(), self.calls.iter().map(Call::json).collect());
        let message = Value::Object(message).to_string();
        let part = |call: &Call| match call.sent {
            Some(_) => ReplyPart::Passed(chat_call_key(call.id())),
            None => ReplyPart::Withheld(call.json().to_string()),
        };
        let withheld = self.calls.iter().filter(|call| call.sent.is_none());
        Some(Reply {
            parts: if is_alone { vec![ReplyPart::Withheld(message.clone())] } else { self.calls.iter().map(part).collect() },
            content: vec![message],
            calls: withheld
                .map(|call| WithheldCall { id: call.id().to_owned(), input: super::given(&call.arguments(), joint.input) })
                .collect(),
            is_alone,
        })
    }

    fn proceed(&mut self) -> u64 {
        (self.message, self.calls, self.held) = Default::default();
        std::mem::take(&mut self.output)
    }

    fn release(&mut self, joint: &mut Joint, ends_turn: bool) -> Vec<u8> {
        let mut held = std::mem::take(&mut self.held);
        let Some(end) = held.first_mut() else { return Vec::new() };
        if ends_turn {
            end["choices"][0]["finish_reason"] = STOP.into();
            joint.first = self.key();
        }
        if joint.form == ResponseForm::Document {
            if let Some(message) = end.pointer_mut("/choices/0/message").and_then(Value::as_object_mut) {
                message.extend(self.received.clone());
            }
            self.combine(joint, end);
            return end.to_string().into_bytes();
        }
        let mut events = Vec::new();
        for mut value in held {
            self.combine(joint, &mut value);
            events.extend(event_of(&value));
        }
        events.extend(b"data: [DONE]\n\n");
        events
    }
}

impl Chat {
    /// Takes the id and the figures of a chunk or a document.
    fn note(&mut self, joint: &Joint, value: &Value) {
        if !joint.continues && self.id.is_null() {
            self.id = value["id"].clone();
        }
        if let Some(output) = value["usage"]["completion_tokens"].as_u64() {
            self.output = output;
        }
    }

    /// Takes a message or a part of one, and removes withheld calls from it. Returns true if it changed.
    fn add(&mut self, joint: &mut Joint, delta: &mut Map<String, Value>) -> bool {
        let mut is_changed = false;
        for name in TEXTS {
            let Some(text) = delta.get_mut(name) else { continue };
            let Some(part) = text.as_str().filter(|part| !part.is_empty()).map(str::to_owned) else { continue };
            let is_next = !self.message.contains_key(name) && self.received.contains_key(name);
            if is_next {
                // The texts of two messages reach the client as one.
                append(&mut self.received, name, BETWEEN_TEXTS);
                *text = [BETWEEN_TEXTS, &part].concat().into();
                is_changed = true;
            }
            append(&mut self.message, name, &part);
            append(&mut self.received, name, &part);
        }
        if let Some(Value::Array(details)) = delta.get(DETAILS) {
            for list in [&mut self.message, &mut self.received] {
                if let Value::Array(list) = list.entry(DETAILS).or_insert_with(|| json!([])) {
                    list.extend(details.iter().cloned());
                }
            }
        }
        let Some(Value::Array(pieces)) = delta.get_mut(CALLS) else { return is_changed };
        pieces.retain_mut(|piece| {
            let (is_passed, is_moved) = self.add_call(joint, piece);
            is_changed |= is_moved || !is_passed;
            is_passed
        });
        if pieces.is_empty() && is_changed {
            delta.shift_remove(CALLS);
        }
        is_changed
    }

    /// Takes a piece of a call. Returns if the client receives it, and if its index changed.
    fn add_call(&mut self, joint: &mut Joint, piece: &mut Value) -> (bool, bool) {
        let index = piece["index"].as_u64();
        let id = piece["id"].as_str().filter(|id| !id.is_empty());
        // Some APIs number no call, or each one with 0.
        let is_known = |call: &Call| index.is_none_or(|index| index == call.index) && id.is_none_or(|id| id == call.id());
        let place = self.calls.iter().rposition(is_known).unwrap_or_else(|| {
            let is_withheld = piece["function"]["name"] == joint.tool;
            joint.withholds |= is_withheld;
            let index = index.unwrap_or(self.calls.len() as u64);
            let before = self.calls.iter().filter(|call| call.sent.is_none()).count() as u64;
            let sent = (!is_withheld).then(|| index.saturating_sub(before));
            self.calls.push(Call { index, sent, call: Map::new() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[place];
        call.add(piece);
        let is_moved = index.is_some() && call.sent.is_some() && call.sent != index;
        if let Some(sent) = call.sent.filter(|_| is_moved) {
            piece["index"] = sent.into();
        }
        (call.sent.is_some(), is_moved)
    }

    /// Returns true if a chunk or a document ends a response in which the model waits for the result of a withheld call.
    fn awaits(&self, end: &Value) -> bool {
        let reason = end["choices"][0]["finish_reason"].as_str().unwrap_or_default();
        !CUT.contains(&reason) && self.calls.iter().any(|call| call.sent.is_none())
    }

    fn is_alone(&self) -> bool {
        self.calls.iter().all(|call| call.sent.is_none())
    }

    /// Withholds the chunk with the reason of the stop. Its content is passed on.
    fn hold(&mut self, joint: &mut Joint, mut end: Value, passed: &mut Vec<u8>) {
        let delta = end["choices"][0]["delta"].as_object_mut().map(std::mem::take).unwrap_or_default();
        if !delta.is_empty() {
            let mut content = end.clone();
            let choice = &mut content["choices"][0];
            (choice["delta"], choice["finish_reason"]) = (delta.into(), Value::Null);
            if let Some(usage) = content.get_mut("usage") {
                *usage = Value::Null;
            }
            self.combine(joint, &mut content);
            passed.extend(event_of(&content));
        }
        if joint.continues && !self.is_alone() {
            joint.first = self.key();
        }
        self.held.push(end);
    }

    /// Returns the hash of the lasting part of the message that the client received; `None` if it is empty.
    fn key(&self) -> Option<Key> {
        let call = self.calls.iter().find(|call| call.sent.is_some());
        let text = || self.received.get("content").and_then(Value::as_str).and_then(chat_text_key);
        call.map(|call| chat_call_key(call.id())).or_else(text)
    }

    /// Gives a chunk or a document the id of the first response, and the figures of all: the input of the last, and the output of all.
    fn combine(&self, joint: &Joint, value: &mut Value) {
        if self.id.is_string() {
            value["id"] = self.id.clone();
        }
        joint.add_output(value, "prompt_tokens", "completion_tokens");
    }
}

fn event_of(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

/// A call in a message, which arrives in pieces.
#[derive(Debug)]
struct Call {
    index: u64,
    /// Its index for the client; `None` if it is withheld.
    sent: Option<u64>,
    call: Map<String, Value>,
}

impl Call {
    fn add(&mut self, piece: &Value) {
        for (name, value) in piece.as_object().into_iter().flatten().filter(|(name, _)| *name != "index") {
            match (value, self.call.get_mut(name)) {
                (Value::Object(members), Some(Value::Object(function))) if name == "function" => {
                    for (name, value) in members {
                        match value.as_str().filter(|_| name == "arguments") {
                            Some(text) => append(function, name, text),
                            None => drop(function.insert(name.clone(), value.clone())),
                        }
                    }
                }
                (_, Some(_)) if value.is_null() || value == "" => {}
                _ => drop(self.call.insert(name.clone(), value.clone())),
            }
        }
    }

    fn id(&self) -> &str {
        self.call.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the input; null if it is not JSON.
    fn arguments(&self) -> Value {
        let arguments = self.call.get("function").and_then(|function| function["arguments"].as_str());
        arguments.and_then(|arguments| serde_json::from_str(arguments).ok()).unwrap_or_default()
    }

    fn json(&self) -> Value {
        let mut call = self.call.clone();
        call.entry("type").or_insert_with(|| json!("function"));
        if let Some(function) = call.get_mut("function").filter(|_| !self.arguments().is_object()) {
            function["arguments"] = "{}".into();
        }
        call.into()
    }
}

fn append(members: &mut Map<String, Value>, name: &str, text: &str) {
    match members.get_mut(name) {
        Some(Value::String(before)) => before.push_str(text),
        _ => drop(members.insert(name.to_owned(), text.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::CallFilter;
    use super::super::filter::tests::{in_pieces, push};
    use super::*;
    use crate::provider::RequestApi;

    fn chunk(id: &str, delta: Value, reason: Option<&str>) -> String {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        format!("data: {}\n\n", json!({"id": id, "object": "chat.completion.chunk", "choices": choices}))
    }

    fn text(id: &str, text: &str) -> String {
        chunk(id, json!({"content": text}), None)
    }

    /// The chunks of a call whose arguments come in pieces.
    fn call(id: &str, index: usize, name: &str, call: &str) -> String {
        let start = json!({"index": index, "id": call, "type": "function", "function": {"name": name, "arguments": ""}});
        let pieces = ["{\"commands\":", "\"@pin(é)\"}"].map(|piece| json!({"index": index, "function": {"arguments": piece}}));
        let chunks = [start].into_iter().chain(pieces).map(|piece| chunk(id, json!({"tool_calls": [piece]}), None));
        chunks.collect()
    }

    fn end(id: &str, reason: &str, output: u64) -> String {
        let usage = json!({"prompt_tokens": 100, "completion_tokens": output, "total_tokens": 100 + output});
        let usage = json!({"id": id, "object": "chat.completion.chunk", "choices": [], "usage": usage});
        chunk(id, json!({}), Some(reason)) + &format!("data: {usage}\n\ndata: [DONE]\n\n")
    }

    fn role(id: &str) -> String {
        chunk(id, json!({"role": "assistant", "content": ""}), None)
    }

    fn new() -> CallFilter {
        CallFilter::new(RequestApi::Chat, ResponseForm::Events, "own", "commands")
    }

    fn own_call(id: &str) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "own", "arguments": "{\"commands\":\"@pin(é)\"}"}})
    }

    #[test]
    fn a_response_without_a_call_keeps_its_bytes() {
        let stream = ": wait\r\n\r\n".to_owned()
            + &[role("a"), text("a", "é"), call("a", 0, "Read", "c1"), call("a", 1, "x", "c2"), end("a", "tool_calls", 5)]
                .concat()
            + "data: cut";
        in_pieces(|size| {
            let mut filter = new();
            let passed = push(&mut filter, &stream, size);
            let (rest, reply) = filter.end();
            assert_eq!((passed + std::str::from_utf8(&rest).unwrap(), reply), (stream.clone(), None));
        });
    }

    #[test]
    fn a_call_alone_is_withheld_and_the_next_response_joins() {
        let first = [role("a"), text("a", "I "), text("a", "look."), call("a", 0, "own", "o1"), end("a", "tool_calls", 20)];
        let second = [role("b"), text("b", "Found"), text("b", "."), call("b", 0, "Read", "c1"), end("b", "tool_calls", 4)];
        in_pieces(|size| {
            let mut filter = new();
            assert_eq!(push(&mut filter, &first.concat(), size), first[..3].concat());
            let (rest, reply) = filter.end();
            let message = json!({"role": "assistant", "content": "I look.", "tool_calls": [own_call("o1")]}).to_string();
            let expected = Reply {
                parts: vec![ReplyPart::Withheld(message.clone())],
                content: vec![message],
                calls: vec![WithheldCall { id: "o1".to_owned(), input: "@pin(é)".to_owned() }],
                is_alone: true,
            };
            assert_eq!((rest, reply), (Vec::new(), Some(expected)));
            filter.proceed();
            let passed = push(&mut filter, &second.concat(), size);
            let joined = [text("a", ""), text("a", "\n\nFound"), text("a", "."), call("a", 0, "Read", "c1")].concat();
            assert_eq!(passed, joined + &end("a", "tool_calls", 24));
            assert_eq!((filter.take_first(), filter.take_first()), (Some(chat_call_key("c1")), None));
            assert_eq!(filter.end(), (Vec::new(), None));
        });
    }

    #[test]
    fn beside_calls_of_the_client_only_the_own_call_is_withheld() {
        let stream = [role("a"), call("a", 0, "Read", "c1"), call("a", 1, "own", "o1"), call("a", 2, "Bash", "c2")].concat();
        let passed = [role("a"), call("a", 0, "Read", "c1"), call("a", 1, "Bash", "c2")].concat();
        in_pieces(|size| {
            let mut filter = new();
            assert_eq!(push(&mut filter, &(stream.clone() + &end("a", "tool_calls", 9)), size), passed);
            let reply = filter.end().1.unwrap();
            let own = ReplyPart::Withheld(own_call("o1").to_string());
            assert_eq!(reply.parts, [ReplyPart::Passed(chat_call_key("c1")), own, ReplyPart::Passed(chat_call_key("c2"))]);
            assert!(!reply.is_alone);
            assert_eq!(filter.release(false), end("a", "tool_calls", 9).as_bytes());
            assert_eq!(filter.take_first(), None);
        });
    }

    #[test]
    fn a_call_that_cannot_be_continued_ends_the_turn() {
        let mut filter = new();
        push(&mut filter, &[role("a"), text("a", "I look."), call("a", 0, "own", "o1"), end("a", "tool_calls", 2)].concat(), 7);
        assert!(filter.end().1.unwrap().is_alone);
        assert_eq!(filter.release(true), end("a", "stop", 2).as_bytes());
        assert_eq!(filter.take_first(), chat_text_key("I look."));
        // A response that was cut within the call has no end to be withheld.
        let cut = push(&mut new(), &(call("a", 0, "own", "o1") + &end("a", "length", 2)), 7);
        assert_eq!(cut, end("a", "length", 2));
    }

    #[test]
    fn calls_in_one_chunk_with_the_reason_of_the_stop_are_divided() {
        let piece = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
        let delta = json!({"role": "assistant", "content": "I look.", "tool_calls": [piece("o1", "own"), piece("c1", "Read")]});
        let mut filter = new();
        let passed = push(&mut filter, &chunk("a", delta, Some("stop")), 7);
        let delta = json!({"role": "assistant", "content": "I look.", "tool_calls": [piece("c1", "Read")]});
        assert_eq!(passed, chunk("a", delta, None));
        assert!(!filter.end().1.unwrap().is_alone);
        assert_eq!(String::from_utf8(filter.release(false)).unwrap(), chunk("a", json!({}), Some("stop")) + "data: [DONE]\n\n");
    }

    #[test]
    fn calls_that_all_have_the_same_index_are_told_apart_by_their_ids() {
        let mut filter = new();
        let passed = push(&mut filter, &(call("a", 0, "own", "o1") + &call("a", 0, "Read", "c1") + &end("a", "stop", 1)), 7);
        assert_eq!(passed, call("a", 0, "Read", "c1"));
        assert_eq!(filter.end().1.unwrap().calls, [WithheldCall { id: "o1".to_owned(), input: "@pin(é)".to_owned() }]);
    }

    #[test]
    fn thinking_and_signatures_are_sent_back() {
        let own =
            json!({"index": 0, "id": "o1", "extra_content": {"signature": "s1"}, "function": {"name": "own", "arguments": "x"}});
        let details = |number: u64| json!([{"type": "reasoning.text", "index": number}]);
        let stream = [
            json!({"reasoning_content": "r1", "reasoning_details": details(0)}),
            json!({"reasoning_content": "r2", "reasoning_details": details(1)}),
            json!({"tool_calls": [own]}),
        ];
        let mut filter = new();
        push(&mut filter, &(stream.map(|delta| chunk("a", delta, None)).concat() + &end("a", "tool_calls", 1)), 7);
        let message: Value = serde_json::from_str(&filter.end().1.unwrap().content[0]).unwrap();
        assert_eq!(message["reasoning_content"], "r1r2");
        assert_eq!(message["reasoning_details"], json!([details(0)[0], details(1)[0]]));
        let call = &message["tool_calls"][0];
        assert_eq!((&call["extra_content"]["signature"], &call["function"]["arguments"]), (&json!("s1"), &json!("{}")));
    }
}
