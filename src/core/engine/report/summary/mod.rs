//! Summaries without a model: a header and a few key points for each turn, and the facts a newcomer needs for the session.
//!
//! Extractive and deterministic: every sentence is quoted from the session, apart from fixed labels and counts. Each summary lists
//! the fields that a model could write better ([`Fillable`]).
//!
//! Limits are checked with [`crate::engine::o200k`], an exact count.

mod cleaning;
mod current;
mod facts;
mod fit;
mod plan;
mod sentences;
#[cfg(test)]
mod tests;
mod turn;

pub use facts::{Outcome, error_line, is_of_client, last_message, looks_up};
pub use sentences::{Sentence, is_chatter, sentences};
pub use turn::offer;

use crate::engine::{Analysis, is_rejection};
use crate::model::{
    As, Block, BlockKind, BlockNumber, Conventions, Estimated, Event, Flags, Role, Time, ToolVerb, Turn, json_forms,
    starts_with_any, words,
};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum tokens of the header of a turn.
pub const HEADER_TOKENS: u32 = 12;
/// Maximum tokens of the summary of a turn.
pub const TURN_TOKENS: u32 = 120;
/// Maximum tokens of the summary of a session.
pub const SESSION_TOKENS: u32 = 300;

/// The contents used for a summary: tool uses as they are sent, replies reduced to the words of the user, everything else decoded
/// for people.
pub type Contents = FxHashMap<BlockNumber, String>;

/// A text that a model could write better than an extract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fillable {
    /// The subject of the turn.
    Topic,
    /// The key points of the turn.
    Summary,
    /// The course of the session.
    Narrative,
    /// The goal of the user.
    Objective,
    /// The next steps.
    Next,
}

words! {
    /// The kind of a point in a summary.
    pub enum PointKind {
        /// A request of the user.
        Asked = "asked",
        /// An answer, a rejection or a correction of the user.
        Replied = "replied",
        /// A decision and its reason.
        Decided = "decided",
        /// Edited files.
        Changed = "changed",
        /// The result of tests.
        Tests = "tests",
        /// Resolved errors.
        Fixed = "fixed",
        /// Commits.
        Committed = "committed",
        /// The last message of the assistant.
        Said = "said",
        /// Open questions and errors.
        Open = "open",
        /// The course of the session, turn by turn.
        Narrative = "narrative",
        /// The first and the latest prompt.
        Objective = "objective",
        /// Results.
        Achieved = "achieved",
        /// Files in use.
        Files = "files",
        /// Functions and types in use.
        Functions = "functions",
        /// Topics.
        Concepts = "concepts",
        /// The current state.
        State = "state",
        /// Remaining work.
        Next = "next",
    }
}

/// A sentence, a name or a count.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Part {
    pub text: String,
    /// Source block; null for a count over several blocks.
    pub block: Option<BlockNumber>,
}

/// A point of a summary.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    pub kind: PointKind,
    /// Sentences or names, the most important first.
    pub parts: Vec<Part>,
    /// Number of edited files that are not among them.
    pub more: u32,
}

/// The key points of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The points as text, a line for each.
    pub text: String,
    #[serde(with = "As::<Estimated>")]
    pub tokens: u32,
    pub points: Vec<Point>,
}

/// The headline of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Headline {
    /// Time of day, topic, names and outcome.
    pub text: String,
    #[serde(with = "As::<Estimated>")]
    pub tokens: u32,
}

json_forms! {
    /// A range of blocks.
    BlockRange of range: (BlockNumber, BlockNumber) {
        /// Number of the first block.
        first: u32 = range.0,
        /// Number of the last block.
        last: u32 = range.1,
    }
}

/// The summary of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TurnSummary {
    /// Turn, from 1 in file order.
    pub number: u32,
    /// Time of the prompt.
    #[serde(with = "As::<Option<Time>>")]
    pub time: Option<i64>,
    /// False if the turn is on an abandoned branch.
    pub live: bool,
    /// Number of the task that begins with it, as a local model says; null if it continues the task of the turn before.
    pub begins_task: Option<u32>,
    /// First and last block.
    #[serde(with = "As::<Option<BlockRange>>")]
    pub blocks: Option<(BlockNumber, BlockNumber)>,
    /// Headline.
    pub header: Headline,
    /// The prompt, or without one what the agent said or changed, whatever key points fit.
    #[serde(skip)]
    pub subject: String,
    /// Key points.
    pub summary: Summary,
    /// Outcomes, the most important first.
    pub outcomes: Vec<Outcome>,
    /// Texts that a model could write better.
    pub needs: Vec<Fillable>,
}

/// The summary of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SessionSummary {
    /// At most [`SESSION_TOKENS`].
    #[serde(flatten)]
    pub summary: Summary,
    /// Texts that a model could write better.
    pub needs: Vec<Fillable>,
    /// Local model that wrote the course of the session; null if rules made it.
    pub written_by: Option<String>,
}

