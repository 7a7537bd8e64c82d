//! Requests on their way to an API: which session they belong to, and the bytes that are sent in their place.
//!
//! A request is answered by lookup: the operation log of its session gives the changed contents, and what was inserted before is
//! inserted again, so the same request always gives the same bytes. Nothing is sent here: `proxy` does that. After any failure the
//! original bytes are sent.

mod contents;
mod rewrite;
mod session;
#[cfg(test)]
mod tests;

pub use crate::provider::{RequestApi, RequestHead};
pub use session::WireError;

use crate::provider::{RequestBody, RequestDocument, RequestIdentity, identity};
use crate::store::Store;
use rustc_hash::FxHashMap;
use session::Sessions;
use std::sync::{Mutex, PoisonError};

/// Maximum number of sessions with notes; then all are forgotten.
const NOTED: usize = 256;

/// The stages of the pipeline that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineSettings {
    /// Contents are sent as the operation log has them.
    pub edits: bool,
    /// Texts are inserted after new prompts. Those that were inserted before stay.
    pub injection: bool,
    /// The manifest is one of these texts.
    pub manifest: bool,
    /// No request is changed.
    pub observe: bool,
}

impl Default for PipelineSettings {
    fn default() -> PipelineSettings {
        PipelineSettings { edits: true, injection: true, manifest: true, observe: false }
    }
}

/// The bytes to send in the place of a request's body, and what is known of the request.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The body to send; `None` if it stays as it was received.
    pub body: Option<Vec<u8>>,
    /// The facts for the list of requests.
    pub facts: RequestFacts,
}

/// The facts of a request that its body and its headers state.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RequestFacts {
    /// The session that the client names, or a hash of the start of the conversation; empty if the API is unknown.
    pub session: String,
    /// The line of requests within the session: empty for the main one, or the id of a subagent.
    pub line: String,
    /// The model; empty if the body names none.
    pub model: String,
    /// Bytes of the body from the client.
    pub client_bytes: u64,
    /// Bytes of the body after the pipeline.
    pub sent_bytes: u64,
    /// True if it is a request of the conversation itself, with tools for the model.
    pub is_main: bool,
    /// The work of each stage of the pipeline, in order; stages without effect are left out.
    pub stages: Vec<StageNote>,
    /// The reason why the body stays as it was received, if aperture failed.
    pub problem: Option<String>,
}

/// The work of a stage of the pipeline on a request, and its reason.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StageNote {
    /// The name of the stage.
    pub stage: &'static str,
    /// One line for people.
    pub note: String,
}

impl RequestFacts {
    fn note(&mut self, stage: &'static str, note: impl Into<String>) {
        self.stages.push(StageNote { stage, note: note.into() });
    }
}

/// Opens the store: the existing one, or, if the argument is true, also a new one. The error is one line for people.
pub type OpenStore = Box<dyn Fn(bool) -> Result<Option<Store>, String> + Send + Sync>;

/// The sessions on the wire.
pub struct Wire {
    settings: PipelineSettings,
    sessions: Mutex<Sessions>,
    /// The work beside the requests of each session, and its reasons.
    notes: Mutex<FxHashMap<String, Vec<StageNote>>>,
}

impl Wire {
    /// Creates the wire over a store, which is opened with the first request.
    pub fn new(settings: PipelineSettings, open: OpenStore) -> Wire {
        Wire { settings, sessions: Mutex::new(Sessions::new(open)), notes: Mutex::default() }
    }

    /// Returns what to send for a request. `now` is the time in milliseconds since 1970, UTC.
    pub fn request(&self, head: &RequestHead, body: &[u8], now: i64) -> Outgoing {
        let mut facts =
            RequestFacts { client_bytes: body.len() as u64, sent_bytes: body.len() as u64, ..RequestFacts::default() };
        let Some(api) = head.api() else { return Outgoing { body: None, facts } };
        let Some(document) = RequestDocument::new(body) else {
            facts.problem = Some("the body is not a JSON object".to_owned());
            return Outgoing { body: None, facts };
        };
        let RequestIdentity { session, line, has_tools } = identity(head, api, &document);
        facts.model = document.model();
        facts.note("ingest", format!("{}, {} bytes", api.format(), body.len()));
        facts.is_main = has_tools && line.is_empty();
        (facts.session, facts.line) = (session, line);
        if self.settings.observe {
            return Outgoing { body: None, facts };
        }
        if !has_tools {
            facts.note("parse", "a request without tools is not changed");
            return Outgoing { body: None, facts };
        }
        if facts.is_main {
            facts.stages.extend(self.notes_of(&facts.session));
        }
        match self.rewrite(api, &document, &mut facts, now) {
            Ok(body) => {
                facts.sent_bytes = body.as_ref().map_or(facts.client_bytes, |body| body.len() as u64);
                Outgoing { body, facts }
            }
            Err(error) => {
                facts.problem = Some(error.to_string());
                Outgoing { body: None, facts }
            }
        }
    }

    fn rewrite(
        &self,
        api: RequestApi,
        document: &RequestDocument<'_>,
        facts: &mut RequestFacts,
        now: i64,
    ) -> Result<Option<Vec<u8>>, WireError> {
        // After a panic the state is read again from the store.
        let mut sessions = self.sessions.lock().unwrap_or_else(|poisoned| {
            let mut sessions = poisoned.into_inner();
            sessions.clear();
            self.sessions.clear_poison();
            sessions
        });
        if sessions.is_idle(&facts.session, &facts.line)? {
            return Ok(None);
        }
        match RequestBody::parse(api, document, &mut sessions.known) {
            Some(body) => rewrite::rewrite(&mut sessions, self.settings, &body, facts, now),
            None => Ok(None),
        }
    }

    /// Sets the manifest that the next prompt of a session is followed by.
    pub fn set_manifest(&self, session: &str, manifest: String) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).set_manifest(session, manifest);
    }

    /// Sets the note that later requests of a session have on a stage whose work is done beside them.
    pub fn set_note(&self, session: &str, stage: &'static str, note: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() >= NOTED && !notes.contains_key(session) {
            notes.clear();
        }
        let notes = notes.entry(session.to_owned()).or_default();
        notes.retain(|known| known.stage != stage);
        notes.push(StageNote { stage, note: note.to_owned() });
    }

    fn notes_of(&self, session: &str) -> Vec<StageNote> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned().unwrap_or_default()
    }

    /// Records that the API refused a changed request. After the second refusal in a row, requests of this line are sent as the
    /// client writes them. Returns true if that is now so.
    ///
    /// # Errors
    ///
    /// The store cannot be written; the line is observed until the proxy ends.
    pub fn refused(&self, facts: &RequestFacts, reason: &str) -> Result<bool, WireError> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).refused(&facts.session, &facts.line, reason)
    }

    /// Records that the API accepted a request.
    pub fn accepted(&self, facts: &RequestFacts) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).accepted(&facts.session, &facts.line);
    }
}
