//! Parses rows: what is known of a session, a message, or a mark of [`super::assemble`], each independently of the others.

use crate::model::{BilledTokens, BlockKind, Event, Key, Role, Row, RowKind};
use crate::provider::json::{self, elements, fields, is_true, key_of, member, number, text, text_of, time_of};
use crate::provider::requests::chat::blocks::spoken;
use crate::provider::requests::chat::tools;
use crate::provider::{ParsedBlock, ParsedRow, media, recorded};
use serde_json::value::RawValue;
use std::borrow::Cow;

fields! {
    RowFields {
        session = "sessionId",
        project = "projectHash",
        directory = "directory",
        directories = "directories",
        start = "startTime",
        summary = "summary",
        id = "id",
        time = "timestamp",
        kind = "type",
        content = "content",
        thoughts = "thoughts",
        calls = "toolCalls",
        tokens = "tokens",
        model = "model",
        cut = "cut",
        left = "left",
    }
}

fields! {
    /// The relevant keys of a part of a content.
    PartFields {
        text = "text",
        thought = "thought",
        call = "functionCall",
        response = "functionResponse",
        data = "inlineData",
        file = "fileData",
    }
}

/// The tag of the text with which the client begins a conversation.
pub(super) const SESSION_CONTEXT: &str = "session_context";
/// The tag of the summary that replaces a part of the conversation.
pub(super) const SNAPSHOT: &str = "state_snapshot";
/// The title in this text before the directories of the session, and the beginning of a line that names one.
const DIRECTORIES: &str = "Workspace Directories:";
const DIRECTORY: &str = "  - ";
/// The line before the contents of the files that a prompt names.
const REFERENCED: &str = "--- Content from referenced files ---";
/// The beginning of the line of a result with the exit code of a command.
const EXIT_CODE: &str = "Exit Code: ";

/// Returns true if one of the first 20 nonblank lines, or the document, names a session and the hash of its project.
pub(super) fn recognizes(head: &[u8]) -> bool {
    let is_head = |line: &[u8]| {
        serde_json::from_slice::<RowFields<'_>>(line).is_ok_and(|fields| fields.session.is_some() && fields.project.is_some())
    };
    let is_message = |line: &[u8]| {
        serde_json::from_slice::<RowFields<'_>>(line).is_ok_and(|fields| {
            let is_known = text_of(fields.kind).is_some_and(|kind| matches!(&*kind, "user" | "gemini"));
            is_known && fields.id.is_some() && fields.time.is_some() && fields.content.is_some()
        })
    };
    let is_mark = |line: &[u8]| line.starts_with(br#"{"cut":true"#);
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(20);
    is_head(head) || lines.any(|line| is_head(line) || is_message(line) || is_mark(line))
}

/// Parses one line as a row; any bytes give a row.
pub(super) fn parse(bytes: &[u8]) -> ParsedRow<'_> {
    let Ok(fields) = serde_json::from_slice::<RowFields<'_>>(bytes) else {
        return ParsedRow::broken(json::line_fault(bytes));
    };
    let id = text_of(fields.id);
    let mut parsed = match (text_of(fields.kind).as_deref(), fields.cut, fields.left) {
        (Some("user"), ..) => of_user(&fields),
        (Some("gemini"), ..) => of_model(&fields, id.as_deref()),
        (Some("info" | "error" | "warning"), ..) => ParsedRow::new(Row::new(RowKind::Record), Vec::new()),
        (None, Some(_), _) => ParsedRow::new(Row::new(RowKind::Boundary), Vec::new()),
        (None, None, Some(left)) => recorded::left(left),
        (None, None, None) if fields.session.is_some() => session(&fields),
        _ => ParsedRow::new(Row::new(RowKind::Foreign), Vec::new()),
    };
    parsed.row.id = Some(id.map_or_else(|| Key::from_bytes(bytes), |id| Key::from_text(&id)));
    parsed.identity = fields.id.map(|id| id.get().into());
    parsed.row.timestamp = time_of(fields.time.or(fields.start));
    parsed
}

fn session<'a>(fields: &RowFields<'a>) -> ParsedRow<'a> {
    let mut row = Row::new(RowKind::State);
    let title = text_of(fields.summary).filter(|title| !title.is_empty());
    row.event = title.map(|title| Box::new(Event::Title { text: title.into_owned(), chosen: false }));
    let first = || fields.directories.map(elements).unwrap_or_default().into_iter().find_map(text);
    let origin = [text_of(fields.session), text_of(fields.directory).or_else(first), None, None];
    ParsedRow { origin, ..ParsedRow::new(row, Vec::new()) }
}