impl SessionSummary {
    /// Replaces the course of the session by a text of a local model.
    pub fn tell(&mut self, story: String, model: String) {
        let Some(point) = self.summary.points.iter_mut().find(|point| point.kind == PointKind::Narrative) else { return };
        point.parts = vec![Part::counted(story)];
        self.summary = fit::fit(std::mem::take(&mut self.summary.points), SESSION_TOKENS);
        self.needs.retain(|needed| *needed != Fillable::Narrative);
        self.written_by = Some(model);
    }
}

/// Returns the sentences of a text without headings, code, tables and client insertions.
pub fn plain_sentences(text: &str, conventions: &Conventions) -> Vec<String> {
    sentences(text, conventions).into_iter().map(|sentence| sentence.text).collect()
}

/// Returns the blocks whose contents are needed for a summary.
pub fn needed(reading: &Analysis) -> Vec<BlockNumber> {
    let blocks = reading.turns.iter().flat_map(|turn| &turn.blocks).filter_map(|number| reading.block(*number));
    let verb = |block: &Block| block.tool.as_deref().map(|tool| tool.verb);
    let tells = |block: &&Block| match block.kind {
        BlockKind::Text => matches!(block.role, Role::User | Role::Assistant),
        BlockKind::ToolUse => matches!(verb(block), Some(ToolVerb::Plan | ToolVerb::Edit)) || facts::is_commit(block),
        BlockKind::ToolResult => block.error || verb(block) == Some(ToolVerb::Run),
        _ => false,
    };
    let tells = |block: &&Block| tells(block) || is_reply(block);
    blocks.filter(tells).map(|block| block.number).collect()
}

/// Returns the most important outcome of a turn.
pub fn outcome(reading: &Analysis, contents: &Contents, turn: &Turn) -> Outcome {
    turn::turn_facts(reading, contents, turn, true).outcomes.first().copied().unwrap_or(Outcome::Answered)
}

/// Summarizes each turn and the session. `clock` formats a time as the time of day.
pub fn summarize(reading: &Analysis, contents: &Contents, clock: &dyn Fn(i64) -> String) -> (Vec<TurnSummary>, SessionSummary) {
    let told = Told::of(reading, contents, reading.turns.iter());
    ((0..told.turns.len()).map(|at| told.turn(at, clock)).collect(), told.session())
}

/// The facts of turns, from which headers and summaries are made.
pub struct Told<'a> {
    reading: &'a Analysis,
    contents: &'a Contents,
    turns: Vec<turn::TurnFacts<'a>>,
}

impl<'a> Told<'a> {
    /// Collects the facts of the turns that are not on an abandoned branch.
    pub fn new(reading: &'a Analysis, contents: &'a Contents) -> Told<'a> {
        Told::of(reading, contents, live_turns(reading).into_iter())
    }

    fn of(reading: &'a Analysis, contents: &'a Contents, turns: impl Iterator<Item = &'a Turn>) -> Told<'a> {
        let (queued, repeated) = (reading.session.queued_words(), reading.session.repeated_words());
        let turns = turns.map(|turn| {
            let mut facts = turn::turn_facts(reading, contents, turn, is_live(reading, turn));
            facts.replied.retain(|part| part.block.is_none_or(|block| !repeated.contains(&block)));
            let typed = queued
                .iter()
                .filter(|(before, _)| reading.block(*before).is_some_and(|block| block.position.turn == turn.number));
            facts.replied.extend(typed.map(|(_, text)| Part { text: reading.known.mask(text).trim().to_owned(), block: None }));
            facts
        });
        let mut turns: Vec<_> = turns.collect();
        put_repeated_last(&mut turns);
        Told { reading, contents, turns }
    }

    pub fn turns(&self) -> impl ExactSizeIterator<Item = &'a Turn> + DoubleEndedIterator {
        self.turns.iter().map(|told| told.turn)
    }

    pub fn header(&self, at: usize, clock: &dyn Fn(i64) -> String) -> Headline {
        turn::header_of(&self.turns[at], at.checked_sub(1).map(|before| &self.turns[before]), clock)
    }

    pub fn turn(&self, at: usize, clock: &dyn Fn(i64) -> String) -> TurnSummary {
        turn::summary(self.reading, &self.turns[at], self.header(at, clock))
    }

    /// Returns the open questions and errors of the turn at a place.
    pub fn open(&self, at: usize) -> Vec<Part> {
        self.turns[at].open()
    }

    /// Returns the decisions of the turn at a place, with their reasons.
    pub fn decided(&self, at: usize) -> Vec<Part> {
        self.turns[at].decided(&self.turns[at].reply_sentences())
    }

    pub fn session(&self) -> SessionSummary {
        current::summary(self.reading, self.contents, &self.turns)
    }
}

