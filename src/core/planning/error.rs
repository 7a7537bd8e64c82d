use super::draft::SkipReason;
use super::originals::OriginalError;
use super::splice::SpliceError;
use crate::engine::{count, plural};
use crate::model::{BlockNumber, OperationId};
use std::io;

/// The reason why a plan cannot be made. Sizes are in tokens, rows are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("there is no block {0}")]
    NoSuchBlock(BlockNumber),
    #[error("block {0} cannot be changed: the client needs it as it is")]
    Immutable(BlockNumber),
    #[error("block {0} is inherited from the session that this one is a fork of")]
    Inherited(BlockNumber),
    #[error("the original of block {0} is not in this store")]
    NoOriginal(BlockNumber),
    #[error("operation {by} changed block {number} after operation {operation}")]
    ChangedLater { number: BlockNumber, operation: OperationId, by: OperationId },
    #[error("operation {by} removed a row that operation {operation} added or changed")]
    RemovedLater { operation: OperationId, by: OperationId },
    #[error("the credentials that operation {0} replaced were deleted and cannot be restored")]
    Forgotten(OperationId),
    #[error("another program changed block {0} after aperture wrote it")]
    ChangedElsewhere(BlockNumber),
    #[error("a row that the log names is no longer in the file: another program rewrote it")]
    Gone,
    #[error("the session changed while the change was planned")]
    Moved,
    #[error("these turns are not in the window")]
    NoTurns,
    #[error("the client would not send block {0} of such a fork")]
    NotSent(BlockNumber),
    #[error("the last turn is still in progress and cannot be folded")]
    LastTurn,
    #[error("block {0} would be removed, but it is {what}", what = .1.reason())]
    Held(BlockNumber, SkipReason),
    #[error(
        "a budget of {} tokens is too small: what the client itself sends, protected and pinned blocks and the words of people have at least about {}",
        count(*.budget), count(*.smallest)
    )]
    Budget { budget: u64, smallest: u64 },
    #[error(
        "{what} would be {bytes} bytes longer than its row, and no row of this session may grow: the client stores the byte offset of each",
        what = .number.map_or_else(|| format!("row {row}"), |number| format!("block {number}"))
    )]
    NoRoom { number: Option<BlockNumber>, row: u32, bytes: u64 },
    #[error(
        "{model} binds its thinking to everything before it: the API would refuse {} ({} tokens) after the first change",
        plural(*.blocks as usize, "thinking block"), count(*.tokens)
    )]
    Bound { model: String, blocks: u32, tokens: u64 },
    #[error("the client has not compacted this session")]
    NotCompacted,
    #[error("the content before the compaction is no longer in this file")]
    CutAway,
    /// The provider cannot write the required row.
    #[error("nothing in this session to append the note after")]
    NoWay,
    /// The client of the session sends all rows in file order.
    #[error("rows of this client cannot be folded, restored or removed one by one; compress and archive work")]
    NoBranches,
    /// The result would violate an invariant of sessions.
    #[error("nothing was written: {0}; this is a bug in aperture")]
    Unsafe(String),
    /// The rows of the conversation are linked in an order that does not allow the change.
    #[error("the rows of this session are linked in an unusual order: {0}")]
    Tangled(String),
    #[error("the store cannot be used")]
    Originals(#[from] OriginalError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<SpliceError> for PlanError {
    fn from(error: SpliceError) -> PlanError {
        match error {
            SpliceError::Mismatch => PlanError::Moved,
            SpliceError::Io(error) => PlanError::Io(error),
        }
    }
}
