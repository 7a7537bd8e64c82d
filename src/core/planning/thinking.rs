//! Finds thinking blocks whose prefix changed since they were signed.
//!
//! The newest models (`engine::binding`) sign each thinking block together with everything before it, and the API rejects a block
//! whose prefix was changed. A block is valid if every value before it is the same as when the block was written. After a first
//! change, all later thinking is invalid; after an undo, only the thinking written since the change is.

use super::addresses::Addresses;
use super::draft::{PlanSource, hash};
use super::revision::Revision;
use crate::model::{Address, Block, BlockKind, BlockNumber, Edit, LoggedEdit, RowAddress, Slot, Window};
use std::collections::BTreeMap;

/// The values of a slot over time.
struct Values {
    /// The row of the slot, or the position at which it was.
    row: u32,
    first: Option<Address>,
    /// For each change, the last row of the file at that time and the new value.
    changes: Vec<(u32, Option<Address>)>,
    last: Option<Address>,
}

/// All values sent to the model that were ever changed, including the changes of the plan.
pub struct Timeline {
    slots: Vec<(Slot, Values)>,
}

impl Timeline {
    /// Creates the timeline from the log of a session and the edits of a plan; `logged` are the edits of an exact reversal.
    pub fn new<'l>(
        source: &PlanSource<'_>,
        addresses: &Addresses,
        edits: &BTreeMap<(u32, u32, Slot), Edit>,
        lines: &[Edit],
        logged: impl Iterator<Item = &'l LoggedEdit>,
    ) -> Timeline {
        let end = source.reading.session.rows.len() as u32;
        let mut slots: BTreeMap<(RowAddress, Slot), Values> = BTreeMap::new();
        let mut last_row = 0;
        for operation in &source.history.operations {
            // A row that is gone was added by an operation, right after the last row of an earlier one.
            last_row = operation.last_row.and_then(|id| addresses.row_of(id)).unwrap_or(last_row);
            for edit in operation.edits.iter().filter(|edit| edit.slot.is_sent()) {
                let row = addresses.row(edit.row).unwrap_or(last_row + 1);
                let new = || Values { row, first: edit.before, changes: Vec::new(), last: None };
                let values = slots.entry((edit.row, edit.slot)).or_insert_with(new);
                values.changes.push((last_row, edit.after));
                values.last = edit.after;
            }
        }
        let logged = logged.map(|edit| (edit.row, edit.slot, edit.before, edit.after));
        let planned = edits.values().chain(lines);
        let planned =
            planned.map(|edit| (edit.row, edit.slot, edit.before.as_deref().map(hash), edit.after.as_deref().map(hash)));
        for (address, slot, before, after) in logged.chain(planned).filter(|(_, slot, ..)| slot.is_sent()) {
            let row = addresses.row(address).unwrap_or(end);
            let new = || Values { row, first: before, changes: Vec::new(), last: None };
            slots.entry((address, slot)).or_insert_with(new).last = after;
        }
        Timeline { slots: slots.into_iter().map(|((_, slot), values)| (slot, values)).collect() }
    }

    /// Returns the first thinking block of a window whose prefix changed, skipping blocks for which `spared` is true.
    pub fn first_unfit(&self, revision: &Revision, window: &Window, spared: &dyn Fn(&Block) -> bool) -> Option<BlockNumber> {
        if self.slots.is_empty() {
            return None;
        }
        let unfit = |number: &&BlockNumber| {
            let block = &revision.session.blocks[**number as usize - 1];
            let thinks = block.kind == BlockKind::Thinking && !spared(block);
            let Some(row) = revision.was[block.row as usize].filter(|_| thinks) else { return false };
            self.slots.iter().any(|(slot, values)| {
                let before = values.row < row || values.row == row && slot.index().is_none_or(|index| index < block.index);
                let then =
                    values.changes.iter().rev().find(|(last_row, _)| *last_row < row).map_or(values.first, |(_, value)| *value);
                before && then != values.last
            })
        };
        window.blocks.iter().find(unfit).copied()
    }
}
