use super::{attachment, tool};
use crate::model::{Block, BlockKind, Event, Fault, Image, Key, Role, Row, RowKind, ThinkingScope, Usage};
use crate::provider::json::{self, elements, fields, is_true, member, number, text, text_of};
use crate::provider::{ParsedBlock, ParsedRow};
use serde_json::value::RawValue;
use std::borrow::Cow;

fields! {
    /// The keys of a row that matter.
    RowFields {
        kind = "type",
        subtype = "subtype",
        uuid = "uuid",
        parent = "parentUuid",
        sidechain = "isSidechain",
        meta = "isMeta",
        compact_summary = "isCompactSummary",
        api_error = "isApiErrorMessage",
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
        summary = "summary",
        ai_title = "aiTitle",
        custom_title = "customTitle",
        forked = "forkedFrom",
    }
}

fields! {
    /// The keys of a message that matter.
    MessageFields {
        id = "id",
        role = "role",
        model = "model",
        content = "content",
        usage = "usage",
        stopped = "stop_reason",
    }
}

fields! {
    /// The keys of a content block that matter.
    ContentFields {
        kind = "type",
        text = "text",
        thinking = "thinking",
        data = "data",
        signature = "signature",
        id = "id",
        name = "name",
        input = "input",
        call = "tool_use_id",
        content = "content",
        error = "is_error",
        source = "source",
        tool_name = "tool_name",
    }
}

fields! {
    /// The token figures of a response.
    UsageFields {
        input = "input_tokens",
        read = "cache_read_input_tokens",
        creation = "cache_creation_input_tokens",
        output = "output_tokens",
        details = "output_tokens_details",
    }
}

/// One line as a row; any bytes give one.
pub(super) fn parse(bytes: &[u8]) -> ParsedRow<'_> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(line) = std::str::from_utf8(bytes) else { return broken(Fault::NotJson) };
    match serde_json::from_str::<RowFields<'_>>(line) {
        Ok(fields) => whole(&fields),
        Err(_) => broken(fault(line)),
    }
}

/// Whether the first complete line is a Claude Code row.
pub(super) fn recognizes(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(20).any(|line| {
        serde_json::from_slice::<RowFields<'_>>(line).is_ok_and(|fields| {
            let kind = text_of(fields.kind).unwrap_or_default();
            matches!(row_kind(&kind), RowKind::User | RowKind::Assistant | RowKind::Link | RowKind::Attachment)
                && fields.uuid.is_some()
                && fields.session.is_some()
                || matches!(&*kind, "file-history-snapshot" | "queue-operation" | "last-prompt" | "permission-mode")
                || &*kind == "summary" && fields.leaf.is_some()
        })
    })
}

fn broken<'a>(fault: Fault) -> ParsedRow<'a> {
    let mut row = Row::new(RowKind::Broken);
    row.event = Some(Box::new(Event::Fault(fault)));
    ParsedRow { row, blocks: Vec::new(), origin: Default::default() }
}

fn fault(line: &str) -> Fault {
    let mut values = serde_json::Deserializer::from_str(line).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(first)) if !first.get().starts_with('{') => Fault::NotAnObject,
        Some(Ok(_)) if matches!(values.next(), Some(Ok(_))) => Fault::Glued,
        _ => Fault::NotJson,
    }
}

/// What the client does with a row of this type.
fn row_kind(kind: &str) -> RowKind {
    match kind {
        "user" => RowKind::User,
        "assistant" => RowKind::Assistant,
        "attachment" => RowKind::Attachment,
        "system" | "progress" => RowKind::Link,
        "last-prompt" | "summary" | "ai-title" | "custom-title" | "agent-name" | "agent-color" | "agent-setting" | "mode"
        | "permission-mode" | "pr-link" | "bridge-session" | "worktree-state" | "relocated" | "frame-link" | "atis-latch"
        | "teleported-from" | "queue-operation" | "tools-used" | "cost-state" | "tag" => RowKind::State,
        "file-history-snapshot"
        | "file-history-delta"
        | "api-request"
        | "api-request-blob"
        | "api-request-shape"
        | "content-replacement" => RowKind::Record,
        _ => RowKind::Foreign,
    }
}

