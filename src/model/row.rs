use super::{Flags, Key};
use serde::{Deserialize, Serialize};

/// One line of a session file: where it is, and what matters for the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Where the row begins in the file, in bytes.
    pub offset: u64,
    /// Bytes without the line feed.
    pub length: u32,
    /// Role of the row in the window.
    pub kind: RowKind,
    /// Its own identity in the tree of rows.
    pub id: Option<Key>,
    /// The row that it follows.
    pub parent: Option<Key>,
    /// The API message that it is a piece of; one response is several rows.
    pub message: Option<Key>,
    /// The row that holds the tool use which this row answers; for an attachment, the tool use that it came with.
    pub answers: Option<Key>,
    /// When it was written, in milliseconds since 1970, UTC.
    pub timestamp: Option<i64>,
    /// True if it opens a turn: something that the user, or a program in the user's place, asked for.
    pub prompt: bool,
    /// True if it belongs to a subagent whose rows stand in the same file.
    pub sidechain: bool,
    /// Other properties that affect whether and where it is sent.
    pub flags: Flags,
    /// Usage billed up to and for this response.
    pub usage: Option<Usage>,
    /// The model that wrote it.
    pub model: Option<Box<str>>,
    /// True if the API said why it stopped, so that the output tokens are final.
    pub finished: bool,
    /// Event beside the content.
    pub event: Option<Box<Event>>,
    /// Where it was written: an index into the origins of its segment, and of its session once joined.
    pub origin: u32,
    /// How many blocks it holds; they follow those of the row before.
    pub blocks: u32,
}

impl Row {
    /// A row of which nothing is known but what it is.
    pub fn new(kind: RowKind) -> Row {
        Row {
            offset: 0,
            length: 0,
            kind,
            id: None,
            parent: None,
            message: None,
            answers: None,
            timestamp: None,
            prompt: false,
            sidechain: false,
            flags: Flags::default(),
            usage: None,
            model: None,
            finished: false,
            event: None,
            origin: 0,
            blocks: 0,
        }
    }
}

/// Role of a row in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// Something that the user side said: a prompt or tool results.
    User,
    /// A piece of a response of the model.
    Assistant,
    /// A text that the client adds: a reminder, a file, the output of a hook or of a local command.
    Attachment,
    /// A link of the chain that is never sent: system rows, progress, failed calls.
    Link,
    /// The point where a compaction cut the conversation.
    Boundary,
    /// State of the client beside the conversation: titles, modes, the active leaf.
    State,
    /// A record that never reaches the model, such as a file snapshot or a replayed request.
    Record,
    /// A row of a type that this version does not know; kept, never sent.
    Foreign,
    /// A line that is no complete JSON object; kept, never sent.
    Broken,
}

/// Event of a row beside its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The row that a resume starts from; `explicit` after a rewind by the user.
    Leaf {
        /// The last row of the live chain.
        leaf: Option<Key>,
        /// True if the user chose it, so that later rows do not count.
        explicit: bool,
    },
    /// A compaction, and the earlier rows that it keeps.
    Compaction {
        /// Rows whose messages are put after the summary.
        preserved: Vec<Key>,
        /// The row that they are put after.
        anchor: Option<Key>,
        /// The first and the last of them, where only these were written.
        segment: Option<(Key, Key)>,
    },
    /// The text that stands for what was compacted.
    CompactSummary,
    /// Old thinking is no longer sent.
    ThinkingStripped(ThinkingScope),
    /// A title for the session, by the user (`chosen`) or by a model.
    Title {
        /// The title.
        text: String,
        /// True if the user wrote it.
        chosen: bool,
    },
    /// This session continues another one from the row named.
    ForkedFrom {
        /// The other session's id.
        session: String,
        /// Bytes of the other session's file whose rows come before those of this one, where they are not copied into it.
        inherits: Option<u64>,
    },
    /// A line that is broken, and how.
    Fault(Fault),
    /// Its output tokens, as far as they are known, stand for thinking whose text is not in the file.
    ThinkingTokens(u64),
    /// How many tokens the window of the model holds, as the client says.
    Capacity(u64),
    /// The user went back behind this many of the last prompts.
    RolledBack(u32),
}

/// How far thinking is no longer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThinkingScope {
    /// All thinking before this row.
    All,
    /// The thinking before this row, from the message named on.
    From {
        /// The first message whose thinking is dropped.
        message: Key,
        /// How many thinking blocks of that message stay.
        kept: u32,
    },
}

/// Fault of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Not JSON.
    NotJson,
    /// JSON, but no object.
    NotAnObject,
    /// Two or more objects on one line: a line feed was lost.
    Glued,
    /// The last line, without its end: it is being written, or the writer died.
    HalfWritten,
    /// The same row identity as an earlier row.
    DuplicateId,
    /// Its parent is not in the file.
    DanglingParent,
    /// A tool result whose tool use is not in the file.
    OrphanResult,
    /// A tool use that nothing answers.
    UnansweredUse,
    /// The session that it inherits rows from is not found.
    MissingParentSession,
}

/// How often each fault was seen.
pub type Damage = std::collections::BTreeMap<Fault, u32>;

/// Usage of a response as the API reported it, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input that no cache held.
    pub input: u64,
    /// Input that was read from the prompt cache.
    pub cache_read: u64,
    /// Input that was written to the prompt cache.
    pub cache_creation: u64,
    /// Output; on the last row of a response it is final.
    pub output: u64,
}

impl Usage {
    /// All input tokens: the window as it was sent.
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_creation)
    }
}

/// Under which circumstances rows were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The session id in the row.
    pub session: String,
    /// The working directory.
    pub directory: String,
    /// The version of the client.
    pub version: String,
    /// The git branch.
    pub branch: String,
}
