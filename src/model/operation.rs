use super::{BlockNumber, Key, Level, Pin};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The number of an operation in the log of its session, from 1.
pub type OperationId = u32;

/// BLAKE3 of a value: its address in the store.
pub type Address = [u8; 32];

/// A reference to a row that still resolves after the file grew or was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowAddress {
    /// Its own identity.
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
    /// Usage billed by the API.
    Usage,
    /// The parent row.
    Parent,
    /// For a compaction boundary, the row before it in the conversation.
    LogicalParent,
    /// Kind of the system row.
    Subtype,
    /// The whole line, with the line feeds that came with it.
    Line,
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
    const PLAIN: [Slot; 7] =
        [Slot::Message, Slot::Usage, Slot::Parent, Slot::LogicalParent, Slot::Subtype, Slot::Line, Slot::Padding];

    /// Returns the form in the store: `content:3`, `usage`, …
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
            Slot::Padding => "padding".to_owned(),
            Slot::String { path, sent: false } => format!("string:{path:016x}"),
            Slot::String { path, sent: true } => format!("sent-string:{path:016x}"),
        }
    }

    /// Returns the slot with this name.
    pub fn from_name(name: &str) -> Option<Slot> {
        let path = |path| u64::from_str_radix(path, 16).ok();
        match name.split_once(':') {
            Some(("content", index)) => index.parse().ok().map(Slot::Content),
            Some(("element", index)) => index.parse().ok().map(Slot::Element),
            Some(("input", index)) => index.parse().ok().map(Slot::Input),
            Some(("string", at)) => path(at).map(|path| Slot::String { path, sent: false }),
            Some(("sent-string", at)) => path(at).map(|path| Slot::String { path, sent: true }),
            _ => Slot::PLAIN.into_iter().find(|slot| slot.name() == name),
        }
    }

    /// Returns the index of its block, if it belongs to one.
    pub fn index(self) -> Option<u32> {
        match self {
            Slot::Content(index) | Slot::Element(index) | Slot::Input(index) => Some(index),
            _ => None,
        }
    }

    /// Returns true if the model receives this value, so that a change of it changes the request.
    pub fn is_sent(self) -> bool {
        !matches!(self, Slot::Usage | Slot::Padding | Slot::String { sent: false, .. })
    }
}

/// Effect of an edit on a block, for reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockChange {
    /// The block, by its number when the edit was made.
    pub number: BlockNumber,
    /// Short description.
    pub label: String,
    /// Level before.
    pub level_before: Level,
    /// Level after.
    pub level_after: Level,
    /// Cost before the edit, in tokens.
    pub tokens_before: f64,
    /// Cost after the edit, in tokens.
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

/// A replaced value of a row. The bytes are those of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The row.
    pub row: RowAddress,
    /// The value in it.
    pub slot: Slot,
    /// The value before; `None` if the row did not exist.
    pub before: Option<Vec<u8>>,
    /// The value after; `None` if the row no longer exists.
    pub after: Option<Vec<u8>>,
    /// Effect on a block; `None` if the edit only accompanies others.
    pub change: Option<BlockChange>,
}

/// A change of a block by its content: it applies to any block with that content, in any format and any row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockEdit {
    /// XXH3-128 of the content before.
    #[serde(with = "super::key::digits")]
    pub content: Key,
    /// The number of blocks of the same content before it: those of the window in the order in which they are sent, then the others in
    /// file order.
    pub occurrence: u32,
    /// The content after.
    pub text: String,
    /// Level of the block.
    pub level: Level,
    /// The reason that the user gave; empty if there is none.
    pub reason: String,
}

/// Marks that the user sets on a block without changing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// Pinned, until it is unpinned.
    Pin,
    /// Marked as relevant now (focus).
    Focus,
}

impl MarkKind {
    /// Returns the name in the store.
    pub fn name(self) -> &'static str {
        match self {
            MarkKind::Pin => "pin",
            MarkKind::Focus => "focus",
        }
    }
}

/// The target of a mark: a block, and its content, by which it is found again after its row is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MarkAddress {
    /// The row.
    pub row: RowAddress,
    /// The block in it.
    pub index: u32,
    /// XXH3-128 of the original content.
    pub content: Key,
}

