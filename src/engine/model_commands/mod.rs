//! Commands in the text of the model: `@archive(3..9, reason: done)`.
//!
//! [`find()`] reads the commands of a text, [`read()`] one that is kept, [`resolve()`] finds the blocks that one names, [`ModelPolicy`] says which of them wait
//! for the user. What they do is what the commands of the same names do for the user.

mod arguments;
mod find;
mod policy;
mod resolve;
mod talk;
#[cfg(test)]
mod tests;

pub use find::{Said, find, read};
pub use policy::{ModelPolicy, Permission};
pub use resolve::{Unresolved, ranges, resolve};

use crate::engine::SelectorError;
use crate::model::{Level, Pin, Verb};

/// A command of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCommand {
    /// Verb.
    pub verb: Verb,
    /// Selectors of the blocks; empty for a note.
    pub blocks: Vec<Named>,
    /// How much is to be left of them, if it says so.
    pub level: Option<Level>,
    /// Where they belong, for a pin.
    pub pin: Pin,
    /// The new text, or the note.
    pub text: String,
    /// Why.
    pub reason: String,
}

impl ModelCommand {
    /// One that says no more than what it asks for, and of which blocks.
    pub fn new(verb: Verb, blocks: Vec<Named>) -> ModelCommand {
        ModelCommand { verb, blocks, level: None, pin: Pin::Here, text: String::new(), reason: String::new() }
    }

    /// The blocks as one selector; empty where it names none by one.
    pub fn selector(&self) -> String {
        let selectors = self.blocks.iter().filter_map(|named| match named {
            Named::Selector(selector) => Some(selector.as_str()),
            Named::Words(_) => None,
        });
        selectors.collect::<Vec<_>>().join("|")
    }
}

/// Blocks as the model names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// By a selector, which can be read.
    Selector(String),
    /// By words: what they are about; for a recall, what is looked for.
    Words(String),
}

/// Why a command cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Nearly the name of a command.
    #[error("there is no command @{name}; did you mean @{}?", nearest.name())]
    UnknownVerb {
        /// The name.
        name: String,
        /// The command that it is nearly the name of.
        nearest: Verb,
    },
    /// The parenthesis is not closed.
    #[error("the closing ')' is missing")]
    Unclosed,
    /// The text is not closed.
    #[error("the closing '\"' of the text is missing")]
    UnclosedText,
    /// No blocks are named.
    #[error("it names no blocks, as in @{}(12)", .0.name())]
    NoBlocks(Verb),
    /// A text is missing, is empty, or has no quotes.
    #[error("it needs a text in double quotes, as in {}", if *.0 == Verb::Create { "@create(\"the note\")" } else { "@update(12, \"the text\")" })]
    NoText(Verb),
    /// An argument that it has no use for.
    #[error("'{argument}' is nothing that @{} takes", verb.name())]
    Unexpected {
        /// The command.
        verb: Verb,
        /// The argument.
        argument: String,
    },
    /// A selector that cannot be read.
    #[error("{error}; {}", error.hint())]
    Selector {
        /// Why not.
        error: SelectorError,
    },
}
