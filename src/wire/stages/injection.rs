//! The texts that follow the newest prompt: which are added, and in which order.

use super::reorder::REORDER;
use super::zones::{Place, ZONES, newest};
use super::{Passing, RequestFacts, Setting, Stage, WireError};
use crate::engine::memory::HEADING;
use crate::engine::preview;
use crate::model::{ProposalNumber, words};
use crate::provider::{RequestBody, RequestDocument};
use crate::store::Insertion;
use crate::text::cut::cut;
use crate::wire::Wire;
use crate::wire::session::Line;
use serde::{Deserialize, Serialize};

pub(crate) static STAGE: Stage =
    Stage { name: "injection", settings: &[INJECTION, MANIFEST, SELECTION, MEMORY, HEADERS], run, otherwise: |_, _| None };

/// The switch of new texts; those that were added before stay.
pub(crate) const INJECTION: Setting = Setting::switch("injection", true, "add the texts of the next four to a new prompt");
pub(crate) const MANIFEST: Setting = Setting::switch("manifest", true, "the manifest");
pub(crate) const SELECTION: Setting =
    Setting::switch("selection", true, "focused blocks, and pinned blocks that the client dropped");
pub(crate) const MEMORY: Setting =
    Setting::switch("memory", true, "memories for a new session, unless a hook of aperture sends them");
pub(crate) const HEADERS: Setting =
    Setting::switch("headers", false, "headers of messages and parts since the last prompt, as in transcript --headers");

words! {
    /// The kinds of texts, in the order in which they are added at one place.
    #[derive(PartialOrd, Ord, Deserialize)]
    pub enum TextKind {
        Manifest = "manifest",
        Memory = "memories",
        Answers = "results of commands",
        Selection = "selection",
        Pinned = "pinned blocks",
        Instructions = "explanation of the headers",
        Headers = "headers",
        Staged = "staged text",
    }
}

/// A text that waits for the next prompt of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedText {
    pub kind: TextKind,
    /// True if it belongs to the beginning of the window.
    pub is_top: bool,
    /// The text. Of a manifest, [`TASK`] is where the prompt that it follows is named.
    pub text: String,
    /// The commands whose outcomes the text states.
    #[serde(default)]
    pub answers: Vec<ProposalNumber>,
}

impl PreparedText {
    pub fn new(kind: TextKind, text: String) -> PreparedText {
        PreparedText { kind, is_top: false, text, answers: Vec::new() }
    }
}

/// The mark in a manifest for the prompt that it follows.
pub const TASK: &str = "{prompt}";

const TASK_CHARACTERS: usize = 60;

/// Prepares the texts that are made for a request: the memories for the first prompt of a session, unless the client sends them already,
/// and the outcomes of commands. The sessions are not locked meanwhile.
pub fn prepare(wire: &Wire, document: &RequestDocument<'_>, facts: &RequestFacts) {
    if !wire.settings.is_on(&INJECTION) || !facts.is_main || facts.asks_for_summary {
        return;
    }
    let has_memories = || memchr::memmem::find(document.bytes, HEADING.as_bytes()).is_some();
    let memories = wire.memories.as_ref().filter(|_| wire.settings.is_on(&MEMORY) && document.is_unanswered() && !has_memories());
    let memories = memories.and_then(|memories| memories(&facts.session, &document.working_directory()?));
    let answers = wire.answers.as_ref().filter(|_| wire.sessions().lacks_answers(&facts.session));
    let answers = answers.and_then(|answers| answers(&facts.session));
    for text in memories.map(|text| PreparedText::new(TextKind::Memory, text)).into_iter().chain(answers) {
        wire.sessions().add_prepared(&facts.session, text);
    }
}

/// Adds the waiting texts after the newest prompt, if the model has not answered it yet; those of the top after the first message of
/// a window that is new to the API. Their places are stored.
fn run(passing: &mut Passing<'_>, facts: &mut RequestFacts) -> Result<(), WireError> {
    let is_wanted = passing.settings.is_on(&INJECTION) && facts.line.is_empty() && !facts.asks_for_summary;
    let (sessions, session) = (&mut *passing.sessions, &facts.session.clone());
    let Some(body) = passing.body.as_ref().filter(|_| is_wanted && sessions.held().is_none()) else { return Ok(()) };
    let places = &passing.places[..];
    let line = sessions.line(session, "")?;
    // After a compaction the window has none of the places of earlier texts, and its prompt cache is lost anyway.
    let is_new_window = !line.insertions.is_empty() && places.iter().all(|place| line.text_after(place).is_none());
    let Some(newest) = newest(body).filter(|newest| line.text_after(newest).is_none()) else { return Ok(()) };
    let staged: Vec<_> = line.staged.iter().map(|staged| PreparedText::new(TextKind::Staged, staged.text.clone())).collect();
    let mut prepared = sessions.prepared(session);
    let is_of_beginning = |text: &PreparedText| matches!(text.kind, TextKind::Instructions | TextKind::Memory);
    prepared.retain(|text| !facts.may_be_another || is_of_beginning(text));
    let mut texts = [prepared, staged].concat();
    if texts.is_empty() {
        return Ok(());
    }
    let line = sessions.line(session, "")?;
    texts.retain(|text| !is_sent(line, body, places, &newest, text));
    let told: Vec<ProposalNumber> = texts.iter().flat_map(|text| text.answers.iter().copied()).collect();
    for manifest in texts.iter_mut().filter(|text| text.kind == TextKind::Manifest) {
        manifest.text = about(&manifest.text, &body.prompt(newest.element));
    }
    if passing.settings.is_on(&REORDER) {
        texts.sort_by_key(|text| text.kind);
    }
    let has_top = passing.settings.is_on(&ZONES) && is_new_window;
    let top = places.first().copied().filter(|top| has_top && *top != newest);
    let (first, last): (Vec<_>, Vec<_>) = texts.into_iter().partition(|text| text.is_top && top.is_some());
    let mut insertions = Vec::new();
    for (place, texts, at) in [(top.unwrap_or(newest), first, "the first message"), (newest, last, "the newest prompt")] {
        if texts.is_empty() {
            continue;
        }
        let names: Vec<&str> = texts.iter().map(|text| text.kind.name()).collect();
        facts.note(&STAGE, format!("after {at}: {}", names.join(", ")));
        let joined = texts.iter().map(|text| &*text.text).collect::<Vec<_>>().join("\n\n");
        insertions.push(Insertion { anchor: place.anchor, occurrence: place.occurrence, text: joined });
    }
    sessions.insert(session, insertions, &told, passing.now)
}

fn about(manifest: &str, prompt: &str) -> String {
    manifest.replacen(TASK, &cut(&preview(prompt), TASK_CHARACTERS), 1)
}

/// Returns true if a text need not be added: the client, such as its hooks, sends it already, or it was added before.
fn is_sent(line: &Line, body: &RequestBody<'_>, places: &[Place], newest: &Place, text: &PreparedText) -> bool {
    match text.kind {
        // An earlier selection may be the same one.
        TextKind::Selection => body.contains_after(newest.element, &text.text),
        TextKind::Pinned | TextKind::Instructions | TextKind::Memory => {
            let known = if text.kind == TextKind::Memory { HEADING } else { &text.text };
            let mut added = places.iter().filter_map(|place| line.text_after(place));
            added.any(|added| added.contains(known)) || body.contains_after(0, known)
        }
        // A hook told them meanwhile.
        TextKind::Answers => !text.answers.iter().all(|number| line.untold.contains(number)),
        TextKind::Manifest | TextKind::Headers | TextKind::Staged => false,
    }
}
