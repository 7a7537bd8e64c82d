//! Content blocks of messages and of attachments.

use super::tool;
use super::words::TASK_NOTICE;
use crate::model::{BlockKind, Media, Refusal, Role};
use crate::provider::json::{elements, equals, fields, is_true, joined, key_of, member, text, text_of};
use crate::provider::{ParsedBlock, media};
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::LazyLock;

fields! {
    /// The relevant keys of a content block.
    ContentFields {
        kind = "type",
        text = "text",
        thinking = "thinking",
        data = "data",
        signature = "signature",
        id = "id",
        name = "name",
        input = "input",
        call = "tool_use_id",
        content = "content",
        error = "is_error",
        source = "source",
        tool_name = "tool_name",
    }
}

/// Builds a text block of the user or of the model.
pub(super) fn spoken(content: Cow<'_, str>, assistant: bool) -> ParsedBlock<'_> {
    let role = if assistant { Role::Assistant } else { Role::User };
    let shown = Some(&content).filter(|_| !assistant).and_then(|text| typed_command(text).or_else(|| reported(text)));
    let mut parsed = ParsedBlock::of(BlockKind::Text, role, content);
    parsed.block.preview = shown.unwrap_or_default().into();
    parsed
}

/// Returns the file to which the client wrote a result that was too large for the conversation.
fn spilled_to(content: &str) -> Option<Box<str>> {
    let rest = content.strip_prefix("<persisted-output>")?;
    let path = &rest[rest.find("saved to: ")? + "saved to: ".len()..];
    path.lines().next().map(|path| path.trim().into())
}

/// Returns the text of the first element with a tag.
fn inside<'a>(content: &'a str, tag: &str) -> Option<&'a str> {
    let start = content.find(&format!("<{tag}>"))? + tag.len() + 2;
    content[start..].find(&format!("</{tag}>")).map(|length| content[start..start + length].trim())
}

/// Returns what the notice of a background task reports: its summary, and what happened or resulted.
pub(super) fn reported(content: &str) -> Option<String> {
    let notice = content.trim_start().strip_prefix(TASK_NOTICE)?;
    let summary = inside(notice, "summary").filter(|summary| !summary.is_empty())?;
    let more = ["event", "result"].iter().find_map(|tag| inside(notice, tag)).unwrap_or_default();
    Some(if more.is_empty() { summary.to_owned() } else { format!("{summary}: {more}") })
}

/// Restores a command as it was typed, `/name arguments`, from the client's record of it.
fn typed_command(content: &str) -> Option<String> {
    if !content.starts_with("<command-") {
        return None;
    }
    let arguments = inside(content, "command-args").unwrap_or_default();
    Some(format!("{} {arguments}", inside(content, "command-name")?).trim_end().to_owned())
}

/// Parses one content block of a message; an element that the client drops on read has the kind `Other` and no label.
pub(super) fn block(element: &RawValue, assistant: bool) -> ParsedBlock<'_> {
    let speaker = if assistant { Role::Assistant } else { Role::User };
    let Ok(fields) = serde_json::from_str::<ContentFields<'_>>(element.get()) else {
        return ParsedBlock::of(BlockKind::Other, speaker, Cow::Borrowed(element.get()));
    };
    let kind = text_of(fields.kind).unwrap_or_default();
    match kind.as_ref() {
        "text" if text_of(fields.text).is_some() => spoken(text_of(fields.text).unwrap_or_default(), assistant),
        "text" => ParsedBlock::of(BlockKind::Other, speaker, Cow::Borrowed(element.get())),
        "thinking" => ParsedBlock::thinking(text_of(fields.thinking).unwrap_or_default(), fields.signature),
        "redacted_thinking" => ParsedBlock::thinking(Cow::Borrowed(""), fields.data),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let name = text_of(fields.name).unwrap_or_default();
            let content = Cow::Borrowed(fields.input.map_or("{}", RawValue::get));
            let mut parsed = ParsedBlock::tool_use(key_of(fields.id), content, tool::read(&name, fields.input));
            parsed.sent = fields.input.filter(|_| name == PLAN_TOOL).and_then(without_plan);
            if POLLS.contains(&&*name) {
                parsed.block.program = parsed.block.tool.as_deref().map(|tool| tool.target.clone()).unwrap_or_default();
            }
            parsed.block.refusal = match &*kind {
                "tool_use" if !assistant => Some(Refusal::Role),
                "tool_use" => id_refusal(fields.id).or_else(|| use_refusal(&fields)),
                _ => id_refusal(fields.id),
            };
            parsed.block.label = if kind == "tool_use" { "".into() } else { kind.as_ref().into() };
            parsed
        }
        "image" => ParsedBlock::read(BlockKind::Image, speaker, |media| media::add_source_image(media, fields.source)),
        "document" => ParsedBlock::read(BlockKind::Document, speaker, |media| document(element, fields.source, media)),
        kind if kind == "tool_result" || fields.call.is_some() && !kind.is_empty() => {
            let error = is_true(fields.error);
            let mut parsed = ParsedBlock::result(key_of(fields.call), |media| match fields.content {
                Some(content) if error => failed(content),
                Some(content) => result(content, media),
                None => Cow::Borrowed(""),
            });
            let part_refusal = || elements(fields.content?).into_iter().find_map(|part| part_refusal(part, error));
            parsed.block.error = error;
            parsed.block.program = running(&parsed.content).into();
            parsed.block.refusal = id_refusal(fields.call).or_else(part_refusal);
            parsed.block.label = if kind == "tool_result" { "".into() } else { kind.into() };
            parsed.block.spilled_to = fields.content.and_then(text).and_then(|content| spilled_to(&content));
            parsed
        }
        kind => {
            let mut parsed = ParsedBlock::read(BlockKind::Other, speaker, |media| media::unknown(media, element));
            parsed.block.label = kind.into();
            parsed.block.refusal = (!is_known(kind)).then_some(Refusal::Kind);
            parsed
        }
    }
}

