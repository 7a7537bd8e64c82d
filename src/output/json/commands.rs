//! Commands of the model.

use super::changes::Change;
use super::words::ProposalStatus;
use super::{Moment, Time};
use crate::output;

json_objects! {
    /// The commands of the model that wait for the user.
    Inbox from report: output::InboxReport {
        /// Waiting commands, the oldest first.
        proposals: Vec<Proposal> = report.proposals,
    }

    /// A command of the model that waits for the user.
    Proposal from row: output::InboxRow {
        /// Number, for `approve` and `deny`.
        number: i64 = row.number,
        /// Session id.
        session: String = row.session,
        /// Turn in which it was written.
        turn: u32 = row.turn,
        /// Time at which it was found.
        time: Time = Moment(row.time),
        /// Command as written, on one line, with credentials masked.
        command: String = row.command,
        /// Reason for waiting.
        why: String = row.why,
        /// Effect that it would have now, on one line.
        effect: String = row.effect,
        /// The effect in full; null if it is no longer possible.
        change: Option<Change> = row.change,
    }

    /// The results of the commands that the model wrote since the last run.
    Obey from report: output::ObeyReport {
        /// Session id.
        session: String = report.session,
        /// Agent that wrote them, such as `Claude`.
        agent: String = report.agent,
        /// True if this is a dry run.
        dry_run: bool = report.dry_run,
        /// Commands in the order in which they were written.
        commands: Vec<ObeyedCommand> = report.commands,
    }

    /// A command of the model and its result.
    ObeyedCommand from command: output::ObeyedCommand {
        /// Number among the proposals; null for a dry run.
        number: Option<i64> = command.number,
        /// Turn in which it was written.
        turn: u32 = command.turn,
        /// Command as written, on one line, with credentials masked.
        command: String = command.command,
        /// Status.
        status: ProposalStatus = command.status,
        /// Message to the model about the result.
        answer: String = command.answer,
        /// Change of the session; null if it was not executed or changed nothing.
        change: Option<Change> = command.change,
    }

    /// The message to the model at its next prompt.
    Tell from report: output::TellReport {
        /// Text; empty if there is no message.
        text: String = report.text,
    }
}
