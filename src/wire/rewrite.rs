//! The rewriting of one request: changed contents, dropped thinking, inserted texts.

use super::outgoing::OutgoingBody;
use super::pipeline::{PipelineSettings, Stage};
use super::session::{Line, Sessions, WireError};
use super::window::{self, Folded};
use super::{LoggedElement, LoggedElements, RequestApi, RequestFacts, texts};
use crate::engine::{Binding, binding, plural};
use crate::model::{Key, OperationId, RowKind};
use crate::provider::{BodyEdit, RequestBody, RequestDocument};
use crate::store::WireLine;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// Rewrites a body. `received` is its document if no stage has changed it.
pub(super) fn rewrite(
    sessions: &mut Sessions,
    settings: PipelineSettings,
    api: RequestApi,
    received: &RequestDocument<'_>,
    outgoing: &mut OutgoingBody<'_>,
    facts: &mut RequestFacts,
    now: i64,
) -> Result<(), WireError> {
    let (session, name) = (facts.session.clone(), facts.line.clone());
    let bytes = outgoing.bytes();
    let changed = match &bytes {
        Cow::Borrowed(_) => None,
        Cow::Owned(bytes) => Some(RequestDocument::new(bytes).ok_or(WireError::Unreadable)?),
    };
    let body = RequestBody::parse(api, changed.as_ref().unwrap_or(received), &mut sessions.known).ok_or(WireError::Broken)?;
    let contents: usize = body.elements.iter().map(|element| element.contents.len()).sum();
    facts.note(Stage::Parse, format!("{}, {}", plural(body.elements.len(), "element"), plural(contents, "content")));
    let line = sessions.line(&session, &name)?;
    facts.logged = logged_elements(line, &body);
    if let Some(reason) = line.state.as_ref().and_then(|state| state.observed.as_deref()) {
        facts.note(Stage::Emit, format!("not changed: {reason}"));
        return Ok(());
    }
    let mut folded = if settings.edits { window::fold(line, &body, facts) } else { Folded::default() };
    let Some(window) = folded.edits.take() else {
        outgoing.edit(edits(sessions, settings, &body, &folded, facts, now)?);
        return Ok(());
    };
    // A large body is in memory once before the change of the window and once after it, but not twice.
    drop((body, changed));
    drop(bytes);
    outgoing.edit(window);
    let bytes = outgoing.bytes();
    let document = RequestDocument::new(&bytes).ok_or(WireError::Unreadable)?;
    let body = RequestBody::parse(api, &document, &mut sessions.known).ok_or(WireError::Unreadable)?;
    outgoing.edit(edits(sessions, settings, &body, &folded, facts, now)?);
    Ok(())
}

/// Returns the edits of a body in which the window is as in the log.
fn edits(
    sessions: &mut Sessions,
    settings: PipelineSettings,
    body: &RequestBody<'_>,
    folded: &Folded,
    facts: &mut RequestFacts,
    now: i64,
) -> Result<Vec<BodyEdit>, WireError> {
    let (session, name) = (facts.session.clone(), facts.line.clone());
    let line = sessions.line(&session, &name)?;
    let mut edits = Vec::new();
    if settings.edits {
        let state = changed(line, body, folded, facts, &mut edits);
        if let Some(state) = state {
            // The next request depends on it: it is durable before this one is sent.
            sessions.save(&session, &name, state)?;
        }
    }
    let places = texts::places(body);
    facts.note(Stage::Zones, zones(body, places.len()));
    if settings.injection && name.is_empty() && !facts.asks_for_summary && sessions.held().is_none() {
        texts::take(sessions, settings, body, &places, facts, now)?;
    }
    texts::add(sessions.line(&session, &name)?, body, &places, facts, &mut edits);
    Ok(edits)
}

/// Describes the zones of a request.
fn zones(body: &RequestBody<'_>, places: usize) -> String {
    let is_message = |kind| matches!(kind, RowKind::User | RowKind::Assistant);
    let messages = body.elements.iter().filter(|element| is_message(element.kind)).count();
    let newest = body.elements.iter().rposition(|element| element.is_prompt).map_or(&[][..], |place| &body.elements[place..]);
    let newest = newest.iter().filter(|element| is_message(element.kind)).count();
    format!(
        "{} of instructions and tools, {} of the conversation, {newest} from the newest prompt on; texts can follow {}",
        plural(body.elements.len() - messages, "element"),
        plural(messages, "message"),
        plural(places, "message")
    )
}

