//! Requests on their way to an API: which session they belong to, and the bytes that are sent in their place.
//!
//! A request is answered by lookup: the operation log of its session gives the changed contents, and what was inserted before is
//! inserted again, so the same request always gives the same bytes. Nothing is sent here: `proxy` does that. After any failure the
//! original bytes are sent.

mod calls;
mod contents;
mod outgoing;
mod pipeline;
mod rewrite;
mod session;
#[cfg(test)]
mod tests;
mod texts;
mod window;

pub use crate::provider::{RefusalCause, RequestApi, RequestHead};
pub use calls::TOOL;
pub use pipeline::{PipelineSettings, Stage, StageNote};
pub use session::{WireError, unapplied};
pub use texts::{PreparedText, TASK, TextKind};

use crate::engine::memory::HEADING;
use crate::model::{Key, OperationId, WithheldReply};
use crate::provider::{
    BodyEdit, EditedBody, RequestBody, RequestDocument, RequestIdentity, identity, named_in_head, session_lines,
};
use crate::store::Store;
use outgoing::OutgoingBody;
use rustc_hash::FxHashMap;
use session::Sessions;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Maximum number of sessions with notes; then all are forgotten.
const NOTED: usize = 256;

/// The bytes to send in the place of a request's body, and what is known of the request.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The body to send; `None` if it stays as it was received.
    pub body: Option<EditedBody>,
    /// True if the body offers the tool of aperture, so that its calls are to be withheld from the client.
    pub offers_tool: bool,
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
    /// True if the client asks for a summary in the place of the conversation: the answer is not one to the user.
    pub asks_for_summary: bool,
    /// The work of the stages of the pipeline.
    pub stages: Vec<StageNote>,
    /// The reason why the body stays as it was received, if aperture failed.
    pub problem: Option<String>,
    /// The operation log in the prompt as the client wrote it.
    #[serde(skip)]
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
    /// The elements with contents of operations.
    pub elements: Vec<LoggedElement>,
}

/// An element of a prompt, as the client wrote it, with contents that the operation log of the session changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedElement {
    /// Its place among the elements of the prompt.
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
    fn note(&mut self, stage: Stage, note: impl Into<String>) {
        self.stages.push(StageNote { stage, note: note.into() });
    }
}

/// The refusal of a request by the API.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'t> {
    /// True if the request was changed.
    pub is_changed: bool,
    /// True if the changes made it longer.
    pub is_longer: bool,
    /// The cause that the API names.
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
    memories: Option<FirstMemories>,
    answers: Option<UntoldAnswers>,
    sessions: Mutex<Sessions>,
    /// The work beside the requests of each session, and its reasons.
    notes: Mutex<FxHashMap<String, Vec<StageNote>>>,
}

impl Wire {
    /// Creates the wire over a store, which is opened with the first request.
    pub fn new(settings: PipelineSettings, open: OpenStore) -> Wire {
        Wire { settings, memories: None, answers: None, sessions: Mutex::new(Sessions::new(open)), notes: Mutex::default() }
    }

    /// Returns the wire with memories for new sessions.
    pub fn with_memories(self, memories: FirstMemories) -> Wire {
        Wire { memories: Some(memories), ..self }
    }

    /// Returns the wire with the outcomes of the model's commands.
    pub fn with_answers(self, answers: UntoldAnswers) -> Wire {
        Wire { answers: Some(answers), ..self }
    }

    /// Returns true if a request with this head is sent as it is, whatever its body contains, as far as that is known at once.
    pub fn passes(&self, head: &RequestHead) -> bool {
        let is_idle = |(session, line): (&str, &str)| {
            self.sessions.try_lock().is_ok_and(|known| known.is_known_idle(session, line, self.settings.tool))
        };
        let is_off = !self.settings.emit || !self.settings.parse;
        is_off || named_in_head(head).is_some_and(is_idle)
    }

    /// Returns the facts of a request that was sent as it was received.
    pub fn facts(head: &RequestHead, body: &[u8]) -> RequestFacts {
        ingest(head, body).0
    }

