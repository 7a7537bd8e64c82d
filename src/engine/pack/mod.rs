//! The packer: what a session holds, in a budget of tokens.
//!
//! A pack consists of units: whole lines of the session, or a line that names a file or a call, each with its block. Every unit is made
//! from the original of its block, never from a shortened form or a summary, so a pack of a shortened session equals that of the
//! session before. The units have one order, which does not depend on the budget, and a pack holds the longest start of it that fits:
//! a larger budget only adds units.

mod content;
#[cfg(test)]
mod tests;
mod units;

pub use content::{Source, Sources, needed};

use crate::engine::search::Query;
use crate::engine::{Analysis, tokens};
use crate::model::{BlockNumber, words};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

words! {
    /// A part of a pack.
    #[derive(PartialOrd, Ord)]
    pub enum Section {
        /// The newest prompt, and what is open.
        Task = "task",
        /// Lines with the words of the query.
        Query = "query",
        /// The other words of the user.
        User = "user",
        /// Files that calls name.
        Files = "files",
        /// Commands that worked.
        Commands = "commands",
        /// Calls that failed and did not succeed later.
        Failed = "failed",
        /// Decisions with their reason.
        Decisions = "decisions",
        /// Turns with their outcome.
        Turns = "turns",
        /// Texts of the agent.
        Agent = "agent",
        /// Lines of edits and results.
        Content = "content",
    }
}

impl Section {
    fn heading(self) -> &'static str {
        match self {
            Section::Task => "Current task",
            Section::Query => "Lines about the query",
            Section::User => "Words of the user, oldest first",
            Section::Files => "Files, most used lately first",
            Section::Commands => "Commands that worked, newest first",
            Section::Failed => "Failed calls that did not succeed later, newest first",
            Section::Decisions => "Decisions, newest first",
            Section::Turns => "Turns, newest first",
            Section::Agent => "Texts of the agent, oldest first",
            Section::Content => "Lines of edits and results, oldest first",
        }
    }
}

/// A row of the table of lanes.
struct LaneRow {
    lane: Lane,
    section: Section,
    /// The place in the order at which the lane starts, in tokens of a lane with share 1.
    start: f64,
    /// The share of the tokens that the lane receives beside others; infinite for a lane that comes first as a whole.
    share: f64,
}

/// The units of a section that have one place in the order of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Task,
    Open,
    Query,
    Words,
    OlderWords,
    PastedWords,
    Files,
    Failed,
    Commands,
    Agent,
    Content,
    Decisions,
    Turns,
}

/// The order of value. Lanes advance side by side by their shares, and the share of a lane that ends falls to the others. The shares
/// were tuned on 33 recorded compactions, by what the agent needed next, and set by hand between the best of two halves of the projects.
static LANES: [LaneRow; 13] = {
    use Lane::*;
    const fn row(lane: Lane, section: Section, start: f64, share: f64) -> LaneRow {
        LaneRow { lane, section, start, share }
    }
    [
        row(Task, Section::Task, 0.0, f64::INFINITY),
        row(Words, Section::User, 0.0, f64::INFINITY),
        row(Open, Section::Task, 0.0, 5.0),
        row(Query, Section::Query, 0.0, 1.0),
        row(Files, Section::Files, 40.0, 0.15),
        row(Failed, Section::Failed, 0.0, 0.11),
        row(Commands, Section::Commands, 0.0, 0.14),
        row(Agent, Section::Agent, 80.0, 0.10),
        row(Content, Section::Content, 0.0, 0.18),
        row(OlderWords, Section::User, 0.0, 0.08),
        row(Decisions, Section::Decisions, 500.0, 0.03),
        row(Turns, Section::Turns, 500.0, 0.03),
        row(PastedWords, Section::User, 1000.0, 0.05),
    ]
};

/// Lines of a session, or a line that names a file or a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    pub section: Section,
    /// The block that has the text; `None` for a turn.
    pub block: Option<BlockNumber>,
    pub text: String,
    /// Tokens of the text with its line feed, in the vocabulary of the model, at most one too many; 0 far beyond the budget.
    pub tokens: f64,
    /// Its place in its section.
    place: (u32, u32),
}

impl Unit {
    /// Returns its place in its section: units of the text are in this order.
    pub fn place(&self) -> (u32, u32) {
        self.place
    }
}

/// The content of a session within a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Pack {
    /// The whole text, with a line feed at its end.
    pub text: String,
    /// Tokens of the text, rounded up.
    pub tokens: u64,
    /// Units of the text, in the order of value.
    pub units: Vec<Unit>,
    /// Units that are left out, in the order of value.
    pub left_out: Vec<Unit>,
}

