//! The history of a session: which of its operations are in force, and the way from one point of the log to another.

use super::operation::{Address, LoggedEdit, MarkAddress, MarkKind, Operation, OperationId, OperationKind, RowAddress, Slot};
use super::{As, Key, Time};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The operations of a session, oldest first, without aborted ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub operations: Vec<Operation>,
    pub marks: Vec<(MarkAddress, MarkKind, String)>,
    /// Named points: the last operation that belongs to each, 0 for the original.
    pub snapshots: Vec<Snapshot>,
    pub naming: Vec<String>,
    /// Values before and after credentials were removed from them.
    pub redacted: Vec<(String, String)>,
    /// The numbers of turns before operations that moved turns: the identity of the first row of each, and its number.
    pub turns: Vec<(Key, u32)>,
}

/// A snapshot in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SnapshotPoint")]
pub struct Snapshot {
    /// Name of the snapshot.
    pub name: String,
    /// Last operation of the snapshot; 0 for the original.
    pub operation: OperationId,
    /// Time at which the snapshot was saved.
    #[serde(with = "As::<Time>")]
    pub time: i64,
}

impl History {
    pub fn operation(&self, id: OperationId) -> Option<&Operation> {
        let place = self.operations.binary_search_by_key(&id, |operation| operation.id).ok()?;
        self.operations.get(place)
    }

    /// Returns the edits of all operations, oldest first.
    pub fn edits(&self) -> impl DoubleEndedIterator<Item = &LoggedEdit> {
        self.operations.iter().flat_map(|operation| &operation.edits)
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

    /// Returns the changes in force: those that are neither undone nor reverted by a restore in force.
    pub fn in_force(&self) -> BTreeSet<OperationId> {
        let mut ids = BTreeSet::new();
        for operation in &self.operations {
            toggle(&mut ids, self.root(operation.id));
        }
        ids.retain(|id| self.operation(*id).is_some_and(|operation| operation.kind == OperationKind::Change));
        if self.restores().next().is_some() {
            let now = self.states().pop().map(|(_, state)| state).unwrap_or_default();
            ids.retain(|id| now.contains(id));
        }
        ids
    }

    /// Returns the changes that hold now: those in force, and those that a restore in force made again.
    pub fn holding(&self) -> BTreeSet<OperationId> {
        match self.restores().next() {
            Some(_) => self.states().pop().map(|(_, state)| state).unwrap_or_default(),
            None => self.in_force(),
        }
    }

    /// Returns the changes that hold after each operation, after 0 for the original. A restore exchanges them for those of its point,
    /// until it is undone.
    fn states(&self) -> Vec<(OperationId, BTreeSet<OperationId>)> {
        let mut states = vec![(0, BTreeSet::new())];
        let mut exchanged: BTreeMap<OperationId, [BTreeSet<OperationId>; 2]> = BTreeMap::new();
        for operation in &self.operations {
            let root = self.root(operation.id);
            let mut now = states.last().map(|(_, state)| state.clone()).unwrap_or_default();
            if let (None, Some(point)) = (operation.inverts, operation.point) {
                let then = states.iter().rev().find(|(id, _)| *id <= point).map(|(_, state)| state.clone()).unwrap_or_default();
                exchanged.insert(root, [&now - &then, &then - &now]);
            }
            let [reverted, returned] = exchanged.get(&root).cloned().unwrap_or_default();
            now = if self.makes(operation) {
                &(&(&now - &reverted) | &returned) | &BTreeSet::from([root])
            } else {
                &(&(&now - &returned) | &reverted) - &BTreeSet::from([root])
            };
            states.push((operation.id, now));
        }
        states
    }

    /// Returns true if its change holds after an operation: it is a change or a redo, or inverts an undo.
    fn makes(&self, operation: &Operation) -> bool {
        let inverted = operation.inverts.filter(|inverted| *inverted < operation.id).and_then(|id| self.operation(id));
        inverted.is_none_or(|inverted| !self.makes(inverted))
    }

    /// Returns the operations whose changes are no longer as they left them since a restore in force, each with that restore.
    pub fn reverted(&self) -> BTreeMap<OperationId, OperationId> {
        let in_force = self.in_force();
        let mut restores: Vec<&Operation> = self.restores().filter(|restore| in_force.contains(&restore.id)).collect();
        restores.reverse();
        let Some((_, now)) = self.states().pop().filter(|_| !restores.is_empty()) else { return BTreeMap::new() };
        let reverted = |operation: &Operation| {
            let is_unchanged = self.makes(operation) == now.contains(&self.root(operation.id));
            let follows =
                |restore: &&&Operation| restore.id > operation.id && restore.point.is_some_and(|point| point < operation.id);
            let by = restores.iter().find(follows).filter(|_| !is_unchanged)?;
            Some((operation.id, by.id))
        };
        self.operations.iter().filter_map(reverted).collect()
    }

    fn restores(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.inverts.is_none() && operation.point.is_some())
    }

    /// Returns the last change that is in force: the default of `undo`.
    pub fn undoable(&self) -> Option<OperationId> {
        self.in_force().last().copied()
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

    /// Returns the last operation that removed a row which an operation changed.
    pub fn removed_by(&self, id: OperationId) -> Option<OperationId> {
        let changed = self.operation(id)?;
        let removes = |edit: &LoggedEdit| {
            edit.slot == Slot::Line && edit.after.is_none() && changed.edits.iter().any(|own| own.row == edit.row)
        };
        let mut later = self.operations.iter().rev().take_while(|later| later.id > id);
        later.find(|later| later.edits.iter().any(removes)).map(|later| later.id)
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
    /// Errors: the first of them that cannot be inverted byte by byte.
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
    pub fn equal_points(&self, point: OperationId) -> impl Iterator<Item = OperationId> {
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
    fn a_restore_in_force_reverts_what_followed_its_point() {
        use OperationKind::{Change, Redo, Undo};
        let check = |entries: &[(OperationKind, Option<OperationId>, Option<OperationId>)],
                     in_force: &[OperationId],
                     by: &[(OperationId, OperationId)]| {
            let mut history = log(&entries.iter().map(|(kind, inverts, _)| (*kind, *inverts)).collect::<Vec<_>>());
            history.operations.iter_mut().zip(entries).for_each(|(operation, (.., point))| operation.point = *point);
            assert_eq!(history.reverted().into_iter().collect::<Vec<_>>(), by, "{entries:?}");
            assert_eq!(history.in_force().into_iter().collect::<Vec<_>>(), in_force, "{entries:?}");
            assert_eq!(history.undoable(), in_force.last().copied(), "{entries:?}");
        };
        let change = (Change, None, None);
        let original = (Change, None, Some(0));
        check(&[change, change], &[1, 2], &[]);
        check(&[change, change, original], &[3], &[(1, 3), (2, 3)]);
        check(&[change, change, (Change, None, Some(1))], &[1, 3], &[(2, 3)]);
        check(&[change, change, original, change], &[3, 4], &[(1, 3), (2, 3)]);
        check(&[change, change, original, (Undo, Some(3), Some(2))], &[1, 2], &[]);
        check(&[change, change, original, (Undo, Some(3), Some(2)), (Redo, Some(4), Some(3))], &[3], &[(1, 3), (2, 3)]);
        // A restore of the state before another restore, and of one in which a change was not yet undone.
        check(&[change, change, original, (Change, None, Some(2))], &[1, 2, 4], &[(3, 4)]);
        check(&[change, (Undo, Some(1), None), (Change, None, Some(1))], &[3], &[(2, 3)]);
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
}
