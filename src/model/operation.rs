use super::{BlockNumber, Key, Level, Pin};
use serde::{Deserialize, Serialize};

/// The number of an operation in the log of its session, from 1.
pub type OperationId = u32;

/// BLAKE3 of a value: its address in the store.
pub type Address = [u8; 32];

/// A row, named so that it is found again in a file that grew or was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowAddress {
    /// Its own identity.
    pub id: Key,
    /// How many rows of the same identity come before it in the file.
    pub occurrence: u32,
}

/// A value in a row that an edit replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// What the model sees of the block with this index.
    Content(u32),
    /// The whole content block with this index.
    Element(u32),
    /// The input of the tool use with this index, where it is any text.
    Input(u32),
    /// The list of content blocks of a message.
    Message,
    /// What the API billed.
    Usage,
    /// The row that it follows.
    Parent,
    /// For a row that cuts the conversation, the row that it would follow if it did not.
    LogicalParent,
    /// What kind of system row it is.
    Subtype,
    /// The whole line, with the line feeds that came with it.
    Line,
}

impl Slot {
    /// Every slot that stands once in a row.
    const PLAIN: [Slot; 6] = [Slot::Message, Slot::Usage, Slot::Parent, Slot::LogicalParent, Slot::Subtype, Slot::Line];

    /// The form in the store: `content:3`, `usage`, …
    pub fn name(self) -> String {
        match self {
            Slot::Content(index) => format!("content:{index}"),
            Slot::Element(index) => format!("element:{index}"),
            Slot::Input(index) => format!("input:{index}"),
            Slot::Message => "message".to_owned(),
            Slot::Usage => "usage".to_owned(),
            Slot::Parent => "parent".to_owned(),
            Slot::LogicalParent => "logical-parent".to_owned(),
            Slot::Subtype => "subtype".to_owned(),
            Slot::Line => "line".to_owned(),
        }
    }

    /// The slot with this name.
    pub fn from_name(name: &str) -> Option<Slot> {
        match name.split_once(':') {
            Some(("content", index)) => index.parse().ok().map(Slot::Content),
            Some(("element", index)) => index.parse().ok().map(Slot::Element),
            Some(("input", index)) => index.parse().ok().map(Slot::Input),
            _ => Slot::PLAIN.into_iter().find(|slot| slot.name() == name),
        }
    }

    /// The index of the block that it holds, if it holds one.
    pub fn index(self) -> Option<u32> {
        match self {
            Slot::Content(index) | Slot::Element(index) | Slot::Input(index) => Some(index),
            _ => None,
        }
    }

    /// Whether the model sees what stands there, so that a change of it changes what is sent.
    pub fn is_sent(self) -> bool {
        self != Slot::Usage
    }
}

/// What an edit does to a block, for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockChange {
    /// The block, by its number when the edit was made.
    pub number: BlockNumber,
    /// What it is, in a few words.
    pub label: String,
    /// How much of it was left before.
    pub level_before: Level,
    /// How much of it is left.
    pub level_after: Level,
    /// What it cost before, in tokens.
    pub tokens_before: f64,
    /// What it costs now, in tokens.
    pub tokens_after: f64,
    /// Why, if the user said so.
    pub reason: String,
}

/// One value of one row, replaced. The bytes are those of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The row.
    pub row: RowAddress,
    /// The value in it.
    pub slot: Slot,
    /// The value before; none where there was no such row.
    pub before: Option<Vec<u8>>,
    /// The value after; none where there is no such row any more.
    pub after: Option<Vec<u8>>,
    /// What that does to a block; none for what only goes with the edits of others.
    pub change: Option<BlockChange>,
}

/// What the user can put on a block without changing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// It is pinned, until it is unpinned.
    Pin,
    /// It is selected for now.
    Focus,
}

impl MarkKind {
    /// The word for it in the store.
    pub fn name(self) -> &'static str {
        match self {
            MarkKind::Pin => "pin",
            MarkKind::Focus => "focus",
        }
    }
}

/// Where a mark is put: a block, and its content, by which it is found again when the row is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MarkAddress {
    /// The row.
    pub row: RowAddress,
    /// The block in it.
    pub index: u32,
    /// XXH3-128 of the original content.
    pub content: Key,
}

