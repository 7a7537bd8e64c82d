//! Formats: from bytes to rows and blocks, and back.
//!
//! A provider knows how one family of clients keeps its sessions. It is given bytes and names and returns values; it
//! neither reads a file nor decides anything. A new one is a folder here and a line in [`PROVIDERS`]; the laws over that
//! table test it at once.

pub mod claude_code;
pub mod codex;
mod command;
mod image;
mod json;
mod json_edit;
mod message;
mod sniff;
mod words;

use crate::model::limits::TITLE_CHARACTERS;
use crate::model::{Block, BlockKind, CutLimit, Key, Role, Row, RowKind, Session, Slot, Window};
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

pub use json::strings;
pub use json_edit::EditError;
pub use message::{Addition, Change, Lead, Message, Part, Source, Unrecorded};
pub use sniff::{Format, sniff};

/// Every provider that aperture reads.
pub static PROVIDERS: &[&dyn ProviderAdapter] = &[&claude_code::ClaudeCode, &codex::Codex];

/// A format of session files, and the client that writes them.
pub trait ProviderAdapter: Sync {
    /// The name in reports, settings and `--json`, such as `claude-code`.
    fn name(&self) -> &'static str;

    /// The name of the agent that it is, for people.
    fn agent(&self) -> &'static str;

    /// The directories below which its client keeps sessions, given the user's home and the client's own variable.
    fn roots(&self, places: &Places) -> Vec<PathBuf>;

    /// What the path of a file says about the session in it; `None` when no session of this provider is kept there.
    fn locate(&self, path: &Path) -> Option<Location>;

