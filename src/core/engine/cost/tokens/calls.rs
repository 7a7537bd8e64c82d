//! The API calls of a session: the billed tokens, and the blocks sent for the first time.

use crate::model::{BilledTokens, Event, Flags, Key, Row, RowKind, Session, WaitingPrompts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// The known facts of one API call.
#[derive(Default)]
pub(in crate::engine) struct Call {
    pub(in crate::engine) usage: BilledTokens,
    /// True if it was billed at the prices of the fast mode.
    pub(in crate::engine) fast: bool,
    pub(super) finished: bool,
    pub(in crate::engine) model: String,
    /// Blocks that were sent with it for the first time.
    pub(in crate::engine) before: Vec<usize>,
    pub(in crate::engine) response: Vec<usize>,
    /// True if it follows the call before it on the same chain, without a compaction between.
    pub(super) continues: bool,
    /// The call whose window and response it continues, on the same branch and without a compaction between.
    pub(in crate::engine) follows: Option<usize>,
    /// True if it is the first call after a compaction.
    pub(in crate::engine) compacted: bool,
    /// True if a row between it and the calls before it is not in the file: a resume would send less than was billed.
    pub(super) severed: bool,
    pub(in crate::engine) turn: u32,
    /// Number of background task notifications in its new input.
    pub(super) notifications: u32,
    /// Number of rows before it that the client wrote in the place of a response.
    pub(super) stand_ins: u32,
    /// Characters of each prompt that the client sent with it beside the results of tools.
    pub(super) queued: Vec<u32>,
}

/// The place of a row behind the calls, along its own branch.
#[derive(Clone, Copy, PartialEq)]
enum Behind {
    Start,
    Call(usize),
    /// A row that is not in the file.
    Gap,
}

/// Returns the calls of the session in file order, and a last one for blocks that were never sent.
pub(in crate::engine) fn calls(session: &Session) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    // User-side blocks since the start of the last response; a tool can answer while the response is still streamed.
    let mut pending: Vec<usize> = Vec::new();
    let (mut notifications, mut stand_ins) = (0, 0);
    let (mut waiting, mut queued) = (WaitingPrompts::default(), Vec::new());
    let mut message: Option<Key> = None;
    // The times of the compactions that no call followed yet: the client can keep rows from before one, and later rows then follow them.
    let mut cuts: Vec<Option<i64>> = Vec::new();
    // The call that each row follows or belongs to.
    let mut follows: FxHashMap<Key, Behind> = FxHashMap::with_capacity_and_hasher(session.rows.len(), Default::default());
    for (row, blocks) in ordered(session) {
        if row.sidechain {
            continue;
        }
        let parent = row.parent.map_or(Behind::Start, |parent| follows.get(&parent).copied().unwrap_or(Behind::Gap));
        let mut place = if row.kind == RowKind::Boundary { Behind::Start } else { parent };
        if row.kind == RowKind::Boundary {
            cuts.push(row.timestamp);
        }
        if row.kind == RowKind::Assistant && !row.flags.any(Flags::SYNTHETIC) {
            let continued = row.message.is_some() && row.message == message || calls.last().is_some_and(|call| is_of(row, call));
            message = row.message;
            if calls.is_empty() || !continued {
                // A client can list again, behind the boundary, what it sent before.
                let pending_cuts = cuts.len();
                cuts.retain(|cut| row.timestamp.zip(*cut).is_some_and(|(time, cut)| time < cut));
                let compacted = cuts.len() < pending_cuts;
                let before = if let Behind::Call(before) = parent { Some(before) } else { None };
                calls.push(Call {
                    follows: before.filter(|_| !compacted),
                    before: std::mem::take(&mut pending),
                    notifications: std::mem::take(&mut notifications),
                    stand_ins: std::mem::take(&mut stand_ins),
                    queued: std::mem::take(&mut queued),
                    compacted,
                    continues: !compacted && calls.len().checked_sub(1).map(Behind::Call) == Some(parent),
                    severed: parent == Behind::Gap,
                    turn: session.blocks.get(blocks.start).filter(|_| !blocks.is_empty()).map_or(0, |block| block.position.turn),
                    ..Call::default()
                });
            }
            place = Behind::Call(calls.len() - 1);
            if let Some(call) = calls.last_mut() {
                // Every row of a response repeats the input; the last one has the output.
                if let Some(usage) = row.usage.filter(|usage| usage.sent() > 0) {
                    call.usage = BilledTokens { output: usage.output.max(call.usage.output), ..usage };
                    call.fast = row.flags.any(Flags::FAST);
                }
                call.finished |= row.finished;
                if let Some(model) = &row.model {
                    call.model = model.to_string();
                }
                call.response.extend(blocks);
            }
        } else {
            notifications += u32::from(row.flags.any(Flags::NOTIFICATION));
            stand_ins += u32::from(row.flags.any(Flags::SYNTHETIC));
            // The report of an error is not sent.
            pending.extend(blocks.filter(|_| !row.flags.any(Flags::API_ERROR)));
        }
        if let Some(Event::Queue(change)) = row.event.as_deref() {
            queued.extend(waiting.apply(change).map(|prompt| prompt.chars().count() as u32));
        }
        if let Some(id) = row.id {
            follows.insert(id, place);
        }
    }
    calls.push(Call { before: pending, ..Call::default() });
    calls
}

