//! The texts in a request that were added to it or to earlier ones, each at its place.

use super::zones::Place;
use super::{Passing, RequestFacts, Setting, Stage, WireError};
use crate::engine::plural;
use crate::wire::session::Line;

pub(crate) static STAGE: Stage = Stage { name: "reorder", settings: &[REORDER], run, otherwise: |_, _| None };

pub(crate) const REORDER: Setting = Setting::switch("reorder", true, "keep added texts in a fixed order");

fn run(passing: &mut Passing<'_>, facts: &mut RequestFacts) -> Result<(), WireError> {
    let Some(body) = &passing.body else { return Ok(()) };
    let line = passing.sessions.line(&facts.session, &facts.line)?;
    let added = passing.places.iter().filter_map(|place| body.insert_after(place.element, line.text_after(place)?));
    let added: Vec<Vec<_>> = added.collect();
    if !added.is_empty() {
        facts.note(&STAGE, format!("{}, each after the message where it was first", plural(added.len(), "added text")));
    }
    passing.edits.extend(added.into_iter().flatten());
    Ok(())
}

impl Line {
    pub fn text_after(&self, place: &Place) -> Option<&str> {
        let here = self.insertions.iter().find(|known| (known.anchor, known.occurrence) == (place.anchor, place.occurrence));
        here.map(|insertion| &*insertion.text)
    }
}
