//! `aperture transcript`: prints the conversation as the model would see it.

use crate::app::{CommandError, Env};
use crate::engine::Analysis;
use crate::model::{As, Block, BlockKind, BlockNumber, Level, Pin, Role, Time, TokenCount};
use crate::output::{Form, Paint, Report, Style, printable, time, tokens};
use crate::provider::{Part, Source};
use crate::workspace::{Content, Workspace};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("transcript"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Print a header for each message and part
    #[arg(long, conflicts_with = "raw")]
    pub headers: bool,
    /// Print only the content exactly as sent, including credentials and control characters
    #[arg(long)]
    pub raw: bool,
    /// Also texts that the client adds: reminders, lists of skills and agents
    #[arg(long = "client-texts", alias = "all")]
    pub all: bool,
}

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
            let blocks = || message.parts.iter().flat_map(Part::blocks).filter_map(|number| reading.block(number));
            let first = blocks().next();
            // Attachments of the client can come before the words of a message.
            let said = blocks().find(|block| block.kind != BlockKind::Attachment).or(first);
            MessageText {
                id: place as u32 + 1,
                role: message.role,
                from: from(workspace, message.role, said),
                time: said.and_then(|block| block.timestamp),
                tokens: parts.iter().map(|part| part.tokens).sum::<TokenCount>(),
                parts,
            }
        })
        .collect())
}

/// Returns the author of a message, by one of its blocks: the name of the model, the user, a tool, or the client.
fn from(workspace: &Workspace<'_>, role: &str, said: Option<&Block>) -> String {
    let session = &workspace.reading.session;
    match (role, said) {
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

/// Output styles of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptStyle {
    Plain,
    /// With the in-band header of each message and part.
    Headers,
    /// The content only, exactly as it is sent.
    Raw,
}

/// A message of the conversation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct MessageText {
    /// Position in the request, from 1.
    pub id: u32,
    /// Role in the request: `user`, `assistant` or `system`.
    pub role: &'static str,
    /// Author: the model, the user or the agent program.
    pub from: String,
    /// Time at which the message was written.
    #[serde(with = "As::<Option<Time>>")]
    pub time: Option<i64>,
    pub tokens: TokenCount,
    /// Texts, calls and results, in order.
    pub parts: Vec<MessagePart>,
}

/// A part of a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MessagePart {
    /// Block number; null for content that the agent program generates on resume.
    pub block: Option<BlockNumber>,
    /// Type of the part, such as `text`, `tool_use Read` or `tool_result`.
    pub kind: String,
    pub role: Role,
    pub tokens: TokenCount,
    /// Estimated turns without a reference until the block goes stale; null if it never will be.
    pub turns_left: Option<u32>,
    /// Place where the block is pinned.
    pub pin: Option<Pin>,
    pub level: Level,
    /// Content as it is sent.
    pub content: String,
    /// The content for people.
    #[serde(skip)]
    pub readable: String,
}

/// The conversation in the window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TranscriptReport {
    /// Messages in the order in which they are sent.
    pub messages: Vec<MessageText>,
    #[serde(skip)]
    pub style: TranscriptStyle,
}

impl Report for TranscriptReport {
    const SCHEMA: &str = "aperture.transcript/2";

    fn form(&self) -> Form {
        if self.style == TranscriptStyle::Raw { Form::Raw } else { Form::Text }
    }

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for message in &self.messages {
            match self.style {
                TranscriptStyle::Raw => {
                    for part in &message.parts {
                        text.push_str(&part.content);
                        text.push('\n');
                    }
                }
                TranscriptStyle::Headers => with_headers(&mut text, style, message),
                TranscriptStyle::Plain => plain(&mut text, style, message),
            }
        }
        text
    }
}

fn message_header(style: &Style, message: &MessageText) -> String {
    let moment = message.time.map_or_else(|| "unknown".to_owned(), |moment| time(style, moment));
    let all = |test: &dyn Fn(&MessagePart) -> bool| !message.parts.is_empty() && message.parts.iter().all(test);
    let mark = if all(&|part| part.pin.is_some()) {
        " | PINNED"
    } else if all(&|part| part.level != Level::Original) {
        " | PRUNED"
    } else {
        ""
    };
    format!(
        "--- Message ID: {} | Role: {} | From: {} | Time: {moment} | Tokens: {}{mark} ---\n",
        message.id,
        message.role,
        printable(&message.from),
        tokens(message.tokens)
    )
}

fn part_header(part: &MessagePart) -> String {
    let mark = match (part.pin, part.level) {
        (Some(_), _) => " | PINNED",
        (None, Level::Original) => "",
        _ => " | PRUNED",
    };
    let id = part.block.map_or_else(|| "none".to_owned(), |number| format!("block-{number}"));
    let left = part.turns_left.map_or_else(|| "always".to_owned(), |turns| turns.to_string());
    format!("[Part ID: {id} | Type: {} | Tokens: {} | Turns Left: {left}{mark}]\n", printable(&part.kind), tokens(part.tokens))
}

