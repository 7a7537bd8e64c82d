//! The texts that requests contain beside those of the client: which are added, where, and in which order.

use super::RequestFacts;
use super::pipeline::{PipelineSettings, Stage};
use super::session::{Line, Sessions, WireError};
use crate::engine::memory::HEADING;
use crate::engine::{plural, preview};
use crate::model::{BlockKind, Key, ProposalNumber, RowKind};
use crate::provider::{BodyEdit, RequestBody};
use crate::store::Insertion;
use crate::text::cut::cut;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The kinds of texts, in the order in which they are added at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TextKind {
    Manifest,
    /// The memories for a new session.
    Memory,
    /// The outcomes of the model's commands.
    Answers,
    /// The blocks that the user selected.
    Selection,
    /// Pinned blocks that are no longer sent.
    Pinned,
    /// The explanation of the headers.
    Instructions,
    /// The headers of messages and parts.
    Headers,
    Staged,
}

impl TextKind {
    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        match self {
            TextKind::Manifest => "manifest",
            TextKind::Memory => "memories",
            TextKind::Answers => "results of commands",
            TextKind::Selection => "selection",
            TextKind::Pinned => "pinned blocks",
            TextKind::Instructions => "explanation of the headers",
            TextKind::Headers => "headers",
            TextKind::Staged => "staged text",
        }
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
    /// Creates a text.
    pub fn new(kind: TextKind, text: String) -> PreparedText {
        PreparedText { kind, is_top: false, text, answers: Vec::new() }
    }
}

/// The mark in a manifest for the prompt that it follows.
pub const TASK: &str = "{prompt}";

/// The maximum length of the prompt there, in characters.
const TASK_CHARACTERS: usize = 60;

/// A place in a request that texts can follow, identified by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    element: usize,
    /// The hash of its last text, and the number of equal ones before it.
    anchor: Key,
    occurrence: u32,
}

/// Returns the places of a request: the messages of the user that contain a text, in order.
pub(super) fn places(body: &RequestBody<'_>) -> Vec<Place> {
    let mut seen: FxHashMap<Key, u32> = FxHashMap::default();
    let messages = body.elements.iter().enumerate().filter(|(_, element)| element.kind == RowKind::User);
    let place = |(element, content): (usize, &crate::provider::RequestElement)| {
        let (_, anchor) = *content.contents.iter().rev().find(|(kind, _)| *kind == BlockKind::Text)?;
        let seen = seen.entry(anchor).or_default();
        *seen += 1;
        Some(Place { element, anchor, occurrence: *seen - 1 })
    };
    messages.filter_map(place).collect()
}

/// Returns the newest prompt, if the model has not answered it yet.
pub(super) fn newest(body: &RequestBody<'_>) -> Option<Place> {
    let newest = places(body).into_iter().rev().find(|place| body.elements[place.element].is_prompt)?;
    let is_answered = body.elements[newest.element + 1..].iter().any(|element| element.kind == RowKind::Assistant);
    (!is_answered).then_some(newest)
}

impl Place {
    /// Returns true if it is in an element.
    pub fn is_in(&self, element: usize) -> bool {
        self.element == element
    }

    /// Returns its identity.
    pub fn key(&self) -> Key {
        Key::from_bytes(format!("{:?} {}", self.anchor, self.occurrence).as_bytes())
    }
}

