//! Commands in the text of the model: `@archive(3..9, reason: done)`.
//!
//! [`find()`] finds the commands in a text, [`read()`] parses a stored one, [`resolve()`] finds the blocks that a command refers
//! to, and [`ModelPolicy`] determines which commands need the user's approval. The commands have the same effect as the user
//! commands of the same name.

mod arguments;
mod find;
mod housekeeping;
mod policy;
mod resolve;
#[cfg(test)]
mod tests;

pub use find::{FoundCommand, find, read, read_all};
pub use housekeeping::parse as parse_housekeeping;
pub use policy::{ModelPolicy, Permission, Spent};
pub use resolve::{Unresolved, ranges, resolve};

use crate::engine::{SelectorError, TurnRequest};
use crate::model::{Housekeeping, Level, Pin, Verb};

/// A command of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCommand {
    pub verb: Verb,
    /// Selectors of the blocks; empty for a note.
    pub blocks: Vec<Named>,
    pub turns: Option<TurnRequest>,
    pub housekeeping: Option<Box<Housekeeping>>,
    /// Target level of the blocks, if it is given.
    pub level: Option<Level>,
    pub pin: Pin,
    pub text: String,
    pub reason: String,
}

impl ModelCommand {
    pub fn new(verb: Verb, blocks: Vec<Named>) -> ModelCommand {
        ModelCommand {
            verb,
            blocks,
            turns: None,
            housekeeping: None,
            level: None,
            pin: Pin::Here,
            text: String::new(),
            reason: String::new(),
        }
    }

    /// Returns the blocks as one selector; empty if none is given by a selector.
    pub fn selector(&self) -> String {
        let selectors = self.blocks.iter().filter_map(|named| match named {
            Named::Selector(selector) => Some(selector.as_str()),
            Named::Words(_) => None,
        });
        selectors.collect::<Vec<_>>().join("|")
    }
}

/// A reference to blocks by the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Selector(String),
    /// Words: a topic; for a recall, a search query.
    Words(String),
}

/// The reason why a command cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("there is no command @{name}; did you mean @{}?", nearest.name())]
    UnknownVerb { name: String, nearest: Verb },
    #[error("'{text}' is not a command; example: @recall(\"auth flow\")")]
    NotACommand { text: String },
    #[error("the closing ')' is missing")]
    Unclosed,
    #[error("the closing '\"' of the text is missing")]
    UnclosedText,
    #[error("it names no blocks; example: @{}(12)", .0.name())]
    NoBlocks(Verb),
    #[error("it needs a text in double quotes; example: {}", if *.0 == Verb::Create { "@create(\"the note\")" } else { "@update(12, \"the text\")" })]
    NoText(Verb),
    #[error("@{} does not accept '{argument}'", verb.name())]
    Unexpected { verb: Verb, argument: String },
    #[error("the block aperture is refused: {0}")]
    Housekeeping(String),
    #[error("'{argument}' is not a form of turns: header, summary, full or mixed; example: @recall(turns 3..5, summary)")]
    NotATurnForm { argument: String },
    #[error("{error}; {}", error.hint())]
    Selector { error: SelectorError },
}