    /// Returns what to send for a request. `now` is the time in milliseconds since 1970, UTC.
    pub fn request(&self, head: &RequestHead, body: &[u8], now: i64) -> Outgoing {
        let (mut facts, ingested) = ingest(head, body);
        let is_on = self.settings.emit && self.settings.parse;
        let Some((api, document, has_tools)) = ingested.filter(|_| is_on) else {
            return Outgoing { facts, ..Outgoing::default() };
        };
        if !has_tools {
            facts.note(Stage::Parse, "a request without tools is not changed");
            return Outgoing { facts, ..Outgoing::default() };
        }
        if facts.is_main {
            facts.stages.extend(self.notes_of(&facts.session));
        }
        if let Some(text) = self.memories_for(&document, &facts) {
            self.add_prepared(&facts.session, PreparedText::new(TextKind::Memory, text));
        }
        if let Some(text) = self.answers_for(&facts) {
            self.add_prepared(&facts.session, text);
        }
        let done = facts.stages.len();
        match self.rewrite(self.settings, api, &document, &mut facts, now) {
            Ok((body, offers_tool)) => {
                facts.sent_bytes = body.as_ref().map_or(facts.client_bytes, |body| body.len() as u64);
                Outgoing { body, offers_tool, facts }
            }
            Err(error) => {
                // The rest of the notes is about changes that are not sent.
                facts.stages.truncate(done);
                facts.logged = LoggedElements::default();
                facts.problem = Some(error.to_string());
                Outgoing { facts, ..Outgoing::default() }
            }
        }
    }

    /// Returns the memories for the first prompt of a session, unless the client sends them already. The sessions are not locked
    /// meanwhile.
    fn memories_for(&self, document: &RequestDocument<'_>, facts: &RequestFacts) -> Option<String> {
        let is_wanted = self.settings.injection && self.settings.memory && facts.is_main && !facts.asks_for_summary;
        let memories = self.memories.as_ref().filter(|_| is_wanted && document.is_unanswered())?;
        if memchr::memmem::find(document.bytes, HEADING.as_bytes()).is_some() {
            return None;
        }
        memories(&facts.session, &document.working_directory()?)
    }

    /// Returns the text of the outcomes that the model has not received, unless it is prepared. The sessions are not locked meanwhile.
    fn answers_for(&self, facts: &RequestFacts) -> Option<PreparedText> {
        let is_wanted = self.settings.injection && facts.is_main && !facts.asks_for_summary;
        let answers = self.answers.as_ref().filter(|_| is_wanted)?;
        let lacks = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).lacks_answers(&facts.session);
        if lacks { answers(&facts.session) } else { None }
    }

    fn add_prepared(&self, session: &str, text: PreparedText) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).add_prepared(session, text);
    }

    fn rewrite(
        &self,
        settings: PipelineSettings,
        api: RequestApi,
        document: &RequestDocument<'_>,
        facts: &mut RequestFacts,
        now: i64,
    ) -> Result<(Option<EditedBody>, bool), WireError> {
        // After a panic the state is read again from the store.
        let mut sessions = self.sessions.lock().unwrap_or_else(|poisoned| {
            let mut sessions = poisoned.into_inner();
            sessions.clear();
            self.sessions.clear_poison();
            sessions
        });
        sessions.begin();
        let notes = facts.stages.len();
        let mut sent = attempt(&mut sessions, settings, api, document, facts, now);
        // New changes wait for the store; those of earlier requests are in memory.
        if matches!(sent, Err(WireError::Store(_) | WireError::Closed(_))) && sessions.hold() {
            facts.stages.truncate(notes);
            sent = attempt(&mut sessions, settings, api, document, facts, now);
        }
        facts.held = sessions.held().filter(|_| sent.is_ok());
        sessions.end();
        sent
    }

    /// Returns the prompt of a body with the changes of the log, and nothing else that is sent: each element in a line.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or the body is not that of a request.
    pub fn session_lines(&self, session: &str, api: RequestApi, body: impl AsRef<[u8]>) -> Result<Vec<u8>, WireError> {
        match self.logged(session, api, body.as_ref())? {
            edits if edits.is_empty() => {
                Ok(session_lines(api, &RequestDocument::new(body.as_ref()).ok_or(WireError::Unreadable)?))
            }
            edits => {
                let changed = EditedBody::new(body.as_ref().len()).with(edits).bytes(body.as_ref());
                // Of a large body, only one form is in memory.
                drop(body);
                Ok(session_lines(api, &RequestDocument::new(&changed).ok_or(WireError::Unreadable)?))
            }
        }
    }

    fn logged(&self, session: &str, api: RequestApi, body: &[u8]) -> Result<Vec<BodyEdit>, WireError> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let document = RequestDocument::new(body).ok_or(WireError::Unreadable)?;
        let parsed = RequestBody::parse(api, &document, &mut sessions.known).ok_or(WireError::Unreadable)?;
        Ok(rewrite::logged(sessions.line(session, "")?, &parsed))
    }

    /// Stores responses whose withheld calls later requests of the line contain.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    pub fn add_replies(&self, facts: &RequestFacts, replies: Vec<WithheldReply>, now: i64) -> Result<(), WireError> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.add_replies(&facts.session, &facts.line, replies, now)
    }

    /// Sets the texts that the next prompt of a session is followed by, in the place of those set before.
    pub fn prepare(&self, session: &str, texts: Vec<PreparedText>) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).prepare(session, texts);
    }

    /// Returns a number that differs after another process changed the store; `None` if there is no store.
    pub fn store_version(&self) -> Option<i64> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).store_version()
    }

    /// Returns the reason why new changes wait, if the store could not be used last; `None` if it can be used.
    pub fn fault(&self) -> Option<String> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).fault()
    }

    /// Returns the notes on a request, one for each stage but the last; after a failure only those on what was done.
    pub fn explained(&self, facts: &RequestFacts) -> Vec<StageNote> {
        if facts.problem.is_some() { facts.stages.clone() } else { self.settings.complete(facts.stages.clone()) }
    }

    /// Returns true if bodies are read.
    pub fn reads(&self) -> bool {
        self.settings.ingest
    }

    /// Sets the note that later requests of a session have on a stage whose work is done beside them.
    pub fn set_note(&self, session: &str, stage: Stage, note: &str) {
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

    /// Records that the API refused a request. Returns true if requests of this line are sent as the client writes them from now on:
    /// after a refusal of a content of a changed request, or after the second refusal in a row if the cause is another one, which the
    /// client can repair by itself. If the original request is refused too, the changes are not the cause, and later requests are changed again.
    ///
    /// # Errors
    ///
    /// The store cannot be written; the line is observed until the proxy ends.
    pub fn refused(&self, facts: &RequestFacts, refusal: &Refusal<'_>) -> Result<bool, WireError> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).refused(&facts.session, &facts.line, refusal)
    }

    /// Records that the API accepted a request.
    pub fn accepted(&self, facts: &RequestFacts) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).accepted(&facts.session, &facts.line);
    }
}

