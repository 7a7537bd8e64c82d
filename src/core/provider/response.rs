//! The token figures in the response of an API, read while it passes: a stream of events or a JSON document, in any pieces.

mod chat;
mod filter;
mod messages;
mod refusal;
mod responses;

use filter::given;
pub use filter::{CallFilter, Reply, ResponseForm, WithheldCall};
pub use refusal::RefusalCause;

use super::json::{self, fields, number};
use super::requests::{chat_calls, chat_text};
use crate::model::BilledTokens;
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::sync::LazyLock;

/// A part of each event that is parsed; no other event has figures, text of the model, an error or the end of its message.
static RELEVANT: LazyLock<[Finder<'static>; 7]> = LazyLock::new(|| {
    ["\"usage\"", "\"text_delta\"", "\"stop_reason\"", ".output_text.delta\"", ".output_item.done\"", "\"choices\"", "\"error\""]
        .map(|part| Finder::new(part.as_bytes()))
});

/// The kinds of items of the Responses API with which the model calls a tool of the client.
const CALL_ITEMS: [&str; 3] = ["function_call", "custom_tool_call", "local_shell_call"];

/// The maximum length of the text of the model that is kept, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// The maximum length of a line that is kept to be parsed, in bytes; longer ones are skipped.
const LONGEST_LINE: usize = 16 << 20;

fields! {
    /// The keys of an event or a document, in any of the APIs.
    Document {
        usage: Figures = "usage",
        message = "message",
        response: Holder = "response",
        kind = "type",
        delta = "delta",
        index = "index",
        part = "content_index",
        place = "output_index",
        item: Item = "item",
        choices = "choices",
        content = "content",
        stop = "stop_reason",
        output = "output",
        error = "error",
    }
}

fields! {
    /// The keys of an item or a content block, and of a part of one.
    Item {
        kind = "type",
        text = "text",
        content = "content",
        stop = "stop_reason",
    }
}

fields! {
    /// The keys of an answer of the Chat Completions API.
    Choice {
        index = "index",
        delta = "delta",
        message = "message",
        stop = "finish_reason",
    }
}

fields! {
    /// An object with figures or an error within an event.
    Holder {
        usage: Figures = "usage",
        error = "error",
    }
}

fields! {
    /// The token figures in any of the APIs.
    Figures {
        input = "input_tokens",
        output = "output_tokens",
        creation = "cache_creation_input_tokens",
        lifetimes: Lifetimes = "cache_creation",
        read = "cache_read_input_tokens",
        input_details: Details = "input_tokens_details",
        prompt = "prompt_tokens",
        completion = "completion_tokens",
        prompt_details: Details = "prompt_tokens_details",
    }
}

fields! {
    /// Written tokens by the life of the cache.
    Lifetimes {
        hour = "ephemeral_1h_input_tokens",
    }
}

fields! {
    /// Input tokens by kind.
    Details {
        cached = "cached_tokens",
    }
}

/// Reads the figures of one response.
#[derive(Debug, Default)]
pub struct ResponseReader {
    line: Vec<u8>,
    data: Vec<u8>,
    /// True if the last byte was a carriage return.
    after_return: bool,
    skips: bool,
    events: bool,
    tokens: Option<BilledTokens>,
    text: String,
    /// The place of the content block that the end of the text belongs to.
    block: String,
    calls: bool,
    error: String,
}

/// The content of a response that aperture uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseContent {
    pub tokens: Option<BilledTokens>,
    /// The text of the model, its content blocks in lines of their own; at most 1 MiB and the last piece.
    pub text: String,
    /// True if the model calls tools, so that another request follows.
    pub calls: bool,
    /// The message of an error, in the place of an answer or at its end; empty if there is none.
    pub error: String,
}

impl ResponseReader {
    /// Creates a reader for a stream of events or, if `events` is false, for a JSON document.
    pub fn new(events: bool) -> ResponseReader {
        ResponseReader { events, ..ResponseReader::default() }
    }

    /// Takes the next piece of the body.
    pub fn push(&mut self, mut piece: &[u8]) {
        if !self.events {
            self.keep(piece);
            return;
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', piece) {
            // A carriage return ends a line with or without a line feed.
            let is_rest_of_end = std::mem::replace(&mut self.after_return, piece[end] == b'\r') && end == 0 && piece[0] == b'\n';
            if !is_rest_of_end {
                self.keep(&piece[..end]);
                self.end_line();
            }
            piece = &piece[end + 1..];
        }
        self.after_return &= piece.is_empty();
        self.keep(piece);
    }

