//! Keeps the length of rows, for clients that store byte offsets into the file elsewhere.

use super::Draft;
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
    /// Errors: a row would grow.
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
            let Ok(blanks) = usize::try_from(left) else { return Err(self.no_room(row, left.unsigned_abs())) };
            let (before, after) = (line[at].to_vec(), vec![b' '; blanks]);
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

    /// Returns the error of a row that would grow by `bytes`.
    fn no_room(&self, row: u32, bytes: u64) -> PlanError {
        let mut edits = self.edits.iter().filter(|((edited, ..), _)| *edited == row);
        let growing = edits.find(|(_, edit)| edit.after.as_ref().map(Vec::len) > edit.before.as_ref().map(Vec::len));
        let index = growing.and_then(|((.., slot), _)| slot.index()).unwrap_or_default();
        let block = self.session().blocks_of(row).get(index as usize);
        PlanError::NoRoom { number: block.map(|block| block.number), row: row + 1, bytes }
    }
}