/// Returns the rows with the places of their blocks: in file order, but each after its parent. A client can write the result of a tool
/// before its use.
fn ordered(session: &Session) -> Vec<(&Row, Range<usize>)> {
    let ids: FxHashSet<Key> = session.rows.iter().filter_map(|row| row.id).collect();
    let mut known: FxHashSet<Key> = FxHashSet::with_capacity_and_hasher(ids.len(), Default::default());
    let mut ordered = Vec::with_capacity(session.rows.len());
    let mut waiting: FxHashMap<Key, Vec<(&Row, Range<usize>)>> = FxHashMap::default();
    let mut ready = Vec::new();
    let mut next = 0;
    for row in &session.rows {
        let blocks = next..next + row.blocks as usize;
        next = blocks.end;
        if let Some(parent) = row.parent.filter(|parent| ids.contains(parent) && !known.contains(parent)) {
            waiting.entry(parent).or_default().push((row, blocks));
            continue;
        }
        ready.push((row, blocks));
        while let Some((row, blocks)) = ready.pop() {
            ordered.push((row, blocks));
            let children = row.id.filter(|id| known.insert(*id)).and_then(|id| waiting.remove(&id));
            ready.extend(children.into_iter().flatten().rev());
        }
    }
    // Rows that are their own ancestors.
    ordered.extend(waiting.into_values().flatten());
    ordered
}

/// Returns true if a row has the bill of a call: some clients give each row of a response a message id of its own, but the input of
/// the next call is never the same.
fn is_of(row: &Row, call: &Call) -> bool {
    let input = |usage: BilledTokens| (usage.input, usage.cache_read, usage.cache_written());
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
            row.message = (*message > 0).then_some(Key(*message));
            row.usage = (*input > 0).then_some(BilledTokens {
                input: 3,
                cache_read: *input,
                cache_write_5m: 7,
                output: 5,
                ..BilledTokens::default()
            });
            session.add(row, [Block::new(BlockKind::Text, Role::Assistant)]);
        }
        calls(&session).iter().map(|call| call.response.len()).collect()
    }

    /// Returns for each call whether it continues the one before it, and whether a row before it is missing; rows are given as kind,
    /// identity and parent.
    fn links(rows: &[(RowKind, u128, u128)]) -> Vec<(bool, bool)> {
        let mut session = Session::default();
        for (kind, id, parent) in rows {
            let mut row = Row::new(*kind);
            (row.id, row.parent) = (Some(Key(*id)), (*parent > 0).then_some(Key(*parent)));
            row.message = (*kind == RowKind::Assistant).then_some(Key(*id));
            session.rows.push(row);
        }
        let calls = calls(&session);
        calls[..calls.len() - 1].iter().map(|call| (call.continues, call.severed)).collect()
    }

    #[test]
    fn a_call_continues_the_one_that_it_follows() {
        use RowKind::{Assistant, Boundary, User};
        let begin = [(User, 1, 0), (Assistant, 2, 1), (User, 3, 2), (Assistant, 4, 3)];
        let last = |more: &[(RowKind, u128, u128)]| links(&[&begin, more].concat()).last().copied();
        assert_eq!(links(&begin), [(false, false), (true, false)]);
        // A rewind, a compaction, a missing row.
        assert_eq!(last(&[(User, 5, 2), (Assistant, 6, 5)]), Some((false, false)));
        assert_eq!(last(&[(User, 5, 0), (Assistant, 6, 5)]), Some((false, false)));
        assert_eq!(last(&[(Boundary, 5, 0), (User, 6, 5), (Assistant, 7, 6)]), Some((false, false)));
        assert_eq!(last(&[(User, 6, 5), (Assistant, 7, 6)]), Some((false, true)));
        // The result of a tool before its use.
        assert_eq!(last(&[(User, 6, 5), (Assistant, 5, 4), (Assistant, 7, 6)]), Some((true, false)));
        // Rows that follow each other in a circle.
        assert_eq!(last(&[(User, 5, 6), (User, 6, 5)]), Some((true, false)));
    }

    #[test]
    fn the_report_of_an_error_stands_in_for_a_response_and_is_not_sent() {
        let mut session = Session::default();
        let mut add = |kind, flags| {
            let message = Some(Key(session.rows.len() as u128));
            session.add(Row { flags, message, ..Row::new(kind) }, [Block::new(BlockKind::Text, Role::Assistant)]);
        };
        add(RowKind::User, Flags::default());
        add(RowKind::Link, Flags::SYNTHETIC | Flags::API_ERROR);
        add(RowKind::Assistant, Flags::SYNTHETIC);
        add(RowKind::Assistant, Flags::default());
        let call = &calls(&session)[0];
        assert_eq!((&call.before[..], &call.response[..], call.stand_ins), (&[0, 2][..], &[3][..], 2));
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
