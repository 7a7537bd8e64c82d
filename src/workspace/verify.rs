//! Checks a session file against the store: whether all changes are present in the file, and whether they can be undone.

use super::{DriftedValue, Found, LoggedSession, PlanError, Workspace, was_done};
use crate::engine::ReadSettings;
use crate::fsio::{Disk, packed_path};
use crate::model::{Address, History, Operation, OperationId, OperationKind, request_id};
use crate::planning::OriginalError;
use crate::provider::Location;
use crate::store::{Cache, Store, StoreError, StoredSession};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

const ATTEMPTS: usize = 3;

/// The result of undoing everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WayBack {
    /// No change is in force.
    Nothing,
    /// The original would be restored byte for byte.
    Exact,
    /// Every value would be restored. Other programs added or changed rows since, so there is no original to compare with.
    Values,
    /// All but the credentials that were deleted from the store.
    Forgotten,
    Refused(String),
    /// Unknown, because there is no file.
    #[default]
    Unknown,
}

/// The state of the file of a session in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileState {
    #[default]
    There,
    /// The session has no file: it is only in requests, with the changes of the log.
    InRequests,
    Gone,
    Unreadable(String),
}

/// The result of checking one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub file: FileState,
    pub operations: usize,
    pub in_force: usize,
    /// The number of values that were compared with the file.
    pub values: usize,
    /// The values that differ from the file.
    pub drifted: Vec<DriftedValue>,
    /// Operations with values that are missing from the store or damaged, and the number of these values.
    pub lost: Vec<(OperationId, usize)>,
    /// Operations that cannot be inverted byte by byte.
    pub without_delta: Vec<OperationId>,
    /// Operations whose values had credentials, which were deleted.
    pub forgotten: Vec<OperationId>,
    /// Interrupted operations, and whether the file has their changes.
    pub interrupted: Vec<(OperationId, bool)>,
    pub way_back: WayBack,
}

impl Verified {
    /// Returns the number of problems. A missing file and an interrupted command do not count: both are expected.
    pub fn problems(&self) -> usize {
        let unreadable = matches!(self.file, FileState::Unreadable(_));
        // A refused undo mostly follows from a differing value, which is counted already.
        let refused = matches!(self.way_back, WayBack::Refused(_)) && self.drifted.is_empty() && self.lost.is_empty();
        self.drifted.len() + self.lost.len() + usize::from(unreadable) + usize::from(refused)
    }
}

/// Returns the session file of a session in the store.
/// Errors: this version does not have its provider.
pub fn found(stored: &StoredSession) -> Result<Found, StoreError> {
    let provider = stored.provider()?;
    let unlocated = || Location { project: stored.project.clone(), ..Location::of_id(stored.session.clone()) };
    let location = provider.locate(&stored.path).unwrap_or_else(unlocated);
    Ok(Found { provider, path: stored.path.clone(), location })
}

/// Checks sessions of a store, without writing anything.
pub struct Verifier<'a> {
    pub disk: &'a dyn Disk,
    pub cache: &'a Arc<Cache>,
    pub store: &'a Store,
    pub settings: &'a ReadSettings,
    /// The addresses of the undamaged values.
    pub sound: &'a BTreeSet<Address>,
    /// The current time, in milliseconds since 1970, UTC.
    pub now: i64,
}

