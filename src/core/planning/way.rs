//! Restores an earlier state of a session file byte by byte, by inverting the deltas of the log.
//!
//! The restore only applies logged deltas. Rows that clients appended since remain after the restored bytes. Such a row changes
//! only where the session could not be resumed otherwise: if its parent row is gone, it is linked to the nearest ancestor that is
//! left.

use super::PlanError;
use super::draft::Draft;
use super::originals::{OriginalError, Originals};
use super::rows::Rows;
use crate::model::{
    Address, BlockChange, Delta, Edit, Hunk, Key, LoggedEdit, Operation, OperationId, Reversal, RowAddress, Slot,
};
use crate::provider::{ByteEdit, BytePiece, EditedBytes, ProviderAdapter};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;

/// The reason why a state cannot be restored byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inexact {
    /// No point of the log has this state: later operations remain in force.
    LaterInForce,
    /// An earlier version of aperture logged this operation without its delta, or its values were deleted from the store.
    LacksDelta(OperationId),
    /// The file no longer starts with the bytes that the log records: another program changed it.
    Changed,
    /// The restore would move rows whose byte offsets the client stores elsewhere: it appended them since, or a fork continues from
    /// them.
    MovesRows,
}

/// The way in which an operation was undone or redone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The file has the exact bytes of an earlier state, followed by the bytes appended since.
    Exactly,
    /// The edits were planned again: values are restored, but other bytes may differ.
    Planned(Inexact),
}

