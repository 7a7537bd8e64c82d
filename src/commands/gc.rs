//! `aperture gc`: deletes stored data that is no longer needed.

use crate::app::{CommandError, Env};
use crate::engine::{Forgettable, forgettable};
use crate::model::{As, History, Proposal, ProposalStatus, Time, request_id};
use crate::output::{Paint, Report, Style, age, bytes, clip, plural, short_id};
use crate::store::{SessionKey, Store, StoreError, StoredSession};
use crate::workspace;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("gc"))]
pub struct Arguments {
    /// Minimum age of the last operation of a session, in hours, days or weeks
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = retention)]
    #[serde(serialize_with = "hours")]
    pub older_than: i64,
    /// Also sessions whose file no longer exists
    #[arg(long)]
    pub gone: bool,
    /// Only list; the default without --yes
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Delete the listed sessions and originals
    #[arg(long)]
    pub yes: bool,
}

/// Serializes a number of milliseconds, which is that of whole hours, as `2160h`.
pub fn hours<S: serde::Serializer>(milliseconds: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}h", milliseconds / 3_600_000))
}

/// Parses a duration such as `90d` and returns milliseconds.
pub fn retention(text: &str) -> Result<i64, String> {
    let hours = [('h', 1), ('d', 24), ('w', 7 * 24)];
    let time = hours.iter().find_map(|(unit, hours)| {
        let number: i64 = text.strip_suffix(*unit)?.parse().ok().filter(|number| *number >= 0)?;
        number.checked_mul(hours * 3_600_000)
    });
    time.ok_or_else(|| "write an age as 12h, 90d or 8w".to_owned())
}

/// A session whose data may be deleted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForgettableSession {
    pub session: String,
    pub path: String,
    pub why: Forgettable,
    /// Number of operations in the log.
    pub operations: usize,
    #[serde(with = "As::<Option<Time>>")]
    pub last_operation_time: Option<i64>,
}

/// The deletion of unreferenced data, or its dry run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct GcReport {
    /// True if data was deleted; false for a dry run.
    pub done: bool,
    /// Sessions whose data is deleted.
    pub sessions: Vec<ForgettableSession>,
    /// Number of old sessions whose file is gone and whose data is kept without `--gone`.
    pub gone_kept: usize,
    /// Number of whole results of tools that were trimmed in sessions whose file is gone.
    pub results: usize,
    /// Size of these.
    pub result_bytes: u64,
    /// Number of such results that are kept without `--gone`.
    pub results_kept: usize,
    /// Number of values that no log needs.
    pub originals: u64,
    /// Size of these values in the store.
    pub original_bytes: u64,
    /// Decrease in the size of the store.
    pub freed_bytes: u64,
}

impl Report for GcReport {
    const SCHEMA: &str = "aperture.gc/2";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for session in &self.sessions {
            let age = session.last_operation_time.map_or_else(|| "never".to_owned(), |last| age(style.now, last));
            let facts = format!("{:<6} {}: {}", age, plural(session.operations, "operation"), session.why.reason());
            let id = style.paint(Paint::Name, &format!("{:<11}", short_id(&session.session)));
            text.push_str(&format!("{id} {}\n", clip(&facts, style.width.saturating_sub(12))));
        }
        let mut what = format!(
            "{}, {} ({})",
            plural(self.sessions.len(), "session"),
            plural(usize::try_from(self.originals).unwrap_or(usize::MAX), "original"),
            bytes(self.original_bytes)
        );
        if self.results > 0 {
            what.push_str(&format!(", {} ({})", plural(self.results, "whole result"), bytes(self.result_bytes)));
        }
        if self.sessions.is_empty() && self.originals == 0 && self.results == 0 {
            text.push_str("nothing to delete\n");
        } else if self.done {
            text.push_str(&format!("deleted {what}; {} freed\n", bytes(self.freed_bytes)));
        } else {
            text.push_str(&format!("would delete {what}: undo and recall would no longer be possible\n"));
            text.push_str("nothing was deleted: this is a dry run; to delete: --yes\n");
        }
        let of_gone = [(self.gone_kept, "session"), (self.results_kept, "whole result")];
        let kept = of_gone.iter().filter(|(count, _)| *count > 0).map(|(count, what)| plural(*count, what)).collect::<Vec<_>>();
        if !kept.is_empty() {
            let kept = kept.join(", ");
            text.push_str(&style.paint(Paint::Dim, &format!("kept: {kept} without a file; to delete these too: --gone\n")));
        }
        text
    }
}

/// Lists the sessions that can be deleted from the store, and deletes them with `--yes`.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let delete = arguments.yes && !arguments.dry_run;
    let mut report = GcReport { done: delete, ..GcReport::default() };
    let ids = known_ids(env);
    collect_results(env, arguments, &ids, &mut report)?;
    let Some(store) = env.existing_store()? else { return env.print(&report) };
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

/// Counts the old whole results of sessions that are gone, and deletes them.
fn collect_results(
    env: &Env,
    arguments: &Arguments,
    ids: &Option<BTreeSet<String>>,
    report: &mut GcReport,
) -> Result<(), CommandError> {
    let Some(ids) = ids else { return Ok(()) };
    let oldest = i128::from(env.style.now.as_millisecond() - arguments.older_than) * 1_000_000;
    let mut results = env.results()?;
    results.retain(|result| result.identity.modified <= oldest && !ids.iter().any(|id| result.is_of(id)));
    if !arguments.gone {
        report.results_kept = results.len();
        return Ok(());
    }
    report.results = results.len();
    report.result_bytes = results.iter().map(|result| result.identity.bytes).sum();
    if report.done { env.delete_results(&results) } else { Ok(()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::DAY_MILLISECONDS;

    #[test]
    fn times_are_read() {
        let check = |text, expected: Option<i64>| assert_eq!(retention(text).ok(), expected, "{text}");
        check("90d", Some(90 * DAY_MILLISECONDS));
        check("0d", Some(0));
        check("12h", Some(12 * 3_600_000));
        check("8w", Some(56 * DAY_MILLISECONDS));
        for wrong in ["", "d", "90", "-1d", "1.5d", "90 d", "99999999999999999d", "1é"] {
            check(wrong, None);
        }
    }
}
