use crate::model::{Block, BlockKind, Flags, Key, Row, RowKind, Session};
use std::ops::Range;

/// The rows of a session as the client interprets them: by their type on disk, each with its blocks.
pub(in super::super) struct View<'a> {
    pub rows: &'a [Row],
    pub blocks: &'a [Block],
    starts: Vec<u32>,
    /// True if all messages are sidechain rows: in the file of a subagent the flag distinguishes nothing.
    sidechain_only: bool,
}

impl<'a> View<'a> {
    pub fn new(session: &'a Session) -> View<'a> {
        let mut starts = Vec::with_capacity(session.rows.len() + 1);
        let mut start = 0usize;
        for row in &session.rows {
            starts.push(start as u32);
            start = (start + row.blocks as usize).min(session.blocks.len());
        }
        starts.push(start as u32);
        let speakers = session.rows.iter().filter(|row| matches!(row.kind, RowKind::User | RowKind::Assistant));
        let sidechain_only = speakers.clone().next().is_some() && speakers.clone().all(|row| row.sidechain);
        View { rows: &session.rows, blocks: &session.blocks, starts, sidechain_only }
    }

    pub fn row(&self, row: u32) -> &'a Row {
        &self.rows[row as usize]
    }

    pub fn flags(&self, row: u32) -> Flags {
        self.row(row).flags
    }

    pub fn places(&self, row: u32) -> Range<usize> {
        self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize
    }

    /// Returns the blocks of a row, including those that the client drops on read.
    pub fn all_blocks(&self, row: u32) -> &'a [Block] {
        &self.blocks[self.places(row)]
    }

    /// Returns the blocks of a row without those that the client drops on read.
    pub fn blocks(&self, row: u32) -> impl DoubleEndedIterator<Item = &'a Block> + Clone {
        self.all_blocks(row).iter().filter(|block| !(block.kind == BlockKind::Other && block.label.is_empty()))
    }

    pub fn is_sidechain(&self, row: u32) -> bool {
        self.row(row).sidechain && !self.sidechain_only
    }

    pub fn is_user(&self, row: u32) -> bool {
        self.row(row).kind == RowKind::User
    }

    pub fn is_assistant(&self, row: u32) -> bool {
        self.row(row).kind == RowKind::Assistant || self.flags(row).any(Flags::API_ERROR)
    }

    pub fn speaks(&self, row: u32) -> bool {
        self.is_user(row) || self.is_assistant(row)
    }

    pub fn is_attachment(&self, row: u32) -> bool {
        self.flags(row).any(Flags::ATTACHMENT)
    }

    pub fn is_boundary(&self, row: u32) -> bool {
        self.row(row).kind == RowKind::Boundary
    }

    pub fn is_system(&self, row: u32) -> bool {
        match self.row(row).kind {
            RowKind::Boundary => true,
            RowKind::Link | RowKind::Attachment => !self.flags(row).any(Flags::ATTACHMENT | Flags::API_ERROR | Flags::UNUSABLE),
            _ => false,
        }
    }

    /// Returns true if the client never sends the row.
    pub fn is_unsent(&self, row: u32) -> bool {
        let flags = self.flags(row);
        flags.any(Flags::VIRTUAL) || matches!(self.row(row).kind, RowKind::Boundary | RowKind::Link)
    }

    /// Returns the identity of the response that an assistant row is a piece of.
    pub fn response(&self, row: u32) -> Option<Key> {
        if self.is_assistant(row) { self.row(row).message } else { None }
    }

    pub fn uses(&self, row: u32) -> impl Iterator<Item = Key> {
        let blocks = if self.is_assistant(row) { self.all_blocks(row) } else { &[] };
        blocks.iter().filter(|block| is_use(block)).filter_map(|block| block.call)
    }

    /// Returns the tool uses that a user row answers.
    pub fn results(&self, row: u32) -> impl Iterator<Item = Key> {
        let blocks = if self.is_user(row) { self.all_blocks(row) } else { &[] };
        blocks.iter().filter(|block| is_result(block)).filter_map(|block| block.call)
    }

    pub fn has_use(&self, row: u32) -> bool {
        self.is_assistant(row) && self.all_blocks(row).iter().any(is_use)
    }

    pub fn has_result(&self, row: u32) -> bool {
        self.is_user(row) && self.all_blocks(row).iter().any(is_result)
    }

    /// Returns true if a row belongs to the row before it and opens no turn.
    pub fn is_passive(&self, row: u32) -> bool {
        self.is_attachment(row)
            || self.is_system(row) && !self.is_boundary(row)
            || self.is_user(row) && self.flags(row).any(Flags::META) && !self.has_result(row)
    }

    /// Returns true if a row can be among the pieces of a response.
    pub fn accompanies(&self, row: u32, response: Option<Key>) -> bool {
        if self.is_assistant(row) {
            return response.is_some() && self.row(row).message == response;
        }
        if self.is_user(row) {
            return self.flags(row).any(Flags::META) || self.has_result(row);
        }
        self.is_attachment(row) || self.is_system(row) && !self.is_boundary(row)
    }
}

/// Returns true if a block is a tool use that the client executes itself.
pub(in super::super) fn is_use(block: &Block) -> bool {
    block.kind == BlockKind::ToolUse && block.label.is_empty()
}

/// Returns true if a block is the result of a tool use that the client executed.
pub(in super::super) fn is_result(block: &Block) -> bool {
    block.kind == BlockKind::ToolResult && block.label.is_empty()
}
