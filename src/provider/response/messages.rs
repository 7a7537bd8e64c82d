//! Streams of the Messages API without the calls of one tool: what the client receives of a response, and of those that continue it.

use super::events::{Events, data};
use super::{Reply, WithheldCall};
use crate::model::{Key, ReplyPart};
use crate::provider::json::{member, range_in};
use crate::provider::requests::block_key;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The stop of a response in which the model calls tools.
const TOOL_USE: &str = "tool_use";
/// The stop of a complete response.
const END_TURN: &str = "end_turn";
/// The figures of a response that its last event can leave out.
const INPUT_FIGURES: [&str; 3] = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

/// Passes the events of a response on, except those of the calls of one tool and, after such a call, the end of the response. A response
/// that continues another one is joined to it. All other events keep their bytes, but for the index of their content block.
#[derive(Debug)]
pub struct MessagesFilter {
    tool: &'static str,
    input: &'static str,
    events: Events,
    /// True if the current response continues another one.
    continues: bool,
    blocks: Vec<Content>,
    /// Number of content blocks that the client has received.
    passed: usize,
    /// Output tokens of the responses before the current one.
    output_before: u64,
    /// The figures at the start of the current response.
    start: Map<String, Value>,
    /// The withheld end: its figures, and its events.
    held: Option<(Value, Vec<u8>)>,
    /// The first lasting content block after which the client knows of the continuation.
    first: Option<Key>,
}

/// A content block of the current response.
#[derive(Debug)]
struct Content {
    index: u64,
    /// Its index for the client; `None` if it is withheld.
    sent: Option<usize>,
    block: Map<String, Value>,
    /// The JSON of its input so far.
    input: String,
}

impl MessagesFilter {
    /// Creates a filter for the calls of a tool. `input` is the name of its input.
    pub fn new(tool: &'static str, input: &'static str) -> MessagesFilter {
        MessagesFilter {
            tool,
            input,
            events: Events::default(),
            continues: false,
            blocks: Vec::new(),
            passed: 0,
            output_before: 0,
            start: Map::new(),
            held: None,
            first: None,
        }
    }

