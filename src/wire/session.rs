//! The sessions on the wire: their contents by the log, and the state of their lines.

use super::contents::Contents;
use super::texts::PreparedText;
use super::{OpenStore, Refusal};
use crate::model::{Key, OperationId, WithheldReply};
use crate::provider::{KnownElements, RefusalCause, by_name};
use crate::store::{ContentOperation, Insertion, StagedText, Store, StoreError, StoredSession, WireLine};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Maximum number of lines in memory. The others are read again from the store.
const LINES: usize = 64;

/// Number of refusals in a row after which a line is no longer changed, if a client can repair a first one by itself.
const REPAIRED: u32 = 2;

/// Errors of a request that is then sent as the client wrote it.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The store cannot be read or written.
    #[error("the store is not available: {0}")]
    Store(#[from] StoreError),
    /// The store cannot be opened.
    #[error("the store is not available: {0}")]
    Closed(String),
    /// The body with a changed window cannot be parsed.
    #[error("internal error: the changed body is not valid")]
    Unreadable,
}

/// A line of requests.
#[derive(Default)]
pub(super) struct Line {
    /// The contents of the session by its log.
    pub contents: Contents,
    /// The state after the last request; `None` before the first one that was changed.
    pub state: Option<WireLine>,
    /// The inserted texts.
    pub insertions: Vec<Insertion>,
    /// The texts that wait for the next prompt.
    pub staged: Vec<StagedText>,
    /// True if its requests offer the tool of aperture; `None` before it was decided.
    pub offers: Option<bool>,
    /// The responses with calls of that tool.
    pub replies: Vec<WithheldReply>,
    refusals: Refusals,
}

/// The refusals of a line since the API accepted a request.
#[derive(Clone, Copy, Default)]
struct Refusals {
    /// The number of changed requests that were refused.
    changed: u32,
    /// True if a request was refused that was not changed: the changes are not the cause.
    is_of_client: bool,
}

impl Line {
    fn is_idle(&self) -> bool {
        let is_new = self.contents.last() == 0 && self.state.is_none();
        is_new && self.insertions.is_empty() && self.staged.is_empty() && self.replies.is_empty()
    }
}

/// The sessions on the wire.
pub(super) struct Sessions {
    open: OpenStore,
    store: Option<Store>,
    /// The version of the store that the lines were read from.
    version: i64,
    lines: FxHashMap<(String, String), Line>,
    /// The texts for the next prompt of each session.
    prepared: FxHashMap<String, Vec<PreparedText>>,
    /// The elements of earlier requests.
    pub known: KnownElements,
}

impl Sessions {
    pub fn new(open: OpenStore) -> Sessions {
        let (lines, prepared, known) = (FxHashMap::default(), FxHashMap::default(), KnownElements::default());
        Sessions { open, store: None, version: 0, lines, prepared, known }
    }

