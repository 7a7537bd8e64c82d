//! Responses of the Responses API without the calls of one tool: what the client receives of a response, and of those that continue it.

use super::filter::{Event, Joiner, Joint};
use super::{Reply, ResponseForm, WithheldCall};
use crate::model::{Key, ReplyPart};
use crate::provider::json::{member, range_in, with_figures};
use crate::provider::requests::item_key;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::ops::Range;

const COMPLETED: &str = "response.completed";

/// The responses of the Responses API. Events keep their bytes, but for their number and the place of their item.
#[derive(Debug, Default)]
pub(super) struct Responses {
    items: Vec<Item>,
    /// The items that the client has received, of all responses.
    passed: Vec<Value>,
    /// Number of items that the client knows.
    known: usize,
    /// The number of the next event for the client.
    sequence: Option<u64>,
    id: Value,
    held: Option<Value>,
}

#[derive(Debug)]
struct Item {
    index: u64,
    /// Its place for the client; `None` if it is withheld.
    sent: Option<usize>,
    /// Its content; null until it is complete.
    item: Value,
}

impl Item {
    fn key(&self) -> Option<Key> {
        item_key(&self.item)
    }
}

impl Joiner for Responses {
    fn event(&mut self, joint: &mut Joint, event: Event, passed: &mut Vec<u8>) {
        let Event { bytes, place, mut value } = event;
        let index = value["output_index"].as_u64();
        match value["type"].as_str().unwrap_or_default() {
            "response.created" | "response.queued" | "response.in_progress" if joint.continues => return,
            "response.created" => self.id = value["response"]["id"].clone(),
            "response.output_item.added" => self.open(joint, index, &value["item"]),
            "response.output_item.done" => self.complete(joint, index, value["item"].take()),
            COMPLETED if self.items.iter().any(|item| item.sent.is_none()) => {
                self.held = Some(value);
                return;
            }
            COMPLETED | "response.incomplete" if joint.withholds => {
                let end = self.finished(joint, value);
                return passed.extend(event_of(&end));
            }
            _ => {}
        }
        self.pass(bytes, &place, index, passed);
    }

    fn document(&mut self, joint: &mut Joint, mut document: Value) -> bool {
        let Some(Value::Array(items)) = document.get_mut("output").map(Value::take) else { return false };
        for (index, item) in (0..).zip(items) {
            self.open(joint, Some(index), &item);
            self.complete(joint, Some(index), item);
        }
        if !joint.continues {
            self.id = document["id"].clone();
        }
        let status = document["status"].as_str().unwrap_or("completed");
        self.held = Some(json!({"type": format!("response.{status}"), "response": document}));
        true
    }

    fn holds(&self) -> bool {
        self.held.is_some()
    }

    fn reply(&self, joint: &Joint) -> Option<Reply> {
        let is_withheld = |item: &&Item| item.sent.is_none();
        self.held.as_ref().filter(|end| end["type"] == COMPLETED && self.items.iter().any(|item| is_withheld(&item)))?;
        let part = |item: &Item| match item.sent {
            Some(_) => item.key().map(ReplyPart::Passed),
            None => Some(ReplyPart::Withheld(item.item.to_string())),
        };
        let is_call = |item: &&Item| item.item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let call = |item: &Item| {
            let arguments: Value = serde_json::from_str(&text(&item.item["arguments"])).unwrap_or_default();
            WithheldCall { id: text(&item.item["call_id"]), input: super::given(&arguments, joint.input) }
        };
        Some(Reply {
            parts: self.items.iter().filter_map(part).collect(),
            content: self.items.iter().filter(|item| !item.item.is_null()).map(|item| item.item.to_string()).collect(),
            calls: self.items.iter().filter(is_withheld).map(call).collect(),
            is_alone: !self.items.iter().filter(is_call).any(|item| item.sent.is_some()),
        })
    }

    fn proceed(&mut self) -> u64 {
        self.items.clear();
        self.held.take().and_then(|end| end["response"]["usage"]["output_tokens"].as_u64()).unwrap_or_default()
    }

    fn release(&mut self, joint: &mut Joint, _ends_turn: bool) -> Vec<u8> {
        let Some(end) = self.held.take() else { return Vec::new() };
        let end = self.finished(joint, end);
        if joint.form == ResponseForm::Events { event_of(&end) } else { end["response"].to_string().into_bytes() }
    }
}

impl Responses {
    fn open(&mut self, joint: &mut Joint, index: Option<u64>, item: &Value) {
        let is_withheld = item["type"] == "function_call" && item["name"] == joint.tool;
        joint.withholds |= is_withheld;
        let sent = (!is_withheld).then_some(self.known);
        self.known += usize::from(!is_withheld);
        self.items.push(Item { index: index.unwrap_or_default(), sent, item: Value::Null });
    }

    fn complete(&mut self, joint: &mut Joint, index: Option<u64>, content: Value) {
        // Only one item is reported: a later one cannot be the first of the continuation.
        let is_first = !self.items.iter().any(|item| item.sent.is_some() && item.key().is_some());
        let Some(item) = self.items.iter_mut().rfind(|item| Some(item.index) == index) else { return };
        item.item = content;
        if item.sent.is_some() {
            self.passed.push(item.item.clone());
            joint.first = item.key().filter(|_| joint.continues && is_first).or(joint.first);
        }
    }

