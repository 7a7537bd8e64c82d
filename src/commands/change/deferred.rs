//! Operations on sessions whose client holds the file: they are logged and act on requests at once, and are written to the file when
//! the client has closed it.

use super::pipeline::is_proxied;
use crate::app::{CommandError, Env, ErrorKind, refusal, wait};
use crate::model::{NewContent, OperationId, Plan};
use crate::output::{ChangeDetail, ChangeReport};
use crate::store::{SessionKey, Store};
use crate::workspace::{self, ApplyError, Found, PlanError, Workspace, Writer};
use anyhow::anyhow;
use std::collections::BTreeSet;

/// Returns the error for a session whose client holds the file.
pub fn held_by_client(found: &Found) -> CommandError {
    let error = anyhow!("a client has the session {} open and continues to write to it", found.location.id);
    CommandError::new(ErrorKind::Conflict, error).hint("close the client, then try again")
}

/// Logs a plan that is written later; returns the number of the operation.
/// Errors: the requests of the session pass no proxy, or the plan cannot be made again from its contents.
pub fn defer(
    env: &Env,
    found: &Found,
    workspace: &Workspace<'_>,
    store: &Store,
    key: SessionKey,
    plan: &Plan,
) -> Result<OperationId, CommandError> {
    if !is_proxied(env, found) || plan.reversal.is_some() || !is_repeatable(env, workspace, store, plan)? {
        return Err(held_by_client(found));
    }
    // The plan is made for the file, which has no deferred operation yet.
    for operation in store.deferred(key)? {
        let (edits, window) = (store.block_edits(key, operation.id)?, store.window_change(key, operation.id)?);
        let known: BTreeSet<_> = edits.iter().map(|edit| edit.content).collect();
        let overlaps = plan.block_edits.iter().any(|edit| known.contains(&edit.content));
        if overlaps || window.is_some() || plan.window.is_some() {
            let agent = workspace.provider.agent();
            let error =
                anyhow!("operation {} is not yet in the file: it is written when {agent} closes the session", operation.id);
            return Err(CommandError::new(ErrorKind::Conflict, error)
                .hint("close the client, or undo that operation first: aperture undo"));
        }
    }
    Ok(store.defer(key, plan, env.style.now.as_millisecond())?)
}

/// Returns true if a plan follows from the contents that it changes.
fn is_repeatable(env: &Env, workspace: &Workspace<'_>, store: &Store, plan: &Plan) -> Result<bool, CommandError> {
    let mut draft = workspace.draft(Some(store), env.style.now.as_millisecond())?;
    if draft.replay(&plan.block_edits, plan.window.as_ref(), &plan.marks).is_err() {
        return Ok(false);
    }
    let Ok(again) = draft.finish(plan.kind, &plan.command, None, &|_| None, false) else { return Ok(false) };
    let again = again.into_plan();
    let texts = |plan: &Plan| -> Vec<String> {
        let hunks = plan.window.iter().flat_map(|window| &window.hunks).flat_map(|hunk| &hunk.after);
        hunks.filter_map(|content| if let NewContent::Text(_, text) = content { Some(text.clone()) } else { None }).collect()
    };
    Ok(again.block_edits == plan.block_edits && texts(&again) == texts(plan) && again.slots().count() == plan.slots().count())
}