/// Returns the parts of a content: its elements, or the content itself; a text is a part of its own.
fn parts<'a>(content: Option<&'a RawValue>) -> Vec<(&'a RawValue, PartFields<'a>)> {
    let Some(content) = content else { return Vec::new() };
    let parts = if content.get().starts_with('[') { elements(content) } else { vec![content] };
    let part = |part: &'a RawValue| match part.get().starts_with('"') {
        true => PartFields { text: Some(part), ..PartFields::default() },
        false => serde_json::from_str(part.get()).unwrap_or_default(),
    };
    parts.into_iter().map(|whole| (whole, part(whole))).filter(|(whole, _)| whole.get() != "\"\"").collect()
}

/// Returns true if a message holds results of calls.
pub(super) fn answers(record: &RawValue) -> bool {
    parts(member(record, "content")).iter().any(|(_, part)| part.response.is_some())
}

fn of_user<'a>(fields: &RowFields<'a>) -> ParsedRow<'a> {
    let mut row = Row::new(RowKind::User);
    let (mut blocks, mut is_file) = (Vec::new(), false);
    for (whole, part) in parts(fields.content) {
        if let Some(response) = part.response {
            let parsed = response_of(response);
            row.answers = row.answers.or(parsed.block.call).or(Some(Key(0)));
            blocks.push(parsed);
            continue;
        }
        let Some(content) = text_of(part.text) else {
            blocks.push(data(whole, &part));
            continue;
        };
        is_file |= content.trim() == REFERENCED;
        if is_file {
            blocks.push(ParsedBlock::attachment("referenced_files", Role::User, false, content));
            continue;
        }
        let mut parsed = spoken(content, Role::User, "user");
        parsed.block.ground |= matches!(&*parsed.block.label, SESSION_CONTEXT | SNAPSHOT);
        if &*parsed.block.label == SNAPSHOT {
            row.event = Some(Box::new(Event::CompactSummary));
        }
        blocks.push(parsed);
    }
    row.prompt = row.answers.is_none() && blocks.iter().any(|parsed| parsed.block.kind != BlockKind::Attachment);
    ParsedRow::new(row, blocks)
}

/// Returns the directory of the user, if a message is the text with which the client begins a conversation.
pub(super) fn directory_in(record: &RawValue) -> Option<String> {
    let content = parts(member(record, "content")).into_iter().find_map(|(_, part)| text_of(part.text))?;
    let rest = content.trim_start().strip_prefix('<')?.strip_prefix(SESSION_CONTEXT)?.split_once(DIRECTORIES)?.1;
    Some(rest.lines().nth(1)?.strip_prefix(DIRECTORY)?.to_owned())
}

/// Returns the block of an image or of another file.
fn data<'a>(whole: &'a RawValue, part: &PartFields<'a>) -> ParsedBlock<'a> {
    let is_image = part.data.and_then(|data| text_of(member(data, "mimeType"))).is_some_and(|mime| mime.starts_with("image/"));
    let kind = match part.data.or(part.file) {
        Some(_) if is_image => BlockKind::Image,
        Some(_) => BlockKind::Document,
        None => BlockKind::Other,
    };
    let mut parsed = ParsedBlock::read(kind, Role::User, |media| match (kind, part.data) {
        (BlockKind::Image, Some(data)) => media::add_image(media, member(data, "data")),
        (BlockKind::Document, _) => media::add_document(media, whole),
        _ => media::unknown(media, whole),
    });
    if kind == BlockKind::Other {
        parsed.block.label = "part".into();
    }
    parsed
}

/// Returns the block of the result of a call: its output or error, or else the whole response.
fn response_of<'a>(response: &'a RawValue) -> ParsedBlock<'a> {
    let value = member(response, "response");
    let named = |name| value.and_then(|value| text_of(member(value, name)));
    let error = named("error");
    let failed = error.is_some();
    let content = error.or_else(|| named("output")).unwrap_or(Cow::Borrowed(value.map_or("", RawValue::get)));
    let mut codes = content.lines().filter_map(|line| line.strip_prefix(EXIT_CODE));
    let failed = failed || codes.next_back().is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_digit()) && code != "0");
    let mut parsed = ParsedBlock::result(key_of(member(response, "id")), |_| content);
    parsed.block.error = failed;
    parsed
}

