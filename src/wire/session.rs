//! The sessions on the wire: their contents by the log, and the state of their lines.

use super::contents::Contents;
use super::{OpenStore, PreparedText, Refusal, RequestFacts, Wire};
use crate::model::{Key, OperationId, ProposalNumber, WithheldReply};
use crate::provider::{KnownElements, RefusalCause};
use crate::store::{ContentOperation, Insertion, StagedText, Store, StoreError, StoredSession, WireLine};
use rustc_hash::FxHashMap;

/// Maximum number of lines in memory. The others are read again from the store.
const LINES: usize = 64;

/// Number of refusals in a row after which a line is no longer changed, if a client can repair a first one by itself.
const REPAIRED: u32 = 2;

/// Errors of a request that is then sent as the client wrote it.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("the store is not available: {0}")]
    Store(#[from] StoreError),
    #[error("the store is not available: {0}")]
    Closed(String),
    #[error("the body is not valid JSON")]
    Broken,
    #[error("internal error: the changed body is not valid")]
    Unreadable,
}

impl WireError {
    fn is_busy(&self) -> bool {
        matches!(self, WireError::Store(error) if error.is_busy())
    }
}

#[derive(Default)]
pub(super) struct Line {
    pub contents: Contents,
    /// The state after the last request; `None` before the first one that was changed.
    pub state: Option<WireLine>,
    pub insertions: Vec<Insertion>,
    pub staged: Vec<StagedText>,
    /// The commands of the model whose outcomes it has not received.
    pub untold: Vec<ProposalNumber>,
    /// True if its requests offer the tool of aperture; `None` before it was decided.
    pub offers: Option<bool>,
    /// The responses with calls of that tool.
    pub replies: Vec<WithheldReply>,
    refusals: Refusals,
    /// The opening of the store and its version that it was read from.
    read_from: (u64, i64),
    /// True if the store that it was read from is gone: it is in memory only.
    is_orphan: bool,
    /// True if the store cannot be used now: nothing new can be stored, and the log is in force as in the last request.
    pub is_held: bool,
}

/// The refusals of a line since the API accepted a request.
#[derive(Clone, Copy, Default)]
struct Refusals {
    changed: u32,
    /// True if a request was refused that was not changed: the changes are not the cause.
    is_of_client: bool,
}

impl Line {
    fn is_idle(&self) -> bool {
        !self.is_changed() && self.staged.is_empty() && self.untold.is_empty()
    }

    /// Returns true if a request of the line could have been changed.
    fn is_changed(&self) -> bool {
        self.contents.last() > 0 || self.state.is_some() || !self.insertions.is_empty() || !self.replies.is_empty()
    }

    /// Returns the operation up to which the log is in force for the next request.
    pub fn last(&self) -> OperationId {
        if self.is_held { self.state.as_ref().map_or(0, |state| state.point) } else { self.contents.last() }
    }
}

pub(super) struct Sessions {
    open: OpenStore,
    store: Option<Store>,
    /// The number of times that a store was opened, and the version of the open one.
    opened: u64,
    version: i64,
    /// True if the open store was deleted and there is no other one yet.
    is_deleted: bool,
    /// The reason why the store could not be used last, and if another process holds it.
    fault: Option<(String, bool)>,
    /// True if this request gets only what is in memory.
    is_held: bool,
    lines: FxHashMap<(String, String), Line>,
    prepared: FxHashMap<String, Vec<PreparedText>>,
    /// Responses with calls that could not be stored, by their line, and the time of the first: they are in memory until they are.
    owed: FxHashMap<(String, String), (Vec<WithheldReply>, i64)>,
    pub known: KnownElements,
}

impl Sessions {
    pub fn new(open: OpenStore) -> Sessions {
        let (lines, prepared, owed, known) =
            (FxHashMap::default(), FxHashMap::default(), FxHashMap::default(), KnownElements::default());
        let (opened, version, is_deleted, fault, is_held) = (0, 0, false, None, false);
        Sessions { open, store: None, opened, version, is_deleted, fault, is_held, lines, prepared, owed, known }
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.store = None;
        (self.is_deleted, self.fault, self.is_held) = (false, None, false);
        self.known = KnownElements::default();
    }

    /// Begins a request. While another process holds the store, it does not wait for it again.
    pub fn begin(&mut self) {
        self.is_held = !self.is_free();
    }

    /// Returns true unless another process held the store last and still does.
    fn is_free(&mut self) -> bool {
        let is_busy = self.fault.as_ref().is_some_and(|(_, is_busy)| *is_busy);
        let is_free = !is_busy || self.store.as_ref().is_none_or(Store::can_write_now);
        if is_busy && is_free {
            self.fault = None;
        }
        is_free
    }

    pub fn end(&mut self) {
        self.is_held = false;
    }

