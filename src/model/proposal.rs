use super::{Address, Key, OperationId};
use serde::{Deserialize, Serialize};

/// The number of a proposal in its store, from 1; never given twice.
pub type ProposalNumber = i64;

/// Verb of a model command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// To see all of a shortened block again, in its place.
    Expand,
    /// To read again what left its sight.
    Recall,
    /// That blocks get shorter.
    Compress,
    /// That blocks stay as they are.
    Pin,
    /// That what it pinned is let go.
    Unpin,
    /// That blocks matter now.
    Focus,
    /// That what it selected is let go.
    Unfocus,
    /// That blocks go to cold storage.
    Archive,
    /// That a block says something else.
    Update,
    /// That a note is kept.
    Create,
}

impl Verb {
    /// Every verb, in the order of help texts.
    pub const ALL: [Verb; 10] = [
        Verb::Expand,
        Verb::Recall,
        Verb::Compress,
        Verb::Archive,
        Verb::Pin,
        Verb::Unpin,
        Verb::Focus,
        Verb::Unfocus,
        Verb::Update,
        Verb::Create,
    ];

    /// The word for it, as the model writes it behind `@`.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Expand => "expand",
            Verb::Recall => "recall",
            Verb::Compress => "compress",
            Verb::Pin => "pin",
            Verb::Unpin => "unpin",
            Verb::Focus => "focus",
            Verb::Unfocus => "unfocus",
            Verb::Archive => "archive",
            Verb::Update => "update",
            Verb::Create => "create",
        }
    }

    /// The verb with this name.
    pub fn from_name(name: &str) -> Option<Verb> {
        Verb::ALL.into_iter().find(|verb| verb.name() == name)
    }

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
        }
    }
}

/// Where a command stands in a session. Forks of a session keep it, and so it is obeyed once in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandPlace {
    /// The identity of the row.
    pub row: Key,
    /// The index of the block in it.
    pub block: u32,
    /// Bytes of text before it.
    pub offset: u32,
}

/// Status of a model command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalStatus {
    /// It was found in a message that the client reported, and nothing was decided yet.
    Recorded,
    /// It is being carried out.
    Begun,
    /// The user has not decided yet.
    Waiting,
    /// It was carried out.
    Done,
    /// The user, or a setting of the user, said no.
    Denied,
    /// It cannot be carried out.
    Refused,
}

impl ProposalStatus {
    /// Every status.
    pub const ALL: [ProposalStatus; 6] = [
        ProposalStatus::Recorded,
        ProposalStatus::Begun,
        ProposalStatus::Waiting,
        ProposalStatus::Done,
        ProposalStatus::Denied,
        ProposalStatus::Refused,
    ];

    /// The word for it, as in the store and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ProposalStatus::Recorded => "recorded",
            ProposalStatus::Begun => "begun",
            ProposalStatus::Waiting => "waiting",
            ProposalStatus::Done => "done",
            ProposalStatus::Denied => "denied",
            ProposalStatus::Refused => "refused",
        }
    }
}

/// The number of a reported message in its store; never given twice.
pub type MessageId = i64;

/// A message of the model that a client reported in a hook before it wrote the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedMessage {
    /// The last row of the user side in the file at that time; the message's row comes after it.
    pub after: Option<Key>,
    /// How many prompts can come between that row and the message.
    pub prompts: u32,
    /// The BLAKE3 of its text.
    pub content: Address,
}

/// A command that the model wrote, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Its number.
    pub number: ProposalNumber,
    /// Where it was written. As long as the file does not hold the message, no row has this key.
    pub place: CommandPlace,
    /// The reported message in which it was found, if the client reported it before it wrote the row.
    pub message: Option<MessageId>,
    /// The turn in which it was written.
    pub turn: u32,
    /// The command as it was written in the text, or the command line of a tool call.
    pub command: String,
    /// The request of a tool call, as JSON; `None` for a command in the text, and for calls of earlier versions.
    pub request: Option<String>,
    /// The blocks that it names, as a selector of numbers; empty where it names none.
    pub blocks: String,
    /// Status.
    pub status: ProposalStatus,
    /// Answer to the model.
    pub answer: String,
    /// The operation that carried it out, where the session was changed.
    pub operation: Option<OperationId>,
    /// How many blocks that concerned.
    pub count: u32,
    /// When it was found, in milliseconds since 1970, UTC.
    pub time: i64,
}

impl Proposal {
    /// Command, if it could be parsed.
    pub fn verb(&self) -> Option<Verb> {
        let name = self.command.strip_prefix('@').unwrap_or(&self.command).split(['(', ' ']).next();
        name.and_then(Verb::from_name)
    }
}
