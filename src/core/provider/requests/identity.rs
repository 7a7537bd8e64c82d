//! The session and the line of a request.

use super::document::RequestDocument;
use super::head::{RequestApi as Api, RequestHead};
use crate::model::{BlockKind, Key};
use crate::provider::ParsedBlock;
use crate::provider::json::{equals, member, text_of};
use memchr::memmem;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Headers with the id of a session, in the order in which they are read.
const SESSION_HEADERS: &[&str] = &["x-claude-code-session-id", "session-id", "session_id", "x-session-id"];

/// Headers with the id of a subagent within a session.
const AGENT_HEADERS: &[&str] = &["x-claude-code-agent-id", "x-openai-subagent"];

/// The session and the line of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestIdentity {
    /// The id of the session as the client names it, or a hash of the instructions and the first message.
    pub session: String,
    /// Empty for the main requests of a session, or the id of a subagent.
    pub line: String,
    /// True if requests of this line may be changed: they offer tools to the model. The others are requests beside the
    /// conversation, such as those for a title.
    pub has_tools: bool,
    /// True if the client asks for a summary in the place of the conversation.
    pub asks_for_summary: bool,
    /// True if no id names the session and the model has not answered: it may be another conversation that begins as the known one.
    pub may_be_another: bool,
}

/// The tags that the request of Claude Code for a summary names (2.1.330), and the item of Codex (0.169).
const SUMMARY_TAGS: [&str; 2] = ["<analysis>", "<summary>"];
const SUMMARY_ITEM: &str = "compaction_trigger";

/// Returns the session and the line of a request if its head names the session.
pub fn named_in_head(head: &RequestHead) -> Option<(&str, &str)> {
    Some((header(head, SESSION_HEADERS)?, header(head, AGENT_HEADERS).unwrap_or_default()))
}

fn header<'h>(head: &'h RequestHead, names: &[&str]) -> Option<&'h str> {
    names.iter().find_map(|name| head.header(name)).filter(|value| !value.is_empty())
}

/// Returns the session and the line of a request.
pub fn identity(head: &RequestHead, api: Api, body: &RequestDocument<'_>) -> RequestIdentity {
    let name = header(head, SESSION_HEADERS).map(str::to_owned).or_else(|| named(body));
    let may_be_another = name.is_none() && body.is_unanswered();
    let session = name.unwrap_or_else(|| hashed(api, body));
    let tools = ["tools", "functions"].iter().any(|name| !body.elements(name).is_empty());
    // Codex offers some tools as an item of the conversation.
    let is_tools = |item: &RawValue| equals(member(item, "type"), "additional_tools");
    let has_tools = tools || body.values("input").any(is_tools);
    let line = header(head, AGENT_HEADERS).unwrap_or_default().to_owned();
    RequestIdentity { session, line, has_tools, asks_for_summary: asks_for_summary(api, body), may_be_another }
}

/// Returns true if the last message of the user asks for a summary of the conversation.
fn asks_for_summary(api: Api, body: &RequestDocument<'_>) -> bool {
    match api {
        Api::Messages => {
            let messages = body.range("messages").map_or(&[][..], |messages| &body.bytes[messages]);
            let last = memmem::rfind(messages, b"\"user\"").map_or(&[][..], |start| &messages[start..]);
            SUMMARY_TAGS.iter().all(|tag| memmem::find(last, tag.as_bytes()).is_some())
        }
        Api::Responses => {
            let last = body.values("input").next_back();
            last.and_then(|item| text_of(member(item, "type"))).is_some_and(|kind| kind == SUMMARY_ITEM)
        }
        Api::Chat => false,
    }
}

fn named(body: &RequestDocument<'_>) -> Option<String> {
    let user = body.member("metadata").and_then(|metadata| text_of(member(metadata, "user_id")));
    let of_user = user.and_then(|user| {
        let parsed: serde_json::Value = serde_json::from_str(&user).ok()?;
        parsed["session_id"].as_str().map(str::to_owned)
    });
    of_user.or_else(|| text_of(body.member("prompt_cache_key")).map(|key| key.into_owned())).filter(|id| !id.is_empty())
}

/// Returns a hash of the instructions and the first message of the user, which all requests of a conversation share.
fn hashed(api: Api, body: &RequestDocument<'_>) -> String {
    let (instructions, conversation) = match api {
        Api::Messages => ("system", "messages"),
        Api::Chat => ("", "messages"),
        Api::Responses => ("instructions", "input"),
    };
    let is_user = |message: &&RawValue| equals(member(message, "role"), "user");
    let prompts = || body.values(conversation).filter(is_user).filter_map(|message| member(message, "content"));
    let first =
        prompts().find_map(|content| own_content(api, content)).or_else(|| prompts().next().map(|content| content.get().into()));
    let before = body.values(conversation).take_while(|message| !is_user(message)).map(RawValue::get);
    let parts = before.chain(body.member(instructions).map(RawValue::get)).map(Cow::Borrowed).chain(first);
    let text: Vec<String> = parts.map(|part| without_cache_marks(&part)).collect();
    format!("{:?}", Key::from_bytes(text.join("\n").as_bytes()))
}