    /// Lets this request have only what is in memory. Returns false if it has no more already.
    pub fn hold(&mut self) -> bool {
        !std::mem::replace(&mut self.is_held, true)
    }

    /// Returns the reason why this request has only what is in memory.
    pub fn held(&self) -> Option<String> {
        self.is_held.then(|| self.fault()).flatten()
    }

    /// Returns the reason why new changes wait, or would be lost with the end of the proxy.
    pub fn fault(&self) -> Option<String> {
        let is_orphan = self.lines.values().any(|line| line.is_orphan);
        let orphan = || is_orphan.then(|| "the store was deleted or replaced".to_owned());
        self.fault.as_ref().map(|(fault, _)| fault.clone()).or_else(orphan)
    }

    fn noted<T>(&mut self, outcome: Result<T, WireError>) -> Result<T, WireError> {
        self.fault = outcome.as_ref().err().map(|error| (error.to_string(), error.is_busy()));
        outcome
    }

    /// Returns true if requests of a line need no change, whatever they contain.
    pub fn is_idle(&mut self, session: &str, line: &str) -> Result<bool, WireError> {
        let is_prepared = self.is_prepared(session, line);
        Ok(self.line(session, line)?.is_idle() && !is_prepared)
    }

    /// Returns true if [`Sessions::is_idle`] is known to be true without a wait for the store.
    pub fn is_known_idle(&self, session: &str, line: &str, offers_tool: bool) -> bool {
        let is_current = |store: &Store| store.is_current() && store.version().is_ok_and(|version| version == self.version);
        let is_idle = || {
            self.lines
                .get(&(session.to_owned(), line.to_owned()))
                .filter(|known| known.read_from == (self.opened, self.version))
                .is_some_and(|known| known.is_idle() && (!offers_tool || !line.is_empty() || known.offers == Some(false)))
        };
        self.store.as_ref().is_some_and(is_current) && is_idle() && !self.is_prepared(session, line)
    }

    fn is_prepared(&self, session: &str, line: &str) -> bool {
        line.is_empty() && self.prepared.contains_key(session)
    }

    /// Adds a text to those for the next prompt of a session, in the place of one of its kind.
    pub fn add_prepared(&mut self, session: &str, text: PreparedText) {
        let texts = self.prepared.entry(session.to_owned()).or_default();
        texts.retain(|known| known.kind != text.kind);
        texts.push(text);
    }

    /// Returns true if outcomes of commands wait for the model, and their text is not prepared.
    pub fn lacks_answers(&mut self, session: &str) -> bool {
        // A store that cannot be used is waited for once.
        self.begin();
        let untold = self.line(session, "").map(|line| line.untold.clone()).unwrap_or_default();
        self.end();
        let is_prepared = |text: &PreparedText| !text.answers.is_empty() && untold.starts_with(&text.answers);
        !untold.is_empty() && !self.prepared(session).iter().any(is_prepared)
    }

    /// Returns the texts for the next prompt, which wait until they are inserted.
    pub fn prepared(&self, session: &str) -> Vec<PreparedText> {
        self.prepared.get(session).cloned().unwrap_or_default()
    }

    /// Returns a line with everything that the store has of it now. If the store cannot be read, it is as in the last request.
    pub fn line(&mut self, session: &str, line: &str) -> Result<&mut Line, WireError> {
        let name = (session.to_owned(), line.to_owned());
        let is_known = self.lines.contains_key(&name);
        if !(self.is_held && is_known) {
            let found = self.refresh();
            let read = match found {
                // A session that was not in the deleted store begins in a new one.
                Err(_) if self.is_deleted && !is_known => Ok(()),
                found => found.and_then(|()| self.read_again(&name)),
            };
            match read {
                // If they still cannot be stored, they stay in memory.
                Ok(()) => drop(self.store_owed(&name)),
                Err(error) => {
                    let failed = self.noted(Err(error));
                    match is_known {
                        true => self.is_held = true,
                        false => return failed,
                    }
                }
            }
        }
        let known = self.lines.entry(name).or_default();
        known.is_held = self.is_held;
        Ok(known)
    }

    /// Opens the store if it is not the one that is open.
    fn refresh(&mut self) -> Result<(), WireError> {
        self.is_deleted |= self.store.take_if(|store| !store.is_current()).is_some();
        if self.store.is_none() {
            self.store = (self.open)(false).map_err(WireError::Closed)?;
            self.is_opened()?;
        }
        match &self.store {
            Some(store) => self.version = store.version()?,
            None if self.is_deleted => return Err(WireError::Closed("it was deleted".to_owned())),
            None => {}
        }
        Ok(())
    }

    fn is_opened(&mut self) -> Result<(), WireError> {
        if let Some(store) = &self.store {
            (self.opened, self.version, self.is_deleted) = (self.opened + 1, store.version()?, false);
        }
        Ok(())
    }