    /// Takes the end of the body and returns its content.
    pub fn finish(mut self) -> ResponseContent {
        if self.events {
            self.end_line();
            self.end_event();
        } else if !self.skips {
            self.error = refusal::message(&self.line);
            std::mem::swap(&mut self.line, &mut self.data);
            self.end_event();
        }
        ResponseContent { tokens: self.tokens, text: self.text, calls: self.calls, error: self.error }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skips || self.line.len() + self.data.len() + bytes.len() > LONGEST_LINE {
            (self.skips, self.line) = (true, Vec::new());
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(data) = line.strip_prefix(b"data:") {
            // The JSON of an event can have several lines; some gateways leave out the empty line between two events.
            if !self.data.is_empty() && !self.end_event() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data);
        } else if line.is_empty() || self.skips {
            self.end_event();
            self.data.clear();
        }
        // Its memory is used again.
        self.line = line;
        self.line.clear();
        self.skips = false;
    }

    /// Takes the data of an event or a document over. Returns false if it is not complete.
    fn end_event(&mut self) -> bool {
        let data = std::mem::take(&mut self.data);
        let is_relevant = !self.events || RELEVANT.iter().any(|part| part.find(&data).is_some());
        let is_complete = match serde_json::from_slice::<Document<'_>>(&data) {
            _ if !is_relevant => data.ends_with(b"}"),
            Ok(document) => {
                self.read(&document);
                true
            }
            Err(_) => false,
        };
        self.data = data;
        if is_complete {
            self.data.clear();
        }
        is_complete
    }

    /// Takes the content of an event or a document over.
    fn read(&mut self, document: &Document<'_>) {
        let message: Option<Holder<'_>> = document.message.and_then(|message| serde_json::from_str(message.get()).ok());
        let held = || [message, document.response].into_iter().flatten();
        for figures in document.usage.into_iter().chain(held().filter_map(|holder| holder.usage)) {
            add(self.tokens.get_or_insert_default(), &figures);
        }
        let alone = document.message.filter(|_| is(document.kind, &["error"]));
        let mut errors = [document.error, alone].into_iter().flatten().chain(held().filter_map(|holder| holder.error));
        if let Some(message) = errors.find_map(refusal::text) {
            self.error = message;
        }
        self.read_stop(document.stop);
        if let Some(delta) = document.delta {
            let place = [document.place, document.part, document.index].map(|place| place.map_or("", RawValue::get)).join(" ");
            match json::text(delta) {
                // The events with arguments of calls and with thinking have deltas of this form too.
                Some(text) => self.add_text(if is(document.kind, &["response.output_text.delta"]) { &text } else { "" }, &place),
                None => {
                    let delta = item(delta);
                    self.read_stop(delta.stop);
                    let text = json::text_of(delta.text).filter(|_| is(delta.kind, &["text_delta"]));
                    self.add_text(&text.unwrap_or_default(), &place);
                }
            }
        }
        // The items of a stream have their texts in other events.
        self.calls |= document.item.is_some_and(|item| is(item.kind, &CALL_ITEMS));
        if !self.events {
            self.read_blocks(document.content, "text");
            for output in document.output.map(json::elements).unwrap_or_default().into_iter().map(item) {
                self.calls |= is(output.kind, &CALL_ITEMS);
                self.read_blocks(output.content.filter(|_| is(output.kind, &["message"])), "output_text");
            }
        }
        let choices = document.choices.map(json::elements).unwrap_or_default().into_iter();
        let choices = choices.filter_map(|choice| serde_json::from_str::<Choice<'_>>(choice.get()).ok());
        // The others are other answers to the same prompt.
        for choice in choices.filter(|choice| number(choice.index).unwrap_or_default() == 0) {
            self.calls |= is(choice.stop, &["tool_calls", "function_call"]);
            for message in [choice.delta, choice.message].into_iter().flatten() {
                self.calls |= !chat_calls(message).is_empty();
                self.add_text(&chat_text(message), "");
            }
        }
    }

    fn read_stop(&mut self, reason: Option<&RawValue>) {
        self.calls |= is(reason, &["tool_use"]);
    }

    /// Takes the texts of the content blocks of a document over.
    fn read_blocks(&mut self, blocks: Option<&RawValue>, kind: &str) {
        for (place, block) in blocks.map(json::elements).unwrap_or_default().into_iter().map(item).enumerate() {
            if is(block.kind, &[kind]) {
                self.add_text(&json::text_of(block.text).unwrap_or_default(), &place.to_string());
            }
        }
    }

    fn add_text(&mut self, text: &str, place: &str) {
        if text.is_empty() || self.text.len() >= LONGEST_TEXT {
            return;
        }
        if self.block != place {
            self.block = place.to_owned();
            if !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push('\n');
            }
        }
        self.text.push_str(text);
    }
}

