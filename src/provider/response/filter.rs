//! The calls of one tool in the stream of a response, withheld from the client.

use super::messages::MessagesFilter;
use super::responses::ResponsesFilter;
use crate::model::{Key, ReplyPart};
use crate::provider::RequestApi;
use serde_json::Value;

/// A call of the withheld tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldCall {
    /// Its id.
    pub id: String,
    /// The text that it was given; empty if the input has none.
    pub input: String,
}

/// A response with withheld calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its content blocks, in order.
    pub parts: Vec<ReplyPart>,
    /// The JSON of all its content blocks.
    pub content: Vec<String>,
    /// The withheld calls.
    pub calls: Vec<WithheldCall>,
    /// True if the model called no tool of the client.
    pub is_alone: bool,
}

/// Passes the events of a response on, except those of the calls of one tool and, after such a call, the end of the response. A response
/// that continues another one is joined to it.
#[derive(Debug)]
pub enum CallFilter {
    /// Anthropic Messages.
    Messages(Box<MessagesFilter>),
    /// OpenAI Responses.
    Responses(Box<ResponsesFilter>),
}

impl CallFilter {
    /// Creates a filter for the calls of a tool; `None` if they cannot be withheld in streams of this API. `input` is the name of the
    /// tool's input.
    pub fn new(api: RequestApi, tool: &'static str, input: &'static str) -> Option<CallFilter> {
        match api {
            RequestApi::Messages => Some(CallFilter::Messages(Box::new(MessagesFilter::new(tool, input)))),
            RequestApi::Responses => Some(CallFilter::Responses(Box::new(ResponsesFilter::new(tool, input)))),
            RequestApi::Chat => None,
        }
    }

    /// Takes a piece of the stream and returns the bytes for the client.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        match self {
            CallFilter::Messages(filter) => filter.push(piece),
            CallFilter::Responses(filter) => filter.push(piece),
        }
    }

    /// Returns the first lasting content block of a continuation, once, when it is complete.
    pub fn take_first(&mut self) -> Option<Key> {
        match self {
            CallFilter::Messages(filter) => filter.take_first(),
            CallFilter::Responses(filter) => filter.take_first(),
        }
    }

    /// Takes the end of the stream of a response. Returns the withheld calls if they are to be answered: then the end of the response is
    /// withheld too. The bytes are those after the last event.
    pub fn end(&mut self) -> (Vec<u8>, Option<Reply>) {
        match self {
            CallFilter::Messages(filter) => filter.end(),
            CallFilter::Responses(filter) => filter.end(),
        }
    }

    /// Expects a response that continues the current one.
    pub fn proceed(&mut self) {
        match self {
            CallFilter::Messages(filter) => filter.proceed(),
            CallFilter::Responses(filter) => filter.proceed(),
        }
    }

    /// Returns the withheld end of the response. If `ends_turn` is true, no call is left for the client to answer.
    pub fn release(&mut self, ends_turn: bool) -> Vec<u8> {
        match self {
            CallFilter::Messages(filter) => filter.release(ends_turn),
            CallFilter::Responses(filter) => filter.release(),
        }
    }
}

/// Returns a text of the input of a call: the one of this name, or the only one.
pub(super) fn given(input: &Value, name: &str) -> String {
    let only = || input.as_object().filter(|members| members.len() == 1).and_then(|members| members.values().next());
    input.get(name).or_else(only).and_then(Value::as_str).unwrap_or_default().to_owned()
}
