//! Writing: locates the values that edits replace, and builds the rows that are added.
//!
//! A row is never serialized again: a value in it is replaced by byte range, and all other bytes are unchanged.

use super::content;
use super::parse::{self, MessageFields, RowFields};
use super::usage::Figures;
use crate::model::{BlockKind, Event, Image, Key, Media, MediaFault, Refusal, Slot, ThinkingScope};
use crate::provider::json::{
    self, elements, equals, member, members, number, quoted, range_in, text, text_of, with_figures, with_values,
};
use crate::provider::{ForkedRow, MediaPlace, NewRow, Stub};
use serde_json::value::RawValue;
use std::fmt::Write;
use std::ops::Range;

/// The first version of the client that is known to support rows that strip thinking, and to read the window size in iterations.
const KNOWN_FROM: [u32; 3] = [2, 1, 330];

/// Returns the slot through which a block is changed; `None` if it cannot be changed, such as thinking, which is signed.
pub(super) fn slot(row: &[u8], index: u32) -> Option<Slot> {
    slot_in(&parse::fields(row)?, index)
}

pub(in crate::provider) fn slot_in(fields: &RowFields<'_>, index: u32) -> Option<Slot> {
    let element = match values(fields)? {
        Values::Text(_) => return Some(Slot::Content(index)),
        Values::Elements(elements) => elements.get(index as usize).copied(),
        Values::Rendered(parts) => parts.get(index as usize).copied(),
    }?;
    if element.get().starts_with('"') {
        return Some(Slot::Content(index));
    }
    match text_of(member(element, "type")).as_deref()? {
        "text" => Some(Slot::Content(index)),
        "image" | "document" => Some(Slot::Element(index)),
        "thinking" | "redacted_thinking" => None,
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            member(element, "input").filter(|input| input.get().starts_with('{')).map(|_| Slot::Content(index))
        }
        "tool_result" => member(element, "content").map(|_| Slot::Content(index)),
        _ => None,
    }
}

pub(super) fn locate(row: &[u8], slot: Slot) -> Option<Range<usize>> {
    match slot {
        Slot::Line => Some(0..row.len()),
        Slot::Break(offset) => Some(offset as usize..offset as usize).filter(|place| place.end <= row.len()),
        Slot::String { path, .. } => json::string_at(row, path),
        _ => Some(range_in(row, value_in(&parse::fields(row)?, slot)?)),
    }
}

pub(in crate::provider) fn value_in<'a>(fields: &RowFields<'a>, slot: Slot) -> Option<&'a RawValue> {
    match slot {
        Slot::Parent => fields.parent,
        Slot::LogicalParent => fields.logical_parent,
        Slot::Subtype => fields.subtype,
        Slot::Display => fields.result,
        Slot::Usage => message(fields)?.usage,
        Slot::Message => message(fields)?.content,
        Slot::Content(index) | Slot::Element(index) => match values(fields)? {
            Values::Text(value) => Some(value),
            Values::Elements(elements) => value_of(elements.get(index as usize).copied()?, slot),
            Values::Rendered(parts) => value_of(parts.get(index as usize).copied()?, slot),
        },
        Slot::Call(index) => match values(fields)? {
            Values::Elements(elements) => {
                let element = elements.get(index as usize)?;
                member(element, "id").or_else(|| member(element, "tool_use_id")).filter(|id| id.get().starts_with('"'))
            }
            Values::Text(_) | Values::Rendered(_) => None,
        },
        Slot::Line | Slot::Ahead | Slot::String { .. } | Slot::Input(_) | Slot::Padding | Slot::Break(_) => None,
    }
}

/// The text in the place of an empty one, which the API refuses.
const EMPTY: &str = "[empty]";
/// The name in the place of an empty name of a tool.
const UNNAMED: &str = "unnamed_tool";

