//! Access to the stored originals, independent of the storage.

use crate::model::{Address, BlockChange, History, Level, LoggedEdit, RowAddress};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::error::Error;

/// The values that a log refers to, by their addresses.
pub trait Originals {
    /// Returns a value.
    /// Errors: the value is missing or damaged, or the store cannot be read.
    fn original(&self, address: &Address) -> Result<Vec<u8>, OriginalError>;

    /// Returns the length of a value in bytes.
    fn original_length(&self, address: &Address) -> Result<u64, OriginalError> {
        Ok(self.original(address)?.len() as u64)
    }
}

/// An error of the store that holds the originals.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OriginalError(pub Box<dyn Error + Send + Sync>);

impl Originals for BTreeMap<Address, Vec<u8>> {
    fn original(&self, address: &Address) -> Result<Vec<u8>, OriginalError> {
        self.get(address).cloned().ok_or_else(|| OriginalError("a value of the log is missing".into()))
    }
}

/// The edits of a block in the log, in any slot.
pub(super) struct BlockEdits<'a> {
    pub first: &'a LoggedEdit,
    pub last: &'a LoggedEdit,
    /// The last change that holds and shortened the block: its value before is the original.
    pub shortening: Option<&'a LoggedEdit>,
}

impl<'a> BlockEdits<'a> {
    /// Returns the edits of each block, by row and index.
    pub fn of_all(history: &'a History) -> FxHashMap<(RowAddress, u32), BlockEdits<'a>> {
        let holding = history.holding();
        let mut all = FxHashMap::<_, BlockEdits<'a>>::default();
        for operation in &history.operations {
            // A restore repeats what other changes did.
            let decides = operation.point.is_none() && holding.contains(&operation.id);
            for edit in &operation.edits {
                let Some(index) = edit.slot.index() else { continue };
                let edits = all.entry((edit.row, index)).or_insert(BlockEdits { first: edit, last: edit, shortening: None });
                edits.last = edit;
                let shortens =
                    |change: &BlockChange| change.level_before == Level::Original && change.level_after != Level::Original;
                // A form that was not known as a shortened one has the original of that.
                let known = edits.shortening.is_some_and(|shorter| shorter.after == edit.before);
                if decides && !known && edit.change.as_ref().is_some_and(shortens) {
                    edits.shortening = Some(edit);
                }
            }
        }
        all
    }
}
