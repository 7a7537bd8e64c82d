//! The calls of one tool in a response, withheld from the client.

use super::chat::Chat;
use super::messages::Messages;
use super::responses::Responses;
use crate::model::{Key, ReplyPart};
use crate::provider::RequestApi;
use serde_json::Value;
use std::fmt::Debug;
use std::ops::Range;

/// A call of the withheld tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldCall {
    pub id: String,
    /// The text that it was given; empty if the input has none.
    pub input: String,
}

/// A response with withheld calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its content blocks, in order; of Chat Completions its calls, or the whole message if `is_alone` is true.
    pub parts: Vec<ReplyPart>,
    /// The JSON of all its content blocks, or of its message in Chat Completions.
    pub content: Vec<String>,
    pub calls: Vec<WithheldCall>,
    /// True if the model called no tool of the client.
    pub is_alone: bool,
}

/// The form of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseForm {
    Events,
    Document,
}

/// Passes a response on, except the calls of one tool and, after such a call, the end of the response. A response that continues another
/// one is joined to it. A document is passed on as a whole.
#[derive(Debug)]
pub struct CallFilter {
    events: Events,
    document: Vec<u8>,
    joint: Joint,
    joiner: Box<dyn Joiner>,
}

/// The state of joined responses in any API.
#[derive(Debug)]
pub(super) struct Joint {
    pub tool: &'static str,
    pub input: &'static str,
    pub form: ResponseForm,
    /// True if the current response continues another one.
    pub continues: bool,
    pub withholds: bool,
    /// Output tokens of the responses before the current one.
    pub output_before: u64,
    /// The first lasting content block after which the client knows of the continuation.
    pub first: Option<Key>,
}

impl Joint {
    /// Gives the figures of a response the output of all, and their total the input of the last one.
    pub fn add_output(&self, response: &mut Value, input: &str, output: &str) {
        let Some(figures) = response.get_mut("usage").and_then(Value::as_object_mut) else { return };
        let figure = |name: &str| figures.get(name).and_then(Value::as_u64).unwrap_or_default();
        let [input, sum] = [figure(input), self.output_before + figure(output)];
        figures.insert(output.to_owned(), sum.into());
        figures.insert("total_tokens".to_owned(), (input + sum).into());
    }
}

/// An event with JSON as its data.
pub(super) struct Event {
    pub bytes: Vec<u8>,
    pub place: Range<usize>,
    pub value: Value,
}

pub(super) trait Joiner: Debug + Send + Sync {
    /// Takes an event and adds the bytes for the client.
    fn event(&mut self, joint: &mut Joint, event: Event, passed: &mut Vec<u8>);

    /// Takes a document and withholds it. Returns false if it is not a response of the API.
    fn document(&mut self, joint: &mut Joint, document: Value) -> bool;

    /// Returns true if the end of the current response is withheld.
    fn holds(&self) -> bool;

    /// Returns the calls to be answered, if the current response was withheld for them.
    fn reply(&self, joint: &Joint) -> Option<Reply>;

    /// Drops the current response. Returns its output tokens.
    fn proceed(&mut self) -> u64;

    /// See [`CallFilter::release`].
    fn release(&mut self, joint: &mut Joint, ends_turn: bool) -> Vec<u8>;
}

impl CallFilter {
    /// Creates a filter for the calls of a tool. `input` is the name of the tool's input.
    pub fn new(api: RequestApi, form: ResponseForm, tool: &'static str, input: &'static str) -> CallFilter {
        let joiner: Box<dyn Joiner> = match api {
            RequestApi::Messages => Box::<Messages>::default(),
            RequestApi::Responses => Box::<Responses>::default(),
            RequestApi::Chat => Box::<Chat>::default(),
        };
        let joint = Joint { tool, input, form, continues: false, withholds: false, output_before: 0, first: None };
        CallFilter { events: Events::default(), document: Vec::new(), joint, joiner }
    }

    pub fn form(&self) -> ResponseForm {
        self.joint.form
    }

    /// Takes a piece of a response and returns the bytes for the client.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        if self.joint.form == ResponseForm::Document {
            self.document.extend_from_slice(piece);
            return passed;
        }
        for bytes in self.events.push(piece) {
            let place = data(&bytes);
            let parsed = place.clone().and_then(|place| Some((serde_json::from_slice(&bytes[place.clone()]).ok()?, place)));
            match parsed {
                Some((value, place)) => self.joiner.event(&mut self.joint, Event { bytes, place, value }, &mut passed),
                // The mark of the end.
                None if place.is_some() && self.joiner.holds() => {}
                None => passed.extend(bytes),
            }
        }
        passed
    }

    /// Returns the first lasting content block of a continuation, once, when it is complete.
    pub fn take_first(&mut self) -> Option<Key> {
        self.joint.first.take()
    }

    /// Takes the end of a response. Returns the withheld calls if they are to be answered: then the end of the response is withheld too.
    /// The bytes are the rest for the client.
    pub fn end(&mut self) -> (Vec<u8>, Option<Reply>) {
        match self.joint.form {
            ResponseForm::Events if !self.joiner.holds() => (self.events.rest(), None),
            ResponseForm::Events => (Vec::new(), self.joiner.reply(&self.joint)),
            ResponseForm::Document => self.end_document(),
        }
    }

    fn end_document(&mut self) -> (Vec<u8>, Option<Reply>) {
        let bytes = std::mem::take(&mut self.document);
        let parsed: Option<Value> = serde_json::from_slice(&bytes).ok();
        if !parsed.is_some_and(|document| self.joiner.document(&mut self.joint, document)) {
            return (bytes, None);
        }
        match self.joiner.reply(&self.joint) {
            Some(reply) => (Vec::new(), Some(reply)),
            None if self.joint.withholds => (self.release(false), None),
            None => (bytes, None),
        }
    }

    /// Expects a response that continues the current one.
    pub fn proceed(&mut self) {
        self.joint.output_before += self.joiner.proceed();
        self.joint.continues = true;
        self.events = Events::default();
    }

    /// Returns the withheld end of the response. If `ends_turn` is true, no call is left for the client to answer.
    pub fn release(&mut self, ends_turn: bool) -> Vec<u8> {
        self.joiner.release(&mut self.joint, ends_turn)
    }
}

