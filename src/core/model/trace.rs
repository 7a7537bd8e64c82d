//! Traces: the content of a session in the order of its file, as far as memories are learned from it.

use super::conventions::member_texts;
use super::{BlockNumber, Key, Sighting, ToolVerb};
use serde::{Deserialize, Serialize};

/// One event of a session.
#[derive(Clone, Debug)]
pub struct TraceEvent {
    pub block: BlockNumber,
    /// The identity of its row as the file writes it (a uuid); `L` and the number of the line, from 1, if rows have none.
    pub row: String,
    /// The time when its row was written, in milliseconds since 1970, UTC; 0 if it has none.
    pub time: i64,
    /// The number of its turn, from 1; 0 before the first one.
    pub turn: u32,
    pub content: TraceContent,
}

impl TraceEvent {
    pub fn place(&self) -> EventPlace {
        EventPlace { block: self.block, row: self.row.clone(), time: self.time }
    }
}

/// The block and the row of an event: what is kept of it beside what it told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventPlace {
    pub block: BlockNumber,
    pub row: String,
    /// The time of the row, in milliseconds since 1970, UTC; 0 if it has none.
    pub time: i64,
}

impl EventPlace {
    /// Returns what a row has in common with its copies in forks and resumed sessions.
    pub fn identity(&self) -> (&str, i64) {
        (&self.row, self.time)
    }

    pub fn sighting(&self, session: &str) -> Sighting {
        let EventPlace { block, row, time } = self.clone();
        Sighting { session: session.to_owned(), block, row, time }
    }
}

/// The content of an event.
#[derive(Clone, Debug)]
pub enum TraceContent {
    Prompt {
        text: String,
        source: PromptSource,
    },
    /// A text that the client added in the user's name.
    Inserted(String),
    Answer(String),
    Call(TraceCall),
    Result(TraceResult),
    Summary(String),
}

/// The place of the user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptSource {
    Typed,
    /// The reason given with a rejected tool call.
    Rejection,
    /// The answer to a question of the model.
    Choice,
}

/// A tool call.
#[derive(Clone, Debug, Default)]
pub struct TraceCall {
    /// The id that the call and its result share.
    pub id: Key,
    pub tool: String,
    pub verb: ToolVerb,
    /// Its target on one line: a path, a command, a pattern.
    pub target: String,
    /// The shell command with its line feeds, if it runs one.
    pub command: Option<String>,
    pub files: Vec<String>,
    /// Its input, as JSON or text.
    pub input: String,
}

impl TraceCall {
    /// Returns the texts in the input: the strings of its JSON, with line feeds; the input itself if it is not JSON.
    pub fn texts(&self) -> Vec<String> {
        member_texts(&self.input, &|_| true)
    }
}

/// The result of a tool call.
#[derive(Clone, Debug, Default)]
pub struct TraceResult {
    pub call: Key,
    pub error: bool,
    /// True if the user rejected or interrupted the call, or another failed call cancelled it.
    pub declined: bool,
    pub text: String,
}