impl Verifier<'_> {
    pub fn verify(&self, stored: &StoredSession) -> Result<Verified, StoreError> {
        let packed = packed_path(&stored.path);
        let is_packed = self.disk.identify(&stored.path).is_err() && self.disk.identify(&packed).is_ok();
        let stored = &if is_packed { StoredSession { path: packed, ..stored.clone() } } else { stored.clone() };
        let state = || -> Result<_, StoreError> {
            let identity = self.disk.identify(&stored.path).ok();
            Ok((identity, self.store.history(stored.key)?.last(), self.store.prepared(stored.key)?.len()))
        };
        let mut left = ATTEMPTS;
        loop {
            left -= 1;
            let before = state()?;
            let verified = self.verify_session(stored)?;
            // Another aperture process or the client may have changed the session during the check: then check again.
            if left == 0 || verified.problems() == 0 || state()? == before {
                return Ok(verified);
            }
        }
    }

    fn verify_session(&self, stored: &StoredSession) -> Result<Verified, StoreError> {
        let mut history = self.store.history(stored.key)?;
        let prepared = self.store.prepared(stored.key)?;
        let file = match self.disk.identify(&stored.path) {
            _ if request_id(&stored.path).is_some() => FileState::InRequests,
            Ok(_) => FileState::There,
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileState::Gone,
            Err(error) => FileState::Unreadable(error.to_string()),
        };
        let mut verified = Verified { file, ..Verified::default() };
        for operation in prepared {
            // The next command decides the same way: by the contents of the file.
            let done = verified.file == FileState::There && was_done(self.disk, &stored.path, &operation).unwrap_or_default();
            verified.interrupted.push((operation.id, done));
            if done {
                history.operations.push(operation);
            }
        }
        verified.operations = history.operations.len();
        verified.lost = lost(&history, self.sound);
        for operation in history.operations.iter().filter(|operation| operation.lacks_delta()) {
            let is_forgotten = operation.is_forgotten() || self.has_placeholder(operation);
            let lacking = if is_forgotten { &mut verified.forgotten } else { &mut verified.without_delta };
            lacking.push(operation.id);
        }
        verified.in_force = history.in_force().len();
        if verified.file == FileState::InRequests && verified.lost.is_empty() {
            // Each request has the original until the log changes it.
            verified.way_back = if verified.in_force == 0 { WayBack::Nothing } else { WayBack::Exact };
        }
        if verified.file == FileState::There
            && let Err(error) = self.beside_file(stored, history, &mut verified)
        {
            match error {
                PlanError::Originals(error) => match StoreError::from(error) {
                    StoreError::Damaged(why) if !verified.lost.is_empty() => verified.way_back = WayBack::Refused(why),
                    error => return Err(error),
                },
                PlanError::Io(error) => verified.file = FileState::Unreadable(error.to_string()),
                error => verified.way_back = WayBack::Refused(error.to_string()),
            }
        }
        if matches!(verified.way_back, WayBack::Exact | WayBack::Values) && !verified.forgotten.is_empty() {
            verified.way_back = WayBack::Forgotten;
        }
        Ok(verified)
    }

    /// Returns true if a value that an operation replaced has the placeholder of a credential.
    fn has_placeholder(&self, operation: &Operation) -> bool {
        let has = |address: &Address| {
            self.store.original(address).is_ok_and(|value: Vec<u8>| memchr::memmem::find(&value, b"[secret:").is_some())
        };
        operation.edits.iter().filter_map(|edit| edit.before.as_ref()).any(has)
    }

    fn beside_file(&self, stored: &StoredSession, history: History, verified: &mut Verified) -> Result<(), PlanError> {
        let found = found(stored).map_err(io::Error::other)?;
        let workspace = Workspace::open(self.disk, self.cache, history, found, self.settings, &|_| true)?;
        let session = &workspace.reading.session;
        let bytes = workspace.bytes()?;
        let operations = &workspace.history.operations;
        let beside = LoggedSession { provider: workspace.provider, session, bytes: &bytes, operations, values: self.store };
        let standing = beside.check()?;
        verified.values = standing.values;
        verified.drifted = standing.drifted;
        verified.way_back = if verified.in_force == 0 {
            nothing_left(&workspace.history, &bytes)
        } else if verified.drifted.iter().any(DriftedValue::blocks_undo) {
            WayBack::Refused("another program changed what aperture wrote".to_owned())
        } else {
            self.way_back(&workspace, &beside)?
        };
        Ok(())
    }

    /// Undoes everything in memory: byte by byte if the log has the deltas, otherwise by value, comparing the hash of the result.
    fn way_back(&self, workspace: &Workspace<'_>, beside: &LoggedSession<'_>) -> Result<WayBack, PlanError> {
        if workspace.draft(Some(self.store), self.now)?.return_to(0)?.is_none() {
            return Ok(WayBack::Exact);
        }
        let Some(edits) = beside.back_to(0)? else {
            return Ok(WayBack::Refused("a row that the log names is no longer in the file".to_owned()));
        };
        let mut draft = workspace.draft(Some(self.store), self.now)?;
        draft.revert(edits.clone(), Vec::new())?;
        let drafted = draft.finish(OperationKind::Undo, "", None, &|hash| self.cache.count(hash), false)?;
        let original = beside.hash_after(&edits, None);
        let same = original.is_some() && beside.hash_after(&drafted.plan.edits, None) == original;
        Ok(if same && first_state_is_known(beside)? { WayBack::Exact } else { WayBack::Values })
    }
}

fn lost(history: &History, sound: &BTreeSet<Address>) -> Vec<(OperationId, usize)> {
    let missing = |operation: &Operation| {
        let hunks = operation.delta.iter().flat_map(|delta| &delta.hunks).flat_map(|hunk| [hunk.before, hunk.after]);
        let values = operation.edits.iter().flat_map(|edit| [edit.before, edit.after]).chain(hunks).flatten();
        let values: BTreeSet<Address> = values.collect();
        (operation.id, values.difference(sound).count())
    };
    history.operations.iter().map(missing).filter(|(_, missing)| *missing > 0).collect()
}

fn nothing_left(history: &History, bytes: &[u8]) -> WayBack {
    let original = history.state_at(0);
    let is_original = |(length, hash): (u64, Address)| {
        let head = usize::try_from(length).ok().and_then(|length| bytes.get(..length));
        head.is_some_and(|head| *blake3::hash(head).as_bytes() == hash)
    };
    if original.is_none_or(is_original) {
        return WayBack::Nothing;
    }
    WayBack::Refused("every change was undone, but the file does not begin with the original".to_owned())
}

/// Returns true if the file, reverted to the first logged state that can be computed, has the bytes that the log recorded for it.
/// Reverting the values from there then restores the original.
fn first_state_is_known(beside: &LoggedSession<'_>) -> Result<bool, OriginalError> {
    for operation in beside.operations {
        let (Some(bytes), Some(hash)) = (operation.after_bytes, operation.after_hash) else { continue };
        if let Some(edits) = beside.back_to(operation.id)? {
            return Ok(beside.hash_after(&edits, Some(bytes)) == Some(hash));
        }
    }
    Ok(false)
}