/// Returns the slot of a block, and its value as the API accepts it, with texts in the place of some of its images and documents: each by
/// its number among the images, or the documents, of the block. `None` if there is nothing to replace, or one of them cannot be located.
pub(super) fn accepted(row: &[u8], index: u32, media: &[(MediaPlace, String)]) -> Option<(Slot, Vec<u8>)> {
    let fields = parse::fields(row)?;
    let element = match values(&fields)? {
        Values::Elements(elements) => elements.get(index as usize).copied(),
        Values::Rendered(parts) => parts.get(index as usize).copied(),
        Values::Text(_) => return Some((Slot::Content(index), encode(Slot::Content(index), BlockKind::Text, EMPTY)?)),
    }?;
    let kind = text_of(member(element, "type")).unwrap_or_default();
    match (&*kind, media) {
        ("tool_use", []) if equals(fields.kind, "assistant") => Some((Slot::Element(index), with_name_and_input(element))),
        ("tool_result", _) => {
            let (content, mut before, mut edits) = (member(element, "content")?, Media::default(), Vec::new());
            let is_failed = json::is_true(member(element, "is_error"));
            for part in elements(content) {
                if let Some(value) = accepted_part(part, is_failed, &mut before, media) {
                    edits.push((range_in(content.get().as_bytes(), part), value?));
                }
            }
            (!edits.is_empty()).then(|| (Slot::Content(index), with_values(content.get().as_bytes(), edits)))
        }
        (_, [(_, text)]) => Some((Slot::Element(index), without_media(element, &content::media(element).images, text)?)),
        (_, []) => Some((Slot::Element(index), as_text(element.get())?)),
        _ => None,
    }
}

/// Returns the value in the place of an element of a tool result, after the media of the elements before it, to which its own are added.
/// `None` if it stays; `Some(None)` if it cannot be encoded.
fn accepted_part(
    element: &RawValue,
    is_failed: bool,
    before: &mut Media,
    media: &[(MediaPlace, String)],
) -> Option<Option<Vec<u8>>> {
    let (images, documents) = (before.images.len(), before.documents.len());
    content::part(element, before);
    let is_in = |place: &MediaPlace| match place {
        MediaPlace::Image(at) => (images..before.images.len()).contains(at),
        MediaPlace::Document(at) => (documents..before.documents.len()).contains(at),
    };
    if let Some((_, text)) = media.iter().find(|(place, _)| is_in(place)) {
        return Some(without_media(element, &before.images[images..], text));
    }
    match content::part_refusal(element, is_failed)? {
        Refusal::EmptyText => Some(as_text(EMPTY)),
        _ => Some(as_text(element.get())),
    }
}

/// Returns a text in the place of an element that is an image or a document; an image of another format only gets its media type.
fn without_media(element: &RawValue, images: &[Image], text: &str) -> Option<Vec<u8>> {
    match images {
        [Image { fault: Some(MediaFault::OtherFormat(format)), .. }] => {
            let stated = member(member(element, "source")?, "media_type")?;
            let (bytes, media_type) = (element.get().as_bytes(), format!("\"{}\"", format.media_type()));
            Some(with_values(bytes, vec![(range_in(bytes, stated), media_type.into_bytes())]))
        }
        _ => as_text(text),
    }
}

/// Returns a tool use with a name and an object as its input.
fn with_name_and_input(element: &RawValue) -> Vec<u8> {
    let bytes = element.get().as_bytes();
    let set = |name: &str, value: String| match member(element, name) {
        Some(old) => (range_in(bytes, old), value.into_bytes()),
        None => (1..1, format!("\"{name}\":{value},").into_bytes()),
    };
    let mut edits = Vec::new();
    if text_of(member(element, "name")).is_none_or(|name| name.is_empty()) {
        edits.push(set("name", format!("\"{UNNAMED}\"")));
    }
    let input = member(element, "input");
    if input.is_none_or(|input| !input.get().starts_with('{')) {
        // Some programs write the object as a text.
        let inner = text_of(input).filter(|text| json::is_object(text));
        let value = match (inner, input.map(RawValue::get)) {
            (Some(inner), _) => inner.into_owned(),
            (None, None | Some("null")) => "{}".to_owned(),
            (None, Some(value)) => format!("{{\"input\":{value}}}"),
        };
        edits.push(set("input", value));
    }
    with_values(bytes, edits)
}

