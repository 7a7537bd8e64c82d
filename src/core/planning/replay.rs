//! Plans a logged operation again, by the contents that it names.

use super::PlanError;
use super::block_edits::addresses;
use super::draft::{Draft, Folded, NOTE};
use crate::model::{BlockAddress, BlockEdit, BlockNumber, Mark, NewContent, WindowChange, WindowHunk};
use crate::provider::unwrap;
use rustc_hash::FxHashSet;

impl Draft<'_> {
    /// Plans the changes of an operation in a session that grew since it was planned.
    /// Errors: the session does not have the contents that the operation changes, or the client links its rows.
    pub fn replay(&mut self, block_edits: &[BlockEdit], window: Option<&WindowChange>, marks: &[Mark]) -> Result<(), PlanError> {
        if !self.lower(block_edits)?.is_empty() {
            return Err(PlanError::Gone);
        }
        self.marks.extend_from_slice(marks);
        let Some(change) = window else { return Ok(()) };
        if self.source.provider.branches() {
            return Err(PlanError::NoWay);
        }
        for hunk in &change.hunks {
            match added_text(hunk)? {
                text if hunk.before.is_empty() && hunk.is_last => self.note(NOTE, unwrap(text)),
                text => self.replace_by(&change.removed, unwrap(text))?,
            }
        }
        Ok(())
    }

    /// Replaces the first blocks of the window by a text.
    fn replace_by(&mut self, removed: &[BlockAddress], text: &str) -> Result<(), PlanError> {
        let reading = self.source.reading;
        let removed: FxHashSet<BlockAddress> = removed.iter().copied().collect();
        let addresses = addresses(reading);
        let window = reading.window.blocks.iter().copied();
        let gone: FxHashSet<BlockNumber> = window.filter(|number| removed.contains(&addresses[*number as usize - 1])).collect();
        let row = |number: &BlockNumber| reading.session.blocks[*number as usize - 1].row;
        let end = gone.iter().map(row).max().filter(|_| gone.len() == removed.len()).ok_or(PlanError::Gone)?;
        self.restart(end + 1, text)?;
        self.folded = Some(Folded::Blocks(gone));
        Ok(())
    }
}

fn added_text(hunk: &WindowHunk) -> Result<&str, PlanError> {
    let mut added = hunk.after.iter().filter(|content| !matches!(content, NewContent::Kept(_)));
    match (added.next(), added.next()) {
        (Some(NewContent::Text(_, text)), None) => Ok(text),
        _ => Err(PlanError::NoWay),
    }
}