/// A mark, put on or taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The block.
    pub address: MarkAddress,
    /// Which mark.
    pub kind: MarkKind,
    /// What it said before: where it is pinned, or the turn in which it was selected; none where there was none.
    pub before: Option<String>,
    /// What it says now; none where it was taken off.
    pub after: Option<String>,
    /// The block, by its number when the mark was put.
    pub number: BlockNumber,
}

/// What an operation is, for undo and redo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// It changes something.
    Change,
    /// It takes another one back.
    Undo,
    /// It takes an undo back.
    Redo,
}

impl OperationKind {
    /// The word for it in the store.
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::Change => "change",
            OperationKind::Undo => "undo",
            OperationKind::Redo => "redo",
        }
    }
}

/// Who gave a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The user.
    #[default]
    User,
    /// The model, in its text.
    Model,
    /// A rule of the settings.
    Policy,
}

impl Actor {
    /// Every actor.
    pub const ALL: [Actor; 3] = [Actor::User, Actor::Model, Actor::Policy];

    /// The word for it in the store.
    pub fn name(self) -> &'static str {
        match self {
            Actor::User => "user",
            Actor::Model => "model",
            Actor::Policy => "policy",
        }
    }
}

/// Which edits, and for which bytes: a pure value. Only `workspace` applies it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it is.
    pub kind: OperationKind,
    /// The command as it was given, for the log.
    pub command: String,
    /// Who gave it.
    pub actor: Actor,
    /// The operation that it takes back.
    pub inverts: Option<OperationId>,
    /// The edits in file order; rows that are added stand last, in their order.
    pub edits: Vec<Edit>,
    /// The marks.
    pub marks: Vec<Mark>,
    /// Bytes of the file that it is for; what follows them was written since.
    pub base_bytes: u64,
    /// BLAKE3 of these bytes.
    pub base_hash: Address,
    /// What the window cost before, in tokens.
    pub tokens_before: f64,
    /// What it costs after it, in tokens.
    pub tokens_after: f64,
    /// The last row of the file that has an identity: what is written behind it was written after this plan.
    pub last_row: Option<Key>,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.marks.is_empty()
    }
}

/// How far an operation came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationState {
    /// It is logged; whether the file was replaced is not known yet.
    Prepared,
    /// It was done.
    Committed,
    /// It was not done: the file was never replaced.
    Aborted,
}

impl OperationState {
    /// The word for it in the store.
    pub fn name(self) -> &'static str {
        match self {
            OperationState::Prepared => "prepared",
            OperationState::Committed => "committed",
            OperationState::Aborted => "aborted",
        }
    }
}

/// An edit as it is logged: the values by their address in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEdit {
    /// The row.
    pub row: RowAddress,
    /// The value in it.
    pub slot: Slot,
    /// The value before.
    pub before: Option<Address>,
    /// The value after.
    pub after: Option<Address>,
    /// What that does to a block.
    pub change: Option<BlockChange>,
}

impl LoggedEdit {
    /// Whether both change the same block, or the same value.
    pub fn overlaps(&self, other: &LoggedEdit) -> bool {
        self.row == other.row
            && (self.slot == other.slot || self.slot.index().is_some() && self.slot.index() == other.slot.index())
    }
}

/// A plan that was applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its number in the log of the session, from 1.
    pub id: OperationId,
    /// What it is.
    pub kind: OperationKind,
    /// How far it came.
    pub state: OperationState,
    /// When, in milliseconds since 1970, UTC.
    pub time: i64,
    /// The command as it was given.
    pub command: String,
    /// Who gave it.
    pub actor: Actor,
    /// The operation that it takes back.
    pub inverts: Option<OperationId>,
    /// The edits in the order of the plan.
    pub edits: Vec<LoggedEdit>,
    /// The marks.
    pub marks: Vec<Mark>,
    /// What the window cost before, in tokens.
    pub tokens_before: f64,
    /// What it cost after it, in tokens.
    pub tokens_after: f64,
    /// The last row of the file then that has an identity.
    pub last_row: Option<Key>,
    /// Bytes of the file that it wrote, without what the client appended meanwhile; none where it wrote no file.
    pub after_bytes: Option<u64>,
    /// BLAKE3 of these bytes.
    pub after_hash: Option<Address>,
}

/// All that was done to a session, oldest first; what was aborted is not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The operations that were done.
    pub operations: Vec<Operation>,
    /// The marks as they are now.
    pub marks: Vec<(MarkAddress, MarkKind, String)>,
    /// Named points: the last operation that belongs to each, 0 for the original.
    pub snapshots: Vec<Snapshot>,
}

