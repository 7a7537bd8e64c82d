//! Parses rows: a session, a message or the results of its tools, each independently of the others.

use crate::model::{BilledTokens, BlockKind, Event, Key, Media, Role, Row, RowKind};
use crate::provider::json::{self, elements, fields, is_true, key_of, member, number, text_of};
use crate::provider::requests::chat::blocks::spoken;
use crate::provider::requests::chat::tools;
use crate::provider::{ParsedBlock, ParsedRow, media, recorded, words};
use serde_json::value::RawValue;
use std::borrow::Cow;

fields! {
    RowFields {
        id = "id",
        directory = "directory",
        title = "title",
        version = "version",
        time = "time",
        info = "info",
        parts = "parts",
        compacts = "compacts",
        left = "left",
    }
}

fields! {
    MessageFields {
        role = "role",
        model = "modelID",
        time = "time",
        tokens = "tokens",
        cost = "cost",
        finish = "finish",
        summary = "summary",
    }
}

fields! {
    /// The relevant keys of a part of a message.
    PartFields {
        kind = "type",
        text = "text",
        synthetic = "synthetic",
        ignored = "ignored",
        metadata = "metadata",
        mime = "mime",
        url = "url",
        tool = "tool",
        call = "callID",
        input = "input",
        status = "status",
        output = "output",
        error = "error",
        exit = "exit",
        attachments = "attachments",
        time = "time",
        prompt = "prompt",
        tokens = "tokens",
        cost = "cost",
    }
}

/// Beginnings of the titles of sessions that have none yet.
const UNTITLED: &[&str] = &["New session - ", "Child session - "];
/// Texts that the client sends in the place of a result that it no longer sends, of a call without a result, and of a part.
const CLEARED: &str = "[Old tool result content cleared]";
const INTERRUPTED: &str = "[Tool execution was interrupted]";
const COMPACTION: &str = "What did we do so far?";
const SUBTASK: &str = "The following tool was executed by the user";

/// Returns true if the first nonblank line is a session, or a message in the form of this module.
pub(super) fn recognizes(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    serde_json::from_slice::<RowFields<'_>>(line).is_ok_and(|fields| {
        let is_session = text_of(fields.id).is_some_and(|id| id.starts_with("ses_")) && fields.directory.is_some();
        is_session || fields.left.is_some() || fields.id.is_some() && fields.info.is_some() && fields.parts.is_some()
    })
}

/// Parses one line as a row; any bytes give a row.
pub(super) fn parse(bytes: &[u8]) -> ParsedRow<'_> {
    let Ok(fields) = serde_json::from_slice::<RowFields<'_>>(bytes) else {
        return ParsedRow::broken(json::line_fault(bytes));
    };
    let id = text_of(fields.id);
    let mut parsed = match (fields.info, fields.left) {
        (Some(info), _) => message(&fields, &serde_json::from_str(info.get()).unwrap_or_default(), id.as_deref()),
        (None, Some(left)) => recorded::left(left),
        (None, None) if fields.directory.is_some() => session(&fields),
        (None, None) => ParsedRow::new(Row::new(RowKind::Foreign), Vec::new()),
    };
    parsed.row.id = Some(id.map_or_else(|| Key::from_bytes(bytes), |id| Key::from_text(&id)));
    parsed.identity = fields.id.map(|id| id.get().into());
    parsed
}

fn session<'a>(fields: &RowFields<'a>) -> ParsedRow<'a> {
    let mut row = Row::new(RowKind::State);
    row.timestamp = time(fields.time);
    let title = text_of(fields.title).filter(|title| !title.is_empty() && !UNTITLED.iter().any(|start| title.starts_with(start)));
    row.event = title.map(|title| Box::new(Event::Title { text: title.into_owned(), chosen: false }));
    let origin = [text_of(fields.id), text_of(fields.directory), text_of(fields.version), None];
    ParsedRow { origin, ..ParsedRow::new(row, Vec::new()) }
}

fn time(time: Option<&RawValue>) -> Option<i64> {
    time.and_then(|time| member(time, "created"))?.get().parse().ok()
}

