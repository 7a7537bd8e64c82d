//! Refusals of requests by an API (status 400): the message, and the cause as far as it decides what follows.

use crate::provider::json::{fields, member, text_of};
use serde_json::value::RawValue;
use std::borrow::Cow;

fields! {
    /// The keys of a refusal in any of the APIs.
    Document {
        error = "error",
        detail = "detail",
    }
}

/// Words in the messages of refusals that the client repairs: it sends the request again without earlier thinking.
const THINKING: &[&str] = &["thinking", "signature", "encrypted_content", "reasoning item"];
/// Words in the messages of refusals of requests that are too long.
const LENGTH: &[&str] = &["too long", "context length", "context window", "maximum context", "too many tokens"];

/// Words in the messages of refusals that name a place in the conversation or among the tools.
const CONTENT: &[&str] =
    &["messages.", "messages[", "input[", "tools.", "tools[", "tool_use", "tool_result", "tool_call", "role 'tool'"];

/// The cause of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCause {
    /// Thinking does not match the contents before it, or its signature is wrong. The client repairs that.
    Thinking,
    /// The request is longer than the window of the model.
    Length,
    Content,
    /// Another one, such as a parameter that the API does not know. Clients send the request again without it.
    Other,
}

impl RefusalCause {
    pub fn from_message(message: &str) -> RefusalCause {
        let message = message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
        match () {
            () if has(THINKING) => RefusalCause::Thinking,
            () if has(LENGTH) => RefusalCause::Length,
            () if has(CONTENT) => RefusalCause::Content,
            () => RefusalCause::Other,
        }
    }
}

/// Returns the message in the body of an error; empty if it has none.
pub(super) fn message(body: &[u8]) -> String {
    let Ok(document) = serde_json::from_slice::<Document<'_>>(body) else { return String::new() };
    [document.error, document.detail].into_iter().flatten().find_map(text).unwrap_or_default()
}

pub(super) fn text(error: &RawValue) -> Option<String> {
    [member(error, "message"), Some(error)].into_iter().find_map(text_of).map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_each_api() {
        for (body, expected) in [
            (r#"{"type":"error","error":{"type":"invalid_request_error","message":"a \"b\""}}"#, "a \"b\""),
            (r#"{"error":{"message":"a","type":"invalid_request_error","param":null,"code":null}}"#, "a"),
            (r#"{"error":"a"}"#, "a"),
            (r#"{"detail":"a"}"#, "a"),
            (r#"{"error":null,"id":"resp_1"}"#, ""),
            (r#"{"error":{"message":7}}"#, ""),
            ("<html>", ""),
            ("", ""),
        ] {
            assert_eq!(message(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn the_cause_that_a_message_names() {
        use RefusalCause::{Content, Length, Other, Thinking};
        for (message, expected) in [
            ("messages.1.content.0: Invalid `signature` in `thinking` block", Thinking),
            ("The encrypted_content of item rs_1 could not be verified", Thinking),
            ("prompt is too long: 210000 tokens > 200000 maximum", Length),
            ("Your input exceeds the context window of this model.", Length),
            ("messages.3: `tool_use` ids were found without `tool_result` blocks", Content),
            ("Invalid 'input[3].call_id': empty string", Content),
            ("safeguards: Extra inputs are not permitted", Other),
            ("", Other),
        ] {
            assert_eq!(RefusalCause::from_message(message), expected, "{message}");
        }
    }
}
