//! Sessions and their windows.

use super::changes::Suggestion;
use super::manifest::{BlockSummary, Hidden};
use super::words::{CapacitySource, Fault};
use super::{Moment, Number, Time, Tokens, estimated, measured};
use crate::{engine, model, output};

json_objects! {
    /// The sessions on this machine.
    Sessions from report: output::SessionsReport {
        /// Sessions, in the requested order.
        sessions: Vec<Session> = report.sessions,
        /// Number of sessions beyond the limit of the list.
        left_out: u64 = report.left_out,
    }

    /// A session in the list.
    Session from row: output::SessionRow {
        /// Provider, such as `claude-code`.
        provider: String = row.provider,
        /// Session id.
        id: String = row.id,
        /// Session file.
        path: String = row.path,
        /// Project: the directory in which the session began.
        project: String = row.project,
        /// Title, or the first prompt.
        title: String = row.title,
        /// Model of the last response.
        model: String = row.model,
        /// Time of the newest row, or of the last change of the file if no row has a time.
        last_written_time: Time = Moment(row.last_written),
        /// Time of the last change of the file.
        modified_time: Time = Moment(row.modified),
        /// Tokens of the window.
        tokens: Tokens = row.tokens,
        /// Size of the window.
        capacity_tokens: u64 ["tokens"] = row.capacity_tokens,
        /// Share of the window that is in use.
        percent: Number ["percent"] = row.percent,
        /// Size of the file.
        bytes: u64 ["bytes"] = row.bytes,
        /// Number of prompts.
        turns: u32 ["turns"] = row.turns,
        /// Number of responses of the model.
        steps: u32 ["steps"] = row.steps,
        /// Number of compactions.
        compactions: u32 = row.compactions,
        /// Output tokens of all responses.
        output_tokens: Tokens = measured(row.output_tokens),
        /// True if a running agent program has the session open.
        open: bool = row.open,
        /// True if it is the session of a subagent.
        subagent: bool = row.subagent,
    }

    /// The state of a session and its window.
    Status from report: output::StatusReport {
        /// Session id.
        session: String = report.session,
        /// Provider, such as `claude-code`.
        provider: String = report.provider,
        /// Session file.
        path: String = report.path,
        /// Project directory.
        project: String = report.project,
        /// Title, or the first prompt.
        title: String = report.title,
        /// Model of the last response.
        model: String = report.model,
        /// Version of the agent program that wrote last.
        version: String = report.version,
        /// Time of the last row.
        last_written_time: Option<Time> = report.last_written.map(Moment),
        /// True if a running agent program has the session open.
        open: bool = report.open,
        /// Changes of the session file that the agent program has not loaded; null if there are none.
        pending: Option<PendingChanges> = report.pending,
        /// Number of operations that are in force in requests, and are written to the file when the agent program has closed it.
        deferred_operations: u64 = report.deferred,
        /// Reason why a proxy sends the requests of the session unchanged; null unless the API refused changed ones.
        refused: Option<String> = report.refused,
        /// Operations that are in force, but not in effect: the last request through a proxy did not have their contents.
        unapplied_operations: Vec<u32> = report.unapplied,
        /// Reason why new changes wait: a running proxy cannot use the store; null if it can.
        store_fault: Option<String> = report.store_fault,
        /// Changes by the model in the last turn, as a sentence; null if there are none.
        activity: Option<String> = report.activity,
        /// Id of the session that this one was forked from.
        forked_from: Option<String> = report.forked_from,
        /// Tokens of the window.
        tokens: Tokens = report.tokens,
        /// Size of the window.
        capacity_tokens: u64 ["tokens"] = report.capacity.tokens,
        /// Source of the window size.
        capacity_source: CapacitySource = report.capacity.source,
        /// Tokens at the end of the window that the agent program keeps free: it compacts by itself before they are used; 0 if unknown.
        reserve_tokens: u64 ["tokens"] = report.capacity.reserve,
        /// Free part of the window, without the reserve.
        remaining_tokens: u64 ["tokens"] = report.capacity.free(report.tokens.round()),
        /// Share of the window that is in use.
        percent: Number ["percent"] = report.percent,
        /// Billed input tokens of the last response; null if the window was changed since.
        billed_tokens: Option<Tokens> = report.measured.map(measured),
        /// True if the window was changed since the last bill, so that its size is an estimate.
        changed_since_bill: bool = report.changed_since_bill,
        /// Tokens that are sent and not in the file, such as the system prompt.
        outside_tokens: Tokens = report.outside,
        /// Tokens that the agent program adds by itself, by part: `prompt`, `tools`, `MCP`, `skills`, `memory`; `other` is the rest of
        /// what is not in the file. Estimates; empty if no part is known.
        client_parts: Vec<Share> = report.client_parts,
        /// Errors of the estimates, compared with the bills of the session.
        accuracy: Accuracy = report.accuracy,
        /// Blocks by zone.
        zones: Vec<Share> = report.zones,
        /// Blocks of the window by kind.
        kinds: Vec<Share> = report.kinds,
        /// Blocks of the window by tool, calls and results together.
        tools: Vec<Share> = report.tools,
        /// Blocks of the window by file, the largest first.
        files: Vec<Share> = report.files,
        /// Stale blocks of the window.
        stale: Share = report.stale,
        /// Stale blocks that a later block supersedes.
        superseded: Share = report.superseded,
        /// Older blocks that are not stale.
        aging: Share = report.aging,
        /// Largest stale blocks.
        largest_stale: Vec<BlockSummary> = report.largest_stale,
        /// Suggested commands.
        suggestions: Vec<Suggestion> = report.suggestions,
        /// Blocks of the file that are not in the window.
        hidden: Hidden = report.hidden,
        /// Size of the file.
        bytes: u64 ["bytes"] = report.bytes,
        /// Size of the content in the window.
        window_bytes: u64 ["bytes"] = report.window_bytes,
        /// Number of rows in the file.
        rows: u64 ["rows"] = report.rows,
        /// Number of turns.
        turns: u64 ["turns"] = report.turns,
        /// Number of responses of the model.
        steps: u32 ["steps"] = report.steps,
        /// Damage in the file.
        damage: Vec<FaultCount> = report.damage.iter().map(|(fault, count)| (*fault, *count)).collect::<Vec<_>>(),
    }

    /// A number of faults of one kind.
    FaultCount from pair: (model::Fault, u32) {
        /// Fault.
        fault: Fault = pair.0,
        /// Number of occurrences.
        count: u32 = pair.1,
    }

    /// A part of the window.
    Share from share: output::Share {
        /// Name of the part.
        name: String = share.name,
        /// Number of blocks.
        blocks: u32 = share.blocks,
        /// Cost.
        tokens: Tokens = share.tokens,
    }

    /// Relative errors of token estimates, from 0; null if there is nothing to compare.
    Accuracy from accuracy: engine::tokens::Accuracy {
        /// Number of steps that could be compared.
        steps: u32 ["steps"] = accuracy.steps,
        /// Median error of a step.
        step_median: Option<Number> ["ratio"] = accuracy.step_median,
        /// 90th percentile of the errors of steps.
        step_p90: Option<Number> ["ratio"] = accuracy.step_p90,
        /// Median error of a turn.
        turn_median: Option<Number> ["ratio"] = accuracy.turn_median,
        /// 90th percentile of the errors of turns.
        turn_p90: Option<Number> ["ratio"] = accuracy.turn_p90,
        /// Error of the sum over the blocks of the window, compared with the last bill.
        window_error: Option<Number> ["ratio"] = accuracy.window_error,
    }

    /// The line for the status line of an agent program.
    StatusLine from report: output::StatusLineReport {
        /// Tokens of the window.
        tokens: Tokens = report.used,
        /// Size of the window; 0 if it is unknown.
        capacity_tokens: u64 ["tokens"] = report.capacity,
        /// Tokens that are free until the agent program compacts by itself; null if its reserve is unknown.
        remaining_tokens: Option<u64> ["tokens"] = report.free,
        /// Changes of the session file that the agent program has not loaded; null if there are none.
        pending: Option<PendingChanges> = report.pending,
        /// Reason why a proxy sends the requests of the session unchanged; null unless the API refused changed ones.
        refused: Option<String> = report.refused,
        /// Changes by the model in the last turn, as a sentence; null if there are none.
        activity: Option<String> = report.activity,
        /// Number of stale blocks; null if the session was not read.
        stale_blocks: Option<u64> = report.stale_blocks,
        /// Tokens of the stale blocks.
        stale_tokens: Tokens = report.stale_tokens,
        /// Number of commands of the model that wait for the user.
        waiting: u64 = report.waiting,
    }

    /// Changes of a session file that the agent program that has the session open has not loaded: they take effect after `/resume`.
    PendingChanges from pending: output::PendingChanges {
        /// Session id, as `/resume` takes it.
        session: String = pending.session,
        /// Operations in the log, the oldest first.
        operations: Vec<u32> = pending.operations,
        /// Tokens that they save; negative if the window grows.
        saved_tokens: Tokens = estimated(pending.saved),
    }

    /// The result of checks.
    Check from report: output::CheckReport {
        /// Rules that were checked.
        rules: Vec<String> = report.rules,
        /// Number of findings in all sessions.
        findings: u64 = report.findings(),
        /// Number of sessions that cannot be checked.
        failed: u64 = report.failed(),
        /// Sessions.
        sessions: Vec<CheckedSession> = report.sessions,
    }

    /// The findings in a session.
    CheckedSession from session: output::CheckedSession {
        /// Session id.
        session: String = session.session,
        /// Session file, relative to the directory if it is below it.
        path: String = session.path,
        /// Violations of rules.
        findings: Vec<Violation> = session.findings,
        /// Title, or the first prompt; empty without `--all` and `--project`.
        title: String = session.title,
        /// Reason why the session cannot be checked.
        error: Option<String> = session.error,
    }

    /// A violation of a rule.
    Violation from violation: engine::Violation {
        /// Rule, named after its option.
        rule: String = violation.rule,
        /// Description.
        message: String = violation.message,
        /// Measured value, in the unit of the rule.
        measured: Number = violation.measured,
        /// Limit, in the unit of the rule.
        limit: Number = violation.limit,
        /// Line of the file, from 1.
        line: Option<u64> = violation.line,
        /// Block number.
        block: Option<u32> = violation.block,
        /// Command that helps, without the session; empty if there is none.
        hint: String = violation.hint,
    }
}
