//! Keeps the length of rows, for clients that store byte offsets into the file elsewhere.

use super::{Draft, hash};
use crate::model::{Edit, Slot};
use crate::planning::PlanError;
use crate::planning::revision::Revision;
use std::collections::BTreeMap;

impl Draft<'_> {
    /// Returns the number of bytes by which the JSON of a row may grow; `None` if there is no limit.
    pub(super) fn room(&self, row: u32) -> Option<usize> {
        let provider = self.source.provider;
        if !provider.keeps_offsets(self.session()) {
            return None;
        }
        let line = self.line(row).ok()?;
        Some(provider.locate_slot(&line, Slot::Padding).map_or(0, |blanks| blanks.len()))
    }

    /// Adds an edit of the padding after the JSON of each edited row, so that the row keeps its length.
    /// Errors: a row would grow. This is allowed only for values that the row held before, because an earlier version let rows
    /// shrink.
    pub(super) fn keep_lengths(&mut self, revision: &mut Revision) -> Result<(), PlanError> {
        if !self.source.provider.keeps_offsets(self.session()) {
            return Ok(());
        }
        self.edits.retain(|(.., slot), _| *slot != Slot::Padding);
        let mut growth: BTreeMap<u32, i64> = BTreeMap::new();
        for ((row, ..), edit) in &self.edits {
            let length = |value: &Option<Vec<u8>>| value.as_ref().map_or(0, |value| value.len() as i64);
            *growth.entry(*row).or_default() += length(&edit.after) - length(&edit.before);
        }
        for (row, growth) in growth {
            let line = self.line(row)?;
            let (Some(at), Some(address)) = (self.source.provider.locate_slot(&line, Slot::Padding), self.addresses.any(row))
            else {
                continue;
            };
            let left = at.len() as i64 - growth;
            if left < 0 {
                self.refuse_growth(row, left.unsigned_abs())?;
            }
            let (before, after) = (line[at].to_vec(), vec![b' '; usize::try_from(left).unwrap_or_default()]);
            if before != after {
                let edit = Edit { row: address, slot: Slot::Padding, before: Some(before), after: Some(after), change: None };
                self.edits.insert((row, 0, Slot::Padding), edit);
            }
        }
        let padded = |was: &u32| self.edits.contains_key(&(*was, 0, Slot::Padding));
        let mut offset = 0;
        for (row, was) in revision.session.rows.iter_mut().zip(&revision.was) {
            if let Some(was) = was.filter(padded) {
                row.length = self.source.reading.session.rows[was as usize].length;
            }
            row.offset = offset;
            offset += u64::from(row.length) + 1;
        }
        revision.session.bytes = offset;
        Ok(())
    }

    /// Refuses a row that would grow by `bytes`, unless it held all values that make it longer before.
    fn refuse_growth(&self, row: u32, bytes: u64) -> Result<(), PlanError> {
        let logged = || self.source.history.operations.iter().flat_map(|operation| &operation.edits);
        let was_there = |edit: &Edit| {
            let after = edit.after.as_deref().map(hash);
            logged().any(|known| (known.row, known.slot) == (edit.row, edit.slot) && known.before == after)
        };
        let grows = |edit: &&Edit| edit.after.as_ref().map(Vec::len) > edit.before.as_ref().map(Vec::len);
        let mut growing = self.edits.iter().filter(|((of, ..), edit)| *of == row && grows(edit));
        match growing.find(|(_, edit)| !was_there(edit)) {
            None => Ok(()),
            Some(((.., slot), _)) => {
                let blocks = self.session().blocks_of(row);
                let block = blocks.get(slot.index().unwrap_or_default() as usize);
                Err(PlanError::NoRoom { number: block.map(|block| block.number), row: row + 1, bytes })
            }
        }
    }
}