    /// See [`super::CallFilter::push`].
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        for event in self.events.push(piece) {
            self.event(event, &mut passed);
        }
        passed
    }

    /// See [`super::CallFilter::take_first`].
    pub fn take_first(&mut self) -> Option<Key> {
        self.first.take()
    }

    /// See [`super::CallFilter::end`].
    pub fn end(&mut self) -> (Vec<u8>, Option<Reply>) {
        let rest = self.events.rest();
        if self.held.is_none() { (rest, None) } else { (Vec::new(), Some(self.reply())) }
    }

    /// See [`super::CallFilter::proceed`].
    pub fn proceed(&mut self) {
        if let Some((end, _)) = self.held.take() {
            self.output_before += end["usage"]["output_tokens"].as_u64().unwrap_or_default();
        }
        self.blocks.clear();
        self.events = Events::default();
        self.continues = true;
    }

    /// See [`super::CallFilter::release`].
    pub fn release(&mut self, ends_turn: bool) -> Vec<u8> {
        let Some((mut end, events)) = self.held.take() else { return Vec::new() };
        if !ends_turn && !self.continues {
            return events;
        }
        if ends_turn {
            end["delta"]["stop_reason"] = END_TURN.into();
        }
        self.finish(end).into_bytes()
    }

    fn event(&mut self, event: Vec<u8>, passed: &mut Vec<u8>) {
        let parsed = data(&event).and_then(|place| Some((serde_json::from_slice::<Value>(&event[place.clone()]).ok()?, place)));
        let Some((value, place)) = parsed else { return passed.extend(event) };
        let index = value["index"].as_u64();
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.start = value["message"]["usage"].as_object().cloned().unwrap_or_default();
                if !self.continues {
                    passed.extend(event);
                }
            }
            "content_block_start" => {
                let block = value["content_block"].as_object().cloned().unwrap_or_default();
                let is_withheld = block.get("type").is_some_and(|kind| kind == TOOL_USE)
                    && block.get("name").is_some_and(|name| name == self.tool);
                let sent = (!is_withheld).then_some(self.passed);
                self.passed += usize::from(!is_withheld);
                self.blocks.push(Content { index: index.unwrap_or_default(), sent, block, input: String::new() });
                self.pass(event, &place, index, passed);
            }
            "content_block_delta" => {
                if let Some(content) = self.blocks.iter_mut().rfind(|content| Some(content.index) == index) {
                    content.add(&value["delta"]);
                }
                self.pass(event, &place, index, passed);
            }
            "content_block_stop" => {
                let known = self.blocks.iter().rfind(|content| Some(content.index) == index);
                // Only one block is reported: a later one cannot be the first of the continuation.
                let is_first = |content: &&Content| content.sent.is_some() && self.is_first(content.index);
                if let Some(key) = known.filter(|_| self.continues).filter(is_first).and_then(Content::key) {
                    self.first = Some(key);
                }
                self.pass(event, &place, index, passed);
            }
            "message_delta" => self.stop(value, event, passed),
            "message_stop" => match &mut self.held {
                Some((_, held)) => held.extend(event),
                None => passed.extend(event),
            },
            _ => passed.extend(event),
        }
    }

    /// Returns true if no lasting content block precedes a content block of the current response in what the client received.
    fn is_first(&self, index: u64) -> bool {
        let before = self.blocks.iter().take_while(|content| content.index != index);
        before.filter(|content| content.sent.is_some()).all(|content| content.key().is_none())
    }

    /// Passes an event of a content block on, unless the block is withheld.
    fn pass(&self, event: Vec<u8>, place: &std::ops::Range<usize>, index: Option<u64>, passed: &mut Vec<u8>) {
        let known = self.blocks.iter().rfind(|content| Some(content.index) == index);
        let Some(sent) = known.map_or(Some(None), |content| content.sent.map(Some)) else { return };
        if sent.is_none_or(|sent| Some(sent as u64) == index) {
            return passed.extend(event);
        }
        let value: Option<&RawValue> = serde_json::from_slice(&event[place.clone()]).ok();
        let number = value.and_then(|value| member(value, "index")).map(|number| range_in(&event, number));
        let (Some(number), Some(sent)) = (number, sent) else { return passed.extend(event) };
        passed.extend_from_slice(&event[..number.start]);
        passed.extend_from_slice(sent.to_string().as_bytes());
        passed.extend_from_slice(&event[number.end..]);
    }

    /// Takes the event with the reason of the stop.
    fn stop(&mut self, value: Value, event: Vec<u8>, passed: &mut Vec<u8>) {
        let calls = self.blocks.iter().any(|content| content.sent.is_none());
        if calls && value["delta"]["stop_reason"] == TOOL_USE {
            self.held = Some((value, event));
        } else if self.continues {
            let text = self.finished(value);
            passed.extend(text.into_bytes());
        } else {
            passed.extend(event);
        }
    }

    /// Returns both events of the end of a response.
    fn finish(&self, end: Value) -> String {
        self.finished(end) + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
    }

    /// Returns the event with the figures of all responses that the client received as one: the input of the last, and the output of all.
    fn finished(&self, mut end: Value) -> String {
        if let Some(figures) = end["usage"].as_object_mut() {
            let output = figures.get("output_tokens").and_then(Value::as_u64).unwrap_or_default();
            figures.insert("output_tokens".to_owned(), (self.output_before + output).into());
            for name in INPUT_FIGURES {
                if let Some(figure) = self.start.get(name).filter(|_| self.continues && !figures.contains_key(name)) {
                    figures.insert(name.to_owned(), figure.clone());
                }
            }
        }
        format!("event: message_delta\ndata: {end}\n\n")
    }

    fn reply(&self) -> Reply {
        let is_call = |content: &&Content| content.block.get("type").is_some_and(|kind| kind == TOOL_USE);
        let call = |content: &Content| WithheldCall { id: content.text("id"), input: super::given(&content.input(), self.input) };
        Reply {
            parts: self.blocks.iter().filter_map(Content::part).collect(),
            content: self.blocks.iter().filter(|content| !content.is_empty()).map(Content::json).collect(),
            calls: self.blocks.iter().filter(|content| content.sent.is_none()).map(call).collect(),
            is_alone: !self.blocks.iter().filter(is_call).any(|content| content.sent.is_some()),
        }
    }
}

