//! The token figures in the response of an API, read while it passes: a stream of events or a JSON document, in any pieces.

mod chat;
mod chat_call;
mod events;
mod filter;
mod messages;
mod refusal;
mod responses;

use filter::given;
pub use filter::{CallFilter, Reply, ResponseForm, WithheldCall};
pub use refusal::RefusalCause;

use super::json::{fields, number};
use crate::model::BilledTokens;
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::sync::LazyLock;

static TEXTS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| [&b"\"text_delta\""[..], b".output_text.delta\"", b"\"delta\":{"].map(Finder::new));
static CALLS: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| {
    [&b"\"stop_reason\":\"tool_use\""[..], b"\"finish_reason\":\"tool_calls\"", b"\"type\":\"function_call\""].map(Finder::new)
});

static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"usage\""));

/// The maximum length of the text of the model that is kept, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// The maximum length of a line that is kept to be parsed, in bytes; longer ones are skipped.
const LONGEST_LINE: usize = 16 << 20;

fields! {
    /// The keys of an event or a document, in any of the APIs.
    Document {
        usage: Figures = "usage",
        message: Holder = "message",
        response: Holder = "response",
    }
}

fields! {
    /// An object with figures within an event.
    Holder {
        usage: Figures = "usage",
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
    skips: bool,
    events: bool,
    tokens: Option<BilledTokens>,
    text: String,
    calls: bool,
    error: String,
}

/// The content of a response that aperture uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseContent {
    /// The token figures; `None` if the response has none.
    pub tokens: Option<BilledTokens>,
    /// The text of the model, of a stream of events only; at most 1 MiB.
    pub text: String,
    /// True if the model calls tools, so that another request follows.
    pub calls: bool,
    /// The message of an error, of a JSON document only; empty if there is none.
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
            self.keep(&piece[..end]);
            self.end_line();
            piece = &piece[end + 1..];
        }
        self.keep(piece);
    }

    /// Takes the end of the body and returns its content.
    pub fn finish(mut self) -> ResponseContent {
        self.end_line();
        ResponseContent { tokens: self.tokens, text: self.text, calls: self.calls, error: self.error }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skips || self.line.len() + bytes.len() > LONGEST_LINE {
            (self.skips, self.line) = (true, Vec::new());
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) {
        let data = if self.events { self.line.strip_prefix(b"data:") } else { Some(&*self.line) };
        if let Some(data) = data.filter(|data| USAGE.find(data).is_some())
            && let Ok(document) = serde_json::from_slice::<Document<'_>>(data)
        {
            let held = [document.message, document.response].into_iter().flatten().filter_map(|holder| holder.usage);
            for figures in document.usage.into_iter().chain(held) {
                add(self.tokens.get_or_insert_default(), &figures);
            }
        }
        if !self.events {
            self.error = refusal::message(&self.line);
        }
        if let Some(data) = data.filter(|_| self.events) {
            self.calls |= CALLS.iter().any(|calls| calls.find(data).is_some());
            let holds_text = TEXTS.iter().any(|text| text.find(data).is_some()) && self.text.len() < LONGEST_TEXT;
            if let Some(text) = holds_text.then(|| delta(data)).flatten() {
                self.text.push_str(&text);
            }
        }
        self.line.clear();
        self.skips = false;
    }
}

/// Returns the text that an event adds to the answer of the model.
fn delta(data: &[u8]) -> Option<String> {
    let event: serde_json::Value = serde_json::from_slice(data).ok()?;
    let texts = [&event["delta"]["text"], &event["choices"][0]["delta"]["content"], &event["delta"]];
    texts.into_iter().find_map(|text| text.as_str()).map(str::to_owned)
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
        let whole = read(events, body, body.len().max(1));
        for size in [1, 2, 7] {
            assert_eq!(read(events, body, size), whole, "pieces of {size}");
        }
        whole
    }

    fn read(events: bool, body: &str, size: usize) -> Option<BilledTokens> {
        let mut reader = ResponseReader::new(events);
        body.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
        reader.finish().tokens
    }

    #[test]
    fn the_text_and_the_calls_of_each_api_in_any_pieces() {
        let messages = "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"@archive\"}}\r\n\r\n\
            data: {\"delta\":{\"type\":\"text_delta\",\"text\":\"(3) é\"}}\n\ndata: {\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n";
        let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"@archive(3) é\"}}]}\n\ndata: {\"choices\":[{\"finish_reason\":\"tool_calls\"}]}";
        let responses = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"@archive(3) é\"}\n\n\
            data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\"}}";
        for body in [messages, chat, responses] {
            for size in [1, 2, 7, body.len()] {
                let mut reader = ResponseReader::new(true);
                body.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
                let ResponseContent { text, calls, .. } = reader.finish();
                assert_eq!((&*text, calls), ("@archive(3) é", true), "{body} in pieces of {size}");
            }
        }
        assert!(!ResponseReader::new(true).finish().calls);
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
        assert_eq!(figures(true, "data: {\"a\":1}\n\n"), None);
        assert_eq!(figures(false, ""), None);
    }
}
