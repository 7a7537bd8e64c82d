use super::{BilledTokens, Flags, Key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One line of a session file: its place, and its properties for the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Offset of the row in the file, in bytes.
    pub offset: u64,
    /// Bytes without the line feed.
    pub length: u32,
    /// Hash of its bytes; zero if it is not of a file.
    pub line: Key,
    /// Role of the row in the window.
    pub kind: RowKind,
    /// Its own identity in the tree of rows.
    pub id: Option<Key>,
    pub parent: Option<Key>,
    /// The id of its API message; a response consists of several rows.
    pub message: Option<Key>,
    /// The row with the tool use that this row answers; for an attachment, the tool use that it belongs to.
    pub answers: Option<Key>,
    /// The time when it was written, in milliseconds since 1970, UTC.
    pub timestamp: Option<i64>,
    /// True if it opens a turn: a request by the user, or by a program in the user's place.
    pub prompt: bool,
    /// True if it belongs to a subagent whose rows are in the same file.
    pub sidechain: bool,
    /// Other properties that affect whether and where it is sent.
    pub flags: Flags,
    /// The tokens billed up to and for this response; the output is final on its last row.
    pub usage: Option<BilledTokens>,
    pub model: Option<Box<str>>,
    /// True if it has a stop reason of the API, so that the output tokens are final.
    pub finished: bool,
    pub event: Option<Box<Event>>,
    /// Its origin: an index into the origins of its segment, and of its session once joined.
    pub origin: u32,
    /// The number of its blocks; they follow those of the preceding row.
    pub blocks: u32,
}

impl Row {
    pub fn new(kind: RowKind) -> Row {
        Row { kind, ..Row::default() }
    }

    /// Returns until when the rows behind this head were copied from the session of the agent that started it, in milliseconds; `None` if
    /// a person started it. A client copies rows with the time of the head.
    pub fn copied_until(&self) -> Option<i64> {
        const COPYING_MILLISECONDS: i64 = 500;
        let start = self.timestamp.filter(|_| self.flags.any(Flags::SUBAGENT))?;
        Some(start + COPYING_MILLISECONDS)
    }

    /// Returns true if it was written after a time, which must be known.
    pub fn is_after(&self, time: Option<i64>) -> bool {
        self.timestamp.zip(time).is_some_and(|(written, time)| written > time)
    }
}

/// Role of a row in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// A message of the user side: a prompt or tool results.
    User,
    /// A part of a response of the model.
    Assistant,
    /// A text that the client adds: a reminder, a file, the output of a hook or of a local command.
    Attachment,
    /// A link of the chain that is never sent: system rows, progress, failed calls.
    Link,
    /// The point where a compaction cut the conversation.
    Boundary,
    /// State of the client that is not part of the conversation: titles, modes, the active leaf.
    State,
    /// A record that never reaches the model, such as a file snapshot or a replayed request.
    Record,
    /// A row of a type that this version does not know; preserved, never sent.
    #[default]
    Foreign,
    /// A line that is not a complete JSON object; preserved, never sent.
    Broken,
}

