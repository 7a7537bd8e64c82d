use super::{Address, FENCE, Key, OperationId, words};
use serde::Deserialize;

/// The number of a proposal in its store, from 1; never reused.
pub type ProposalNumber = i64;

words! {
    /// Verb of a model command.
    #[derive(Hash, PartialOrd, Ord, Deserialize)]
    pub enum Verb {
        /// Shows all of a shortened block again, in its place.
        Expand = "expand",
        /// Shows content that left the context window.
        Recall = "recall",
        /// Shortens blocks.
        Compress = "compress",
        /// Moves blocks to cold storage.
        Archive = "archive",
        /// Keeps blocks unchanged.
        Pin = "pin",
        /// Unpins blocks that the model pinned.
        Unpin = "unpin",
        /// Marks blocks as relevant now.
        Focus = "focus",
        /// Clears the focus marks that the model set.
        Unfocus = "unfocus",
        /// Replaces the text of a block.
        Update = "update",
        /// Adds a note.
        Create = "create",
        /// Records words about the turn.
        Housekeeping = "housekeeping",
    }
}

impl Verb {
    /// Returns the action as a past participle, such as `archived`.
    pub fn past(self) -> &'static str {
        match self {
            Verb::Expand => "expanded",
            Verb::Recall => "recalled",
            Verb::Compress => "compressed",
            Verb::Pin => "pinned",
            Verb::Unpin => "unpinned",
            Verb::Focus => "focused",
            Verb::Unfocus => "unfocused",
            Verb::Archive => "archived",
            Verb::Update => "updated",
            Verb::Create => "created",
            Verb::Housekeeping => "recorded",
        }
    }
}

/// The place of a command in a session. Forks of a session inherit it, so it is executed once in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandPlace {
    pub row: Key,
    pub block: u32,
    /// Offset in its text, in bytes.
    pub offset: u32,
}

words! {
    /// The status of a command of the model.
    #[derive(Hash)]
    pub enum ProposalStatus {
        /// Recorded, and not decided yet.
        Recorded = "recorded",
        /// Being executed.
        Begun = "begun",
        /// Waiting for the user.
        Waiting = "waiting",
        /// Executed.
        Done = "done",
        /// Denied by the user or by a setting.
        Denied = "denied",
        /// Impossible to execute.
        Refused = "refused",
    }
}

/// The number of a reported message in its store; never reused.
pub type MessageId = i64;

/// A message of the model that a client reported in a hook before it wrote the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedMessage {
    /// The last row of the user side in the file at that time; the message's row comes after it.
    pub after: Option<Key>,
    /// The maximum number of prompts between that row and the message.
    pub prompts: u32,
    /// The BLAKE3 of its text.
    pub content: Address,
}

/// A command that the model wrote, and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub number: ProposalNumber,
    /// Its place. As long as the message is not in the file, no row has this key.
    pub place: CommandPlace,
    /// The reported message that contains it, if the client reported the message before it wrote the row.
    pub message: Option<MessageId>,
    pub turn: u32,
    /// The command as written in the text, or the command line of a tool call.
    pub command: String,
    /// The request of a tool call, as JSON; `None` for a command in the text, and for calls of earlier versions.
    pub request: Option<String>,
    /// The addresses of its blocks, as JSON; empty if it names none. Earlier versions stored a selector of numbers.
    pub blocks: String,
    pub status: ProposalStatus,
    pub answer: String,
    /// The operation that executed it, if the session was changed.
    pub operation: Option<OperationId>,
    pub count: u32,
    /// The time when it was found, in milliseconds since 1970, UTC.
    pub time: i64,
}

impl Proposal {
    /// Command, if it could be parsed.
    pub fn verb(&self) -> Option<Verb> {
        // In a fenced block, all but the block itself is a request for turns.
        if self.command.starts_with(FENCE) {
            return Some(Verb::Housekeeping);
        }
        if self.command.starts_with(['{', '[', '"']) {
            return Some(Verb::Recall);
        }
        let name = self.command.strip_prefix('@').unwrap_or(&self.command).split(['(', ' ']).next();
        name.and_then(Verb::from_name)
    }
}
