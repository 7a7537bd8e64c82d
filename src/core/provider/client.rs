//! The program that writes the sessions: where it keeps them, which are open, and how it treats them when it resumes.

use super::PROVIDERS;
use crate::model::{Block, Conventions, Counts, Role, Session, words};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The places and habits of the client of one format.
pub trait Client: Sync {
    fn agent(&self) -> &'static str;

    /// Returns the tokens at the end of a window that the client keeps free for its own compaction; 0 if they are unknown.
    fn reserve(&self, model: &str, window: WindowSize) -> u64 {
        self.compacts_from(model, window).map_or(0, |from| window.tokens.saturating_sub(from))
    }

    /// Returns the texts that the client writes into contents, and the names in the inputs of its tools.
    fn conventions(&self) -> Conventions;

    /// Returns the base URL of the API that the client talks to, unless a variable names another one.
    fn api_base_url(&self) -> &'static str;

    /// Returns the names of the environment variables that the client reads and sets.
    fn variables(&self) -> Variables;

    methods! {
        /// Returns the directories that hold the client's sessions.
        roots(_places: &Places) -> Vec<PathBuf> = Vec::new();
        /// Returns the parts of a session file's path; `None` if the client keeps no session there.
        locate(_path: &Path) -> Option<Location> = None;
        /// Returns the place of the parts of a session whose file is not lines of rows; `None` for any other path.
        parts(_path: &Path) -> Option<SessionParts> = None;
        /// Returns the queries for the sessions in the database at a path; `None` if the client has no database there.
        database(_path: &Path) -> Option<&'static Queries> = None;
        /// Returns the directory with the files that belong to a session and are not in its file; it need not exist. `None` if the client
        /// has none, or if the session is part of another one.
        companions_directory(_path: &Path) -> Option<PathBuf> = None;
        /// Returns the directories in which the client keeps copies of what a session worked on, for itself; they need not exist.
        copies_directories(_path: &Path) -> Vec<PathBuf> = Vec::new();
        /// Returns the directory with the client's memory of the project of a session, beside its file; `None` if the client has none.
        memory_directory(_path: &Path) -> Option<PathBuf> = None;
        /// Returns the settings file of the user; `None` if no setting of the client is read.
        settings_file(_places: &Places) -> Option<PathBuf> = None;
        /// Returns the number of days without a change after which the client deletes a session file, by its settings file, which is empty
        /// if it does not exist. `None` if the client deletes none.
        retention_days(_settings: &[u8]) -> Option<u32> = None;
        /// Returns the directory with outputs of tools that are too long for the session file; it need not exist. `None` if the client has
        /// none, or if the session is part of another one.
        outputs_directory(_path: &Path) -> Option<PathBuf> = None;
        /// Returns the directories beside `path` in which a session can continue the rows of another one.
        roots_beside(_path: &Path) -> Vec<PathBuf> = Vec::new();
        /// Returns the path of a fork of the session at `path`, at which the client finds it by its id; `time` is the local time, as
        /// `2026-04-11T14-53-51`. `None` if the client keeps no session there.
        fork_path(_path: &Path, _id: &str, _time: &str) -> Option<PathBuf> = None;
        /// Returns the newest version of the client with whose sessions aperture was tested; empty if it was tested with none.
        tested_version() -> &'static str = "";
        /// Returns the path at which the client finds a new session of a directory; `time` is the local time, as `2026-04-11T14-53-51`.
        /// `None` if no session of it is written.
        new_path(_places: &Places, _directory: &Path, _id: &str, _time: &str) -> Option<PathBuf> = None;
        /// Returns the command with which the client continues a session.
        resume_command(id: &str) -> String = id.to_owned();
        /// Returns the directory under a root that holds the sessions of a project, by the project's real path; `None` if only the
        /// file of a session names its project.
        project_directory(_root: &Path, _project: &Path) -> Option<PathBuf> = None;
        /// Returns the name of the file with instructions of a project that the client reads; `None` if it reads none.
        instructions_file() -> Option<&'static str> = None;
        /// Returns the files in which the client lists the prompts of all sessions, those of deleted ones too.
        prompts_files(_places: &Places) -> Vec<PathBuf> = Vec::new();
        /// Parses a line of such a file; `None` for other lines.
        typed_prompt(_line: &[u8]) -> Option<TypedPrompt> = None;
        /// Returns the directories in which running clients register their open sessions.
        registries(_places: &Places) -> Vec<PathBuf> = Vec::new();
        /// Parses one file of a registry: which process has which session open.
        registered(_content: &[u8]) -> Option<OpenSession> = None;
        /// Returns the lock files of a session; `None` if the client locks nothing.
        writer_lock(_path: &Path) -> Option<WriterLock> = None;
        /// Returns true if a block holds context that the client sends once and that a new beginning of the conversation must keep.
        is_standing(_session: &Session, block: &Block) -> bool = block.role == Role::System;
        /// Returns the texts that a row records as sent outside the conversation, each with its part; empty for other rows.
        outside_texts(_row: &[u8]) -> Vec<(ClientPart, String)> = Vec::new();
        /// Returns the part that a block has in the texts that the client adds to a conversation by itself; `None` for other blocks.
        part_of(_block: &Block) -> Option<ClientPart> = None;
        /// Returns the size of the words with which the client reminds the model of what it did not do in many answers; `None` if it has no
        /// such reminder.
        turn_reminder() -> Option<Counts> = None;
        /// Returns true if the client sends the content of a block again, from the disk, after a digest replaced it.
        sends_again(_block: &Block) -> bool = false;
        /// Returns true if a block tells the model which tools, agents, servers or skills there are, and the client adds it once: again
        /// only when it reads a session that does not have it.
        announces(_block: &Block) -> bool = false;
        /// Returns the tags around a text that the client adds to the conversation by itself; `None` if it uses none.
        attachment_tags() -> Option<(&'static str, &'static str)> = None;
        /// Returns the token threshold of the client's own compaction for a model with this window; `None` if it is unknown. The window
        /// is the size that the client reports, or that of the model's table if it reports none. The default settings of the client
        /// are assumed: a session does not record if the user changed them.
        compacts_from(_model: &str, _window: WindowSize) -> Option<u64> = None;
    }
}