/// Event of a row beside its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The row at which a resume starts; `explicit` after a rewind by the user.
    Leaf {
        /// The last row of the live chain.
        leaf: Option<Key>,
        /// True if the user chose it, so that later rows do not count.
        explicit: bool,
    },
    /// A compaction, and the earlier rows that it keeps.
    Compaction {
        /// The row that it follows, as its client says.
        follows: Option<Key>,
        /// Rows whose messages follow the summary.
        preserved: Vec<Key>,
        anchor: Option<Key>,
        /// The first and the last of them, if only these were written.
        segment: Option<(Key, Key)>,
        /// The tokens at which the client compacted by itself.
        automatic_at: Option<u64>,
    },
    /// The text that replaces the compacted messages.
    CompactSummary,
    /// Old thinking is no longer sent.
    ThinkingStripped(ThinkingScope),
    /// A record of the system prompt and the tools that the client sends outside the conversation.
    PromptSnapshot,
    /// A title for the session, by the user (`chosen`) or by a model.
    Title {
        text: String,
        /// True if the user wrote it.
        chosen: bool,
    },
    /// This session continues another one from the given row.
    ForkedFrom {
        session: String,
        /// Bytes of the other session's file whose rows precede those of this one, if they are not copied into it.
        inherits: Option<u64>,
    },
    /// A broken line, with its fault.
    Fault(Fault),
    /// Its output tokens, as far as they are known, are those of thinking whose text is not in the file.
    ThinkingTokens(u64),
    /// A file as a tool left it, of a client that does not record the files that it sends again.
    File { bytes: u64 },
    /// A change of the agent's plan, which the client repeats in its reminders.
    Plan(PlanChange),
    /// A change of the prompts that wait while the agent works.
    Queue(QueueChange),
    /// The size of the model's window in tokens, as reported by the client.
    Capacity(u64),
    /// The user rewound the conversation by this number of prompts.
    RolledBack(u32),
}

/// A change of the prompts that wait while the agent works; the first one leaves first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueChange {
    /// A prompt waits; it is empty if it is a notice of the client.
    Added(Box<str>),
    /// One was sent beside the results of tools.
    Sent,
    Prompted,
    Emptied,
}

/// The prompts that wait while the agent works.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WaitingPrompts(VecDeque<Box<str>>);

impl WaitingPrompts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Applies a change. Returns the prompt that it sends beside the results of tools.
    pub fn apply(&mut self, change: &QueueChange) -> Option<Box<str>> {
        match change {
            QueueChange::Added(prompt) => self.0.push_back(prompt.clone()),
            QueueChange::Sent => return self.0.pop_front().filter(|prompt| !prompt.is_empty()),
            QueueChange::Prompted => drop(self.0.pop_front()),
            QueueChange::Emptied => self.0.clear(),
        }
        None
    }
}

/// A change of a plan, or the whole plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    pub replaces: bool,
    pub entries: u32,
    pub characters: u32,
    /// Number of entries that it finishes or removes.
    pub done: u32,
}

impl PlanChange {
    /// Returns this plan after a change. A plan whose entries are all done is empty.
    pub fn changed(self, change: PlanChange) -> PlanChange {
        let before = if change.replaces { PlanChange::default() } else { self };
        let after = PlanChange {
            replaces: true,
            entries: before.entries.saturating_add(change.entries),
            characters: before.characters.saturating_add(change.characters),
            done: before.done.saturating_add(change.done),
        };
        if after.done >= after.entries { PlanChange::default() } else { after }
    }
}

/// The range of thinking that is no longer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThinkingScope {
    All,
    /// The thinking before this row, from the given message on.
    From {
        /// The first message whose thinking is dropped.
        message: Key,
        /// The number of thinking blocks of that message that stay.
        kept: u32,
    },
}

/// A kind of damage in a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A line that is not JSON.
    NotJson,
    /// A line that is JSON, but not an object.
    NotAnObject,
    /// Further rows on the line of a row.
    Glued,
    /// A row after bytes that are not one.
    Buried,
    /// An incomplete last line.
    HalfWritten,
    /// A row with the id of an earlier row.
    DuplicateId,
    /// A row whose parent is missing.
    DanglingParent,
    /// A tool result without its tool call.
    OrphanResult,
    /// A tool call without a result.
    UnansweredUse,
    /// An inherited session that was not found.
    MissingParentSession,
    /// An inherited session that ends before what is inherited from it.
    ShortParentSession,
    /// A last row without a number in a session whose rows are numbered.
    MissingOrdinal,
    /// A bill larger than the window; an estimate is used instead.
    ImpossibleBill,
}

/// The number of occurrences of each fault.
pub type Damage = std::collections::BTreeMap<Fault, u32>;

/// The origin of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub session: String,
    pub directory: String,
    pub version: String,
    pub branch: String,
}