fn message<'a>(fields: &RowFields<'a>, info: &MessageFields<'a>, id: Option<&str>) -> ParsedRow<'a> {
    let parts = parts(fields);
    let mut row = Row::new(RowKind::User);
    row.timestamp = time(info.time);
    let mut blocks: Vec<ParsedBlock<'a>> = Vec::new();
    match text_of(info.role).as_deref() {
        Some("assistant") => {
            blocks.extend(parts.iter().filter_map(of_model));
            row.kind = RowKind::Assistant;
            row.message = id.map(Key::from_text);
            row.model = text_of(info.model).filter(|model| !model.is_empty()).map(Into::into);
            row.finished = info.finish.is_some();
            row.usage = bill(info, &parts).0;
            if is_true(info.summary) {
                row.event = Some(Box::new(Event::CompactSummary));
                blocks.iter_mut().for_each(|parsed| parsed.block.ground = true);
            }
        }
        Some("tool") => {
            row.answers = parts.iter().find_map(|part| key_of(part.call)).or(Some(Key(0)));
            blocks.extend(parts.iter().map(outcome));
        }
        _ => {
            blocks.extend(parts.iter().filter_map(of_user));
            if is_true(fields.compacts) {
                row.kind = RowKind::Boundary;
            } else {
                row.prompt =
                    blocks.iter().any(|parsed| parsed.block.kind != BlockKind::Attachment || &*parsed.block.label == "subtask");
            }
        }
    }
    ParsedRow::new(row, blocks)
}

fn parts<'a>(fields: &RowFields<'a>) -> Vec<PartFields<'a>> {
    let parts = fields.parts.map(elements).unwrap_or_default();
    parts.into_iter().map(|part| serde_json::from_str(part.get()).unwrap_or_default()).collect()
}

/// Returns the usage and the cost of the response of a message: those of its last step, or else those of the message.
fn bill(info: &MessageFields<'_>, parts: &[PartFields<'_>]) -> (Option<BilledTokens>, Option<f64>) {
    let step = parts.iter().rev().find(|part| part.tokens.is_some());
    let (tokens, cost) = step.map_or((info.tokens, info.cost), |step| (step.tokens, step.cost));
    let figure = |value: Option<&RawValue>, name: &str| number(value.and_then(|value| member(value, name))).unwrap_or_default();
    let usage = tokens.map(|tokens| {
        let cache = member(tokens, "cache");
        BilledTokens {
            input: figure(Some(tokens), "input"),
            cache_read: figure(cache, "read"),
            cache_write_5m: figure(cache, "write"),
            output: figure(Some(tokens), "output").saturating_add(figure(Some(tokens), "reasoning")),
            ..BilledTokens::default()
        }
    });
    // The client writes 0 for a model whose price it does not know, and for a subscription.
    let dollars = cost.and_then(|cost| cost.get().parse::<f64>().ok()).filter(|dollars| *dollars > 0.0 && dollars.is_finite());
    (usage, dollars)
}

/// Returns the cost that the row of a response states, in dollars.
pub(super) fn dollars(bytes: &[u8]) -> Option<f64> {
    let fields: RowFields<'_> = serde_json::from_slice(bytes).ok()?;
    bill(&serde_json::from_str(fields.info?.get()).ok()?, &parts(&fields)).1
}

fn of_model<'a>(part: &PartFields<'a>) -> Option<ParsedBlock<'a>> {
    match &*text_of(part.kind)? {
        "text" => Some(spoken(text_of(part.text)?, Role::Assistant, "assistant")),
        "reasoning" => {
            let signed = part.metadata.map(json::members).unwrap_or_default();
            let signature = signed
                .into_iter()
                .find_map(|(_, of_api)| member(of_api, "signature").filter(|value| value.get().starts_with('"')));
            Some(ParsedBlock::thinking(text_of(part.text)?, signature))
        }
        "tool" => {
            let (name, input) = (text_of(part.tool)?, part.input.map_or("{}", RawValue::get));
            Some(ParsedBlock::tool_use(key_of(part.call), Cow::Borrowed(input), tools::of_object(&name, input)))
        }
        _ => None,
    }
}

/// Returns the block of a part of a message of the user; `None` if the client does not send it.
fn of_user<'a>(part: &PartFields<'a>) -> Option<ParsedBlock<'a>> {
    let text = || text_of(part.text).filter(|text| !text.is_empty() && !is_true(part.ignored));
    match &*text_of(part.kind)? {
        "text" if is_true(part.synthetic) => Some(ParsedBlock::attachment("synthetic", Role::User, false, text()?)),
        "text" => Some(quoted(spoken(text()?, Role::User, "user"))),
        "compaction" => Some(ParsedBlock::attachment("compaction", Role::User, false, Cow::Borrowed(COMPACTION))),
        "subtask" => {
            let mut parsed = ParsedBlock::attachment("subtask", Role::User, false, Cow::Borrowed(SUBTASK));
            parsed.block.preview = text_of(part.prompt).unwrap_or_default().into();
            Some(parsed)
        }
        "file" => {
            let mime = text_of(part.mime).unwrap_or_default();
            // The client sends the content of these in a text of its own.
            if matches!(&*mime, "text/plain" | "application/x-directory") {
                return None;
            }
            let kind = if mime.starts_with("image/") { BlockKind::Image } else { BlockKind::Document };
            Some(ParsedBlock::read(kind, Role::User, |media| file(part, media)))
        }
        _ => None,
    }
}

