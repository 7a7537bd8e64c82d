use super::{ParsedRow, without_insertions};
use crate::model::limits::{PREVIEW_CHARACTERS, TITLE_CHARACTERS};
use crate::model::{PromptSpeaker, TurnOpenings};
use crate::text::cut::{cut, ended, one_line, without_links};

/// Counts the turns of a conversation row by row, and finds the first prompt, by the rules of the analysis of a session.
#[derive(Default)]
pub(super) struct TurnScan {
    pub turns: u32,
    openings: TurnOpenings<usize>,
    /// The first turn that shows a prompt, or the last one before it, and the texts in the user's name that can be its prompt.
    first: u32,
    texts: Vec<(PromptSpeaker, String)>,
    is_answered: bool,
    /// Turns that the user did not leave, and all of them when the last one was left.
    live: u32,
    left: u32,
}

impl TurnScan {
    /// Reads a row of the user side.
    pub fn row(&mut self, parsed: &ParsedRow<'_>) {
        let opening = self.openings.read(&parsed.row, parsed.has_words(), self.texts.len());
        self.open(opening);
        if self.turns > self.first {
            return;
        }
        for parsed in &parsed.blocks {
            let preview = &parsed.block.preview;
            let text = one_line(without_insertions(if preview.is_empty() { &parsed.content } else { preview }));
            let before = self.texts.iter().map(|(speaker, _)| *speaker).max().filter(|_| self.turns > self.left);
            if let Some(speaker) = PromptSpeaker::of(&parsed.block, &text)
                && speaker.precedes(before, self.is_answered)
            {
                let text = if preview.is_empty() { text } else { ended(&text, PREVIEW_CHARACTERS) };
                self.texts.push((speaker, cut(&without_links(&text), TITLE_CHARACTERS)));
            }
        }
    }

    /// Reads a response of the model.
    pub fn answer(&mut self) {
        let opening = self.openings.answer();
        self.open(opening);
        self.is_answered |= self.turns > self.left;
    }

    /// The user leaves the last turns. If all were left, the next one has the first prompt.
    pub fn rewound(&mut self, turns: u32) {
        self.live = self.live.saturating_sub(turns);
        if self.live == 0 {
            (self.first, self.left, self.is_answered) = (self.turns, self.turns, false);
        }
    }

    fn open(&mut self, opening: Option<usize>) {
        let Some(at) = opening else { return };
        (self.turns, self.live) = (self.turns + 1, self.live + 1);
        if self.turns == self.left + 1 || self.texts.is_empty() {
            self.texts.drain(..at.min(self.texts.len()));
            (self.first, self.is_answered) = (self.turns, false);
        }
    }

    /// Returns the first prompt on one line, for the title of a session without another one; empty before it.
    pub fn title(&self) -> String {
        let first = self.texts.iter().rev().max_by_key(|(speaker, _)| *speaker).filter(|_| self.turns > 0);
        first.map(|(_, text)| text.clone()).unwrap_or_default()
    }
}
