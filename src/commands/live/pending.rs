//! Decides which changes of a session file the client that has the session open has not loaded.
//!
//! A client reads the session file when it starts with the session and at `/resume`; in between it sends the copy in its memory. So
//! an operation on a file that a client has open is *pending*, and takes effect only when the file is read again. The rule, from
//! facts in the store, the registry of the client, and the session file:
//!
//! - The store has the process that had the session open when the operation changed the file. An operation on a closed session is
//!   in effect at once.
//! - It is in effect from the first `SessionStart` event after it, except one whose source is `compact`: a compaction does not read
//!   the file. A client sends the event also for a `/resume` of the session that it has open.
//! - Without that event, for example if the hooks are not installed, it is in effect as soon as the process has ended or has
//!   another session open: every later client reads the file first.
//! - A compaction by the client itself replaces the conversation in its memory. Older operations are then no longer pending, because
//!   almost all blocks that they changed are no longer sent in either form.
//!
//! If several clients have the session open, the first one in the registry counts.

use crate::app::{CommandError, Env};
use crate::commands::change::pipeline::{clients, is_proxied};
use crate::model::{History, Operation, OperationId, RowKind, Session};
use crate::output::PendingChanges;
use crate::store::{LiveOperation, SessionKey};
use crate::workspace::{Found, Workspace};

/// When an operation takes effect in the requests of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// From this time on, in milliseconds since 1970, UTC.
    Since(i64),
    /// The client has not read the file since.
    Pending,
    /// The client that had the session open has ended or left the session.
    Closed,
    /// The client has compacted the session since.
    Compacted,
}

/// The operations on a session that a client had open, and the state of that client.
#[derive(Clone, Debug, Default)]
pub struct LiveChanges {
    session: Option<SessionKey>,
    operations: Vec<LiveOperation>,
    processes: Vec<u32>,
    /// The time of the last compaction by the client.
    compacted: Option<i64>,
    /// True if a proxy makes the changes in the requests of the client.
    is_proxied: bool,
}

impl LiveChanges {
    /// Reads them. Without the rows of the session, compactions are not taken into account.
    pub fn read(env: &Env, found: &Found, rows: Option<&Session>) -> Result<LiveChanges, CommandError> {
        let Some(store) = env.existing_store()? else { return Ok(LiveChanges::default()) };
        let Some(known) = store.find(&env.disk.resolve(&found.path)?)? else { return Ok(LiveChanges::default()) };
        let operations = store.live_operations(known.key)?;
        if operations.is_empty() {
            return Ok(LiveChanges::default());
        }
        let compacted = rows.and_then(|session| {
            let boundary = session.rows.iter().rev().find(|row| row.kind == RowKind::Boundary);
            boundary.and_then(|row| row.timestamp)
        });
        let (processes, is_proxied) = (clients(env, found), is_proxied(env, found));
        Ok(LiveChanges { session: Some(known.key), operations, processes, compacted, is_proxied })
    }

    pub fn effect(&self, operation: &Operation) -> Effect {
        let Some(live) = self.operations.iter().find(|live| live.operation == operation.id) else {
            return Effect::Since(operation.time);
        };
        match live.loaded {
            Some(loaded) => Effect::Since(loaded),
            None if self.compacted.is_some_and(|compacted| compacted > operation.time) => Effect::Compacted,
            None if !self.processes.contains(&live.process) => Effect::Closed,
            None if self.is_proxied => Effect::Since(operation.time),
            None => Effect::Pending,
        }
    }

    /// Returns true if a client had the session open at an operation, and no proxy makes the change in its requests.
    pub fn is_live(&self, operation: OperationId) -> bool {
        let is_proxied = self.is_proxied && self.is_unread(operation);
        !is_proxied && self.operations.iter().any(|live| live.operation == operation)
    }

    /// Returns true if the client that had the session open at an operation still has it open, and has not read the file since.
    pub fn is_unread(&self, operation: OperationId) -> bool {
        let mut unread = self.operations.iter().filter(|live| live.loaded.is_none() && self.processes.contains(&live.process));
        unread.any(|live| live.operation == operation)
    }

