//! Finds the API that a list of messages belongs to, and the request and the answer in a record of a gateway.

use crate::provider::json::{elements, member, text_of};
use serde_json::value::RawValue;

/// The member paths at which a record can hold the body of a request; of several the first one.
const REQUESTS: &[&str] = &[
    "", "request", "request/body", "request/json", "body", "request_body", "requestBody", "kwargs", "params", "input", "payload",
    "data",
];
/// The member paths at which a record can hold the body of the answer.
const ANSWERS: &[&str] = &["response", "response/body", "response/json", "response_body", "responseBody", "output", "completion"];

/// The form of a list of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Anthropic,
    OpenAi,
}

/// Returns the form of the messages of a body; `None` if it has no messages. A body that both APIs would take counts as
/// [`Dialect::OpenAi`], unless it names a model of Anthropic.
pub(super) fn of_body(body: &RawValue) -> Option<Dialect> {
    let messages = member(body, "messages").filter(|messages| messages.get().starts_with('['))?;
    let messages = elements(messages);
    if !messages.iter().any(|message| member(message, "role").is_some()) {
        return None;
    }
    let has = |names: &[&str]| names.iter().any(|name| member(body, name).is_some());
    let tool = |tool: &RawValue| match () {
        () if member(tool, "function").is_some() => Some(Dialect::OpenAi),
        () if member(tool, "input_schema").is_some() => Some(Dialect::Anthropic),
        () => None,
    };
    let of_tools = || member(body, "tools").map(elements).unwrap_or_default().into_iter().find_map(tool);
    let of_members = || match () {
        () if has(&["functions", "max_completion_tokens", "stream_options", "response_format"]) => Some(Dialect::OpenAi),
        () if has(&["system", "anthropic_version", "stop_sequences", "thinking"]) => Some(Dialect::Anthropic),
        () => None,
    };
    let first_is_system =
        || messages.first().and_then(|first| text_of(member(first, "role"))).is_some_and(|role| role == "system");
    let is_claude = || text_of(member(body, "model")).is_some_and(|model| model.starts_with("claude"));
    let known = messages.iter().find_map(|message| of_message(message)).or_else(of_tools).or_else(of_members);
    Some(known.unwrap_or(if is_claude() && !first_is_system() { Dialect::Anthropic } else { Dialect::OpenAi }))
}

/// Returns the form of a message; `None` if both APIs would take it.
pub(super) fn of_message(message: &RawValue) -> Option<Dialect> {
    let has = |name| member(message, name).is_some();
    let role = text_of(member(message, "role")).unwrap_or_default();
    let names = ["tool_calls", "function_call", "tool_call_id", "reasoning_content", "refusal"];
    if matches!(&*role, "developer" | "tool" | "function") || names.into_iter().any(has) {
        return Some(Dialect::OpenAi);
    }
    let part = |part: &RawValue| match &*text_of(member(part, "type"))? {
        "image_url" | "input_audio" | "file" | "refusal" => Some(Dialect::OpenAi),
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image" | "document" => Some(Dialect::Anthropic),
        _ if member(part, "cache_control").is_some() => Some(Dialect::Anthropic),
        _ => None,
    };
    member(message, "content").map(elements).unwrap_or_default().into_iter().find_map(part)
}

/// Returns true if a value is a message: an object with a role and a content or calls.
pub(super) fn is_message(value: &RawValue) -> bool {
    let has = |name: &&str| member(value, name).is_some();
    let role = text_of(member(value, "role"));
    role.is_some() && ["content", "tool_calls", "function_call"].iter().any(has)
}

/// Returns the body of the request in a record, if `is_body` accepts it.
pub(super) fn request<'a>(record: &'a RawValue, is_body: &dyn Fn(&RawValue) -> bool) -> Option<&'a RawValue> {
    REQUESTS.iter().filter_map(|path| at(record, path)).find(|body| is_body(body))
}

/// Returns the messages or items of the answer in a record; empty if it has none.
pub(in crate::provider) fn answer_in(record: &RawValue) -> Vec<&RawValue> {
    ANSWERS.iter().filter_map(|path| at(record, path)).map(messages).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns the messages of an answer: that of its first choice, its items, or the answer itself if it is a message.
fn messages(answer: &RawValue) -> Vec<&RawValue> {
    let choice = member(answer, "choices").map(elements).unwrap_or_default().into_iter().next();
    if let Some(message) = choice.and_then(|choice| member(choice, "message")) {
        return vec![message];
    }
    if is_message(answer) {
        return vec![answer];
    }
    member(answer, "output").map(elements).unwrap_or_default().into_iter().filter(|item| member(item, "type").is_some()).collect()
}

fn at<'a>(value: &'a RawValue, path: &str) -> Option<&'a RawValue> {
    path.split_terminator('/').try_fold(value, |value, name| member(value, name)).filter(|value| value.get().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::raw;

    #[test]
    fn the_api_of_messages_is_known_by_what_only_one_api_takes() {
        for (body, expected) in [
            (r#"{"messages":[{"role":"user","content":"a"}]}"#, Some(Dialect::OpenAi)),
            (r#"{"model":"claude-x","messages":[{"role":"user","content":"a"}]}"#, Some(Dialect::Anthropic)),
            (r#"{"model":"claude-x","messages":[{"role":"system","content":"a"}]}"#, Some(Dialect::OpenAi)),
            (r#"{"system":"s","messages":[{"role":"user","content":"a"}]}"#, Some(Dialect::Anthropic)),
            (
                r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"x","input_schema":{}}]}"#,
                Some(Dialect::Anthropic),
            ),
            (r#"{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}"#, Some(Dialect::OpenAi)),
            (r#"{"messages":[{"role":"tool","content":"a"}]}"#, Some(Dialect::OpenAi)),
            (r#"{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#, Some(Dialect::Anthropic)),
            (r#"{"messages":[{"info":{"role":"user"}}]}"#, None),
            (r#"{"messages":3}"#, None),
        ] {
            assert_eq!(of_body(raw(body)), expected, "{body}");
        }
    }

    #[test]
    fn an_answer_is_found_in_the_form_of_each_api() {
        for (record, expected) in [
            (r#"{"response":{"choices":[{"message":{"role":"assistant","content":"a"}}]}}"#, 1),
            (r#"{"response":{"body":{"role":"assistant","content":[]}}}"#, 1),
            (r#"{"response":{"output":[{"type":"reasoning"},{"type":"message"}]}}"#, 2),
            (r#"{"response":"text"}"#, 0),
        ] {
            assert_eq!(answer_in(raw(record)).len(), expected, "{record}");
        }
    }
}