fn as_text(text: &str) -> Option<Vec<u8>> {
    encode(Slot::Element(0), BlockKind::Text, text)
}

/// Encodes a text as the value of a slot; `None` if the slot cannot hold it.
pub(in crate::provider) fn encode(slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> {
    match slot {
        Slot::Content(_) if kind == BlockKind::ToolUse => json::document(content.as_bytes()).map(|input| input.get().into()),
        Slot::Content(_) => Some(quoted(content)?.into_bytes()),
        Slot::Element(_) => Some(format!(r#"{{"type":"text","text":{}}}"#, quoted(content)?).into_bytes()),
        _ => None,
    }
}

/// Decodes a value of a slot into text, for a session whose file is gone.
pub(in crate::provider) fn decode(value: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<&RawValue>(value) else { return String::new() };
    if value.get().starts_with('[') {
        return content::result(value, &mut Media::default()).into_owned();
    }
    if let Some(inner) = text(value) {
        return inner.into_owned();
    }
    match text_of(member(value, "type")).as_deref() {
        Some("text") => text_of(member(value, "text")).unwrap_or_default().into_owned(),
        Some(kind @ ("image" | "document")) => format!("[{kind}]"),
        _ => {
            let line = |(name, value)| format!("{name}: {}\n", json::shown(value));
            members(value).into_iter().map(line).collect()
        }
    }
}

/// Returns the usage of a response with its input tokens set to `sent`. The client takes the window size from the last of the
/// `iterations` if there are any, but programs that sum up bills read the figures beside them: with `keep_bills` only the
/// iteration is written. A reduction applies first to cache reads, then to cache writes, then to the other input.
pub(super) fn usage(value: &[u8], sent: u64, keep_bills: bool) -> Option<Vec<u8>> {
    let usage: &RawValue = serde_json::from_slice(value).ok()?;
    let billed = figures(value, usage, sent)?;
    let last = last_iteration(&json::skim(value)?).and_then(|(last, _)| figures(value, last, sent));
    match (keep_bills, last) {
        (true, Some(last)) => Some(with_figures(value, last)),
        (true, None) => {
            let lowered = with_figures(value, billed);
            add_iteration(value, usage, serde_json::from_slice(&lowered).ok()?)
        }
        (false, last) => Some(with_figures(value, billed.into_iter().chain(last.into_iter().flatten()).collect())),
    }
}

/// Appends to `iterations` an entry with the figures of `lowered`.
fn add_iteration(value: &[u8], usage: &RawValue, lowered: &RawValue) -> Option<Vec<u8>> {
    let figure = |name| number(member(lowered, name)).unwrap_or_default();
    let entry = format!(
        r#"{{"type":"message","input_tokens":{},"output_tokens":{},"cache_read_input_tokens":{},"cache_creation_input_tokens":{}}}"#,
        figure("input_tokens"),
        figure("output_tokens"),
        figure("cache_read_input_tokens"),
        figure("cache_creation_input_tokens"),
    );
    let last = |part: &RawValue| range_in(value, part).end - 1;
    let (range, text) = match member(usage, "iterations") {
        Some(list) if !elements(list).is_empty() => (last(list)..last(list), format!(",{entry}")),
        Some(list) => (range_in(value, list), format!("[{entry}]")),
        None => (last(usage)..last(usage), format!(r#","iterations":[{entry}]"#)),
    };
    Some(with_values(value, vec![(range, text.into_bytes())]))
}

/// Returns the iteration from which the client takes the window size: the last one, if it has all figures. There is none without
/// input figures beside it: a client that copies rows across a compaction sets these to zero, because the bill counted what is gone.
pub(super) fn last_iteration<'a>(usage: &Figures<'a>) -> Option<(&'a RawValue, Figures<'a>)> {
    let list = usage.iterations.filter(|list| list.len() > 2 && !is_zero(usage))?;
    let last = elements(list).pop()?;
    let figures: Figures<'a> = json::skim(last.get().as_bytes())?;
    let is_message = equals(figures.kind, "message");
    let has_all =
        [figures.input, figures.output, figures.read, figures.creation].into_iter().all(|value| number(value).is_some());
    (is_message && has_all && !is_zero(&figures)).then_some((last, figures))
}

fn is_zero(figures: &Figures<'_>) -> bool {
    [figures.input, figures.read, figures.creation].into_iter().all(|value| number(value) == Some(0))
}

/// Returns true if two values of `usage` have the same billed input figures.
pub(super) fn same_bills(before: &[u8], after: &[u8]) -> bool {
    let figures = |value: &[u8]| {
        let usage = serde_json::from_slice::<&RawValue>(value).ok()?;
        Some(["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map(|name| number(member(usage, name))))
    };
    figures(before) == figures(after)
}

/// Returns the lifetime of the cache entries written by a response, in milliseconds: an hour if billed so, else five minutes.
pub(super) fn cache_milliseconds(usage: &[u8]) -> i64 {
    let usage = serde_json::from_slice::<&RawValue>(usage).ok();
    let written = usage.and_then(|usage| member(usage, "cache_creation"));
    let hour = written.and_then(|written| number(member(written, "ephemeral_1h_input_tokens"))).unwrap_or_default();
    if hour > 0 { 3_600_000 } else { 300_000 }
}

/// Returns the byte ranges of the input figures of an object in `whole`, with their new values.
fn figures(whole: &[u8], usage: &RawValue, sent: u64) -> Option<Vec<(Range<usize>, u64)>> {
    const FIGURES: [&str; 3] = ["cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens"];
    let found: Vec<(Range<usize>, u64)> = FIGURES
        .iter()
        .filter_map(|name| {
            let value = member(usage, name)?;
            Some((range_in(whole, value), number(Some(value))?))
        })
        .collect();
    let mut surplus = found.iter().map(|(_, figure)| figure).sum::<u64>().checked_sub(sent);
    let missing = sent.saturating_sub(found.iter().map(|(_, figure)| figure).sum());
    if found.is_empty() {
        return None;
    }
    let change = |(place, (range, figure)): (usize, (Range<usize>, u64))| {
        let taken = surplus.map_or(0, |surplus| surplus.min(figure));
        surplus = surplus.map(|surplus| surplus - taken);
        (range, figure - taken + if place == 0 { missing } else { 0 })
    };
    Some(found.into_iter().enumerate().map(change).collect())
}

/// Builds a row that the client keeps and sends: a text in the form of the client's attachments.
pub(super) fn note(new: &NewRow<'_>, label: &str, content: &str) -> Option<Vec<u8>> {
    let rendered = super::super::message::wrap(content);
    let body = format!(
        r#""attachment":{{"type":{}}},"type":"attachment","uuid":{},"timestamp":{},"rendered":[{{"content":{}}}],"renderedRole":"user""#,
        quoted(label)?,
        quoted(&new.id)?,
        quoted(&new.timestamp)?,
        quoted(&rendered)?,
    );
    row(new, &body)
}

/// Builds a row in the client's format that strips thinking: all thinking after the first `kept` blocks of a message.
pub(super) fn strip(new: &NewRow<'_>, first: &[u8], kept: u32) -> Option<Vec<u8>> {
    let fields = parse::fields(first)?;
    let message = message(&fields)?.id?;
    let body = format!(
        r#""attachment":{{"type":"thinking_stripped","scope":"partial","from":{{"messageId":{},"thinkingIndex":{kept}}}}},"type":"attachment","uuid":{},"timestamp":{}"#,
        message.get(),
        quoted(&new.id)?,
        quoted(&new.timestamp)?,
    );
    row(new, &body)
}

/// Builds a row in the client's format that records the leaf of a resume: the row that the new row follows. It has an identity,
/// which the client ignores, so that it can be removed again.
pub(super) fn leaf(new: &NewRow<'_>) -> Option<Vec<u8>> {
    let session = parse::fields(new.like)?.session?;
    let (leaf, id) = (std::str::from_utf8(&new.parent).ok()?, quoted(&new.id)?);
    Some(format!(r#"{{"type":"last-prompt","leafUuid":{leaf},"sessionId":{},"uuid":{id}}}"#, session.get()).into_bytes())
}

/// Returns a row as a fork has it: with the id of the fork. Records of requests and queued prompts belong to the source.
pub(super) fn forked(row: &[u8], fork: &ForkedRow<'_>) -> Option<Vec<u8>> {
    let whole: &RawValue = json::first(row)?;
    let kind = text_of(member(whole, "type")).unwrap_or_default();
    if kind.starts_with("api-request") || kind == "queue-operation" {
        return None;
    }
    let id = quoted(fork.id)?;
    let names = members(whole).into_iter().filter(|(name, _)| matches!(&**name, "sessionId" | "session_id"));
    let edits = names.map(|(_, value)| (range_in(row, value), id.clone().into_bytes())).collect();
    Some(with_values(row, edits))
}

/// Returns true if the client that wrote a row supports rows that strip thinking, and takes the window size from the iterations.
pub(super) fn is_known(row: &[u8]) -> bool {
    parse::fields(row).is_some_and(|fields| parse::is_from(&fields, KNOWN_FROM))
}

/// Returns true if a row stores the system prompt and the tools as first sent, which the client sends unchanged from then on.
pub(super) fn prompt_snapshot(row: &[u8]) -> bool {
    let Some(attachment) = parse::fields(row).and_then(|fields| fields.attachment) else { return false };
    equals(member(attachment, "type"), "prompt_snapshot")
}

/// Returns true if a message consists of one thinking block.
pub(super) fn only_thinking(row: &[u8]) -> bool {
    let Some(fields) = parse::fields(row) else { return false };
    let Some(content) = message(&fields).and_then(|message| message.content) else { return false };
    elements(content).len() == 1 && !thinking_elements(content).is_empty()
}

pub(super) fn thinking_elements(content: &RawValue) -> Vec<&str> {
    elements(content).into_iter().filter(|element| thinks(element)).map(RawValue::get).collect()
}

fn thinks(element: &RawValue) -> bool {
    text_of(member(element, "type")).is_some_and(|kind| matches!(&*kind, "thinking" | "redacted_thinking"))
}

/// Returns the identity of a row verbatim, quotes included.
pub(super) fn identity(row: &[u8]) -> Option<Vec<u8>> {
    let lossy = String::from_utf8_lossy(row);
    Some(parse::fields(lossy.as_bytes())?.uuid?.get().into())
}

/// Returns the fields of a row that edits must preserve: everything that determines its links and pairs.
pub(super) fn stub(row: &[u8]) -> Option<Stub> {
    let parsed = parse::parse(row);
    let fields = parse::fields(row)?;
    let thinking = thinking_in(&fields);
    let row = parsed.row;
    let scope = match row.event.as_deref() {
        Some(Event::ThinkingStripped(ThinkingScope::From { message, kept })) => Some((*message, *kept)),
        _ => None,
    };
    Some(Stub { kind: row.kind, id: row.id, parent: row.parent, message: row.message, answers: row.answers, thinking, scope })
}

/// Returns the thinking blocks of a message, as hashes of their bytes.
pub(in crate::provider) fn thinking_in(fields: &RowFields<'_>) -> Vec<Key> {
    let Some(Values::Elements(elements)) = values(fields) else { return Vec::new() };
    elements.into_iter().filter(|element| thinks(element)).map(|element| Key::from_bytes(element.get().as_bytes())).collect()
}

enum Values<'a> {
    /// One text: the content of a message, or of a local command.
    Text(&'a RawValue),
    Elements(Vec<&'a RawValue>),
    /// The sent parts of an attachment: each a text or a content block.
    Rendered(Vec<&'a RawValue>),
}

/// Returns the values of a row that are blocks, in the order in which the parser numbers them.
fn values<'a>(fields: &RowFields<'a>) -> Option<Values<'a>> {
    match text_of(fields.kind)?.as_ref() {
        "user" | "assistant" => {
            let content = message(fields)?.content?;
            Some(if content.get().starts_with('[') { Values::Elements(elements(content)) } else { Values::Text(content) })
        }
        "attachment" => {
            let mut parts = Vec::new();
            for entry in elements(fields.rendered?) {
                let content = member(entry, "content")?;
                if content.get().starts_with('"') { parts.push(content) } else { parts.extend(elements(content)) }
            }
            Some(Values::Rendered(parts))
        }
        "system" => fields.content.filter(|content| content.get().starts_with('"')).map(Values::Text),
        _ => None,
    }
}

/// Returns the value to replace in a content block: the whole element, or the part that the model sees.
fn value_of(element: &RawValue, slot: Slot) -> Option<&RawValue> {
    if matches!(slot, Slot::Element(_)) || element.get().starts_with('"') {
        return Some(element);
    }
    match text_of(member(element, "type")).as_deref()? {
        "text" => member(element, "text"),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => member(element, "input"),
        "tool_result" => member(element, "content"),
        _ => None,
    }
}

fn message<'a>(fields: &RowFields<'a>) -> Option<MessageFields<'a>> {
    fields.message.and_then(|message| serde_json::from_str(message.get()).ok())
}

/// Builds a row with the metadata of another one: session, directory, version and branch.
pub(super) fn row(new: &NewRow<'_>, body: &str) -> Option<Vec<u8>> {
    const CIRCUMSTANCES: [&str; 7] = ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"];
    let parent = std::str::from_utf8(&new.parent).ok()?;
    let mut written = format!(r#"{{"parentUuid":{parent},"isSidechain":{},{body}"#, new.sidechain);
    let like: &RawValue = json::first(new.like)?;
    for name in CIRCUMSTANCES {
        if let Some(value) = member(like, name) {
            let _ = write!(written, r#","{name}":{}"#, value.get());
        }
    }
    written.push('}');
    Some(written.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(row: &str, slot: Slot) -> Option<&str> {
        locate(row.as_bytes(), slot).map(|range| &row[range])
    }

    #[test]
    fn the_value_of_each_kind_of_block_is_found() {
        let row = r#"{"type":"user","parentUuid":"p","message":{"content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"b"}]}]},"uuid":"u"}"#;
        let found = |index| slot(row.as_bytes(), index).and_then(|slot| value(row, slot));
        assert_eq!(found(0), Some(r#""a""#));
        assert_eq!(found(1), Some(r#"{"type":"image","source":{}}"#));
        assert_eq!(found(2), Some(r#"[{"type":"text","text":"b"}]"#));
        assert_eq!(found(3), None);
        assert_eq!(value(row, Slot::Parent), Some(r#""p""#));
        let row = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"x"},{"type":"tool_use","input":{"a":1}}],"usage":{"input_tokens":3}}}"#;
        assert_eq!(slot(row.as_bytes(), 0), None);
        assert_eq!(value(row, Slot::Content(1)), Some(r#"{"a":1}"#));
        assert_eq!(value(row, Slot::Usage), Some(r#"{"input_tokens":3}"#));
        let row = r#"{"type":"attachment","attachment":{"type":"date"},"rendered":[{"content":"a"},{"content":[{"type":"text","text":"b"}]}]}"#;
        assert_eq!(value(row, Slot::Content(0)), Some(r#""a""#));
        assert_eq!(value(row, Slot::Content(1)), Some(r#""b""#));
        let row = r#"{"type":"user","message":{"content":"hi"}}"#;
        assert_eq!(value(row, Slot::Content(0)), Some(r#""hi""#));
    }

    #[test]
    fn the_figures_of_a_response_are_lowered_and_raised() {
        let check = |value: &str, sent, expected: &str| {
            assert_eq!(String::from_utf8(usage(value.as_bytes(), sent, false).unwrap()).unwrap(), expected);
        };
        let before = r#"{"input_tokens": 5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":9}"#;
        check(
            before,
            60,
            r#"{"input_tokens": 5,"cache_creation_input_tokens":20,"cache_read_input_tokens":35,"output_tokens":9}"#,
        );
        check(before, 12, r#"{"input_tokens": 5,"cache_creation_input_tokens":7,"cache_read_input_tokens":0,"output_tokens":9}"#);
        check(
            before,
            130,
            r#"{"input_tokens": 5,"cache_creation_input_tokens":20,"cache_read_input_tokens":105,"output_tokens":9}"#,
        );
        check(
            r#"{"input_tokens":5,"iterations":[{"input_tokens":1},{"type":"message","input_tokens":5,"output_tokens":2,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}]}"#,
            3,
            r#"{"input_tokens":3,"iterations":[{"input_tokens":1},{"type":"message","input_tokens":3,"output_tokens":2,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}]}"#,
        );
    }

    #[test]
    fn bills_stay_where_the_client_reads_an_iteration() {
        let lowered = |sent: u64| {
            format!(
                r#"{{"type":"message","input_tokens":5,"output_tokens":9,"cache_read_input_tokens":{},"cache_creation_input_tokens":20}}"#,
                sent - 25
            )
        };
        let billed = r#""input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":9"#;
        for (before, after) in [
            ("", format!(r#","iterations":[{}]"#, lowered(60))),
            (r#","iterations":[],"speed":"standard""#, format!(r#","iterations":[{}],"speed":"standard""#, lowered(60))),
            (r#","iterations":null"#, format!(r#","iterations":[{}]"#, lowered(60))),
            (r#","iterations":[{"type":"other"}]"#, format!(r#","iterations":[{{"type":"other"}},{}]"#, lowered(60))),
            (&format!(r#","iterations":[{}]"#, lowered(125)), format!(r#","iterations":[{}]"#, lowered(60))),
        ] {
            let (before, after) = (format!("{{{billed}{before}}}"), format!("{{{billed}{after}}}"));
            let written = usage(before.as_bytes(), 60, true).unwrap();
            assert_eq!(String::from_utf8(written.clone()).unwrap(), after);
            assert!(same_bills(before.as_bytes(), &written));
            assert!(!same_bills(before.as_bytes(), &usage(before.as_bytes(), 60, false).unwrap()));
            let row = |usage: &[u8]| {
                let usage = std::str::from_utf8(usage).unwrap();
                parse::parse(format!(r#"{{"type":"assistant","message":{{"content":[],"usage":{usage}}}}}"#).as_bytes())
                    .row
                    .usage
                    .unwrap()
            };
            assert_eq!((row(before.as_bytes()).sent(), row(&written).sent()), (125, 60));
        }
    }

    #[test]
    fn a_version_is_compared_by_its_numbers() {
        for (version, strips) in [("2.1.330", true), ("2.1.99", false), ("2.2.0", true), ("1.0.51", false), ("", false)] {
            assert_eq!(is_known(format!(r#"{{"type":"user","version":"{version}"}}"#).as_bytes()), strips, "{version}");
        }
    }

    #[test]
    fn a_note_is_read_back_as_a_block() {
        let like = br#"{"type":"user","cwd":"/w","sessionId":"s","version":"2.1.330"}"#;
        let new = NewRow {
            like,
            parent: br#""p""#.to_vec(),
            id: "u".into(),
            timestamp: "2026-01-01T00:00:00Z".into(),
            sidechain: false,
            ordinal: None,
        };
        let row = note(&new, "aperture_note", "a \"b\"\n").unwrap();
        let parsed = parse::parse(&row);
        assert_eq!(parsed.blocks[0].content, "<system-reminder>\na \"b\"\n\n</system-reminder>");
        assert_eq!((parsed.row.id, parsed.row.parent), (Some(Key::from_text("u")), Some(Key::from_text("p"))));
        let assistant = br#"{"type":"assistant","message":{"id":"msg_1","content":[]}}"#;
        let strip = parse::parse(&strip(&new, assistant, 2).unwrap()).row;
        let expected = ThinkingScope::From { message: Key::from_text("msg_1"), kept: 2 };
        assert_eq!(strip.event.as_deref(), Some(&Event::ThinkingStripped(expected)));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_a_panic(row in "\\PC{0,120}", index in 0u32..4) {
            if let Some(range) = slot(row.as_bytes(), index).and_then(|slot| locate(row.as_bytes(), slot)) {
                proptest::prop_assert!(row.get(range).is_some());
            }
            usage(row.as_bytes(), 5, false);
            usage(row.as_bytes(), 5, true);
            decode(row.as_bytes());
            stub(row.as_bytes());
        }
    }
}