fn is(value: Option<&RawValue>, texts: &[&str]) -> bool {
    json::text_of(value).is_some_and(|value| texts.contains(&&*value))
}

fn item(value: &RawValue) -> Item<'_> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

/// Takes figures over. Each event repeats those known so far, or has only new ones.
fn add(tokens: &mut BilledTokens, figures: &Figures<'_>) {
    let set = |figure: &mut u64, value: Option<&RawValue>| {
        if let Some(value) = number(value) {
            *figure = value;
        }
    };
    let hour = figures.lifetimes.as_ref().and_then(|lifetimes| number(lifetimes.hour));
    if let Some(created) = number(figures.creation) {
        tokens.cache_write_1h = hour.unwrap_or(0).min(created);
        tokens.cache_write_5m = created - tokens.cache_write_1h;
    }
    set(&mut tokens.input, figures.input);
    set(&mut tokens.input, figures.prompt);
    set(&mut tokens.output, figures.output);
    set(&mut tokens.output, figures.completion);
    set(&mut tokens.cache_read, figures.read);
    // These APIs count the tokens that were read from the cache as input tokens too.
    let details = figures.input_details.as_ref().or(figures.prompt_details.as_ref());
    if let Some(cached) = details.and_then(|details| number(details.cached)) {
        tokens.cache_read = cached;
        tokens.input = tokens.input.saturating_sub(cached);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(events: bool, body: &str) -> Option<BilledTokens> {
        let whole = read(events, body, body.len().max(1)).tokens;
        for size in [1, 2, 7] {
            assert_eq!(read(events, body, size).tokens, whole, "pieces of {size}");
        }
        whole
    }

    fn read(events: bool, body: &str, size: usize) -> ResponseContent {
        let mut reader = ResponseReader::new(events);
        body.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
        reader.finish()
    }

    #[track_caller]
    fn check(events: bool, body: &str, text: &str, calls: bool) {
        for size in [1, 2, 7, body.len()] {
            let found = read(events, body, size);
            assert_eq!((&*found.text, found.calls), (text, calls), "{body} in pieces of {size}");
        }
    }

    #[test]
    fn the_text_and_the_calls_of_each_api_in_any_pieces() {
        let messages = "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"@archive\"}}\r\n\r\n\
            data: {\"delta\":{\"type\":\"text_delta\",\"text\":\"(3) é\"}}\n\ndata: {\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n";
        let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"@archive(3) é\"}}]}\n\ndata: {\"choices\":[{\"finish_reason\":\"tool_calls\"}]}";
        let responses = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"@archive(3) é\"}\n\n\
            data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"custom_tool_call\"}}";
        for body in [messages, chat, responses] {
            check(true, body, "@archive(3) é", true);
        }
        assert!(!ResponseReader::new(true).finish().calls);
    }

    #[test]
    fn events_are_json_in_any_form() {
        let chunk = |json: &str| format!("data: {json}\n\n");
        let spaced =
            r#"{ "usage" : null, "choices" : [ { "delta" : { "content" : "@pin(1)", "role" : "assistant" }, "index" : 0 } ] }"#;
        check(true, &chunk(spaced), "@pin(1)", false);
        let lines = "data: {\"choices\": [\ndata:   {\"delta\": {\"content\": \"@pin(1)\"}}\ndata: ]}\r\n\r\ndata: [DONE]\n\n";
        check(true, lines, "@pin(1)", false);
        let joined =
            "data: {\"choices\":[{\"delta\":{\"content\":\"@pin\"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"(1)\"}}]}\n";
        check(true, joined, "@pin(1)", false);
        let parts = r#"{"choices":[{"delta":{"content":[{"type":"text","text":"@pin(1)"}]}}]}"#;
        check(true, &chunk(parts), "@pin(1)", false);
        let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0}],"content":null},"finish_reason":null}]}"#;
        check(true, &chunk(call), "", true);
        let other = r#"{"choices":[{"index":1,"delta":{"content":"x","tool_calls":[{}]},"finish_reason":"tool_calls"}]}"#;
        check(true, &chunk(other), "", false);
        let quoted = r#"{"choices":[{"delta":{"content":"\"type\":\"function_call\" and \"finish_reason\":\"tool_calls\""}}]}"#;
        check(true, &chunk(quoted), r#""type":"function_call" and "finish_reason":"tool_calls""#, false);
        let messages = r#"{ "delta" : { "text" : "a" , "type" : "text_delta" } , "index" : 0 , "type" : "content_block_delta" }"#;
        let next = r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"@pin(1)"}}"#;
        check(true, &[chunk(messages), chunk(next)].concat(), "a\n@pin(1)", false);
        let stop = r#"{ "type" : "message_delta", "delta" : { "stop_reason" : "tool_use" } }"#;
        check(true, &chunk(stop), "", true);
        let arguments = r#"{"type":"response.function_call_arguments.delta","delta":"{\"a\":\".output_text.delta\\\"\"}"}"#;
        check(true, &chunk(arguments), "", false);
    }

    #[test]
    fn the_text_and_the_calls_of_a_document() {
        let messages = r#"{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"},{"text":"@pin(1)","type":"text"}],
            "stop_reason" : "tool_use"}"#;
        check(false, messages, "a\n@pin(1)", true);
        let chat = r#"{"choices": [{"message": {"content": "@pin(1)", "tool_calls": [{"id": "c"}]}, "finish_reason": "stop"}]}"#;
        check(false, chat, "@pin(1)", true);
        let responses = r#"{"output":[{"type":"reasoning","content":[{"type":"output_text","text":"x"}]},
            {"type":"message","content":[{"type":"output_text","text":"@pin(1)"}]},{"type":"function_call"}]}"#;
        check(false, responses, "@pin(1)", true);
        check(false, r#"{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],"usage":null}"#, "fine", false);
    }

    #[test]
    fn the_message_of_an_error_that_ends_a_stream_is_read() {
        for (event, message) in [
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#, "busy"),
            (r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"busy"},"usage":null}}"#, "busy"),
            (r#"{"type":"error","code":"server_error","message":"busy","param":null}"#, "busy"),
            (r#"{"error":{"message":"busy","code":502},"choices":[]}"#, "busy"),
            (r#"{"type":"response.created","response":{"error":null}}"#, ""),
            (r#"{"delta":{"type":"text_delta","text":"\"error\":\"x\""}}"#, ""),
        ] {
            let mut reader = ResponseReader::new(true);
            reader.push(format!("data: {event}\n\ndata: {{\"choices\":[]}}\n\n").as_bytes());
            assert_eq!(reader.finish().error, message, "{event}");
        }
    }

    #[test]
    fn figures_of_each_api_in_any_pieces() {
        let messages = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\
            \"cache_creation_input_tokens\":20,\"cache_creation\":{\"ephemeral_1h_input_tokens\":5},\"cache_read_input_tokens\":100,\
            \"output_tokens\":1}}}\r\n\r\nevent: x\ndata: {\"text\":\"é\\\"usage\\\"\"}\n\ndata: {\"usage\":{\"output_tokens\":9}}\n\n";
        let expected = BilledTokens { input: 3, output: 9, cache_write_5m: 15, cache_write_1h: 5, cache_read: 100 };
        assert_eq!(figures(true, messages), Some(expected));
        let chat = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":7,\
            \"prompt_tokens_details\":{\"cached_tokens\":40}}}\n\ndata: [DONE]\n\n";
        let expected = BilledTokens { input: 10, output: 7, cache_read: 40, ..BilledTokens::default() };
        assert_eq!(figures(true, chat), Some(expected));
        let responses = "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":50,\"output_tokens\":7,\
            \"input_tokens_details\":{\"cached_tokens\":40}}}}";
        assert_eq!(figures(true, responses), Some(expected));
        assert_eq!(figures(false, "{\n\"usage\": {\"input_tokens\": 4,\n\"output_tokens\": 5}}").map(|it| it.total()), Some(9));
        let gateway = r#"{"usage":{"prompt_tokens":50,"completion_tokens":7,"prompt_tokens_details":null}}"#;
        assert_eq!(figures(false, gateway).map(|it| it.total()), Some(57));
        assert_eq!(figures(true, "data: {\"a\":1}\n\n"), None);
        assert_eq!(figures(false, ""), None);
    }
}
