//! Commands that ran on many sessions.

use super::words::BulkOutcome;
use super::{Tokens, estimated};
use crate::output;

json_objects! {
    /// A command that ran on many sessions (`--all`, `--project`), or its dry run.
    Bulk from report: output::BulkReport {
        /// Command, such as `compress`.
        command: String = report.command,
        /// True if this is a dry run.
        dry_run: bool = report.dry_run,
        /// True if the run was interrupted, so that some sessions were not started.
        interrupted: bool = report.totals().not_started > 0,
        /// Sums over all sessions.
        totals: BulkTotals = report.totals(),
        /// Sessions: the changed ones first, the largest saving first.
        sessions: Vec<BulkSession> = report.sessions,
    }

    /// The sums over all sessions of a run.
    BulkTotals from totals: output::BulkTotals {
        /// Number of sessions.
        sessions: u64 = totals.sessions,
        /// Number of sessions that were changed or, in a dry run, would be.
        changed: u64 = totals.changed,
        /// Number of files that were written.
        written: u64 = totals.written,
        /// Number of skipped sessions.
        skipped: u64 = totals.skipped,
        /// Number of sessions for which the command failed.
        failed: u64 = totals.failed,
        /// Number of sessions that were not started.
        not_started: u64 = totals.not_started,
        /// Number of sessions with nothing to do.
        unchanged: u64 = totals.unchanged,
        /// Tokens of the windows of the changed sessions before.
        tokens_before: Tokens = estimated(totals.tokens_before),
        /// Tokens of these windows after.
        tokens_after: Tokens = estimated(totals.tokens_after),
        /// Size of the files that were written.
        bytes: u64 ["bytes"] = totals.bytes,
    }

    /// A session in the report of a command that ran on many.
    BulkSession from row: output::BulkRow {
        /// Session id; the name of the file if it cannot be read.
        session: String = row.session,
        /// Provider, such as `claude-code`; empty if the file cannot be read.
        provider: String = row.provider,
        /// Session file.
        path: String = row.path,
        /// Title, or the first prompt; may be empty.
        title: String = row.title,
        /// Outcome.
        outcome: BulkOutcome = row.outcome,
        /// Changed objects, such as `12 blocks`; null if nothing was changed.
        what: Option<String> = row.what,
        /// Tokens of the window before; null if nothing was changed.
        tokens_before: Option<Tokens> = row.tokens_before.map(estimated),
        /// Tokens of the window after; null if nothing was changed.
        tokens_after: Option<Tokens> = row.tokens_after.map(estimated),
        /// Operation in the log; null if nothing was written, or if it cannot be undone.
        operation: Option<u32> = row.operation,
        /// Command that undoes the operation.
        undo: Option<String> = row.undo,
        /// File that was written, or that has the same content already.
        file: Option<String> = row.file,
        /// Size of this file.
        bytes: Option<u64> ["bytes"] = row.bytes,
        /// Reason why the session was skipped, failed or was not changed.
        reason: Option<String> = row.reason,
    }
}
