//! Inverts operations, together with their side effects.

use super::{Draft, Folded};
use crate::model::{Address, BlockChange, BlockNumber, Edit, Event, LoggedEdit, Mark, Operation, OperationId, RowAddress, Slot};
use crate::planning::PlanError;
use rustc_hash::FxHashSet;

impl Draft<'_> {
    /// Inverts an operation.
    /// Errors: a later operation or another program changed the same block.
    pub fn invert(&mut self, operation: &Operation) -> Result<(), PlanError> {
        self.refuse_changed_later(operation)?;
        if operation.is_forgotten() {
            return Err(PlanError::Forgotten(operation.id));
        }
        let originals = self.originals.ok_or(PlanError::Gone)?;
        let value = |address: Option<Address>| address.map(|address| originals.original(&address)).transpose();
        let mut figures_differ = false;
        let mut edits = Vec::with_capacity(operation.edits.len());
        for edit in operation.edits.iter().rev() {
            let (mut before, after) = (value(edit.after)?, value(edit.before)?);
            if edit.slot == Slot::Usage {
                // A later change may have lowered the same figure; it is then adjusted instead of restored.
                let now = self.addresses.row(edit.row).and_then(|row| self.value(row, Slot::Usage));
                if now != before {
                    figures_differ = true;
                    continue;
                }
            }
            // A row that was already removed needs no edit.
            if (edit.slot == Slot::Line && after.is_none() || edit.slot == Slot::Parent) && self.took_out(edit.row) {
                continue;
            }
            // The added row may have been relinked since.
            if edit.slot == Slot::Line && before.is_some() {
                before = self.added_line(edit.row)?.or(before);
            }
            let change = edit.change.as_ref().map(BlockChange::inverted);
            edits.push(Edit { row: edit.row, slot: edit.slot, before, after, change });
        }
        let original = self.take_along(&mut edits)?;
        // Figures that another change lowered since differ from the log and must be estimated, unless the client's own figures are
        // restored.
        figures_differ &= !original;
        self.logged_until = operation.last_row.filter(|_| !figures_differ);
        self.folded = Some(Folded::Until(self.last_row_before(operation.id)));
        let history = self.source.history;
        let now = |mark: &Mark| history.marks.iter().find(|(address, kind, _)| (*address, *kind) == (mark.address, mark.kind));
        let root = history.root(operation.id);
        let marks = operation.marks.iter().map(|mark| Mark {
            before: now(mark).map(|(.., value)| value.clone()),
            after: history.mark_without(root, mark.address, mark.kind),
            ..mark.clone()
        });
        let marks = marks.filter(|mark| mark.before != mark.after).collect();
        self.revert(edits, marks)
    }

    /// Returns the last row that was in the file before an operation and still is; `u32::MAX` if the log does not record one.
    pub(in crate::planning) fn last_row_before(&self, id: OperationId) -> u32 {
        let mut before = self.source.history.operations.iter().rev().skip_while(|operation| operation.id > id);
        before.find_map(|operation| self.addresses.row_of(operation.last_row?)).unwrap_or(u32::MAX)
    }

    /// Returns true if an added row was already removed when another operation was undone ([`Draft::take_along`]).
    fn took_out(&self, row: RowAddress) -> bool {
        let last = self.source.history.edits().rev().find(|edit| edit.row == row && edit.slot == Slot::Line);
        self.addresses.row(row).is_none() && last.is_some_and(|edit| edit.after.is_none())
    }

    pub(in crate::planning) fn added(&self, row: u32) -> bool {
        let Some(address) = self.addresses.address(row) else { return false };
        self.source.history.edits().any(|edit| edit.row == address && edit.slot == Slot::Line && edit.before.is_none())
    }

    /// Refuses to undo an operation whose result a later operation, still in force, depends on.
    fn refuse_changed_later(&self, operation: &Operation) -> Result<(), PlanError> {
        let history = self.source.history;
        let in_force = |later: &&Operation| {
            history.undone_by(later.id).is_none() && later.inverts.is_none_or(|id| history.undone_by(id) != Some(later.id))
        };
        for later in history.operations.iter().filter(|later| later.id > operation.id).filter(in_force) {
            let same = |edit: &&LoggedEdit| {
                edit.change.is_some() && operation.edits.iter().any(|own| own.change.is_some() && own.overlaps(edit))
            };
            let edited = later.edits.iter().find(same).and_then(|edit| edit.change.as_ref()).map(|change| change.number);
            let marked = |mark: &&Mark| operation.marks.iter().any(|own| (own.address, own.kind) == (mark.address, mark.kind));
            if let Some(number) = edited.or_else(|| later.marks.iter().find(marked).map(|mark| mark.number)) {
                return Err(PlanError::ChangedLater { number, operation: operation.id, by: later.id });
            }
            // Rows that leave the file together take the values of earlier operations with them.
            let is_gone = || operation.edits.iter().any(|own| own.after.is_some() && self.addresses.row(own.row).is_none());
            if later.edits.iter().any(|edit| edit.slot == Slot::Ahead) && is_gone() {
                return Err(PlanError::RemovedLater { operation: operation.id, by: later.id });
            }
            let added = |row| operation.edits.iter().any(|own| own.slot == Slot::Line && own.before.is_none() && own.row == row);
            if later.edits.iter().any(|edit| edit.slot == Slot::Line && edit.after.is_none() && added(edit.row)) {
                return Err(PlanError::RemovedLater { operation: operation.id, by: later.id });
            }
        }
        Ok(())
    }

    /// Returns the current line of a row that an operation added, with the line feeds that were written with it; `None` if the row
    /// is not in the file.
    pub(in crate::planning) fn added_line(&self, row: RowAddress) -> Result<Option<Vec<u8>>, PlanError> {
        let Some(place) = self.addresses.row(row) else { return Ok(None) };
        let edits = self.source.history.operations.iter().rev().flat_map(|operation| &operation.edits);
        let mut written = edits.filter(|edit| edit.row == row && edit.slot == Slot::Line).filter_map(|edit| edit.after);
        let lead = match (written.next(), self.originals) {
            (Some(address), Some(originals)) => originals.original(&address)?.starts_with(b"\n"),
            _ => false,
        };
        let lead: &[u8] = if lead { b"\n" } else { b"" };
        Ok(Some([lead, &self.line(place)?, b"\n"].concat()))
    }

    /// Also reverts the side effects of changes if no change remains in force: excluded thinking is sent again, and usage figures
    /// are restored. Returns true in that case.
    fn take_along(&self, edits: &mut Vec<Edit>) -> Result<bool, PlanError> {
        let strips = |line: &[u8]| {
            let row = self.source.provider.parse(line.trim_ascii()).row;
            matches!(row.event.as_deref(), Some(Event::ThinkingStripped(_)))
        };
        let mut along = Vec::new();
        for ((row, slot), then) in self.edited_after(0) {
            let planned = edits.iter().find(|edit| edit.row == row && edit.slot == slot);
            let (target, now) = (self.stored(then.first.before)?, self.current_value(row, slot));
            let after = planned.map_or(&now, |edit| &edit.after);
            match slot {
                Slot::Parent | Slot::Padding => {}
                _ if after.is_some() == target.is_some() && (slot == Slot::Line || *after == target) => {}
                Slot::Line if target.is_none() && after.as_deref().is_some_and(strips) => {
                    if planned.is_some() {
                        return Ok(false);
                    }
                    let before = self.added_line(row)?;
                    along.push(Edit { row, slot, before, after: None, change: None });
                }
                Slot::Usage | Slot::Message => {
                    if now == self.stored(then.last.after)? {
                        along.push(Edit { row, slot, before: now, after: target, change: None });
                    }
                }
                _ => return Ok(false),
            }
        }
        edits.retain(|edit| !along.iter().any(|along| along.row == edit.row && along.slot == edit.slot));
        edits.extend(along);
        Ok(true)
    }

    /// Replaces current values by logged ones, as `undo` and `restore` do; `edits` are ordered newest first.
    /// Errors: a value differs from the log.
    pub fn revert(&mut self, edits: Vec<Edit>, marks: Vec<Mark>) -> Result<(), PlanError> {
        let followed = self.followed(&edits);
        let gone = edits.iter().filter(|edit| edit.slot == Slot::Line && edit.after.is_none());
        let gone: FxHashSet<u32> = gone.filter_map(|edit| self.addresses.row(edit.row)).collect();
        // Rows are added and removed after the links, once it is known which rows are relinked.
        let (lines, values): (Vec<Edit>, Vec<Edit>) = edits.into_iter().partition(|edit| edit.slot == Slot::Line);
        // Padding is computed from the values later.
        for edit in values.into_iter().filter(|edit| edit.slot != Slot::Padding) {
            self.put_back(edit)?;
        }
        for mut edit in lines {
            match &edit.after {
                Some(line) if edit.before.is_none() => {
                    // A restored row is added at the end of the file. It keeps its parent if other rows are linked to it again;
                    // otherwise it becomes the last row of the chain.
                    let line = line.trim_ascii();
                    let kept = self.source.provider.identity(line).is_some_and(|own| followed.contains(&own));
                    let line = if kept { line.to_vec() } else { self.behind_last(line)? };
                    edit.after = Some(self.ended(line));
                }
                _ => self.unlink(&edit, &gone)?,
            }
            match self.blanked(&edit, &gone)? {
                Some((row, blanked)) => drop(self.edits.insert((row, 0, Slot::Line), blanked)),
                None => self.lines.push(edit),
            }
        }
        self.marks.extend(marks);
        Ok(())
    }

    /// Returns an edit that replaces a removed row by a blank line of the same length, if the rows after it must not move.
    fn blanked(&self, edit: &Edit, gone: &FxHashSet<u32>) -> Result<Option<(u32, Edit)>, PlanError> {
        let (Some(row), None) = (self.addresses.row(edit.row), &edit.after) else { return Ok(None) };
        let stays = (row + 1..self.session().rows.len() as u32).any(|behind| !gone.contains(&behind));
        let inherited = || self.session().rows[row as usize].offset < self.rows.inherited_bytes();
        if !self.source.provider.keeps_offsets(self.session()) || !stays && !inherited() {
            return Ok(None);
        }
        let line = self.line(row)?.to_vec();
        let blank = vec![b' '; line.len()];
        Ok(Some((row, Edit { before: Some(line), after: Some(blank), ..edit.clone() })))
    }

    /// Returns the identities of the rows that are parents after some edits, including the parents of such rows if these are
    /// restored: they must keep their places as well.
    fn followed(&self, edits: &[Edit]) -> Vec<Vec<u8>> {
        let provider = self.source.provider;
        let mut followed: Vec<Vec<u8>> =
            edits.iter().filter(|edit| edit.slot == Slot::Parent).filter_map(|edit| edit.after.clone()).collect();
        let added = edits.iter().filter(|edit| edit.slot == Slot::Line).filter_map(|edit| edit.after.as_deref());
        let added: Vec<&[u8]> = added.map(<[u8]>::trim_ascii).collect();
        for _ in &added {
            for line in &added {
                let own = provider.identity(line).filter(|own| followed.contains(own));
                let parent = own.and_then(|_| provider.locate_slot(line, Slot::Parent)).map(|at| line[at].to_vec());
                followed.extend(parent.filter(|parent| !followed.contains(parent)));
            }
        }
        followed
    }

    fn put_back(&mut self, edit: Edit) -> Result<(), PlanError> {
        let row = self.addresses.row(edit.row).ok_or(PlanError::Gone)?;
        let now = match edit.slot {
            Slot::Ahead => self.lines_ahead(row, edit.before.as_deref())?,
            slot => self.value(row, slot).ok_or(PlanError::Gone)?,
        };
        if edit.before.as_ref() != Some(&now) {
            return Err(PlanError::ChangedElsewhere(edit.change.as_ref().map_or(0, |change| change.number)));
        }
        if let Some(change) = &edit.change {
            let number = self.number(row, edit.slot).unwrap_or(change.number);
            self.known_tokens.insert(number, change.tokens_after);
        }
        self.edits.insert((row, edit.slot.index().unwrap_or_default(), edit.slot), edit);
        Ok(())
    }

    /// Returns the bytes before a row that are as many as some lines.
    pub(in crate::planning) fn lines_ahead(&self, row: u32, lines: Option<&[u8]>) -> Result<Vec<u8>, PlanError> {
        let end = self.session().rows[row as usize].offset;
        let length = lines.map_or(0, <[u8]>::len) as u64;
        Ok(self.rows.range(end.saturating_sub(length)..end)?)
    }

    /// Links the children of a removed row to its nearest ancestor that is not in `gone`; children in `gone` are skipped.
    fn unlink(&mut self, edit: &Edit, gone: &FxHashSet<u32>) -> Result<(), PlanError> {
        let row = self.addresses.row(edit.row).ok_or(PlanError::Gone)?;
        let own = self.identity(row)?;
        let rows = &self.session().rows;
        let mut top = row;
        // The number of steps is bounded, so that a cycle of rows terminates too.
        for _ in gone {
            let above = rows[top as usize].parent.and_then(|parent| self.addresses.row_of(parent));
            match above.filter(|above| gone.contains(above)) {
                Some(above) => top = above,
                None => break,
            }
        }
        let Some(parent) = self.value(top, Slot::Parent) else { return Ok(()) };
        let id = rows[row as usize].id;
        let children = (0u32..).zip(rows).filter(|(_, row)| row.parent.is_some() && row.parent == id);
        let children: Vec<u32> = children.map(|(place, _)| place).filter(|place| !gone.contains(place)).collect();
        for child in children {
            let relinked = self.edits.get(&(child, 0, Slot::Parent)).is_some_and(|edit| edit.after.as_ref() != Some(&own));
            if !relinked {
                self.link(child, &parent)?;
            }
        }
        Ok(())
    }

    pub(in crate::planning) fn number(&self, row: u32, slot: Slot) -> Option<BlockNumber> {
        self.session().blocks_of(row).get(slot.index()? as usize).map(|block| block.number)
    }
}
