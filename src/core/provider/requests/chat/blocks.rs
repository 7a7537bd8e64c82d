//! Blocks: the content of each piece of a message, as the model sees it.

use super::pieces::{self, MessageFields, Piece, Sort};
use super::tools;
use crate::model::{Block, BlockKind, Excerpts, Flags, Key, Role, Row, RowKind};
use crate::provider::json::{member, text, text_of};
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
        row.answers = Some(text_of(message.call).map_or(Key(0), |call| Key::from_text(&call)));
    }
    row.prompt = speaker == Role::User && blocks.iter().any(|parsed| parsed.block.kind != BlockKind::Attachment);
    ParsedRow { row, blocks, origin: Default::default() }
}

fn block<'a>(piece: &Piece<'a>, message: &MessageFields<'a>, speaker: Role, role: &str) -> ParsedBlock<'a> {
    match piece.sort {
        Sort::Thinking => {
            let block = Block::new(BlockKind::Thinking, Role::Thinking);
            ParsedBlock::new(block, text(piece.value).unwrap_or_default())
        }
        Sort::Text => spoken(text(piece.value).unwrap_or_default(), speaker, role),
        Sort::Image => {
            let mut block = Block::new(BlockKind::Image, speaker);
            let content = media::add_image(&mut block.media, pieces::image_url(piece.value));
            ParsedBlock::new(block, content)
        }
        Sort::Document => {
            let mut block = Block::new(BlockKind::Document, speaker);
            let content = media::add_document(&mut block.media, piece.value);
            ParsedBlock::new(block, content)
        }
        Sort::Call | Sort::TextCall | Sort::OldCall => call(piece),
        Sort::Output => {
            let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
            block.call = text_of(message.call).map(|call| Key::from_text(&call));
            block.label = if role == OLD_OUTPUT { OLD_OUTPUT.into() } else { "".into() };
            let content = pieces::output(piece.value, &mut block.media);
            block.error = content.starts_with("Error: ") || content.starts_with("error: ");
            ParsedBlock::new(block, content)
        }
        Sort::Other => {
            let kind = text_of(member(piece.value, "type")).unwrap_or_default();
            let mut block = Block::new(BlockKind::Other, speaker);
            block.label = if kind.is_empty() { "part".into() } else { (&*kind).into() };
            let content = media::unknown(&mut block.media, piece.value);
            ParsedBlock::new(block, content)
        }
    }
}

/// Parts of the names of tags around texts that guide the model.
const GUIDES: &[&str] = &["environment", "instructions", "reminder", "rules", "skill"];

/// Builds the block of a text. Instructions, and texts in the user's name of which the client wrote every word, are attachments.
pub(in crate::provider) fn spoken<'a>(content: Cow<'a, str>, speaker: Role, role: &str) -> ParsedBlock<'a> {
    if speaker == Role::System {
        let mut block = Block::new(BlockKind::Attachment, Role::System);
        (block.label, block.ground) = (role.into(), true);
        return ParsedBlock::new(block, content);
    }
    let tag = content.trim_start().strip_prefix('<').and_then(|rest| rest.split(['>', ' ', '\n']).next());
    if let Some(tag) = tag.filter(|_| speaker == Role::User && without_insertions(&content).is_empty()) {
        let mut block = Block::new(BlockKind::Attachment, Role::User);
        block.label = tag.replace('-', "_").into();
        block.ground = GUIDES.iter().any(|part| block.label.contains(part));
        return ParsedBlock::new(block, content);
    }
    let mut block = Block::new(BlockKind::Text, speaker);
    if speaker == Role::User {
        block.words = words::prompt(&content).into();
    }
    ParsedBlock::new(block, content)
}

fn call<'a>(piece: &Piece<'a>) -> ParsedBlock<'a> {
    let id = text_of(member(piece.value, "id"));
    let fields = piece.call();
    let name = text_of(fields.name).unwrap_or_default();
    let input = fields.input.map(|input| text(input).unwrap_or(Cow::Borrowed(input.get()))).unwrap_or_default();
    let read = match piece.sort {
        Sort::TextCall => tools::of_text(&name, &input),
        _ => tools::of_object(&name, &input),
    };
    let mut parsed = tool_use(id.as_deref(), input, read);
    if piece.sort == Sort::OldCall {
        (parsed.block.call, parsed.block.label) = (Some(Key(0)), OLD_CALL.into());
    }
    parsed
}

pub(in crate::provider) fn tool_use<'a>(id: Option<&str>, input: Cow<'a, str>, read: tools::Call) -> ParsedBlock<'a> {
    let mut block = Block::new(BlockKind::ToolUse, Role::ToolUse);
    block.call = id.map(Key::from_text);
    block.tool = Some(Box::new(read.tool));
    block.excerpts = Excerpts { files: read.files, ..Excerpts::default() }.some();
    ParsedBlock { readable: read.readable, refers: read.refers, ..ParsedBlock::new(block, input) }
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
