//! OpenAI Codex CLI, 0.45 to 0.152: one JSON object per line, `{timestamp, type, payload}`, in chronological order.
//!
//! The model sees the `response_item` rows since the last `compacted` row. The file repeats most of this content in `event_msg`
//! rows for display, which are never sent. A row has no id and does not name its parent: the identity is computed from the
//! parts of the row that edits preserve (`parse::identity`), and the parent from its position (`link`).

mod content;
mod conventions;
mod cut;
mod item;
pub(super) mod link;
pub(super) mod messages;
pub(super) mod parse;
mod places;
mod scan;
pub(super) mod tool;
mod usage;
pub(super) mod window;
pub(super) mod write;

use super::json::is_type;
use super::{
    Billing, Client, ForkedRow, Format, KnownContext, Location, Message, NewRow, NewSession, NewText, Opening, ParsedRow, Places,
    ProviderAdapter, Rewriter, Scanner, Stub, TypedPrompt, Variables, WindowSize, WriterLock,
};
use crate::model::{Block, BlockKind, Conventions, Flags, Key, Role, RowKind, Session, Slot, Window};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
pub(super) use tool::scripted as scripted_commands;

/// The newest version with whose sessions aperture was tested.
const TESTED_VERSION: &str = "0.169.0";

/// The part of a window that the client reports as the window, in percent. Source: `effective_context_window_percent` in the client's
/// table of models; sessions hold 258,400 for a window of 272,000.
const USABLE_PERCENT: u64 = 95;
/// The part of the whole window from which the client compacts by default, in percent. Source: `auto_compact_token_limit` in the client's
/// source (codex-rs). A model or a user can have another limit, which sessions do not hold.
const COMPACTS_FROM_PERCENT: u64 = 90;

/// The part of a row that names its kind, in bytes.
const HEAD_BYTES: usize = 256;

/// The Codex client. A running client keeps its session file open; this is detected before the file is replaced.
pub struct Codex;

impl ProviderAdapter for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }
}

impl Format for Codex {
    methods! {
        recognizes(head: &[u8]) -> bool = parse::recognizes(head);
        unread_rows(line: &[u8]) -> Vec<usize> = parse::unread_rows(line);
        window(session: &Session) -> Window = window::window(session);
        messages(session: &Session, window: &Window) -> Vec<Message> = messages::messages(session, window);
        calls_tell_answers() -> bool = true;
        scanner() -> Box<dyn Scanner> = Box::new(scan::Scan::default());
        row_id(row: &[u8]) -> Option<Key> = parse::row_id(row);
        stub(row: &[u8]) -> Option<Stub> = write::stub(row);
        slot(row: &[u8], index: u32) -> Option<Slot> = write::slot(row, index);
        locate_slot(row: &[u8], slot: Slot) -> Option<Range<usize>> = write::locate(row, slot);
        encode(slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> = write::encode(slot, kind, content);
        decode(value: &[u8]) -> String = write::decode(value);
        ordinal(row: &[u8]) -> Option<u64> = write::ordinal(row);
        started_by(row: &[u8]) -> Option<String> = parse::started_by(row);
        with_ordinal(row: &[u8], ordinal: u64) -> Option<Vec<u8>> = write::with_ordinal(row, ordinal);
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a> {
        parse::parse(bytes)
    }

    fn link(&self, session: &mut Session) {
        link::link(session);
    }

    fn is_call(&self, bytes: &[u8]) -> bool {
        // `{"timestamp":…,"type":"response_item","payload":{"type":"function_call_output",…`
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        let start = |place: usize| memchr::memrchr(b'"', &head[..place]);
        memchr::memmem::find_iter(head, b"_call").filter_map(start).any(|start| is_type(head, start))
    }

    fn keeps_offsets(&self, session: &Session) -> bool {
        let head = session.rows.iter().find(|row| row.kind == RowKind::State);
        head.is_some_and(|row| row.flags.any(Flags::NUMBERED))
    }
}

impl Client for Codex {
    methods! {
        agent() -> &'static str = "Codex";
        roots(places: &Places) -> Vec<PathBuf> = places::roots(places);
        prompts_files(places: &Places) -> Vec<PathBuf> = vec![places::prompts_file(places)];
        typed_prompt(line: &[u8]) -> Option<TypedPrompt> = places::typed_prompt(line);
        locate(path: &Path) -> Option<Location> = places::locate(path);
        tested_version() -> &'static str = TESTED_VERSION;
        resume_command(id: &str) -> String = format!("codex resume {id}");
        new_path(places: &Places, _directory: &Path, id: &str, time: &str) -> Option<PathBuf> = places::new_path(places, id, time);
        instructions_file() -> Option<&'static str> = Some("AGENTS.md");
        roots_beside(path: &Path) -> Vec<PathBuf> = places::roots_beside(path);
        writer_lock(path: &Path) -> Option<WriterLock> = places::writer_lock(path);
        conventions() -> Conventions = conventions::conventions();
        variables() -> Variables = Variables { home: "CODEX_HOME", api_base_url: "OPENAI_BASE_URL", session: None, project: None };
        api_base_url() -> &'static str = "https://api.openai.com/v1";
    }

    fn fork_path(&self, path: &Path, id: &str, time: &str) -> Option<PathBuf> {
        self.locate(path)?;
        Some(path.with_file_name(format!("rollout-{time}-{id}.jsonl")))
    }

    fn is_standing(&self, session: &Session, block: &Block) -> bool {
        block.role == Role::System || self.keeps_offsets(session) && content::is_standing(block)
    }

    fn sends_again(&self, block: &Block) -> bool {
        // After a compaction the client sends its own instructions and those of the project again (0.169).
        block.role == Role::System || content::is_standing(block)
    }

    fn compacts_from(&self, _: &str, window: WindowSize) -> Option<u64> {
        let full = full_window(window);
        Some(full * COMPACTS_FROM_PERCENT / 100).filter(|from| *from > 0 && *from < window.tokens)
    }
}

/// Returns the whole window of the model: the client reports its usable part, if that is a whole number of tokens.
fn full_window(window: WindowSize) -> u64 {
    let is_part = window.reported && (window.tokens * 100).is_multiple_of(USABLE_PERCENT);
    if is_part { window.tokens * 100 / USABLE_PERCENT } else { window.tokens }
}

impl Rewriter for Codex {
    methods! {
        opening(new: &NewSession<'_>) -> Option<Opening> = Some(write::opening(new, TESTED_VERSION));
        message(new: &NewRow<'_>, text: &NewText<'_>) -> Option<Vec<Vec<u8>>> = Some(write::message(new, text));
        note(new: &NewRow<'_>, _label: &str, content: &str) -> Option<Vec<u8>> = write::note(new, content);
        forked(row: &[u8], fork: &ForkedRow<'_>) -> Option<Vec<u8>> = write::forked(row, fork);
        follows_turn(row: &[u8]) -> bool = write::follows_turn(row);
        restart(new: &NewRow<'_>, first: &[Rc<[u8]>], text: &str, last: &[Rc<[u8]>]) -> Option<Vec<u8>>
            = write::restart(new, first, text, last);
        repeat(new: &NewRow<'_>, row: &[u8]) -> Option<Vec<u8>> = write::repeat(new, row);
        known_context(row: &[u8]) -> Option<KnownContext> = write::known_context(row);
    }
}

impl Billing for Codex {
    fn usage(&self, value: &[u8], sent: u64, _row: &[u8]) -> Option<Vec<u8>> {
        write::usage(value, sent)
    }
}
