//! Parses rows, each line independently of the others.

use super::item::{self, Piece};
use super::{content, cut, write};
use crate::model::{BilledTokens, Block, BlockKind, Event, Fault, Flags, Key, Role, Row, RowKind};
use crate::provider::json::{self, elements, equals, fault, fields, key_of, member, number, range_in, text, text_of, time_of};
use crate::provider::{ParsedBlock, ParsedRow, SentUnder};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;
use twox_hash::XxHash3_128;

fields! {
    RowFields {
        timestamp = "timestamp",
        kind = "type",
        payload = "payload",
        ordinal = "ordinal",
        metadata = "metadata",
        own = "aperture",
    }
}

fields! {
    /// The relevant keys of a payload that is not an item of the conversation.
    PayloadFields {
        kind = "type",
        id = "id",
        directory = "cwd",
        version = "cli_version",
        git = "git",
        forked = "forked_from_id",
        model = "model",
        info = "info",
        capacity = "model_context_window",
        turns = "num_turns",
        thread_name = "thread_name",
        message = "message",
        history = "replacement_history",
        mode = "history_mode",
        base = "history_base",
        source = "source",
    }
}

/// Parses one line as a row; any bytes give a row. The client ignores a line of several values, so it is parsed as broken.
pub(super) fn parse(bytes: &[u8]) -> ParsedRow<'_> {
    let Ok(line) = std::str::from_utf8(bytes) else { return ParsedRow::broken(Fault::NotJson) };
    let Ok(fields) = serde_json::from_str::<RowFields<'_>>(line) else {
        return ParsedRow::broken(match fault(line) {
            Fault::NotJson if !unread_rows(bytes).is_empty() => Fault::Buried,
            fault => fault,
        });
    };
    let mut parsed = whole(&fields);
    parsed.row.id = Some(identity(line, &fields));
    parsed.row.timestamp = time_of(fields.timestamp);
    parsed.row.flags.set(Flags::OWN, fields.own.is_some());
    parsed
}

/// Returns the key of the identity of a row, as [`parse`] does, without its contents.
pub(super) fn row_id(bytes: &[u8]) -> Option<Key> {
    let line = std::str::from_utf8(bytes).ok()?;
    Some(identity(line, &serde_json::from_str(line).ok()?))
}

/// Returns the values of a row, verbatim; `None` for a broken line.
pub(super) fn fields(bytes: &[u8]) -> Option<RowFields<'_>> {
    serde_json::from_slice(bytes).ok()
}

/// Returns the session that started the subagent whose session a row begins.
pub(super) fn started_by(row: &[u8]) -> Option<String> {
    let payload = fields(row).filter(|fields| equals(fields.kind, "session_meta"))?.payload?;
    let agent = member(member(payload, "source")?, "subagent")?;
    let spawn = || member(member(agent, "thread_spawn")?, "parent_thread_id");
    Some(text_of(member(payload, "parent_thread_id").or_else(spawn))?.into_owned())
}

/// Returns the offsets in a line that the client ignores, at which a line feed makes rows of its parts.
pub(super) fn unread_rows(line: &[u8]) -> Vec<usize> {
    let first = json::first_length(line).filter(|length| is_row(&line[..*length]));
    let mut places = json::rows_from(line, first.unwrap_or_default(), is_row);
    if let Some(first) = first.filter(|first| !line[*first..].trim_ascii().is_empty() && places.first() != Some(first)) {
        places.insert(0, first);
    }
    places
}

fn is_row(bytes: &[u8]) -> bool {
    fields(bytes).is_some_and(|fields| {
        let kind = text_of(fields.kind).unwrap_or_default();
        let known =
            matches!(&*kind, "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted" | "world_state");
        known && fields.timestamp.is_some() && fields.payload.is_some_and(|payload| payload.get().starts_with('{'))
    })
}

/// Returns true if one of the first 20 nonblank lines is a row of a rollout.
pub(super) fn recognizes(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(20).any(is_row)
}

