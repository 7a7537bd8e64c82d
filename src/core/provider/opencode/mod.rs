//! OpenCode 1.2 and later: an SQLite database with a row for each session, message and part of a message.
//!
//! A session is read as lines ([`assemble`]): the session, then its messages in the order in which the client sends them. The results of
//! tools, which the client stores in the calls, are lines of their own.

mod assemble;
mod parse;

use super::recorded::{self, RowScan};
use super::{
    Billing, Client, Format, IN_DATABASE, Location, Message, ParsedRow, Places, ProviderAdapter, Queries, Rewriter, Scanner,
    SessionParts, Stub, Variables, codex,
};
use crate::model::{BlockKind, Conventions, InputNames, Session, Slot, Window};
use std::ops::Range;
use std::path::{Path, PathBuf};

const DATABASE: &str = "opencode.db";

/// The place of a subagent is below that of its session. Sizes are those of the stored texts. Their sums and the latest time read no text.
static QUERIES: Queries = Queries {
    sessions: "SELECT iif(s.parent_id IS NULL, s.id, s.parent_id || '/' || s.id),
        (SELECT coalesce(sum(octet_length(data)), 0) FROM message WHERE session_id = s.id)
            + (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = s.id),
        max(s.time_updated, coalesce((SELECT max(time_updated) FROM message WHERE session_id = s.id), 0),
            coalesce((SELECT max(time_updated) FROM part WHERE session_id = s.id), 0))
        FROM session s WHERE ?1 IS NULL OR s.id = ?1",
    parts: "SELECT text FROM (
        SELECT 0 AS time, '' AS message, '' AS part, json_object('id', id, 'directory', directory, 'title', title,
            'version', version, 'time', json_object('created', time_created),
            'revert', iif(json_valid(revert), json(revert), NULL)) AS text FROM session WHERE id = ?1
        UNION ALL SELECT time_created, id, '', '{\"id\":' || json_quote(id) || ',' || substr(data, 2) FROM message WHERE session_id = ?1
        UNION ALL SELECT m.time_created, m.id, p.id, p.data FROM part p JOIN message m ON m.id = p.message_id WHERE m.session_id = ?1)
        ORDER BY time, message, part",
};

/// The OpenCode client. Its sessions are only read.
pub struct OpenCode;

impl ProviderAdapter for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }
}

impl Format for OpenCode {
    methods! {
        recognizes(head: &[u8]) -> bool = parse::recognizes(head);
        assemble(parts: &[Vec<u8>]) -> Vec<u8> = assemble::assemble(parts);
        window(session: &Session) -> Window = codex::window::window(session);
        messages(session: &Session, window: &Window) -> Vec<Message> = codex::messages::messages(session, window);
        scanner() -> Box<dyn Scanner> = Box::new(RowScan::new(parse::parse, parse::dollars));
        identity(row: &[u8]) -> Option<Vec<u8>> = recorded::identity(row);
        stub(_row: &[u8]) -> Option<Stub> = None;
        slot(_row: &[u8], _index: u32) -> Option<Slot> = None;
        locate_slot(_row: &[u8], _slot: Slot) -> Option<Range<usize>> = None;
        encode(_slot: Slot, _kind: BlockKind, _content: &str) -> Option<Vec<u8>> = None;
        decode(_value: &[u8]) -> String = String::new();
        read_only() -> Option<&'static str> = Some(
            "sessions of OpenCode are only read: changed ones have not been tested with the client; to change what it sends, start it \
             behind the proxy: aperture run opencode"
        );
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a> {
        parse::parse(bytes)
    }

    fn link(&self, session: &mut Session) {
        recorded::link(session);
    }
}

impl Client for OpenCode {
    methods! {
        agent() -> &'static str = "OpenCode";
        roots(places: &Places) -> Vec<PathBuf> = vec![places.directory(&OpenCode, ".local/share").join("opencode").join(DATABASE)];
        tested_version() -> &'static str = "1.18.33";
        resume_command(id: &str) -> String = format!("opencode --session {id}");
        instructions_file() -> Option<&'static str> = Some("AGENTS.md");
        variables() -> Variables = Variables { home: "XDG_DATA_HOME", api_base_url: "", session: None, project: None };
        api_base_url() -> &'static str = "https://opencode.ai/zen/v1";
    }

    /// Parses `opencode.db/ID.jsonl`, and `opencode.db/PARENT/ID.jsonl` of a subagent.
    fn locate(&self, path: &Path) -> Option<Location> {
        let name = path.file_name()?.to_str().filter(|name| name.starts_with("ses_"))?;
        let id = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(IN_DATABASE)?.strip_suffix('.')?;
        let mut above = path.ancestors().skip(1).filter_map(|above| above.file_name()?.to_str());
        let parent = above.next().filter(|above| *above != DATABASE).map(str::to_owned);
        if parent.is_some() && above.next() != Some(DATABASE) {
            return None;
        }
        Some(Location { id: id.to_owned(), project: String::new(), subagent: parent.is_some(), parent })
    }

    fn parts(&self, path: &Path) -> Option<SessionParts> {
        let id = self.locate(path).filter(|_| path.extension().is_some_and(|end| end == IN_DATABASE))?.id;
        let database = path.ancestors().find(|above| self.database(above).is_some())?;
        Some(SessionParts::Database { path: database.to_owned(), id, queries: &QUERIES })
    }

    fn database(&self, path: &Path) -> Option<&'static Queries> {
        path.file_name().is_some_and(|name| name == DATABASE).then_some(&QUERIES)
    }

    fn conventions(&self) -> Conventions {
        Conventions {
            declined: vec!["The user rejected permission"],
            created_files: vec!["Wrote file successfully"],
            changed_files: vec!["Edit applied successfully"],
            inputs: InputNames {
                commands: vec!["command"],
                patches: vec!["patchText"],
                replaced: vec!["oldString"],
                written: vec!["newString", "content"],
                replacements: vec![("oldString", "newString")],
                ..InputNames::default()
            },
            ..Conventions::default()
        }
    }
}

impl Rewriter for OpenCode {}

impl Billing for OpenCode {}
