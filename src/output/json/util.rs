//! Measurements of `aperture util`.

use super::sessions::Accuracy;
use super::{Number, Tokens, estimated, measured};
use crate::output;
use std::collections::BTreeMap;

json_objects! {
    /// The instructions for a model.
    Instructions from report: output::InstructionsReport {
        /// The commands for blocks and for memories.
        commands: String = report.commands,
        /// When to use memories.
        protocol: String = report.protocol,
    }

    /// The accuracy of token estimates over sessions.
    AccuracyReport from report: output::AccuracyReport {
        /// Sessions.
        sessions: Vec<SessionAccuracy> = report.sessions,
        /// Errors of all steps.
        steps: Spread = report.steps,
        /// Errors of the steps of each model.
        models: BTreeMap<String, ModelAccuracy> = report.models,
        /// Errors of all turns.
        turns: Spread = report.turns,
        /// Median errors of the steps of each session.
        session_medians: Spread = report.session_medians,
        /// 90th percentiles of the errors of the steps of each session.
        session_p90s: Spread = report.session_p90s,
        /// Errors of the sum over the blocks, compared with the last bill.
        windows: Spread = report.windows,
    }

    /// The accuracy of token estimates for a model.
    ModelAccuracy from model: output::ModelAccuracy {
        /// Number of steps.
        steps: u64 = model.steps,
        /// Their errors.
        errors: Spread = model.errors,
        /// Number of these after a response that ended with a bill of its output; the others have one of its beginning.
        finished_steps: u64 = model.finished,
        /// Their errors.
        finished_errors: Spread = model.finished_errors,
        /// The errors of the others.
        beginning_errors: Spread = model.beginning_errors,
    }

    /// The accuracy of token estimates in a session.
    SessionAccuracy from row: output::AccuracyRow {
        /// Session id.
        session: String = row.session,
        /// Model.
        model: String = row.model,
        /// Errors by step and by turn.
        accuracy: Accuracy = row.accuracy,
        /// Billed input tokens of the last response.
        billed_tokens: Option<Tokens> = row.measured.map(measured),
        /// Tokens that are sent and not in the file.
        outside_tokens: Tokens = row.outside,
    }

    /// The median and the 90th percentile of relative errors; null if there is nothing to compare.
    Spread from spread: output::Spread {
        /// Median.
        median: Option<Number> ["ratio"] = spread.median,
        /// 90th percentile.
        p90: Option<Number> ["ratio"] = spread.p90,
    }

    /// The cost of the placeholders of archived blocks, over sessions.
    PlaceholdersReport from report: output::PlaceholdersReport {
        /// Number of sessions.
        sessions: u64 = report.sessions,
        /// Placeholders of all blocks.
        all: Placeholders = report.all,
        /// Placeholders by kind of block.
        kinds: BTreeMap<String, Placeholders> = report.kinds,
    }

    /// The cost of placeholders, counted in the vocabulary o200k.
    Placeholders from placeholders: output::Placeholders {
        /// Number of placeholders.
        lines: u64 = placeholders.lines,
        /// Median.
        median: Tokens = estimated(placeholders.median),
        /// 90th percentile.
        p90: Tokens = estimated(placeholders.p90),
        /// Maximum.
        longest: Tokens = estimated(placeholders.longest),
    }
}