fn plain<'a>(row: Row) -> ParsedRow<'a> {
    ParsedRow::new(row, Vec::new())
}

/// Returns the identity of a row: a hash of the line without the values that edits replace, the ordinal, which changes if a row
/// is added again, and the trailing spaces.
pub(in crate::provider) fn identity(line: &str, fields: &RowFields<'_>) -> Key {
    let mut left_out: Vec<Range<usize>> = [write::replaceable(fields), fields.ordinal]
        .into_iter()
        .flatten()
        .map(|value| range_in(line.as_bytes(), value))
        .collect();
    left_out.push(write::padding(line.as_bytes()));
    left_out.sort_by_key(|range| range.start);
    let mut hasher = XxHash3_128::new();
    let mut at = 0;
    for range in left_out {
        hasher.write(line.as_bytes().get(at..range.start).unwrap_or_default());
        at = range.end;
    }
    hasher.write(&line.as_bytes()[at..]);
    Key(hasher.finish_128())
}

pub(super) fn pieces<'a>(fields: &RowFields<'a>) -> Vec<Piece<'a>> {
    let Some(payload) = fields.payload else { return Vec::new() };
    match text_of(fields.kind).as_deref() {
        Some("response_item") => item::pieces(payload),
        Some("compacted") => history(payload).map(elements).unwrap_or_default().into_iter().flat_map(item::pieces).collect(),
        _ => Vec::new(),
    }
}

/// Returns the items of a row that a restarted conversation keeps, verbatim: the row's own item, or of an earlier compaction
/// the instructions of the client. `None` if the row is not part of the conversation.
pub(super) fn lasting(bytes: &[u8]) -> Option<Vec<String>> {
    let fields = fields(bytes)?;
    // A client that numbers rows records the context that it sent, and does not send it again.
    let stands = |block: &Block| block.role == Role::System || fields.ordinal.is_some() && content::is_standing(block);
    let of_client = |item: &&RawValue| item::pieces(item).iter().any(|piece| stands(&content::block(piece).block));
    let payload = fields.payload?;
    let items: Vec<&RawValue> = match text_of(fields.kind).as_deref() {
        Some("response_item") => vec![payload],
        Some("compacted") => history(payload).map(elements).unwrap_or_default().into_iter().filter(of_client).collect(),
        _ => return None,
    };
    Some(items.iter().map(|item| item.get().to_owned()).collect())
}

/// Returns the conversation kept by a compaction, if its row contains it.
fn history(payload: &RawValue) -> Option<&RawValue> {
    member(payload, "replacement_history").filter(|history| history.get().starts_with('['))
}

fn whole<'a>(fields: &RowFields<'a>) -> ParsedRow<'a> {
    let kind = text_of(fields.kind).unwrap_or_default();
    let payload = fields.payload.and_then(|payload| serde_json::from_str::<PayloadFields<'a>>(payload.get()).ok());
    let Some(payload) = payload else { return plain(Row::new(RowKind::Foreign)) };
    match &*kind {
        "response_item" => item(fields),
        "compacted" => compacted(fields, &payload),
        "session_meta" => {
            let mut row = Row::new(RowKind::State);
            let base = |name| payload.base.and_then(|base| member(base, name));
            let inherits = number(base("end_byte_offset"));
            let parent = text_of(base("thread_id")).filter(|_| inherits.is_some());
            let from = parent.or_else(|| text_of(payload.forked)).filter(|id| !id.is_empty());
            row.event = from.map(|session| Box::new(Event::ForkedFrom { session: session.into_owned(), inherits }));
            row.flags.set(Flags::NUMBERED, equals(payload.mode, "paginated"));
            row.flags.set(Flags::SUBAGENT, payload.source.is_some_and(|source| member(source, "subagent").is_some()));
            let branch = payload.git.and_then(|git| member(git, "branch"));
            let origin = [payload.id, payload.directory, payload.version, branch].map(text_of);
            ParsedRow { origin, ..plain(row) }
        }
        "turn_context" => {
            let mut row = Row::new(RowKind::State);
            row.model = text_of(payload.model).filter(|model| !model.is_empty()).map(|model| model.into());
            ParsedRow { origin: [None, text_of(payload.directory), None, None], ..plain(row) }
        }
        "event_msg" => plain(event(&payload)),
        "world_state" => plain(Row::new(RowKind::Record)),
        _ => plain(Row::new(RowKind::Foreign)),
    }
}