fn whole<'a>(fields: &RowFields<'a>) -> ParsedRow<'a> {
    let kind = text_of(fields.kind).unwrap_or_default();
    let mut row = Row::new(row_kind(&kind));
    row.id = key(fields.uuid);
    row.parent = key(fields.parent);
    row.answers = key(fields.source);
    row.sidechain = is_true(fields.sidechain);
    row.timestamp =
        text_of(fields.timestamp).and_then(|time| time.parse::<jiff::Timestamp>().ok()).map(|time| time.as_millisecond());
    row.event = event(&kind, fields).map(Box::new);
    let mut blocks = Vec::new();
    match row.kind {
        RowKind::User | RowKind::Assistant => message(fields, &mut row, &mut blocks),
        RowKind::Attachment => attached(fields, &mut row, &mut blocks),
        RowKind::Link if matches!(text_of(fields.subtype).as_deref(), Some("compact_boundary")) => row.kind = RowKind::Boundary,
        _ => {}
    }
    for (index, parsed) in blocks.iter_mut().enumerate() {
        parsed.block.index = index as u32;
    }
    row.blocks = blocks.len() as u32;
    ParsedRow { row, blocks, origin: [fields.session, fields.directory, fields.version, fields.branch].map(text_of) }
}

fn key(value: Option<&RawValue>) -> Option<Key> {
    text_of(value).map(|text| Key::of(&text))
}

fn event(kind: &str, fields: &RowFields<'_>) -> Option<Event> {
    match kind {
        "last-prompt" => Some(Event::Leaf { leaf: key(fields.leaf), explicit: is_true(fields.explicit) }),
        "system" if text_of(fields.subtype)? == "compact_boundary" => {
            let metadata = fields.compaction;
            let preserved =
                metadata.and_then(|value| member(value, "preservedMessages")).and_then(|value| member(value, "uuids"));
            Some(Event::Compaction {
                preserved: preserved
                    .map(elements)
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(text)
                    .map(|id| Key::of(&id))
                    .collect(),
                tokens_after: metadata.and_then(|value| number(member(value, "postTokens"))),
            })
        }
        "user" if is_true(fields.compact_summary) => Some(Event::CompactSummary),
        "user" | "assistant" => {
            let from = member(fields.forked?, "sessionId")?;
            Some(Event::ForkedFrom { session: text(from)?.into_owned() })
        }
        "attachment" => stripped(fields.attachment?),
        "custom-title" => Some(Event::Title { text: text_of(fields.custom_title)?.into_owned(), chosen: true }),
        "ai-title" => Some(Event::Title { text: text_of(fields.ai_title)?.into_owned(), chosen: false }),
        _ => None,
    }
}

fn stripped(attachment: &RawValue) -> Option<Event> {
    if text_of(member(attachment, "type"))? != "thinking_stripped" {
        return None;
    }
    let scope = match member(attachment, "from") {
        Some(from) if text_of(member(attachment, "scope"))? == "partial" => ThinkingScope::From {
            message: key(member(from, "messageId"))?,
            kept: number(member(from, "thinkingIndex")).unwrap_or_default() as u32,
        },
        _ => ThinkingScope::All,
    };
    Some(Event::ThinkingStripped(scope))
}