    /// Reads a line from the store unless it is as it was read.
    fn read_again(&mut self, name: &(String, String)) -> Result<(), WireError> {
        let now = (self.opened, self.version);
        let is_current = |known: &Line| known.read_from == now || known.is_orphan && known.read_from.0 == now.0;
        if self.lines.get(name).is_some_and(is_current) {
            return Ok(());
        }
        let mut new = read(self.store.as_ref(), &name.0, &name.1)?;
        let old = self.lines.remove(name);
        if self.lines.len() > LINES {
            self.lines.clear();
        }
        if let Some(old) = old {
            // The API has its changes in the prompt cache, and the model knows them.
            let is_orphan = old.is_changed() && !new.is_changed() && (old.is_orphan || old.read_from.0 != now.0);
            // Refusals are not in the store.
            new = if is_orphan {
                Line { staged: new.staged, untold: new.untold, is_orphan, ..old }
            } else {
                Line { refusals: old.refusals, ..new }
            };
        }
        if !new.is_orphan
            && let Some((replies, _)) = self.owed.get(name)
        {
            new.replies.extend(replies.iter().cloned());
        }
        self.lines.insert(name.clone(), Line { read_from: now, ..new });
        Ok(())
    }

    fn writable(&mut self) -> Result<&Store, WireError> {
        if self.store.is_none() {
            self.store = (self.open)(true).map_err(WireError::Closed)?;
            self.is_opened()?;
        }
        self.store.as_ref().ok_or_else(|| WireError::Closed("it cannot be created".to_owned()))
    }

    fn write(&mut self, write: impl FnOnce(&Store) -> Result<(), StoreError>) -> Result<(), WireError> {
        let written = self.writable().and_then(|store| Ok(write(store)?));
        self.noted(written)
    }

    pub fn save(&mut self, session: &str, line: &str, state: WireLine) -> Result<(), WireError> {
        if !self.is_held {
            self.write(|store| store.save_wire_line(session, line, &state))?;
            self.line(session, line)?.state = Some(state);
        }
        Ok(())
    }

    /// Stores texts that requests of a session contain from now on, in the place of those that wait, and that the model receives the
    /// outcomes of these commands. If that fails, they wait for the next request.
    pub fn insert(
        &mut self,
        session: &str,
        insertions: Vec<Insertion>,
        told: &[ProposalNumber],
        now: i64,
    ) -> Result<(), WireError> {
        let staged = self.line(session, "")?.staged.clone();
        let last = insertions.len().saturating_sub(1);
        for (place, insertion) in insertions.into_iter().enumerate() {
            let (taken, told) = if place == last { (&staged[..], told) } else { Default::default() };
            self.write(|store| store.insert_text(session, "", &insertion, taken, told, now))?;
            self.line(session, "")?.insertions.push(insertion);
        }
        self.prepared.remove(session);
        let line = self.line(session, "")?;
        line.staged.clear();
        line.untold.retain(|number| !told.contains(number));
        Ok(())
    }

    pub fn save_offer(&mut self, session: &str, line: &str, offers: bool) -> Result<(), WireError> {
        self.write(|store| store.save_offer(session, line, offers))?;
        self.line(session, line)?.offers = Some(offers);
        Ok(())
    }

    /// Stores the replies of a line that are in memory only.
    fn store_owed(&mut self, name: &(String, String)) -> Result<(), WireError> {
        if let Some((replies, time)) = self.owed.get(name).cloned() {
            self.write(|store| store.add_withheld_replies(&name.0, &name.1, &replies, time))?;
            self.owed.remove(name);
        }
        Ok(())
    }
}

impl Wire {
    /// Sets the texts that the next prompt of a session is followed by, in the place of those set before.
    pub fn prepare(&self, session: &str, texts: Vec<PreparedText>) {
        match texts.is_empty() {
            true => drop(self.sessions().prepared.remove(session)),
            false => drop(self.sessions().prepared.insert(session.to_owned(), texts)),
        }
    }

    pub fn store_version(&self) -> Option<i64> {
        self.sessions().store.as_ref()?.version().ok()
    }

    /// Returns the reason why new changes wait, if the store could not be used last; `None` if it can be used.
    pub fn fault(&self) -> Option<String> {
        let mut sessions = self.sessions();
        // No request may come after the other process has ended: replies that are only in memory are stored now.
        if sessions.is_free() {
            let owed: Vec<(String, String)> = sessions.owed.keys().cloned().collect();
            owed.iter().for_each(|name| drop(sessions.store_owed(name)));
        }
        sessions.fault()
    }