    /// Forgets everything that can be read again.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.store = None;
        self.known = KnownElements::default();
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
                .is_some_and(|known| known.is_idle() && (!offers_tool || !line.is_empty() || known.offers == Some(false)))
        };
        self.store.as_ref().is_some_and(is_current) && is_idle() && !self.is_prepared(session, line)
    }

    fn is_prepared(&self, session: &str, line: &str) -> bool {
        line.is_empty() && self.prepared.contains_key(session)
    }

    /// See [`super::Wire::store_version`].
    pub fn store_version(&self) -> Option<i64> {
        self.store.as_ref()?.version().ok()
    }

    /// See [`super::Wire::prepare`].
    pub fn prepare(&mut self, session: &str, texts: Vec<PreparedText>) {
        match texts.is_empty() {
            true => drop(self.prepared.remove(session)),
            false => drop(self.prepared.insert(session.to_owned(), texts)),
        }
    }

    /// Adds a text to those for the next prompt of a session, in the place of one of its kind.
    pub fn add_prepared(&mut self, session: &str, text: PreparedText) {
        let texts = self.prepared.entry(session.to_owned()).or_default();
        texts.retain(|known| known.kind != text.kind);
        texts.push(text);
    }

    /// Returns the texts for the next prompt, which wait until they are inserted.
    pub fn prepared(&self, session: &str) -> Vec<PreparedText> {
        self.prepared.get(session).cloned().unwrap_or_default()
    }

    /// Returns a line with everything that the store has of it now.
    pub fn line(&mut self, session: &str, line: &str) -> Result<&mut Line, WireError> {
        let was_open = self.store.is_some();
        self.store.take_if(|store| !store.is_current());
        if self.store.is_none() {
            self.lines.clear();
            self.store = (self.open)(false).map_err(WireError::Closed)?;
            self.version = self.store.as_ref().map(Store::version).transpose()?.unwrap_or_default();
            if was_open && self.store.is_none() {
                return Err(WireError::Closed("it was deleted".to_owned()));
            }
        }
        if let Some(store) = &self.store {
            let version = store.version()?;
            if version != self.version || self.lines.len() > LINES {
                let name = (session.to_owned(), line.to_owned());
                let old = self.lines.remove(&name);
                self.lines.clear();
                self.version = version;
                if let Some(Line { refusals, .. }) = old {
                    // Refusals are not in the store.
                    self.lines.insert(name, Line { refusals, ..read(Some(store), session, line)? });
                }
            }
        }
        match self.lines.entry((session.to_owned(), line.to_owned())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => Ok(new.insert(read(self.store.as_ref(), session, line)?)),
        }
    }

    /// Returns the store, which is created if there is none.
    fn writable(&mut self) -> Result<&Store, WireError> {
        if self.store.is_none() {
            self.store = (self.open)(true).map_err(WireError::Closed)?;
            self.version = self.store.as_ref().map(Store::version).transpose()?.unwrap_or_default();
        }
        self.store.as_ref().ok_or_else(|| WireError::Closed("it cannot be created".to_owned()))
    }

    /// Stores the state of a line.
    pub fn save(&mut self, session: &str, line: &str, state: WireLine) -> Result<(), WireError> {
        self.writable()?.save_wire_line(session, line, &state)?;
        self.line(session, line)?.state = Some(state);
        Ok(())
    }

    /// Stores texts that requests of a session contain from now on, in the place of those that wait. If that fails, they wait for the
    /// next request.
    pub fn insert(&mut self, session: &str, insertions: Vec<Insertion>, now: i64) -> Result<(), WireError> {
        let staged = self.line(session, "")?.staged.clone();
        let last = insertions.len().saturating_sub(1);
        for (place, insertion) in insertions.into_iter().enumerate() {
            let taken = if place == last { &staged[..] } else { &[] };
            self.writable()?.insert_text(session, "", &insertion, taken, now)?;
            self.line(session, "")?.insertions.push(insertion);
        }
        self.prepared.remove(session);
        self.line(session, "")?.staged.clear();
        Ok(())
    }

    /// Stores if the requests of a line offer the tool of aperture.
    pub fn save_offer(&mut self, session: &str, line: &str, offers: bool) -> Result<(), WireError> {
        self.writable()?.save_offer(session, line, offers)?;
        self.line(session, line)?.offers = Some(offers);
        Ok(())
    }

    /// See [`super::Wire::add_replies`].
    pub fn add_replies(&mut self, session: &str, line: &str, replies: Vec<WithheldReply>, now: i64) -> Result<(), WireError> {
        // A line that is read after this has the replies of the store.
        self.line(session, line)?;
        self.writable()?.add_withheld_replies(session, line, &replies, now)?;
        if let Some(known) = self.lines.get_mut(&(session.to_owned(), line.to_owned())) {
            known.replies.extend(replies);
        }
        Ok(())
    }

    /// See [`super::Wire::refused`].
    pub fn refused(&mut self, session: &str, line: &str, refusal: &Refusal<'_>) -> Result<bool, WireError> {
        let known = self.line(session, line)?;
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
        self.save(session, line, state)?;
        Ok(is_now)
    }

    /// See [`super::Wire::accepted`].
    pub fn accepted(&mut self, session: &str, line: &str) {
        if let Some(line) = self.lines.get_mut(&(session.to_owned(), line.to_owned())) {
            line.refusals = Refusals::default();
        }
    }
}

/// Reads a line from the store.
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
        offers: store.offers_tool(session, line)?,
        replies: store.withheld_replies(session, line)?,
        refusals: Refusals::default(),
    })
}

/// Returns the operations in force whose contents the last request of a session did not have.
///
/// # Errors
///
/// The store cannot be read.
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
    let format = by_name(&session.provider);
    let history = store.history(session.key)?;
    let edits = history.operations.iter().flat_map(|operation| &operation.edits).filter(|edit| edit.change.is_some());
    let stored = edits.filter_map(|edit| store.original(&edit.before?).ok());
    let decoded = stored.map(|value| format.decode(&value));
    Ok(decoded.map(|text| (Key::from_bytes(text.as_bytes()), text)).collect())
}