/// A budget that is too small for the first unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a budget of {budget} tokens is too small for this session; the least is {least}")]
pub struct BudgetError {
    pub budget: u64,
    /// The smallest budget that is enough, in tokens.
    pub least: u64,
}

/// The units of one section that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Section.
    pub section: Section,
    /// Number of lines.
    #[schemars(extend("unit" = "lines"))]
    pub lines: usize,
    /// First block; null for turns.
    pub first_block: Option<BlockNumber>,
    /// Last block; null for turns.
    pub last_block: Option<BlockNumber>,
}

/// Returns the content of a session in at most `budget` tokens of its model. `sources` has the originals of the blocks that [`needed`]
/// returns; `clock` formats a time as the time of day.
///
/// # Errors
///
/// The budget is too small for the first unit.
pub fn pack(
    reading: &Analysis,
    sources: &Sources,
    query: Option<&Query>,
    budget: u64,
    clock: &dyn Fn(i64) -> String,
) -> Result<Pack, BudgetError> {
    let cost = |text: &str| tokens::of_model(text, &reading.model);
    let mut units = units::units(reading, sources, query, clock);
    let head = head(reading);
    // The tokens of each start of the order, without the line about the rest.
    let mut sums = vec![cost(&head)];
    let mut begun = [false; Section::ALL.len()];
    for unit in &mut units {
        let heading = if std::mem::replace(&mut begun[unit.section as usize], true) { 0.0 } else { cost(&heading(unit.section)) };
        // A line feed and a slash that follows it can be one token.
        unit.tokens = cost(&format!("{}\n", unit.text)) + f64::from(unit.text.starts_with('/'));
        let sum = sums[sums.len() - 1] + heading + unit.tokens;
        sums.push(sum);
        if sum > budget as f64 {
            break;
        }
    }
    let total = |count: usize| (sums[count] + cost(&rest(&left_out(&units[count..])))).ceil() as u64;
    let most = sums.partition_point(|sum| *sum <= budget as f64);
    let least = usize::from(!units.is_empty());
    let Some(count) = (least..most).rev().find(|count| total(*count) <= budget) else {
        return Err(BudgetError { budget, least: total(least) });
    };
    let left = units.split_off(count);
    let text = format!("{head}{}{}", body(&units), rest(&left_out(&left)));
    let tokens = cost(&text).ceil() as u64;
    Ok(Pack { text, tokens, units, left_out: left })
}

/// Returns the line before all sections.
fn head(reading: &Analysis) -> String {
    let id: String = reading.session.id.chars().take(8).collect();
    let directory = units::directory(reading);
    let place = if directory.is_empty() { String::new() } else { format!(" in {directory}") };
    format!("Extracts of session {id}{place}. #N is a block: aperture show N -s {id}\n")
}

fn heading(section: Section) -> String {
    format!("\n{}:\n", section.heading())
}

fn body(units: &[Unit]) -> String {
    let mut text = String::new();
    for section in Section::ALL {
        let mut of_section: Vec<&Unit> = units.iter().filter(|unit| unit.section == section).collect();
        of_section.sort_by_key(|unit| unit.place());
        if !of_section.is_empty() {
            text.push_str(&heading(section));
        }
        for unit in of_section {
            text.push_str(&unit.text);
            text.push('\n');
        }
    }
    text
}

/// Returns what a list of units holds of each section.
pub fn left_out(units: &[Unit]) -> Vec<LeftOut> {
    let mut found: [Option<LeftOut>; Section::ALL.len()] = [None; Section::ALL.len()];
    for unit in units {
        let empty = LeftOut { section: unit.section, lines: 0, first_block: None, last_block: None };
        let left = found[unit.section as usize].get_or_insert(empty);
        left.lines += 1;
        left.first_block = left.first_block.into_iter().chain(unit.block).min();
        left.last_block = left.last_block.max(unit.block);
    }
    found.into_iter().flatten().collect()
}

/// Returns the line about what is left out.
fn rest(left: &[LeftOut]) -> String {
    let mut text = String::new();
    for left in left {
        let _ = write!(text, "{} {} {}", if text.is_empty() { "\nLines left out:" } else { "," }, left.section, left.lines);
        if let Some((first, last)) = left.first_block.zip(left.last_block) {
            let _ = if first == last { write!(text, " (#{first})") } else { write!(text, " (#{first}..#{last})") };
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}