/// Returns the body to send, and if it offers the tool.
fn attempt(
    sessions: &mut Sessions,
    settings: PipelineSettings,
    api: RequestApi,
    document: &RequestDocument<'_>,
    facts: &mut RequestFacts,
    now: i64,
) -> Result<(Option<EditedBody>, bool), WireError> {
    let calls = calls::added(sessions, settings, api, document, facts)?;
    let offers_tool = calls.offer.is_some();
    let mut outgoing = OutgoingBody::new(document.bytes, calls.offer);
    // All other stages see the conversation as the model had it.
    outgoing.edit(calls.restored);
    match sessions.is_idle(&facts.session, &facts.line)? {
        true => facts.note(Stage::Parse, "not needed: the session has no changes and no texts wait"),
        false => rewrite::rewrite(sessions, settings, api, document, &mut outgoing, facts, now)?,
    }
    Ok((outgoing.finish(), offers_tool))
}

/// A request that can be changed: its API, its body, and if it offers tools.
type Ingested<'b> = (RequestApi, RequestDocument<'b>, bool);

/// Reads the facts of a request; the second value is `None` if the request cannot be changed.
fn ingest<'b>(head: &RequestHead, body: &'b [u8]) -> (RequestFacts, Option<Ingested<'b>>) {
    let bytes = body.len() as u64;
    let mut facts = RequestFacts { client_bytes: bytes, sent_bytes: bytes, ..RequestFacts::default() };
    let Some(api) = head.api() else { return (facts, None) };
    let Some(document) = RequestDocument::new(body) else {
        facts.problem = Some("the body is not a JSON object".to_owned());
        return (facts, None);
    };
    let RequestIdentity { session, line, has_tools, asks_for_summary } = identity(head, api, &document);
    facts.model = document.model();
    facts.note(Stage::Ingest, format!("{}, {} bytes", api.format(), body.len()));
    facts.is_main = has_tools && line.is_empty();
    facts.asks_for_summary = asks_for_summary;
    (facts.session, facts.line) = (session, line);
    (facts, Some((api, document, has_tools)))
}
