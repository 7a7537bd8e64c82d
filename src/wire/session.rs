//! The sessions on the wire: their contents by the log, and the state of their lines.

use super::OpenStore;
use super::contents::Contents;
use crate::model::Key;
use crate::provider::{KnownElements, by_name};
use crate::store::{ContentOperation, Insertion, StagedText, Store, StoreError, StoredSession, WireLine};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Maximum number of lines in memory. The others are read again from the store.
const LINES: usize = 64;

/// Number of refusals in a row after which a line is no longer changed. A client repairs a first refusal by itself.
const REFUSALS: u32 = 2;

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
pub(super) struct Line {
    /// The contents of the session by its log.
    pub contents: Contents,
    /// The state after the last request; `None` before the first one that was changed.
    pub state: Option<WireLine>,
    /// The inserted texts.
    pub insertions: Vec<Insertion>,
    /// The texts that wait for the next prompt.
    pub staged: Vec<StagedText>,
    /// Refusals in a row.
    refusals: u32,
}

/// The sessions on the wire.
pub(super) struct Sessions {
    open: OpenStore,
    store: Option<Store>,
    /// The version of the store that the lines were read from.
    version: i64,
    lines: FxHashMap<(String, String), Line>,
    /// The manifest for the next prompt of each session.
    manifests: FxHashMap<String, String>,
    /// The elements of earlier requests.
    pub known: KnownElements,
}

impl Sessions {
    pub fn new(open: OpenStore) -> Sessions {
        let (lines, manifests, known) = (FxHashMap::default(), FxHashMap::default(), KnownElements::default());
        Sessions { open, store: None, version: 0, lines, manifests, known }
    }

    /// Forgets everything that can be read again.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.store = None;
        self.known = KnownElements::default();
    }

    /// Returns true if requests of a line need no change, whatever they contain.
    pub fn is_idle(&mut self, session: &str, line: &str) -> Result<bool, WireError> {
        let has_manifest = line.is_empty() && self.manifests.contains_key(session);
        let known = self.line(session, line)?;
        let is_new = known.contents.last() == 0 && known.state.is_none();
        Ok(is_new && known.insertions.is_empty() && known.staged.is_empty() && !has_manifest)
    }

    pub fn set_manifest(&mut self, session: &str, manifest: String) {
        self.manifests.insert(session.to_owned(), manifest);
    }

    /// Returns the manifest for the next prompt, once.
    pub fn take_manifest(&mut self, session: &str) -> Option<String> {
        self.manifests.remove(session)
    }

    /// Returns a line with everything that the store has of it now.
    pub fn line(&mut self, session: &str, line: &str) -> Result<&mut Line, WireError> {
        if self.store.is_none() {
            self.lines.clear();
            self.store = (self.open)(false).map_err(WireError::Closed)?;
            self.version = self.store.as_ref().map(Store::version).transpose()?.unwrap_or_default();
        }
        if let Some(store) = &self.store {
            let version = store.version()?;
            if version != self.version || self.lines.len() > LINES {
                // Refusals are not in the store.
                let refusals =
                    |lines: &FxHashMap<_, Line>| lines.get(&(session.to_owned(), line.to_owned())).map(|line| line.refusals);
                let kept = refusals(&self.lines).unwrap_or_default();
                self.lines.clear();
                self.version = version;
                if kept > 0 {
                    let read = Line { refusals: kept, ..read(Some(store), session, line)? };
                    self.lines.insert((session.to_owned(), line.to_owned()), read);
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

    /// Stores a text that requests of a line contain from now on, in the place of the staged ones.
    pub fn insert(&mut self, session: &str, line: &str, insertion: Insertion, now: i64) -> Result<(), WireError> {
        let staged = std::mem::take(&mut self.line(session, line)?.staged);
        self.writable()?.insert_text(session, line, &insertion, &staged, now)?;
        self.line(session, line)?.insertions.push(insertion);
        Ok(())
    }

    /// See [`super::Wire::refused`].
    pub fn refused(&mut self, session: &str, line: &str, reason: &str) -> Result<bool, WireError> {
        let known = self.line(session, line)?;
        known.refusals += 1;
        if known.refusals < REFUSALS {
            return Ok(false);
        }
        let state = WireLine { observed: Some(reason.to_owned()), ..known.state.clone().unwrap_or_default() };
        known.state = Some(state.clone());
        self.save(session, line, state)?;
        Ok(true)
    }

    /// See [`super::Wire::accepted`].
    pub fn accepted(&mut self, session: &str, line: &str) {
        if let Some(line) = self.lines.get_mut(&(session.to_owned(), line.to_owned())) {
            line.refusals = 0;
        }
    }
}

/// Reads a line from the store.
fn read(store: Option<&Store>, session: &str, line: &str) -> Result<Line, WireError> {
    let empty = || Line { contents: Contents::default(), state: None, insertions: Vec::new(), staged: Vec::new(), refusals: 0 };
    let Some(store) = store else { return Ok(empty()) };
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
        refusals: 0,
    })
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
