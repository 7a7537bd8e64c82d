use super::Arguments;
use super::report::{ForgettableSession, GcReport};
use crate::app::{CommandError, Env};
use crate::engine::{Forgettable, forgettable};
use crate::model::{History, Proposal, ProposalStatus, request_id};
use crate::store::{SessionKey, Store, StoreError, StoredSession};
use crate::workspace;
use std::collections::BTreeSet;
use std::io;

/// Lists the sessions that can be deleted from the store, and deletes them with `--yes`.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let delete = arguments.yes && !arguments.dry_run;
    let mut report =
        GcReport { done: delete, sessions: Vec::new(), gone_kept: 0, originals: 0, original_bytes: 0, freed_bytes: 0 };
    let Some(store) = env.existing_store()? else { return env.print(&report) };
    let ids = known_ids(env);
    let mut keys: Vec<SessionKey> = Vec::new();
    for stored in store.sessions()? {
        let Some((why, history)) = decide(env, arguments, &store, &stored, &ids)? else { continue };
        if why == Forgettable::FileGone && !arguments.gone {
            report.gone_kept += 1;
            continue;
        }
        keys.push(stored.key);
        report.sessions.push(ForgettableSession {
            session: stored.session,
            path: stored.path.display().to_string(),
            why,
            operations: history.operations.len(),
            last_operation_time: history.operations.last().map(|operation| operation.time),
        });
    }
    (report.originals, report.original_bytes) = store.unneeded(&keys)?;
    if delete {
        let before = store.size()?.1;
        let all = store.sessions()?;
        for stored in all.iter().filter(|stored| keys.contains(&stored.key)) {
            // Another command may have changed the session since it was listed.
            let _lock = env.lock(&stored.path)?;
            if decide(env, arguments, &store, stored, &ids)?.is_some() {
                store.forget(stored.key)?;
            }
        }
        store.sweep()?;
        store.shrink()?;
        report.freed_bytes = before.saturating_sub(store.size()?.1);
    }
    env.print(&report)
}

/// Returns the ids of all sessions on this machine, because a session file that was moved is not gone. `None` if a directory cannot
/// be read, because the list would be incomplete.
fn known_ids(env: &Env) -> Option<BTreeSet<String>> {
    let mut unread = None;
    let found =
        workspace::find_all(env.disk, &env.places, &mut |path, error| unread = Some(format!("{}: {error}", path.display())));
    if let Some(unread) = unread {
        env.note(&format!("no session counts as deleted, because a directory cannot be read: {unread}"));
        return None;
    }
    // A kept session can be restored.
    let kept = env.kept().map(|copies| copies.all()).unwrap_or_default();
    Some(found.into_iter().chain(kept).map(|(found, _)| found.location.id).collect())
}

fn decide(
    env: &Env,
    arguments: &Arguments,
    store: &Store,
    stored: &StoredSession,
    ids: &Option<BTreeSet<String>>,
) -> Result<Option<(Forgettable, History)>, StoreError> {
    // A session that is only in requests can continue at any time.
    let has_file = request_id(&stored.path).is_none();
    let missing = has_file && env.disk.identify(&stored.path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let gone = missing && ids.as_ref().is_some_and(|ids| !ids.contains(&stored.session));
    let history = store.history(stored.key)?;
    let interrupted = !store.prepared(stored.key)?.is_empty();
    let now = env.style.now.as_millisecond();
    // A proposal prevents a second execution of its command only while it is stored.
    let asked = store.proposals(stored.key)?;
    let recent = |proposal: &Proposal| now.saturating_sub(proposal.time) < arguments.older_than;
    if asked.iter().any(|proposal| recent(proposal) || (proposal.status == ProposalStatus::Waiting && !gone)) {
        return Ok(None);
    }
    // A session that was only registered takes no space, and its client may continue it.
    if asked.is_empty() && history.operations.is_empty() && history.snapshots.is_empty() && !interrupted && !missing {
        return Ok(None);
    }
    // If the file was moved, its operations cannot be checked: treat the session as interrupted.
    let why = forgettable(&history, gone, interrupted || (missing && !gone), now, arguments.older_than);
    Ok(why.map(|why| (why, history)))
}
