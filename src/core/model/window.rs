use super::{Block, BlockNumber, Housekeeping, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows and blocks that the model would receive if the session were resumed now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// The rows that are sent, in request order.
    pub rows: Vec<u32>,
    /// The blocks that are sent, in request order.
    pub blocks: Vec<BlockNumber>,
    /// The number of blocks of the file that are not sent, by reason.
    pub hidden: Hidden,
    /// True if a compaction cut the conversation.
    pub compacted: bool,
    /// The rows of the live chain, from its root to its leaf, including those that are not sent.
    pub chain: Vec<u32>,
    /// The rows of turns that the user left by a rewind or a rollback, in order.
    pub left: Vec<u32>,
    /// The places at which the client loses rows that the user did not leave, the newest first.
    pub cuts: Vec<HistoryCut>,
    /// The row of the last bill, if a change of aperture altered the rows before it since: it does not tell the size of the window then.
    pub outdated_bill: Option<u32>,
}

impl Window {
    /// Returns the blocks that are sent, in request order, from the session that it is the window of.
    pub fn blocks_in<'a>(&'a self, session: &'a Session) -> impl DoubleEndedIterator<Item = &'a Block> {
        self.blocks.iter().map(|number| &session.blocks[*number as usize - 1])
    }

    /// Returns true if a row is part of a turn that the user left.
    pub fn is_left(&self, row: u32) -> bool {
        self.left.binary_search(&row).is_ok()
    }
}

/// A place at which the client loses rows, because a row names another row that the file does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryCut {
    /// The row that names a missing one.
    pub row: u32,
    /// The row that it certainly followed: the one written before it, of the same session and side, and not newer.
    pub before: Option<u32>,
    /// The rows that are not sent because of it, up to the next cut before it.
    pub rows: Vec<u32>,
}

/// Figures of a session that tell the size of its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowEvidence {
    /// The most tokens in one request.
    pub peak_tokens: u64,
    /// The size of the window in tokens, if the client records it.
    pub stated_tokens: Option<u64>,
    /// The tokens at which the client last compacted the session by itself; 0 if it never did so with the model of the last response.
    pub compacted_tokens: u64,
    /// The most tokens in one request after that.
    pub later_tokens: u64,
}

/// Blocks that are not in the window, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hidden {
    /// Before the last compaction.
    pub compacted: u32,
    /// On abandoned branches.
    pub branched: u32,
    /// Cut off by a row that names one which is not in the file.
    pub cut: u32,
    /// Of subagents.
    pub sidechain: u32,
    /// Dropped by the agent program.
    pub dropped: u32,
}

impl Hidden {
    pub fn total(&self) -> u32 {
        self.compacted + self.branched + self.cut + self.sidechain + self.dropped
    }
}

/// One prompt and the answers to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// Its number, from 1 in file order.
    pub number: u32,
    /// The first words of the prompt.
    pub prompt: String,
    pub opening: Option<BlockNumber>,
    /// The time when the prompt was written, in milliseconds since 1970, UTC.
    pub timestamp: Option<i64>,
    pub blocks: Vec<BlockNumber>,
    /// The number of API responses in it.
    pub steps: u32,
    /// Its topic, an index into the topics of the reading.
    pub topic: Option<u32>,
    /// The words of the model about it.
    pub housekeeping: Option<Box<Housekeeping>>,
    /// True if a local model says that its prompt begins another task than the turn before.
    pub begins_task: bool,
}
