//! The store of originals: logs, snapshots, exports, verification and deletion.

use super::words::{Actor, FindingKind, Forgettable, OperationKind, WayBack};
use super::{Moment, Time, Tokens, estimated};
use crate::{model, output};

json_objects! {
    /// The operation log of a session.
    Log from report: output::LogReport {
        /// Operations, the newest first.
        operations: Vec<Operation> = report.operations,
        /// Snapshots, the oldest first.
        snapshots: Vec<SnapshotPoint> = report.snapshots,
        /// Actions of the model by turn, the newest first.
        turns: Vec<TurnActions> = report.turns,
    }

    /// An operation in the log.
    Operation from row: output::LogRow {
        /// Operation number.
        id: u32 = row.id,
        /// Kind.
        kind: OperationKind = row.kind,
        /// Time of the operation.
        time: Time = Moment(row.time),
        /// Command.
        command: String = row.command,
        /// Origin of the command.
        actor: Actor = row.actor,
        /// Changed or marked blocks.
        blocks: Vec<u32> = row.blocks,
        /// Number of added rows.
        rows_added: u64 = row.rows_added,
        /// Number of removed rows.
        rows_removed: u64 = row.rows_removed,
        /// Tokens of the window before.
        tokens_before: Tokens = estimated(row.tokens_before),
        /// Tokens of the window after.
        tokens_after: Tokens = estimated(row.tokens_after),
        /// Operation that this one undid.
        inverts: Option<u32> = row.inverts,
        /// Operation that undid this one.
        undone_by: Option<u32> = row.undone_by,
        /// Change that an undo or a redo is about.
        about: Option<u32> = row.about,
        /// True if it is in force in requests, and is written to the file when the agent program has closed it.
        deferred: bool = row.is_deferred,
    }

    /// A snapshot in the log.
    SnapshotPoint from snapshot: model::Snapshot {
        /// Name.
        name: String = snapshot.name,
        /// Last operation of the snapshot; 0 for the original.
        operation: u32 = snapshot.operation,
        /// Time at which the snapshot was saved.
        time: Time = Moment(snapshot.time),
    }

    /// The actions of the model in a turn.
    TurnActions from actions: output::TurnActions {
        /// Turn.
        turn: u32 = actions.turn,
        /// Agent, such as `Claude`.
        agent: String = actions.agent,
        /// Actions in force, in words; empty if there are none.
        text: String = actions.text,
        /// Number of commands that wait for the user.
        waiting: u64 = actions.waiting,
    }

    /// The texts that wait for the next prompt of a session.
    Stage from report: output::StageReport {
        /// Change of the list; null if it was only listed.
        done: Option<String> = report.done,
        /// Texts, the oldest first.
        texts: Vec<String> = report.texts,
    }

    /// The snapshots of a session.
    Snapshots from report: output::SnapshotReport {
        /// Change of the list; null if it was only listed.
        done: Option<String> = report.done,
        /// Snapshots, the oldest first.
        snapshots: Vec<Snapshot> = report.snapshots,
    }

    /// A snapshot.
    Snapshot from row: output::SnapshotRow {
        /// Name.
        name: String = row.snapshot.name,
        /// Last operation of the snapshot; 0 for the original.
        operation: u32 = row.snapshot.operation,
        /// Time at which the snapshot was saved.
        time: Time = Moment(row.snapshot.time),
        /// Number of operations since.
        operations_since: u64 = row.operations_since,
    }

    /// The fork of a session.
    Fork from report: output::ForkReport {
        /// Id of the session that was forked.
        source: String = report.source,
        /// Id of the fork.
        session: String = report.session,
        /// File of the fork.
        path: String = report.path,
        /// True if this is a dry run.
        dry_run: bool = report.dry_run,
        /// Last block of the fork; its number is the same in the source.
        last_block: u32 = report.last_block,
        /// Turn of that block.
        turn: u32 = report.turn,
        /// Number of rows in the file.
        rows: u64 = report.rows,
        /// Number of blocks in the window of the fork.
        blocks: u64 = report.blocks,
        /// Tokens of these blocks.
        tokens: Tokens = estimated(report.tokens),
        /// Command that continues the fork.
        resume: String = report.resume,
    }

    /// An error, on standard error. The exit code is 1 if the request was refused or failed, 2 for an invalid command line, 3 for a
    /// conflict, 70 for an internal error and 130 after an interrupt.
    Error from report: output::ErrorReport {
        /// Failed action.
        message: String = report.message,
        /// Causes, the nearest first.
        causes: Vec<String> = report.causes,
        /// Next steps.
        hints: Vec<String> = report.hints,
        /// Exit code of the program.
        exit_code: u32 = u32::from(report.exit_code),
    }

    /// The result of an export.
    Export from report: output::ExportReport {
        /// Session id.
        session: String = report.session,
        /// File that was written.
        file: String = report.file,
        /// Size of the file.
        bytes: u64 ["bytes"] = report.bytes,
        /// Number of operations.
        operations: u64 = report.operations,
        /// Number of values.
        values: u64 = report.values,
        /// Number of snapshots.
        snapshots: u64 = report.snapshots,
    }

    /// The result of an import.
    Import from report: output::ImportReport {
        /// Session id.
        session: String = report.session,
        /// Session file that the log belongs to now.
        path: String = report.path,
        /// Relation to the known log: `new`, `same`, `newer`, `older` or `other`.
        relation: String = report.relation,
        /// Number of operations in the log.
        operations: u64 = report.operations,
        /// Number of changes in force.
        in_force: u64 = report.in_force,
        /// Number of logged values that are missing from the session; undo skips these.
        departed: u64 = report.departed,
        /// Number of logged values.
        values: u64 = report.values,
    }

    /// The deletion of unreferenced data, or its dry run.
    Gc from report: output::GcReport {
        /// True if data was deleted; false for a dry run.
        done: bool = report.done,
        /// Sessions whose data is deleted.
        sessions: Vec<ForgettableSession> = report.sessions,
        /// Number of old sessions whose file is gone and whose data is kept without `--gone`.
        gone_kept: u64 = report.gone_kept,
        /// Number of values that no log needs.
        originals: u64 = report.originals,
        /// Size of these values in the store.
        original_bytes: u64 ["bytes"] = report.original_bytes,
        /// Decrease in the size of the store.
        freed_bytes: u64 ["bytes"] = report.freed_bytes,
    }

    /// A session whose data may be deleted.
    ForgettableSession from session: output::ForgettableSession {
        /// Session id.
        session: String = session.session,
        /// Session file.
        path: String = session.path,
        /// Reason.
        why: Forgettable = session.why,
        /// Number of operations in the log.
        operations: u64 = session.operations,
        /// Time of the last operation.
        last_operation_time: Option<Time> = session.last.map(Moment),
    }

    /// The result of a verification of the store.
    Verify from report: output::VerifyReport {
        /// Problems of the store itself.
        store: Vec<String> = report.store,
        /// Number of sessions in the store.
        sessions_in_store: u64 = report.sessions_in_store,
        /// Number of intact values in the store.
        originals: u64 = report.originals,
        /// Size of these values.
        original_bytes: u64 ["bytes"] = report.original_bytes,
        /// Size of the store.
        store_bytes: u64 ["bytes"] = report.store_bytes,
        /// Verified sessions.
        sessions: Vec<VerifiedSession> = report.sessions,
    }

    /// A verified session.
    VerifiedSession from session: output::VerifiedSession {
        /// Session id.
        session: String = session.session,
        /// Provider, such as `claude-code`.
        provider: String = session.provider,
        /// Session file.
        path: String = session.path,
        /// Number of operations in the log.
        operations: u64 = session.operations,
        /// Number of changes in force.
        in_force: u64 = session.in_force,
        /// Number of logged values that were compared with the file.
        values: u64 = session.values,
        /// Result of an undo of everything.
        way_back: WayBack = session.way_back,
        /// Findings.
        findings: Vec<Finding> = session.findings,
    }

    /// A finding of a verification.
    Finding from finding: output::Finding {
        /// Kind.
        kind: FindingKind = finding.kind,
        /// Operation.
        operation: Option<u32> = finding.operation,
        /// Block number.
        block: Option<u32> = finding.block,
        /// Value of a row, such as `content:0`, `usage` or `line`.
        slot: Option<String> = finding.slot,
        /// Short description of the block; may be empty.
        label: String = finding.label,
        /// Details; may be empty.
        text: String = finding.text,
    }
}
