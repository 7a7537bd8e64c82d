//! Gemini CLI 0.8 and later: one JSON object per line, or one JSON document in older versions, with the messages of a session.
//!
//! The client appends a message again when it changes, and all messages when it resumes or compresses the conversation. A session is read
//! as lines in which each message is once ([`assemble`]): what is known of the session, then the messages in their order, and where the
//! client cut the conversation or the user left turns. Results of tools follow the message with the calls.

mod assemble;
mod parse;
mod retention;

use super::recorded::{self, RowScan};
use super::{
    Billing, Client, Format, Location, Message, ParsedRow, Places, ProviderAdapter, Rewriter, Scanner, SessionParts, Stub,
    Variables, WindowSize, codex,
};
use crate::model::{BlockKind, Conventions, InputNames, PlanNames, Session, Slot, Window};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The directory of the sessions of a project, below that of the project.
const CHATS: &str = "chats";
/// The file in the directory of a project that names the directory in which the user works.
const PROJECT_ROOT: &str = ".project_root";
/// The number of characters of the id of a session in the name of its file.
const ID_CHARACTERS: usize = 8;
/// Part of the window, in percent, at which the client compresses the conversation by default. Source: the bundle of 0.61.0.
const COMPRESSES_FROM_PERCENT: u64 = 50;

/// The Gemini CLI client. Its sessions are only read.
pub struct Gemini;

impl ProviderAdapter for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }
}

impl Format for Gemini {
    methods! {
        recognizes(head: &[u8]) -> bool = parse::recognizes(head);
        assemble(parts: &[Vec<u8>]) -> Vec<u8> = assemble::assemble(parts);
        window(session: &Session) -> Window = codex::window::window(session);
        messages(session: &Session, window: &Window) -> Vec<Message> = codex::messages::messages(session, window);
        scanner() -> Box<dyn Scanner> = Box::new(RowScan::new(parse::parse, |_| None));
        identity(row: &[u8]) -> Option<Vec<u8>> = recorded::identity(row);
        stub(_row: &[u8]) -> Option<Stub> = None;
        slot(_row: &[u8], _index: u32) -> Option<Slot> = None;
        locate_slot(_row: &[u8], _slot: Slot) -> Option<Range<usize>> = None;
        encode(_slot: Slot, _kind: BlockKind, _content: &str) -> Option<Vec<u8>> = None;
        decode(_value: &[u8]) -> String = String::new();
        read_only() -> Option<&'static str> = Some(
            "sessions of Gemini CLI are only read: changed ones have not been tested with the client; to make room there, type /compress"
        );
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a> {
        parse::parse(bytes)
    }

    fn link(&self, session: &mut Session) {
        recorded::link(session);
    }
}

impl Client for Gemini {
    methods! {
        agent() -> &'static str = "Gemini CLI";
        roots(places: &Places) -> Vec<PathBuf> = vec![places.directory(&Gemini, "").join(".gemini").join("tmp")];
        settings_file(places: &Places) -> Option<PathBuf> = Some(places.directory(&Gemini, "").join(".gemini").join("settings.json"));
        retention_days(settings: &[u8]) -> Option<u32> = retention::retention_days(settings);
        tested_version() -> &'static str = "0.61.0";
        instructions_file() -> Option<&'static str> = Some("GEMINI.md");
        api_base_url() -> &'static str = "https://generativelanguage.googleapis.com";
    }

    fn resume_command(&self, id: &str) -> String {
        // The client takes a whole id, or a number in its list; the name of a file has only the start of the id.
        if id.len() > ID_CHARACTERS { format!("gemini --resume {id}") } else { "gemini --list-sessions".to_owned() }
    }

    /// Parses `PROJECT/chats/session-TIME-ID.jsonl`, and `PROJECT/chats/SESSION/ID.jsonl` of a subagent. Of the id of a session, the name
    /// has the first eight characters.
    fn locate(&self, path: &Path) -> Option<Location> {
        let chats = chats(path)?;
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".zst").unwrap_or(name);
        let name = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json"))?;
        let project = chats.parent()?.file_name()?.to_string_lossy().into_owned();
        if path.parent() == Some(chats) {
            let id = name.strip_prefix("session-")?.rsplit('-').next().filter(|id| !id.is_empty())?;
            return Some(Location { id: id.to_owned(), project, parent: None, subagent: false });
        }
        let parent = path.parent()?.file_name()?.to_string_lossy().into_owned();
        Some(Location { id: name.to_owned(), project, parent: Some(parent), subagent: true })
    }

    fn parts(&self, path: &Path) -> Option<SessionParts> {
        self.locate(path).filter(|_| path.extension().is_some_and(|end| end != "zst"))?;
        Some(SessionParts::Files(vec![path.to_owned(), chats(path)?.with_file_name(PROJECT_ROOT)]))
    }

    /// Returns the directory that older versions named after the hash of that of the project.
    fn project_directory(&self, root: &Path, project: &Path) -> Option<PathBuf> {
        let hash = Sha256::digest(project.as_os_str().as_encoded_bytes());
        Some(root.join(hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }

    fn compacts_from(&self, _: &str, window: WindowSize) -> Option<u64> {
        Some(window.tokens * COMPRESSES_FROM_PERCENT / 100)
    }

    fn conventions(&self) -> Conventions {
        Conventions {
            status_lines: vec!["exit code:", "process group pgid:", "<untrusted_context>", "</untrusted_context>"],
            declined: vec!["[Operation Cancelled]"],
            inserted_tags: vec![parse::SESSION_CONTEXT, "hook_context", parse::SNAPSHOT],
            created_files: vec!["Successfully created and wrote to new file"],
            changed_files: vec!["Successfully modified file", "Successfully overwrote file"],
            inputs: InputNames {
                commands: vec!["command"],
                replaced: vec!["old_string"],
                written: vec!["new_string", "content"],
                replacements: vec![("old_string", "new_string")],
                ..InputNames::default()
            },
            plans: PlanNames {
                lists: vec!["todos"],
                texts: vec!["description"],
                statuses: vec!["status"],
                done: vec!["completed"],
                current: vec!["in_progress"],
                removed: vec!["cancelled"],
                ..PlanNames::default()
            },
            ..Conventions::default()
        }
    }

    fn variables(&self) -> Variables {
        Variables { home: "GEMINI_CLI_HOME", api_base_url: "GOOGLE_GEMINI_BASE_URL", session: None, project: None }
    }
}

impl Rewriter for Gemini {}

impl Billing for Gemini {}

/// Returns the directory of the sessions of a project that holds a session, or that of the session of a subagent.
fn chats(path: &Path) -> Option<&Path> {
    // For speed: listings ask of the paths of other clients too.
    path.to_str().is_none_or(|path| path.contains(CHATS)).then_some(())?;
    path.ancestors().skip(1).take(2).find(|above| above.file_name().is_some_and(|name| name == CHATS))
}
