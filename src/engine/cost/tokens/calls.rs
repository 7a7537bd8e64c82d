//! The API calls of a session: the billed tokens, and the blocks sent for the first time.

use crate::model::{Flags, Key, Row, RowKind, Session, Usage};
use rustc_hash::FxHashMap;

/// The known facts of one API call.
#[derive(Default)]
pub(super) struct Call {
    pub(super) usage: Usage,
    pub(super) finished: bool,
    pub(super) model: String,
    /// Blocks that were sent with it for the first time.
    pub(super) before: Vec<usize>,
    /// Blocks of its response.
    pub(super) response: Vec<usize>,
    /// True if it follows the call before it on the same chain, without a compaction between.
    pub(super) continues: bool,
    pub(super) turn: u32,
    /// Number of background task notifications in its new input.
    pub(super) notifications: u32,
}

/// Returns the calls of the session in file order, and a last one for blocks that were never sent.
pub(super) fn calls(session: &Session) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    // User-side blocks since the start of the last response; a tool can answer while the response is still streamed.
    let mut pending: Vec<usize> = Vec::new();
    let mut notifications = 0;
    let mut message: Option<Key> = None;
    // The client can keep rows from before a compaction, and later rows then follow them.
    let mut compacted = false;
    // The call that each row follows or belongs to, along its own branch.
    let mut follows: FxHashMap<Key, usize> = FxHashMap::with_capacity_and_hasher(session.rows.len(), Default::default());
    let mut next = 0;
    for row in &session.rows {
        let blocks = next..next + row.blocks as usize;
        next = blocks.end;
        if row.sidechain {
            continue;
        }
        let parent = row.parent.and_then(|parent| follows.get(&parent)).copied();
        let mut place = parent.filter(|_| row.kind != RowKind::Boundary);
        compacted |= row.kind == RowKind::Boundary;
        if row.kind == RowKind::Assistant && !row.flags.any(Flags::SYNTHETIC) {
            let continued = row.message.is_some() && row.message == message || calls.last().is_some_and(|call| is_of(row, call));
            message = row.message;
            if calls.is_empty() || !continued {
                calls.push(Call {
                    before: std::mem::take(&mut pending),
                    notifications: std::mem::take(&mut notifications),
                    continues: !std::mem::take(&mut compacted) && parent.is_some_and(|parent| parent + 1 == calls.len()),
                    turn: blocks.clone().next().map_or(0, |block| session.blocks[block].position.turn),
                    ..Call::default()
                });
            }
            place = Some(calls.len() - 1);
            if let Some(call) = calls.last_mut() {
                // Every row of a response repeats the input; the last one has the output.
                if let Some(usage) = row.usage.filter(|usage| usage.sent() > 0) {
                    call.usage = Usage { output: usage.output.max(call.usage.output), ..usage };
                }
                call.finished |= row.finished;
                if let Some(model) = &row.model {
                    call.model = model.to_string();
                }
                call.response.extend(blocks);
            }
        } else {
            notifications += u32::from(row.flags.any(Flags::NOTIFICATION));
            pending.extend(blocks);
        }
        if let (Some(id), Some(place)) = (row.id, place) {
            follows.insert(id, place);
        }
    }
    calls.push(Call { before: pending, ..Call::default() });
    calls
}

/// Returns true if a row has the bill of a call: some clients give each row of a response a message id of its own, but the input of
/// the next call is never the same.
fn is_of(row: &Row, call: &Call) -> bool {
    let input = |usage: Usage| (usage.input, usage.cache_read, usage.cache_creation);
    row.usage.is_some_and(|usage| usage.sent() > 0 && input(usage) == input(call.usage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Block, BlockKind, Role};

    /// Returns the rows of each call, from rows given as kind, message id and billed input.
    fn rows_of(rows: &[(RowKind, u128, u64)]) -> Vec<usize> {
        let mut session = Session::default();
        for (number, (kind, message, input)) in rows.iter().enumerate() {
            let mut row = Row::new(*kind);
            (row.id, row.parent) = (Some(Key(number as u128 + 1)), (number > 0).then_some(Key(number as u128)));
            (row.message, row.blocks) = ((*message > 0).then_some(Key(*message)), 1);
            row.usage = (*input > 0).then_some(Usage { input: 3, cache_read: *input, cache_creation: 7, output: 5 });
            session.rows.push(row);
            session.blocks.push(Block::new(BlockKind::Text, Role::Assistant));
        }
        calls(&session).iter().map(|call| call.response.len()).collect()
    }

    #[test]
    fn a_response_of_several_message_ids_is_one_call() {
        use RowKind::{Assistant, User};
        assert_eq!(rows_of(&[(User, 0, 0), (Assistant, 1, 90), (Assistant, 2, 90), (User, 0, 0), (Assistant, 3, 95)]), [2, 1, 0]);
        // A tool may answer before the response ends.
        assert_eq!(rows_of(&[(User, 0, 0), (Assistant, 1, 90), (User, 0, 0), (Assistant, 2, 90), (Assistant, 3, 95)]), [2, 1, 0]);
        assert_eq!(rows_of(&[(User, 0, 0), (Assistant, 1, 90), (Assistant, 1, 90), (Assistant, 2, 91)]), [2, 1, 0]);
        assert_eq!(rows_of(&[(User, 0, 0), (Assistant, 1, 0), (User, 0, 0), (Assistant, 2, 0)]), [1, 1, 0]);
    }
}
