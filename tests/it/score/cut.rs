//! Cuts sessions, and determines the content before the cut that the agent needed after it.

use super::events::{Event, Kind, Stretch};
use super::references::{Reference, Visible, references};
use std::collections::{BTreeMap, BTreeSet};

/// Steps after the cut whose references count.
const FUTURE_STEPS: u32 = 20;
/// Results of tools from which on all stays as it is.
const TAIL_RESULTS: usize = 3;
/// Positions of the cuts in a stretch, in hundredths of its steps.
const CUTS: [usize; 2] = [50, 75];
/// Steps that a stretch must have, those that must follow a cut, and results that must come before it.
const LEAST: (usize, usize, usize) = (40, 10, TAIL_RESULTS + 5);
/// Minimum number of needed references, and minimum number of characters before the tail, for a cut to be scored.
const LEAST_NEED: (usize, usize) = (8, 30_000);

/// A session up to a step, and the references to it.
pub struct Cut {
    /// The last step.
    pub step: u32,
    /// The rows up to it.
    pub rows: String,
    /// The tool-use id from which on all stays as it is.
    pub tail: String,
    /// Characters before the tail.
    pub stale_characters: usize,
    /// Characters of the tail.
    pub tail_characters: usize,
    /// The needed references to content before the tail; true for those that occur in tool results only.
    pub needed: BTreeMap<Reference, bool>,
}

fn characters(events: &[&Event]) -> usize {
    events.iter().map(|event| event.text.chars().count()).sum()
}

/// Returns the cuts of a stretch that are long enough to be scored.
pub fn cuts(stretch: &Stretch) -> Vec<Cut> {
    let own = stretch.events.iter().filter(|event| matches!(event.kind, Kind::Text | Kind::Call));
    let steps: Vec<u32> = own.map(|event| event.step).collect::<BTreeSet<_>>().into_iter().collect();
    if steps.len() < LEAST.0 {
        return Vec::new();
    }
    let places = CUTS.map(|percent| steps.len() * percent / 100);
    places.into_iter().filter(|place| steps.len() - place >= LEAST.1).filter_map(|place| cut(stretch, steps[place])).collect()
}

fn cut(stretch: &Stretch, step: u32) -> Option<Cut> {
    let (past, future): (Vec<&Event>, Vec<&Event>) = stretch.events.iter().partition(|event| event.step <= step);
    let results: Vec<&&Event> = past.iter().filter(|event| event.kind == Kind::Result).collect();
    let first = results.len().checked_sub(TAIL_RESULTS).filter(|_| results.len() >= LEAST.2)?;
    let call = past.iter().find(|event| event.kind == Kind::Call && event.id == results[first].id)?;
    let (stale, tail): (Vec<&Event>, Vec<&Event>) = past.iter().partition(|event| event.step < call.step);
    let future = future.into_iter().filter(|event| event.step <= step + FUTURE_STEPS);
    let cut = Cut {
        step,
        rows: stretch.rows.iter().filter(|row| row.step <= step).flat_map(|row| [&*row.line, "\n"]).collect(),
        tail: tail.iter().find(|event| event.kind == Kind::Call)?.id.clone(),
        stale_characters: characters(&stale),
        tail_characters: characters(&tail),
        needed: needed(&stale, &tail, future),
    };
    (cut.needed.len() >= LEAST_NEED.0 && cut.stale_characters >= LEAST_NEED.1).then_some(cut)
}

fn needed<'e>(stale: &[&Event], tail: &[&Event], future: impl Iterator<Item = &'e Event>) -> BTreeMap<Reference, bool> {
    let (before, kept) = (Visible::of(stale.iter().copied()), Visible::of(tail.iter().copied()));
    let dialogue = Visible::of(stale.iter().copied().filter(|event| event.kind != Kind::Result));
    let (mut arrived, mut used, mut needed) = (Visible::default(), BTreeSet::new(), BTreeMap::new());
    for event in future {
        if matches!(event.kind, Kind::Result | Kind::User) {
            arrived.add(&event.text);
        }
        // Only the first use counts: from then on the reference is in the agent's own messages.
        for reference in references(event).into_iter().filter(|reference| used.insert(reference.clone())) {
            if before.has(&reference) && !kept.has(&reference) && !arrived.has(&reference) {
                let results_only = !dialogue.has(&reference);
                needed.insert(reference, results_only);
            }
        }
    }
    needed
}
