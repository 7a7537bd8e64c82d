//! Requests on their way to an API: which session they belong to, and the bytes that are sent in their place.
//!
//! A request is answered by lookup: the operation log of its session gives the changed contents, and what was inserted before is
//! inserted again, so the same request always gives the same bytes. Nothing is sent here: `proxy` does that. After any failure the
//! original bytes are sent.

mod contents;
mod session;
mod settings;
pub mod stages;
#[cfg(test)]
mod tests;
mod window;

pub use crate::provider::{RefusalCause, RequestApi, RequestHead};
pub use session::{WireError, unapplied};
pub use settings::{PipelineSettings, SettingValue};
pub use stages::RequestStage;
pub use stages::injection::{PreparedText, TASK, TextKind};
pub use stages::tool::TOOL;

use crate::model::{Key, OperationId};
use crate::provider::{ByteEdit, EditedBytes, RequestBody, RequestDocument, named_in_head, session_lines};
use crate::store::Store;
use rustc_hash::FxHashMap;
use session::Sessions;
use stages::{Passing, Stage, condensation, emit, ingest, ingest::ingest, injection, parse, tool};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of sessions with notes; then all are forgotten.
const NOTED: usize = 256;

/// The bytes to send in the place of a request's body, and what is known of the request.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The body to send; `None` if it stays as it was received.
    pub body: Option<EditedBytes>,
    /// True if the body offers the tool of aperture, so that its calls are to be withheld from the client.
    pub offers_tool: bool,
    pub facts: RequestFacts,
}

/// The facts of a request that its body and its headers state.
#[derive(Clone, Debug, Default)]
pub struct RequestFacts {
    /// The API; `None` if it is unknown, or the body is not that of a request.
    pub api: Option<RequestApi>,
    /// The session that the client names, or a hash of the start of the conversation; empty if the API is unknown.
    pub session: String,
    /// The line of requests within the session: empty for the main one, or the id of a subagent.
    pub line: String,
    pub model: String,
    pub client_bytes: u64,
    /// Bytes of the body after the pipeline.
    pub sent_bytes: u64,
    /// True if it offers tools to the model.
    pub has_tools: bool,
    /// True if it is a request of the conversation itself, with tools for the model.
    pub is_main: bool,
    /// True if the client asks for a summary in the place of the conversation: the answer is not one to the user.
    pub asks_for_summary: bool,
    /// True if it may begin another conversation of which no id tells it.
    pub may_be_another: bool,
    pub stages: Vec<RequestStage>,
    /// The reason why the body stays as it was received, if aperture failed.
    pub problem: Option<String>,
    /// The operation log in the prompt as the client wrote it.
    pub logged: LoggedElements,
    /// The reason why the body has only the changes of earlier requests, if the store cannot be used.
    pub held: Option<String>,
}

/// The operation log of a session in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedElements {
    /// The newest operation; 0 if there is none.
    pub last: OperationId,
    /// True if an operation changed the window.
    pub has_windows: bool,
    pub elements: Vec<LoggedElement>,
}

/// An element of a prompt, as the client wrote it, with contents that the operation log of the session changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedElement {
    pub place: usize,
    /// Its changed contents before any change.
    pub original: Key,
    /// The same contents in the form that the request has.
    pub form: Key,
    /// True if a change of the window removed one of its contents.
    pub leaves: bool,
    /// True if a change of the window added one of its contents.
    pub enters: bool,
}

impl LoggedElements {
    /// Returns true if the log is the cause of the first difference of this prompt from an earlier one, at a place: both have a content
    /// there in different forms, or one that left or entered the window, or an operation since the earlier one changed it.
    pub fn changed(&self, earlier: &LoggedElements, place: usize) -> bool {
        let at = |logged: &LoggedElements| logged.elements.iter().find(|element| element.place == place).copied();
        match (at(earlier), at(self)) {
            (Some(earlier), Some(later)) if earlier.original == later.original => earlier.form != later.form,
            (before, after) => {
                let is_new = self.last != earlier.last;
                let is_changed = after.is_some_and(|element| element.enters || is_new && element.form != element.original);
                is_changed || is_new && self.has_windows || before.is_some_and(|element| element.leaves)
            }
        }
    }
}

impl RequestFacts {
    fn note(&mut self, stage: &Stage, note: impl Into<String>) {
        self.stages.push(RequestStage::of(stage, note));
    }
}

/// The refusal of a request by the API.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'t> {
    pub is_changed: bool,
    pub is_longer: bool,
    pub cause: RefusalCause,
    /// The reason for the user if it ends the changes.
    pub reason: &'t str,
}

/// Opens the store: the existing one, or, if the argument is true, also a new one. The error is one line for people.
pub type OpenStore = Box<dyn Fn(bool) -> Result<Option<Store>, String> + Send + Sync>;

/// Returns the memories for a new session, by its id and the working directory that its client names; `None` if there are none.
pub type FirstMemories = Box<dyn Fn(&str, &Path) -> Option<String> + Send + Sync>;

/// Returns the text of the outcomes that the model of a session has not received, by its id; `None` if there are none.
pub type UntoldAnswers = Box<dyn Fn(&str) -> Option<PreparedText> + Send + Sync>;