fn message<'a>(fields: &RowFields<'a>, row: &mut Row, blocks: &mut Vec<ParsedBlock<'a>>) {
    let Some(message) = fields.message.and_then(|value| serde_json::from_str::<MessageFields<'a>>(value.get()).ok()) else {
        row.kind = RowKind::Link;
        return;
    };
    row.message = key(message.id);
    row.finished = text_of(message.stopped).is_some();
    row.model = text_of(message.model).map(|model| model.into());
    if let Some(usage) = message.usage.and_then(|value| serde_json::from_str::<UsageFields<'a>>(value.get()).ok()) {
        row.usage = Some(Usage {
            input: number(usage.input).unwrap_or_default(),
            cache_read: number(usage.read).unwrap_or_default(),
            cache_creation: number(usage.creation).unwrap_or_default(),
            output: number(usage.output).unwrap_or_default(),
        });
        if let Some(tokens) = usage.details.and_then(|details| number(member(details, "thinking_tokens"))) {
            row.event.get_or_insert_with(|| Box::new(Event::ThinkingTokens(tokens)));
        }
    }
    let assistant = row.kind == RowKind::Assistant;
    if let Some(content) = message.content {
        match text(content) {
            Some(string) => blocks.push(spoken(string, assistant)),
            None => blocks.extend(elements(content).into_iter().map(|element| content_block(element, assistant))),
        }
    }
    if assistant && (is_true(fields.api_error) || row.model.as_deref() == Some("<synthetic>")) {
        // What the client itself wrote in place of an answer is never sent.
        row.kind = RowKind::Link;
        row.usage = None;
        row.model = None;
        return;
    }
    let compacted = matches!(row.event.as_deref(), Some(Event::CompactSummary));
    row.prompt =
        !assistant && !compacted && !is_true(fields.meta) && blocks.first().is_some_and(|first| opens_turn(blocks, first));
}

/// Whether a user row asks for something: it has a text, answers no tool, and is no echo of a local command.
fn opens_turn(blocks: &[ParsedBlock<'_>], first: &ParsedBlock<'_>) -> bool {
    let answers = blocks.iter().any(|parsed| parsed.block.kind == BlockKind::ToolResult);
    !answers && asks(&first.content)
}

/// Whether the text of a user row is a request, and no echo of what the client did on its own.
pub(super) fn asks(text: &str) -> bool {
    const ECHOES: &[&str] = &[
        "<local-command-",
        "<bash-stdout>",
        "<bash-stderr>",
        "[Request interrupted by user",
        "<command-name>",
        "<system-reminder>",
    ];
    let text = text.trim_start();
    !ECHOES.iter().any(|echo| text.starts_with(echo))
}

fn spoken(content: Cow<'_, str>, assistant: bool) -> ParsedBlock<'_> {
    let role = if assistant { Role::Assistant } else { Role::User };
    ParsedBlock::new(Block::new(BlockKind::Text, role), content)
}

fn content_block(element: &RawValue, assistant: bool) -> ParsedBlock<'_> {
    let speaker = if assistant { Role::Assistant } else { Role::User };
    let Ok(fields) = serde_json::from_str::<ContentFields<'_>>(element.get()) else {
        return ParsedBlock::new(Block::new(BlockKind::Other, speaker), Cow::Borrowed(element.get()));
    };
    match text_of(fields.kind).unwrap_or_default().as_ref() {
        "text" => spoken(text_of(fields.text).unwrap_or_default(), assistant),
        "thinking" => {
            let mut block = Block::new(BlockKind::Thinking, Role::Thinking);
            block.signature_bytes = text_of(fields.signature).map_or(0, |signature| signature.len() as u32);
            ParsedBlock::new(block, text_of(fields.thinking).unwrap_or_default())
        }
        "redacted_thinking" => {
            let mut block = Block::new(BlockKind::Thinking, Role::Thinking);
            block.signature_bytes = text_of(fields.data).map_or(0, |data| data.len() as u32);
            ParsedBlock::new(block, Cow::Borrowed(""))
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let mut block = Block::new(BlockKind::ToolUse, Role::ToolUse);
            block.call = key(fields.id);
            let input = tool::read(&text_of(fields.name).unwrap_or_default(), fields.input);
            block.tool = Some(Box::new(input.tool));
            ParsedBlock {
                block,
                content: Cow::Borrowed(fields.input.map_or("{}", RawValue::get)),
                readable: Some(input.readable),
                refers: Some(input.refers),
            }
        }
        "image" => {
            let mut block = Block::new(BlockKind::Image, speaker);
            block.images.extend(image(fields.source));
            ParsedBlock::new(block, Cow::Borrowed("[image]"))
        }
        "document" => {
            let data = fields.source.and_then(|source| member(source, "data"));
            let plain = text_of(fields.source.and_then(|source| member(source, "type"))).is_some_and(|kind| kind == "text");
            let content = if plain { text_of(data).unwrap_or_default() } else { Cow::Borrowed("[document]") };
            ParsedBlock::new(Block::new(BlockKind::Document, speaker), content)
        }
        kind if fields.call.is_some() || kind == "tool_result" => {
            let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
            block.call = key(fields.call);
            block.error = is_true(fields.error);
            let content = fields.content.map(|content| result(content, &mut block.images)).unwrap_or_default();
            ParsedBlock::new(block, content)
        }
        _ => ParsedBlock::new(Block::new(BlockKind::Other, speaker), Cow::Borrowed(element.get())),
    }
}