/// Puts the sentences that several prompts have behind the others of a prompt: they come from a template, and tell no turn from another.
fn put_repeated_last(turns: &mut [turn::TurnFacts<'_>]) {
    let mut prompts: FxHashMap<String, u32> = FxHashMap::default();
    for sentence in turns.iter().flat_map(|told| &told.asked) {
        *prompts.entry(sentence.text.clone()).or_default() += 1;
    }
    for told in turns {
        told.asked.sort_by_key(|sentence| prompts[&sentence.text] > 1);
    }
}

/// Returns the points of a briefing in addition to the user's own words: the goal, the narrative, and the done, open and next
/// items.
pub fn briefing(reading: &Analysis, contents: &Contents) -> Vec<Point> {
    current::briefing(reading, contents, &Told::new(reading, contents).turns)
}

/// Returns the functions and types that the latest edits declare, the newest first.
pub fn functions_in_work(reading: &Analysis, contents: &Contents) -> Vec<Part> {
    current::functions(reading, contents, live_turns(reading).into_iter())
}

/// Returns the turns that are not on an abandoned branch, in file order.
pub fn live_turns(reading: &Analysis) -> Vec<&Turn> {
    reading.turns.iter().filter(|turn| is_live(reading, turn)).collect()
}

/// Returns true if the user did not leave a turn.
fn is_live(reading: &Analysis, turn: &Turn) -> bool {
    let is_live = |block: &Block| !reading.is_left(block) && !reading.session.rows[block.row as usize].sidechain;
    turn.blocks.iter().filter_map(|number| reading.block(*number)).any(is_live)
}

/// Returns true if a block contains words of a person but is not a user message: in the result of a tool, or sent while the agent
/// worked.
pub fn is_reply(block: &Block) -> bool {
    block.kind != BlockKind::Text && !block.words.is_empty()
}

/// Returns the words of a person without the sentence of the client around them; `None` if the client wrote all of them, as for a
/// rejection without a reason.
pub fn own_words<'a>(block: &Block, words: &'a str, conventions: &Conventions) -> Option<&'a str> {
    if !is_reply(block) {
        return Some(words);
    }
    let reason = conventions.reason_starts.iter().find_map(|start| words.strip_prefix(start)).unwrap_or(words);
    let end = conventions.reason_ends.iter().find_map(|end| reason.find(end)).unwrap_or(reason.len());
    let reason = Some(reason[..end].trim()).filter(|reason| !reason.is_empty() && !starts_with_any(words, &conventions.declined));
    reason.filter(|reason| !starts_with_any(reason, &conventions.no_reasons))
}

/// Returns what a person said in the words of a block: a prompt, the reason of a rejection, or the answers without their questions.
pub fn said<'a>(block: &Block, words: &'a str, conventions: &Conventions) -> Vec<&'a str> {
    let own = own_words(block, words, conventions).filter(|own| !own.is_empty() && !is_rejection(block));
    if block.kind != BlockKind::ToolResult || block.error {
        return own.into_iter().collect();
    }
    let is_said = |answer: &&str| !answer.is_empty() && !starts_with_any(answer, &conventions.no_reasons);
    own.into_iter().flat_map(|own| answers(own, conventions)).map(str::trim).filter(is_said).collect()
}

/// Returns the answers of the user to the questions of a tool, without the questions.
fn answers<'a>(text: &'a str, conventions: &Conventions) -> impl Iterator<Item = &'a str> {
    let mark = conventions.answer_marks.iter().copied().find(|mark| text.contains(mark));
    let pieces: Vec<&str> = mark.map_or_else(|| vec![text], |mark| text.split(mark).collect());
    let (questions, last) = (usize::from(mark.is_some()), pieces.len() - 1);
    pieces.into_iter().enumerate().skip(questions).map(move |(index, piece)| {
        // After each answer but the last one, the next question follows in quotes.
        let end = if index < last { piece.rfind("\", \"") } else { piece.rfind('"').filter(|_| questions > 0) };
        &piece[..end.unwrap_or(piece.len())]
    })
}

/// Returns true if a block was written by the user, and not by the client in the user's name.
fn is_prompt(reading: &Analysis, block: &Block) -> bool {
    let row = &reading.session.rows[block.row as usize];
    let notices = Flags::NOTIFICATION | Flags::TASK_NOTICE;
    let client = Flags::META | Flags::CAVEAT | Flags::COMMAND_OUTPUT | Flags::INTERRUPTION | notices;
    let is_instruction = block.ground && block.words.is_empty();
    let is_hook = starts_with_any(&block.preview, &reading.session.conventions.hook_messages);
    let summary = matches!(row.event.as_deref(), Some(Event::CompactSummary));
    block.kind == BlockKind::Text && block.role == Role::User && !row.flags.any(client) && !summary && !is_instruction && !is_hook
}
