use super::view::View;
use crate::model::{Flags, Key};
use rustc_hash::{FxHashMap, FxHashSet};

/// The positions of the pieces of one response.
struct Span {
    first: usize,
    last: usize,
    pieces: usize,
    /// Positions of rows before its pieces that are moved after them.
    early: Vec<usize>,
    state: Layout,
}

/// Kind of the rows between the pieces of a response.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Whole,
    /// Rows that can be moved after it.
    Split,
    /// Rows that cannot be moved.
    Fenced,
}

/// Effect on the order of a row that is not a piece of the response.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    Result,
    Delivery,
    Boundary,
}

/// Groups the pieces of each response, and moves tool results that precede their tool use after it.
pub(super) fn regroup(view: &View<'_>, rows: Vec<u32>) -> Vec<u32> {
    let (mut spans, spans_by_response, owners) = spans(view, &rows);
    let fences = prefix_sums(&rows, |row| !view.is_assistant(row) && between(view, row) == Between::Boundary);
    let deliveries = prefix_sums(&rows, |row| !view.is_assistant(row) && between(view, row) == Between::Delivery);
    let pieces = prefix_sums(&rows, |row| view.is_assistant(row));
    let mut split = false;
    for span in &mut spans {
        let inside = |sums: &[u32]| sums[span.last] - sums[(span.first + 1).min(span.last)];
        let others = inside(&pieces) as usize + 2 > span.pieces;
        span.state = if span.last - span.first + 1 == span.pieces {
            Layout::Whole
        } else if inside(&fences) > 0 || others {
            Layout::Fenced
        } else if inside(&deliveries) > 0 {
            Layout::Split
        } else {
            Layout::Whole
        };
        split |= span.state == Layout::Split;
    }
    let mut moved: Vec<bool> = vec![false; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        let mut claims: Vec<Option<usize>> = view
            .results(*row)
            .map(|call| owners.get(&call).copied().flatten().and_then(|key| spans_by_response.get(&key).copied()))
            .collect();
        claims.dedup();
        let [Some(owner)] = claims[..] else { continue };
        let span = &mut spans[owner];
        if span.state == Layout::Fenced || place >= span.first || fences[span.first] > fences[place + 1] {
            continue;
        }
        moved[place] = true;
        span.early.push(place);
        for next in place + 1..span.first {
            if view.is_assistant(rows[next]) || between(view, rows[next]) != Between::Delivery {
                break;
            }
            moved[next] = true;
            span.early.push(next);
        }
    }
    if !split && spans.iter().all(|span| span.early.is_empty()) {
        return rows;
    }
    let ordered = reorder(view, &rows, &spans, &spans_by_response, &moved);
    if ordered.len() == rows.len() { ordered } else { rows }
}

type Spans = (Vec<Span>, FxHashMap<Key, usize>, FxHashMap<Key, Option<Key>>);

/// Returns the responses in order, and the response of each tool use; `None` if two responses contain it.
fn spans(view: &View<'_>, rows: &[u32]) -> Spans {
    let mut spans: Vec<Span> = Vec::new();
    let mut by_response: FxHashMap<Key, usize> = FxHashMap::default();
    let mut owners: FxHashMap<Key, Option<Key>> = FxHashMap::default();
    for (place, row) in rows.iter().enumerate() {
        let Some(response) = view.response(*row) else { continue };
        let index = *by_response.entry(response).or_insert(spans.len());
        if index == spans.len() {
            spans.push(Span { first: place, last: place, pieces: 0, early: Vec::new(), state: Layout::Whole });
        }
        spans[index].last = place;
        spans[index].pieces += 1;
        for call in view.uses(*row) {
            owners.entry(call).and_modify(|owner| *owner = owner.filter(|owner| *owner == response)).or_insert(Some(response));
        }
    }
    (spans, by_response, owners)
}

fn between(view: &View<'_>, row: u32) -> Between {
    if view.is_user(row) {
        return if view.results(row).next().is_some() {
            Between::Result
        } else if view.flags(row).any(Flags::COMPANION) {
            Between::Delivery
        } else {
            Between::Boundary
        };
    }
    let fence = view.is_boundary(row) || view.flags(row).any(Flags::COMMAND);
    if fence { Between::Boundary } else { Between::Delivery }
}

/// Returns, for each position, the number of rows before it that meet a condition.
fn prefix_sums(rows: &[u32], condition: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut sum = 0;
    std::iter::once(0)
        .chain(rows.iter().map(|row| {
            sum += u32::from(condition(*row));
            sum
        }))
        .collect()
}

fn reorder(view: &View<'_>, rows: &[u32], spans: &[Span], by_response: &FxHashMap<Key, usize>, moved: &[bool]) -> Vec<u32> {
    let mut ordered = Vec::with_capacity(rows.len());
    let mut done = FxHashSet::default();
    let mut stack: Vec<usize> = Vec::new();
    for start in (0..rows.len()).filter(|place| !moved[*place]) {
        stack.push(start);
        while let Some(place) = stack.pop() {
            if !done.insert(place) {
                continue;
            }
            ordered.push(rows[place]);
            let response = view.response(rows[place]);
            let Some(span) = response.and_then(|response| by_response.get(&response)).map(|index| &spans[*index]) else {
                continue;
            };
            let split = span.state == Layout::Split;
            if span.first != place || !split && span.early.is_empty() {
                continue;
            }
            let mut rest = Vec::new();
            for next in place + 1..=span.last {
                if moved[next] || done.contains(&next) {
                    continue;
                }
                if split && view.response(rows[next]) != response {
                    rest.push(next);
                } else {
                    done.insert(next);
                    ordered.push(rows[next]);
                }
            }
            for early in &span.early {
                if done.insert(*early) {
                    ordered.push(rows[*early]);
                }
            }
            stack.extend(rest.into_iter().rev());
        }
    }
    ordered
}
