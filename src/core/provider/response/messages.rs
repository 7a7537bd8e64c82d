//! Responses of the Messages API without the calls of one tool: what the client receives of a response, and of those that continue it.

use super::filter::{Event, Joiner, Joint};
use super::{Reply, ResponseForm, WithheldCall};
use crate::model::{Key, ReplyPart};
use crate::provider::json::{member, range_in, with_figures};
use crate::provider::requests::block_key;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The stop of a response in which the model calls tools.
const TOOL_USE: &str = "tool_use";
const END_TURN: &str = "end_turn";
/// The figures of a response that its last event can leave out.
const INPUT_FIGURES: [&str; 3] = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

/// The responses of the Messages API. Events keep their bytes, but for the index of their content block.
#[derive(Debug, Default)]
pub(super) struct Messages {
    blocks: Vec<Content>,
    /// Number of content blocks that the client has received.
    passed: usize,
    /// The figures at the start of the current response.
    start: Map<String, Value>,
    /// The input figures that the client received with the start of the first one, in the order of [`INPUT_FIGURES`].
    told: [u64; 3],
    /// The withheld end: its figures and its events, or a document.
    held: Option<(Value, Vec<u8>)>,
    /// The id of the first document, and the content blocks of all.
    id: Value,
    joined: Vec<Value>,
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

impl Joiner for Messages {
    fn event(&mut self, joint: &mut Joint, event: Event, passed: &mut Vec<u8>) {
        let Event { bytes, place, value } = event;
        let index = value["index"].as_u64();
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.start = value["message"]["usage"].as_object().cloned().unwrap_or_default();
                if !joint.continues {
                    self.told = INPUT_FIGURES.map(|name| self.start.get(name).and_then(Value::as_u64).unwrap_or_default());
                    passed.extend(bytes);
                }
            }
            "content_block_start" => {
                self.open(joint, index, &value["content_block"]);
                self.pass(bytes, &place, index, passed);
            }
            "content_block_delta" => {
                if let Some(content) = self.blocks.iter_mut().rfind(|content| Some(content.index) == index) {
                    content.add(&value["delta"]);
                }
                self.pass(bytes, &place, index, passed);
            }
            "content_block_stop" => {
                let known = self.blocks.iter().rfind(|content| Some(content.index) == index);
                // Only one block is reported: a later one cannot be the first of the continuation.
                let is_first = |content: &&Content| content.sent.is_some() && self.is_first(content.index);
                if let Some(key) = known.filter(|_| joint.continues).filter(is_first).and_then(Content::key) {
                    joint.first = Some(key);
                }
                self.pass(bytes, &place, index, passed);
            }
            "message_delta" if self.awaits(&value) => self.held = Some((value, bytes)),
            "message_delta" if joint.continues => passed.extend(self.finished(joint, value).into_bytes()),
            "message_stop" => match &mut self.held {
                Some((_, held)) => held.extend(bytes),
                None => passed.extend(bytes),
            },
            _ => passed.extend(bytes),
        }
    }

    fn document(&mut self, joint: &mut Joint, mut document: Value) -> bool {
        let Some(Value::Array(blocks)) = document.get_mut("content").map(Value::take) else { return false };
        for (index, block) in (0..).zip(blocks) {
            if self.open(joint, Some(index), &block) {
                self.joined.push(block);
            }
        }
        if joint.continues {
            joint.first = self.blocks.iter().filter(|content| content.sent.is_some()).find_map(Content::key);
        } else {
            self.id = document["id"].clone();
        }
        self.held = Some((document, Vec::new()));
        true
    }

    fn holds(&self) -> bool {
        self.held.is_some()
    }

    fn reply(&self, joint: &Joint) -> Option<Reply> {
        self.held.as_ref().filter(|(end, _)| self.awaits(end))?;
        let is_call = |content: &&Content| content.block.get("type").is_some_and(|kind| kind == TOOL_USE);
        let call =
            |content: &Content| WithheldCall { id: content.text("id"), input: super::given(&content.input(), joint.input) };
        Some(Reply {
            parts: self.blocks.iter().filter_map(Content::part).collect(),
            content: self.blocks.iter().filter(|content| !content.is_empty()).map(Content::json).collect(),
            calls: self.blocks.iter().filter(|content| content.sent.is_none()).map(call).collect(),
            is_alone: !self.blocks.iter().filter(is_call).any(|content| content.sent.is_some()),
        })
    }

    fn proceed(&mut self) -> u64 {
        self.blocks.clear();
        self.held.take().and_then(|(end, _)| end["usage"]["output_tokens"].as_u64()).unwrap_or_default()
    }

    fn release(&mut self, joint: &mut Joint, ends_turn: bool) -> Vec<u8> {
        let Some((mut end, events)) = self.held.take() else { return Vec::new() };
        if !ends_turn && !joint.continues && joint.form == ResponseForm::Events {
            return events;
        }
        if ends_turn {
            let holder = if joint.form == ResponseForm::Events { &mut end["delta"] } else { &mut end };
            holder["stop_reason"] = END_TURN.into();
        }
        if joint.form == ResponseForm::Events {
            return (self.finished(joint, end) + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n").into_bytes();
        }
        (end["id"], end["content"]) = (self.id.take(), std::mem::take(&mut self.joined).into());
        self.add_figures(joint, &mut end);
        end.to_string().into_bytes()
    }
}