impl Draft<'_> {
    /// Undoes a change that is in force, or redoes one that is not. Restores the exact bytes of an earlier state if the log has
    /// one, and plans the edits again otherwise. `operation` is the change, or the undo or redo to invert.
    /// Errors: a later operation or another program changed the same block; a value is not in the store.
    pub fn toggle(&mut self, operation: &Operation) -> Result<Undone, PlanError> {
        let history = self.source.history;
        let why = match history.point_without(history.root(operation.id)) {
            None => Inexact::LaterInForce,
            Some(point) => match self.return_in_place(point)? {
                None => return Ok(Undone::Exactly),
                Some(why) => why,
            },
        };
        self.invert(operation)?;
        Ok(Undone::Planned(why))
    }

    /// Restores the state at a point of the log (an operation id, or 0 for the original). Restores its exact bytes if the log has
    /// them, and plans the edits again otherwise.
    /// Errors: another program changed a block since, or a value is not in the store.
    pub fn restore_to(&mut self, point: OperationId) -> Result<Undone, PlanError> {
        match self.return_in_place(point)? {
            None => Ok(Undone::Exactly),
            Some(why) => {
                self.revert_to(point)?;
                Ok(Undone::Planned(why))
            }
        }
    }

    /// Same as [`Draft::return_to`], but refuses to move rows whose byte offsets the client stores elsewhere.
    fn return_in_place(&mut self, point: OperationId) -> Result<Option<Inexact>, PlanError> {
        let why = self.return_to(point)?;
        let session = self.session();
        let (Some(reversal), true) = (&self.reversal, self.source.provider.keeps_offsets(session)) else { return Ok(why) };
        let length = |bytes: &Vec<u8>| bytes.len() as i64;
        let growth: i64 = reversal.hunks.iter().map(|hunk| length(&hunk.after) - length(&hunk.before)).sum();
        let after = session.bytes.saturating_add_signed(growth);
        let moves = growth != 0 && after > self.restored_bytes || growth < 0 && after < self.rows.inherited_bytes();
        if !moves {
            return Ok(why);
        }
        (self.reversal, self.restored_bytes) = (None, 0);
        self.marks.clear();
        self.known_tokens.clear();
        Ok(Some(Inexact::MovesRows))
    }

    /// Inverts the operations since a point of the log, newest first. Returns the reason if that is not possible.
    pub fn return_to(&mut self, point: OperationId) -> Result<Option<Inexact>, PlanError> {
        let history = self.source.history;
        let way = match history.way_to(point) {
            Ok(way) => way,
            Err(lacking) => return Ok(Some(Inexact::LacksDelta(lacking))),
        };
        let inverted: Vec<&Operation> = way.into_iter().filter_map(|id| history.operation(id)).collect();
        let marks = self.marks_back(point);
        let deltas: Vec<&Delta> = inverted.iter().filter_map(|operation| operation.delta.as_ref()).collect();
        if deltas.is_empty() {
            self.marks.extend(marks);
            self.reversal = Some(Reversal { point, ..Reversal::default() });
            return Ok(None);
        }
        let (Some(originals), Some(now)) = (self.originals, history.state_at(history.last())) else {
            return Ok(Some(Inexact::Changed));
        };
        if self.rows.hash(now.0)? != Some(now.1) {
            return Ok(Some(Inexact::Changed));
        }
        let mut rope = Rope::new(&*self.rows, self.source.reading.session.bytes);
        for delta in deltas {
            if !rope.edited.replace(inverse(delta, originals)?) {
                return Ok(Some(Inexact::Changed));
            }
        }
        // Rows that were appended before the point may have other links; then the file is as at an older point, before them.
        let mut reached = None;
        for equal in history.equal_points(point) {
            let Some(then) = history.state_at(equal) else { break };
            if rope.hash(then.0)? == Some(then.1) {
                reached = Some((equal, then));
                break;
            }
        }
        let Some((point, then)) = reached else { return Ok(Some(Inexact::Changed)) };
        // Appended rows start on a new line, even if the restored bytes do not end with a line feed.
        if let (Some(last), Some(next)) = (then.0.checked_sub(1), rope.byte(then.0)?)
            && rope.byte(last)? != Some(b'\n')
            && next != b'\n'
            && rope.begins_line(then.0)?
        {
            rope.edited.replace(vec![(then.0 as usize..then.0 as usize, b"\n".to_vec())]);
        }
        let mut logged = self.inverted_edits(&inverted);
        let mut relinked = self.relink(&mut rope, then.0, &inverted, &logged)?;
        logged.retain(|edit| !relinked.iter().any(|relinked| (relinked.row, relinked.slot) == (edit.row, edit.slot)));
        relinked.retain(|edit| edit.before != edit.after);
        for edit in &logged {
            if let Some(change) = &edit.change {
                self.known_tokens.insert(change.number, change.tokens_after);
            }
        }
        self.marks.extend(marks);
        self.restored_bytes = then.0;
        self.reversal = Some(Reversal { hunks: rope.hunks()?, logged, relinked, point });
        Ok(None)
    }

    /// Returns the edits of operations with before and after exchanged, in the order in which they are inverted. Several edits of
    /// the same slot in a row are merged into one; edits of whole lines are not.
    fn inverted_edits(&self, inverted: &[&Operation]) -> Vec<LoggedEdit> {
        let back = |edit: &LoggedEdit| {
            let number = self.addresses.row(edit.row).and_then(|row| self.number(row, edit.slot));
            let change =
                edit.change.as_ref().map(|change| BlockChange { number: number.unwrap_or(change.number), ..change.inverted() });
            LoggedEdit { row: edit.row, slot: edit.slot, before: edit.after, after: edit.before, change }
        };
        let edits = inverted.iter().flat_map(|operation| operation.edits.iter().rev());
        let mut merged: Vec<Option<LoggedEdit>> = Vec::new();
        let mut places: FxHashMap<(RowAddress, Slot), usize> = FxHashMap::default();
        for edit in edits {
            let mut edit = back(edit);
            if edit.slot != Slot::Line
                && let Some(first) = places.insert((edit.row, edit.slot), merged.len()).and_then(|place| merged[place].take())
            {
                edit.before = first.before;
                edit.change = match (first.change, edit.change) {
                    (Some(first), Some(last)) => {
                        Some(BlockChange { level_before: first.level_before, tokens_before: first.tokens_before, ..last })
                    }
                    (first, last) => last.or(first),
                };
            }
            merged.push(Some(edit));
        }
        merged.into_iter().flatten().filter(|edit| edit.before != edit.after).collect()
    }

    /// Relinks rows after the restored bytes whose parent is gone, or whose parent should again be a row that is restored. Returns
    /// their parents before and after, which may be equal.
    fn relink(
        &self,
        rope: &mut Rope<'_>,
        restored_bytes: u64,
        inverted: &[&Operation],
        logged: &[LoggedEdit],
    ) -> Result<Vec<Edit>, PlanError> {
        let provider = self.source.provider;
        let links = Links::new(self, provider, inverted, logged)?;
        if rope.edited.len() as u64 <= restored_bytes || links.is_empty() {
            return Ok(Vec::new());
        }
        let mut moved: Vec<(Option<u32>, ByteEdit)> = Vec::new();
        rope.lines(restored_bytes, &mut |offset, line| {
            let (Some(id), Some(at)) = (provider.identity(line), provider.locate_slot(line, Slot::Parent)) else { return };
            let key = serde_json::from_slice::<String>(&id).ok();
            let row = key.and_then(|key| self.addresses.row_of(Key::from_text(&key)));
            if let Some(parent) = links.parent(&line[at.clone()], row) {
                moved.push((row, (offset as usize + at.start..offset as usize + at.end, parent)));
            }
        })?;
        let mut relinked = Vec::new();
        for (row, (_, parent)) in &moved {
            let Some((row, address)) = row.and_then(|row| Some((row, self.addresses.address(row)?))) else { continue };
            let (before, after) = (self.value(row, Slot::Parent), Some(parent.clone()));
            relinked.push(Edit { row: address, slot: Slot::Parent, before, after, change: None });
        }
        rope.edited.replace(moved.into_iter().map(|(_, edit)| edit).collect());
        Ok(relinked)
    }
}