/// A range of pruned blocks of one level and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedRange {
    pub first: BlockNumber,
    pub last: BlockNumber,
    pub level: Level,
    /// The reason, or an empty text.
    pub reason: String,
}

/// The headers of messages without their contents, and the pruned ranges, for a model.
#[derive(Clone, Debug)]
pub struct Headers {
    pub messages: Vec<MessageText>,
    pub pruned: Vec<PrunedRange>,
}

impl Headers {
    /// The explanation of the headers for the model, in less than 150 tokens.
    pub const INSTRUCTIONS: &str = "\
aperture lists here the headers of the messages and parts since the last prompt. block-12 is #12 in memory commands on a line
of their own, such as @expand(12). Turns Left: until a part is stale. PRUNED: shortened; the pruned ranges name all such
blocks and why. Do not write headers yourself.";

    pub fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for message in &self.messages {
            text.push_str(&message_header(style, message));
            message.parts.iter().for_each(|part| text.push_str(&part_header(part)));
        }
        if !self.pruned.is_empty() {
            text.push_str("Pruned ranges:\n");
        }
        for range in &self.pruned {
            let blocks = match range.first == range.last {
                true => format!("block-{}", range.first),
                false => format!("block-{}..block-{}", range.first, range.last),
            };
            let reason = if range.reason.is_empty() { String::new() } else { format!(" | {}", printable(&range.reason)) };
            text.push_str(&format!("[{blocks} | {}{reason}]\n", range.level.name()));
        }
        text.trim_end().to_owned()
    }
}

/// Writes the in-band form: a line before the message and a line before each part.
fn with_headers(text: &mut String, style: &Style, message: &MessageText) {
    text.push_str(&message_header(style, message));
    for part in &message.parts {
        text.push_str(&part_header(part));
        // Indents content that looks like a header by one space, so that no content can forge a header.
        let content = printable(&part.content);
        let forged = |line: &str| line.starts_with("--- Message ID:") || line.starts_with("[Part ID:");
        if content.lines().any(forged) {
            let moved = content.lines().map(|line| if forged(line) { format!(" {line}\n") } else { format!("{line}\n") });
            push_lines(text, &moved.collect::<String>());
        } else {
            push_lines(text, &content);
        }
    }
    text.push('\n');
}

fn plain(text: &mut String, style: &Style, message: &MessageText) {
    let moment = message.time.map(|moment| format!("  {}", time(style, moment))).unwrap_or_default();
    let first = message.parts.iter().find_map(|part| part.block).map(|number| format!("  #{number}")).unwrap_or_default();
    text.push_str(&style.line(Paint::Heading, &format!("── {}{first}{moment}", message.from)));
    for part in &message.parts {
        let number = part.block.map(|number| format!("#{number} ")).unwrap_or_default();
        if !matches!(part.role, Role::User | Role::Assistant) {
            text.push_str(&style.line(Paint::Dim, &format!("{number}{} ({})", part.kind, tokens(part.tokens))));
        }
        push_lines(text, &printable(&part.readable));
    }
    text.push('\n');
}

fn push_lines(text: &mut String, content: &str) {
    text.push_str(content);
    if !content.is_empty() && !content.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_a_line_for_each_message_part_and_pruned_range() {
        let part = MessagePart {
            block: Some(3),
            kind: "tool_result Read".to_owned(),
            role: Role::ToolResult,
            tokens: TokenCount::estimated(40.0),
            turns_left: Some(2),
            pin: None,
            level: Level::Trimmed,
            content: "content".to_owned(),
            readable: "content".to_owned(),
        };
        let message = MessageText {
            id: 2,
            role: "user",
            from: "tools".to_owned(),
            time: None,
            tokens: TokenCount::estimated(40.0),
            parts: vec![part],
        };
        let range = |first, last, reason: &str| PrunedRange { first, last, level: Level::Archived, reason: reason.to_owned() };
        let headers = Headers { messages: vec![message], pruned: vec![range(3, 3, ""), range(5, 9, "superseded")] };
        assert_eq!(
            headers.text(&Style { color: false, width: 80, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC }),
            "--- Message ID: 2 | Role: user | From: tools | Time: unknown | Tokens: ~40 | PRUNED ---\n\
             [Part ID: block-3 | Type: tool_result Read | Tokens: ~40 | Turns Left: 2 | PRUNED]\n\
             Pruned ranges:\n[block-3 | archived]\n[block-5..block-9 | archived | superseded]"
        );
    }

    #[test]
    fn the_instructions_have_less_than_150_tokens() {
        let count = crate::engine::tokens::most_tokens(Headers::INSTRUCTIONS, "claude-opus-5-5");
        assert!(count < 150.0, "{count}");
    }
}