    /// The directories below which its client keeps sessions beside the one at `path`, where a session can go on from another
    /// one's rows.
    fn roots_beside(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The directory under one of the roots that holds the sessions of a project, by the project's real path; none where only
    /// the file of a session says which project it belongs to.
    fn project_directory(&self, _root: &Path, _project: &Path) -> Option<PathBuf> {
        None
    }

    /// The directories in which running clients say which session they have open.
    fn registries(&self, _places: &Places) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Which process has which session open, from one file of a registry.
    fn registered(&self, _content: &[u8]) -> Option<OpenSession> {
        None
    }

    /// Whether the beginning of a file looks like a session of this provider.
    fn recognizes(&self, head: &[u8]) -> bool;

    /// One row, parsed. `bytes` is the line without its line feed; any bytes give a row.
    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a>;

    /// Fills in what follows from the order of all rows of a session and not from one of them; where that was done before it
    /// changes nothing.
    fn link(&self, _session: &mut Session) {}

    /// What the client would send if it resumed the session now.
    fn window(&self, session: &Session) -> Window;

    /// The messages of the window as the API would receive them, given the content of each block.
    fn messages(&self, session: &Session, window: &Window) -> Vec<Message>;

    /// The totals of a file, read row by row without its content.
    fn scanner(&self) -> Box<dyn Scanner>;

    /// The slot through which the block with this index in a row is changed; `None` for what cannot be, such as thinking.
    fn slot(&self, row: &[u8], index: u32) -> Option<Slot>;

    /// Where the value of a slot stands in a row, in bytes.
    fn locate_slot(&self, row: &[u8], slot: Slot) -> Option<Range<usize>>;

    /// A content as the value of a slot; `None` where it cannot stand there.
    fn encode(&self, slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>>;

    /// The text of a value that stood in a slot, for people.
    fn decode(&self, value: &[u8]) -> String;

    /// The figures of a response with `sent` input tokens for how full the window is; `row` is the one that they stand in.
    fn usage(&self, value: &[u8], sent: u64, row: &[u8]) -> Option<Vec<u8>>;

    /// Returns whether two values of `usage` hold the same bill.
    fn same_bills(&self, before: &[u8], after: &[u8]) -> bool {
        before == after
    }

    /// How long the cache entries live that a response wrote, in milliseconds, by what it was billed.
    fn cache_milliseconds(&self, usage: &[u8]) -> i64;

    /// Returns whether the client keeps byte offsets into the file elsewhere, so that no edit may move a row: each edited row
    /// keeps its
    /// length, and a row that is added carries the next ordinal.
    fn keeps_offsets(&self, _session: &Session) -> bool {
        false
    }

    /// The ordinal of a row, where the client numbers the rows of a file.
    fn ordinal(&self, _row: &[u8]) -> Option<u64> {
        None
    }

    /// The same row with another ordinal; `None` if it has none.
    fn with_ordinal(&self, _row: &[u8], _ordinal: u64) -> Option<Vec<u8>> {
        None
    }

    /// The file that a running client keeps locked while it has the session at `path` open, and the file that guards the
    /// creation and removal of such files; `None` if the client locks nothing.
    fn writer_lock(&self, _path: &Path) -> Option<WriterLock> {
        None
    }

    /// A row that its client keeps and sends: a text of a kind of our own.
    fn note(&self, new: &NewRow<'_>, label: &str, content: &str) -> Option<Vec<u8>>;

    /// A row after which its client no longer sends the thinking before it, from the message of the row `first` on, without
    /// the first `kept` thinking blocks of that message.
    fn strip_thinking(&self, _new: &NewRow<'_>, _first: &[u8], _kept: u32) -> Option<Vec<u8>> {
        None
    }

    /// A row of which nothing is sent, and which says that a resume starts from the row that it follows.
    fn leaf(&self, _new: &NewRow<'_>) -> Option<Vec<u8>> {
        None
    }

    /// A row from which on only what it holds and what follows it is sent: the rows of `first`, a text, and the rows of `last`. None
    /// where rows are linked, so that some can be left out.
    fn restart(&self, _new: &NewRow<'_>, _first: &[Rc<[u8]>], _text: &str, _last: &[Rc<[u8]>]) -> Option<Vec<u8>> {
        None
    }

    /// The part that a row has in what the client knows of the context that it sent, where it compares that with the present one
    /// when it resumes, and sends it again if it knows nothing.
    fn known_context(&self, _row: &[u8]) -> Option<KnownContext> {
        None
    }

    /// A row with the payload of another one.
    fn repeat(&self, _new: &NewRow<'_>, _row: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Returns whether a block holds context that the client sends once and that a new beginning of the conversation must keep.
    fn is_standing(&self, _session: &Session, block: &Block) -> bool {
        block.role == Role::System
    }

    /// Whether the version of the client that wrote a row understands [`ProviderAdapter::strip_thinking`].
    fn knows_stripping(&self, _row: &[u8]) -> bool {
        false
    }

    /// Whether thinking is refused when what stands before it was changed.
    fn binds_thinking(&self) -> bool {
        false
    }

    /// The tokens from which on the client compacts by itself, where that is known of a model with a window of so many.
    fn compacts_from(&self, _model: &str, _capacity_tokens: u64) -> Option<u64> {
        None
    }

    /// Whether rows name the one that they follow, so that some can be left out and put back.
    fn branches(&self) -> bool {
        false
    }

    /// Returns whether the client sends the content of a block again by itself, from the disk, when a digest took its place.
    fn sends_again(&self, _block: &Block) -> bool {
        false
    }

    /// Whether a row holds the system prompt or the tools, as its client goes on sending them while the row is on the live chain.
    fn is_frozen_system(&self, _row: &[u8]) -> bool {
        false
    }

    /// Whether a row holds one thinking block and nothing else, so that its content can be emptied.
    fn is_only_thinking(&self, _row: &[u8]) -> bool {
        false
    }

    /// The identity of a row as it is written in it.
    fn identity(&self, row: &[u8]) -> Option<Vec<u8>>;

    /// What no edit of the content of a row may change.
    fn stub(&self, row: &[u8]) -> Option<Stub>;

    /// The base URL of the API that its client talks to.
    fn api_base_url(&self) -> &'static str;
}

/// What a row that is added needs to know.
#[derive(Clone, Debug)]
pub struct NewRow<'a> {
    /// A row under whose circumstances it is written.
    pub like: &'a [u8],
    /// The identity of the row that it follows, as it is written there.
    pub parent: Vec<u8>,
    /// Its own identity.
    pub id: String,
    /// When it is written, RFC 3339.
    pub timestamp: String,
    /// Whether it belongs to a subagent.
    pub sidechain: bool,
    /// Its ordinal, where the rows of the file are numbered.
    pub ordinal: Option<u64>,
}

/// The context that a client sent, as a row records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownContext {
    /// All of it.
    Whole,
    /// The changes since the row before.
    Change,
    /// The settings of a turn, of which the last count.
    Settings,
}

/// The lock files of a client for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterLock {
    /// Locked while the session is open for writing; it is removed when the writer ends.
    pub session: PathBuf,
    /// Locked while the other one is created, locked or removed.
    pub guard: PathBuf,
}

/// What no edit of the content of a row may change: how it is linked and paired, and what is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stub {
    /// What the row is for the window.
    pub kind: RowKind,
    /// Its own identity.
    pub id: Option<Key>,
    /// The row that it follows.
    pub parent: Option<Key>,
    /// The API message that it is a piece of.
    pub message: Option<Key>,
    /// The row whose tool use it answers.
    pub answers: Option<Key>,
    /// Its thinking blocks, signatures included, as hashes of their bytes.
    pub thinking: Vec<Key>,
    /// The message from which on it strips thinking, and how many blocks of that message stay.
    pub scope: Option<(Key, u32)>,
}