/// The text of a tool result: a string, or its text parts on lines of their own; images go to `images`.
fn result<'a>(content: &'a RawValue, images: &mut Vec<Image>) -> Cow<'a, str> {
    if let Some(string) = text(content) {
        return string;
    }
    let mut parts: Vec<Cow<'a, str>> = Vec::new();
    for element in elements(content) {
        let fields: ContentFields<'a> = serde_json::from_str(element.get()).unwrap_or_default();
        match text_of(fields.kind).unwrap_or_default().as_ref() {
            "text" => parts.push(text_of(fields.text).unwrap_or_default()),
            "image" => {
                images.extend(image(fields.source));
                parts.push(Cow::Borrowed("[image]"));
            }
            "tool_reference" => parts.push(Cow::Owned(format!("[tool {}]", text_of(fields.tool_name).unwrap_or_default()))),
            _ => parts.push(Cow::Borrowed(element.get())),
        }
    }
    if parts.len() == 1 { parts.remove(0) } else { Cow::Owned(parts.join("\n")) }
}

fn image(source: Option<&RawValue>) -> Option<Image> {
    let data = json::text(member(source?, "data")?)?;
    Some(crate::provider::image::size(data.as_bytes()))
}

fn attached<'a>(fields: &RowFields<'a>, row: &mut Row, blocks: &mut Vec<ParsedBlock<'a>>) {
    let Some(payload) = fields.attachment else {
        row.kind = RowKind::Link;
        return;
    };
    let label = text_of(member(payload, "type")).unwrap_or_default();
    let role = if text_of(fields.rendered_role).is_some_and(|role| role == "user") { Role::User } else { Role::System };
    let texts: Vec<Cow<'a, str>> = match fields.rendered {
        Some(rendered) => elements(rendered)
            .into_iter()
            .filter_map(|entry| member(entry, "content"))
            .map(|content| result(content, &mut Vec::new()))
            .collect(),
        None => attachment::render(&label, payload).into_iter().map(Cow::Owned).collect(),
    };
    if texts.is_empty() {
        row.kind = RowKind::Link;
        return;
    }
    // A command that was typed while the model worked is a prompt like any other.
    row.prompt = label == "queued_command"
        && text_of(member(payload, "commandMode")).is_none_or(|mode| mode == "prompt")
        && member(payload, "origin").and_then(|origin| text_of(member(origin, "kind"))).is_none_or(|kind| kind == "human");
    for content in texts {
        let mut block = Block::new(BlockKind::Attachment, if row.prompt { Role::User } else { role });
        block.label = label.as_ref().into();
        blocks.push(ParsedBlock::new(block, content));
    }
}
