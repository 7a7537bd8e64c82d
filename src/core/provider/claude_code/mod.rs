//! Claude Code, 1.0.51 to 2.1.330: one JSON object per line, a tree of rows.

mod attachment;
mod content;
mod conventions;
pub mod extension;
mod lists;
mod messages;
pub(super) mod parse;
mod places;
mod prose;
mod scan;
pub mod settings;
mod start;
mod templates;
mod tool;
mod unsent;
mod usage;
mod window;
mod words;
pub(super) mod write;

use super::json::is_type;
use super::{
    Billing, Client, ClientPart, ForkedRow, Format, Location, MediaPlace, Message, NewRow, NewSession, NewText, OpenSession,
    Opening, ParsedRow, Places, ProviderAdapter, Rewriter, Scanner, Stub, TypedPrompt, UnsentRecord, Variables, WindowSize,
};
use crate::model::{Block, BlockKind, Conventions, Counts, Key, Session, Slot, Window};
use memchr::memmem::Finder;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub use content::shortenable_texts;
pub use places::slug;

/// The newest version with whose sessions aperture was tested.
const TESTED_VERSION: &str = "2.1.330";

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
    methods! {
        recognizes(head: &[u8]) -> bool = parse::recognizes(head);
        unread_rows(line: &[u8]) -> Vec<usize> = parse::unread_rows(line);
        file_before_edit(row: &[u8]) -> Option<String> = parse::file_before_edit(row);
        window(session: &Session) -> Window = window::window(session);
        messages(session: &Session, window: &Window) -> Vec<Message> = messages::messages(session, window);
        scanner() -> Box<dyn Scanner> = Box::new(scan::Scan::default());
        identity(row: &[u8]) -> Option<Vec<u8>> = write::identity(row);
        row_id(row: &[u8]) -> Option<Key> = parse::row_id(row);
        stub(row: &[u8]) -> Option<Stub> = write::stub(row);
        slot(row: &[u8], index: u32) -> Option<Slot> = write::slot(row, index);
        locate_slot(row: &[u8], slot: Slot) -> Option<Range<usize>> = write::locate(row, slot);
        encode(slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> = write::encode(slot, kind, content);
        decode(value: &[u8]) -> String = write::decode(value);
        accepted(row: &[u8], index: u32, media: &[(MediaPlace, String)]) -> Option<(Slot, Vec<u8>)>
            = write::accepted(row, index, media);
        unsent_record(row: &[u8]) -> Option<UnsentRecord> = unsent::record(row);
        short_display(row: &[u8]) -> Option<Vec<u8>> = unsent::short_display(row);
        branches() -> bool = true;
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a> {
        parse::parse(bytes)
    }

    fn is_call(&self, bytes: &[u8]) -> bool {
        static KINDS: LazyLock<[Finder<'static>; 2]> =
            LazyLock::new(|| [Finder::new(br#""tool_result""#), Finder::new(br#""tool_use""#)]);
        KINDS.iter().any(|kind| kind.find_iter(bytes).any(|place| is_type(bytes, place)))
    }
}

impl Client for ClaudeCode {
    methods! {
        agent() -> &'static str = "Claude";
        roots(places: &Places) -> Vec<PathBuf> = vec![places.claude_directory().join("projects")];
        prompts_files(places: &Places) -> Vec<PathBuf> = vec![places::prompts_file(places)];
        typed_prompt(line: &[u8]) -> Option<TypedPrompt> = places::typed_prompt(line);
        locate(path: &Path) -> Option<Location> = places::locate(path);
        copies_directories(path: &Path) -> Vec<PathBuf> = places::copies_directories(path);
        settings_file(places: &Places) -> Option<PathBuf> = Some(places.claude_directory().join("settings.json"));
        retention_days(settings: &[u8]) -> Option<u32> = Some(settings::retention_days(settings));
        tested_version() -> &'static str = TESTED_VERSION;
        resume_command(id: &str) -> String = format!("claude --resume {id}");
        project_directory(root: &Path, project: &Path) -> Option<PathBuf> = Some(root.join(slug(&project.to_string_lossy())));
        new_path(places: &Places, directory: &Path, id: &str, _time: &str) -> Option<PathBuf>
            = Some(places.claude_directory().join("projects").join(slug(&directory.to_string_lossy())).join(format!("{id}.jsonl")));
        instructions_file() -> Option<&'static str> = Some("CLAUDE.md");
        registries(places: &Places) -> Vec<PathBuf> = vec![places.claude_directory().join("sessions")];
        registered(content: &[u8]) -> Option<OpenSession> = places::registered(content);
        turn_reminder() -> Option<Counts> = Some(prose::TASK_REMINDER);
        outside_texts(row: &[u8]) -> Vec<(ClientPart, String)> = attachment::snapshot_texts(row);
        part_of(block: &Block) -> Option<ClientPart> = attachment::part_of(block);
        sends_again(block: &Block) -> bool = attachment::is_announced(block);
        announces(block: &Block) -> bool = attachment::is_list(block);
        attachment_tags() -> Option<(&'static str, &'static str)> = Some(("<system-reminder>\n", "\n</system-reminder>"));
        conventions() -> Conventions = conventions::conventions();
        api_base_url() -> &'static str = "https://api.anthropic.com";
    }

    fn companions_directory(&self, path: &Path) -> Option<PathBuf> {
        let location = self.locate(path).filter(|location| !location.subagent)?;
        Some(path.with_file_name(location.id))
    }

    fn memory_directory(&self, path: &Path) -> Option<PathBuf> {
        self.locate(path).filter(|location| !location.subagent).map(|_| path.with_file_name("memory"))
    }

    fn outputs_directory(&self, path: &Path) -> Option<PathBuf> {
        Some(self.companions_directory(path)?.join("tool-results"))
    }

    fn fork_path(&self, path: &Path, id: &str, _time: &str) -> Option<PathBuf> {
        self.locate(path)?;
        Some(path.with_file_name(format!("{id}.jsonl")))
    }

    fn compacts_from(&self, model: &str, window: WindowSize) -> Option<u64> {
        let reserve = if model.contains("haiku") { HAIKU_RESERVE_TOKENS } else { RESERVE_TOKENS };
        window.tokens.checked_sub(reserve).filter(|from| *from > 0)
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
    methods! {
        opening(new: &NewSession<'_>) -> Option<Opening> = Some(start::opening(new, TESTED_VERSION));
        message(new: &NewRow<'_>, text: &NewText<'_>) -> Option<Vec<Vec<u8>>> = Some(vec![start::message(new, text)?]);
        note(new: &NewRow<'_>, label: &str, content: &str) -> Option<Vec<u8>> = write::note(new, label, content);
        strip_thinking(new: &NewRow<'_>, first: &[u8], kept: u32) -> Option<Vec<u8>> = write::strip(new, first, kept);
        leaf(new: &NewRow<'_>) -> Option<Vec<u8>> = write::leaf(new);
        forked(row: &[u8], fork: &ForkedRow<'_>) -> Option<Vec<u8>> = write::forked(row, fork);
        knows_stripping(row: &[u8]) -> bool = write::is_known(row);
        binds_thinking() -> bool = true;
        is_frozen_system(row: &[u8]) -> bool = write::prompt_snapshot(row);
        is_only_thinking(row: &[u8]) -> bool = write::only_thinking(row);
    }

    fn uncut_boundary(&self) -> Option<&'static [u8]> {
        // The client cuts the conversation at a boundary of the subtype `compact_boundary` only.
        Some(br#""compact_boundary_taken_back""#)
    }

    fn thinking_in<'v>(&self, message: &'v [u8]) -> Vec<&'v str> {
        serde_json::from_slice(message).map(write::thinking_elements).unwrap_or_default()
    }
}

impl Billing for ClaudeCode {
    methods! {
        usage(value: &[u8], sent: u64, row: &[u8]) -> Option<Vec<u8>> = write::usage(value, sent, write::is_known(row));
        same_bills(before: &[u8], after: &[u8]) -> bool = write::same_bills(before, after);
        cache_milliseconds(usage: &[u8]) -> i64 = write::cache_milliseconds(usage);
    }
}