/// A mark that is set or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The block.
    pub address: MarkAddress,
    /// Kind of the mark.
    pub kind: MarkKind,
    /// Previous value: the position of the pin, or the turn of the selection; `None` if there was none.
    pub before: Option<String>,
    /// New value; `None` if the mark was removed.
    pub after: Option<String>,
    /// The block, by its number when the mark was set.
    pub number: BlockNumber,
}

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// A change.
    Change,
    /// It undoes another operation.
    Undo,
    /// It redoes an undone operation.
    Redo,
}

impl OperationKind {
    /// Returns the name in the store.
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::Change => "change",
            OperationKind::Undo => "undo",
            OperationKind::Redo => "redo",
        }
    }
}

/// The actor that gave a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The user.
    #[default]
    User,
    /// The model, in its text.
    Model,
    /// A rule in the settings.
    Policy,
}

impl Actor {
    /// Every actor.
    pub const ALL: [Actor; 3] = [Actor::User, Actor::Model, Actor::Policy];

    /// Returns the name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Actor::User => "user",
            Actor::Model => "model",
            Actor::Policy => "policy",
        }
    }
}

/// A plan: edits and the bytes that they apply to. A pure value. Only `workspace` applies it.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a plan changes nothing until it is applied"]
pub struct Plan {
    /// Kind of the operation.
    pub kind: OperationKind,
    /// The command line, for the log.
    pub command: String,
    /// Actor that gave the command.
    pub actor: Actor,
    /// The operation that it undoes.
    pub inverts: Option<OperationId>,
    /// The edits in file order; added rows are last, in their order.
    pub edits: Vec<Edit>,
    /// The same changes as block edits, in file order.
    pub block_edits: Vec<BlockEdit>,
    /// For an exact undo, redo or restore: the restored bytes, in addition to [`Plan::edits`].
    pub reversal: Option<Reversal>,
    /// The marks.
    pub marks: Vec<Mark>,
    /// Length of the file that it applies to, in bytes; bytes after them were appended since.
    pub base_bytes: u64,
    /// BLAKE3 of these bytes.
    pub base_hash: Address,
    /// Window tokens before.
    pub tokens_before: f64,
    /// Window tokens after.
    pub tokens_after: f64,
    /// The last row of the file that has an identity: rows after it were written after this plan.
    pub last_row: Option<Key>,
}

impl Plan {
    /// Returns true if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.marks.is_empty() && self.reversal.is_none()
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

    /// Returns the changes of blocks, for people.
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

/// The state of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationState {
    /// It is logged; whether the file was replaced is unknown.
    Prepared,
    /// It was done.
    Committed,
    /// It was not done: the file was never replaced.
    Aborted,
}

impl OperationState {
    /// Returns the name in the store.
    pub fn name(self) -> &'static str {
        match self {
            OperationState::Prepared => "prepared",
            OperationState::Committed => "committed",
            OperationState::Aborted => "aborted",
        }
    }
}

/// A logged edit: the values by their address in the store.
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
    /// Effect on a block.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedHunk {
    /// The offset in the file before the operation, in bytes.
    pub offset: u64,
    /// The bytes before.
    pub before: Option<Address>,
    /// The bytes after.
    pub after: Option<Address>,
}

/// The changes of the bytes of the file by an operation: sufficient to invert and to replay it without a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Bytes of the file before.
    pub base_bytes: u64,
    /// BLAKE3 of these bytes.
    pub base_hash: Address,
    /// The hunks in file order, disjoint.
    pub hunks: Vec<LoggedHunk>,
}

