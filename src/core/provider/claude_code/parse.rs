use super::usage::{Figures, is_estimate, window_bill};
use super::{attachment, content, words};
use crate::model::{
    BlockKind, Event, Fault, Flags, Key, PlanChange, QueueChange, Refusal, Role, Row, RowKind, ThinkingScope, ToolVerb,
};
use crate::provider::json::{self, elements, equals, fault, fields, is_true, member, number, text, text_of, time_of};
use crate::provider::{ParsedBlock, ParsedRow};
use crate::text::names::version_numbers;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The first version of the client in which a plan is a file: the client adds its text to the recorded call, and does not send it.
const PLANS_ARE_FILES: [u32; 3] = [2, 0, 51];

/// The first version of the client that records what it attaches to prompts.
const ATTACHMENTS_ARE_ROWS: [u32; 3] = [2, 1, 90];
const LINE_NUMBER_BYTES: u64 = 6;

/// The member of a display record that has the file before an edit.
const FILE_BEFORE: &str = "originalFile";

fields! {
    RowFields {
        kind = "type",
        subtype = "subtype",
        uuid = "uuid",
        parent = "parentUuid",
        logical_parent = "logicalParentUuid",
        sidechain = "isSidechain",
        meta = "isMeta",
        compact_summary = "isCompactSummary",
        api_error = "isApiErrorMessage",
        r#virtual = "isVirtual",
        display_only = "isDisplayOnly",
        shutdown = "interruptedByShutdown",
        companion = "turnCompanion",
        source_use = "sourceToolUseID",
        prompt_source = "promptSource",
        origin = "origin",
        content = "content",
        source = "sourceToolAssistantUUID",
        timestamp = "timestamp",
        session = "sessionId",
        directory = "cwd",
        version = "version",
        branch = "gitBranch",
        message = "message",
        attachment = "attachment",
        rendered = "rendered",
        rendered_role = "renderedRole",
        compaction = "compactMetadata",
        leaf = "leafUuid",
        explicit = "explicit",
        operation = "operation",
        summary = "summary",
        ai_title = "aiTitle",
        custom_title = "customTitle",
        forked = "forkedFrom",
        parent_session = "parentSessionId",
        result = "toolUseResult",
        denial = "toolDenialKind",
        feedback = "userFeedback",
        persons = "holdsPersonsWords",
    }
}

fields! {
    MessageFields {
        id = "id",
        role = "role",
        model = "model",
        content = "content",
        usage = "usage",
        stopped = "stop_reason",
    }
}

/// Parses one line as a row; any bytes give a row. As measured on 2.1.330, the client reads the first value of a line and ignores the
/// bytes after it. Before the value there may be only blanks: after zero bytes or a half-written row it reads nothing. Bytes that are not
/// UTF-8 become replacement characters.
pub(super) fn parse(bytes: &[u8]) -> ParsedRow<'_> {
    match std::str::from_utf8(unmarked(bytes)) {
        Ok(line) => parse_text(line),
        Err(_) => parse_text(&String::from_utf8_lossy(unmarked(bytes))).into_owned(),
    }
}

fn parse_text(line: &str) -> ParsedRow<'_> {
    if let Ok(fields) = serde_json::from_str::<RowFields<'_>>(line) {
        return whole(&fields);
    }
    let is_followed = !unread_rows(line.as_bytes()).is_empty();
    match json::first::<RowFields<'_>>(line.as_bytes()) {
        Some(fields) => {
            let mut first = whole(&fields);
            if is_followed {
                first.row.event.get_or_insert_with(|| Box::new(Event::Fault(Fault::Glued)));
            }
            first
        }
        None if is_followed => ParsedRow::broken(Fault::Buried),
        None => ParsedRow::broken(fault(line)),
    }
}

/// Returns a line without a byte order mark.
fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Returns the key of the identity of a row, as [`parse`] does, without its contents.
pub(super) fn row_id(bytes: &[u8]) -> Option<Key> {
    match std::str::from_utf8(bytes) {
        Ok(_) => key(fields(bytes)?.uuid),
        Err(_) => parse(bytes).row.id,
    }
}

/// Returns the values of the row that the client reads from a line, verbatim.
pub(super) fn fields(bytes: &[u8]) -> Option<RowFields<'_>> {
    json::first(unmarked(bytes))
}