    /// Passes an event on with its number and the place of its item, unless the item is withheld.
    fn pass(&mut self, event: Vec<u8>, place: &Range<usize>, index: Option<u64>, passed: &mut Vec<u8>) {
        let item = self.items.iter().rfind(|item| index.is_some() && Some(item.index) == index);
        let Some(sent) = item.map_or(Some(None), |item| item.sent.map(Some)) else { return };
        let raw: Option<&RawValue> = serde_json::from_slice(&event[place.clone()]).ok();
        let figure = |name: &str| {
            let value = raw.and_then(|raw| member(raw, name))?;
            Some((range_in(&event, value), value.get().parse::<u64>().ok()?))
        };
        let mut figures = Vec::new();
        if let Some((range, number)) = figure("sequence_number") {
            let next = self.sequence.unwrap_or(number);
            self.sequence = Some(next + 1);
            figures.extend((next != number).then_some((range, next)));
        }
        if let (Some((range, index)), Some(sent)) = (figure("output_index"), sent.map(|sent| sent as u64)) {
            figures.extend((sent != index).then_some((range, sent)));
        }
        passed.extend(if figures.is_empty() { event } else { with_figures(&event, figures) });
    }

    /// Returns the last event of what the client received as one response: all its items, the last input, and the output of all.
    fn finished(&mut self, joint: &Joint, mut end: Value) -> Value {
        if let Some(next) = self.sequence.filter(|_| end["sequence_number"].is_u64()) {
            end["sequence_number"] = next.into();
        }
        let response = &mut end["response"];
        if self.id.is_string() {
            response["id"] = self.id.clone();
        }
        response["output"] = self.passed.clone().into();
        joint.add_output(response, "input_tokens", "output_tokens");
        end
    }
}

fn event_of(end: &Value) -> Vec<u8> {
    format!("event: {}\ndata: {end}\n\n", end["type"].as_str().unwrap_or_default()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::CallFilter;
    use super::super::filter::tests::push;
    use super::*;
    use crate::provider::RequestApi;

    fn new() -> CallFilter {
        CallFilter::new(RequestApi::Responses, ResponseForm::Events, "own", "commands")
    }

    /// Returns the events of a response with these items, numbered from an index and a sequence number on.
    fn stream(id: &str, start: bool, items: &[Value], first: usize, mut sequence: u64, output: &[Value], tokens: u64) -> String {
        let mut events = String::new();
        let mut push = |mut value: Value| {
            value["sequence_number"] = sequence.into();
            sequence += 1;
            events += &format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
        };
        if start {
            push(json!({"type": "response.created", "response": {"id": id}}));
        }
        for (index, item) in items.iter().enumerate() {
            let index = first + index;
            let begun = json!({"type": item["type"], "name": item["name"]});
            push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
            push(json!({"type": "response.output_text.delta", "output_index": index, "delta": "é"}));
            push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        }
        if tokens > 0 {
            let usage = json!({"input_tokens": 100, "output_tokens": tokens, "total_tokens": 100 + tokens});
            push(json!({"type": "response.completed", "response": {"id": id, "output": output, "usage": usage}}));
        }
        events
    }

    fn item(kind: &str, id: &str, name: &str) -> Value {
        json!({"type": kind, "id": format!("i_{id}"), "call_id": id, "name": name, "arguments": "{\"commands\":\"@pin(é)\"}"})
    }

    #[test]
    fn a_response_without_a_call_keeps_its_bytes() {
        let items = [item("function_call", "c1", "shell")];
        let whole = stream("r1", true, &items, 0, 0, &items, 5);
        for size in [1, 2, 7, 10_000] {
            let mut filter = new();
            assert_eq!(push(&mut filter, &whole, size), whole);
            assert_eq!(filter.end(), (Vec::new(), None));
        }
    }

    #[test]
    fn a_call_alone_is_withheld_and_the_next_response_joins() {
        let thinking = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "e1"});
        let own = item("function_call", "o1", "own");
        let first = stream("r1", true, &[thinking.clone(), own.clone()], 0, 0, &[thinking.clone(), own.clone()], 5);
        let said = json!({"type": "message", "id": "m2", "role": "assistant"});
        let second = stream("r2", true, std::slice::from_ref(&said), 0, 0, std::slice::from_ref(&said), 7);
        for size in [1, 2, 7, 10_000] {
            let mut filter = new();
            let start = stream("r1", true, std::slice::from_ref(&thinking), 0, 0, &[], 0);
            assert_eq!(push(&mut filter, &first, size), start);
            let reply = filter.end().1.unwrap();
            assert_eq!(reply.parts, [ReplyPart::Passed(item_key(&thinking).unwrap()), ReplyPart::Withheld(own.to_string())]);
            assert_eq!(reply.content, [thinking.to_string(), own.to_string()]);
            assert_eq!(reply.calls, [WithheldCall { id: "o1".to_owned(), input: "@pin(é)".to_owned() }]);
            assert!(reply.is_alone);
            filter.proceed();
            let rest = stream("r1", false, std::slice::from_ref(&said), 1, 4, &[thinking.clone(), said.clone()], 12);
            assert_eq!(push(&mut filter, &second, size), rest);
            assert_eq!((filter.take_first(), filter.take_first()), (item_key(&said), None));
            assert_eq!(filter.end(), (Vec::new(), None));
        }
    }

    #[test]
    fn beside_calls_of_the_client_only_the_own_call_is_withheld() {
        let items =
            [item("function_call", "c1", "shell"), item("function_call", "o1", "own"), item("custom_tool_call", "c2", "x")];
        let clients = [items[0].clone(), items[2].clone()];
        let mut filter = new();
        let passed = push(&mut filter, &stream("r1", true, &items, 0, 0, &items, 5), 7);
        assert!(!filter.end().1.unwrap().is_alone);
        let whole = passed + std::str::from_utf8(&filter.release(false)).unwrap();
        assert_eq!(whole, stream("r1", true, &clients, 0, 0, &clients, 5));
    }
}