pub(in crate::provider) fn item<'a>(fields: &RowFields<'a>) -> ParsedRow<'a> {
    let pieces = pieces(fields);
    let mut blocks: Vec<ParsedBlock<'a>> = pieces.iter().map(content::block).collect();
    let Some(first) = pieces.first() else { return plain(Row::new(RowKind::Record)) };
    for (piece, parsed) in pieces.iter().zip(&mut blocks).filter(|(piece, _)| piece.sort == item::Sort::Output) {
        let stated = fields.metadata.and_then(|metadata| number(member(metadata, "fallback_token_limit_override")));
        let sent = |limit| {
            let content = cut::output(piece.item.output?, limit)?;
            Some(SentUnder { limit, stated: stated.is_some(), content })
        };
        parsed.cuts = cut::limits(stated).into_iter().filter_map(sent).collect();
    }
    let answers = matches!(first.sort, item::Sort::Output | item::Sort::Tools);
    let developer = !answers && blocks.iter().all(|parsed| parsed.block.role == Role::System);
    let mut row = Row::new(match () {
        () if item::is_of_model(&first.item) => RowKind::Assistant,
        () if developer => RowKind::Attachment,
        () => RowKind::User,
    });
    row.flags.set(Flags::ATTACHMENT, developer);
    row.flags.set(Flags::INTERRUPTION, blocks.iter().any(|parsed| &*parsed.block.label == content::INTERRUPTED));
    if answers {
        row.answers = key_of(first.item.call).or(Some(Key(0)));
    }
    row.prompt = row.kind == RowKind::User && !answers && blocks.iter().any(|parsed| parsed.block.kind != BlockKind::Attachment);
    ParsedRow::new(row, blocks)
}

/// Parses a compaction: the conversation continues with the items kept in the row, else with its summary.
fn compacted<'a>(fields: &RowFields<'a>, payload: &PayloadFields<'a>) -> ParsedRow<'a> {
    let kept = payload.history.is_some_and(|history| history.get().starts_with('['));
    let mut blocks: Vec<ParsedBlock<'a>> = pieces(fields).iter().map(content::block).collect();
    let summary = text_of(payload.message).filter(|message| !message.is_empty());
    if let Some(summary) = summary.as_deref().filter(|_| kept) {
        // The client puts its own words before it.
        let is_summary = |parsed: &&mut ParsedBlock<'a>| parsed.block.role == Role::User && parsed.content.ends_with(summary);
        if let Some(parsed) = blocks.iter_mut().rev().find(is_summary) {
            parsed.block.words = Default::default();
        }
    } else if let Some(summary) = summary {
        blocks.push(ParsedBlock::attachment("compact_summary", Role::User, false, summary));
    }
    // A compaction keeps the prompts and the summary, which is a user message too.
    for parsed in blocks.iter_mut().filter(|parsed| matches!(parsed.block.role, Role::User | Role::System)) {
        parsed.block.ground = true;
    }
    ParsedRow::new(Row::new(RowKind::Boundary), blocks)
}

