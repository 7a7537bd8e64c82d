use super::key::JsonText;
use super::{BlockNumber, Key, Level, Pin, WindowChange, words};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The number of an operation in the log of its session, from 1.
pub type OperationId = u32;

/// BLAKE3 of a value: its address in the store.
pub type Address = [u8; 32];

impl JsonText for Address {
    fn to_text(&self) -> String {
        blake3::Hash::from_bytes(*self).to_hex().to_string()
    }

    fn parse(text: &str) -> Option<Address> {
        blake3::Hash::from_hex(text).ok().map(|hash| *hash.as_bytes())
    }
}

/// A reference to a row that still resolves after the file grew or was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowAddress {
    #[serde(rename = "row", with = "super::key::as_text")]
    pub id: Key,
    /// The number of rows with the same identity before it in the file.
    pub occurrence: u32,
}

/// A value in a row that an edit replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// Content of the block with this index, as the model receives it.
    Content(u32),
    /// The whole content block with this index.
    Element(u32),
    /// The input of the tool use with this index, if it is free text.
    Input(u32),
    /// The list of content blocks of a message.
    Message,
    Usage,
    Parent,
    /// For a compaction boundary, the row before it in the conversation.
    LogicalParent,
    /// Kind of the system row.
    Subtype,
    /// The id of the tool use that the block with this index is, or answers.
    Call(u32),
    /// The empty place at this offset of the line, where a line feed makes rows of its parts.
    Break(u32),
    /// The whole line, with the line feeds that came with it.
    Line,
    /// The lines before the row, back to the row before it that stays; the value before an edit has their length.
    Ahead,
    /// The copy of a result that the client stores for its screen.
    Display,
    /// The blanks between the JSON of a row and the end of its line.
    Padding,
    /// A string outside the blocks, at any place.
    String {
        /// The place: a hash of the path to it, each element counted within its container.
        path: u64,
        /// True if the row's text for the model depends on it.
        sent: bool,
    },
}

impl Slot {
    /// Every slot that occurs once in a row.
    const PLAIN: [(Slot, &str); 9] = [
        (Slot::Message, "message"),
        (Slot::Usage, "usage"),
        (Slot::Parent, "parent"),
        (Slot::LogicalParent, "logical-parent"),
        (Slot::Subtype, "subtype"),
        (Slot::Line, "line"),
        (Slot::Ahead, "ahead"),
        (Slot::Display, "display"),
        (Slot::Padding, "padding"),
    ];

    /// Returns the index of its block, if it belongs to one.
    pub fn index(self) -> Option<u32> {
        match self {
            Slot::Content(index) | Slot::Element(index) | Slot::Input(index) => Some(index),
            _ => None,
        }
    }

    /// Returns true if the model receives this value, so that a change of it changes the request.
    pub fn is_sent(self) -> bool {
        !matches!(self, Slot::Usage | Slot::Ahead | Slot::Display | Slot::Padding | Slot::String { sent: false, .. })
    }
}

impl JsonText for Slot {
    /// Returns the form in the store: `content:3`, `usage`, …
    fn to_text(&self) -> String {
        match *self {
            Slot::Content(index) => format!("content:{index}"),
            Slot::Element(index) => format!("element:{index}"),
            Slot::Input(index) => format!("input:{index}"),
            Slot::Call(index) => format!("call:{index}"),
            Slot::Break(offset) => format!("break:{offset}"),
            Slot::String { path, sent: false } => format!("string:{path:016x}"),
            Slot::String { path, sent: true } => format!("sent-string:{path:016x}"),
            plain => Slot::PLAIN.iter().find(|(slot, _)| *slot == plain).map_or("", |(_, name)| name).to_owned(),
        }
    }

    fn parse(text: &str) -> Option<Slot> {
        let path = |path| u64::from_str_radix(path, 16).ok();
        match text.split_once(':') {
            Some(("content", index)) => index.parse().ok().map(Slot::Content),
            Some(("element", index)) => index.parse().ok().map(Slot::Element),
            Some(("input", index)) => index.parse().ok().map(Slot::Input),
            Some(("call", index)) => index.parse().ok().map(Slot::Call),
            Some(("break", offset)) => offset.parse().ok().map(Slot::Break),
            Some(("string", at)) => path(at).map(|path| Slot::String { path, sent: false }),
            Some(("sent-string", at)) => path(at).map(|path| Slot::String { path, sent: true }),
            _ => Slot::PLAIN.iter().find(|(_, known)| *known == text).map(|(slot, _)| *slot),
        }
    }
}

