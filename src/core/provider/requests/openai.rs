//! The OpenAI Responses API: `instructions`, `tools` and `input`, as Codex sends them.

use super::{Api, INSTRUCTIONS, instructions, tool};
use crate::model::{BlockKind, Key, Session, Slot};
use crate::provider::codex::parse::{self, RowFields};
use crate::provider::codex::{Codex, link, write};
use crate::provider::json::{elements, equals, member, text_of};
use crate::provider::{Client, ParsedRow};
use serde_json::value::RawValue;

/// Requests to the OpenAI Responses API.
pub(super) struct Responses;

/// Returns the row of Codex that has this element as its item; `None` if the element is not an item of the conversation.
fn item(element: &RawValue) -> Option<RowFields<'_>> {
    let kind = text_of(member(element, "type"));
    // Only the type of a message can be left out.
    let kind = kind.or_else(|| member(element, "role").map(|_| "message".into()))?;
    let is_item = matches!(&*kind, "message" | "reasoning") || ["_call", "_output"].iter().any(|end| kind.ends_with(end));
    let row_kind = serde_json::from_str::<&RawValue>(r#""response_item""#).ok();
    let fields = RowFields { kind: row_kind, payload: Some(element), ..RowFields::default() };
    (is_item || kind.starts_with("compaction")).then_some(fields)
}

impl Api for Responses {
    methods! {
        names() -> [&'static str; 3] = ["openai-responses", "openai-responses-lines", "openai-responses-log"];
        client() -> &'static dyn Client = &Codex;
        members() -> &'static [&'static str] = &["instructions", "tools", "input"];
        is_message(_message: &RawValue) -> bool = false;
        encode(slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> = write::encode(slot, kind, content);
        decode(value: &[u8]) -> String = write::decode(value);
    }

    fn is_body(&self, body: &RawValue) -> bool {
        let input = member(body, "input").filter(|input| input.get().starts_with('[')).map(elements).unwrap_or_default();
        input.iter().any(|item| member(item, "type").or(member(item, "role")).is_some())
    }

    fn parse<'a>(&self, element: &'a RawValue) -> ParsedRow<'a> {
        if element.get().starts_with('"') {
            return instructions(&[element], INSTRUCTIONS);
        }
        let Some(fields) = item(element) else { return tool(element) };
        let mut parsed = parse::item(&fields);
        // The client has already truncated what it sends.
        parsed.blocks.iter_mut().for_each(|block| block.cuts.clear());
        parsed.row.id = Some(parse::identity(element.get(), &fields));
        parsed
    }

    fn link(&self, session: &mut Session) {
        link::link(session);
    }

    fn slot(&self, element: &RawValue, index: u32) -> Option<Slot> {
        match element.get().starts_with('"') {
            true => (index == 0).then_some(Slot::Content(0)),
            false => write::slot_in(&item(element)?, index),
        }
    }

    fn value<'a>(&self, element: &'a RawValue, slot: Slot) -> Option<&'a RawValue> {
        match element.get().starts_with('"') {
            true => (slot == Slot::Content(0)).then_some(element),
            false => write::value_in(&item(element)?, slot),
        }
    }

    fn thinking(&self, element: &RawValue) -> Vec<Key> {
        let is_thinking = equals(member(element, "type"), "reasoning");
        is_thinking.then(|| Key::from_bytes(element.get().as_bytes())).into_iter().collect()
    }
}
