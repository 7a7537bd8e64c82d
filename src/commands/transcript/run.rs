use super::Arguments;
use super::report::{Headers, MessagePart, MessageText, PrunedRange, TranscriptReport, TranscriptStyle};
use crate::app::{CommandError, Env};
use crate::engine::Analysis;
use crate::model::{Block, BlockKind, BlockNumber, Level, Role, TokenCount};
use crate::provider::{Part, Source};
use crate::workspace::{Content, Workspace};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Prints the conversation.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let workspace = env.open(arguments.session.as_deref())?;
    let style = match (arguments.headers, arguments.raw) {
        (true, _) => TranscriptStyle::Headers,
        (_, true) => TranscriptStyle::Raw,
        _ => TranscriptStyle::Plain,
    };
    let mut messages = messages(&workspace)?;
    if !arguments.all {
        messages.iter_mut().for_each(|message| message.parts.retain(|part| part.role != Role::System));
        messages.retain(|message| !message.parts.is_empty());
    }
    env.print(&TranscriptReport { messages, style })
}

/// Returns the headers of the messages of the last turn, and the pruned ranges of the window; `None` before the first turn.
pub fn headers_of_last_turn(env: &Env, workspace: &Workspace<'_>) -> Result<Option<String>, CommandError> {
    let reading = &workspace.reading;
    let Some(last) = reading.in_window().map(|block| block.position.turn).max() else { return Ok(None) };
    let mut messages = messages(workspace)?;
    let is_last =
        |part: &MessagePart| part.block.and_then(|number| reading.block(number)).is_some_and(|block| block.position.turn == last);
    messages.iter_mut().for_each(|message| message.parts.retain(|part| part.role != Role::System && is_last(part)));
    messages.retain(|message| !message.parts.is_empty());
    Ok(Some(Headers { messages, pruned: pruned(reading) }.text(&env.style)))
}

/// Returns the ranges of pruned blocks with one level and reason.
fn pruned(reading: &Analysis) -> Vec<PrunedRange> {
    let mut ranges: Vec<PrunedRange> = Vec::new();
    for block in reading.in_window().filter(|block| block.level != Level::Original) {
        let reason = match (&*block.reason, block.usefulness.outdated) {
            ("", Some((outdated, _))) => outdated.reason(),
            (reason, _) => reason,
        };
        match ranges.last_mut().filter(|range| (range.level, &*range.reason) == (block.level, reason)) {
            Some(range) if range.last + 1 == block.number => range.last = block.number,
            _ => ranges.push(PrunedRange {
                first: block.number,
                last: block.number,
                level: block.level,
                reason: reason.to_owned(),
            }),
        }
    }
    ranges
}

fn messages(workspace: &Workspace<'_>) -> Result<Vec<MessageText>, CommandError> {
    let reading = &workspace.reading;
    let messages = workspace.provider.messages(&reading.session, &reading.window);
    let mut numbers: Vec<BlockNumber> = messages.iter().flat_map(|message| message.parts.iter().flat_map(Part::blocks)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let contents: FxHashMap<BlockNumber, Content> = numbers.iter().copied().zip(workspace.contents(&numbers)?).collect();
    let part = |part: &Part| {
        let blocks: Vec<&Block> = part.blocks().filter_map(|number| reading.block(number)).collect();
        let first = blocks.first().copied();
        let text = |pick: &dyn Fn(&Content) -> String| {
            part.text(|number| Cow::Owned(contents.get(&number).map(pick).unwrap_or_default())).into_owned()
        };
        MessagePart {
            block: first.map(|block| block.number),
            kind: kind(first),
            role: first
                .map_or(if matches!(part.source, Source::Result { .. }) { Role::ToolResult } else { Role::User }, |block| {
                    block.role
                }),
            tokens: blocks.iter().map(|block| reading.price.as_resumed(block)).sum(),
            turns_left: first.and_then(|block| block.usefulness.turns_left),
            pin: first.and_then(|block| block.pin),
            level: first.map_or(Level::Original, |block| block.level),
            content: text(&|content| content.cut.as_ref().unwrap_or(&content.sent).clone()),
            readable: text(&|content| content.cut.as_ref().unwrap_or(&content.readable).clone()),
        }
    };
    Ok(messages
        .iter()
        .enumerate()
        .map(|(place, message)| {
            let parts: Vec<MessagePart> = message.parts.iter().map(part).collect();
            let first = message.parts.iter().flat_map(Part::blocks).find_map(|number| reading.block(number));
            MessageText {
                id: place as u32 + 1,
                role: message.role,
                from: from(workspace, message.role, first),
                time: first.and_then(|block| block.timestamp),
                tokens: parts.iter().map(|part| part.tokens).sum::<TokenCount>(),
                parts,
            }
        })
        .collect())
}

/// Returns the author of a message: the name of the model, the user, a tool, or the client.
fn from(workspace: &Workspace<'_>, role: &str, first: Option<&Block>) -> String {
    let session = &workspace.reading.session;
    match (role, first) {
        ("assistant", Some(block)) => session.rows[block.row as usize].model.as_deref().unwrap_or("assistant").to_owned(),
        (_, Some(block)) if block.role == Role::ToolResult => "tools".to_owned(),
        ("user", Some(block)) if block.kind == BlockKind::Attachment => "client".to_owned(),
        ("user", Some(_)) => "user".to_owned(),
        _ => "client".to_owned(),
    }
}

/// Returns the kind of a part, with the tool or the kind of attachment.
fn kind(block: Option<&Block>) -> String {
    let Some(block) = block else { return "text".to_owned() };
    match (&block.tool, &*block.label) {
        (Some(tool), _) => format!("{} {}", block.kind.name(), tool.name),
        (None, "") => block.kind.name().to_owned(),
        (None, label) => format!("{} {label}", block.kind.name()),
    }
}
