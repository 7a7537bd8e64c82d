//! `aperture gc`: deletes stored data that is no longer needed.

use crate::app::{CommandError, Env};
use crate::engine::{Forgettable, forgettable};
use crate::model::{History, Proposal, ProposalStatus};
use crate::output::{ForgettableSession, GcReport};
use crate::store::{SessionKey, Store, StoreError, StoredSession};
use crate::workspace;
use std::collections::BTreeSet;
use std::io;

/// Arguments of `gc`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture gc                          what could be forgotten
  aperture gc --older-than 30d --gone  also sessions whose file was deleted
  aperture gc --yes                    forget it

Forgotten are sessions in which everything was undone and, with --gone, those whose file is gone, once their last
operation is older than the retention; and values that no log needs. A session with anything in force whose file is
there is never touched. What is forgotten can be neither undone nor recalled: aperture export keeps it elsewhere.")]
pub struct Arguments {
    /// How old the last operation of a session has to be: hours, days or weeks
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = retention)]
    older_than: i64,
    /// Also sessions whose file is gone
    #[arg(long)]
    gone: bool,
    /// Only list, which is also what happens without --yes
    #[arg(short = 'n', long, conflicts_with = "yes")]
    dry_run: bool,
    /// Delete what is listed
    #[arg(long)]
    yes: bool,
}

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
            last: history.operations.last().map(|operation| operation.time),
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
        env.note(&format!("no session counts as gone, because not all can be seen: {unread}"));
        return None;
    }
    Some(found.into_iter().map(|(found, _)| found.location.id).collect())
}

fn decide(
    env: &Env,
    arguments: &Arguments,
    store: &Store,
    stored: &StoredSession,
    ids: &Option<BTreeSet<String>>,
) -> Result<Option<(Forgettable, History)>, StoreError> {
    let missing = env.disk.identify(&stored.path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
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

/// Parses a duration such as `90d` and returns milliseconds.
fn retention(text: &str) -> Result<i64, String> {
    let hours = [('h', 1), ('d', 24), ('w', 7 * 24)];
    let time = hours.iter().find_map(|(unit, hours)| {
        let number: i64 = text.strip_suffix(*unit)?.parse().ok().filter(|number| *number >= 0)?;
        number.checked_mul(hours * 3_600_000)
    });
    time.ok_or_else(|| "a time is written as 12h, 90d or 8w".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let check = |text, expected: Option<i64>| assert_eq!(retention(text).ok(), expected, "{text}");
        check("90d", Some(90 * 86_400_000));
        check("0d", Some(0));
        check("12h", Some(12 * 3_600_000));
        check("8w", Some(56 * 86_400_000));
        for wrong in ["", "d", "90", "-1d", "1.5d", "90 d", "99999999999999999d", "1é"] {
            check(wrong, None);
        }
    }
}