/// Returns the content of a message of the user without the texts that its client adds, which differ when a conversation is continued;
/// `None` if it has nothing else.
fn own_content(api: Api, content: &RawValue) -> Option<Cow<'_, str>> {
    let message = format!(r#"{{"role":"user","content":{}}}"#, content.get());
    let blocks = api.format().parse(message.as_bytes()).blocks;
    let is_asked = |parsed: &&ParsedBlock<'_>| parsed.block.kind != BlockKind::Attachment;
    if blocks.iter().all(|parsed| is_asked(&parsed)) {
        return Some(Cow::Borrowed(content.get()));
    }
    let asked: Vec<&str> = blocks.iter().filter(is_asked).map(|parsed| &*parsed.content).collect();
    (!asked.is_empty()).then(|| Cow::Owned(asked.join("\n")))
}

/// Returns JSON without the marks that move from message to message.
fn without_cache_marks(json: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(json) else { return json.to_owned() };
    for element in value.as_array_mut().into_iter().flatten() {
        if let Some(object) = element.as_object_mut() {
            object.shift_remove("cache_control");
        }
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(api: Api, body: &str) -> RequestIdentity {
        identity(&RequestHead::default(), api, &RequestDocument::new(body.as_bytes()).unwrap())
    }

    #[track_caller]
    fn check(headers: &[(&str, &str)], api: Api, body: &str, session: &str, line: &str, has_tools: bool) {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let head = RequestHead { headers, ..RequestHead::default() };
        let found = identity(&head, api, &RequestDocument::new(body.as_bytes()).unwrap());
        let (session, line) = (session.to_owned(), line.to_owned());
        let expected = RequestIdentity { session, line, has_tools, asks_for_summary: false, may_be_another: false };
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn a_header_precedes_the_body_and_the_body_a_hash() {
        let body =
            r#"{"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s-2\"}"},"prompt_cache_key":"k","tools":[{}]}"#;
        check(&[("x-claude-code-session-id", "s-1")], Api::Messages, body, "s-1", "", true);
        check(&[], Api::Messages, body, "s-2", "", true);
        check(&[("session-id", "c")], Api::Responses, r#"{"input":[]}"#, "c", "", false);
        check(&[], Api::Responses, r#"{"prompt_cache_key":"k","input":[{"type":"additional_tools"}]}"#, "k", "", true);
        check(&[("session-id", "c"), ("x-claude-code-agent-id", "a1")], Api::Messages, r#"{"tools":[]}"#, "c", "a1", false);
    }

    #[test]
    fn requests_of_one_conversation_share_a_hash() {
        let id = |body: &str| of(Api::Chat, body).session;
        let first = id(r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}]}"#);
        let later = id(
            r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#,
        );
        let other = id(r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]}"#);
        assert_eq!(first, later);
        assert_ne!(first, other);
        let may_be_another = |body: &str| of(Api::Chat, body).may_be_another;
        assert!(may_be_another(r#"{"messages":[{"role":"user","content":"a"}]}"#));
        assert!(!may_be_another(r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#));
        let id = |body: &str| of(Api::Messages, body).session;
        let marked =
            id(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}"#);
        assert_eq!(marked, id(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#));
    }

    #[test]
    fn texts_that_the_client_adds_to_a_prompt_name_no_conversation() {
        let id =
            |content: &str| of(Api::Chat, &format!(r#"{{"messages":[{{"role":"system","content":"s"}},{content}]}}"#)).session;
        let user = |parts: &[&str]| {
            let parts: Vec<String> = parts.iter().map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)).collect();
            format!(r#"{{"role":"user","content":[{}]}}"#, parts.join(","))
        };
        let (date, skills) =
            ("<system-reminder>\\nIt is Monday.\\n</system-reminder>", "<system-reminder>\\nOne skill.\\n</system-reminder>");
        let first = id(&user(&[skills, date, "fix it"]));
        assert_eq!(first, id(&user(&[skills, "fix it"])));
        assert_eq!(first, id(&[user(&[date]), user(&["fix it", date])].join(",")));
        assert_ne!(first, id(&user(&[skills, date, "test it"])));
        assert_ne!(id(&user(&[skills])), id(&user(&[date])), "without a prompt the client's texts are all there is");
    }

    #[test]
    fn a_request_for_a_summary_is_known_by_its_last_message() {
        let asks = |api, body: &str| of(api, body).asks_for_summary;
        let ask = r#"{"role":"user","content":"write <analysis> and <summary>"}"#;
        let answer = r#"{"role":"assistant","content":"fine"},{"role":"user","content":"go on"}"#;
        assert!(asks(Api::Messages, &format!(r#"{{"messages":[{answer},{ask}]}}"#)));
        assert!(!asks(Api::Messages, &format!(r#"{{"messages":[{ask},{answer}]}}"#)));
        assert!(asks(Api::Responses, r#"{"input":[{"type":"message"},{"type":"compaction_trigger"}]}"#));
        assert!(!asks(Api::Responses, r#"{"input":[{"type":"compaction_trigger"},{"type":"message"}]}"#));
        assert!(!asks(Api::Messages, "{}"));
    }

    #[test]
    fn other_values_have_no_members() {
        assert!(RequestDocument::new(b"[1]").is_none());
        assert!(RequestDocument::new(b"{\"a\":").is_none());
        let document = RequestDocument::new(br#"{"model":"a","model":"b","input":null}"#).unwrap();
        assert_eq!((document.model(), document.member("input").is_none()), ("b".to_owned(), true));
    }
}
