//! Computes a fork: the rows of a session up to a block, as a session of its own.

use super::bills::{is_same_response, outdated_bill};
use super::{PlanError, Rows, parse_session};
use crate::engine::Analysis;
use crate::model::{BlockKind, BlockNumber, Event, History, Key, Row, RowKind, Session, Slot};
use crate::provider::{ForkedRow, NewRow, ProviderAdapter};
use rustc_hash::{FxHashMap, FxHashSet};

/// The content of a fork.
#[derive(Clone, Debug)]
pub struct Fork {
    pub bytes: Vec<u8>,
    pub rows: usize,
    pub last: BlockNumber,
    pub window: Vec<BlockNumber>,
}

/// Returns the fork of a session that ends with a block, with the last result of the tool uses up to it, or with the summary of the
/// compaction that the block is a part of. `id` is the id of the
/// fork, and `leaf` that of the row that marks its end, if the client writes such a row.
/// Errors: the block does not exist or is in the file of another session, a row cannot be read, or the client would not send its
/// turn.
pub fn fork(
    provider: &dyn ProviderAdapter,
    reading: &Analysis,
    history: &History,
    rows: &dyn Rows,
    at: BlockNumber,
    id: &str,
    leaf: &str,
) -> Result<Fork, PlanError> {
    let session = &reading.session;
    let block = session.blocks.iter().find(|block| block.number == at).ok_or(PlanError::NoSuchBlock(at))?;
    let first = session.inherited_rows();
    if block.row < first {
        return Err(PlanError::Inherited(at));
    }
    let mut end = last_row(session, summary_row(session, block.row).unwrap_or(block.row));
    while end + 1 < session.rows.len() as u32 && provider.follows_turn(&rows.line(session, end + 1)?) {
        end += 1;
    }
    let mut bytes = Vec::new();
    let mut count = 0;
    let mut add = |line: &[u8], is_first: bool| {
        let row = provider.forked(line, &ForkedRow { id, source: &session.id, is_first });
        if let Some(row) = &row {
            bytes.extend_from_slice(row);
            bytes.push(b'\n');
            count += 1;
        }
        row.is_some()
    };
    // Turns that the user left are not copied, unless the fork begins in one of them.
    let sent = provider.window(session);
    let left = Some(sent.left).filter(|left| left.binary_search(&block.row).is_err()).unwrap_or_default();
    let mut sources = Vec::new();
    let mut copied: Vec<BlockNumber> =
        session.blocks.iter().take_while(|block| block.row < first).map(|block| block.number).collect();
    let kept: Vec<u32> = (first..=end).filter(|row| left.binary_search(row).is_err()).collect();
    for row in with_parents(session, &sent.rows, &kept) {
        if add(&rows.line(session, row)?, row == first) {
            copied.extend(session.blocks_of(row).iter().map(|block| block.number));
            sources.push(row);
        }
    }
    let speaks = |row: &u32| {
        let row = &session.rows[*row as usize];
        !row.sidechain && row.id.is_some() && matches!(row.kind, RowKind::User | RowKind::Assistant | RowKind::Attachment)
    };
    if let Some(last) = kept.iter().rev().copied().find(speaks) {
        let like = rows.line(session, last)?;
        let parent = provider.identity(&like).unwrap_or_default();
        let new = NewRow { like: &like, parent, id: leaf.to_owned(), timestamp: String::new(), sidechain: false, ordinal: None };
        if let Some(leaf) = provider.leaf(&new) {
            add(&leaf, false);
        }
    }
    let last = copied.last().copied().unwrap_or(at);
    let fork = parse_session(provider, id.to_owned(), &bytes);
    let own = provider.window(&fork);
    let window = window(session, &own.blocks, &copied, last)?;
    let sent: Vec<u32> = (0..first).chain(own.rows.iter().filter_map(|row| sources.get(*row as usize).copied())).collect();
    if let Some(last) = outdated_bill(session, &sent, history) {
        let tokens = tokens_before(reading, &window, last);
        for place in (0..sources.len()).rev().filter(|place| is_same_response(session, last, sources[*place])) {
            write_bill(provider, &mut bytes, &fork.rows[place], tokens);
        }
    }
    Ok(Fork { bytes, rows: count, last, window })
}

