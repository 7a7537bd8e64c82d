//! Reads the rows of a session file into the events of its trace, from its start or from where an earlier reading ended.

use super::{Found, LoggedContents};
use crate::engine::Known;
use crate::engine::summary::said;
use crate::fsio::{Disk, Identity, read_range};
use crate::model::{
    BlockKind, Event, Flags, Key, PromptSource, Role, RowKind, TraceCall, TraceContent, TraceEvent, TraceResult, TurnOpenings,
    WaitingPrompts,
};
use crate::planning::{KeptTurns, left_offsets};
use crate::provider::{OtherCalls, ParsedBlock, ParsedRow, ProviderAdapter, conventions, scripted_commands};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use twox_hash::XxHash3_64;

const READ_BYTES: usize = 1 << 20;
/// Bytes at the start and at the end of the part that was read, by which a file is recognized.
const PROBE_BYTES: u64 = 4096;

/// Bytes at the start of a result in which a client says that the call was cancelled.
const NOTICE_BYTES: usize = 600;

/// The position in a session file from which the reading continues.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TracePosition {
    /// The end of the part that was read, in bytes.
    pub end: u64,
    /// A hash of samples of that part.
    probe: u64,
    /// True if that part ends within a line: a complete row without a line feed.
    is_open: bool,
    /// True if the rows of subagents are read too, as in their own files.
    pub reads_subagents: bool,
    lines: u32,
    blocks: u32,
    /// The number of the last turn: as in the analysis of a session, a prompt opens one, and a command that the model answers.
    turns: u32,
    /// The highest number of a turn so far.
    highest: u32,
    openings: TurnOpenings<Option<Key>>,
    waiting: WaitingPrompts,
    /// True if the client records prompts that it sends beside results in rows of their own.
    has_attachments: bool,
    directory: String,
    /// In a session that another agent started, the time of the last row that was copied into it.
    copied_until: Option<i64>,
    /// Hashes of the identities of the rows so far: a client can write a row twice.
    rows: FxHashSet<u64>,
    /// Hashes of the identities of the rows that another row followed.
    parents: FxHashSet<u64>,
    /// The calls of tools that do not ask the user, if only the call of a result tells if they do.
    others: OtherCalls,
    /// True if a row follows none.
    has_root: bool,
    /// True if the user may have left a turn: by a rollback or a rewind, or as two rows follow the same row, or none.
    pub has_branches: bool,
}

/// Reads the rows of a file from a position on, and moves it to the end of the last complete row. Passes each event to `take`, with the
/// offset of its row, with its contents as they were before operations of the log, and without credentials.
pub fn read_trace(
    disk: &dyn Disk,
    found: &Found,
    logged: &LoggedContents,
    position: &mut TracePosition,
    take: &mut dyn FnMut(u64, TraceEvent),
) -> io::Result<()> {
    let mut file = BufReader::with_capacity(READ_BYTES, disk.open(&found.path, position.end)?);
    if position.is_open && file.fill_buf()?.first() == Some(&b'\n') {
        file.consume(1);
        position.end += 1;
        position.is_open = false;
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = file.read_until(b'\n', &mut line)? as u64;
        let is_finished = line.last() == Some(&b'\n');
        if is_finished {
            line.pop();
        } else if length == 0 || found.provider.parse(&line).row.kind == RowKind::Broken {
            // The client is still writing it.
            break;
        }
        let start = position.end;
        let restored = logged.line(found.provider, &line);
        position.line(found.provider, &restored, logged.turns(), &mut |event| take(start, logged.masked(event)));
        position.is_open = !is_finished;
        position.end += length;
    }
    position.probe = probe(disk, &found.path, position.end)?;
    Ok(())
}

/// Returns an event without the values that are known as credentials.
pub fn masked(known: &Known, mut event: TraceEvent) -> TraceEvent {
    let mask = |text: &mut String| {
        if let Cow::Owned(masked) = known.mask_values(text) {
            *text = masked;
        }
    };
    match &mut event.content {
        TraceContent::Prompt { text, .. }
        | TraceContent::Inserted(text)
        | TraceContent::Answer(text)
        | TraceContent::Summary(text) => mask(text),
        TraceContent::Result(result) => mask(&mut result.text),
        TraceContent::Call(call) => {
            [&mut call.target, &mut call.input].into_iter().chain(&mut call.command).chain(&mut call.files).for_each(mask);
        }
    }
    event
}

