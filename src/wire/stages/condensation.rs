//! The contents of a request as the operation log has them: the changed window, replaced contents, dropped thinking.

use super::{Passing, RequestFacts, Setting, SettingValue, Stage, WireError};
use crate::engine::{Binding, binding, plural};
use crate::model::{Key, OperationId, RowKind};
use crate::provider::{ByteEdit, RequestBody};
use crate::store::WireLine;
use crate::wire::session::Line;
use crate::wire::window::{self, Folded};
use rustc_hash::FxHashSet;

/// The stage. The rule `condense` looks at sessions beside the requests, and the next one has its note.
pub(crate) static STAGE: Stage =
    Stage { name: "condensation", settings: &[EDITS, CONDENSE, PAY_BACK_TURNS, CACHE_SECONDS], run, otherwise: |_, _| None };

pub(crate) const EDITS: Setting = Setting::switch("edits", true, "send contents as changed by aperture commands");
pub(crate) const CONDENSE: Setting =
    Setting::switch("condense", false, "compress stale blocks by the preset once the prompt cache has expired, or if that pays");
/// The longest time until the savings of such a change must exceed its cost, in turns; also the shortest time between two.
pub(crate) const PAY_BACK_TURNS: Setting = Setting {
    key: "pay_back_turns",
    default: SettingValue::Number(5),
    meaning: "turns within which such a change must pay for itself",
};
pub(crate) const CACHE_SECONDS: Setting = Setting {
    key: "cache_seconds",
    default: SettingValue::Unset(300),
    meaning: "lifetime of the prompt cache [default: by the bills of the client]",
};

fn run(passing: &mut Passing<'_>, facts: &mut RequestFacts) -> Result<(), WireError> {
    let Some(mut body) = passing.body.take_if(|_| passing.settings.is_on(&EDITS)) else { return Ok(()) };
    let mut folded = window::fold(passing.sessions.line(&facts.session, &facts.line)?, &body, facts);
    if let Some(window) = folded.edits.take() {
        // A large body is in memory once before the change of the window and once after it, but not twice.
        drop(body);
        passing.edits = window;
        body = passing.parse().ok_or(WireError::Unreadable)?;
    }
    let line = passing.sessions.line(&facts.session, &facts.line)?;
    if let Some(state) = collect_edits(line, &body, &folded, facts, &mut passing.edits) {
        // The next request depends on it: it is durable before this one is sent.
        passing.sessions.save(&facts.session, &facts.line, state)?;
    }
    passing.body = Some(body);
    Ok(())
}

/// Returns the edits that replace the contents of a body by those of the log.
pub(in crate::wire) fn logged(line: &Line, body: &RequestBody<'_>) -> Vec<ByteEdit> {
    let mut reader = line.contents.reader(Some(line.contents.last()), false);
    let edit = |(place, index): (usize, usize)| {
        let (content, is_recorded) = line.contents.known_form(&body.elements[place], index);
        body.replace(place, index, &reader.next(content)?, is_recorded)
    };
    let mut edits: Vec<ByteEdit> = body.contents().filter_map(edit).collect();
    edits.extend(without_thinking(body, &|key| line.contents.leaves_out(line.contents.last(), key)).1);
    edits
}

/// Returns the number of thinking blocks that `is_dropped` accepts, and the edits that leave them out.
fn without_thinking(body: &RequestBody<'_>, is_dropped: &dyn Fn(Key) -> bool) -> (usize, Vec<ByteEdit>) {
    let (mut count, mut edits) = (0, Vec::new());
    for (place, element) in body.elements.iter().enumerate().filter(|(_, element)| element.kind == RowKind::Assistant) {
        count += element.thinking().filter(|key| is_dropped(*key)).count();
        edits.extend(body.without_thinking(place, is_dropped));
    }
    (count, edits)
}

/// Collects the edits that replace contents and drop thinking. Returns the state of the line if it differs from the stored one.
fn collect_edits(
    line: &Line,
    body: &RequestBody<'_>,
    folded: &Folded,
    facts: &mut RequestFacts,
    edits: &mut Vec<ByteEdit>,
) -> Option<WireLine> {
    let last = line.last();
    let before: Option<OperationId> = line.state.as_ref().map(|state| state.point);
    let (mut reader, mut earlier) =
        (line.contents.reader(Some(last), folded.is_folded), line.contents.reader(before, folded.is_folded));
    let is_new = before != Some(last);
    let mut first_change = folded.first.map(|first| place(body, first));
    let mut count = 0;
    for (place, index) in body.contents() {
        let (content, is_recorded) = line.contents.known_form(&body.elements[place], index);
        let text = reader.next(content);
        let differs = is_new && text != earlier.next(content);
        let edit = text.and_then(|text| body.replace(place, index, &text, is_recorded));
        count += usize::from(edit.is_some());
        edits.extend(edit);
        if differs && first_change.is_none_or(|first| (place, Some(index)) < first) {
            first_change = Some((place, Some(index)));
        }
    }
    let mut state = line.state.clone().unwrap_or_default();
    let mut dropped: FxHashSet<Key> = state.dropped.iter().copied().collect();
    if let Some((place, index)) = first_change.filter(|_| binding(&facts.model) != Binding::Free) {
        let after = body.elements.iter().enumerate().skip(place);
        // Thinking before the changed content of the same message keeps its prefix.
        let thinking = after.flat_map(|(at, element)| element.thinking_after(index.filter(|_| at == place)));
        state.dropped.extend(thinking.filter(|key| dropped.insert(*key)));
    }
    let is_dropped = |key| dropped.contains(&key) || line.contents.leaves_out(last, key);
    let (left_out, without) = without_thinking(body, &is_dropped);
    edits.extend(without);
    if count > 0 {
        let them = if count == 1 { "it" } else { "them" };
        facts.note(&STAGE, format!("{} as operation {last} of the log has {them}", plural(count, "content")));
    }
    if left_out > 0 {
        facts.note(&STAGE, format!("{} left out", plural(left_out, "thinking block")));
    }
    state.point = last;
    let is_known = state.unapplied == folded.unapplied && folded.reminder.is_none();
    state.dropped.extend(folded.reminder);
    state.unapplied.clone_from(&folded.unapplied);
    (!is_known || is_new && (last > 0 || line.state.is_some())).then_some(state)
}

/// Returns the element of a content of the conversation, by the number of contents before it, and the content before it there.
fn place(body: &RequestBody<'_>, before: usize) -> (usize, Option<usize>) {
    let places: Vec<(usize, usize)> = body.pieces().into_iter().filter_map(|piece| piece.place).collect();
    let Some((element, _)) = places.get(before).copied() else { return (body.elements.len(), None) };
    let previous = before.checked_sub(1).map(|place| places[place]);
    (element, previous.filter(|(other, _)| *other == element).map(|(_, content)| content))
}
