//! Summaries.

use super::blocks::Show;
use super::words::{Fillable, PointKind};
use super::{Moment, Time, ToJson, Tokens, estimated};
use crate::engine::summary;
use crate::{model, output};
use schemars::JsonSchema;
use serde::Serialize;

json_objects! {
    /// The summary of a session and its turns.
    SummaryReport from report: output::SummaryReport {
        /// Session id.
        session: String = report.session,
        /// Title, or the first prompt.
        title: String = report.title,
        /// Vocabulary in which the limits of summaries are counted.
        counted: String = report.counted,
        /// Number of turns in the session.
        turn_count: u64 ["turns"] = report.turn_count,
        /// Number of responses of the model.
        steps: u32 ["steps"] = report.steps,
        /// Time of the last row.
        last_written_time: Option<Time> = report.last_written.map(Moment),
        /// Summary of the session; null if turns were requested.
        current: Option<SessionSummary> = report.current,
        /// Summaries of turns.
        turns: Vec<TurnSummary> = report.turns,
        /// Content of the turn that was requested in full.
        full: Option<Show> = report.full,
    }

    /// The summary of a session.
    SessionSummary from session: summary::SessionSummary {
        /// The summary as text, a line for each point.
        text: String = session.summary.text,
        /// Cost of the text.
        tokens: Tokens = estimated(session.summary.tokens),
        /// Points.
        points: Vec<Point> = session.summary.points,
        /// Texts that a model could write better.
        needs: Vec<Fillable> = session.needs,
    }

    /// The summary of a turn.
    TurnSummary from turn: summary::TurnSummary {
        /// Turn, from 1 in file order.
        number: u32 = turn.number,
        /// Time of the prompt.
        time: Option<Time> = turn.timestamp.map(Moment),
        /// False if the turn is on an abandoned branch.
        live: bool = turn.live,
        /// First and last block.
        blocks: Option<BlockRange> = turn.blocks,
        /// Headline.
        header: Headline = turn.header,
        /// Key points.
        summary: Summary = turn.summary,
        /// Outcomes, the most important first.
        outcomes: Vec<Outcome> = turn.outcomes,
        /// Texts that a model could write better.
        needs: Vec<Fillable> = turn.needs,
    }

    /// A range of blocks.
    BlockRange from range: (model::BlockNumber, model::BlockNumber) {
        /// First block.
        first: u32 = range.0,
        /// Last block.
        last: u32 = range.1,
    }

    /// The headline of a turn.
    Headline from header: summary::Header {
        /// Time of day, topic, names and outcome.
        text: String = header.text,
        /// Cost of the text.
        tokens: Tokens = estimated(header.tokens),
    }

    /// The key points of a turn.
    Summary from summary: summary::Summary {
        /// The points as text, a line for each.
        text: String = summary.text,
        /// Cost of the text.
        tokens: Tokens = estimated(summary.tokens),
        /// Points.
        points: Vec<Point> = summary.points,
    }

    /// A point of a summary.
    Point from point: summary::Point {
        /// Kind.
        kind: PointKind = point.kind,
        /// Sentences or names, the most important first.
        parts: Vec<Part> = point.parts,
    }

    /// A sentence, a name or a count.
    Part from part: summary::Part {
        /// Text.
        text: String = part.text,
        /// Source block; null for a count over several blocks.
        block: Option<u32> = part.block,
    }
}

/// The outcome of a turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum Outcome {
    /// The user interrupted the turn.
    #[serde(rename = "interrupted")]
    Interrupted,
    /// Tests ran.
    #[serde(rename = "tests")]
    Tests {
        /// Number of passed tests.
        passed: u64,
        /// Number of failed tests.
        failed: u64,
    },
    /// Commits were made.
    #[serde(rename = "committed")]
    Committed {
        /// Number of commits.
        commits: u32,
    },
    /// Errors were resolved.
    #[serde(rename = "fixed")]
    Fixed {
        /// Number of resolved errors.
        errors: u32,
    },
    /// Files were edited.
    #[serde(rename = "edited")]
    Edited {
        /// Number of edited files.
        files: u32,
    },
    /// Errors remain.
    #[serde(rename = "errors")]
    Errors {
        /// Number of remaining errors.
        errors: u32,
    },
    /// The last message is a question.
    #[serde(rename = "asks")]
    Asks,
    /// The assistant answered.
    #[serde(rename = "answered")]
    Answered,
    /// There is no answer yet.
    #[serde(rename = "open")]
    Open,
}

impl ToJson for summary::Outcome {
    type Json = Outcome;

    fn to_json(&self) -> Outcome {
        match *self {
            summary::Outcome::Interrupted => Outcome::Interrupted,
            summary::Outcome::Tests { passed, failed } => Outcome::Tests { passed, failed },
            summary::Outcome::Committed { commits } => Outcome::Committed { commits },
            summary::Outcome::Fixed { errors } => Outcome::Fixed { errors },
            summary::Outcome::Edited { files } => Outcome::Edited { files },
            summary::Outcome::Errors { errors } => Outcome::Errors { errors },
            summary::Outcome::Asks => Outcome::Asks,
            summary::Outcome::Answered => Outcome::Answered,
            summary::Outcome::Open => Outcome::Open,
        }
    }
}