/// Where things are for the user who runs aperture.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The home directory.
    pub home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`, which replaces `~/.claude`.
    pub claude_config: Option<PathBuf>,
    /// `CODEX_HOME`, which replaces `~/.codex`.
    pub codex_home: Option<PathBuf>,
}

/// What the path of a session file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The session's id.
    pub id: String,
    /// The directory name that stands for the project.
    pub project: String,
    /// For a subagent, the id of the session that started it, where the path says so.
    pub parent: Option<String>,
    /// Whether it is the session of a subagent.
    pub subagent: bool,
}

/// A session that a running client has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSession {
    /// The client's process id.
    pub process: u32,
    /// The session's id.
    pub session: String,
}

/// One row and its blocks.
#[derive(Debug)]
pub struct ParsedRow<'a> {
    /// The row; its place in the file is the caller's to fill in.
    pub row: Row,
    /// Its content blocks in order.
    pub blocks: Vec<ParsedBlock<'a>>,
    /// Where it was written, verbatim: session id, directory, version, branch.
    pub origin: [Option<Cow<'a, str>>; 4],
}

/// A block and its content.
#[derive(Debug)]
pub struct ParsedBlock<'a> {
    /// The block; what is counted over its content is the caller's to fill in.
    pub block: Block,
    /// The content as the model sees it: text, or the input of a tool use as JSON.
    pub content: Cow<'a, str>,
    /// The same for people, where that differs: the members of a tool input, unescaped.
    pub readable: Option<String>,
    /// The part of it that refers to what was known before, where that is not all of it.
    pub refers: Option<String>,
    /// The part of it that the client sends and the row does not record; it is counted by its size.
    pub unrecorded: Option<Unrecorded>,
    /// The content as it is sent under each limit under which the client may send it, where that is not all of it.
    pub cuts: Vec<SentUnder>,
}

/// A content as it is sent under a limit.
#[derive(Clone, Debug)]
pub struct SentUnder {
    /// The limit.
    pub limit: CutLimit,
    /// True if the row itself states the limit.
    pub stated: bool,
    /// The remainder of the content.
    pub content: String,
}

impl<'a> ParsedBlock<'a> {
    /// A block whose content is plain text.
    pub fn new(block: Block, content: Cow<'a, str>) -> ParsedBlock<'a> {
        ParsedBlock { block, content, readable: None, refers: None, unrecorded: None, cuts: Vec::new() }
    }

    /// The content for people.
    pub fn text(&self) -> &str {
        self.readable.as_deref().unwrap_or(&self.content)
    }
}

/// Reads a file's totals from its lines.
pub trait Scanner: Send {
    /// Takes the next line, without its line feed.
    fn line(&mut self, bytes: &[u8]);

    /// What was seen so far.
    fn totals(&self) -> Totals;
}

/// The totals of a session file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Totals {
    /// Tokens of the window when the model last answered, its answer included; 0 when it never did.
    pub window_tokens: u64,
    /// The most tokens that a request held.
    pub peak_tokens: u64,
    /// How many tokens the window holds, where the client says so.
    pub capacity_tokens: Option<u64>,
    /// Whether rows came after that, so that the window is larger by now, or smaller after a compaction.
    pub moved_on: bool,
    /// Output tokens of all responses.
    pub output_tokens: u64,
    /// API responses.
    pub steps: u32,
    /// Prompts.
    pub turns: u32,
    /// Compactions.
    pub compactions: u32,
    /// The model of the last response. Most sessions of a directory share it: it is kept apart, once for all of them.
    #[serde(skip)]
    pub model: Arc<str>,
    /// The working directory of the first row that names one; kept apart as well.
    #[serde(skip)]
    pub directory: Arc<str>,
    /// The title, or the first prompt.
    pub title: String,
}

/// The first words of a text on one line, for titles.
fn one_line(text: &str) -> String {
    text.split_whitespace().flat_map(|word| [" ", word]).skip(1).collect::<String>().chars().take(TITLE_CHARACTERS).collect()
}