impl Content {
    /// Adds a part of the content.
    fn add(&mut self, delta: &Value) {
        for (name, delta) in delta.as_object().into_iter().flatten().filter(|(name, _)| *name != "type") {
            match (name.as_str(), delta, self.block.get_mut(name)) {
                ("partial_json", Value::String(part), _) => self.input.push_str(part),
                ("citation", citation, _) => {
                    let citations = self.block.entry("citations").or_insert(Value::Null);
                    match citations {
                        Value::Array(citations) => citations.push(citation.clone()),
                        other => *other = vec![citation.clone()].into(),
                    }
                }
                (_, Value::String(part), Some(Value::String(text))) => text.push_str(part),
                (_, delta, _) => drop(self.block.insert(name.clone(), delta.clone())),
            }
        }
    }

    fn text(&self, name: &str) -> String {
        self.block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn key(&self) -> Option<Key> {
        block_key(&|name| self.block.get(name).and_then(Value::as_str).map(Cow::Borrowed))
    }

    fn part(&self) -> Option<ReplyPart> {
        match self.sent {
            Some(_) => self.key().map(ReplyPart::Passed),
            None => Some(ReplyPart::Withheld(self.json())),
        }
    }

    /// Returns true for a text without content, which no request may contain.
    fn is_empty(&self) -> bool {
        self.block.get("type").is_some_and(|kind| kind == "text") && self.text("text").trim().is_empty()
    }

    /// Returns the input of a call, or that of the start of its block if it has no parts.
    fn input(&self) -> Value {
        let given = || self.block.get("input").filter(|input| input.is_object()).cloned();
        let parsed = serde_json::from_str(&self.input).ok().filter(Value::is_object);
        parsed.or_else(given).unwrap_or_else(|| Map::new().into())
    }

    fn json(&self) -> String {
        let mut block = self.block.clone();
        if block.contains_key("input") {
            block.insert("input".to_owned(), self.input());
        }
        Value::Object(block).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(value: Value) -> String {
        format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
    }

    fn start(input: u64) -> String {
        let usage = json!({"input_tokens": input, "cache_read_input_tokens": input * 10, "output_tokens": 1});
        event(json!({"type": "message_start", "message": {"id": format!("m{input}"), "usage": usage}}))
    }

    /// The events of a content block with one delta.
    fn block(index: u64, block: Value, delta: Value) -> String {
        let events = [
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ];
        events.map(event).concat()
    }

    fn text(index: u64, text: &str) -> String {
        block(index, json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
    }

    fn call(index: u64, id: &str, name: &str, input: &str) -> String {
        let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        block(index, start, json!({"type": "input_json_delta", "partial_json": input}))
    }

    fn stop(reason: &str, output: u64) -> String {
        let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": output}});
        event(delta) + &event(json!({"type": "message_stop"}))
    }

    fn key(kind: &str, lasting: &str) -> ReplyPart {
        ReplyPart::Passed(Key::from_bytes(format!("{kind}:{lasting}").as_bytes()))
    }

    fn push(filter: &mut MessagesFilter, stream: &str, size: usize) -> String {
        String::from_utf8(stream.as_bytes().chunks(size).flat_map(|piece| filter.push(piece)).collect()).unwrap()
    }

    fn in_pieces(check: impl Fn(usize)) {
        [1, 2, 7, 100_000].into_iter().for_each(check);
    }

    #[test]
    fn without_a_call_no_byte_changes() {
        let stream = [start(1), text(0, "é 1"), "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n".to_owned()].concat()
            + &call(1, "t", "Read", "{\"a\":1e400}")
            + &stop("tool_use", 5)
            + "event: x\ndata: cut";
        in_pieces(|size| {
            let mut filter = MessagesFilter::new("own", "commands");
            let passed = push(&mut filter, &stream, size);
            let (rest, reply) = filter.end();
            assert_eq!((passed + std::str::from_utf8(&rest).unwrap(), reply), (stream.clone(), None));
        });
    }

    #[test]
    fn a_call_alone_is_withheld_and_the_next_response_joins() {
        let first =
            [start(1), text(0, "I look."), call(1, "t1", "own", r#"{"commands":"@recall(\"é\")"}"#), stop("tool_use", 20)];
        let second = [start(3), text(0, "Found."), call(1, "t2", "Read", "{}"), stop("tool_use", 4)];
        in_pieces(|size| {
            let mut filter = MessagesFilter::new("own", "commands");
            assert_eq!(push(&mut filter, &first.concat(), size), [start(1), text(0, "I look.")].concat());
            let (rest, reply) = filter.end();
            let own = r#"{"type":"tool_use","id":"t1","name":"own","input":{"commands":"@recall(\"é\")"}}"#.to_owned();
            let expected = Reply {
                parts: vec![key("text", "I look."), ReplyPart::Withheld(own.clone())],
                content: vec![r#"{"type":"text","text":"I look."}"#.to_owned(), own],
                calls: vec![WithheldCall { id: "t1".to_owned(), input: "@recall(\"é\")".to_owned() }],
                is_alone: true,
            };
            assert_eq!((rest, reply), (Vec::new(), Some(expected)));
            filter.proceed();
            let passed = push(&mut filter, &second.concat(), size);
            let usage = json!({"output_tokens": 24, "input_tokens": 3, "cache_read_input_tokens": 30});
            let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage});
            let moved = [text(1, "Found."), call(2, "t2", "Read", "{}"), event(end), event(json!({"type": "message_stop"}))];
            assert_eq!(passed, moved.concat());
            assert_eq!((filter.take_first().map(ReplyPart::Passed), filter.take_first()), (Some(key("text", "Found.")), None));
            assert_eq!(filter.end(), (Vec::new(), None));
        });
    }

    #[test]
    fn beside_calls_of_the_client_only_the_own_call_is_withheld() {
        let end = stop("tool_use", 9);
        let stream =
            [start(1), call(0, "t1", "Read", "{}"), call(1, "t2", "own", ""), call(2, "t3", "Bash", "{}")].concat() + &end;
        in_pieces(|size| {
            let mut filter = MessagesFilter::new("own", "commands");
            let passed = push(&mut filter, &stream, size);
            assert_eq!(passed, [start(1), call(0, "t1", "Read", "{}"), call(1, "t3", "Bash", "{}")].concat());
            let reply = filter.end().1.unwrap();
            assert!(!reply.is_alone);
            assert_eq!((&reply.parts[0], &reply.parts[2]), (&key("tool_use", "t1"), &key("tool_use", "t3")));
            assert_eq!(reply.calls, [WithheldCall { id: "t2".to_owned(), input: String::new() }]);
            assert_eq!(filter.release(false), end.as_bytes(), "the client answers its own calls");
        });
    }

    #[test]
    fn a_call_that_cannot_be_continued_ends_the_turn() {
        let mut filter = MessagesFilter::new("own", "commands");
        let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
        let signed = block(0, thinking, json!({"type": "signature_delta", "signature": "s1"}));
        push(&mut filter, &([start(1), signed.clone(), call(1, "t1", "own", "{")].concat() + &stop("tool_use", 2)), 7);
        let reply = filter.end().1.unwrap();
        assert_eq!((&reply.parts[0], reply.content.len()), (&key("thinking", "s1"), 2));
        assert_eq!(filter.release(true), stop("end_turn", 2).as_bytes());
        // A response that was cut within the call has no end to be withheld.
        let mut filter = MessagesFilter::new("own", "commands");
        let cut =
            push(&mut filter, &([start(1), signed.clone(), call(1, "t1", "own", "{")].concat() + &stop("max_tokens", 2)), 7);
        assert_eq!((cut, filter.end()), ([start(1), signed].concat() + &stop("max_tokens", 2), (Vec::new(), None)));
    }
}
