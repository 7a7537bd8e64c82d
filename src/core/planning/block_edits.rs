//! Changes of blocks that are addressed by content instead of row and slot.

use super::PlanError;
use super::draft::Draft;
use super::revision::Revision;
use crate::engine::Analysis;
use crate::model::{AddressCounter, Block, BlockAddress, BlockEdit, BlockKind, BlockNumber, Edit, Key, Level, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

impl Draft<'_> {
    /// Returns the indices of the blocks of a row whose contents the plan changes.
    pub(super) fn changed_blocks(&self, row: u32) -> impl Iterator<Item = u32> {
        let edits = self.edits.range((row, 0, Slot::Content(0))..).take_while(move |((of, ..), _)| *of == row);
        edits.filter(|(_, edit)| edit.change.is_some()).filter_map(|((.., slot), _)| slot.index())
    }

    /// Returns the planned changes of blocks, addressed by content, in file order, then those of thinking. Their texts are taken from
    /// the revision.
    pub(super) fn block_edits(&self, revision: &mut Revision) -> Result<Vec<BlockEdit>, PlanError> {
        let messages = self.edits.values().filter(|edit| edit.slot == Slot::Message);
        let of_thinking: Vec<BlockEdit> = messages.flat_map(|edit| self.thinking_edits(edit)).collect();
        if revision.contents.is_empty() {
            return Ok(of_thinking);
        }
        let mut block_edits = Vec::new();
        let addresses = addresses(self.reading());
        for ((row, _, slot), edit) in &self.edits {
            let (Some(change), Some(index)) = (&edit.change, slot.index()) else { continue };
            let block = self.session().blocks_of(*row).get(index as usize).ok_or(PlanError::Moved)?;
            block_edits.push(BlockEdit {
                content: block.hash,
                occurrence: addresses[block.number as usize - 1].occurrence,
                text: revision.contents.remove(&(block.number - 1)).ok_or(PlanError::Moved)?,
                level: change.level_after,
                reason: change.reason.clone(),
            });
        }
        block_edits.extend(of_thinking);
        Ok(block_edits)
    }

    /// Returns the changes of the thinking that an edit of a message leaves out or restores. Thinking is addressed by its bytes, and
    /// its text is empty where it is left out.
    fn thinking_edits(&self, edit: &Edit) -> Vec<BlockEdit> {
        let thinking = |value: &Option<Vec<u8>>| {
            let found = self.source.provider.thinking_in(value.as_deref().unwrap_or_default());
            found.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let (before, after) = (thinking(&edit.before), thinking(&edit.after));
        let change = |element: &String, text: &str, level| BlockEdit {
            content: Key::from_bytes(element.as_bytes()),
            occurrence: 0,
            text: text.to_owned(),
            level,
            reason: String::new(),
        };
        let gone = before.iter().filter(|element| !after.contains(element));
        let back = after.iter().filter(|element| !before.contains(element));
        let gone = gone.map(|element| change(element, "", Level::Archived));
        gone.chain(back.map(|element| change(element, element, Level::Original))).collect()
    }

    fn lower_thinking(&mut self, edit: &BlockEdit) -> Result<(), PlanError> {
        let is_meant = |value: &[u8]| {
            let thinking = self.source.provider.thinking_in(value);
            thinking.iter().any(|element| Key::from_bytes(element.as_bytes()) == edit.content)
        };
        let thinks = |block: &&Block| block.kind == BlockKind::Thinking;
        let rows = self.session().blocks.iter().filter(thinks).map(|block| block.row);
        let row = rows.into_iter().find(|row| self.value(*row, Slot::Message).is_some_and(|value| is_meant(&value)));
        match row {
            Some(row) if edit.text.is_empty() => self.empty(row)?,
            Some(_) => {}
            None => {
                let row = self.emptied_row(&is_meant)?.ok_or(PlanError::Gone)?;
                if !edit.text.is_empty() {
                    self.refill(row)?;
                }
            }
        }
        Ok(())
    }

    /// Plans changes of blocks that are addressed by content, if this session has such blocks. Idempotent: a block that already has
    /// the text of an edit is left. Returns the indices of the edits that are impossible here: the session has no such block, or the
    /// block cannot be changed.
    pub fn lower(&mut self, block_edits: &[BlockEdit]) -> Result<Vec<usize>, PlanError> {
        let numbers = self.numbers(block_edits);
        let mut impossible = Vec::new();
        for (place, edit) in block_edits.iter().enumerate() {
            let number = numbers.get(&BlockAddress { content: edit.content, occurrence: edit.occurrence });
            let lowered = match number.and_then(|number| self.reading().block(*number)) {
                _ if edit.is_of_thinking() => self.lower_thinking(edit),
                Some(block) if block.hash == edit.content => self.lower_to(block.number, edit),
                Some(block) if block.hash == Key::from_bytes(edit.text.as_bytes()) => Ok(()),
                _ => Err(PlanError::Gone),
            };
            match lowered {
                Ok(()) => {}
                Err(PlanError::Gone | PlanError::Immutable(_) | PlanError::Inherited(_)) => impossible.push(place),
                Err(error) => return Err(error),
            }
        }
        Ok(impossible)
    }

    /// Returns the block of each content and occurrence that edits address. A block that already has the text of an edit counts as
    /// an occurrence of the content that the edit replaces, so that the others keep their numbers.
    fn numbers(&self, block_edits: &[BlockEdit]) -> FxHashMap<BlockAddress, BlockNumber> {
        let mut contents: FxHashMap<Key, FxHashSet<Key>> = FxHashMap::default();
        for edit in block_edits {
            contents.entry(edit.content).or_default().insert(edit.content);
            contents.entry(Key::from_bytes(edit.text.as_bytes())).or_default().insert(edit.content);
        }
        let mut numbers = FxHashMap::default();
        let mut counter = AddressCounter::default();
        for block in in_sent_order(self.reading()) {
            let contents = contents.get(&block.hash).into_iter().flatten();
            numbers.extend(contents.map(|content| (counter.next(*content), block.number)));
        }
        numbers
    }

    /// Plans one change of a block. A stored text is restored with its exact bytes.
    fn lower_to(&mut self, number: BlockNumber, edit: &BlockEdit) -> Result<(), PlanError> {
        let stored = self.edit_from(number, &edit.text).filter(|_| edit.level == Level::Original);
        match stored {
            Some(logged) => self.take_back(number, logged),
            None => self.replace(number, edit.level, &edit.text, &edit.reason),
        }
    }
}

pub(super) fn addresses(reading: &Analysis) -> Vec<BlockAddress> {
    let mut addresses = vec![BlockAddress { content: Key(0), occurrence: 0 }; reading.session.blocks.len()];
    let mut counter = AddressCounter::default();
    in_sent_order(reading).for_each(|block| addresses[block.number as usize - 1] = counter.next(block.hash));
    addresses
}

/// Returns all blocks: those of the window in the order in which they are sent, which is that of a request, then the others.
fn in_sent_order(reading: &Analysis) -> impl Iterator<Item = &Block> {
    let window = &reading.window.blocks;
    let sent: FxHashSet<BlockNumber> = window.iter().copied().collect();
    let others = reading.session.blocks.iter().filter(move |block| !sent.contains(&block.number));
    window.iter().filter_map(|number| reading.block(*number)).chain(others)
}