words! {
    /// A part of the texts that a client sends with every request, beside the conversation.
    #[derive(PartialOrd, Ord)]
    pub enum ClientPart {
        Prompt = "prompt",
        /// The definitions of the client's own tools.
        Tools = "tools",
        /// Tools and instructions of MCP servers.
        Mcp = "MCP",
        /// The list of skills, and the text of those in use.
        Skills = "skills",
        /// Files with instructions and memories of the user and the project.
        Memory = "memory",
    }
}

/// A prompt in a client's list of prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedPrompt {
    pub session: String,
    /// The working directory; empty if the client does not record it.
    pub directory: String,
    /// The time, in milliseconds since 1970, UTC.
    pub time: i64,
    pub text: String,
}

/// The size of a window as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    pub tokens: u64,
    pub reported: bool,
}

/// The names of the environment variables of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variables {
    /// Replaces the directory in which the client keeps its sessions.
    pub home: &'static str,
    pub api_base_url: &'static str,
    /// Holds the id of the session in the processes that the client starts; `None` if it sets none.
    pub session: Option<&'static str>,
    /// Holds the directory of the project in the processes that the client starts; `None` if it sets none.
    pub project: Option<&'static str>,
}

/// The directories of the user who runs aperture.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub home: PathBuf,
    /// The directories that replace those in the home, by the variables of the clients ([`Variables::home`]).
    pub moved: BTreeMap<&'static str, PathBuf>,
}

impl Places {
    /// Returns the directories by the home directory and the variables of the clients; an empty variable counts as absent.
    pub fn new(home: PathBuf, variable: impl Fn(&str) -> Option<OsString>) -> Places {
        let names = PROVIDERS.iter().map(|provider| provider.variables().home);
        let moved = names.filter_map(|name| Some((name, variable(name).filter(|path| !path.is_empty())?.into())));
        Places { home, moved: moved.collect() }
    }

    /// Returns the directory of a client, which is `name` in the home unless the variable of the client moves it.
    pub fn directory(&self, client: &dyn Client, name: &str) -> PathBuf {
        self.moved.get(client.variables().home).cloned().unwrap_or_else(|| self.home.join(name))
    }

    pub fn claude_directory(&self) -> PathBuf {
        self.directory(&super::claude_code::ClaudeCode, ".claude")
    }

    pub fn codex_directory(&self) -> PathBuf {
        self.directory(&super::codex::Codex, ".codex")
    }
}

/// The place of the parts of a session whose file does not hold its rows as lines. [`Format::assemble`](super::Format::assemble) does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionParts {
    /// Each part is the content of a file. The first one is that of the session; a missing other one is an empty part.
    Files(Vec<PathBuf>),
    Database {
        path: PathBuf,
        id: String,
        queries: &'static Queries,
    },
}

/// The queries for the sessions in an SQLite database. Their parameter is the id of a session.
#[derive(Debug, PartialEq, Eq)]
pub struct Queries {
    /// Selects each session, or that with the id if it is not null: its place below the database, without an extension; its size in bytes;
    /// the time of its last change in milliseconds since 1970, UTC.
    pub sessions: &'static str,
    /// Selects the parts of the session, each one text, in order.
    pub parts: &'static str,
}

/// The extension of the places of sessions in a database.
pub const IN_DATABASE: &str = "jsonl";

/// The parts of a session file's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub id: String,
    pub project: String,
    /// For a subagent, the id of the session that started it, if the path holds it.
    pub parent: Option<String>,
    pub subagent: bool,
}

impl Location {
    /// Returns the location of a session of which only the id is known.
    pub fn of_id(id: String) -> Location {
        Location { id, project: String::new(), parent: None, subagent: false }
    }
}

/// A session that a running client has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSession {
    pub process: u32,
    pub session: String,
}

/// The lock files of a client for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterLock {
    /// Locked while the session is open for writing; removed when the writer ends.
    pub session: PathBuf,
    /// Locked while the other one is created, locked or removed.
    pub guard: PathBuf,
}