/// Returns the offsets at which rows begin that the client does not read, because they are not the first value of the line: rows after
/// another row, after zero bytes of a crash, or after a row that was half written.
pub(super) fn unread_rows(line: &[u8]) -> Vec<usize> {
    let first = json::first_length(unmarked(line)).map_or(0, |length| length + line.len() - unmarked(line).len());
    json::rows_from(line, first, |row| {
        json::first::<RowFields<'_>>(row).is_some_and(|fields| {
            let kind = text_of(fields.kind).unwrap_or_default();
            row_kind(&kind) != RowKind::Foreign && (fields.session.is_some() || fields.leaf.is_some())
        })
    })
}

/// Returns true if one of the first 20 nonblank lines is a Claude Code row.
pub(super) fn recognizes(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(20).any(|line| {
        fields(line).is_some_and(|fields| {
            let kind = text_of(fields.kind).unwrap_or_default();
            matches!(row_kind(&kind), RowKind::User | RowKind::Assistant | RowKind::Link | RowKind::Attachment)
                && fields.uuid.is_some()
                && fields.session.is_some()
                || matches!(&*kind, "file-history-snapshot" | "queue-operation" | "last-prompt" | "permission-mode")
                || &*kind == "summary" && fields.leaf.is_some()
        })
    })
}

/// Returns the role of a row of this type in the client.
fn row_kind(kind: &str) -> RowKind {
    match kind {
        "user" => RowKind::User,
        "assistant" => RowKind::Assistant,
        "attachment" => RowKind::Attachment,
        "system" | "progress" => RowKind::Link,
        "last-prompt" | "summary" | "ai-title" | "custom-title" | "ended-by-model" | "agent-name" | "agent-color"
        | "agent-setting" | "mode" | "permission-mode" | "memory-mode" | "repl-mode" | "pr-link" | "bridge-session"
        | "worktree-state" | "relocated" | "frame-link" | "atis-latch" | "teleported-from" | "queue-operation" | "tools-used"
        | "cost-state" | "tag" | "fork-context-ref" | "observer-ref" => RowKind::State,
        "file-history-snapshot"
        | "file-history-delta"
        | "api-request"
        | "api-request-blob"
        | "api-request-shape"
        | "api-request-resumed"
        | "content-replacement"
        | "resume-head-vouch" => RowKind::Record,
        _ => RowKind::Foreign,
    }
}

pub(in crate::provider) fn whole<'a>(fields: &RowFields<'a>) -> ParsedRow<'a> {
    let kind = text_of(fields.kind).unwrap_or_default();
    let mut row = Row::new(row_kind(&kind));
    row.id = key(fields.uuid);
    row.parent = parent(fields.parent);
    row.answers = key(fields.source);
    row.sidechain = is_true(fields.sidechain);
    row.timestamp = time_of(fields.timestamp);
    row.event = event(&kind, fields).map(Box::new);
    let mut blocks = Vec::new();
    match row.kind {
        RowKind::User | RowKind::Assistant => message(fields, &mut row, &mut blocks),
        RowKind::Attachment => attached(fields, &mut row, &mut blocks),
        RowKind::Link if kind == "progress" => row.flags = Flags::PROGRESS,
        RowKind::Link => system(fields, &mut row, &mut blocks),
        _ => {}
    }
    let notice = |parsed: &ParsedBlock<'_>| parsed.text().starts_with(words::TASK_NOTICE);
    row.flags.set(Flags::TASK_NOTICE, blocks.iter().any(notice));
    let origin = [fields.session, fields.directory, fields.version, fields.branch].map(text_of);
    let identity = fields.uuid.map(|uuid| uuid.get().into());
    ParsedRow { origin, identity, ..ParsedRow::new(row, blocks) }
}

fn key(value: Option<&RawValue>) -> Option<Key> {
    text_of(value).filter(|text| !text.is_empty()).map(|text| Key::from_text(&text))
}

/// Returns the identity of the parent row. That of a value which is none, such as an empty text, is empty: only `null` begins one.
fn parent(value: Option<&RawValue>) -> Option<Key> {
    let is_broken = || value.is_some_and(|value| value.get() != "null");
    key(value).or_else(|| is_broken().then(|| Key::from_text("")))
}