    /// Returns the pending operations, oldest first, without those that other pending ones undo.
    pub fn pending<'a>(&self, history: &'a History) -> Vec<&'a Operation> {
        let pending = history.operations.iter().filter(|operation| self.effect(operation) == Effect::Pending);
        History::net(&pending.collect::<Vec<_>>())
    }

    /// Records that the operations of a client that has ended are in effect from now on.
    pub fn settle_closed(&mut self, env: &Env, history: &History) -> Result<(), CommandError> {
        let closed = history.operations.iter().rev().find(|operation| self.effect(operation) == Effect::Closed);
        let (Some(closed), Some(session)) = (closed.map(|operation| operation.id), self.session) else { return Ok(()) };
        let (store, now) = (env.store()?, env.style.now.as_millisecond());
        store.record_loaded(session, closed, now)?;
        self.operations = store.live_operations(session)?;
        Ok(())
    }
}

/// Records that a client has just read the session file.
pub fn record_loaded(env: &Env, workspace: &Workspace<'_>) -> Result<(), CommandError> {
    let live = LiveChanges::read(env, &found(workspace), None)?;
    let (Some(session), Some(last)) = (live.session, live.operations.last()) else { return Ok(()) };
    Ok(env.store()?.record_loaded(session, last.operation, env.style.now.as_millisecond())?)
}

/// Returns the changes of an open session that the client has not loaded; `None` if there are none or they cannot be determined.
pub fn changes(env: &Env, workspace: &Workspace<'_>) -> Option<PendingChanges> {
    let live = LiveChanges::read(env, &found(workspace), Some(&workspace.reading.session)).ok()?;
    report(&live.pending(&workspace.history), &workspace.location.id)
}

/// Returns the place of a session that was read.
pub fn found(workspace: &Workspace<'_>) -> Found {
    let Workspace { provider, path, location, .. } = workspace;
    Found { provider: *provider, path: path.clone(), location: location.clone() }
}

/// Returns the same for a session that is not read.
pub fn changes_unread(env: &Env, found: &Found) -> Option<PendingChanges> {
    let live = LiveChanges::read(env, found, None).ok().filter(|live| !live.operations.is_empty())?;
    report(&live.pending(&env.history_of(found).ok()?), &found.location.id)
}

fn report(pending: &[&Operation], session: &str) -> Option<PendingChanges> {
    let saved = pending.iter().map(|operation| operation.tokens_before - operation.tokens_after).sum();
    let operations: Vec<OperationId> = pending.iter().map(|operation| operation.id).collect();
    (!operations.is_empty()).then(|| PendingChanges { session: session.to_owned(), operations, saved_tokens: saved })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::OperationKind::{Change, Undo};

    fn live(operations: &[(OperationId, Option<i64>)], processes: &[u32], compacted: Option<i64>) -> LiveChanges {
        let operations =
            operations.iter().map(|(operation, loaded)| LiveOperation { operation: *operation, process: 7, loaded: *loaded });
        LiveChanges {
            session: None,
            operations: operations.collect(),
            processes: processes.to_vec(),
            compacted,
            is_proxied: false,
        }
    }

    #[test]
    fn an_operation_takes_effect_when_the_file_is_read() {
        let operation = Operation { id: 1, kind: Change, time: 100, ..Operation::default() };
        for (changes, expected) in [
            (live(&[], &[7], None), Effect::Since(100)),
            (live(&[(1, None)], &[7], None), Effect::Pending),
            (live(&[(1, Some(150))], &[7], None), Effect::Since(150)),
            (live(&[(1, None)], &[], None), Effect::Closed),
            (live(&[(1, None)], &[8], None), Effect::Closed),
            (live(&[(1, None)], &[7], Some(50)), Effect::Pending),
            (live(&[(1, None)], &[7], Some(150)), Effect::Compacted),
        ] {
            assert_eq!(changes.effect(&operation), expected, "{changes:?}");
        }
    }

    #[test]
    fn an_undone_change_is_not_pending() {
        let change = Operation { id: 1, kind: Change, tokens_before: 100.0, tokens_after: 40.0, ..Operation::default() };
        let undo =
            Operation { id: 2, kind: Undo, tokens_before: 40.0, tokens_after: 100.0, point: Some(0), ..Operation::default() };
        let history = History { operations: vec![change, undo], ..History::default() };
        let pending = |changes: &LiveChanges| report(&changes.pending(&history), "s").map(|changes| changes.saved_tokens);
        assert_eq!(pending(&live(&[(1, None), (2, None)], &[7], None)), None);
        // The client has loaded the change: the undo is pending.
        assert_eq!(pending(&live(&[(1, Some(5)), (2, None)], &[7], None)), Some(-60.0));
    }
}