    /// Stores responses whose withheld calls later requests of the line contain.
    pub fn add_replies(&self, facts: &RequestFacts, replies: Vec<WithheldReply>, now: i64) -> Result<(), WireError> {
        let (mut sessions, name) = (self.sessions(), (facts.session.clone(), facts.line.clone()));
        // A line that is read after this has them.
        let read = sessions.line(&name.0, &name.1).map(drop);
        sessions.owed.entry(name.clone()).or_insert((Vec::new(), now)).0.extend(replies.iter().cloned());
        if let Some(known) = sessions.lines.get_mut(&name) {
            known.replies.extend(replies);
        }
        read.and_then(|()| sessions.store_owed(&name))
    }

    /// Records that the API refused a request. Returns true if requests of this line are sent as the client writes them from now on:
    /// after a refusal of a content of a changed request, or after the second refusal in a row if the cause is another one, which the
    /// client can repair by itself. If the original request is refused too, the changes are not the cause, and later requests are changed
    /// again.
    /// Errors: the store cannot be written; the line is observed until the proxy ends.
    pub fn refused(&self, facts: &RequestFacts, refusal: &Refusal<'_>) -> Result<bool, WireError> {
        let mut sessions = self.sessions();
        let known = sessions.line(&facts.session, &facts.line)?;
        let is_observed = known.state.as_ref().is_some_and(|state| state.observed.is_some());
        let observed = match refusal.cause {
            // The original request is as long.
            RefusalCause::Length if !refusal.is_longer => return Ok(false),
            // Thinking that was signed behind changes does not match the original contents either.
            RefusalCause::Thinking | RefusalCause::Length if !refusal.is_changed => return Ok(false),
            _ if !refusal.is_changed => {
                known.refusals.is_of_client = true;
                None
            }
            _ if known.refusals.is_of_client => return Ok(false),
            cause => {
                known.refusals.changed += 1;
                if cause != RefusalCause::Content && known.refusals.changed < REPAIRED {
                    return Ok(false);
                }
                Some(refusal.reason.to_owned())
            }
        };
        if is_observed == observed.is_some() {
            return Ok(false);
        }
        let is_now = observed.is_some();
        let state = WireLine { observed, ..known.state.clone().unwrap_or_default() };
        known.state = Some(state.clone());
        sessions.save(&facts.session, &facts.line, state)?;
        Ok(is_now)
    }

    pub fn accepted(&self, facts: &RequestFacts) {
        if let Some(line) = self.sessions().lines.get_mut(&(facts.session.clone(), facts.line.clone())) {
            line.refusals = Refusals::default();
        }
    }
}

fn read(store: Option<&Store>, session: &str, line: &str) -> Result<Line, WireError> {
    let Some(store) = store else { return Ok(Line::default()) };
    // A subagent has a file and a log of its own.
    let id = if line.is_empty() { session } else { line };
    let found = store.sessions_with_id(id)?.into_iter().next();
    let operations = found.as_ref().map(|found| store.content_operations(found)).transpose()?.unwrap_or_default();
    let originals = found.as_ref().map(|found| originals(store, found, &operations)).transpose()?.unwrap_or_default();
    Ok(Line {
        contents: Contents::new(&operations, &|content| originals.get(&content).cloned()),
        state: store.wire_line(session, line)?,
        insertions: store.insertions(session, line)?,
        staged: if line.is_empty() { store.staged(session)? } else { Vec::new() },
        untold: found.filter(|_| line.is_empty()).map(|found| store.untold(found.key)).transpose()?.unwrap_or_default(),
        offers: store.offers_tool(session, line)?,
        replies: store.withheld_replies(session, line)?,
        ..Line::default()
    })
}

/// Returns the operations in force whose contents the last request of a session did not have.
pub fn unapplied(store: &Store, session: &str) -> Result<Vec<OperationId>, WireError> {
    let state = store.wire_line(session, "")?.filter(|state| state.observed.is_none()).unwrap_or_default();
    if state.unapplied.is_empty() {
        return Ok(Vec::new());
    }
    let contents = read(Some(store), session, "")?.contents;
    let in_force = contents.windows(contents.last()).map(|(operation, _)| *operation);
    Ok(in_force.filter(|operation| state.unapplied.contains(operation)).collect())
}

/// Returns the stored texts of the values that operations replaced, if an operation restores them without naming them.
fn originals(
    store: &Store,
    session: &StoredSession,
    operations: &[ContentOperation],
) -> Result<FxHashMap<Key, String>, WireError> {
    if operations.iter().all(|operation| operation.point.is_none()) {
        return Ok(FxHashMap::default());
    }
    let format = session.provider()?;
    let history = store.history(session.key)?;
    let edits = history.operations.iter().flat_map(|operation| &operation.edits).filter(|edit| edit.change.is_some());
    let stored = edits.filter_map(|edit| store.original(&edit.before?).ok());
    let decoded = stored.map(|value| format.decode(&value));
    Ok(decoded.map(|text| (Key::from_bytes(text.as_bytes()), text)).collect())
}