/// A plan that was applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its number in the log of the session, from 1.
    pub id: OperationId,
    /// Kind of the operation.
    pub kind: OperationKind,
    /// Its state.
    pub state: OperationState,
    /// The time, in milliseconds since 1970, UTC.
    pub time: i64,
    /// The command line.
    pub command: String,
    /// Actor that gave the command.
    pub actor: Actor,
    /// The operation that it undoes.
    pub inverts: Option<OperationId>,
    /// The edits in the order of the plan.
    pub edits: Vec<LoggedEdit>,
    /// The marks.
    pub marks: Vec<Mark>,
    /// Window tokens before.
    pub tokens_before: f64,
    /// Window tokens after.
    pub tokens_after: f64,
    /// The last row of the file at that time that has an identity.
    pub last_row: Option<Key>,
    /// Length of the file that it wrote, in bytes, without rows that the client appended meanwhile; `None` if it wrote no file.
    pub after_bytes: Option<u64>,
    /// BLAKE3 of these bytes.
    pub after_hash: Option<Address>,
    /// The bytes of the file that it replaced; `None` if it wrote no file, or if the version of aperture that logged it did not
    /// record that.
    pub delta: Option<Delta>,
    /// For an exact undo, redo or restore: the point of the log whose state the file has after it.
    pub point: Option<OperationId>,
}

impl Operation {
    /// Returns a committed operation of the user that changed nothing.
    #[cfg(test)]
    pub fn example(id: OperationId, kind: OperationKind) -> Operation {
        Operation {
            id,
            kind,
            state: OperationState::Committed,
            time: 0,
            command: String::new(),
            actor: Actor::User,
            inverts: None,
            edits: Vec::new(),
            marks: Vec::new(),
            tokens_before: 0.0,
            tokens_after: 0.0,
            last_row: None,
            after_bytes: None,
            after_hash: None,
            delta: None,
            point: None,
        }
    }

    /// Returns true if it changed the session file: marks alone do not.
    pub fn writes_file(&self) -> bool {
        !self.edits.is_empty() || self.after_bytes.is_some() || self.point.is_some()
    }

    /// Returns whether it wrote the file and its delta is not known, so that it cannot be inverted byte by byte.
    pub fn lacks_delta(&self) -> bool {
        self.after_bytes.is_some() && self.delta.is_none()
    }
}

/// The operations of a session, oldest first, without aborted ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The committed operations.
    pub operations: Vec<Operation>,
    /// The current marks.
    pub marks: Vec<(MarkAddress, MarkKind, String)>,
    /// Named points: the last operation that belongs to each, 0 for the original.
    pub snapshots: Vec<Snapshot>,
    /// The originals that name credentials.
    pub naming: Vec<String>,
}

/// A named point in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub name: String,
    /// The last operation that belongs to it; 0 for the original.
    pub operation: OperationId,
    /// The time when it was saved, in milliseconds since 1970, UTC.
    pub time: i64,
}

impl History {
    /// Returns the operation with a number.
    pub fn operation(&self, id: OperationId) -> Option<&Operation> {
        let place = self.operations.binary_search_by_key(&id, |operation| operation.id).ok()?;
        self.operations.get(place)
    }

    /// Returns the number of the last operation, 0 before the first.
    pub fn last(&self) -> OperationId {
        self.operations.last().map_or(0, |operation| operation.id)
    }

    /// Returns the operation that overrides another one, if there is one: for a change that is not in force, the last undo of it;
    /// for an undo or a redo, the next one of the same change.
    pub fn undone_by(&self, id: OperationId) -> Option<OperationId> {
        let change = self.root(id);
        let toggles = || self.operations.iter().map(|operation| operation.id).filter(|other| *other != change);
        let mut toggles = toggles().filter(|other| self.root(*other) == change);
        if id != change {
            return toggles.find(|other| *other > id);
        }
        let toggles: Vec<OperationId> = toggles.collect();
        toggles.last().copied().filter(|_| toggles.len() % 2 == 1)
    }

    /// Returns the last change that is in force: the default of `undo`.
    pub fn undoable(&self) -> Option<OperationId> {
        let changes = self.operations.iter().rev().filter(|operation| operation.kind == OperationKind::Change);
        changes.map(|operation| operation.id).find(|id| self.undone_by(*id).is_none())
    }

    /// Returns the last undo that is in force, if no change followed it: the default of `redo`.
    pub fn redoable(&self) -> Option<OperationId> {
        let since = self.operations.iter().rev().take_while(|operation| operation.kind != OperationKind::Change);
        let mut undos = since.filter(|operation| operation.kind == OperationKind::Undo).map(|operation| operation.id);
        undos.find(|id| self.undone_by(*id).is_none())
    }