/// Effect of an edit on a block, for reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockChange {
    pub number: BlockNumber,
    pub label: String,
    pub level_before: Level,
    pub level_after: Level,
    pub tokens_before: f64,
    pub tokens_after: f64,
    /// The reason that the user gave, if any.
    pub reason: String,
    /// True if credentials were removed from it.
    #[serde(default)]
    pub redacted: bool,
    /// True if the value before names credentials. They are masked in the whole session, even after the value was replaced.
    #[serde(default)]
    pub named_credentials: bool,
}

impl BlockChange {
    /// Returns the change back, for the same reason.
    pub fn inverted(&self) -> BlockChange {
        BlockChange {
            level_before: self.level_after,
            level_after: self.level_before,
            tokens_before: self.tokens_after,
            tokens_after: self.tokens_before,
            ..self.clone()
        }
    }
}

/// A replaced value of a row. The bytes are those of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub row: RowAddress,
    pub slot: Slot,
    /// The value before; `None` if the row did not exist.
    pub before: Option<Vec<u8>>,
    /// The value after; `None` if the row no longer exists.
    pub after: Option<Vec<u8>>,
    /// Effect on a block; `None` if the edit only accompanies others.
    pub change: Option<BlockChange>,
}

/// A change of a file beside the session, such as an output that the client stored apart: its whole content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanionEdit {
    pub path: PathBuf,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

/// A change of a block by its content: it applies to any block with that content, in any format and any row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockEdit {
    /// XXH3-128 of the content before.
    #[serde(with = "super::key::as_text")]
    pub content: Key,
    /// The number of blocks of the same content before it: those of the window in the order in which they are sent, then the others in
    /// file order.
    pub occurrence: u32,
    pub text: String,
    pub level: Level,
    /// The reason that the user gave; empty if there is none.
    pub reason: String,
}

impl BlockEdit {
    /// Returns true if it can be a change of thinking: that is left out, or restored, and never shortened.
    pub fn is_of_thinking(&self) -> bool {
        self.text.is_empty() && self.level == Level::Archived
            || self.level == Level::Original && Key::from_bytes(self.text.as_bytes()) == self.content
    }
}

words! {
    /// Marks that the user sets on a block without changing it.
    #[derive(Hash, PartialOrd, Ord, Deserialize)]
    pub enum MarkKind {
        /// Pinned, until it is unpinned.
        Pin = "pin",
        /// Marked as relevant now (focus).
        Focus = "focus",
        /// The words of the model about the turn that the block opens.
        Housekeeping = "housekeeping",
    }
}

/// The target of a mark: a block, and its content, by which it is found again after its row is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MarkAddress {
    #[serde(flatten)]
    pub row: RowAddress,
    pub index: u32,
    /// XXH3-128 of the original content.
    #[serde(with = "super::key::as_text")]
    pub content: Key,
}

/// A mark that is set or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    #[serde(flatten)]
    pub address: MarkAddress,
    pub kind: MarkKind,
    /// Previous value: the position of the pin, the turn of the selection, or the words as JSON; `None` if there was none.
    pub before: Option<String>,
    /// New value; `None` if the mark was removed.
    pub after: Option<String>,
    pub number: BlockNumber,
}

words! {
    /// The kind of an operation.
    #[derive(Default, Hash, Deserialize)]
    pub enum OperationKind {
        /// A change.
        #[default]
        Change = "change",
        /// An undo of an operation.
        Undo = "undo",
        /// A redo of an undone operation.
        Redo = "redo",
    }
}

words! {
    /// The origin of a command.
    #[derive(Default, Hash, Deserialize)]
    pub enum Actor {
        /// The user.
        #[default]
        User = "user",
        /// The model, in its text.
        Model = "model",
        /// A rule of the settings.
        Policy = "policy",
    }
}

