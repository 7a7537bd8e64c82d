//! The zones of a request: the places in it that texts can follow.

use super::{Passing, RequestFacts, Setting, Stage};
use crate::engine::plural;
use crate::model::{AddressCounter, BlockKind, Key, RowKind};
use crate::provider::{RequestBody, RequestElement};
use crate::wire::WireError;

pub(crate) static STAGE: Stage = Stage { name: "zones", settings: &[ZONES], run, otherwise: |_, _| None };

pub(crate) const ZONES: Setting = Setting::switch("zones", true, "put texts pinned to the top after the first message");

fn run(passing: &mut Passing<'_>, facts: &mut RequestFacts) -> Result<(), WireError> {
    let Some(body) = &passing.body else { return Ok(()) };
    passing.places = places(body);
    let is_message = |kind| matches!(kind, RowKind::User | RowKind::Assistant);
    let messages = body.elements.iter().filter(|element| is_message(element.kind)).count();
    let newest = body.elements.iter().rposition(|element| element.is_prompt).map_or(&[][..], |place| &body.elements[place..]);
    let newest = newest.iter().filter(|element| is_message(element.kind)).count();
    let note = format!(
        "{} of instructions and tools, {} of the conversation, {newest} from the newest prompt on; texts can follow {}",
        plural(body.elements.len() - messages, "element"),
        plural(messages, "message"),
        plural(passing.places.len(), "message")
    );
    facts.note(&STAGE, note);
    Ok(())
}

/// A place in a request that texts can follow, identified by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub element: usize,
    /// The hash of its last text, and the number of equal ones before it.
    pub anchor: Key,
    pub occurrence: u32,
}

/// Returns the places of a request: the messages of the user that contain a text, in order.
pub fn places(body: &RequestBody<'_>) -> Vec<Place> {
    let mut counter = AddressCounter::default();
    let messages = body.elements.iter().enumerate().filter(|(_, element)| element.kind == RowKind::User);
    let place = |(element, content): (usize, &RequestElement)| {
        let (_, anchor) = *content.contents.iter().rev().find(|(kind, _)| *kind == BlockKind::Text)?;
        Some(Place { element, anchor, occurrence: counter.next(anchor).occurrence })
    };
    messages.filter_map(place).collect()
}

/// Returns the newest prompt, if the model has not answered it yet.
pub fn newest(body: &RequestBody<'_>) -> Option<Place> {
    let newest = places(body).into_iter().rev().find(|place| body.elements[place.element].is_prompt)?;
    let is_answered = body.elements[newest.element + 1..].iter().any(|element| element.kind == RowKind::Assistant);
    (!is_answered).then_some(newest)
}

impl Place {
    pub fn key(&self) -> Key {
        Key::from_bytes(format!("{:?} {}", self.anchor, self.occurrence).as_bytes())
    }
}
