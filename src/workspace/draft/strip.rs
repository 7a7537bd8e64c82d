//! Thinking that no longer fits what stands before it is no longer sent.

use super::Draft;
use super::finish::blocks;
use crate::model::{Block, BlockKind, BlockNumber, Edit, LoggedEdit, Slot, Window};
use crate::workspace::PlanError;
use crate::workspace::revision::Revision;

impl Draft<'_> {
    /// No longer sends thinking from a block of the revision on: by a row that says so, or, where the client does not know
    /// such rows or some thinking has to stay, by emptying the rows that hold nothing else.
    pub(super) fn strip(
        &mut self,
        revision: &Revision,
        window: &Window,
        first: BlockNumber,
        spared: &dyn Fn(&Block) -> bool,
    ) -> Result<(), PlanError> {
        let provider = self.workspace.provider;
        let place = window.blocks.iter().position(|number| *number == first).unwrap_or_default();
        let thinks = |block: &&Block| block.kind == BlockKind::Thinking;
        let unfit: Vec<&Block> = blocks(revision, window).skip(place).filter(thinks).filter(|block| !spared(block)).collect();
        let old = |block: &Block| revision.was[block.row as usize];
        let any_spared = blocks(revision, window).filter(thinks).any(spared);
        let alone =
            |block: &&Block| old(block).is_some_and(|row| self.line(row).is_ok_and(|line| provider.is_only_thinking(&line)));
        if (any_spared || !provider.knows_stripping(&self.line(self.last_linked()?)?)) && unfit.iter().all(alone) {
            for block in unfit {
                self.empty(old(block).ok_or(PlanError::Moved)?)?;
            }
            return Ok(());
        }
        // Of the message that the block is a piece of, what stands before it stays.
        let rows = &revision.session.rows;
        let block = &revision.session.blocks[first as usize - 1];
        let message = rows[block.row as usize].message;
        let same = |before: &&Block| rows[before.row as usize].message == message;
        let kept = blocks(revision, window).take(place).filter(thinks).filter(same).count() as u32;
        let first = self.line(old(block).ok_or(PlanError::NoWay)?)?;
        self.add_row(self.leaf_identity()?, |new| provider.strip_thinking(new, &first, kept)).map(drop)
    }

    /// Takes the only block out of a row.
    fn empty(&mut self, row: u32) -> Result<(), PlanError> {
        let address = self.addresses.of(row).ok_or(PlanError::Moved)?;
        let place = (row, 0, Slot::Message);
        let before = self.value(row, Slot::Message);
        // A reversal must not bring it back.
        let (start, end) = {
            let row = &self.session().rows[row as usize];
            (row.offset, row.offset + u64::from(row.length))
        };
        if let Some(reversal) = &mut self.reversal {
            let brings_back = |edit: &LoggedEdit| edit.row == address && edit.slot == Slot::Message;
            if reversal.logged.iter().any(brings_back) {
                reversal.logged.retain(|edit| !brings_back(edit));
                reversal.hunks.retain(|hunk| hunk.offset < start || hunk.offset > end);
            }
        }
        if before.as_deref() == Some(b"[]") {
            self.edits.remove(&place);
            return Ok(());
        }
        let edit = Edit { row: address, slot: Slot::Message, before, after: Some(b"[]".to_vec()), change: None };
        self.edits.insert(place, edit);
        Ok(())
    }
}