/// The sessions on the wire.
pub struct Wire {
    settings: PipelineSettings,
    pub memories: Option<FirstMemories>,
    pub answers: Option<UntoldAnswers>,
    sessions: Mutex<Sessions>,
    /// The work beside the requests of each session, and its reasons.
    notes: Mutex<FxHashMap<String, Vec<RequestStage>>>,
}

impl Wire {
    /// Creates the wire over a store, which is opened with the first request.
    pub fn new(settings: PipelineSettings, open: OpenStore) -> Wire {
        Wire { settings, memories: None, answers: None, sessions: Mutex::new(Sessions::new(open)), notes: Mutex::default() }
    }

    /// Returns true if a request with this head is sent as it is, whatever its body contains, as far as that is known at once.
    pub fn passes(&self, head: &RequestHead) -> bool {
        let is_idle = |(session, line): (&str, &str)| {
            self.sessions.try_lock().is_ok_and(|known| known.is_known_idle(session, line, self.settings.is_on(&tool::OFFERED)))
        };
        !self.changes() || named_in_head(head).is_some_and(is_idle)
    }

    /// Returns true if requests can be changed.
    fn changes(&self) -> bool {
        self.settings.is_on(&emit::EMIT) && self.settings.is_on(&parse::PARSE)
    }

    /// Returns the facts of a request that was sent as it was received.
    pub fn facts(&self, head: &RequestHead, body: &[u8]) -> RequestFacts {
        self.as_received(ingest(head, body).0, &[]).facts
    }

    /// Returns what to send for a request. `now` is the time in milliseconds since 1970, UTC.
    pub fn request(&self, head: &RequestHead, body: &[u8], now: i64) -> Outgoing {
        let (mut facts, ingested) = ingest(head, body);
        let is_changeable = facts.has_tools && self.changes();
        let Some((api, document)) = ingested.filter(|_| is_changeable) else { return self.as_received(facts, &[]) };
        let beside = if facts.is_main { self.notes_of(&facts.session) } else { Vec::new() };
        injection::prepare(self, &document, &facts);
        // After a panic the state is read again from the store.
        let mut sessions = self.sessions.lock().unwrap_or_else(|poisoned| {
            let mut sessions = poisoned.into_inner();
            sessions.clear();
            self.sessions.clear_poison();
            sessions
        });
        sessions.begin();
        let mut attempt = |sessions: &mut Sessions| {
            let passing = Passing {
                settings: &self.settings,
                sessions,
                api,
                received: &document,
                now,
                changed: None,
                edits: Vec::new(),
                offer: None,
                offers_tool: false,
                body: None,
                places: Vec::new(),
            };
            passing.run(&beside, &mut facts)
        };
        let mut sent = attempt(&mut sessions);
        // New changes wait for the store; those of earlier requests are in memory.
        if matches!(sent, Err(WireError::Store(_) | WireError::Closed(_))) && sessions.hold() {
            sent = attempt(&mut sessions);
        }
        facts.held = sessions.held().filter(|_| sent.is_ok());
        sessions.end();
        match sent {
            Ok((body, offers_tool)) => Outgoing { body, offers_tool, facts },
            Err(error) => {
                (facts.problem, facts.logged) = (Some(error.to_string()), LoggedElements::default());
                self.as_received(facts, &beside)
            }
        }
    }

    fn as_received(&self, mut facts: RequestFacts, beside: &[RequestStage]) -> Outgoing {
        let Ok(()) = stages::run(&self.settings, beside, &mut facts, |_, _| Ok::<(), Infallible>(()));
        Outgoing { facts, ..Outgoing::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the prompt of a body with the changes of the log, and nothing else that is sent: each element in a line.
    pub fn session_lines(&self, session: &str, api: RequestApi, body: impl AsRef<[u8]>) -> Result<Vec<u8>, WireError> {
        let lines = |bytes: &[u8]| Ok(session_lines(api, &RequestDocument::new(bytes).ok_or(WireError::Unreadable)?));
        let edits = self.logged(session, api, body.as_ref())?;
        if edits.is_empty() {
            return lines(body.as_ref());
        }
        let changed = EditedBytes::new(body.as_ref().len()).with(edits).bytes(body.as_ref());
        // Of a large body, only one form is in memory.
        drop(body);
        lines(&changed)
    }

    fn logged(&self, session: &str, api: RequestApi, body: &[u8]) -> Result<Vec<ByteEdit>, WireError> {
        let mut sessions = self.sessions();
        let document = RequestDocument::new(body).ok_or(WireError::Unreadable)?;
        let parsed = RequestBody::parse(api, &document, &mut sessions.known).ok_or(WireError::Unreadable)?;
        Ok(condensation::logged(sessions.line(session, "")?, &parsed))
    }

    pub fn reads(&self) -> bool {
        self.settings.is_on(&ingest::INGEST)
    }

    /// Sets the note that later requests of a session have on a stage whose work is done beside them.
    pub fn set_note(&self, session: &str, stage: &str, note: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() >= NOTED && !notes.contains_key(session) {
            notes.clear();
        }
        let notes = notes.entry(session.to_owned()).or_default();
        notes.retain(|known| known.stage != stage);
        notes.push(RequestStage { stage: stage.to_owned(), note: note.to_owned() });
    }

    fn notes_of(&self, session: &str) -> Vec<RequestStage> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned().unwrap_or_default()
    }
}