    /// Returns the last undo that is in force and before the last change, so that a plain redo does not invert it.
    pub fn dropped_redo(&self) -> Option<OperationId> {
        let undos = self.operations.iter().rev().filter(|operation| operation.kind == OperationKind::Undo);
        undos.map(|operation| operation.id).find(|id| self.undone_by(*id).is_none())
    }

    /// Returns the change at the end of a chain of undos and redos: the operation itself if it inverts no other one.
    pub fn root(&self, id: OperationId) -> OperationId {
        let inverted = self.operation(id).and_then(|operation| operation.inverts).filter(|inverted| *inverted < id);
        inverted.map_or(id, |inverted| self.root(inverted))
    }

    /// Returns the value of a mark if the state of `change` were inverted: the value set by the last change of this mark
    /// that is in force. `None` if the mark would not exist.
    pub fn mark_without(&self, change: OperationId, address: MarkAddress, kind: MarkKind) -> Option<String> {
        let changes = self.operations.iter().filter(|operation| operation.kind == OperationKind::Change);
        let in_force = |id: OperationId| self.undone_by(id).is_none() != (id == change);
        let changes = changes.rev().filter(|operation| in_force(operation.id));
        let mut marks = changes.flat_map(|operation| operation.marks.iter().rev());
        marks.find(|mark| (mark.address, mark.kind) == (address, kind)).and_then(|mark| mark.after.clone())
    }

    /// Returns the newest point of the log with the same changes in force as now, except that the state of `change` is
    /// inverted. `None` if there was no such point.
    pub fn point_without(&self, change: OperationId) -> Option<OperationId> {
        let mut in_force: BTreeSet<OperationId> = BTreeSet::new();
        let mut states = vec![(0, in_force.clone())];
        for operation in &self.operations {
            toggle(&mut in_force, self.root(operation.id));
            states.push((operation.id, in_force.clone()));
        }
        toggle(&mut in_force, change);
        states.into_iter().rev().find(|(_, state)| *state == in_force).map(|(point, _)| point)
    }

    /// Returns consecutive changes of the file without those that a later one of them exactly undoes or restores. The given
    /// operations are oldest first; the result too.
    pub fn net<'a>(operations: &[&'a Operation]) -> Vec<&'a Operation> {
        let Some(base) = operations.first().map(|first| first.id - 1) else { return Vec::new() };
        let mut net: Vec<&Operation> = Vec::new();
        let mut at = OperationId::MAX;
        for operation in operations.iter().rev().filter(|operation| operation.writes_file()) {
            if operation.id > at {
                continue;
            }
            match operation.point.filter(|point| *point >= base) {
                Some(point) => at = point,
                None => net.push(operation),
            }
        }
        net.reverse();
        net
    }

    /// Returns the operations to invert, newest first, to restore the state of the file at a point of the log.
    ///
    /// # Errors
    ///
    /// The first of them that cannot be inverted byte by byte.
    pub fn way_to(&self, point: OperationId) -> Result<Vec<OperationId>, OperationId> {
        let point = self.equal_points(point).last().unwrap_or(point);
        let mut inverted = Vec::new();
        let mut at = self.last();
        while at > point {
            // Equal states need no step: the oldest equal state that is not before the point is the nearest.
            at = self.equal_points(at).filter(|equal| *equal >= point).last().unwrap_or(at);
            if at <= point {
                break;
            }
            let Some(place) = self.operations.iter().position(|operation| operation.id == at) else { break };
            if self.operations[place].lacks_delta() {
                return Err(at);
            }
            inverted.push(at);
            at = place.checked_sub(1).map_or(0, |before| self.operations[before].id);
        }
        Ok(inverted)
    }

    /// Returns the points at which the file had the state of a point, that point first, then older ones.
    fn equal_points(&self, point: OperationId) -> impl Iterator<Item = OperationId> {
        let before = |id: &OperationId| {
            let equal = self.operation(*id).and_then(|operation| operation.point);
            equal.filter(|equal| equal < id)
        };
        std::iter::successors(Some(point), before)
    }

    /// Returns the length and the BLAKE3 of the file at a point of the log; `None` if they are unknown.
    pub fn state_at(&self, point: OperationId) -> Option<(u64, Address)> {
        let until = self.operations.iter().rev().filter(|operation| operation.id <= point);
        let mut after = until.filter_map(|operation| operation.after_bytes.zip(operation.after_hash));
        after.next().or_else(|| {
            let first = self.operations.iter().find(|operation| operation.after_bytes.is_some())?;
            first.delta.as_ref().map(|delta| (delta.base_bytes, delta.base_hash))
        })
    }

    /// Returns true if credentials were removed from a block and not restored.
    pub fn is_redacted(&self, row: RowAddress, index: u32) -> bool {
        let redacts = |edit: &LoggedEdit| edit.change.as_ref().is_some_and(|change| change.redacted);
        let mut edits =
            self.edits_of(row, index).filter(|(operation, edit)| operation.kind == OperationKind::Change && redacts(edit));
        edits.any(|(operation, _)| self.undone_by(operation.id).is_none())
    }

    /// Returns every edit of a block, oldest first, in any slot.
    pub fn edits_of(&self, row: RowAddress, index: u32) -> impl Iterator<Item = (&Operation, &LoggedEdit)> {
        let edits = self.operations.iter().flat_map(|operation| operation.edits.iter().map(move |edit| (operation, edit)));
        edits.filter(move |(_, edit)| edit.row == row && edit.slot.index() == Some(index))
    }
}