/// A plan: edits and the bytes that they apply to. A pure value. Only `workspace` applies it.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a plan changes nothing until it is applied"]
pub struct Plan {
    pub kind: OperationKind,
    pub command: String,
    pub actor: Actor,
    pub inverts: Option<OperationId>,
    /// The edits in file order; added rows are last, in their order.
    pub edits: Vec<Edit>,
    pub block_edits: Vec<BlockEdit>,
    /// The same changes of the window, as far as they add, remove or join contents; `None` if they do not.
    pub window: Option<WindowChange>,
    /// For an exact undo, redo or restore: the restored bytes, in addition to [`Plan::edits`].
    pub reversal: Option<Reversal>,
    pub marks: Vec<Mark>,
    /// The changes of files beside the session.
    pub companions: Vec<CompanionEdit>,
    /// Length of the file that it applies to, in bytes; bytes after them were appended since.
    pub base_bytes: u64,
    /// BLAKE3 of these bytes.
    pub base_hash: Address,
    pub tokens_before: f64,
    pub tokens_after: f64,
    /// The last row of the file that has an identity: rows after it were written after this plan.
    pub last_row: Option<Key>,
}

impl Plan {
    /// Returns true if there is nothing to do. An operation of which nothing is left is inverted in the log alone.
    pub fn is_empty(&self) -> bool {
        self.inverts.is_none() && self.has_no_effect()
    }

    /// Returns true if it changes neither files nor marks.
    pub fn has_no_effect(&self) -> bool {
        self.edits.is_empty() && self.marks.is_empty() && self.reversal.is_none() && self.companions.is_empty()
    }

    /// Returns whether it writes the file: marks alone do not.
    pub fn writes_file(&self) -> bool {
        !self.edits.is_empty() || self.reversal.as_ref().is_some_and(|reversal| !reversal.hunks.is_empty())
    }

    /// Returns the slots that it changes; each with whether there is a value before and after.
    pub fn slots(&self) -> impl Iterator<Item = (Slot, bool, bool)> {
        let reversal = self.reversal.iter();
        let logged = reversal.clone().flat_map(|reversal| &reversal.logged);
        let logged = logged.map(|edit| (edit.slot, edit.before.is_some(), edit.after.is_some()));
        let edits = self.edits.iter().chain(reversal.flat_map(|reversal| &reversal.relinked));
        logged.chain(edits.map(|edit| (edit.slot, edit.before.is_some(), edit.after.is_some())))
    }

    pub fn changes(&self) -> impl Iterator<Item = &BlockChange> {
        let logged = self.reversal.iter().flat_map(|reversal| &reversal.logged).filter_map(|edit| edit.change.as_ref());
        logged.chain(self.edits.iter().filter_map(|edit| edit.change.as_ref()))
    }
}

/// A replacement of bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The offset in the file before the change, in bytes.
    pub offset: u64,
    /// The bytes before; empty for an insertion.
    pub before: Vec<u8>,
    /// The bytes after; empty for a removal.
    pub after: Vec<u8>,
}

/// The exact way to an earlier or later state of the file: operations of the log inverted byte by byte, newest
/// first, without any decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reversal {
    /// The replaced bytes, in file order, disjoint.
    pub hunks: Vec<Hunk>,
    /// The inverted edits, for the log and for reports; their values are in the store.
    pub logged: Vec<LoggedEdit>,
    /// Rows after that state whose parent changes, because their old parent is removed or restored.
    pub relinked: Vec<Edit>,
    /// The point of the log that has this state: an operation, or 0 for the original.
    pub point: OperationId,
}

words! {
    /// The state of an operation.
    #[derive(Default, Hash)]
    pub enum OperationState {
        /// It is logged; whether the file was replaced is unknown.
        Prepared = "prepared",
        /// It was done.
        #[default]
        Committed = "committed",
        /// It was not done: the file was never replaced.
        Aborted = "aborted",
        /// It is in force in requests, and is written to the file when the client has closed it.
        Deferred = "deferred",
        /// It was deferred, and undone or refused before it was written; or it is the undo of such an operation.
        Dropped = "dropped",
    }
}