fn system<'a>(fields: &RowFields<'a>, row: &mut Row, blocks: &mut Vec<ParsedBlock<'a>>) {
    match text_of(fields.subtype).unwrap_or_default().as_ref() {
        "compact_boundary" => row.kind = RowKind::Boundary,
        "file_snapshot" => row.flags = Flags::SNAPSHOT,
        "local_command" => {
            row.flags = Flags::COMMAND;
            if !is_true(fields.display_only) {
                row.kind = RowKind::Attachment;
                blocks.push(attachment::block("local_command", Role::User, text_of(fields.content).unwrap_or_default()));
            }
        }
        _ => {}
    }
}

fn event(kind: &str, fields: &RowFields<'_>) -> Option<Event> {
    match kind {
        "last-prompt" => fields.leaf.map(|leaf| Event::Leaf { leaf: key(Some(leaf)), explicit: is_true(fields.explicit) }),
        "system" if text_of(fields.subtype)? == "compact_boundary" => {
            let part = |name| fields.compaction.and_then(|metadata| member(metadata, name));
            let (messages, segment) = (part("preservedMessages"), part("preservedSegment"));
            let end = |name| key(member(segment?, name));
            Some(Event::Compaction {
                follows: key(fields.logical_parent),
                preserved: messages
                    .and_then(|messages| member(messages, "uuids"))
                    .map(elements)
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(text)
                    .map(|id| Key::from_text(&id))
                    .collect(),
                anchor: messages.or(segment).and_then(|value| key(member(value, "anchorUuid"))),
                segment: end("headUuid").zip(end("tailUuid")),
                automatic_at: part("trigger")
                    .and_then(text)
                    .filter(|trigger| trigger == "auto")
                    .and_then(|_| number(part("preTokens"))),
            })
        }
        "user" if is_true(fields.compact_summary) => Some(Event::CompactSummary),
        "user" | "assistant" => {
            let from = member(fields.forked?, "sessionId")?;
            Some(Event::ForkedFrom { session: text(from)?.into_owned(), inherits: None })
        }
        "queue-operation" => Some(Event::Queue(match &*text_of(fields.operation)? {
            "enqueue" => QueueChange::Added(match text_of(fields.content)? {
                notice if notice.starts_with('<') => Box::default(),
                prompt => prompt.into(),
            }),
            "remove" => QueueChange::Sent,
            "dequeue" => QueueChange::Prompted,
            _ => QueueChange::Emptied,
        })),
        "fork-context-ref" => Some(Event::ForkedFrom { session: text_of(fields.parent_session)?.into_owned(), inherits: None }),
        "attachment" => match &*text_of(member(fields.attachment?, "type"))? {
            "thinking_stripped" => stripped(fields.attachment?),
            "prompt_snapshot" => Some(Event::PromptSnapshot),
            _ => None,
        },
        "custom-title" => Some(Event::Title { text: text_of(fields.custom_title)?.into_owned(), chosen: true }),
        "ai-title" => Some(Event::Title { text: text_of(fields.ai_title)?.into_owned(), chosen: false }),
        _ => None,
    }
}

fn stripped(attachment: &RawValue) -> Option<Event> {
    let scope = match member(attachment, "from") {
        Some(from) if text_of(member(attachment, "scope"))? == "partial" => ThinkingScope::From {
            message: key(member(from, "messageId"))?,
            kept: number(member(from, "thinkingIndex")).unwrap_or_default() as u32,
        },
        _ => ThinkingScope::All,
    };
    Some(Event::ThinkingStripped(scope))
}

/// Returns true if a row was written by version `first` of the client or a later one.
pub(super) fn is_from(fields: &RowFields<'_>, first: [u32; 3]) -> bool {
    version_numbers(&text_of(fields.version).unwrap_or_default()) >= first
}

