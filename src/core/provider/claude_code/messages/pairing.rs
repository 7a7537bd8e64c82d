use super::draft::{Draft, Piece, Sort, Speaker};
use super::finish::NO_CONTENT;
use crate::model::{BlockNumber, Key};
use rustc_hash::FxHashSet;

const MISSING: &str = "[Tool result missing due to internal error]";
const USE_REMOVED: &str = "[Tool use removed]";
const USE_INTERRUPTED: &str = "[Tool use interrupted]";
const ORPHAN_REMOVED: &str = "[Orphaned tool result removed due to conversation resume]";

/// Repairs tool pairs: each tool use has exactly one result in the next message, and each result has a tool use.
pub(super) fn pair(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut paired: Vec<Draft> = Vec::with_capacity(drafts.len());
    let mut used: FxHashSet<Key> = FxHashSet::default();
    let mut drafts = drafts.into_iter().peekable();
    while let Some(mut draft) = drafts.next() {
        if draft.speaker != Speaker::Assistant {
            if drop_orphans(&mut draft, &paired) {
                paired.push(draft);
            }
            continue;
        }
        let calls = take_uses(&mut draft, &mut used);
        paired.push(draft);
        let next = drafts.next_if(|next| next.speaker == Speaker::User);
        let mut answer = next.unwrap_or_else(|| Draft::new(Speaker::User, Vec::new()));
        let empty = answer.pieces.is_empty();
        if !calls.is_empty() || answer.has_result() {
            answer_calls(&mut answer, &calls);
        }
        if answer.pieces.is_empty() && !empty {
            answer.pieces.push(Piece::made(NO_CONTENT));
        }
        if !answer.pieces.is_empty() {
            paired.push(answer);
        }
    }
    paired
}

/// Removes the results from a message that does not follow an answer; returns false if nothing is left of it.
fn drop_orphans(draft: &mut Draft, before: &[Draft]) -> bool {
    if draft.speaker != Speaker::User || before.last().is_some_and(|last| last.speaker == Speaker::Assistant) {
        return true;
    }
    if !draft.has_result() {
        return true;
    }
    draft.pieces.retain(|piece| piece.sort != Sort::Result);
    if draft.pieces.is_empty() && before.is_empty() {
        draft.pieces.push(Piece::made(ORPHAN_REMOVED));
    }
    !draft.pieces.is_empty()
}

/// Keeps the first result of a message for each call, and generates the missing ones.
fn answer_calls(answer: &mut Draft, calls: &[(Key, Option<BlockNumber>)]) {
    let known: FxHashSet<Key> = calls.iter().map(|(call, _)| *call).collect();
    let mut answered: FxHashSet<Key> = FxHashSet::default();
    answer.pieces.retain(|piece| {
        piece.sort != Sort::Result || piece.call.is_some_and(|call| known.contains(&call) && answered.insert(call))
    });
    let missing = calls.iter().filter(|(call, _)| !answered.contains(call));
    let made: Vec<Piece> =
        missing.filter_map(|(call, block)| Some(Piece::made_result((*block)?, Some(*call), MISSING))).collect();
    answer.pieces.splice(0..0, made);
}

/// Returns the tool uses of an answer with their blocks; removes results and repeated tool uses from the answer.
fn take_uses(draft: &mut Draft, used: &mut FxHashSet<Key>) -> Vec<(Key, Option<BlockNumber>)> {
    let mut calls = Vec::new();
    let mut gone = Vec::new();
    for (place, piece) in draft.pieces.iter().enumerate() {
        match (piece.sort, piece.call) {
            (Sort::Result, _) => gone.push(place),
            (Sort::Use, Some(call)) if used.insert(call) => calls.push((call, piece.block())),
            (Sort::Use, Some(_)) => gone.push(place),
            _ => {}
        }
    }
    // A placeholder must remain between two thinking blocks.
    let held: Vec<usize> = gone
        .iter()
        .copied()
        .filter(|place| draft.pieces[*place].sort == Sort::Use && draft.parts_thinking(*place, |_| false))
        .collect();
    held.into_iter().for_each(|place| draft.pieces[place] = Piece::made(USE_REMOVED));
    gone.retain(|place| draft.pieces[*place].sort != Sort::Text);
    let mut gone = gone.into_iter().peekable();
    let mut place = 0;
    draft.pieces.retain(|_| {
        place += 1;
        gone.next_if_eq(&(place - 1)).is_none()
    });
    if draft.pieces.is_empty() {
        draft.pieces.push(Piece::made(USE_INTERRUPTED));
    }
    calls
}