/// Returns the offsets of the rows of turns that the user left, of the part of a file that was read; empty if it has no branches.
pub fn left_rows(disk: &dyn Disk, found: &Found, position: &TracePosition) -> io::Result<Vec<u64>> {
    if !position.has_branches {
        return Ok(Vec::new());
    }
    let bytes = read_range(disk, &found.path, 0, position.end as usize)?;
    Ok(left_offsets(found.provider, found.location.id.clone(), &bytes))
}

fn probe(disk: &dyn Disk, path: &Path, end: u64) -> io::Result<u64> {
    let length = end.min(PROBE_BYTES);
    let mut bytes = read_range(disk, path, 0, length as usize)?;
    bytes.extend(read_range(disk, path, end - length, length as usize)?);
    Ok(XxHash3_64::oneshot(&bytes))
}

impl TracePosition {
    /// Returns true if a file still starts with the part that was read; `before` is its state then.
    pub fn is_start_of(&self, disk: &dyn Disk, path: &Path, before: &Identity, now: &Identity) -> bool {
        before.inode == now.inode && self.end <= now.bytes && probe(disk, path, self.end).is_ok_and(|probe| probe == self.probe)
    }

    /// Returns the position before the first row of a part of a file whose first block has a number.
    pub fn before_block(number: u32) -> TracePosition {
        TracePosition { blocks: number.saturating_sub(1), ..TracePosition::default() }
    }

    /// Returns true if a row may begin a branch: it follows a row that another one follows, or none as an earlier row does.
    fn branches(&mut self, parsed: &ParsedRow<'_>, is_followed: bool) -> bool {
        let row = &parsed.row;
        let is_message = matches!(row.kind, RowKind::User | RowKind::Assistant | RowKind::Attachment | RowKind::Link);
        if !is_message || row.id.is_none() || row.sidechain || row.flags.any(Flags::PROGRESS) {
            return false;
        }
        let is_root = row.parent.is_none();
        let is_first = is_root && !std::mem::replace(&mut self.has_root, true);
        // The calls of a response and their results make branches too.
        let is_parallel =
            row.kind == RowKind::Assistant || parsed.blocks.iter().any(|part| part.block.kind == BlockKind::ToolResult);
        (is_followed || is_root && !is_first) && !is_parallel
    }