/// Writes the deferred operations of a session whose file no client holds. The caller has the locks of the session. An operation whose
/// contents the file no longer has is dropped with those after it, and reported.
/// Errors: the session, the store or the disk failed; the operations stay deferred.
pub fn write(env: &Env, store: &Store, found: &Found) -> Result<(), CommandError> {
    let Some(session) = store.find(&env.disk.resolve(&found.path)?)? else { return Ok(()) };
    let (cache, now) = (env.cache(), env.style.now.as_millisecond());
    for operation in store.deferred(session.key)? {
        let workspace = env.read(found.clone())?;
        let (edits, window) = (store.block_edits(session.key, operation.id)?, store.window_change(session.key, operation.id)?);
        let mut draft = workspace.draft(Some(store), now)?;
        let planned = draft
            .replay(&edits, window.as_ref(), &operation.marks)
            .and_then(|()| draft.finish(operation.kind, &operation.command, None, &|hash| cache.count(hash), false));
        let plan = match planned {
            Ok(drafted) => Plan { actor: operation.actor, ..drafted.into_plan() },
            Err(error @ (PlanError::Io(_) | PlanError::Originals(_))) => return Err(error.into()),
            Err(error) => {
                store.drop_deferred(session.key, operation.id, now)?;
                env.note(&format!("operation {} was not written to the session {}: {error}", operation.id, found.location.id));
                return Ok(());
            }
        };
        match workspace::apply(&workspace, store, session.key, &plan, Some(operation.id), now, &wait) {
            Ok(applied) => applied.note().into_iter().for_each(|note| env.note(note)),
            // The client, or a command with another store, writes to it again.
            Err(ApplyError::Changed | ApplyError::Locked | ApplyError::MovedOn) => return Ok(()),
            Err(ApplyError::HalfWritten | ApplyError::HeldOpen(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes the deferred operations of all sessions that their clients have closed.
/// Errors: the store cannot be read, or an operation cannot be written.
pub fn write_all(env: &Env) -> Result<(), CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(()) };
    for session in store.deferred_sessions()? {
        // A file that is gone keeps its log, and a newer aperture writes those of a client that this one does not know.
        let Ok(found) = workspace::found(&session) else { continue };
        if env.disk.identify(&found.path).is_err() {
            continue;
        }
        let lock = env.lock(&session.path)?;
        let writer = workspace::take_writer(env.disk, found.provider, &session.path, &wait);
        if matches!(writer, Ok(Writer::Held(_) | Writer::Unlocked)) {
            workspace::settle(env.disk, &store, &session.path)?;
            write(&env.on(&session.path, "aperture"), &store, &found)?;
        }
        drop(lock);
    }
    Ok(())
}

/// Returns the number of operations of a session that are not yet in its file; 0 if it cannot be determined.
pub fn count(env: &Env, found: &Found) -> usize {
    let count = || -> Result<usize, CommandError> {
        let Some(store) = env.existing_store()? else { return Ok(0) };
        let session = store.find(&env.disk.resolve(&found.path)?)?;
        session.map_or(Ok(0), |session| Ok(store.deferred(session.key)?.len()))
    };
    count().unwrap_or(0)
}

/// Drops the newest deferred operation of a session, which is not yet in its file; `None` if there is none, or if `wanted` is another
/// operation.
/// Errors: the store cannot be read or written, or a later operation is deferred too.
pub fn undo(env: &Env, wanted: Option<OperationId>, dry_run: bool) -> Result<Option<ChangeReport>, CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(None) };
    let found = env.find(None)?;
    let path = env.disk.resolve(&found.path)?;
    let Some(session) = store.find(&path)? else { return Ok(None) };
    let deferred = store.deferred(session.key)?;
    let Some(last) = deferred.last() else { return Ok(None) };
    match wanted {
        Some(wanted) if wanted == last.id => {}
        Some(wanted) if deferred.iter().any(|operation| operation.id == wanted) => {
            return Err(refusal!("operation {} is deferred too, and must be undone first", last.id)
                .hint(format!("aperture undo {}", last.id)));
        }
        Some(_) => return Ok(None),
        None => {}
    }
    if !dry_run {
        let _lock = env.lock(&path)?;
        store.drop_deferred(session.key, last.id, env.style.now.as_millisecond())?;
    }
    let mut report = ChangeReport::dropped(found.location.id.clone(), env.name_of(&found.path, &found.location.id), last);
    report.dry_run = dry_run;
    report.detail = ChangeDetail::Table;
    Ok(Some(report))
}