/// Leaves the quotes out of the words of the user: the client puts them around a prompt of its command line.
fn quoted(mut parsed: ParsedBlock<'_>) -> ParsedBlock<'_> {
    let inner = parsed.content.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    if let Some(inner) = inner.filter(|_| parsed.block.kind == BlockKind::Text) {
        parsed.block.preview = inner.into();
        parsed.block.words = words::typed(&parsed.content, 1, parsed.content.len() - 1).into();
    }
    parsed
}

/// Adds a file of a message to `media`, and returns its placeholder.
fn file(part: &PartFields<'_>, media: &mut Media) -> Cow<'static, str> {
    let is_image = text_of(part.mime).is_some_and(|mime| mime.starts_with("image/"));
    match part.url {
        Some(url) if !is_image => media::add_document(media, url),
        url => media::add_image(media, url),
    }
}

fn outcome<'a>(part: &PartFields<'a>) -> ParsedBlock<'a> {
    let status = text_of(part.status).unwrap_or_default();
    let failed = &*status != "completed";
    let content = if failed { text_of(part.error) } else { text_of(part.output) };
    let content = content.unwrap_or(Cow::Borrowed(if failed { INTERRUPTED } else { "" }));
    let exit = part.exit.is_some_and(|exit| !matches!(exit.get(), "0" | "null"));
    let mut parsed = ParsedBlock::result(key_of(part.call), |_| content);
    parsed.block.error = failed || exit;
    let attached = part.attachments.map(elements).unwrap_or_default();
    for attached in attached.into_iter().filter_map(|attached| serde_json::from_str::<PartFields<'_>>(attached.get()).ok()) {
        let placeholder = file(&attached, &mut parsed.block.media);
        parsed.content = Cow::Owned(format!("{}\n{placeholder}", parsed.content));
    }
    if part.time.is_some_and(|time| member(time, "compacted").is_some()) {
        parsed.sent = Some(CLEARED.to_owned());
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(role: &str, parts: &str) -> Vec<(BlockKind, String, bool)> {
        let line = format!(r#"{{"id":"m","info":{{"role":"{role}"}},"parts":[{parts}]}}"#);
        let block = |parsed: ParsedBlock<'_>| (parsed.block.kind, parsed.content.into_owned(), parsed.block.error);
        parse(line.as_bytes()).blocks.into_iter().map(block).collect()
    }

    #[test]
    fn a_result_reports_how_the_call_ended() {
        for (part, content, error) in [
            (r#""status":"completed","output":"ok","exit":0"#, "ok", false),
            (r#""status":"completed","output":"no","exit":2"#, "no", true),
            (r#""status":"error","error":"File not found","exit":null"#, "File not found", true),
            (r#""status":"running","exit":null"#, INTERRUPTED, true),
        ] {
            let part = format!(r#"{{"type":"result","callID":"c",{part}}}"#);
            assert_eq!(blocks("tool", &part), [(BlockKind::ToolResult, content.to_owned(), error)]);
        }
    }

    #[test]
    fn texts_that_the_client_wrote_are_no_prompts() {
        let row =
            |parts: &str| parse(format!(r#"{{"id":"m","info":{{"role":"user"}},"parts":[{parts}]}}"#).as_bytes()).row.prompt;
        assert!(row(r#"{"type":"text","text":"fix it"}"#));
        assert!(!row(r#"{"type":"text","text":"Called the tool","synthetic":true}"#));
        assert!(!row(r#"{"type":"text","text":"note","ignored":true}"#));
        assert!(row(r#"{"type":"subtask","prompt":"find it"}"#));
        assert_eq!(blocks("user", r#"{"type":"file","mime":"text/plain","url":"file:///a"}"#), []);
        assert_eq!(
            blocks("user", r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,AAAA"}"#)[0].0,
            BlockKind::Image
        );
        let line = r#"{"id":"m/results","info":{"role":"tool"},"parts":[{"type":"result","callID":"c","status":"completed","output":"long","time":{"compacted":5}}]}"#;
        assert_eq!(parse(line.as_bytes()).blocks[0].sent.as_deref(), Some(CLEARED));
    }

    #[test]
    fn a_prompt_of_the_command_line_is_what_is_in_the_quotes() {
        let line = r#"{"id":"m","info":{"role":"user"},"parts":[{"type":"text","text":"\"fix \"it\"\""}]}"#;
        let block = &parse(line.as_bytes()).blocks[0];
        assert_eq!((&*block.content, &*block.block.preview), ("\"fix \"it\"\"", "fix \"it\""));
        assert_eq!(block.block.words_in(&block.content).collect::<Vec<_>>(), ["fix \"it\""]);
    }
}