/// Returns a text of the input of a call: the one of this name, or the only one.
pub(super) fn given(input: &Value, name: &str) -> String {
    let only = || input.as_object().filter(|members| members.len() == 1).and_then(|members| members.values().next());
    input.get(name).or_else(only).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Divides a stream into its events, each with the empty line that ends it.
#[derive(Debug, Default)]
struct Events {
    event: Vec<u8>,
    in_line: bool,
    /// True if the last byte was a carriage return, which ends a line with or without a line feed.
    after_return: bool,
}

impl Events {
    /// Takes a piece of the stream and returns the events that it completes.
    fn push(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        for byte in piece {
            self.event.push(*byte);
            let ends_return = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            if ends_return {
                continue;
            }
            let ends_line = matches!(byte, b'\n' | b'\r');
            if ends_line && !self.in_line {
                complete.push(std::mem::take(&mut self.event));
            }
            self.in_line = !ends_line;
        }
        complete
    }

    /// Returns the bytes after the last complete event.
    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.event)
    }
}

/// Returns the place of the data of an event; `None` if it has none, or several lines of it.
fn data(event: &[u8]) -> Option<Range<usize>> {
    let mut found = None;
    let mut start = 0;
    for line in event.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        if line.starts_with(b"data:") && found.replace(start + b"data:".len()..start + line.trim_ascii_end().len()).is_some() {
            return None;
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a document of an API with a text, these calls (id, name) and 5 output tokens.
    fn document(api: RequestApi, id: &str, text: &str, calls: &[(&str, &str)], output: u64) -> Value {
        let input = json!({"commands": "@pin(é)"});
        let calls = calls.iter();
        match api {
            RequestApi::Messages => {
                let stop = if calls.len() == 0 { "end_turn" } else { "tool_use" };
                let calls = calls.map(|(id, name)| json!({"type": "tool_use", "id": id, "name": name, "input": input}));
                let content: Value = [json!({"type": "text", "text": text})].into_iter().chain(calls).collect();
                let usage = json!({"input_tokens": 100, "output_tokens": output});
                json!({"id": id, "type": "message", "content": content, "stop_reason": stop, "usage": usage})
            }
            RequestApi::Responses => {
                let arguments = input.to_string();
                let calls =
                    calls.map(|(id, name)| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}));
                let said = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
                let items: Value = [said].into_iter().chain(calls).collect();
                let usage = json!({"input_tokens": 100, "output_tokens": output, "total_tokens": 100 + output});
                json!({"id": id, "status": "completed", "output": items, "usage": usage})
            }
            RequestApi::Chat => {
                let (stop, arguments) = (if calls.len() == 0 { "stop" } else { "tool_calls" }, input.to_string());
                let calls: Vec<Value> = calls
                    .map(|(id, name)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
                    .collect();
                let mut message = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    message["tool_calls"] = calls.into();
                }
                let usage = json!({"prompt_tokens": 100, "completion_tokens": output, "total_tokens": 100 + output});
                json!({"id": id, "choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage})
            }
        }
    }

    /// Returns what the client receives of a stream that arrives in pieces of a size.
    pub fn push(filter: &mut CallFilter, stream: &str, size: usize) -> String {
        String::from_utf8(stream.as_bytes().chunks(size).flat_map(|piece| filter.push(piece)).collect()).unwrap()
    }

    pub fn in_pieces(check: impl Fn(usize)) {
        [1, 2, 7, 100_000].into_iter().for_each(check);
    }

    fn push_document(filter: &mut CallFilter, document: &Value) -> (String, Option<Reply>) {
        let bytes = format!(" {document}\n").into_bytes();
        assert!(bytes.chunks(7).all(|piece| filter.push(piece).is_empty()));
        let (rest, reply) = filter.end();
        (String::from_utf8(rest).unwrap(), reply)
    }

    const APIS: [RequestApi; 3] = [RequestApi::Messages, RequestApi::Responses, RequestApi::Chat];

    fn new(api: RequestApi) -> CallFilter {
        CallFilter::new(api, ResponseForm::Document, "own", "commands")
    }

    #[test]
    fn a_document_without_a_call_keeps_its_bytes() {
        for api in APIS {
            for document in [document(api, "a", "é", &[("c1", "Read")], 5), json!({"error": "x"}), json!([1]), json!("x")] {
                assert_eq!(push_document(&mut new(api), &document), (format!(" {document}\n"), None), "{api:?}");
            }
            let mut filter = new(api);
            filter.push(b"{\"cut");
            assert_eq!(filter.end(), (b"{\"cut".to_vec(), None));
        }
    }

    #[test]
    fn documents_are_joined() {
        for api in APIS {
            let mut filter = new(api);
            let (rest, reply) = push_document(&mut filter, &document(api, "a", "I look.", &[("o1", "own")], 5));
            let reply = reply.unwrap();
            assert_eq!((&*rest, reply.is_alone), ("", true), "{api:?}");
            assert_eq!(reply.calls, [WithheldCall { id: "o1".to_owned(), input: "@pin(é)".to_owned() }]);
            filter.proceed();
            let (rest, reply) = push_document(&mut filter, &document(api, "b", "Found.", &[("c1", "Read")], 7));
            assert!(filter.take_first().is_some() && reply.is_none(), "{api:?}");
            let joined: Value = serde_json::from_str(&rest).unwrap();
            let mut expected = document(api, "a", "I look.", &[("c1", "Read")], 12);
            match api {
                RequestApi::Messages => {
                    expected["content"].as_array_mut().unwrap().insert(1, json!({"type": "text", "text": "Found."}));
                }
                RequestApi::Responses => {
                    let second = document(api, "", "Found.", &[], 0)["output"][0].take();
                    expected["output"].as_array_mut().unwrap().insert(1, second);
                }
                RequestApi::Chat => expected["choices"][0]["message"]["content"] = json!("I look.\n\nFound."),
            }
            assert_eq!(joined, expected, "{api:?}");
        }
    }

    #[test]
    fn a_document_keeps_the_calls_of_the_client() {
        for api in APIS {
            let mut filter = new(api);
            let calls = [("c1", "Read"), ("o1", "own"), ("c2", "Bash")];
            assert!(!push_document(&mut filter, &document(api, "a", "I look.", &calls, 5)).1.unwrap().is_alone);
            let released: Value = serde_json::from_slice(&filter.release(false)).unwrap();
            assert_eq!(released, document(api, "a", "I look.", &[calls[0], calls[2]], 5), "{api:?}");
        }
    }

    #[test]
    fn a_document_that_cannot_be_continued_ends_the_turn() {
        for api in APIS {
            let mut filter = new(api);
            assert!(push_document(&mut filter, &document(api, "a", "I look.", &[("o1", "own")], 5)).1.unwrap().is_alone);
            let released: Value = serde_json::from_slice(&filter.release(true)).unwrap();
            assert_eq!(released, document(api, "a", "I look.", &[], 5), "{api:?}");
        }
    }

    #[test]
    fn a_document_that_was_cut_has_no_call_to_be_answered() {
        for (api, place, reason) in [
            (RequestApi::Messages, "/stop_reason", "max_tokens"),
            (RequestApi::Responses, "/status", "incomplete"),
            (RequestApi::Chat, "/choices/0/finish_reason", "length"),
        ] {
            let cut = |calls: &[(&str, &str)]| {
                let mut cut = document(api, "a", "I look.", calls, 5);
                *cut.pointer_mut(place).unwrap() = reason.into();
                cut
            };
            let (rest, reply) = push_document(&mut new(api), &cut(&[("o1", "own")]));
            assert_eq!((serde_json::from_str::<Value>(&rest).unwrap(), reply), (cut(&[]), None), "{api:?}");
        }
    }

    #[test]
    fn a_stream_is_divided_at_its_empty_lines() {
        let events = ["event: a\ndata: é\n\n", "data: b\r\n\r\n", ": note\r\r", "data: c\n\r\n", "event: d\r\ndata: d\n\n"];
        let whole = events.concat();
        for size in [1, 2, 7, whole.len()] {
            let mut stream = Events::default();
            let found: Vec<Vec<u8>> = whole.as_bytes().chunks(size).flat_map(|piece| stream.push(piece)).collect();
            assert_eq!(found.concat(), whole.as_bytes(), "no byte is lost");
            let data: Vec<&str> =
                found.iter().filter_map(|event| data(event).map(|place| std::str::from_utf8(&event[place]).unwrap())).collect();
            assert_eq!(data, [" é", " b", " c", " d"], "pieces of {size}");
            assert_eq!(stream.rest(), b"");
        }
        let mut stream = Events::default();
        assert!(stream.push(b"data: cut\n").is_empty());
        assert_eq!(stream.rest(), b"data: cut\n");
    }

    #[test]
    fn an_event_has_one_line_of_data() {
        assert_eq!(data(b"event: x\n\n"), None);
        assert_eq!(data(b"data: a\ndata: b\n\n"), None);
        assert_eq!(data(b"data:a\n\n"), Some(5..6));
    }
}
