use super::draft::SkipReason;
use super::originals::OriginalError;
use super::splice::SpliceError;
use crate::engine::{count, plural};
use crate::model::{BlockNumber, OperationId};
use std::io;

/// The reason why a plan cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("there is no block {0}")]
    NoSuchBlock(BlockNumber),
    #[error("block {0} cannot be changed: the client needs it as it is")]
    Immutable(BlockNumber),
    /// The block is in the file of another session.
    #[error("block {0} is inherited from the session that this one is a fork of")]
    Inherited(BlockNumber),
    #[error("the original of block {0} is not in this store")]
    NoOriginal(BlockNumber),
    #[error("operation {by} changed block {number} after operation {operation}")]
    ChangedLater { number: BlockNumber, operation: OperationId, by: OperationId },
    /// A later operation removed a row that the operation added or changed.
    #[error("operation {by} removed a row that operation {operation} added or changed")]
    RemovedLater { operation: OperationId, by: OperationId },
    /// The redacted credentials were deleted from the store.
    #[error("the credentials that operation {0} replaced were deleted and cannot be restored")]
    Forgotten(OperationId),
    /// Another program changed the block after aperture did.
    #[error("another program changed block {0} after aperture wrote it")]
    ChangedElsewhere(BlockNumber),
    /// A row in the log is missing from the file.
    #[error("a row that the log names is no longer in the file: another program rewrote it")]
    Gone,
    /// The file changed since it was read.
    #[error("the session changed while the change was planned")]
    Moved,
    #[error("these turns are not in the window")]
    NoTurns,
    /// A fork would end with a block that the client does not send.
    #[error("the client would not send block {0} of such a fork")]
    NotSent(BlockNumber),
    /// The turns to fold include the last turn.
    #[error("the last turn is still in progress and cannot be folded")]
    LastTurn,
    /// A block that would be removed is pinned or focused.
    #[error("block {0} would be removed, but it is {what}", what = .1.reason())]
    Held(BlockNumber, SkipReason),
    /// No more blocks may be shortened or folded, and the window is still larger than the budget.
    #[error(
        "a budget of {} tokens is too small: what the client itself sends, protected and pinned blocks and the words of people have at least about {}",
        count(*.budget), count(*.smallest)
    )]
    Budget {
        budget: u64,
        /// The smallest size that can be reached, in tokens.
        smallest: u64,
    },
    /// A row would grow, in a session for which the client stores byte offsets elsewhere.
    #[error(
        "{what} would be {bytes} bytes longer than its row, and no row of this session may grow: the client stores the byte offset of each",
        what = .number.map_or_else(|| format!("row {row}"), |number| format!("block {number}"))
    )]
    NoRoom {
        number: Option<BlockNumber>,
        /// The row, counted from 1.
        row: u32,
        /// The number of bytes over the limit.
        bytes: u64,
    },
    /// Thinking after a change must be kept, and its model would reject it.
    #[error(
        "{model} binds its thinking to everything before it: the API would refuse {} ({} tokens) after the first change",
        plural(*.blocks as usize, "thinking block"), count(*.tokens)
    )]
    Bound {
        model: String,
        blocks: u32,
        /// The cost of these blocks, in tokens.
        tokens: u64,
    },
    /// The session has no compaction to undo.
    #[error("the client has not compacted this session")]
    NotCompacted,
    /// The rows that a compaction hid are not in the file.
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
