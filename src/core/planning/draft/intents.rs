//! Changes of blocks, rows and marks that commands request.

use super::Draft;
use crate::engine;
use crate::model::{Block, BlockChange, BlockNumber, Edit, Level, LoggedEdit, Mark, MarkAddress, MarkKind, RowAddress, Slot};
use crate::planning::PlanError;

impl Draft<'_> {
    /// Replaces the content of a block.
    /// Errors: the block cannot be changed, or its slot cannot hold the content.
    pub fn replace(&mut self, number: BlockNumber, level: Level, content: &str, reason: &str) -> Result<(), PlanError> {
        let block = self.block(number)?;
        let (address, slot) = self.place(block)?;
        let value = self.source.provider.encode(slot, block.kind, content).ok_or(PlanError::Immutable(number))?;
        self.set(block, address, slot, value, level, reason)
    }

    /// Restores the original of a block.
    /// Errors: the original is not in the store.
    pub fn restore(&mut self, number: BlockNumber) -> Result<(), PlanError> {
        let block = self.block(number)?;
        match self.shortening(block) {
            Some(edit) => self.take_back(number, edit),
            None if block.level == Level::Original => Ok(()),
            None => Err(PlanError::NoOriginal(number)),
        }
    }

    /// Gives a block the value that it had before an edit.
    /// Errors: the value is not in the store.
    pub(in crate::planning) fn take_back(&mut self, number: BlockNumber, edit: &LoggedEdit) -> Result<(), PlanError> {
        let block = self.block(number)?;
        let (address, _) = self.place(block)?;
        let value = self.replaced(number, edit)?;
        self.restores = true;
        if let Some(change) = &edit.change {
            self.known_tokens.insert(number, change.tokens_before);
        }
        self.set(block, address, edit.slot, value, Level::Original, "")
    }

    pub(super) fn set(
        &mut self,
        block: &Block,
        row: RowAddress,
        slot: Slot,
        value: Vec<u8>,
        level: Level,
        reason: &str,
    ) -> Result<(), PlanError> {
        if self.session().inherited_from(block.row).is_some() {
            return Err(PlanError::Inherited(block.number));
        }
        let before = self.value(block.row, slot).ok_or(PlanError::Immutable(block.number))?;
        let place = (block.row, block.index, slot);
        if before == value {
            // An earlier step of this plan may have changed the value.
            self.edits.remove(&place);
            return Ok(());
        }
        let change = BlockChange {
            number: block.number,
            label: engine::label(block),
            level_before: block.level,
            level_after: level,
            tokens_before: block.tokens.value,
            reason: engine::mask(reason).into_owned(),
            named_credentials: !engine::named_in(&String::from_utf8_lossy(&before)).is_empty(),
            ..BlockChange::default()
        };
        self.edits.insert(place, Edit { row, slot, before: Some(before), after: Some(value), change: Some(change) });
        Ok(())
    }

    /// Links a row to a new parent, given by its identity.
    /// Errors: the row has no identity, or no parent slot.
    pub fn link(&mut self, row: u32, parent: &[u8]) -> Result<(), PlanError> {
        self.set_value(row, Slot::Parent, parent)
    }

    /// Sets the value of a slot that holds no block.
    /// Errors: the row has no identity, or no such slot.
    pub(in crate::planning) fn set_value(&mut self, row: u32, slot: Slot, after: &[u8]) -> Result<(), PlanError> {
        let address = self.addresses.address(row).ok_or(PlanError::Moved)?;
        let before = self.value(row, slot).ok_or(PlanError::NoWay)?;
        if before == after {
            self.edits.remove(&(row, 0, slot));
            return Ok(());
        }
        let edit = Edit { row: address, slot, before: Some(before), after: Some(after.to_vec()), change: None };
        self.edits.insert((row, 0, slot), edit);
        Ok(())
    }

    /// Adds a note at the end of the session.
    pub fn note(&mut self, label: &str, content: &str) {
        self.notes.push((label.to_owned(), content.to_owned()));
    }

    /// Sets or clears a mark on a block.
    /// Errors: the row has no identity by which the mark could be found again.
    pub fn mark(&mut self, number: BlockNumber, kind: MarkKind, after: Option<String>) -> Result<(), PlanError> {
        let block = self.block(number)?;
        let row = self.addresses.address(block.row).ok_or(PlanError::Immutable(number))?;
        let known = self.source.history.marks.iter().find(|(address, known, _)| {
            *known == kind && ((address.row == row && address.index == block.index) || address.content == block.hash)
        });
        let (address, before) = match known {
            Some((address, _, value)) => (*address, Some(value.clone())),
            None => {
                let content = self.original(number).map_or(block.hash, |original| original.block.hash);
                (MarkAddress { row, index: block.index, content }, None)
            }
        };
        if before != after {
            self.marks.push(Mark { address, kind, before, after, number });
        }
        Ok(())
    }
}
