//! Writing: locates the values that edits replace, and builds the rows that are added.

use super::content;
use super::item::{ItemFields, Piece, Sort};
use super::parse::{self, RowFields};
use crate::model::{BlockKind, Key, Media, Slot};
use crate::provider::json::{
    equals, is_object, is_true, member, number, quoted, range_in, text, text_of, with_figures, with_values,
};
use crate::provider::rewriter::RECORD;
use crate::provider::{ForkedRow, KnownContext, NewRow, NewSession, NewText, Opening, Stub};
use serde_json::json;
use serde_json::value::RawValue;
use std::ops::Range;
use std::rc::Rc;

/// Returns the slot through which a block is changed; `None` if it cannot be changed: thinking, which is encrypted, calls whose
/// input is not a text, and texts by which the client recognizes its own messages.
pub(super) fn slot(row: &[u8], index: u32) -> Option<Slot> {
    slot_in(&parse::fields(row)?, index)
}

pub(in crate::provider) fn slot_in(fields: &RowFields<'_>, index: u32) -> Option<Slot> {
    let piece = parse::pieces(fields).into_iter().nth(index as usize)?;
    let slot = match piece.sort {
        Sort::Text => Slot::Content(index),
        Sort::Image | Sort::Document => Slot::Element(index),
        Sort::Call => {
            let input = text(value(&piece, Slot::Content(index))?)?;
            is_object(&input).then_some(Slot::Content(index))?
        }
        Sort::TextCall => Slot::Input(index),
        Sort::Output => Slot::Content(index),
        Sort::Thinking | Sort::OwnCall | Sort::Drawing | Sort::Tools | Sort::Other => return None,
    };
    let known = |text: &RawValue| equals(piece.item.role, "user") && clients(text);
    value(&piece, slot).filter(|value| piece.sort != Sort::Text || !known(value)).map(|_| slot)
}

fn clients(value: &RawValue) -> bool {
    text(value).is_some_and(|text| content::is_clients(&text) && !content::is_result(&text))
}

fn value<'a>(piece: &Piece<'a>, slot: Slot) -> Option<&'a RawValue> {
    let value = match (slot, piece.sort) {
        (Slot::Element(_), Sort::Text | Sort::Image | Sort::Document | Sort::Other) => return Some(piece.element),
        (Slot::Content(_), Sort::Text) => piece.text(),
        (Slot::Content(_), Sort::Call) => piece.item.arguments,
        (Slot::Content(_), Sort::Output) => return piece.item.output.filter(|value| value.get().starts_with(['"', '['])),
        (Slot::Input(_), Sort::TextCall) => piece.item.input,
        _ => None,
    };
    value.filter(|value| value.get().starts_with('"'))
}

pub(super) fn locate(row: &[u8], slot: Slot) -> Option<Range<usize>> {
    if let Slot::Break(offset) = slot {
        return Some(offset as usize..offset as usize).filter(|place| place.end <= row.len());
    }
    let fields = parse::fields(row)?;
    match slot {
        Slot::Line => Some(0..row.len()),
        Slot::Padding => Some(padding(row)),
        Slot::String { path, .. } => crate::provider::json::string_at(row, path),
        _ => Some(range_in(row, value_in(&fields, slot)?)),
    }
}

pub(in crate::provider) fn value_in<'a>(fields: &RowFields<'a>, slot: Slot) -> Option<&'a RawValue> {
    match slot {
        Slot::Usage => last_usage(fields),
        Slot::Content(index) | Slot::Element(index) | Slot::Input(index) => {
            value(parse::pieces(fields).get(index as usize)?, slot)
        }
        Slot::Line | Slot::Ahead | Slot::Display | Slot::Padding | Slot::String { .. } => None,
        Slot::Message | Slot::Parent | Slot::LogicalParent | Slot::Subtype | Slot::Call(_) | Slot::Break(_) => None,
    }
}

/// Returns the byte range of the spaces between the JSON of a row and the end of its line.
pub(super) fn padding(row: &[u8]) -> Range<usize> {
    let end = row.strip_suffix(b"\r").unwrap_or(row).len();
    let blanks = row[..end].iter().rev().take_while(|byte| **byte == b' ').count();
    end - blanks..end
}

pub(super) fn ordinal(row: &[u8]) -> Option<u64> {
    parse::fields(row)?.ordinal?.get().parse().ok()
}

pub(super) fn with_ordinal(row: &[u8], ordinal: u64) -> Option<Vec<u8>> {
    let range = range_in(row, parse::fields(row)?.ordinal?);
    Some(with_figures(row, vec![(range, ordinal)]))
}

