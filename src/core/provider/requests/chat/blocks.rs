//! Blocks: the content of each piece of a message, as the model sees it.

use super::pieces::{self, MessageFields, Piece, Sort};
use super::tools;
use crate::model::{Block, BlockKind, Flags, Key, Role, Row, RowKind};
use crate::provider::codex::tool as codex;
use crate::provider::json::{key_of, member, shown, text, text_of};
use crate::provider::{ParsedBlock, ParsedRow, media, without_insertions, words};
use std::borrow::Cow;

/// The label of a call and of an output of the form before tools, which [`super::link`] pairs.
pub(super) const OLD_CALL: &str = "function_call";
pub(super) const OLD_OUTPUT: &str = "function";

pub(super) fn parse<'a>(message: &MessageFields<'a>) -> ParsedRow<'a> {
    let role = text_of(message.role).unwrap_or_default();
    let speaker = match &*role {
        "assistant" => Role::Assistant,
        "user" => Role::User,
        "tool" | "function" => Role::ToolResult,
        _ => Role::System,
    };
    let blocks: Vec<ParsedBlock<'a>> =
        pieces::pieces(message).iter().map(|piece| block(piece, message, speaker, &role)).collect();
    let mut row = Row::new(match speaker {
        Role::Assistant => RowKind::Assistant,
        Role::System => RowKind::Attachment,
        _ => RowKind::User,
    });
    row.flags.set(Flags::ATTACHMENT, speaker == Role::System);
    if speaker == Role::ToolResult {
        row.answers = key_of(message.call).or(Some(Key(0)));
    }
    row.prompt = speaker == Role::User && blocks.iter().any(|parsed| parsed.block.kind != BlockKind::Attachment);
    ParsedRow::new(row, blocks)
}

fn block<'a>(piece: &Piece<'a>, message: &MessageFields<'a>, speaker: Role, role: &str) -> ParsedBlock<'a> {
    match piece.sort {
        Sort::Thinking => ParsedBlock::thinking(text(piece.value).unwrap_or_default(), None),
        Sort::Text => spoken(text(piece.value).unwrap_or_default(), speaker, role),
        Sort::Image => {
            ParsedBlock::read(BlockKind::Image, speaker, |media| media::add_image(media, pieces::image_url(piece.value)))
        }
        Sort::Document => ParsedBlock::read(BlockKind::Document, speaker, |media| media::add_document(media, piece.value)),
        Sort::Call | Sort::TextCall | Sort::OldCall => call(piece),
        Sort::Output => {
            let mut parsed = ParsedBlock::result(key_of(message.call), |media| pieces::output(piece.value, media));
            parsed.block.label = if role == OLD_OUTPUT { OLD_OUTPUT.into() } else { "".into() };
            parsed.block.error = parsed.content.starts_with("Error: ") || parsed.content.starts_with("error: ");
            parsed
        }
        Sort::Other => {
            let kind = text_of(member(piece.value, "type")).unwrap_or_default();
            let mut parsed = ParsedBlock::read(BlockKind::Other, speaker, |media| media::unknown(media, piece.value));
            parsed.block.label = if kind.is_empty() { "part".into() } else { (&*kind).into() };
            parsed
        }
    }
}

/// Parts of the names of tags around texts that guide the model.
const GUIDES: &[&str] = &["environment", "instructions", "reminder", "rules", "skill"];

/// Builds the block of a text. Instructions, and texts in the user's name of which the client wrote every word, are attachments.
pub(in crate::provider) fn spoken<'a>(content: Cow<'a, str>, speaker: Role, role: &str) -> ParsedBlock<'a> {
    if speaker == Role::System {
        return ParsedBlock::attachment(role, Role::System, true, content);
    }
    let tag = content.trim_start().strip_prefix('<').and_then(|rest| rest.split(['>', ' ', '\n']).next());
    if let Some(tag) = tag.filter(|_| speaker == Role::User && without_insertions(&content).is_empty()) {
        let label = tag.replace('-', "_");
        return ParsedBlock::attachment(&label, Role::User, GUIDES.iter().any(|part| label.contains(part)), content);
    }
    let mut block = Block::new(BlockKind::Text, speaker);
    if speaker == Role::User {
        block.words = words::prompt(&content).into();
    }
    ParsedBlock::new(block, content)
}

fn call<'a>(piece: &Piece<'a>) -> ParsedBlock<'a> {
    let fields = piece.call();
    let name = text_of(fields.name).unwrap_or_default();
    let input = fields.input.map(shown).unwrap_or_default();
    let read = match piece.sort {
        Sort::TextCall => codex::of_text(&name, &input),
        _ => tools::of_object(&name, &input),
    };
    let mut parsed = ParsedBlock::tool_use(key_of(member(piece.value, "id")), input, read);
    if piece.sort == Sort::OldCall {
        (parsed.block.call, parsed.block.label) = (Some(Key(0)), OLD_CALL.into());
    }
    parsed
}

pub(super) fn part_text(part: &serde_json::value::RawValue) -> String {
    let text = text_of(member(part, "text")).or_else(|| text_of(member(part, "refusal")));
    match (text, text_of(member(part, "type")).as_deref()) {
        (Some(text), _) => text.into_owned(),
        (None, Some("image_url")) => "[image]".to_owned(),
        (None, Some("input_audio")) => "[audio]".to_owned(),
        (None, Some("file")) => "[file]".to_owned(),
        (None, _) => part.get().to_owned(),
    }
}
