use super::super::window::{Item, View};
use super::draft::{Draft, Fill, Piece, Sort, Speaker};
use super::pairing;
use crate::model::{BlockKind, Event, Key, ThinkingScope};
use rustc_hash::FxHashMap;

const EMPTY_REMOVED: &str = "[Empty text removed]";
pub(super) const NO_CONTENT: &str = "(no content)";
const THINKING_REMOVED: &str = "[Thinking removed]";

/// The number of thinking blocks to keep, for each response whose thinking is stripped.
pub(super) type ThinkingPlan = FxHashMap<Option<Key>, usize>;

/// Computes the thinking to strip from the marker rows.
pub(super) fn thinking_plan(view: &View<'_>, items: &[Item]) -> ThinkingPlan {
    let mut plan = ThinkingPlan::default();
    // Of equal markers the last one covers the most rows.
    let mut done: Vec<ThinkingScope> = Vec::new();
    for (end, item) in items.iter().enumerate().rev() {
        let Item::Row(row) = item else { continue };
        let Some(Event::ThinkingStripped(scope)) = view.row(*row).event.as_deref() else { continue };
        if !done.contains(scope) {
            done.push(*scope);
            mark(view, &items[..end], *scope, &mut plan);
        }
    }
    plan
}

fn mark(view: &View<'_>, items: &[Item], scope: ThinkingScope, plan: &mut ThinkingPlan) {
    let thinking = |row: u32| view.blocks(row).filter(|block| block.kind == BlockKind::Thinking).count();
    let rows = || {
        items.iter().enumerate().filter_map(|(place, item)| match item {
            Item::Row(row) if view.is_assistant(*row) => Some((place, *row)),
            _ => None,
        })
    };
    let mut start = None;
    if let ThinkingScope::From { message, kept } = scope {
        let mut before = 0;
        for (place, row) in rows().filter(|(_, row)| view.response(*row) == Some(message)) {
            before += thinking(row);
            if before > kept as usize {
                start = Some((place, message, kept as usize));
                break;
            }
        }
    }
    let from = start.map_or(0, |(place, ..)| place);
    let mut before: FxHashMap<Option<Key>, usize> = FxHashMap::default();
    for (place, row) in rows() {
        let response = view.response(row);
        if place < from {
            *before.entry(response).or_default() += thinking(row);
            continue;
        }
        let stay = match start {
            Some((_, message, kept)) if response == Some(message) => kept,
            _ => before.get(&response).copied().unwrap_or_default(),
        };
        plan.entry(response).and_modify(|known| *known = stay.min(*known)).or_insert(stay);
    }
}

/// Returns the messages in their final order, without content that the API would reject.
pub(super) fn finish(mut drafts: Vec<Draft>, plan: &ThinkingPlan) -> Vec<Draft> {
    drafts.iter_mut().for_each(Draft::settle);
    drafts.retain_mut(drop_empty_texts);
    let before = drafts.len();
    drafts.retain(|draft| !(draft.speaker == Speaker::Assistant && !draft.pieces.is_empty() && is_empty_message(draft)));
    for draft in &mut drafts {
        if draft.speaker == Speaker::Assistant && draft.pieces.is_empty() {
            draft.pieces.push(Piece::made(NO_CONTENT));
        }
    }
    if drafts.len() != before {
        drafts = join_users(drafts);
    }
    strip_thinking(&mut drafts, plan);
    pairing::pair(drafts)
}

fn is_empty(piece: &Piece) -> bool {
    piece.sort == Sort::Text && piece.fill == Fill::Empty
}

/// Removes empty texts from an answer; returns false if nothing is left of it.
fn drop_empty_texts(draft: &mut Draft) -> bool {
    if draft.speaker != Speaker::Assistant || !draft.pieces.iter().any(is_empty) || is_blank(draft) {
        return true;
    }
    let keep = draft.pieces.iter().any(|piece| piece.sort != Sort::Thinking && !is_empty(piece));
    let mut pieces = Vec::with_capacity(draft.pieces.len());
    for (place, piece) in draft.pieces.iter().enumerate() {
        if !is_empty(piece) {
            pieces.push(piece.clone());
        } else if keep && draft.parts_thinking(place, is_empty) {
            pieces.push(Piece::made(EMPTY_REMOVED));
        }
    }
    draft.pieces = pieces;
    !draft.pieces.is_empty()
}

/// Returns true if an answer has only thinking, or only blank texts after it.
fn is_empty_message(draft: &Draft) -> bool {
    draft.pieces.iter().all(|piece| piece.sort == Sort::Thinking) || is_blank(draft)
}

fn is_blank(draft: &Draft) -> bool {
    let mut texts = draft.pieces.iter().skip_while(|piece| piece.sort == Sort::Thinking).peekable();
    texts.peek().is_some() && texts.all(|piece| piece.sort == Sort::Text && piece.fill < Fill::Full)
}

fn join_users(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut joined: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        match joined.last_mut().filter(|last| last.speaker == Speaker::User && draft.speaker == Speaker::User) {
            Some(last) => last.join(draft.pieces),
            None => joined.push(draft),
        }
    }
    joined.iter_mut().filter(|draft| draft.speaker == Speaker::User).for_each(Draft::settle);
    joined
}

fn strip_thinking(drafts: &mut [Draft], plan: &ThinkingPlan) {
    let mut counted: FxHashMap<Option<Key>, usize> = FxHashMap::default();
    for draft in drafts.iter_mut().filter(|draft| draft.speaker == Speaker::Assistant) {
        let Some(stay) = plan.get(&draft.response) else { continue };
        let counted = counted.entry(draft.response).or_default();
        let stay = stay.saturating_sub(*counted);
        let thinking: Vec<usize> =
            draft.pieces.iter().enumerate().filter(|(_, piece)| piece.sort == Sort::Thinking).map(|(place, _)| place).collect();
        *counted += thinking.len();
        let Some(first) = thinking.get(stay).copied() else { continue };
        let mut place = 0;
        draft.pieces.retain(|piece| {
            place += 1;
            let gone = piece.sort == Sort::Thinking || piece.sort == Sort::Text && piece.is_blank();
            stay > 0 && place <= first || !gone
        });
        if draft.pieces.is_empty() {
            draft.pieces.push(Piece::made(THINKING_REMOVED));
        }
    }
}