impl Messages {
    /// Takes the start of a content block. Returns true if the client receives it.
    fn open(&mut self, joint: &mut Joint, index: Option<u64>, block: &Value) -> bool {
        let block = block.as_object().cloned().unwrap_or_default();
        let has = |name: &str, text: &str| block.get(name).is_some_and(|value| value == text);
        let is_withheld = has("type", TOOL_USE) && has("name", joint.tool);
        joint.withholds |= is_withheld;
        let sent = (!is_withheld).then_some(self.passed);
        self.passed += usize::from(!is_withheld);
        self.blocks.push(Content { index: index.unwrap_or_default(), sent, block, input: String::new() });
        !is_withheld
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
        passed.extend(with_figures(&event, vec![(number, sent as u64)]));
    }

    /// Returns true if an event or a document ends a response in which the model waits for the result of a withheld call.
    fn awaits(&self, end: &Value) -> bool {
        let stop = &end.get("delta").unwrap_or(end)["stop_reason"];
        stop == TOOL_USE && self.blocks.iter().any(|content| content.sent.is_none())
    }

    /// Returns the event with the figures of all responses that the client received as one.
    fn finished(&self, joint: &Joint, mut end: Value) -> String {
        self.add_figures(joint, &mut end);
        format!("event: message_delta\ndata: {end}\n\n")
    }

    /// Adds the figures of all responses: the input of the last, and the output of all.
    fn add_figures(&self, joint: &Joint, end: &mut Value) {
        let Some(figures) = end.get_mut("usage").and_then(Value::as_object_mut) else { return };
        let output = figures.get("output_tokens").and_then(Value::as_u64).unwrap_or_default();
        figures.insert("output_tokens".to_owned(), (joint.output_before + output).into());
        if !joint.continues {
            return;
        }
        let figure = |name| figures.get(name).or_else(|| self.start.get(name)).and_then(Value::as_u64);
        let input = INPUT_FIGURES.map(figure);
        let figures_input = replacing(self.told, input.map(Option::unwrap_or_default));
        for ((name, known), figure) in INPUT_FIGURES.into_iter().zip(input).zip(figures_input) {
            if known.is_some() || figure > 0 {
                figures.insert(name.to_owned(), figure.into());
            }
        }
    }
}

