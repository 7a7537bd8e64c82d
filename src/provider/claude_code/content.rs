//! Content blocks of messages and of attachments.

use super::tool;
use crate::model::{Block, BlockKind, Excerpts, Key, Media, Role};
use crate::provider::json::{elements, fields, is_true, member, text, text_of};
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
    let mut block = Block::new(BlockKind::Text, role);
    if let Some(command) = Some(&content).filter(|_| !assistant).and_then(|content| typed_command(content)) {
        block.preview = command.into();
    }
    ParsedBlock::new(block, content)
}

/// Returns the file to which the client wrote a result that was too large for the conversation.
fn spilled_to(content: &str) -> Option<Box<str>> {
    let rest = content.strip_prefix("<persisted-output>")?;
    let path = &rest[rest.find("saved to: ")? + "saved to: ".len()..];
    path.lines().next().map(|path| path.trim().into())
}

/// Restores a command as it was typed, `/name arguments`, from the client's record of it.
fn typed_command(content: &str) -> Option<String> {
    let inside = |tag: &str| {
        let start = content.find(&format!("<{tag}>"))? + tag.len() + 2;
        content[start..].find(&format!("</{tag}>")).map(|length| content[start..start + length].trim())
    };
    if !content.starts_with("<command-") {
        return None;
    }
    let arguments = inside("command-args").unwrap_or_default();
    Some(format!("{} {arguments}", inside("command-name")?).trim_end().to_owned())
}

/// Parses one content block of a message; an element that the client drops on read has the kind `Other` and no label.
pub(super) fn block(element: &RawValue, assistant: bool) -> ParsedBlock<'_> {
    let speaker = if assistant { Role::Assistant } else { Role::User };
    let Ok(fields) = serde_json::from_str::<ContentFields<'_>>(element.get()) else {
        return ParsedBlock::new(Block::new(BlockKind::Other, speaker), Cow::Borrowed(element.get()));
    };
    let kind = text_of(fields.kind).unwrap_or_default();
    match kind.as_ref() {
        "text" if text_of(fields.text).is_some() => spoken(text_of(fields.text).unwrap_or_default(), assistant),
        "text" => ParsedBlock::new(Block::new(BlockKind::Other, speaker), Cow::Borrowed(element.get())),
        "thinking" => {
            let mut block = Block::new(BlockKind::Thinking, Role::Thinking);
            block.signature_bytes = text_of(fields.signature).map_or(0, |signature| signature.len() as u32);
            ParsedBlock::new(block, text_of(fields.thinking).unwrap_or_default())
        }
        "redacted_thinking" => {
            let mut block = Block::new(BlockKind::Thinking, Role::Thinking);
            block.signature_bytes = text_of(fields.data).map_or(0, |data| data.len() as u32);
            ParsedBlock::new(block, Cow::Borrowed(""))
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let mut block = Block::new(BlockKind::ToolUse, Role::ToolUse);
            block.call = key(fields.id);
            block.odd_call = is_odd(fields.id);
            block.label = if kind == "tool_use" { "".into() } else { kind.as_ref().into() };
            let name = text_of(fields.name).unwrap_or_default();
            let input = tool::read(&name, fields.input);
            let sent = fields.input.filter(|_| name == PLAN_TOOL).and_then(without_plan);
            block.tool = Some(Box::new(input.tool));
            block.excerpts = Excerpts { files: input.files, ..Excerpts::default() }.some();
            let content = Cow::Borrowed(fields.input.map_or("{}", RawValue::get));
            ParsedBlock { readable: Some(input.readable), refers: Some(input.refers), sent, ..ParsedBlock::new(block, content) }
        }
        "image" => {
            let mut block = Block::new(BlockKind::Image, speaker);
            let content = media::add_image(&mut block.media, media::source_data(fields.source));
            ParsedBlock::new(block, content)
        }
        "document" => {
            let mut block = Block::new(BlockKind::Document, speaker);
            let content = document(element, fields.source, &mut block.media);
            ParsedBlock::new(block, content)
        }
        kind if kind == "tool_result" || fields.call.is_some() && !kind.is_empty() => {
            let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
            block.call = key(fields.call);
            block.odd_call = is_odd(fields.call);
            block.label = if kind == "tool_result" { "".into() } else { kind.into() };
            block.error = is_true(fields.error);
            block.spilled_to = fields.content.and_then(text).and_then(|content| spilled_to(&content));
            let content = match fields.content {
                Some(content) if block.error => failed(content),
                Some(content) => result(content, &mut block.media),
                None => Cow::Borrowed(""),
            };
            ParsedBlock::new(block, content)
        }
        kind => {
            let mut block = Block::new(BlockKind::Other, speaker);
            block.label = kind.into();
            let content = media::unknown(&mut block.media, element);
            ParsedBlock::new(block, content)
        }
    }
}

/// The tool whose recorded input contains the text of a plan that the model did not write there.
const PLAN_TOOL: &str = "ExitPlanMode";

/// Returns the input of the tool as the model wrote it and as it is sent, for people; `None` if nothing was added to it.
fn without_plan(input: &RawValue) -> Option<String> {
    let mut members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(input.get()).ok()?;
    let added = ["plan", "planFilePath"].map(|name| members.remove(name).is_some());
    let rest = serde_json::value::to_raw_value(&members).ok().filter(|_| added.contains(&true))?;
    Some(tool::read(PLAN_TOOL, Some(&rest)).readable)
}

fn key(value: Option<&RawValue>) -> Option<Key> {
    text_of(value).map(|text| Key::from_text(&text))
}

/// Returns true if the API does not accept the id of a tool use. Source: its message of refusal, which names the pattern
/// `^[a-zA-Z0-9_-]+$`.
fn is_odd(id: Option<&RawValue>) -> bool {
    let accepts = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    !text_of(id).is_some_and(|id| accepts(&id))
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
    let has = |kind: &str| elements.iter().any(|element| text_of(member(element, "type")).is_some_and(|known| known == kind));
    let loads = has("tool_reference");
    (loads, loads || has("search_result"))
}

/// Returns the text of a tool result that reports an error; only the text elements are sent.
fn failed(content: &RawValue) -> Cow<'_, str> {
    let elements = elements(content);
    let is_text = |element: &RawValue| text_of(member(element, "type")).is_some_and(|kind| kind == "text");
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
    let mut parts: Vec<Cow<'a, str>> = elements(content).into_iter().map(|element| part(element, media)).collect();
    if parts.len() == 1 { parts.remove(0) } else { Cow::Owned(parts.join("\n")) }
}

/// Returns the text of one element of a tool result; its images and documents are added to `media`.
pub(super) fn part<'a>(element: &'a RawValue, media: &mut Media) -> Cow<'a, str> {
    let fields: ContentFields<'a> = serde_json::from_str(element.get()).unwrap_or_default();
    match text_of(fields.kind).unwrap_or_default().as_ref() {
        "text" => text_of(fields.text).unwrap_or_default(),
        "image" => media::add_image(media, media::source_data(fields.source)),
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
        _ => media::add_document(media, element),
    }
}