/// Builds a row of a type with a payload, both as JSON. The client ignores unknown keys of a row, so the row can have an identity.
fn row(new: &NewRow<'_>, kind: &str, payload: &str) -> Option<Vec<u8>> {
    let ordinal = new.ordinal.map(|ordinal| format!(r#""ordinal":{ordinal},"#)).unwrap_or_default();
    let [timestamp, id] = [quoted(&new.timestamp)?, quoted(&new.id)?];
    let row = format!(r#"{{"timestamp":{timestamp},{ordinal}"type":{kind},"payload":{payload},"aperture":{id}}}"#);
    Some(row.into_bytes())
}

/// Returns the item of a text in the user's name, as JSON.
fn user_item(text: &str) -> Option<String> {
    Some(format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{}}}]}}"#, quoted(text)?))
}

/// Returns a row as a fork has it: its first row names the fork, and the session that it was forked from.
pub(super) fn forked(row: &[u8], fork: &ForkedRow<'_>) -> Option<Vec<u8>> {
    let fields = parse::fields(row)?;
    if !fork.is_first || text_of(fields.kind)? != "session_meta" {
        return Some(row.to_vec());
    }
    let payload = fields.payload?;
    let [id, source] = [quoted(fork.id)?, quoted(fork.source)?];
    let values = [("id", &id), ("session_id", &id), ("forked_from_id", &source)];
    let known =
        |(name, text): &(&str, &String)| member(payload, name).map(|value| (range_in(row, value), text.as_bytes().to_vec()));
    let mut edits: Vec<(Range<usize>, Vec<u8>)> = values.iter().filter_map(known).collect();
    if member(payload, "forked_from_id").is_none() {
        let end = range_in(row, member(payload, "id")?).end;
        edits.push((end..end, format!(r#","forked_from_id":{source}"#).into_bytes()));
    }
    Some(with_values(row, edits))
}

/// Returns true if a row records the bill or the end of the turn before it.
pub(super) fn follows_turn(row: &[u8]) -> bool {
    let Some(fields) = parse::fields(row) else { return false };
    let event = || text_of(member(fields.payload?, "type"));
    match text_of(fields.kind).as_deref() {
        Some("token_usage_record") => true,
        Some("event_msg") => matches!(event().as_deref(), Some("token_count" | "task_complete" | "turn_aborted")),
        _ => false,
    }
}

/// Returns the usage of the last response from a token count row.
fn last_usage<'a>(fields: &RowFields<'a>) -> Option<&'a RawValue> {
    let payload = fields.payload.filter(|_| equals(fields.kind, "event_msg"))?;
    text_of(member(payload, "type")).filter(|kind| kind == "token_count")?;
    member(member(payload, "info")?, "last_token_usage")
}

/// Returns the value of a row that contains everything that edits can replace; the rest of the row never changes.
pub(super) fn replaceable<'a>(fields: &RowFields<'a>) -> Option<&'a RawValue> {
    let kind = text_of(fields.kind).unwrap_or_default();
    let payload = fields.payload?;
    match &*kind {
        "response_item" => {
            let item = serde_json::from_str::<ItemFields<'a>>(payload.get()).unwrap_or_default();
            match &*item.kind() {
                "message" => item.content,
                "function_call" => item.arguments,
                "custom_tool_call" => item.input,
                "function_call_output" | "custom_tool_call_output" => item.output,
                _ => None,
            }
        }
        "compacted" => member(payload, "replacement_history"),
        "event_msg" => last_usage(fields),
        _ => None,
    }
}