fn message<'a>(fields: &RowFields<'a>, row: &mut Row, blocks: &mut Vec<ParsedBlock<'a>>) {
    let message = fields.message.and_then(|value| serde_json::from_str::<MessageFields<'a>>(value.get()).ok());
    let assistant = row.kind == RowKind::Assistant;
    let Some((message, content)) = message.and_then(|message| Some((message, message.content?))) else {
        return unusable(row, blocks);
    };
    let string = text(content);
    match &string {
        Some(string) if assistant && string.trim().is_empty() => return unusable(row, blocks),
        Some(string) => {
            let mut spoken = content::spoken(string.clone(), assistant);
            spoken.block.refusal = string.trim().is_empty().then_some(Refusal::EmptyText);
            blocks.push(spoken);
        }
        None if !content.get().starts_with('[') => return unusable(row, blocks),
        None => blocks.extend(elements(content).into_iter().map(|element| content::block(element, assistant))),
    }
    if !is_from(fields, PLANS_ARE_FILES) {
        blocks.iter_mut().for_each(|parsed| parsed.sent = None);
    }
    if !blocks.is_empty() && blocks.iter().all(|parsed| parsed.block.kind == BlockKind::Other && parsed.block.label.is_empty()) {
        return unusable(row, blocks);
    }
    if assistant && content.get().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]") {
        // The thinking was removed: a block that the client drops preserves the block numbers.
        blocks.push(ParsedBlock::of(BlockKind::Other, Role::Thinking, "".into()));
    }
    row.message = key(message.id);
    row.finished = text_of(message.stopped).is_some();
    row.model = text_of(message.model).map(|model| model.into());
    usage(message.usage, row);
    row.flags.set(Flags::META, is_true(fields.meta));
    row.flags.set(Flags::VIRTUAL, is_true(fields.r#virtual));
    if assistant {
        if blocks.iter().any(|parsed| parsed.block.has_verb(ToolVerb::Plan)) {
            row.event = row.event.take().or_else(|| elements(content).into_iter().find_map(plan_change).map(Box::new));
        }
        if row.model.as_deref() == Some("<synthetic>") {
            // A text that the client wrote in place of an answer; it is sent, unless it reports an error.
            row.flags = row.flags | Flags::SYNTHETIC;
            row.usage = None;
            row.model = None;
            if is_true(fields.api_error) {
                row.flags = row.flags | Flags::API_ERROR;
                row.kind = RowKind::Link;
            }
        }
        return;
    }
    row.flags.set(Flags::COMPANION, is_true(fields.companion) || text_of(fields.source_use).is_some());
    row.flags.set(Flags::SHUTDOWN, is_true(fields.shutdown));
    notes(fields, row, blocks, string.is_some(), content);
    words::mark(fields, row, blocks);
    words::mark_user_text(fields, row, blocks);
    if row.event.is_none() && !is_from(fields, ATTACHMENTS_ARE_ROWS) {
        row.event = fields.result.and_then(file_bytes).map(|bytes| Box::new(Event::File { bytes }));
    }
    let compacted = matches!(row.event.as_deref(), Some(Event::CompactSummary));
    row.prompt = !compacted
        && !is_true(fields.meta)
        && !blocks.iter().any(|parsed| parsed.block.kind == BlockKind::ToolResult)
        && blocks.first().is_some_and(|first| asks(&first.content) && !words::is_foreign(fields, &first.content));
}

fn plan_change(element: &RawValue) -> Option<Event> {
    let input = member(element, "input")?;
    let is_done =
        |entry: &RawValue| text_of(member(entry, "status")).is_some_and(|status| matches!(&*status, "completed" | "deleted"));
    let characters = |text: Option<Cow<'_, str>>| text.map_or(0, |text| text.chars().count() as u32);
    let change = match &*text_of(member(element, "name"))? {
        "TodoWrite" => {
            let entries = elements(member(input, "todos")?);
            PlanChange {
                replaces: true,
                entries: entries.len() as u32,
                characters: entries.iter().map(|entry| characters(text_of(member(entry, "content")))).sum(),
                done: entries.iter().filter(|entry| is_done(entry)).count() as u32,
            }
        }
        "TaskCreate" => {
            PlanChange { entries: 1, characters: characters(text_of(member(input, "subject"))), ..PlanChange::default() }
        }
        "TaskUpdate" => PlanChange { done: u32::from(is_done(input)), ..PlanChange::default() },
        _ => return None,
    };
    Some(Event::Plan(change))
}

/// Returns the bytes of the file that a tool read or wrote, with line numbers, from its display record. Files that the client sends
/// in another form have none: its plans, and memory files.
fn file_bytes(result: &RawValue) -> Option<u64> {
    let path = text_of(member(member(result, "file").unwrap_or(result), "filePath"));
    if path.is_some_and(|path| path.contains("/.claude/plans/") || path.ends_with("/CLAUDE.md")) {
        return None;
    }
    let whole = |text: &str| (text.len() + text.lines().count() * LINE_NUMBER_BYTES as usize) as u64;
    let length = |name| text_of(member(result, name)).map(|text| text.len() as u64).unwrap_or_default();
    if let Some(original) = text_of(member(result, FILE_BEFORE)) {
        return Some((whole(&original) + length("newString")).saturating_sub(length("oldString")));
    }
    let Some(read) = member(result, "file") else {
        let written = matches!(&*text_of(member(result, "type"))?, "create" | "update");
        return written.then(|| text_of(member(result, "content"))).flatten().map(|text| whole(&text));
    };
    let (lines, total) = (number(member(read, "numLines"))?, number(member(read, "totalLines"))?);
    let shown = whole(&text_of(member(read, "content"))?);
    Some(if lines > 0 && total > lines { (shown as f64 * total as f64 / lines as f64) as u64 } else { shown })
}

/// Returns the content of a file before the edit whose result a row has, from its display record.
pub fn file_before_edit(row: &[u8]) -> Option<String> {
    memchr::memmem::find(row, FILE_BEFORE.as_bytes())?;
    let row: &RawValue = serde_json::from_slice(row).ok()?;
    Some(text_of(member(member(row, "toolUseResult")?, FILE_BEFORE))?.into_owned())
}

/// Marks a message that the client drops on read.
fn unusable(row: &mut Row, blocks: &mut Vec<ParsedBlock<'_>>) {
    row.kind = RowKind::Link;
    row.flags = Flags::UNUSABLE;
    blocks.clear();
}

fn usage(value: Option<&RawValue>, row: &mut Row) {
    let Some(usage) = value.and_then(|value| json::skim::<Figures<'_>>(value.get().as_bytes())) else { return };
    // Of several iterations, the last one has the size of the window.
    row.usage = Some(window_bill(&usage));
    row.flags.set(Flags::ESTIMATED_BILL, is_estimate(&usage));
    row.flags.set(Flags::FAST, equals(usage.speed, "fast"));
    if let Some(tokens) = usage.details.and_then(|details| number(details.thinking)) {
        row.event.get_or_insert_with(|| Box::new(Event::ThinkingTokens(tokens)));
    }
}

/// Sets the flags of a user row that follow from its content.
fn notes(fields: &RowFields<'_>, row: &mut Row, blocks: &[ParsedBlock<'_>], string: bool, content: &RawValue) {
    if !string && content::may_refer(content) && blocks.iter().any(|parsed| parsed.block.kind == BlockKind::ToolResult) {
        for element in elements(content) {
            let (loads, apart) = content::references(member(element, "content"));
            row.flags.set(Flags::LOADS_TOOLS, loads);
            row.flags.set(Flags::REFERENCES, apart);
        }
    }
    if let Some(origin) = fields.origin {
        let is = |name, word: &str| equals(member(origin, name), word);
        row.flags.set(Flags::NOTIFICATION, is("kind", "task-notification") && !is("subkind", "scheduled-trigger"));
    }
    let alone = string || blocks.len() == 1;
    let Some(last) = blocks.iter().rfind(|parsed| parsed.block.kind == BlockKind::Text) else { return };
    const INTERRUPTIONS: [&str; 2] = ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];
    row.flags.set(Flags::INTERRUPTION, alone && INTERRUPTIONS.contains(&&*last.content));
    if fields.prompt_source.is_some_and(|source| source.get() != "null") {
        return;
    }
    let meta = is_true(fields.meta);
    let begins = |tag: &str| last.content.starts_with(tag);
    if begins("<local-command-caveat>") && meta {
        row.flags = row.flags | Flags::CAVEAT;
    } else if begins("<command-name>") {
        row.flags = row.flags | Flags::COMMAND_NAME;
    } else if begins("<local-command-stdout>") || begins("<local-command-stderr>") {
        row.flags = row.flags | Flags::COMMAND_OUTPUT;
    } else if !meta && last.content.trim().starts_with('/') && blocks.last().is_some_and(|end| end.block.kind == BlockKind::Text)
    {
        row.flags = row.flags | Flags::TYPED_COMMAND;
    }
}