/// Returns input figures of the same sum that replace all those told before: a client keeps an earlier figure where a later one is
/// zero, so that the cache writes of the first response would count beside the cache reads of the next.
fn replacing(told: [u64; 3], mut figures: [u64; 3]) -> [u64; 3] {
    for place in 0..figures.len() {
        let largest = (0..figures.len()).max_by_key(|other| figures[*other]).unwrap_or_default();
        if told[place] > 0 && figures[place] == 0 && figures[largest] > 1 {
            figures[place] = 1;
            figures[largest] -= 1;
        }
    }
    figures
}

impl Content {
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
    use super::super::CallFilter;
    use super::super::filter::tests::{in_pieces, push};
    use super::*;
    use crate::provider::RequestApi;
    use serde_json::json;

    fn new() -> CallFilter {
        CallFilter::new(RequestApi::Messages, ResponseForm::Events, "own", "commands")
    }

    fn event(value: Value) -> String {
        format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
    }

    fn start(input: u64) -> String {
        let usage = json!({"input_tokens": input, "cache_read_input_tokens": input * 10, "output_tokens": 1});
        event(json!({"type": "message_start", "message": {"id": format!("m{input}"), "usage": usage}}))
    }

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

    #[test]
    fn the_client_adds_up_the_input_of_the_last_request_alone() {
        let begin = |input: u64, written: u64, read: u64| {
            let usage = json!({"input_tokens": input, "cache_creation_input_tokens": written, "cache_read_input_tokens": read});
            event(json!({"type": "message_start", "message": {"id": "m", "usage": usage}}))
        };
        let first = begin(3, 32_000, 0) + &call(0, "t1", "own", "{}") + &stop("tool_use", 20);
        for (second, sum) in [([0, 0, 32_100], 32_100), ([2, 90, 32_003], 32_095), ([0, 32_050, 0], 32_050)] {
            let mut filter = new();
            let mut passed = push(&mut filter, &first, 100_000);
            assert!(filter.end().1.is_some());
            filter.proceed();
            let [input, written, read] = second;
            passed += &push(&mut filter, &(begin(input, written, read) + &text(0, "x") + &stop("end_turn", 4)), 100_000);
            passed += std::str::from_utf8(&filter.end().0).unwrap();
            // As clients do: a later figure replaces an earlier one if it is not zero.
            let mut kept = std::collections::BTreeMap::new();
            for value in passed.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok()) {
                for name in INPUT_FIGURES {
                    let figure = value["usage"][name].as_u64().or(value["message"]["usage"][name].as_u64());
                    if let Some(figure) = figure.filter(|figure| *figure > 0) {
                        kept.insert(name, figure);
                    }
                }
            }
            assert_eq!(kept.values().sum::<u64>(), sum, "{kept:?}");
        }
    }

    #[test]
    fn without_a_call_no_byte_changes() {
        let stream = [start(1), text(0, "é 1"), "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n".to_owned()].concat()
            + &call(1, "t", "Read", "{\"a\":1e400}")
            + &stop("tool_use", 5)
            + "event: x\ndata: cut";
        in_pieces(|size| {
            let mut filter = new();
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
            let mut filter = new();
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
            let mut filter = new();
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
        let mut filter = new();
        let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
        let signed = block(0, thinking, json!({"type": "signature_delta", "signature": "s1"}));
        push(&mut filter, &([start(1), signed.clone(), call(1, "t1", "own", "{")].concat() + &stop("tool_use", 2)), 7);
        let reply = filter.end().1.unwrap();
        assert_eq!((&reply.parts[0], reply.content.len()), (&key("thinking", "s1"), 2));
        assert_eq!(filter.release(true), stop("end_turn", 2).as_bytes());
        // A response that was cut within the call has no end to be withheld.
        let mut filter = new();
        let cut =
            push(&mut filter, &([start(1), signed.clone(), call(1, "t1", "own", "{")].concat() + &stop("max_tokens", 2)), 7);
        assert_eq!((cut, filter.end()), ([start(1), signed].concat() + &stop("max_tokens", 2), (Vec::new(), None)));
    }
}