    pub fn has_waiting_prompts(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub fn next_turn(&mut self) -> u32 {
        self.turns += 1;
        self.turns
    }

    /// Returns the working directory that the first row with one names; empty if there is none.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Reads the next line of a file, without its line feed, and passes its events to `take`. `kept` are the numbers that turns had before
    /// the operations of the log.
    pub fn line(&mut self, provider: &dyn ProviderAdapter, line: &[u8], kept: &KeptTurns, take: &mut dyn FnMut(TraceEvent)) {
        self.lines += 1;
        let mut parsed = provider.parse(line);
        if provider.calls_tell_answers() {
            parsed.blocks.iter_mut().for_each(|parsed| self.others.check(&mut parsed.block));
        }
        if self.lines == 1 {
            self.copied_until = parsed.row.copied_until();
        }
        if self.directory.is_empty()
            && let Some(directory) = parsed.origin[1].as_deref()
        {
            directory.clone_into(&mut self.directory);
        }
        let row = &parsed.row;
        let first = self.blocks + 1;
        self.blocks += parsed.blocks.len() as u32;
        let is_followed = row.parent.is_some_and(|parent| !self.parents.insert(parent.folded()));
        self.has_branches |= match row.event.as_deref() {
            Some(Event::RolledBack(_)) => true,
            Some(Event::Leaf { explicit, .. }) => *explicit,
            _ => self.branches(&parsed, is_followed),
        };
        if !row.sidechain {
            let opening = self.openings.read(row, parsed.has_words(), row.id);
            self.turns = opening.map_or(self.turns, |row| kept.number(row, self.highest));
            self.highest = self.highest.max(self.turns);
        }
        self.has_attachments |= row.flags.any(Flags::ATTACHMENT);
        if let Some(Event::Queue(change)) = row.event.as_deref()
            && let Some(text) = self.waiting.apply(change).filter(|_| !self.has_attachments)
        {
            let content = TraceContent::Prompt { text: text.into(), source: PromptSource::Typed };
            let (row, time) = (format!("L{}", self.lines), row.timestamp.unwrap_or_default());
            return take(TraceEvent { block: 0, row, time, turn: self.turns, content });
        }
        let is_message = matches!(row.kind, RowKind::User | RowKind::Assistant) || row.prompt;
        if !is_message || (row.sidechain && !self.reads_subagents) || row.flags.any(Flags::SYNTHETIC) || parsed.blocks.is_empty()
        {
            return;
        }
        // An identity that is computed does not name the row to a reader, and rows that a fork copied can share it.
        if let Some(identity) = &parsed.identity
            && !self.rows.insert(XxHash3_64::oneshot(identity.as_bytes()))
        {
            return;
        }
        let name = parsed.identity.as_ref();
        let name = name.map_or_else(|| format!("L{}", self.lines), |identity| identity.trim_matches('"').to_owned());
        let is_summary = matches!(row.event.as_deref(), Some(Event::CompactSummary));
        let is_of_agent = row.is_after(self.copied_until);
        for (block, parsed) in (first..).zip(&parsed.blocks) {
            let time = row.timestamp.unwrap_or_default();
            contents(parsed, is_summary, &mut |content| {
                let content = match content {
                    TraceContent::Prompt { text, .. } if is_of_agent => TraceContent::Answer(text),
                    content => content,
                };
                take(TraceEvent { block, row: name.clone(), time, turn: self.turns, content });
            });
        }
    }
}

/// Passes the contents of a block to `take`: a result can also hold words of the user.
fn contents(parsed: &ParsedBlock<'_>, is_summary: bool, take: &mut dyn FnMut(TraceContent)) {
    let block = &parsed.block;
    let words = || block.said_in(&parsed.content);
    let text = || parsed.text().to_owned();
    match (block.kind, block.role) {
        (BlockKind::Text, Role::User) if is_summary => take(TraceContent::Summary(text())),
        (BlockKind::Text | BlockKind::Attachment, Role::User) if !block.words.is_empty() => {
            take(TraceContent::Prompt { text: words(), source: PromptSource::Typed });
        }
        (BlockKind::Text, Role::User) | (BlockKind::Attachment, _) => take(TraceContent::Inserted(text())),
        (BlockKind::Text, Role::Assistant) => take(TraceContent::Answer(text())),
        (BlockKind::ToolUse, _) => take_call(parsed, take),
        (BlockKind::ToolResult, _) => {
            let head = &parsed.text()[..parsed.text().floor_char_boundary(NOTICE_BYTES)];
            let declined = conventions().declines(head);
            let (call, text) = (block.call.unwrap_or(Key(0)), conventions().own_result(parsed.text()).into_owned());
            take(TraceContent::Result(TraceResult { call, error: block.error, declined, text }));
            take_words(parsed, take);
        }
        _ => {}
    }
}

/// Passes the words of the user in a result to `take`: the reason given with a rejection, or the answers to questions.
fn take_words(parsed: &ParsedBlock<'_>, take: &mut dyn FnMut(TraceContent)) {
    let block = &parsed.block;
    let words = block.words_in(&parsed.content).collect::<Vec<_>>().join("\n");
    let source = if block.error { PromptSource::Rejection } else { PromptSource::Choice };
    for text in said(block, &words, conventions()) {
        take(TraceContent::Prompt { text: text.to_owned(), source });
    }
}

fn take_call(parsed: &ParsedBlock<'_>, take: &mut dyn FnMut(TraceContent)) {
    let Some(tool) = parsed.block.tool.as_deref() else { return };
    let command = command(&parsed.content).or_else(|| scripted_commands(&parsed.content));
    take(TraceContent::Call(TraceCall {
        id: parsed.block.call.unwrap_or(Key(0)),
        tool: tool.name.to_string(),
        verb: tool.verb,
        target: tool.target.to_string(),
        command,
        files: parsed.block.files().map(str::to_owned).collect(),
        input: parsed.content.to_string(),
    }));
}

fn command(input: &str) -> Option<String> {
    // Most inputs of other tools are long, and name no command.
    let names = &conventions().inputs.commands;
    if !input.starts_with('{') || !names.iter().any(|name| input.contains(name)) {
        return None;
    }
    let input: serde_json::Map<String, Value> = serde_json::from_str(input).ok()?;
    match names.iter().find_map(|name| input.get(*name))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => words.last()?.as_str().map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::by_name;

    fn check(rows: &[Value], expected: &[(PromptSource, &str)]) {
        let (mut position, mut found) = (TracePosition::default(), Vec::new());
        for row in rows {
            position.line(by_name("claude-code").unwrap(), row.to_string().as_bytes(), &KeptTurns::default(), &mut |event| {
                if let TraceContent::Prompt { text, source } = event.content {
                    found.push((source, text));
                }
            });
        }
        let found: Vec<(PromptSource, &str)> = found.iter().map(|(source, text)| (*source, &**text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn words_of_the_user_are_prompts_and_answers() {
        let message = |id: u8, content: Value| {
            let uuid = format!("00000000-0000-4000-8000-0000000000{id:02}");
            serde_json::json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}})
        };
        let answers =
            r#"User has answered your questions: "Which port?"="8080, as before", "Which host?"="(No answer provided)""#;
        let result = serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "content": answers}]);
        let rows = [message(1, "use port 8080".into()), message(1, "use port 8080".into()), message(2, result)];
        check(&rows, &[(PromptSource::Typed, "use port 8080"), (PromptSource::Choice, "8080, as before")]);
    }

    #[test]
    fn text_typed_while_the_agent_works_is_a_prompt_unlike_a_message_of_a_peer() {
        let queued = |id: u8, prompt: &str| {
            let attachment = serde_json::json!({"type": "queued_command", "prompt": prompt, "commandMode": "prompt"});
            let uuid = format!("00000000-0000-4000-8000-0000000000{id:02}");
            let rendered = serde_json::json!([{"content": format!("Meanwhile:\n{prompt}")}]);
            serde_json::json!({"type": "attachment", "uuid": uuid, "attachment": attachment, "rendered": rendered})
        };
        let rows = [queued(1, "use pnpm"), queued(2, "<peer-note from=\"b\">use yarn</peer-note>")];
        check(&rows, &[(PromptSource::Typed, "use pnpm")]);
        // An older client has no such row: the prompt is only in the record of its queue.
        let queue = |operation: &str, content: Option<&str>| serde_json::json!({"type": "queue-operation", "operation": operation, "sessionId": "s", "content": content});
        let notice = "<task-notification>done</task-notification>";
        let rows = [
            queue("enqueue", Some(notice)),
            queue("enqueue", Some("use pnpm")),
            queue("enqueue", Some("use tabs")),
            queue("remove", None),
            queue("remove", None),
            queue("dequeue", None),
        ];
        check(&rows, &[(PromptSource::Typed, "use pnpm")]);
        let rows = [queued(1, "use pnpm"), queue("enqueue", Some("use tabs")), queue("remove", None), queued(2, "use tabs")];
        check(&rows, &[(PromptSource::Typed, "use pnpm"), (PromptSource::Typed, "use tabs")]);
    }

    #[test]
    fn rows_beside_others_and_a_rewind_make_branches() {
        let prompt = |id: &str, parent: &str| {
            let message = serde_json::json!({"role": "user", "content": "go"});
            serde_json::json!({"type": "user", "uuid": id, "parentUuid": parent, "message": message})
        };
        // Their second halves are the same.
        let uuid = |number: u32| format!("{number:08}-0000-4000-8000-000000000001");
        let first = |id: &str| {
            let mut row = prompt(id, "");
            row["parentUuid"] = Value::Null;
            row
        };
        let link = |id: &str, parent: &str| serde_json::json!({"type": "system", "uuid": id, "parentUuid": parent});
        let result = |id: &str, parent: &str| {
            let mut row = prompt(id, parent);
            row["message"]["content"] = serde_json::json!([{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]);
            row
        };
        let rewind = serde_json::json!({"type": "last-prompt", "leafUuid": "a", "explicit": true});
        for (rows, expected) in [
            (vec![prompt("a", ""), prompt("b", "a"), prompt("c", "b")], false),
            (vec![prompt(&uuid(1), ""), prompt(&uuid(2), &uuid(1)), prompt(&uuid(3), &uuid(2))], false),
            (vec![prompt("a", ""), prompt("b", "a"), prompt("c", "a")], true),
            (vec![prompt("a", ""), rewind], true),
            (vec![first("a"), first("b")], true),
            (vec![first("a"), prompt("b", "a"), link("c", "a")], true),
            (vec![first("a"), prompt("b", "a"), result("c", "a")], false),
        ] {
            let mut position = TracePosition::default();
            let (provider, kept) = (by_name("claude-code").unwrap(), KeptTurns::default());
            rows.iter().for_each(|row| position.line(provider, row.to_string().as_bytes(), &kept, &mut |_| {}));
            assert_eq!(position.has_branches, expected, "{rows:?}");
        }
    }

    #[test]
    fn the_reason_of_a_rejection_is_a_prompt_unless_the_client_wrote_it() {
        let row = |reason: &str| {
            let content = format!("The user doesn't want to proceed with this tool use. Next, the user said:\n{reason}");
            let result = serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": content}]);
            let uuid = "00000000-0000-4000-8000-000000000001";
            serde_json::json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": result}})
        };
        check(&[row("use rg")], &[(PromptSource::Rejection, "use rg")]);
        check(&[row("The user wants to clarify these questions.\n- \"Which port?\"\n  (No answer provided)")], &[]);
    }
}