/// Encodes a text as the value of a slot; `None` if the slot cannot hold it.
pub(in crate::provider) fn encode(slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> {
    encode_as("input_text", slot, kind, content)
}

/// Encodes as [`encode`], with this type of a content block.
pub(in crate::provider) fn encode_as(text_type: &str, slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> {
    let json = quoted(content)?;
    match slot {
        Slot::Content(_) if kind == BlockKind::ToolUse && !is_object(content) => None,
        Slot::Content(_) | Slot::Input(_) => Some(json.into_bytes()),
        Slot::Element(_) => Some(format!(r#"{{"type":"{text_type}","text":{json}}}"#).into_bytes()),
        _ => None,
    }
}

/// Decodes a value of a slot into text.
pub(in crate::provider) fn decode(value: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<&RawValue>(value) else { return String::new() };
    match text_of(member(value, "type")).as_deref() {
        Some("input_image") => Media::IMAGE.to_owned(),
        Some("input_file" | "input_audio") => Media::DOCUMENT.to_owned(),
        Some("input_text" | "output_text" | "text") => text_of(member(value, "text")).unwrap_or_default().into_owned(),
        _ => content::result(value, &mut Media::default()).into_owned(),
    }
}

/// Returns a usage with its input tokens set to `sent`; they include cached input, which is lowered if it exceeds them.
pub(super) fn usage(value: &[u8], sent: u64) -> Option<Vec<u8>> {
    let usage: &RawValue = serde_json::from_slice(value).ok()?;
    let figure = |name| number(member(usage, name));
    let cached = figure("cached_input_tokens").map(|cached| cached.min(sent));
    let total = figure("output_tokens").map(|output| sent + output);
    let edits: Vec<(Range<usize>, u64)> =
        [("input_tokens", figure("input_tokens").map(|_| sent)), ("cached_input_tokens", cached), ("total_tokens", total)]
            .into_iter()
            .filter_map(|(name, new)| {
                let old = member(usage, name).filter(|old| number(Some(*old)).is_some())?;
                Some((range_in(value, old), new?))
            })
            .collect();
    Some(with_figures(value, edits))
}

/// Builds a user message at the end of the conversation.
pub(super) fn note(new: &NewRow<'_>, content: &str) -> Option<Vec<u8>> {
    row(new, r#""response_item""#, &user_item(&crate::provider::message::wrap(content))?)
}

/// Builds the row that a session begins with, in the form without ordinals, which the client continues as it is.
pub(super) fn opening(new: &NewSession<'_>, version: &str) -> Opening {
    let payload = json!({"id": new.id, "timestamp": new.timestamp, "cwd": new.directory, "originator": "aperture",
        "cli_version": version, "source": "cli", "instructions": null});
    let row = json!({"timestamp": new.timestamp, "type": "session_meta", "payload": payload}).to_string().into_bytes();
    Opening { like: row.clone(), row: Some(row) }
}

/// Builds the rows of a text: the item that is sent and, of words, the event that the client shows.
pub(super) fn message(new: &NewRow<'_>, text: &NewText<'_>) -> Vec<Vec<u8>> {
    let row = |kind: &str, payload: serde_json::Value| {
        json!({"timestamp": new.timestamp, "type": kind, "payload": payload}).to_string().into_bytes()
    };
    let item = |role: &str, kind: &str, text: &str| {
        row("response_item", json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let event = |kind: &str, text: &str| row("event_msg", json!({"type": kind, "message": text}));
    match text {
        NewText::User(text) => vec![item("user", "input_text", text), event("user_message", text)],
        NewText::Assistant(text, _) => vec![item("assistant", "output_text", text), event("agent_message", text)],
        NewText::Record(text) => {
            // The end of an element within the text would end the record.
            let text = text.replace(&format!("</{RECORD}>"), "");
            vec![item("user", "input_text", &format!("<{RECORD}>\n{text}\n</{RECORD}>"))]
        }
    }
}

/// Builds a compaction row in the client's format: the items from which the conversation continues. Versions that do not
/// support the items (before about 0.60) use the text as the summary.
pub(super) fn restart(new: &NewRow<'_>, first: &[Rc<[u8]>], text: &str, last: &[Rc<[u8]>]) -> Option<Vec<u8>> {
    let text = crate::provider::message::wrap(text);
    let items_of = |rows: &[Rc<[u8]>]| rows.iter().map(|row| parse::lasting(row)).collect::<Option<Vec<_>>>();
    let items = [items_of(first)?.concat(), vec![user_item(&text)?], items_of(last)?.concat()].concat();
    let payload = format!(r#"{{"message":{},"replacement_history":[{}]}}"#, quoted(&text)?, items.join(","));
    row(new, r#""compacted""#, &payload)
}

/// Parses the part of a row about the context that the client sent.
pub(super) fn known_context(row: &[u8]) -> Option<KnownContext> {
    let fields = parse::fields(row)?;
    match &*text_of(fields.kind)? {
        "turn_context" => Some(KnownContext::Settings),
        "world_state" if is_true(member(fields.payload?, "full")) => Some(KnownContext::Whole),
        "world_state" => Some(KnownContext::Change),
        _ => None,
    }
}

/// Builds a row with the type and the payload of another one.
pub(super) fn repeat(new: &NewRow<'_>, repeated: &[u8]) -> Option<Vec<u8>> {
    let fields = parse::fields(repeated)?;
    row(new, fields.kind?.get(), fields.payload?.get())
}

/// Returns the fields of a row that edits must preserve.
pub(super) fn stub(row: &[u8]) -> Option<Stub> {
    let fields = parse::fields(row)?;
    let parsed = parse::parse(row).row;
    let thinking = parse::pieces(&fields).into_iter().filter(|piece| piece.sort == Sort::Thinking);
    let thinking = thinking.map(|piece| Key::from_bytes(piece.element.get().as_bytes())).collect();
    let (kind, id, answers) = (parsed.kind, parsed.id, parsed.answers);
    Some(Stub { kind, id, parent: None, message: None, answers, thinking, scope: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = r#"{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** x"}}"#;

    fn value_of(row: &str, index: u32) -> Option<&str> {
        let slot = slot(row.as_bytes(), index)?;
        locate(row.as_bytes(), slot).map(|range| &row[range])
    }

    fn item(payload: &str) -> String {
        format!(r#"{{"timestamp":"t","type":"response_item","payload":{payload}}}"#)
    }

    #[test]
    fn the_value_of_each_kind_of_block_is_found() {
        let check = |payload: &str, expected: &[Option<&str>]| {
            let row = item(payload);
            let found: Vec<Option<&str>> = (0..expected.len() as u32).map(|index| value_of(&row, index)).collect();
            assert_eq!(found, expected, "{payload}");
        };
        check(r#"{"type":"function_call","arguments":"{\"a\":1}","call_id":"c"}"#, &[Some(r#""{\"a\":1}""#)]);
        check(r#"{"type":"function_call","arguments":"broken","call_id":"c"}"#, &[None]);
        check(r#"{"type":"function_call_output","call_id":"c","output":"x"}"#, &[Some(r#""x""#), None]);
        check(
            r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]}"#,
            &[Some(r#"[{"type":"input_text","text":"x"}]"#)],
        );
        check(r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#, &[None]);
        check(
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"},{"type":"input_text","text":"b"},{"type":"input_image","image_url":"u"}]}"#,
            &[None, Some(r#""b""#), Some(r#"{"type":"input_image","image_url":"u"}"#)],
        );
        assert_eq!(value_of(PATCH, 0), Some(r#""*** x""#));
        assert_eq!(slot(PATCH.as_bytes(), 0), Some(Slot::Input(0)));
    }

    #[test]
    fn the_input_of_a_function_stays_an_object() {
        let content = Slot::Content(0);
        assert_eq!(encode(content, BlockKind::ToolUse, "text"), None);
        assert_eq!(encode(content, BlockKind::ToolUse, r#"{"a":"é"}"#).as_deref(), Some(r#""{\"a\":\"é\"}""#.as_bytes()));
        assert_eq!(encode(Slot::Input(0), BlockKind::ToolUse, "text").as_deref(), Some(&b"\"text\""[..]));
    }

    #[test]
    fn a_bill_says_what_is_sent_now() {
        let value =
            br#"{"input_tokens": 90,"cached_input_tokens":60,"output_tokens":7,"reasoning_output_tokens":3,"total_tokens":97}"#;
        let lower = usage(value, 50).unwrap();
        assert_eq!(
            String::from_utf8(lower).unwrap(),
            r#"{"input_tokens": 50,"cached_input_tokens":50,"output_tokens":7,"reasoning_output_tokens":3,"total_tokens":57}"#
        );
    }

    #[test]
    fn blanks_and_the_ordinal_do_not_belong_to_a_row() {
        let row = item(r#"{"type":"function_call_output","call_id":"c","output":"x"}"#);
        let padded = format!("{row}   ");
        assert_eq!(locate(padded.as_bytes(), Slot::Padding), Some(row.len()..row.len() + 3));
        assert_eq!(locate(row.as_bytes(), Slot::Padding), Some(row.len()..row.len()));
        assert_eq!(locate(format!("{row} \r").as_bytes(), Slot::Padding), Some(row.len()..row.len() + 1));
        let id = |row: &[u8]| parse::parse(row).row.id;
        assert_eq!(id(padded.as_bytes()), id(row.as_bytes()));
        assert_ne!(id(format!("{row}\t").as_bytes()), id(row.as_bytes()));
        let numbered = |ordinal: u64| row.replacen(r#""type""#, &format!(r#""ordinal":{ordinal},"type""#), 1);
        assert_eq!(ordinal(numbered(12).as_bytes()), Some(12));
        assert_eq!(with_ordinal(numbered(12).as_bytes(), 7), Some(numbered(7).into_bytes()));
        assert_eq!(id(numbered(12).as_bytes()), id(numbered(7).as_bytes()));
    }

    #[test]
    fn values_are_formatted_as_text() {
        for (value, expected) in [
            (r#""a\nb""#, "a\nb"),
            (r#"[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"}]"#, "a\n[image]"),
            (r#"{"type":"input_image","image_url":"u"}"#, "[image]"),
        ] {
            assert_eq!(decode(value.as_bytes()), expected);
        }
        assert_eq!(decode(b"{"), "");
    }
}
