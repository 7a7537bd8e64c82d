//! Claude Code, 1.0.51 to 2.1.330: one JSON object per line, a tree of rows.

mod attachment;
mod content;
mod conventions;
pub mod extension;
mod hook;
mod lists;
mod messages;
pub(super) mod parse;
mod places;
mod prose;
mod scan;
pub mod settings;
mod templates;
mod tool;
mod unsent;
mod usage;
mod window;
mod words;
pub(super) mod write;

use super::{
    Billing, Client, ClientPart, ForkedRow, Format, Location, MediaPlace, Message, NewRow, OpenSession, ParsedRow, Places,
    ProviderAdapter, Rewriter, Scanner, Stub, TypedPrompt, UnsentRecord, Variables, WindowSize,
};
use crate::model::{Block, BlockKind, Conventions, Counts, Session, Slot, Window};
use memchr::memmem::Finder;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub use hook::shortenable_texts;
pub use places::{config, slug};

/// Tokens of free window at which the client compacts automatically. Source: measured with 2.1.330, which compacted windows of 100k,
/// 200k and 1M from 67.0k, 167k and 967k on, and lists the same size as its buffer for auto-compaction.
const RESERVE_TOKENS: u64 = 33_000;
/// The same for Haiku, whose longest answer is shorter. Source: measured with 2.1.330, which compacted a window of 200k from 176.8k on.
const HAIKU_RESERVE_TOKENS: u64 = 23_200;

/// The name of the provider.
pub const NAME: &str = "claude-code";

/// The Claude Code client.
pub struct ClaudeCode;

