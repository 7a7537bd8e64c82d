//! Rows that aperture adds to a session, and rules of the client about thinking and context that a rewrite must respect.

use std::borrow::Cow;
use std::rc::Rc;

/// The value of [`Slot::Parent`](crate::model::Slot::Parent) in a row that follows no row.
pub const NO_PARENT: &[u8] = b"null";
/// The value of [`Slot::Message`](crate::model::Slot::Message) without blocks.
pub const EMPTY_MESSAGE: &[u8] = b"[]";

/// Writes rows of one format that its client keeps, sends or obeys. `None` from a function means that the format has no such row.
pub trait Rewriter: Sync {
    /// Returns the thinking blocks in a value of [`Slot::Message`](crate::model::Slot::Message), each as it is written there.
    fn thinking_in<'v>(&self, _message: &'v [u8]) -> Vec<&'v str> {
        Vec::new()
    }

    methods! {
        /// Returns the beginning of a session that its client continues. `None` if no such session is written.
        opening(_new: &NewSession<'_>) -> Option<Opening> = None;
        /// Returns the rows with a text of the conversation, of which the first is the one that it has in requests.
        message(_new: &NewRow<'_>, _text: &NewText<'_>) -> Option<Vec<Vec<u8>>> = None;
        /// Returns a row that the client keeps and sends: a text of a kind of our own.
        note(_new: &NewRow<'_>, _label: &str, _content: &str) -> Option<Vec<u8>> = None;
        /// Returns a row after which the client no longer sends the thinking before it, from the message of the row `first` on, without
        /// the first `kept` thinking blocks of that message.
        strip_thinking(_new: &NewRow<'_>, _first: &[u8], _kept: u32) -> Option<Vec<u8>> = None;
        /// Returns a row that is not sent, and from whose parent the client resumes.
        leaf(_new: &NewRow<'_>) -> Option<Vec<u8>> = None;
        /// Returns a row that replaces all rows before it by the rows of `first`, a text, and the rows of `last`. `None` if rows are
        /// linked, so that some can be left out instead.
        restart(_new: &NewRow<'_>, _first: &[Rc<[u8]>], _text: &str, _last: &[Rc<[u8]>]) -> Option<Vec<u8>> = None;
        /// Returns a row with the payload of another one.
        repeat(_new: &NewRow<'_>, _row: &[u8]) -> Option<Vec<u8>> = None;
        /// Returns the part that a row has in the client's record of the context that it sent. When it resumes, such a client compares
        /// this record with the present context, and sends the context again if there is no record.
        known_context(_row: &[u8]) -> Option<KnownContext> = None;
        /// Returns a row as a fork of its session has it; `None` if the fork leaves it out.
        forked(_row: &[u8], _fork: &ForkedRow<'_>) -> Option<Vec<u8>> = None;
        /// Returns true if a row without content belongs to the turn before it: its bill, or its end.
        follows_turn(_row: &[u8]) -> bool = false;
        /// Returns true if the client's version that wrote a row understands [`Rewriter::strip_thinking`].
        knows_stripping(_row: &[u8]) -> bool = false;
        /// Returns true if the API refuses thinking after the content before it changed.
        binds_thinking() -> bool = false;
        /// Returns true if a row holds the system prompt or the tools that the client sends while the row is on the live chain.
        is_frozen_system(_row: &[u8]) -> bool = false;
        /// Returns the value of [`Slot::Subtype`](crate::model::Slot::Subtype) with which a boundary no longer cuts.
        uncut_boundary() -> Option<&'static [u8]> = None;
        /// Returns true if a row holds one thinking block and nothing else, so that its content can be emptied.
        is_only_thinking(_row: &[u8]) -> bool = false;
    }
}

/// Reads and writes the usage figures of one format, and knows the life of its prompt cache.
pub trait Billing: Sync {
    /// Returns the life of the cache entries that a response wrote, in milliseconds, by its usage value.
    fn cache_milliseconds(&self, _usage: &[u8]) -> i64 {
        // The shortest life at the usual APIs; OpenAI caches a prefix for five to ten minutes after its last use.
        300_000
    }

    methods! {
        /// Returns the usage value of a response with `sent` input tokens, from which the client computes how full the window is. `row`
        /// is the row that holds the value; `None` if the value holds no such figure.
        usage(_value: &[u8], _sent: u64, _row: &[u8]) -> Option<Vec<u8>> = None;
        /// Returns true if two usage values hold the same bill.
        same_bills(before: &[u8], after: &[u8]) -> bool = before == after;
    }
}

/// The values of a row that is added.
#[derive(Clone, Debug)]
pub struct NewRow<'a> {
    /// A row whose circumstances (directory, version, branch) it shares.
    pub like: &'a [u8],
    /// The identity of the row that it follows, as that row writes it.
    pub parent: Vec<u8>,
    pub id: String,
    /// The time of writing, RFC 3339.
    pub timestamp: String,
    /// True if it belongs to a subagent.
    pub sidechain: bool,
    /// Its ordinal, if the rows of the file are numbered.
    pub ordinal: Option<u64>,
}

/// The values of a session that is written from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    pub id: &'a str,
    pub directory: &'a str,
    /// The time of writing, RFC 3339.
    pub timestamp: &'a str,
}

/// The beginning of a session.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The first row; `None` if the format begins with the conversation.
    pub row: Option<Vec<u8>>,
    /// A row whose circumstances the others share, as [`NewRow::like`].
    pub like: Vec<u8>,
}

/// The name of a [`NewText::Record`] in the rows of a client: a label or a tag.
pub const RECORD: &str = "tool_record";

/// A text of a conversation, apart from the format of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewText<'a> {
    User(Cow<'a, str>),
    /// Words of the model, with its name.
    Assistant(Cow<'a, str>, &'a str),
    /// A record that neither of them wrote, such as a call of a tool and its result.
    Record(String),
}

/// A row that is copied into a fork.
#[derive(Clone, Copy, Debug)]
pub struct ForkedRow<'a> {
    pub id: &'a str,
    /// The id of the session that is forked.
    pub source: &'a str,
    pub is_first: bool,
}

/// The context that a client sent, as a row records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownContext {
    Whole,
    /// The changes since the row before.
    Change,
    /// The settings of a turn, of which the last count.
    Settings,
}