/// A logged edit: the values by their address in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedEdit {
    #[serde(flatten)]
    pub row: RowAddress,
    #[serde(with = "super::key::as_text")]
    pub slot: Slot,
    #[serde(default, with = "super::key::as_optional_text")]
    pub before: Option<Address>,
    #[serde(default, with = "super::key::as_optional_text")]
    pub after: Option<Address>,
    pub change: Option<BlockChange>,
}

impl LoggedEdit {
    /// Returns true if both change the same block, or the same value.
    pub fn overlaps(&self, other: &LoggedEdit) -> bool {
        self.row == other.row
            && (self.slot == other.slot || self.slot.index().is_some() && self.slot.index() == other.slot.index())
    }
}

/// A logged hunk: the bytes by their address in the store, `None` if empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHunk {
    /// The offset in the file before the operation, in bytes.
    pub offset: u64,
    #[serde(default, with = "super::key::as_optional_text")]
    pub before: Option<Address>,
    #[serde(default, with = "super::key::as_optional_text")]
    pub after: Option<Address>,
}

/// The changes of the bytes of the file by an operation: sufficient to invert and to replay it without a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    pub base_bytes: u64,
    /// BLAKE3 of these bytes.
    #[serde(with = "super::key::as_text")]
    pub base_hash: Address,
    /// The hunks in file order, disjoint.
    pub hunks: Vec<LoggedHunk>,
}

/// A plan that was applied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Its number in the log of the session, from 1.
    pub id: OperationId,
    pub kind: OperationKind,
    /// Only committed operations are exported.
    #[serde(skip)]
    pub state: OperationState,
    /// The time, in milliseconds since 1970, UTC.
    pub time: i64,
    pub command: String,
    pub actor: Actor,
    pub inverts: Option<OperationId>,
    /// The edits in the order of the plan.
    pub edits: Vec<LoggedEdit>,
    pub marks: Vec<Mark>,
    pub tokens_before: f64,
    pub tokens_after: f64,
    /// The last row of the file at that time that has an identity.
    #[serde(default, with = "super::key::as_optional_text")]
    pub last_row: Option<Key>,
    /// Length of the file that it wrote, in bytes, without rows that the client appended meanwhile; `None` if it wrote no file.
    pub after_bytes: Option<u64>,
    /// BLAKE3 of these bytes.
    #[serde(default, with = "super::key::as_optional_text")]
    pub after_hash: Option<Address>,
    /// The bytes of the file that it replaced; `None` if it wrote no file, or if the version of aperture that logged it did not
    /// record that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// For an exact undo, redo or restore: the point of the log whose state the file has after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<OperationId>,
}

impl Operation {
    /// Returns a committed operation of the user that changed nothing.
    #[cfg(test)]
    pub fn example(id: OperationId, kind: OperationKind) -> Operation {
        Operation { id, kind, ..Operation::default() }
    }

    /// Returns true if it changed the session file: marks alone do not.
    pub fn writes_file(&self) -> bool {
        !self.edits.is_empty() || self.after_bytes.is_some() || self.point.is_some()
    }

    /// Returns whether it wrote the file and its delta is not known, so that it cannot be inverted byte by byte.
    pub fn lacks_delta(&self) -> bool {
        self.after_bytes.is_some() && self.delta.is_none()
    }

    /// Returns whether a value that it replaced was deleted. Such a value is logged as its replacement, so that before and after are
    /// equal.
    pub fn is_forgotten(&self) -> bool {
        self.edits.iter().any(|edit| edit.before.is_some() && edit.before == edit.after)
    }
}

/// The position of a pin as stored in a mark.
impl Pin {
    pub fn from_mark(text: &str) -> Pin {
        match text {
            "top" => Pin::Top,
            "bottom" => Pin::Bottom,
            _ => Pin::Here,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_read_as_it_is_written() {
        let strings = [true, false].map(|sent| Slot::String { path: 7, sent });
        for slot in [Slot::Content(3), Slot::Element(0), Slot::Input(1)]
            .into_iter()
            .chain(strings)
            .chain(Slot::PLAIN.map(|(slot, _)| slot))
        {
            assert_eq!(Slot::parse(&slot.to_text()), Some(slot));
        }
        assert_eq!(Slot::parse("content:x"), None);
    }
}