/// The tools that get the next output of a program that runs on.
const POLLS: &[&str] = &["BashOutput", "TaskOutput", "AgentOutputTool"];
/// Texts before the number of a program at the start of a result that did not wait for its end.
const RUNNING: &[&str] = &["Command running in background with ID: ", "Async agent launched successfully.\nagentId: "];

/// Returns the number of the program that runs on; empty if the call has ended.
fn running(content: &str) -> &str {
    let number = RUNNING.iter().find_map(|start| content.strip_prefix(start)).unwrap_or_default();
    &number[..number.find(|character: char| !character.is_alphanumeric()).unwrap_or(number.len())]
}

/// The tool whose recorded input contains the text of a plan that the model did not write there.
const PLAN_TOOL: &str = "ExitPlanMode";

/// Returns the input of the tool as the model wrote it and as it is sent, for people; `None` if nothing was added to it.
fn without_plan(input: &RawValue) -> Option<String> {
    let mut members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(input.get()).ok()?;
    let added = ["plan", "planFilePath"].map(|name| members.remove(name).is_some());
    let rest = serde_json::value::to_raw_value(&members).ok().filter(|_| added.contains(&true))?;
    tool::read(PLAN_TOOL, Some(&rest)).readable
}

/// Returns the reason for which the API refuses the id of a tool use. Source: its message, `^[a-zA-Z0-9_-]+$`.
fn id_refusal(id: Option<&RawValue>) -> Option<Refusal> {
    let id = text_of(id).filter(|id| !id.is_empty());
    let accepts = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    match id {
        None => Some(Refusal::EmptyId),
        Some(id) => (!accepts(&id)).then_some(Refusal::OddId),
    }
}

/// Returns the reason for which the API refuses a tool use with an acceptable id.
fn use_refusal(fields: &ContentFields<'_>) -> Option<Refusal> {
    if text_of(fields.name).is_none_or(|name| name.is_empty()) {
        return Some(Refusal::NoName);
    }
    fields.input.is_none_or(|input| !input.get().starts_with('{')).then_some(Refusal::Input)
}

/// Returns the reason for which the API refuses an element of a tool result. The client sends only the texts of a failed one.
pub(super) fn part_refusal(element: &RawValue, failed: bool) -> Option<Refusal> {
    const KINDS: [&str; 5] = ["text", "image", "document", "search_result", "tool_reference"];
    let kind = text_of(member(element, "type"))?;
    if kind == "text" {
        return text_of(member(element, "text")).filter(|text| text.trim().is_empty()).map(|_| Refusal::EmptyText);
    }
    (!failed && !KINDS.contains(&&*kind)).then_some(Refusal::Kind)
}

/// Returns true if the API may know a kind of content block. New kinds are those of its own tools.
fn is_known(kind: &str) -> bool {
    const KINDS: [&str; 7] =
        ["tool_reference", "search_result", "container_upload", "compaction", "context_hint", "fallback", "connector_text"];
    const WORDS: [&str; 4] = ["tool_use", "tool_result", "tool_addition", "tool_removal"];
    kind.is_empty() || KINDS.contains(&kind) || WORDS.iter().any(|word| kind.contains(word))
}

