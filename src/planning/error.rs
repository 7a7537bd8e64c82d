use super::draft::Kept;
use super::originals::OriginalError;
use super::splice::SpliceError;
use crate::engine::{count, plural};
use crate::model::{BlockNumber, OperationId};
use std::io;

/// Why a plan cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is no such block.
    #[error("there is no block {0}")]
    NoSuchBlock(BlockNumber),
    /// It cannot be changed.
    #[error("block {0} cannot be changed: the client needs it as it is")]
    Immutable(BlockNumber),
    /// It is in the file of another session.
    #[error("block {0} is inherited from the session that this one is a fork of")]
    Inherited(BlockNumber),
    /// Its original is not here.
    #[error("the original of block {0} is not in this store")]
    NoOriginal(BlockNumber),
    /// A later operation changed the same block.
    #[error("operation {by} changed block {number} after operation {operation}")]
    ChangedLater {
        /// The block.
        number: BlockNumber,
        /// The operation to take back.
        operation: OperationId,
        /// The later one.
        by: OperationId,
    },
    /// A later operation took out what the operation added.
    #[error("operation {by} took out what operation {operation} added")]
    RemovedLater {
        /// The operation to take back.
        operation: OperationId,
        /// The later one.
        by: OperationId,
    },
    /// What it took out was forgotten.
    #[error("the credentials that operation {0} took out were forgotten, and cannot be brought back")]
    Forgotten(OperationId),
    /// A block is not as aperture left it.
    #[error("block {0} is not as aperture left it: another program changed it")]
    ChangedElsewhere(BlockNumber),
    /// A row that the log names is not in the file.
    #[error("a row that the log names is not in the file any more: another program rewrote it")]
    Gone,
    /// The file is another one than was read.
    #[error("the session changed while the change was planned")]
    Moved,
    /// The turns are not there.
    #[error("these turns are not in the window")]
    NoTurns,
    /// The last turn is among those to be folded.
    #[error("the last turn is what is being worked on, and stays")]
    LastTurn,
    /// A block among what would go is held.
    #[error("block {0} is among them, and it is {what}", what = .1.reason())]
    Held(BlockNumber, Kept),
    /// Nothing that may be shortened is left, and the window is still larger.
    #[error(
        "{} tokens are asked for; with what is protected, pinned or said by people the window holds at least about {}",
        count(*.budget), count(*.smallest)
    )]
    Budget {
        /// Tokens that were asked for.
        budget: u64,
        /// Tokens that can be reached.
        smallest: u64,
    },
    /// A row would be longer, in a session into which the client keeps byte offsets elsewhere.
    #[error(
        "{what} would be {bytes} bytes longer than its row, and no row of this session may grow: the client keeps the place of each",
        what = .number.map_or_else(|| format!("row {row}"), |number| format!("block {number}"))
    )]
    NoRoom {
        /// The block.
        number: Option<BlockNumber>,
        /// The row, counted from 1.
        row: u32,
        /// Bytes that are missing.
        bytes: u64,
    },
    /// Thinking is to stay behind a change, and its model refuses that.
    #[error(
        "{model} binds its thinking to everything before it: the API would refuse {} ({} tokens) after the first change",
        plural(*.blocks as usize, "thinking block"), count(*.tokens)
    )]
    Bound {
        /// The model.
        model: String,
        /// How many blocks.
        blocks: u32,
        /// The cost of these blocks.
        tokens: u64,
    },
    /// There is nothing to take back.
    #[error("no compaction of the client is in this session")]
    NotCompacted,
    /// What a compaction cut is not in the file.
    #[error("what the compaction cut is not in this file any more")]
    CutAway,
    /// The provider cannot write what is needed.
    #[error("this session has no row that what is added could follow")]
    NoWay,
    /// The client of the session sends all rows in their order.
    #[error("the client of this session sends all its rows in their order, so that none can be left out or brought back")]
    NoBranches,
    /// The result would not be a sound session.
    #[error("nothing was written, because {0}; this is a bug of aperture")]
    Unsafe(String),
    /// The rows of the conversation are linked in an order that leaves no place for the change.
    #[error("the rows of this session are linked in an unusual order: {0}")]
    Tangled(String),
    /// The originals cannot be read.
    #[error("the store cannot be used")]
    Originals(#[from] OriginalError),
    /// The session cannot be read.
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