/// New parents of rows when rows are restored or removed. Identities and parents are stored as written in the rows.
struct Links {
    /// The parent of each row that an inverted operation added or removed.
    parents: FxHashMap<Vec<u8>, Vec<u8>>,
    /// Rows that the restore removes.
    gone: FxHashSet<Vec<u8>>,
    /// The last restored row of each branch, by the row that this branch continues from, with the last row of the session when it was
    /// removed, if that is left.
    back: FxHashMap<Vec<u8>, (Vec<u8>, Option<u32>)>,
}

impl Links {
    fn new(
        draft: &Draft<'_>,
        provider: &dyn ProviderAdapter,
        inverted: &[&Operation],
        logged: &[LoggedEdit],
    ) -> Result<Links, PlanError> {
        let mut links = Links { parents: FxHashMap::default(), gone: FxHashSet::default(), back: FxHashMap::default() };
        let mut back: FxHashMap<Vec<u8>, Option<u32>> = FxHashMap::default();
        let edits = inverted.iter().flat_map(|operation| operation.edits.iter().rev().map(|edit| (operation.last_row, edit)));
        for (last, edit) in edits.filter(|(_, edit)| edit.slot == Slot::Line) {
            let line = draft.stored(edit.after.or(edit.before))?.unwrap_or_default();
            let line = line.trim_ascii();
            let (Some(id), Some(at)) = (provider.identity(line), provider.locate_slot(line, Slot::Parent)) else { continue };
            links.parents.insert(id.clone(), line[at].to_vec());
            if edit.before.is_none() {
                back.remove(&id);
                links.gone.insert(id);
            } else {
                links.gone.remove(&id);
                back.insert(id, last.and_then(|last| draft.addresses.row_of(last)));
            }
        }
        let mut followed: FxHashSet<Vec<u8>> = back.keys().filter_map(|id| links.parents.get(id).cloned()).collect();
        for edit in logged.iter().filter(|edit| edit.slot == Slot::Parent) {
            followed.extend(draft.stored(edit.after)?);
        }
        for (id, last) in back.iter().filter(|(id, _)| !followed.contains(*id)) {
            let mut anchor = &links.parents[id];
            while let Some(above) = links.parents.get(anchor).filter(|_| back.contains_key(anchor)) {
                anchor = above;
            }
            links.back.insert(anchor.clone(), (id.clone(), *last));
        }
        Ok(links)
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.back.is_empty()
    }

    /// Returns the new parent of a row that followed `parent`; `None` if it does not change. A row that was beside a restored one stays
    /// there.
    fn parent(&self, parent: &[u8], row: Option<u32>) -> Option<Vec<u8>> {
        let mut now = parent;
        // Each row is visited at most once, so that a cycle of rows terminates too.
        for _ in 0..self.gone.len() {
            match self.parents.get(now).filter(|_| self.gone.contains(now)) {
                Some(above) => now = above,
                None => break,
            }
        }
        let follows = |last: Option<u32>| now != parent || row.is_none() || row > last;
        let now = self.back.get(now).filter(|(_, last)| follows(*last)).map_or(now, |(back, _)| back);
        (now != parent).then(|| now.to_vec())
    }
}

/// Returns the inverse of a delta: the range of the bytes after it, and the bytes before it.
fn inverse(delta: &Delta, originals: &dyn Originals) -> Result<Vec<ByteEdit>, OriginalError> {
    let mut shift = 0i64;
    let hunks = delta.hunks.iter().map(|hunk| {
        let before = value(originals, hunk.before)?;
        let after = hunk.after.map_or(Ok(0), |address| originals.original_length(&address))?;
        let offset = hunk.offset.saturating_add_signed(shift);
        shift += after as i64 - before.len() as i64;
        Ok((offset as usize..offset.saturating_add(after) as usize, before))
    });
    hunks.collect()
}