fn toggle(changes: &mut BTreeSet<OperationId>, change: OperationId) {
    if !changes.remove(&change) {
        changes.insert(change);
    }
}

/// The position of a pin as stored in a mark.
impl Pin {
    /// Returns the pin that a mark means.
    pub fn from_mark(text: &str) -> Pin {
        match text {
            "top" => Pin::Top,
            "bottom" => Pin::Bottom,
            _ => Pin::Here,
        }
    }

    /// Returns the name.
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
        let operations =
            entries.iter().zip(1..).map(|((kind, inverts), id)| Operation { inverts: *inverts, ..Operation::example(id, *kind) });
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
        // An undo of an undo is a redo, and what it redid can be undone again.
        check(&[(Change, None), (Undo, Some(1)), (Undo, Some(2))], Some(1), Some(3));
        check(&[(Change, None), (Undo, Some(1)), (Undo, Some(2)), (Undo, Some(1))], None, Some(4));
        check(&[(Change, None), (Undo, Some(1)), (Change, None)], Some(3), None);
        check(&[(Change, None), (Undo, Some(1)), (Change, None), (Undo, Some(3))], None, Some(4));
    }

    #[test]
    fn a_net_change_has_no_undone_operations() {
        let operation = |id, point| Operation { after_bytes: Some(9), point, ..Operation::example(id, OperationKind::Change) };
        let check = |points: &[(OperationId, Option<OperationId>)], expected: &[OperationId]| {
            let operations: Vec<Operation> = points.iter().map(|(id, point)| operation(*id, *point)).collect();
            let net = History::net(&operations.iter().collect::<Vec<_>>());
            assert_eq!(net.iter().map(|operation| operation.id).collect::<Vec<_>>(), expected, "{points:?}");
        };
        check(&[], &[]);
        check(&[(1, None), (2, None)], &[1, 2]);
        check(&[(1, None), (2, Some(0))], &[]);
        check(&[(1, None), (2, None), (3, Some(1))], &[1]);
        check(&[(1, None), (2, Some(0)), (3, Some(1))], &[1]);
        // The undone operation is older than all of them.
        check(&[(2, Some(0)), (3, None)], &[2, 3]);
    }

    #[test]
    fn a_slot_is_read_as_it_is_written() {
        let strings = [true, false].map(|sent| Slot::String { path: 7, sent });
        for slot in [Slot::Content(3), Slot::Element(0), Slot::Input(1)].into_iter().chain(strings).chain(Slot::PLAIN) {
            assert_eq!(Slot::from_name(&slot.name()), Some(slot));
        }
        assert_eq!(Slot::from_name("content:x"), None);
    }
}