/// Returns the tokens that the request of a response would send now.
fn tokens_before(reading: &Analysis, window: &[BlockNumber], response: u32) -> u64 {
    let blocks = window.iter().filter_map(|number| reading.block(*number));
    let before = blocks.take_while(|block| !is_same_response(&reading.session, response, block.row));
    (before.map(|block| block.tokens.value).sum::<f64>() + reading.price.outside.value).round().max(1.0) as u64
}

/// Writes the tokens that are sent into the bill of a row, if it has one: the client takes them for the size of the window.
fn write_bill(provider: &dyn ProviderAdapter, bytes: &mut Vec<u8>, row: &Row, sent: u64) {
    let start = row.offset as usize;
    let line = &bytes[start..start + row.length as usize];
    let Some(at) = provider.locate_slot(line, Slot::Usage) else { return };
    if let Some(written) = provider.usage(&line[at.clone()], sent, line) {
        bytes.splice(start + at.start..start + at.end, written);
    }
}

/// Returns rows, each after those of the window that it continues: a fold continues its turns from a note at the end of the file.
fn with_parents(session: &Session, window: &[u32], rows: &[u32]) -> Vec<u32> {
    let row_of = |row: u32| &session.rows[row as usize];
    let places: FxHashMap<Key, u32> = window.iter().filter_map(|row| Some((row_of(*row).id?, *row))).collect();
    let parent = |row: u32| row_of(row).parent.and_then(|parent| places.get(&parent).copied());
    let mut given: FxHashSet<u32> = rows.iter().copied().collect();
    let mut ordered = Vec::with_capacity(rows.len());
    for row in rows {
        let start = ordered.len();
        let mut next = parent(*row);
        while let Some(before) = next.filter(|before| given.insert(*before)) {
            ordered.push(before);
            next = parent(before);
        }
        ordered[start..].reverse();
        ordered.push(*row);
    }
    ordered
}

/// Returns the row of the summary that a compaction wrote after this row; `None` if the row is not between the two.
fn summary_row(session: &Session, row: u32) -> Option<u32> {
    let rows = &session.rows;
    let start = rows[..=row as usize].iter().rposition(|row| row.kind == RowKind::Boundary)?;
    let is_summary = |row: &Row| matches!(row.event.as_deref(), Some(Event::CompactSummary));
    let speaks = |row: &Row| matches!(row.kind, RowKind::User | RowKind::Assistant | RowKind::Boundary);
    let next = start + 1 + rows[start + 1..].iter().position(speaks)?;
    (next as u32 > row && is_summary(&rows[next])).then_some(next as u32)
}

/// Returns the row after which the fork ends: a response is not divided within its thinking, and each tool use has its result.
fn last_row(session: &Session, row: u32) -> u32 {
    let mut end = row;
    let thinks = |row: u32| session.blocks_of(row).iter().all(|block| block.kind == BlockKind::Thinking);
    while let Some(next) = session.rows.get(end as usize + 1).filter(|_| thinks(end)) {
        if next.message.is_none() || next.message != session.rows[end as usize].message {
            break;
        }
        end += 1;
    }
    loop {
        let uses: FxHashSet<Key> = session
            .blocks
            .iter()
            .take_while(|block| block.row <= end)
            .filter(|block| block.kind == BlockKind::ToolUse)
            .filter_map(|block| block.call)
            .collect();
        let answers = |row: u32| {
            let mut results = session.blocks_of(row).iter().filter(|block| block.kind == BlockKind::ToolResult);
            results.any(|block| block.call.is_some_and(|call| uses.contains(&call)))
        };
        let later = session.blocks.iter().skip_while(|block| block.row <= end).map(|block| block.row);
        match later.filter(|row| answers(*row)).last() {
            Some(last) => end = last,
            None => return end,
        }
    }
}

/// Returns the window of the fork: the blocks that it inherits, and those of its own that are sent. The client must send its last block.
fn window(
    session: &Session,
    own: &[BlockNumber],
    copied: &[BlockNumber],
    last: BlockNumber,
) -> Result<Vec<BlockNumber>, PlanError> {
    let first = session.inherited_rows();
    let inherited = session.blocks.iter().take_while(|block| block.row < first).count();
    let (inherited, written) = copied.split_at(inherited);
    let own = own.iter().filter_map(|number| written.get(*number as usize - 1));
    let window: Vec<BlockNumber> = inherited.iter().chain(own).copied().collect();
    match window.contains(&last) {
        true => Ok(window),
        false => Err(PlanError::NotSent(last)),
    }
}