fn value(originals: &dyn Originals, address: Option<Address>) -> Result<Vec<u8>, OriginalError> {
    address.map_or(Ok(Vec::new()), |address| originals.original(&address))
}

/// A file under construction.
struct Rope<'a> {
    base: &'a dyn Rows,
    base_bytes: u64,
    edited: EditedBytes,
}

impl Rope<'_> {
    /// Creates a rope of the unchanged file.
    fn new(base: &dyn Rows, base_bytes: u64) -> Rope<'_> {
        Rope { base, base_bytes, edited: EditedBytes::new(base_bytes as usize) }
    }

    /// Passes all bytes to `to` in order, piece by piece.
    fn run(&self, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.edited.pieces().iter().try_for_each(|piece| match piece {
            BytePiece::Base(range) => self.base.pass(range.start as u64..range.end as u64, to),
            BytePiece::New(bytes, range) => to(&bytes[range.clone()]),
        })
    }

    /// Returns the BLAKE3 hash of the first `length` bytes; `None` if the file is shorter.
    fn hash(&self, length: u64) -> io::Result<Option<Address>> {
        let mut hasher = blake3::Hasher::new();
        let mut left = length;
        self.run(&mut |bytes| {
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            hasher.update(&bytes[..taken]);
            left -= taken as u64;
            Ok(())
        })?;
        Ok((left == 0).then(|| *hasher.finalize().as_bytes()))
    }

    /// Returns the byte at an offset; `None` if the offset is past the end.
    fn byte(&self, offset: u64) -> io::Result<Option<u8>> {
        Ok(match self.edited.piece_at(offset as usize) {
            Some((BytePiece::Base(range), at)) => self.base_byte(range.start + at)?,
            Some((BytePiece::New(bytes, range), at)) => bytes.get(range.start + at).copied(),
            None => None,
        })
    }

    fn base_byte(&self, at: usize) -> io::Result<Option<u8>> {
        Ok(self.base.range(at as u64..at as u64 + 1)?.first().copied())
    }

    /// Returns true if the byte at an offset is the first of a line of the base, or of new bytes.
    fn begins_line(&self, offset: u64) -> io::Result<bool> {
        Ok(match self.edited.piece_at(offset as usize) {
            Some((BytePiece::Base(range), at)) => match (range.start + at).checked_sub(1) {
                Some(before) => self.base_byte(before)? == Some(b'\n'),
                None => true,
            },
            Some((BytePiece::New(_, range), at)) => range.start + at == 0,
            None => true,
        })
    }

    /// Passes each line from the offset `from`, which must be the start of a line, to `to` with its own offset.
    fn lines(&self, from: u64, to: &mut dyn FnMut(u64, &[u8])) -> io::Result<()> {
        let mut at = 0;
        let mut line: Vec<u8> = Vec::new();
        self.run(&mut |bytes| {
            let skipped = usize::try_from(from.saturating_sub(at)).unwrap_or(usize::MAX).min(bytes.len());
            at += skipped as u64;
            for part in bytes[skipped..].split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                at += part.len() as u64;
                if line.ends_with(b"\n") {
                    to(at - line.len() as u64, line.trim_ascii_end());
                    line.clear();
                }
            }
            Ok(())
        })?;
        if !line.is_empty() {
            to(at - line.len() as u64, line.trim_ascii_end());
        }
        Ok(())
    }

    /// Returns the hunks that turn the base into this file, in file order, without hunks that change nothing.
    fn hunks(&self) -> io::Result<Vec<Hunk>> {
        let mut hunks = Vec::new();
        let mut at = 0;
        let mut after: Vec<u8> = Vec::new();
        let end = BytePiece::Base(self.base_bytes as usize..self.base_bytes as usize);
        for piece in self.edited.pieces().iter().chain([&end]) {
            match piece {
                BytePiece::New(bytes, range) => after.extend_from_slice(&bytes[range.clone()]),
                BytePiece::Base(range) => {
                    let before = self.base.range(at..range.start as u64)?;
                    if before != after {
                        hunks.push(Hunk { offset: at, before, after: std::mem::take(&mut after) });
                    }
                    after.clear();
                    at = range.end as u64;
                }
            }
        }
        Ok(hunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::MemoryRows;
    use proptest::prelude::*;

    type Step = Vec<(u64, u64, String)>;

    /// Applies steps to a rope. Returns whether they are within the file, the resulting bytes, and the hunks.
    fn replaced(base: &str, steps: &[Step]) -> (bool, String, Vec<Hunk>) {
        let file = MemoryRows(base.as_bytes());
        let mut rope = Rope::new(&file, base.len() as u64);
        let edit = |(at, length, text): &(u64, u64, String)| (*at as usize..(at + length) as usize, text.as_bytes().to_vec());
        let within = steps.iter().all(|step| rope.edited.replace(step.iter().map(edit).collect()));
        let mut bytes = Vec::new();
        if within {
            rope.run(&mut |part| {
                bytes.extend_from_slice(part);
                Ok(())
            })
            .unwrap();
            assert_eq!(rope.edited.len(), bytes.len());
            assert_eq!(rope.hash(bytes.len() as u64).unwrap(), Some(*blake3::hash(&bytes).as_bytes()));
            assert_eq!(rope.hash(bytes.len() as u64 + 1).unwrap(), None);
        }
        let hunks = if within { rope.hunks().unwrap() } else { Vec::new() };
        (within, String::from_utf8(bytes).unwrap(), hunks)
    }

    fn step(replaced: &[(u64, u64, &str)]) -> Step {
        replaced.iter().map(|(at, length, text)| (*at, *length, (*text).to_owned())).collect()
    }

    #[test]
    fn steps_follow_one_another() {
        let check = |steps: &[Step], expected: Option<&str>, hunks: usize| {
            let (within, text, found) = replaced("0123456789", steps);
            assert_eq!((within.then_some(&*text), found.len()), (expected, hunks), "{steps:?}");
        };
        check(&[], Some("0123456789"), 0);
        check(&[step(&[(0, 1, "a"), (5, 0, "bc"), (10, 0, "d")])], Some("a1234bc56789d"), 3);
        check(&[step(&[(2, 3, "xyz")]), step(&[(3, 1, "")])], Some("01xz56789"), 1);
        check(&[step(&[(2, 3, "xyz")]), step(&[(2, 3, "234")])], Some("0123456789"), 0);
        check(&[step(&[(0, 10, "")]), step(&[(0, 0, "new")])], Some("new"), 1);
        check(&[step(&[(10, 0, "a"), (10, 0, "b")])], Some("0123456789ab"), 1);
        check(&[step(&[(9, 2, "")])], None, 0);
        check(&[step(&[(11, 0, "a")])], None, 0);
    }

    #[test]
    fn lines_are_passed_on_with_their_offsets() {
        let base = "one\ntwo\nthree";
        let file = MemoryRows(base.as_bytes());
        let mut rope = Rope::new(&file, base.len() as u64);
        assert!(rope.edited.replace(vec![(5..6, b"WW".to_vec())]));
        let mut lines = Vec::new();
        rope.lines(4, &mut |at, line| lines.push((at, String::from_utf8_lossy(line).into_owned()))).unwrap();
        assert_eq!(lines, [(4, "tWWo".to_owned()), (9, "three".to_owned())]);
    }

    proptest! {
        #[test]
        fn hunks_make_the_same_file(
            base in "[a-z]{0,30}",
            steps in prop::collection::vec(prop::collection::vec((0..6u64, 0..6u64, "[A-Z]{0,5}"), 0..4), 0..5),
        ) {
            let mut text = base.clone();
            let mut absolute = Vec::new();
            for step in steps {
                let (mut at, mut new, mut replaced) = (0, String::new(), Vec::new());
                for (gap, length, with) in step {
                    let start = (at + gap as usize).min(text.len());
                    let end = (start + length as usize).min(text.len());
                    new.push_str(&text[at..start]);
                    new.push_str(&with);
                    replaced.push((start as u64, (end - start) as u64, with));
                    at = end;
                }
                new.push_str(&text[at..]);
                text = new;
                absolute.push(replaced);
            }
            let (within, made, hunks) = replaced(&base, &absolute);
            prop_assert!(within);
            prop_assert_eq!(&made, &text);
            let (mut at, mut again) = (0, String::new());
            for hunk in &hunks {
                let start = hunk.offset as usize;
                prop_assert_eq!(&base.as_bytes()[start..start + hunk.before.len()], &hunk.before[..]);
                again.push_str(&base[at..start]);
                again.push_str(std::str::from_utf8(&hunk.after).unwrap());
                at = start + hunk.before.len();
            }
            again.push_str(&base[at..]);
            prop_assert_eq!(again, text);
        }
    }
}