/// Returns true if a tool result in the content of a message may contain tool references or search results. A fast byte
/// search; false positives are possible.
pub(super) fn may_refer(content: &RawValue) -> bool {
    static KINDS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| [Finder::new("tool_reference"), Finder::new("search_result")]);
    KINDS.iter().any(|kind| kind.find(content.get().as_bytes()).is_some())
}

/// Returns two facts about a tool result: true if it loads tools, and true if the client folds no text into it.
pub(super) fn references(content: Option<&RawValue>) -> (bool, bool) {
    let Some(content) = content.filter(|content| content.get().starts_with('[') && may_refer(content)) else {
        return (false, false);
    };
    let elements = elements(content);
    let has = |kind: &str| elements.iter().any(|element| equals(member(element, "type"), kind));
    let loads = has("tool_reference");
    (loads, loads || has("search_result"))
}

/// Returns the text of a tool result that reports an error; only the text elements are sent.
fn failed(content: &RawValue) -> Cow<'_, str> {
    let elements = elements(content);
    let is_text = |element: &RawValue| equals(member(element, "type"), "text");
    if elements.iter().all(|element| is_text(element)) {
        return result(content, &mut Media::default());
    }
    let texts: Vec<Cow<'_, str>> =
        elements.into_iter().filter(|element| is_text(element)).filter_map(|element| text_of(member(element, "text"))).collect();
    Cow::Owned(texts.join("\n\n"))
}

/// Returns the text of a tool result: a string, or its parts joined by line feeds; images and documents are added to `media`.
pub(super) fn result<'a>(content: &'a RawValue, media: &mut Media) -> Cow<'a, str> {
    if let Some(string) = text(content) {
        return string;
    }
    joined(elements(content).into_iter().map(|element| part(element, media)).collect())
}

/// Returns the images and documents of one content block.
pub(super) fn media(element: &RawValue) -> Media {
    let mut media = Media::default();
    part(element, &mut media);
    media
}

/// Returns the text of one element of a tool result; its images and documents are added to `media`.
pub(super) fn part<'a>(element: &'a RawValue, media: &mut Media) -> Cow<'a, str> {
    let fields: ContentFields<'a> = serde_json::from_str(element.get()).unwrap_or_default();
    match text_of(fields.kind).unwrap_or_default().as_ref() {
        "text" => text_of(fields.text).unwrap_or_default(),
        "image" => media::add_source_image(media, fields.source),
        "document" => document(element, fields.source, media),
        "tool_reference" => Cow::Owned(format!("[tool {}]", text_of(fields.tool_name).unwrap_or_default())),
        _ => media::unknown(media, element),
    }
}

/// Returns the text of a document of text or of content blocks; any other document is added to `media`.
fn document<'a>(element: &'a RawValue, source: Option<&'a RawValue>, media: &mut Media) -> Cow<'a, str> {
    let member = |name| source.and_then(|source| member(source, name));
    match (text_of(member("type")).as_deref(), member("data"), member("content")) {
        (Some("text"), Some(data), _) => text(data).unwrap_or_default(),
        (Some("content"), _, Some(content)) => result(content, media),
        _ => media::add_source_document(media, element),
    }
}

/// Returns the texts of a tool result that can be shortened safely. The client numbers the lines of file reads.
pub fn shortenable_texts<'a>(tool: &str, result: &'a mut serde_json::Value) -> Vec<&'a mut String> {
    let text = |value: &'a mut serde_json::Value| match value {
        serde_json::Value::String(text) => Some(text),
        _ => None,
    };
    match result {
        serde_json::Value::Object(members) if tool == "Bash" => members.get_mut("stdout").and_then(text).into_iter().collect(),
        serde_json::Value::Array(parts) if tool.starts_with("mcp__") => parts
            .iter_mut()
            .filter(|part| part["type"] == "text")
            .filter_map(|part| part.get_mut("text").and_then(text))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::reported;

    #[test]
    fn a_notice_is_named_by_its_report() {
        let notice = |inside: &str| {
            reported(&format!("<task-notification>\n<task-id>b1</task-id>\n{inside}\n</task-notification>\nSee x."))
        };
        assert_eq!(notice("<summary>Build ended (exit code 0)</summary>").as_deref(), Some("Build ended (exit code 0)"));
        assert_eq!(notice("<summary>CI</summary>\n<event>Lint: pass</event>").as_deref(), Some("CI: Lint: pass"));
        assert_eq!(notice("<summary>CI</summary>\n<result></result>").as_deref(), Some("CI"));
        assert_eq!(notice("<summary></summary>"), None);
        assert_eq!(reported("why <task-notification><summary>x</summary>?"), None);
    }
}