fn of_model<'a>(fields: &RowFields<'a>, id: Option<&str>) -> ParsedRow<'a> {
    let content = parts(fields.content);
    let has = |of: fn(&PartFields<'a>) -> bool| content.iter().any(|(_, part)| of(part));
    let is_whole = has(|part| part.call.is_some()) || has(|part| is_true(part.thought));
    let mut blocks = Vec::new();
    // A message that the client wrote when it resumed has everything in its content.
    if !is_whole {
        blocks.extend(fields.thoughts.map(elements).unwrap_or_default().into_iter().map(summary_of_thought));
    }
    for (whole, part) in &content {
        blocks.push(match (part.call, text_of(part.text)) {
            (Some(call), _) => call_of(call),
            (None, Some(text)) if is_true(part.thought) => ParsedBlock::thinking(text, None),
            (None, Some(text)) => spoken(text, Role::Assistant, "assistant"),
            (None, None) => data(whole, part),
        });
    }
    if !is_whole {
        blocks.extend(fields.calls.map(elements).unwrap_or_default().into_iter().map(call_of));
    }
    let mut row = Row::new(RowKind::Assistant);
    row.message = id.map(Key::from_text);
    row.model = text_of(fields.model).filter(|model| !model.is_empty()).map(Into::into);
    row.usage = fields.tokens.filter(|tokens| tokens.get().starts_with('{')).map(usage);
    row.finished = row.usage.is_some();
    ParsedRow::new(row, blocks)
}

fn summary_of_thought(value: &RawValue) -> ParsedBlock<'_> {
    let [subject, description] = ["subject", "description"].map(|name| text_of(member(value, name)).unwrap_or_default());
    let text = if subject.is_empty() { description } else { Cow::Owned(format!("**{subject}** {description}")) };
    ParsedBlock::thinking(text, None)
}

fn call_of(call: &RawValue) -> ParsedBlock<'_> {
    let name = text_of(member(call, "name")).unwrap_or_default();
    let input = member(call, "args").map_or("{}", RawValue::get);
    ParsedBlock::tool_use(key_of(member(call, "id")), Cow::Borrowed(input), tools::of_object(&name, input))
}

/// Parses the usage of a response. Its input has the cached part, and its output does not have the thinking.
fn usage(tokens: &RawValue) -> BilledTokens {
    let figure = |name| number(member(tokens, name)).unwrap_or_default();
    let sent = figure("input").saturating_add(figure("tool"));
    let cache_read = figure("cached").min(sent);
    let output = figure("output").saturating_add(figure("thoughts"));
    BilledTokens { input: sent - cache_read, cache_read, output, ..BilledTokens::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_that_of_the_session_or_of_its_first_text() {
        let directory = |line: &str| directory_in(crate::testing::raw(line));
        let text = r"<session_context>\nHello.\n- **Workspace Directories:**\n  - /home/dev/shop\n- **More**";
        assert_eq!(
            directory(&format!(r#"{{"type":"user","content":[{{"text":"{text}"}}]}}"#)).as_deref(),
            Some("/home/dev/shop")
        );
        assert_eq!(directory(r#"{"type":"user","content":"Workspace Directories:\n  - /w"}"#), None);
        let head = parse(br#"{"sessionId":"s","projectHash":"h","directories":["/w"]}"#);
        assert_eq!(head.origin[1].as_deref(), Some("/w"));
    }

    #[test]
    fn a_result_reports_how_the_call_ended() {
        for (response, content, error) in [
            (r#"{"output":"ok"}"#, "ok", false),
            (r#"{"error":"File not found"}"#, "File not found", true),
            (
                r#"{"output":"Output: no\nExit Code: 2\nProcess Group PGID: 4"}"#,
                "Output: no\nExit Code: 2\nProcess Group PGID: 4",
                true,
            ),
            (r#"{"output":"Exit Code: 0"}"#, "Exit Code: 0", false),
            (r#"{"output":"Exit Code: (none)"}"#, "Exit Code: (none)", false),
            (r#"{"other":1}"#, r#"{"other":1}"#, false),
        ] {
            let line = format!(r#"{{"type":"user","content":[{{"functionResponse":{{"id":"c","response":{response}}}}}]}}"#);
            let parsed = parse(line.as_bytes());
            assert_eq!((&*parsed.blocks[0].content, parsed.blocks[0].block.error), (content, error));
            assert!(parsed.row.answers.is_some() && !parsed.row.prompt);
        }
    }

    #[test]
    fn referenced_files_are_no_words_of_the_user() {
        let line =
            format!(r#"{{"type":"user","content":[{{"text":"explain @a"}},{{"text":"\n{REFERENCED}"}},{{"text":"fn main"}}]}}"#);
        let kinds: Vec<BlockKind> = parse(line.as_bytes()).blocks.iter().map(|parsed| parsed.block.kind).collect();
        assert_eq!(kinds, [BlockKind::Text, BlockKind::Attachment, BlockKind::Attachment]);
    }

    #[test]
    fn thinking_is_billed_as_output_and_the_cached_part_is_not_new_input() {
        let line = r#"{"type":"gemini","id":"a","tokens":{"input":90,"cached":60,"output":7,"thoughts":3,"tool":5}}"#;
        let usage = BilledTokens { input: 35, cache_read: 60, output: 10, ..BilledTokens::default() };
        assert_eq!(parse(line.as_bytes()).row.usage, Some(usage));
    }
}
