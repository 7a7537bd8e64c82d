use super::{Block, Flags, Role, Row, RowKind};
use serde::{Deserialize, Serialize};

/// Finds the rows that open a turn, row by row: prompts, commands that the model answered, and the first words of a session without
/// a prompt. Of each row that can, it keeps what a reader needs of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TurnOpenings<At> {
    first: Option<At>,
    command: Option<At>,
    /// A command with words of the user, after its output: the client can add a text with which the model answers it.
    printed: Option<At>,
    is_typed: bool,
    has_turn: bool,
}

impl<At: Clone> TurnOpenings<At> {
    /// Reads the next row of the conversation. Returns what was kept of the row that opens a turn, if there is one.
    pub fn read(&mut self, row: &Row, has_words: bool, at: At) -> Option<At> {
        let flags = row.flags;
        if row.prompt {
            (self.command, self.printed, self.has_turn) = (None, None, true);
            return Some(at);
        }
        if flags.any(Flags::COMMAND_NAME | Flags::TYPED_COMMAND) {
            (self.command, self.printed, self.is_typed) = (Some(at.clone()), None, has_words);
            self.first.get_or_insert(at);
        } else if flags.any(Flags::COMMAND_OUTPUT) {
            self.printed = self.command.take().filter(|_| self.is_typed).or(self.printed.take());
        } else if row.kind == RowKind::User && row.blocks > 0 && row.answers.is_none() {
            if flags.any(Flags::META) && !flags.any(Flags::CAVEAT) {
                self.command = self.command.take().or(self.printed.take());
            }
            self.first.get_or_insert(at);
        } else if row.kind == RowKind::Assistant && !flags.any(Flags::SYNTHETIC) {
            return self.answer();
        }
        None
    }

    /// Reads a response of the model, as `read` does. A command without an output of its own was a prompt in short.
    pub fn answer(&mut self) -> Option<At> {
        self.printed = None;
        let opening = self.command.take().or_else(|| self.first.take().filter(|_| !self.has_turn));
        self.has_turn |= opening.is_some();
        opening
    }
}

/// Whose words a text in the user's name holds, by which one of a turn is its prompt: the first of the highest order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromptSpeaker {
    Client,
    /// The user, by a command without arguments.
    Command,
    User,
}

impl PromptSpeaker {
    /// Returns the speaker of a block that shows `text`; `None` if it is not said in the user's name, or shows nothing.
    pub fn of(block: &Block, text: &str) -> Option<PromptSpeaker> {
        (block.role == Role::User).then_some(())?;
        match (block.words.is_empty(), text) {
            (false, _) => Some(PromptSpeaker::User),
            (_, "") => None,
            _ => Some(if text.starts_with('/') { PromptSpeaker::Command } else { PromptSpeaker::Client }),
        }
    }

    /// Returns true if a text of this speaker is the prompt of its turn rather than that of `before`. After the first answer, it is
    /// only if no text before it was the user's.
    pub fn precedes(self, before: Option<PromptSpeaker>, is_answered: bool) -> bool {
        Some(self) > before && (!is_answered || before == Some(PromptSpeaker::Client))
    }
}