/// Returns true if the text of a user row is a request, and not the echo of an action of the client.
pub(in crate::provider) fn asks(text: &str) -> bool {
    const ECHOES: &[&str] = &[
        "<local-command-", "<bash-stdout>", "<bash-stderr>", "[Request interrupted by user", "<command-name>",
        "<system-reminder>",
    ];
    let text = text.trim_start();
    !ECHOES.iter().any(|echo| text.starts_with(echo))
}

fn attached<'a>(fields: &RowFields<'a>, row: &mut Row, blocks: &mut Vec<ParsedBlock<'a>>) {
    row.flags = Flags::ATTACHMENT;
    if let Some(payload) = fields.attachment {
        row.answers = key(member(payload, "toolUseID"));
        let kind = text_of(member(payload, "type")).unwrap_or_default();
        row.flags.set(Flags::OWN, kind.starts_with("aperture_") || kind == "thinking_stripped");
        attachment::read(payload, fields.rendered, fields.rendered_role, row, blocks);
    }
    if blocks.is_empty() {
        row.kind = RowKind::Link;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_plan_is_read_from_its_call() {
        let change = |name: &str, input: serde_json::Value| {
            let block = serde_json::json!({"type": "tool_use", "id": "t", "name": name, "input": input});
            let message = serde_json::json!({"id": "m", "role": "assistant", "content": [block]});
            let row = serde_json::json!({"type": "assistant", "uuid": "u", "sessionId": "s", "message": message}).to_string();
            match parse(row.as_bytes()).row.event.as_deref() {
                Some(Event::Plan(PlanChange { replaces, entries, characters, done })) => {
                    Some((*replaces, *entries, *characters, *done))
                }
                _ => None,
            }
        };
        let todos = serde_json::json!({"todos": [
            {"content": "Read é", "activeForm": "Reading", "status": "completed"},
            {"content": "Write", "activeForm": "Writing", "status": "pending"},
        ]});
        assert_eq!(change("TodoWrite", todos), Some((true, 2, 11, 1)));
        assert_eq!(change("TaskCreate", serde_json::json!({"subject": "Read", "description": "All"})), Some((false, 1, 4, 0)));
        assert_eq!(change("TaskUpdate", serde_json::json!({"taskId": "1", "status": "completed"})), Some((false, 0, 0, 1)));
        assert_eq!(change("TaskUpdate", serde_json::json!({"taskId": "1", "status": "in_progress"})), Some((false, 0, 0, 0)));
        assert_eq!(change("TaskList", serde_json::json!({})), None);
    }

    #[test]
    fn a_prompt_that_waits_is_read_from_its_queue() {
        let change = |operation: &str, content: Option<&str>| {
            let row =
                serde_json::json!({"type": "queue-operation", "operation": operation, "sessionId": "s", "content": content});
            match parse(row.to_string().as_bytes()).row.event.as_deref() {
                Some(Event::Queue(change)) => Some(change.clone()),
                _ => None,
            }
        };
        assert_eq!(change("enqueue", Some("né")), Some(QueueChange::Added("né".into())));
        assert_eq!(change("enqueue", Some("<task-notification>")), Some(QueueChange::Added("".into())));
        assert_eq!(change("remove", None), Some(QueueChange::Sent));
        assert_eq!(change("dequeue", None), Some(QueueChange::Prompted));
        assert_eq!(change("popAll", Some("né")), Some(QueueChange::Emptied));
        assert_eq!(change("enqueue", None), None);
    }

    #[test]
    fn a_file_that_the_client_sends_in_another_form_has_no_size() {
        let bytes = |path: &str| {
            let result = serde_json::json!({"type": "create", "filePath": path, "content": "abc"}).to_string();
            file_bytes(&RawValue::from_string(result).unwrap())
        };
        assert_eq!(bytes("/w/a.rs"), Some(3 + LINE_NUMBER_BYTES));
        assert_eq!([bytes("/w/CLAUDE.md"), bytes("/home/u/.claude/plans/p.md")], [None, None]);
    }
}
