//! Changes of blocks that are addressed by content instead of row and slot.

use super::PlanError;
use super::draft::Draft;
use super::revision::revised_line;
use crate::model::{Block, BlockEdit, BlockNumber, Edit, Key, Level};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

impl Draft<'_> {
    /// Returns the planned changes of blocks, addressed by content, in file order.
    ///
    /// # Errors
    ///
    /// The file changed since it was read.
    pub(super) fn block_edits(&self) -> Result<Vec<BlockEdit>, PlanError> {
        let mut rows: BTreeMap<u32, Vec<&Edit>> = BTreeMap::new();
        for ((row, _, slot), edit) in &self.edits {
            if slot.index().is_some() {
                rows.entry(*row).or_default().push(edit);
            }
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let occurrences = occurrences(&self.session().blocks);
        let mut block_edits = Vec::new();
        for (row, edits) in rows {
            // Parse each row once: it can have as many blocks as bytes.
            let line = revised_line(self, row, &edits)?;
            let parsed = self.source.provider.parse(&line);
            for edit in edits {
                let (Some(change), Some(index)) = (&edit.change, edit.slot.index()) else { continue };
                let block = self.session().blocks_of(row).get(index as usize).ok_or(PlanError::Moved)?;
                let after = parsed.blocks.get(index as usize).ok_or(PlanError::Moved)?;
                block_edits.push(BlockEdit {
                    content: block.hash,
                    occurrence: occurrences[block.number as usize - 1],
                    text: after.content.to_string(),
                    level: change.level_after,
                    reason: change.reason.clone(),
                });
            }
        }
        Ok(block_edits)
    }

    /// Plans changes of blocks that are addressed by content, if this session has such blocks. Returns the indices of the edits
    /// that are impossible here: the session has no such block, or the block cannot be changed.
    ///
    /// # Errors
    ///
    /// The session or a stored original cannot be read.
    pub fn lower(&mut self, block_edits: &[BlockEdit]) -> Result<Vec<usize>, PlanError> {
        let blocks = &self.session().blocks;
        let places = blocks.iter().zip(occurrences(blocks));
        let numbers: FxHashMap<(Key, u32), BlockNumber> =
            places.map(|(block, occurrence)| ((block.hash, occurrence), block.number)).collect();
        let mut impossible = Vec::new();
        for (place, edit) in block_edits.iter().enumerate() {
            let lowered = match numbers.get(&(edit.content, edit.occurrence)) {
                None => Err(PlanError::Gone),
                Some(number) => self.lower_to(*number, edit),
            };
            match lowered {
                Ok(()) => {}
                Err(PlanError::Gone | PlanError::Immutable(_) | PlanError::Inherited(_)) => impossible.push(place),
                Err(error) => return Err(error),
            }
        }
        Ok(impossible)
    }

    /// Plans one change of a block. A stored original is restored with its exact bytes.
    fn lower_to(&mut self, number: BlockNumber, edit: &BlockEdit) -> Result<(), PlanError> {
        let is_stored =
            edit.level == Level::Original && self.original(number).is_ok_and(|original| original.content == edit.text);
        match is_stored {
            true => self.restore(number),
            false => self.replace(number, edit.level, &edit.text, &edit.reason),
        }
    }
}

/// Returns, for each block, the number of preceding blocks with the same content.
fn occurrences(blocks: &[Block]) -> Vec<u32> {
    let mut seen: FxHashMap<Key, u32> = FxHashMap::default();
    let count = |block: &Block| {
        let seen = seen.entry(block.hash).or_default();
        let before = *seen;
        *seen += 1;
        before
    };
    blocks.iter().map(count).collect()
}