/// Returns the edits that replace the contents of a body by those of the log.
pub(super) fn logged(line: &Line, body: &RequestBody<'_>) -> Vec<BodyEdit> {
    let mut reader = line.contents.reader(Some(line.contents.last()), false);
    let mut edits = Vec::new();
    for (place, element) in body.elements.iter().enumerate() {
        for (index, (_, sent)) in element.contents.iter().enumerate() {
            let recorded = element.recorded(index).iter().copied().find(|recorded| line.contents.knows(*recorded));
            let text = reader.next(recorded.unwrap_or(*sent));
            edits.extend(text.and_then(|text| body.replace(place, index, &text, recorded.is_some())));
        }
    }
    edits
}

/// Returns the operation log in a prompt.
fn logged_elements(line: &Line, body: &RequestBody<'_>) -> LoggedElements {
    let combined = |keys: &[Key]| Key::from_bytes(&keys.iter().flat_map(|key| key.0.to_be_bytes()).collect::<Vec<u8>>());
    let mut logged = Vec::new();
    for (index, element) in body.elements.iter().enumerate() {
        let (mut originals, mut forms) = (Vec::new(), Vec::new());
        let (mut leaves, mut enters) = (false, false);
        for (index, (_, sent)) in element.contents.iter().enumerate() {
            let recorded = element.recorded(index);
            let content = recorded.iter().copied().find(|recorded| line.contents.knows(*recorded)).unwrap_or(*sent);
            if let Some(original) = line.contents.original(content) {
                originals.push(original);
                forms.push(content);
            }
            for content in recorded.iter().chain([sent]) {
                let moved = line.contents.moved(*content);
                (leaves, enters) = (leaves || moved.0, enters || moved.1);
            }
        }
        if !originals.is_empty() || leaves || enters {
            let place = body.prompt_place(index);
            logged.push(LoggedElement { place, original: combined(&originals), form: combined(&forms), leaves, enters });
        }
    }
    let last = line.contents.last();
    LoggedElements { last, has_windows: line.contents.windows(last).next().is_some(), elements: logged }
}

/// Collects the edits that replace contents and drop thinking. Returns the state of the line if it differs from the stored one.
fn changed(
    line: &Line,
    body: &RequestBody<'_>,
    folded: &Folded,
    facts: &mut RequestFacts,
    edits: &mut Vec<BodyEdit>,
) -> Option<WireLine> {
    let last = line.last();
    let before: Option<OperationId> = line.state.as_ref().map(|state| state.point);
    let (mut reader, mut earlier) =
        (line.contents.reader(Some(last), folded.is_folded), line.contents.reader(before, folded.is_folded));
    let is_new = before != Some(last);
    let mut first_change = folded.first.map(|first| place(body, first));
    let mut count = 0;
    for (place, element) in body.elements.iter().enumerate() {
        for (index, (_, sent)) in element.contents.iter().enumerate() {
            let recorded = element.recorded(index).iter().copied().find(|recorded| line.contents.knows(*recorded));
            let content = recorded.unwrap_or(*sent);
            let text = reader.next(content);
            let differs = is_new && text != earlier.next(content);
            let edit = text.and_then(|text| body.replace(place, index, &text, recorded.is_some()));
            count += usize::from(edit.is_some());
            edits.extend(edit);
            if differs && first_change.is_none_or(|first| (place, Some(index)) < first) {
                first_change = Some((place, Some(index)));
            }
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
    let mut left_out = 0;
    if !dropped.is_empty() {
        for (place, element) in body.elements.iter().enumerate().filter(|(_, element)| element.kind == RowKind::Assistant) {
            left_out += element.thinking().filter(|key| dropped.contains(key)).count();
            edits.extend(body.without_thinking(place, &|key| dropped.contains(&key)));
        }
    }
    if count > 0 {
        let them = if count == 1 { "it" } else { "them" };
        facts.note(Stage::Condensation, format!("{} as operation {last} of the log has {them}", plural(count, "content")));
    }
    if left_out > 0 {
        facts.note(Stage::Condensation, format!("{} left out: the content before changed", plural(left_out, "thinking block")));
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
