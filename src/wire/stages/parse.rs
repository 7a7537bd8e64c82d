//! The elements and contents of a body.

use super::emit::EMIT;
use super::{Passing, RequestFacts, Setting, Stage, WireError};
use crate::engine::plural;
use crate::model::Key;
use crate::provider::RequestBody;
use crate::wire::session::Line;
use crate::wire::{LoggedElement, LoggedElements};

/// The stage. Those after it do nothing if it leaves no body to them.
pub(crate) static STAGE: Stage = Stage {
    name: "parse",
    settings: &[PARSE],
    run,
    otherwise: |settings, facts| {
        let is_beside = facts.api.is_some() && !facts.has_tools && settings.is_on(&PARSE) && settings.is_on(&EMIT);
        is_beside.then(|| "a request without tools is not changed".to_owned())
    },
};

pub(crate) const PARSE: Setting = Setting::switch("parse", true, "parse the messages in bodies; off: change nothing in them");

fn run(passing: &mut Passing<'_>, facts: &mut RequestFacts) -> Result<(), WireError> {
    if passing.sessions.is_idle(&facts.session, &facts.line)? {
        facts.note(&STAGE, "not needed: the session has no changes and no texts wait");
        return Ok(());
    }
    let body = passing.parse().ok_or(WireError::Broken)?;
    let contents: usize = body.elements.iter().map(|element| element.contents.len()).sum();
    facts.note(&STAGE, format!("{}, {}", plural(body.elements.len(), "element"), plural(contents, "content")));
    let line = passing.sessions.line(&facts.session, &facts.line)?;
    facts.logged = logged_elements(line, &body);
    match line.state.as_ref().and_then(|state| state.observed.as_ref()) {
        Some(refusal) => facts.note(&STAGE, format!("not changed: {refusal}")),
        None => passing.body = Some(body),
    }
    Ok(())
}

fn logged_elements(line: &Line, body: &RequestBody<'_>) -> LoggedElements {
    let combined = |keys: &[Key]| Key::from_bytes(&keys.iter().flat_map(|key| key.0.to_be_bytes()).collect::<Vec<u8>>());
    let mut logged = Vec::new();
    for (index, element) in body.elements.iter().enumerate() {
        let (mut originals, mut forms) = (Vec::new(), Vec::new());
        let (mut leaves, mut enters) = (false, false);
        for (index, (_, sent)) in element.contents.iter().enumerate() {
            let (content, _) = line.contents.known_form(element, index);
            if let Some(original) = line.contents.original(content) {
                originals.push(original);
                forms.push(content);
            }
            for content in element.recorded(index).iter().chain([sent]) {
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
