//! The packer: what a session holds, in a budget of tokens.
//!
//! A pack consists of units: whole lines of the session, or a line that names a file or a call, each with its block. Every unit is made
//! from the original of its block, never from a shortened form or a summary, so a pack of a shortened session equals that of the
//! session before. The units have one order, which does not depend on the budget, and a pack holds the longest start of it that fits:
//! a larger budget only adds units.

mod content;
mod offers;
mod statements;
#[cfg(test)]
mod tests;
mod units;
mod worth;

pub use content::{Source, Sources, contents_of, needed};

use crate::engine::search::Query;
use crate::engine::{Analysis, TurnForm, tokens};
use crate::model::{BlockNumber, TurnList, session_name, words};
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;
use std::rc::Rc;

words! {
    /// A part of a pack.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Section {
        /// The newest prompt, and what is open.
        Task = "task",
        /// Turns that were requested.
        Requested = "requested",
        /// Lines with the words of the query.
        Query = "query",
        /// The other words of the user.
        User = "user",
        /// State, next steps, results and course of the session.
        Summary = "summary",
        /// Files that calls name.
        Files = "files",
        /// Functions and types that edits declare.
        Functions = "functions",
        /// Commands that worked.
        Commands = "commands",
        /// Calls that failed and did not succeed later.
        Failed = "failed",
        /// Decisions with their reason.
        Decisions = "decisions",
        /// Turns with their outcome.
        Turns = "turns",
        /// Key points of turns.
        Points = "points",
        /// Texts of the agent.
        Agent = "agent",
        /// Lines of edits and results.
        Content = "content",
        /// Other sessions of the project.
        Sessions = "sessions",
    }
}

impl Section {
    fn heading(self) -> &'static str {
        match self {
            Section::Task => "Current task",
            Section::Requested => "Requested turns",
            Section::Query => "About the query",
            Section::User => "User",
            Section::Summary => "Summary",
            Section::Files => "Files",
            Section::Functions => "Functions and types",
            Section::Commands => "Commands that worked",
            Section::Failed => "Failed or rejected calls",
            Section::Decisions => "Decisions and findings",
            Section::Turns => "Turns",
            Section::Points => "Key points of turns",
            Section::Agent => "Agent",
            Section::Content => "Edits and results",
            Section::Sessions => "Other sessions of the project",
        }
    }
}

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
    Current,
    Headers,
    Requested,
    Task,
    RestOfTask,
    Open,
    Query,
    Rules,
    Words,
    OlderWords,
    PastedWords,
    Files,
    Failed,
    /// Calls of which only the output tells that they failed.
    FailedUnmarked,
    Commands,
    Newest,
    Agent,
    Content,
    Decisions,
    Turns,
    Sessions,
    SessionPoints,
    Summary,
    Points,
    Functions,
}

/// The start of lanes that every pack has whole.
const ALWAYS: f64 = -3e6;

/// The order of value. Lanes advance side by side by their shares, and the share of a lane that ends falls to the others: words of the
/// user, of which the newest 30 prompts count, receive most of a small budget; those that state rules and values precede the others. A
/// lane with a start below 0 has its first units before all words but the first of the task. The shares were set by hand on 33 recorded
/// compactions, by what the agent needed next in both halves of the projects.
static LANES: [LaneRow; 25] = {
    use Lane::*;
    const fn row(lane: Lane, section: Section, start: f64, share: f64) -> LaneRow {
        LaneRow { lane, section, start, share }
    }
    [
        row(Current, Section::Summary, ALWAYS, f64::INFINITY),
        row(Headers, Section::Turns, ALWAYS, f64::INFINITY),
        row(Requested, Section::Requested, -2e6, f64::INFINITY),
        row(Task, Section::Task, -1e6, f64::INFINITY),
        row(RestOfTask, Section::Task, -100.0, 5.0),
        row(Rules, Section::User, -150.0, 20.0),
        row(Words, Section::User, -100.0, 5.0),
        row(Open, Section::Task, 0.0, 5.0),
        row(Query, Section::Query, -300.0, 2.0),
        row(Files, Section::Files, -100.0, 0.16),
        row(Failed, Section::Failed, -250.0, 0.35),
        row(FailedUnmarked, Section::Failed, -100.0, 0.1),
        row(Commands, Section::Commands, -150.0, 0.15),
        row(Newest, Section::Agent, 0.0, 0.2),
        row(Agent, Section::Agent, 80.0, 0.06),
        row(Content, Section::Content, 0.0, 0.3),
        row(Sessions, Section::Sessions, 0.0, 0.3),
        row(SessionPoints, Section::Sessions, 400.0, 0.3),
        row(OlderWords, Section::User, 0.0, 0.095),
        row(Decisions, Section::Decisions, 3000.0, 0.03),
        row(Turns, Section::Turns, 2000.0, 0.05),
        row(Summary, Section::Summary, 800.0, 0.05),
        row(Points, Section::Points, 4000.0, 0.03),
        row(Functions, Section::Functions, 4000.0, 0.02),
        row(PastedWords, Section::User, 0.0, 0.2),
    ]
};

/// Lines of a session, or a line that names a file or a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    pub section: Section,
    /// The block that has the text; `None` for a turn.
    pub block: Option<BlockNumber>,
    pub text: String,
    /// Text before the first of the units that have it, which follow each other in their section.
    pub title: Rc<str>,
    /// Tokens of the text with its line feed, in the vocabulary of the model, at most one too many; 0 far beyond the budget.
    pub tokens: f64,
    place: (u32, u32),
}

