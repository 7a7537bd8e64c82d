//! The OpenAI Chat Completions API, and servers compatible with it: `messages`, and `tools` or `functions`.

pub(in crate::provider) mod blocks;
mod client;
mod pieces;
pub(in crate::provider) mod tools;

use super::dialect::{self, Dialect};
use super::{Api, INSTRUCTIONS, tool};
use crate::model::{BlockKind, Key, Media, RowKind, Session, Slot};
use crate::provider::codex::{link, write};
use crate::provider::json::{is_object, text};
use crate::provider::{Client, ParsedRow};
use blocks::{OLD_CALL, OLD_OUTPUT};
use pieces::{Piece, Sort};
use serde_json::value::RawValue;

/// Requests to the OpenAI Chat Completions API.
pub(super) struct Chat;

impl Api for Chat {
    methods! {
        names() -> [&'static str; 3] = ["openai-chat", "openai-chat-lines", "openai-chat-log"];
        client() -> &'static dyn Client = &client::AnyClient;
        members() -> &'static [&'static str] = &["tools", "functions", "messages"];
        is_body(body: &RawValue) -> bool = dialect::of_body(body) == Some(Dialect::OpenAi);
    }

    fn is_message(&self, message: &RawValue) -> bool {
        dialect::is_message(message) && dialect::of_message(message) != Some(Dialect::Anthropic)
    }

    fn parse<'a>(&self, element: &'a RawValue) -> ParsedRow<'a> {
        if pieces::is_message(element) { blocks::parse(&pieces::message(element)) } else { tool(element) }
    }

    fn link(&self, session: &mut Session) {
        link::link(session);
        name_instructions(session);
        pair_old_calls(session);
    }

    fn slot(&self, element: &RawValue, index: u32) -> Option<Slot> {
        let piece = piece(element, index)?;
        let slot = match piece.sort {
            Sort::Text | Sort::Output => Slot::Content(index),
            Sort::Image | Sort::Document => Slot::Element(index),
            Sort::Call | Sort::OldCall => {
                Some(Slot::Content(index)).filter(|_| piece.call().input.and_then(text).is_some_and(|input| is_object(&input)))?
            }
            Sort::TextCall => Slot::Input(index),
            Sort::Thinking | Sort::Other => return None,
        };
        value(&piece, slot).map(|_| slot)
    }

    fn value<'a>(&self, element: &'a RawValue, slot: Slot) -> Option<&'a RawValue> {
        value(&piece(element, slot.index()?)?, slot)
    }

    fn thinking(&self, element: &RawValue) -> Vec<Key> {
        let pieces = pieces::pieces(&pieces::message(element)).into_iter();
        pieces.filter(|piece| piece.sort == Sort::Thinking).map(|piece| Key::from_bytes(piece.value.get().as_bytes())).collect()
    }

    fn encode(&self, slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> {
        // Beside calls an empty text is not a block.
        let is_block = !content.is_empty() || kind != BlockKind::Text || !matches!(slot, Slot::Content(_));
        write::encode_as("text", slot, kind, content).filter(|_| is_block)
    }

    fn decode(&self, value: &[u8]) -> String {
        let Ok(value) = serde_json::from_slice::<&RawValue>(value) else { return String::new() };
        match value.get().starts_with('{') {
            true => blocks::part_text(value),
            false => pieces::output(value, &mut Media::default()).into_owned(),
        }
    }
}

fn piece(element: &RawValue, index: u32) -> Option<Piece<'_>> {
    let message = Some(element).filter(|element| pieces::is_message(element)).map(pieces::message)?;
    pieces::pieces(&message).into_iter().nth(index as usize)
}

fn value<'a>(piece: &Piece<'a>, slot: Slot) -> Option<&'a RawValue> {
    let value = match (slot, piece.sort) {
        (Slot::Element(_), Sort::Text | Sort::Image | Sort::Document | Sort::Other) => return Some(piece.element),
        (Slot::Content(_), Sort::Output) => return Some(piece.value).filter(|value| value.get().starts_with(['"', '['])),
        (Slot::Content(_), Sort::Text) => Some(piece.value),
        (Slot::Content(_), Sort::Call | Sort::OldCall) | (Slot::Input(_), Sort::TextCall) => piece.call().input,
        _ => None,
    };
    value.filter(|value| value.get().starts_with('"'))
}

/// Labels the messages of the system before the conversation as its instructions.
fn name_instructions(session: &mut Session) {
    let is_talk = |kind: RowKind| matches!(kind, RowKind::User | RowKind::Assistant);
    let end = session.rows.iter().position(|row| is_talk(row.kind)).unwrap_or(session.rows.len());
    for block in session.blocks.iter_mut().filter(|block| (block.row as usize) < end && block.kind == BlockKind::Attachment) {
        block.label = INSTRUCTIONS.into();
    }
}

/// Pairs each call of the form before tools, which has no id, with the output that follows it.
fn pair_old_calls(session: &mut Session) {
    let mut open = None;
    for block in &mut session.blocks {
        let row = &mut session.rows[block.row as usize];
        match (block.kind, &*block.label) {
            (BlockKind::ToolUse, OLD_CALL) => {
                open = Some(Key::from_text(&format!("{OLD_CALL} {}", block.number)));
                block.call = open;
            }
            (BlockKind::ToolResult, OLD_OUTPUT) => {
                block.call = open.take();
                row.answers = block.call.or(Some(Key(0)));
            }
            _ => {}
        }
    }
}