/// A named point in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Its name.
    pub name: String,
    /// The last operation that belongs to it; 0 for the original.
    pub operation: OperationId,
    /// When it was saved, in milliseconds since 1970, UTC.
    pub time: i64,
}

impl History {
    /// The operation with a number.
    pub fn operation(&self, id: OperationId) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// The number of the last operation, 0 before the first.
    pub fn last(&self) -> OperationId {
        self.operations.last().map_or(0, |operation| operation.id)
    }

    /// The operation that took `id` back and is itself in force, if there is one.
    pub fn undone_by(&self, id: OperationId) -> Option<OperationId> {
        let inverting = self.operations.iter().rev().filter(|operation| operation.inverts == Some(id));
        inverting.map(|operation| operation.id).find(|inverse| self.undone_by(*inverse).is_none())
    }

    /// The last change that is in force: what `undo` takes back.
    pub fn undoable(&self) -> Option<OperationId> {
        let changes = self.operations.iter().rev().filter(|operation| operation.kind == OperationKind::Change);
        changes.map(|operation| operation.id).find(|id| self.undone_by(*id).is_none())
    }

    /// The last undo that is in force: what `redo` takes back.
    pub fn redoable(&self) -> Option<OperationId> {
        let undos = self.operations.iter().rev().filter(|operation| operation.kind == OperationKind::Undo);
        undos.map(|operation| operation.id).find(|id| self.undone_by(*id).is_none())
    }

    /// Every edit of a block, oldest first, whatever slot it went through.
    pub fn edits_of(&self, row: RowAddress, index: u32) -> impl Iterator<Item = (&Operation, &LoggedEdit)> {
        let edits = self.operations.iter().flat_map(|operation| operation.edits.iter().map(move |edit| (operation, edit)));
        edits.filter(move |(_, edit)| edit.row == row && edit.slot.index() == Some(index))
    }
}

/// Where a pin stands, as a mark says it.
impl Pin {
    /// The pin that a mark means.
    pub fn from_mark(text: &str) -> Pin {
        match text {
            "top" => Pin::Top,
            "bottom" => Pin::Bottom,
            _ => Pin::Here,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Pin::Here => "here",
            Pin::Top => "top",
            Pin::Bottom => "bottom",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(entries: &[(OperationKind, Option<OperationId>)]) -> History {
        let operations = entries.iter().zip(1..).map(|((kind, inverts), id)| Operation {
            id,
            kind: *kind,
            state: OperationState::Committed,
            time: 0,
            command: String::new(),
            actor: Actor::User,
            inverts: *inverts,
            edits: Vec::new(),
            marks: Vec::new(),
            tokens_before: 0.0,
            tokens_after: 0.0,
            last_row: None,
            after_bytes: None,
            after_hash: None,
        });
        History { operations: operations.collect(), ..History::default() }
    }

    #[test]
    fn undo_goes_back_and_redo_forth() {
        use OperationKind::{Change, Redo, Undo};
        let check = |entries: &[(OperationKind, Option<OperationId>)], undoable, redoable| {
            let history = log(entries);
            assert_eq!((history.undoable(), history.redoable()), (undoable, redoable), "{entries:?}");
        };
        check(&[], None, None);
        check(&[(Change, None), (Change, None)], Some(2), None);
        check(&[(Change, None), (Change, None), (Undo, Some(2))], Some(1), Some(3));
        check(&[(Change, None), (Change, None), (Undo, Some(2)), (Undo, Some(1))], None, Some(4));
        check(&[(Change, None), (Change, None), (Undo, Some(2)), (Undo, Some(1)), (Redo, Some(4))], Some(1), Some(3));
        check(
            &[(Change, None), (Change, None), (Undo, Some(2)), (Undo, Some(1)), (Redo, Some(4)), (Redo, Some(3))],
            Some(2),
            None,
        );
    }

    #[test]
    fn a_slot_is_read_as_it_is_written() {
        for slot in [Slot::Content(3), Slot::Element(0), Slot::Input(1)].into_iter().chain(Slot::PLAIN) {
            assert_eq!(Slot::from_name(&slot.name()), Some(slot));
        }
        assert_eq!(Slot::from_name("content:x"), None);
    }
}