/// Parses a display event of the client: a bill, the size of the window, a rollback, a title.
fn event(payload: &PayloadFields<'_>) -> Row {
    let mut row = Row::new(RowKind::Record);
    match text_of(payload.kind).as_deref() {
        Some("token_count") => {
            row.usage = payload.info.and_then(|info| member(info, "last_token_usage")).map(usage);
            let capacity = payload.info.and_then(|info| number(member(info, "model_context_window")));
            row.event = capacity.map(|tokens| Box::new(Event::Capacity(tokens)));
        }
        Some("task_started") => {
            row.flags = Flags::TURN_START;
            row.event = number(payload.capacity).map(|tokens| Box::new(Event::Capacity(tokens)));
        }
        Some("thread_rolled_back") => {
            row.event = number(payload.turns).map(|turns| Box::new(Event::RolledBack(turns as u32)));
        }
        Some("thread_name_updated") => {
            let title = payload.thread_name.and_then(text).map(Cow::into_owned);
            row.event = title.map(|text| Box::new(Event::Title { text, chosen: true }));
        }
        _ => {}
    }
    row
}

/// Parses the usage that the API billed for a call; its input figure includes cache reads, unlike that of [`BilledTokens`].
fn usage(value: &RawValue) -> BilledTokens {
    let figure = |name| number(member(value, name)).unwrap_or_default();
    let (input, cached) = (figure("input_tokens"), figure("cached_input_tokens"));
    let cache_read = cached.min(input);
    BilledTokens { input: input - cache_read, cache_read, output: figure("output_tokens"), ..BilledTokens::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(payload: &str) -> Row {
        parse(format!(r#"{{"timestamp":"2026-01-01T00:00:00.000Z",{payload}}}"#).as_bytes()).row
    }

    #[test]
    fn rows_are_distinguished() {
        let kind = |payload: &str| row(payload).kind;
        let message = |role: &str, text: &str| {
            kind(&format!(
                r#""type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#
            ))
        };
        assert_eq!(message("user", "hi"), RowKind::User);
        assert_eq!(message("user", "<environment_context>"), RowKind::User);
        assert_eq!(message("developer", "hi"), RowKind::Attachment);
        assert_eq!(message("assistant", "hi"), RowKind::Assistant);
        assert_eq!(kind(r#""type":"event_msg","payload":{"type":"agent_message","message":"hi"}"#), RowKind::Record);
        assert_eq!(kind(r#""type":"turn_context","payload":{}"#), RowKind::State);
        assert_eq!(kind(r#""type":"response_item","payload":{"type":"ghost_snapshot"}"#), RowKind::Record);
        assert_eq!(kind(r#""type":"compacted","payload":{"message":"m"}"#), RowKind::Boundary);
        assert_eq!(kind(r#""type":"new","payload":{}"#), RowKind::Foreign);
        assert_eq!(kind(r#""type":"event_msg","payload":3"#), RowKind::Foreign);
        assert_eq!(parse(b"{\"type\":").row.kind, RowKind::Broken);
        assert_eq!(parse(b"\xff").row.kind, RowKind::Broken);
        let output = |call: &str, text: &str| {
            row(&format!(
                r#""type":"response_item","payload":{{"type":"function_call_output","call_id":"{call}","output":"{text}"}}"#
            ))
        };
        assert_eq!(output("a", "one").id, output("a", "two").id);
        assert_ne!(output("a", "one").id, output("b", "one").id);
        let row = row(
            r#""type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":90,"cached_input_tokens":60,"output_tokens":7},"model_context_window":258400}}"#,
        );
        assert_eq!(row.usage, Some(BilledTokens { input: 30, cache_read: 60, output: 7, ..BilledTokens::default() }));
        assert_eq!(row.event.as_deref(), Some(&Event::Capacity(258_400)));
    }

    #[test]
    fn the_summary_of_a_compaction_was_not_typed() {
        let item =
            |text: &str| format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#);
        let history = format!("[{},{}]", item("fix it"), item("Another model says: half is done"));
        let check = |message: &str, expected: [bool; 2]| {
            let row = format!(
                r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"compacted","payload":{{"message":"{message}","replacement_history":{history}}}}}"#
            );
            let typed: Vec<bool> = parse(row.as_bytes()).blocks.iter().map(|parsed| !parsed.block.words.is_empty()).collect();
            assert_eq!(typed, expected, "{message}");
        };
        check("half is done", [true, false]);
        check("", [true, true]);
    }
}