/// Adds the waiting texts after the newest prompt, if the model has not answered it yet; those of the top after the first message of
/// a window that is new to the API. Their places are stored.
pub(super) fn take(
    sessions: &mut Sessions,
    settings: PipelineSettings,
    body: &RequestBody<'_>,
    places: &[Place],
    facts: &mut RequestFacts,
    now: i64,
) -> Result<(), WireError> {
    let session = facts.session.clone();
    let line = sessions.line(&session, "")?;
    // After a compaction the window has none of the places of earlier texts, and its prompt cache is lost anyway.
    let is_new_window = !line.insertions.is_empty() && places.iter().all(|place| line.text_after(place).is_none());
    let Some(newest) = newest(body) else { return Ok(()) };
    if line.text_after(&newest).is_some() {
        return Ok(());
    }
    let staged = line.staged.iter().map(|staged| PreparedText::new(TextKind::Staged, staged.text.clone()));
    let staged: Vec<PreparedText> = staged.collect();
    let mut texts: Vec<PreparedText> = sessions.prepared(&session).into_iter().chain(staged).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let line = sessions.line(&session, "")?;
    texts.retain(|text| !is_sent(line, body, places, &newest, text));
    let told: Vec<ProposalNumber> = texts.iter().flat_map(|text| text.answers.iter().copied()).collect();
    for manifest in texts.iter_mut().filter(|text| text.kind == TextKind::Manifest) {
        manifest.text = about(&manifest.text, &body.prompt(newest.element));
    }
    if settings.reorder {
        texts.sort_by_key(|text| text.kind);
    }
    let top = places.first().copied().filter(|_| settings.zones && is_new_window).filter(|top| *top != newest);
    let (first, last): (Vec<_>, Vec<_>) = texts.into_iter().partition(|text| text.is_top && top.is_some());
    let mut insertions = Vec::new();
    for (place, texts, at) in [(top.unwrap_or(newest), first, "the first message"), (newest, last, "the newest prompt")] {
        if texts.is_empty() {
            continue;
        }
        let names: Vec<&str> = texts.iter().map(|text| text.kind.name()).collect();
        facts.note(Stage::Injection, format!("after {at}: {}", names.join(", ")));
        let joined = texts.iter().map(|text| &*text.text).collect::<Vec<_>>().join("\n\n");
        insertions.push(Insertion { anchor: place.anchor, occurrence: place.occurrence, text: joined });
    }
    sessions.insert(&session, insertions, &told, now)
}

/// Returns a manifest that names a prompt as the current task.
fn about(manifest: &str, prompt: &str) -> String {
    manifest.replacen(TASK, &cut(&preview(prompt), TASK_CHARACTERS), 1)
}

/// Returns true if a text need not be added: the client, such as its hooks, sends it already, or it was added before.
fn is_sent(line: &Line, body: &RequestBody<'_>, places: &[Place], newest: &Place, text: &PreparedText) -> bool {
    match text.kind {
        // An earlier selection may be the same one.
        TextKind::Selection => body.contains_after(newest.element, &text.text),
        TextKind::Pinned | TextKind::Instructions => {
            let mut added = places.iter().filter_map(|place| line.text_after(place));
            added.any(|added| added.contains(&text.text)) || body.contains_after(0, &text.text)
        }
        TextKind::Memory => {
            let mut added = places.iter().filter_map(|place| line.text_after(place));
            added.any(|added| added.contains(HEADING)) || body.contains_after(0, HEADING)
        }
        // A hook told them meanwhile.
        TextKind::Answers => !text.answers.iter().all(|number| line.untold.contains(number)),
        TextKind::Manifest | TextKind::Headers | TextKind::Staged => false,
    }
}

/// Collects the edits that add the texts of a line, each at the place where it was added first.
pub(super) fn add(line: &Line, body: &RequestBody<'_>, places: &[Place], facts: &mut RequestFacts, edits: &mut Vec<BodyEdit>) {
    let mut count = 0;
    for place in places {
        if let Some(added) = line.text_after(place).and_then(|text| body.insert_after(place.element, text)) {
            edits.extend(added);
            count += 1;
        }
    }
    if count > 0 {
        facts.note(Stage::Reorder, format!("{}, each after the message where it was first", plural(count, "added text")));
    }
}

impl Line {
    /// Returns the text after a place.
    fn text_after(&self, place: &Place) -> Option<&str> {
        let here = self.insertions.iter().find(|known| (known.anchor, known.occurrence) == (place.anchor, place.occurrence));
        here.map(|insertion| &*insertion.text)
    }
}