impl ProviderAdapter for ClaudeCode {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl Format for ClaudeCode {
    fn recognizes(&self, head: &[u8]) -> bool {
        parse::recognizes(head)
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a> {
        parse::parse(bytes)
    }

    fn unread_rows(&self, line: &[u8]) -> Vec<usize> {
        parse::unread_rows(line)
    }

    fn is_call(&self, bytes: &[u8]) -> bool {
        static MARKS: LazyLock<[Finder<'static>; 2]> =
            LazyLock::new(|| [Finder::new(br#""type":"tool_result""#), Finder::new(br#""type":"tool_use""#)]);
        MARKS.iter().any(|mark| mark.find(bytes).is_some())
    }

    fn file_before_edit(&self, row: &[u8]) -> Option<String> {
        parse::file_before_edit(row)
    }

    fn window(&self, session: &Session) -> Window {
        window::window(session)
    }

    fn messages(&self, session: &Session, window: &Window) -> Vec<Message> {
        messages::messages(session, window)
    }

    fn scanner(&self) -> Box<dyn Scanner> {
        Box::new(scan::Scan::default())
    }

    fn identity(&self, row: &[u8]) -> Option<Vec<u8>> {
        write::identity(row)
    }

    fn stub(&self, row: &[u8]) -> Option<Stub> {
        write::stub(row)
    }

    fn slot(&self, row: &[u8], index: u32) -> Option<Slot> {
        write::slot(row, index)
    }

    fn locate_slot(&self, row: &[u8], slot: Slot) -> Option<Range<usize>> {
        write::locate(row, slot)
    }

    fn encode(&self, slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> {
        write::encode(slot, kind, content)
    }

    fn accepted(&self, row: &[u8], index: u32, media: &[(MediaPlace, String)]) -> Option<(Slot, Vec<u8>)> {
        write::accepted(row, index, media)
    }

    fn decode(&self, value: &[u8]) -> String {
        write::decode(value)
    }

    fn unsent_record(&self, row: &[u8]) -> Option<UnsentRecord> {
        unsent::record(row)
    }

    fn short_display(&self, row: &[u8]) -> Option<Vec<u8>> {
        unsent::short_display(row)
    }

    fn branches(&self) -> bool {
        true
    }
}

impl Client for ClaudeCode {
    fn agent(&self) -> &'static str {
        "Claude"
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        vec![config(places).join("projects")]
    }

    fn prompts_files(&self, places: &Places) -> Vec<PathBuf> {
        vec![places::prompts_file(places)]
    }

    fn typed_prompt(&self, line: &[u8]) -> Option<TypedPrompt> {
        places::typed_prompt(line)
    }

    fn locate(&self, path: &Path) -> Option<Location> {
        places::locate(path)
    }

    fn companions_directory(&self, path: &Path) -> Option<PathBuf> {
        let location = self.locate(path).filter(|location| !location.subagent)?;
        Some(path.with_file_name(location.id))
    }

    fn memory_directory(&self, path: &Path) -> Option<PathBuf> {
        self.locate(path).filter(|location| !location.subagent).map(|_| path.with_file_name("memory"))
    }

    fn settings_file(&self, places: &Places) -> Option<PathBuf> {
        Some(config(places).join("settings.json"))
    }

    fn retention_days(&self, settings: &[u8]) -> Option<u32> {
        Some(settings::retention_days(settings))
    }

    fn outputs_directory(&self, path: &Path) -> Option<PathBuf> {
        Some(self.companions_directory(path)?.join("tool-results"))
    }

    fn fork_path(&self, path: &Path, id: &str, _time: &str) -> Option<PathBuf> {
        self.locate(path)?;
        Some(path.with_file_name(format!("{id}.jsonl")))
    }

    fn resume_command(&self, id: &str) -> String {
        format!("claude --resume {id}")
    }

    fn project_directory(&self, root: &Path, project: &Path) -> Option<PathBuf> {
        Some(root.join(slug(&project.to_string_lossy())))
    }

    fn instructions_file(&self) -> Option<&'static str> {
        Some("CLAUDE.md")
    }

    fn registries(&self, places: &Places) -> Vec<PathBuf> {
        vec![config(places).join("sessions")]
    }

    fn registered(&self, content: &[u8]) -> Option<OpenSession> {
        places::registered(content)
    }

    fn turn_reminder(&self) -> Option<Counts> {
        Some(prose::TASK_REMINDER)
    }

    fn outside_texts(&self, row: &[u8]) -> Vec<(ClientPart, String)> {
        attachment::snapshot_texts(row)
    }

    fn part_of(&self, block: &Block) -> Option<ClientPart> {
        attachment::part_of(block)
    }

    fn sends_again(&self, block: &Block) -> bool {
        attachment::is_announced(block)
    }

    fn announces(&self, block: &Block) -> bool {
        attachment::is_list(block)
    }

    fn attachment_tags(&self) -> Option<(&'static str, &'static str)> {
        Some(("<system-reminder>\n", "\n</system-reminder>"))
    }

    fn compacts_from(&self, model: &str, window: WindowSize) -> Option<u64> {
        let reserve = if model.contains("haiku") { HAIKU_RESERVE_TOKENS } else { RESERVE_TOKENS };
        window.tokens.checked_sub(reserve).filter(|from| *from > 0)
    }

    fn conventions(&self) -> Conventions {
        conventions::conventions()
    }

    fn api_base_url(&self) -> &'static str {
        "https://api.anthropic.com"
    }

    fn variables(&self) -> Variables {
        Variables {
            home: "CLAUDE_CONFIG_DIR",
            api_base_url: "ANTHROPIC_BASE_URL",
            session: Some("CLAUDE_CODE_SESSION_ID"),
            project: Some("CLAUDE_PROJECT_DIR"),
        }
    }
}

impl Rewriter for ClaudeCode {
    fn note(&self, new: &NewRow<'_>, label: &str, content: &str) -> Option<Vec<u8>> {
        write::note(new, label, content)
    }

    fn strip_thinking(&self, new: &NewRow<'_>, first: &[u8], kept: u32) -> Option<Vec<u8>> {
        write::strip(new, first, kept)
    }

    fn leaf(&self, new: &NewRow<'_>) -> Option<Vec<u8>> {
        write::leaf(new)
    }

    fn forked(&self, row: &[u8], fork: &ForkedRow<'_>) -> Option<Vec<u8>> {
        write::forked(row, fork)
    }

    fn uncut_boundary(&self) -> Option<&'static [u8]> {
        // The client cuts the conversation at a boundary of the subtype `compact_boundary` only.
        Some(br#""compact_boundary_taken_back""#)
    }

    fn knows_stripping(&self, row: &[u8]) -> bool {
        write::strips_thinking(row)
    }

    fn binds_thinking(&self) -> bool {
        true
    }

    fn is_frozen_system(&self, row: &[u8]) -> bool {
        write::prompt_snapshot(row)
    }

    fn is_only_thinking(&self, row: &[u8]) -> bool {
        write::only_thinking(row)
    }

    fn thinking_in<'v>(&self, message: &'v [u8]) -> Vec<&'v str> {
        serde_json::from_slice(message).map(write::thinking_elements).unwrap_or_default()
    }
}

impl Billing for ClaudeCode {
    fn usage(&self, value: &[u8], sent: u64, row: &[u8]) -> Option<Vec<u8>> {
        write::usage(value, sent, write::reads_iterations(row))
    }

    fn same_bills(&self, before: &[u8], after: &[u8]) -> bool {
        write::same_bills(before, after)
    }

    fn cache_milliseconds(&self, usage: &[u8]) -> i64 {
        write::cache_milliseconds(usage)
    }
}
