//! The facts of a session: everything that memory keeps of its events.

use super::failures::Fixes;
use super::open::OpenThoughts;
use super::pages::Pages;
use super::statements::Statements;
use super::work::Work;
use crate::model::{BlockNumber, Conventions, PromptSource, TraceContent, TraceEvent};
use serde::{Deserialize, Serialize};

/// Collects the facts of a session from its events. It can be stored, and continued with later events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SessionFacts {
    pub directory: String,
    block: BlockNumber,
    /// The time of the first and of the last event, in milliseconds since 1970, UTC; 0 if no event has a time.
    pub first: i64,
    /// See `first`.
    pub last: i64,
    pub work: Work,
    pub statements: Statements,
    pub fixes: Fixes,
    pub pages: Pages,
    pub open: OpenThoughts,
    /// The blocks with words that the user left: they teach nothing.
    pub left: Vec<BlockNumber>,
}

impl SessionFacts {
    /// Reads the next event of the session. A prompt that no block records is named by the block that it follows.
    pub fn push(&mut self, event: &TraceEvent, conventions: &Conventions) {
        if event.block == 0 {
            return self.read(&TraceEvent { block: self.block, ..event.clone() }, conventions);
        }
        self.block = event.block;
        self.read(event, conventions);
    }

    fn read(&mut self, event: &TraceEvent, conventions: &Conventions) {
        if event.time > 0 {
            self.first = if self.first == 0 { event.time } else { self.first.min(event.time) };
            self.last = self.last.max(event.time);
        }
        self.work.push(event, &self.directory, conventions);
        self.statements.push(event);
        self.fixes.push(event, conventions);
        self.pages.push(event, conventions);
        self.open.push(event, conventions);
        if matches!(event.content, TraceContent::Prompt { source: PromptSource::Typed, .. }) {
            self.fixes.end_turn(self.statements.is_report);
        }
    }
}