/// Returns the units of a section in the order of the text, each with its text: the first with a title has it.
pub fn in_section(units: &[Unit], section: Section) -> Vec<(&Unit, String)> {
    let mut found: Vec<&Unit> = units.iter().filter(|unit| unit.section == section).collect();
    found.sort_by_key(|unit| unit.place);
    let mut before = "";
    let texts = found.into_iter().map(|unit| {
        let is_first = std::mem::replace(&mut before, &unit.title) != &*unit.title;
        let title = if is_first { &*unit.title } else { "" };
        (unit, format!("{title}{}", unit.text))
    });
    texts.collect()
}

/// The content of a session within a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Pack {
    /// The whole text, with a line feed at its end.
    pub text: String,
    /// The same text by its purpose.
    pub branches: Branches,
    /// Tokens of the text, rounded up; at most one too many for each unit.
    pub tokens: u64,
    /// Units of the text, in the order of value.
    pub units: Vec<Unit>,
    pub left_out: Vec<Unit>,
}

/// The text of a pack by its purpose: together, its sections and lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Branches {
    /// Explanation of the references in the context.
    pub system_prompt: String,
    /// Sections about earlier work.
    pub context_prompt: String,
    /// The newest prompt, and what is open.
    pub user_input: String,
}

/// A budget that is too small for what every pack has.
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
    pub section: Section,
    /// Lines that did not fit the budget.
    #[schemars(extend("unit" = "lines"))]
    pub lines: usize,
    /// First block; null for turns.
    pub first_block: Option<BlockNumber>,
    /// Last block; null for turns.
    pub last_block: Option<BlockNumber>,
}

/// The parts of a pack that are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Words whose lines precede others.
    pub query: Option<Query>,
    pub turns: TurnList,
    pub form: TurnForm,
    /// Other sessions of the project, the newest first.
    pub sessions: Vec<OtherSession>,
    /// Decides the order of units of equal value.
    pub seed: u64,
}

/// Another session of the project.
#[derive(Clone, Debug, Default)]
pub struct OtherSession {
    pub header: String,
    /// Its key points, a line for each; empty if only the header is wanted.
    pub summary: String,
}

/// Returns the content of a session in at most `budget` tokens of its model. `sources` has the originals of the blocks that [`needed`]
/// returns; `clock` formats a time as the time of day.
/// Errors: the budget is too small for the summary of the session and the newest headers.
pub fn pack(
    reading: &Analysis,
    sources: &Sources,
    wanted: &Wanted,
    budget: u64,
    clock: &dyn Fn(i64) -> String,
) -> Result<Pack, BudgetError> {
    let cost = |text: &str| tokens::of_model(text, &reading.model);
    let (mut units, always) = units::units(reading, sources, wanted, clock);
    let head = head(reading);
    // The tokens of each start of the order, without the line about the rest.
    let mut sums = vec![cost(&head)];
    let mut begun = [false; Section::ALL.len()];
    let mut titled: FxHashSet<(Section, Rc<str>)> = FxHashSet::default();
    for unit in &mut units {
        let heading = if std::mem::replace(&mut begun[unit.section as usize], true) { 0.0 } else { cost(&heading(unit.section)) };
        let is_titled = unit.title.is_empty() || !titled.insert((unit.section, unit.title.clone()));
        let title = if is_titled { 0.0 } else { cost(&unit.title) + 1.0 };
        // A line feed and a slash that follows it can be one token.
        unit.tokens = title + cost(&format!("{}\n", unit.text)) + f64::from(unit.text.starts_with('/'));
        let sum = sums[sums.len() - 1] + heading + unit.tokens;
        sums.push(sum);
        if sum > budget as f64 && sums.len() > always {
            break;
        }
    }
    let total = |count: usize| (sums[count] + cost(&rest(&left_out(&units[count..])))).ceil() as u64;
    let Some(count) = (always..sums.len()).rev().find(|count| total(*count) <= budget) else {
        return Err(BudgetError { budget, least: total(always) });
    };
    let tokens = total(count);
    let left = units.split_off(count);
    let user_input = body(&units, &|section| section == Section::Task);
    let context_prompt = body(&units, &|section| section != Section::Task) + &rest(&left_out(&left));
    let text = format!("{head}{user_input}{context_prompt}");
    let branches = Branches { system_prompt: head, context_prompt, user_input };
    Ok(Pack { text, branches, tokens, units, left_out: left })
}

/// Returns the line before all sections.
fn head(reading: &Analysis) -> String {
    let id = session_name(&reading.session.id);
    let directory = reading.directory();
    let place = if directory.is_empty() { String::new() } else { format!(" in {directory}") };
    format!(
        "Extracts of session {id}{place}, texts: oldest first; lists: most used first; turns: newest first. #N: aperture show N -s {id}\n"
    )
}

fn heading(section: Section) -> String {
    format!("\n{}:\n", section.heading())
}

fn body(units: &[Unit], is_wanted: &dyn Fn(Section) -> bool) -> String {
    let mut text = String::new();
    for section in Section::ALL.into_iter().filter(|section| is_wanted(*section)) {
        let of_section = in_section(units, section);
        if !of_section.is_empty() {
            text.push_str(&heading(section));
        }
        for (_, unit) in of_section {
            text.push_str(&unit);
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

/// Returns the line about the units that are left out.
fn rest(left: &[LeftOut]) -> String {
    let lines: usize = left.iter().map(|left| left.lines).sum();
    let of_user = left.iter().find(|left| left.section == Section::User);
    let of_user = of_user.map(|left| format!(", {} by the user", left.lines)).unwrap_or_default();
    let first = left.iter().filter_map(|left| left.first_block).min();
    let blocks = first.zip(left.iter().filter_map(|left| left.last_block).max());
    let blocks = blocks.map(|(first, last)| format!(" of #{first}..#{last}")).unwrap_or_default();
    if lines == 0 { String::new() } else { format!("\nLines left out{blocks}: {lines}{of_user}\n") }
}
