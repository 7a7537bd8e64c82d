//! The Anthropic Messages API: `system`, `tools` and `messages`.

use super::dialect::{self, Dialect};
use super::{Api, INSTRUCTIONS, instruction, instructions, tool};
use crate::model::{BlockKind, Key, Role, RowKind, Slot};
use crate::provider::claude_code::parse::{self, RowFields};
use crate::provider::claude_code::{ClaudeCode, write};
use crate::provider::json::{elements, equals, member};
use crate::provider::{Client, ParsedBlock, ParsedRow};
use serde_json::value::RawValue;

pub(super) struct Messages;

enum Element<'a> {
    /// A message of the user or the model, as the row of Claude Code that has this type and this message.
    Message(Box<RowFields<'a>>),
    /// The texts of an element of `system`.
    Instructions(Vec<&'a RawValue>),
    /// The texts of a message of the system within the conversation.
    System(Vec<&'a RawValue>),
    Tool,
}

fn sort(element: &RawValue) -> Element<'_> {
    let Some(role) = member(element, "role") else {
        let is_text = element.get().starts_with('"') || equals(member(element, "type"), "text");
        return if is_text { Element::Instructions(vec![element]) } else { Element::Tool };
    };
    if role.get() != "\"system\"" {
        return Element::Message(Box::new(RowFields { kind: Some(role), message: Some(element), ..RowFields::default() }));
    }
    Element::System(match member(element, "content") {
        Some(content) if content.get().starts_with('[') => elements(content),
        content => content.into_iter().collect(),
    })
}

impl Api for Messages {
    methods! {
        names() -> [&'static str; 3] = ["anthropic-messages", "anthropic-lines", "anthropic-log"];
        client() -> &'static dyn Client = &ClaudeCode;
        members() -> &'static [&'static str] = &["system", "tools", "messages"];
        is_body(body: &RawValue) -> bool = dialect::of_body(body) == Some(Dialect::Anthropic);
        encode(slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> = write::encode(slot, kind, content);
        decode(value: &[u8]) -> String = write::decode(value);
    }

    fn is_message(&self, message: &RawValue) -> bool {
        dialect::is_message(message) && dialect::of_message(message) == Some(Dialect::Anthropic)
    }

    fn parse<'a>(&self, element: &'a RawValue) -> ParsedRow<'a> {
        let fields = match sort(element) {
            Element::Message(fields) => fields,
            Element::Instructions(texts) => return instructions(&texts, INSTRUCTIONS),
            Element::System(texts) => return instructions(&texts, Role::System.name()),
            Element::Tool => return tool(element),
        };
        let mut parsed = parse::whole(&fields);
        // One message can be several rows of the client: results, reminders and a prompt.
        let asks = |block: &ParsedBlock<'_>| block.block.kind == BlockKind::Text && parse::asks(&block.content);
        parsed.row.prompt = parsed.row.kind == RowKind::User && parsed.blocks.iter().any(asks);
        parsed
    }

    fn slot(&self, element: &RawValue, index: u32) -> Option<Slot> {
        match sort(element) {
            Element::Message(fields) => write::slot_in(&fields, index),
            Element::Instructions(texts) | Element::System(texts) => {
                texts.get(index as usize).and_then(|text| instruction(text)).map(|_| Slot::Content(index))
            }
            Element::Tool => None,
        }
    }

    fn value<'a>(&self, element: &'a RawValue, slot: Slot) -> Option<&'a RawValue> {
        match sort(element) {
            Element::Message(fields) => write::value_in(&fields, slot),
            Element::Instructions(texts) | Element::System(texts) => {
                texts.get(slot.index()? as usize).and_then(|text| instruction(text))
            }
            Element::Tool => None,
        }
    }

    fn thinking(&self, element: &RawValue) -> Vec<Key> {
        match sort(element) {
            Element::Message(fields) => write::thinking_in(&fields),
            _ => Vec::new(),
        }
    }
}
