//! Reduces one content to a requested level.

use super::select::{Selection, Text, select};
use crate::engine::cost::tokens::{BYTES_PER_TOKEN, estimate};
use crate::engine::reduce::{KeptPieces, Outline, Piece, Reducible, SUMMARIZED_TOKENS, bare, outline};
use crate::model::Level;
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// Divisor for the share of a content that is kept when it is trimmed, and the bytes that are kept in any case.
const TRIMMED_SHARE: usize = 3;
const TRIMMED_BYTES: usize = 600;

/// Context of a content.
pub struct Context<'a> {
    /// The probability that a name is needed.
    pub name: &'a (dyn Fn(u32) -> f32 + Sync),
    /// The probability that one of its lines is quoted.
    pub line: f32,
    pub shown: &'a FxHashSet<u32>,
}

/// Returns the rest of a content at a level, after a marker line; `None` if that would not be shorter, or is not possible.
///
/// A trimmed content keeps about a third, a summarized one at most 120 estimated tokens, and a minimal one nothing: its marker line
/// describes the content. A shorter level keeps nothing that a longer one omits. `marker` returns the marker line; its argument is
/// true if no line of the content is kept.
pub fn reduce(input: &Reducible<'_>, level: Level, marker: &dyn Fn(bool) -> String, context: &Context<'_>) -> Option<String> {
    Levels::new(input, context)?.at(level, marker)
}

/// A content split into pieces, for reduction to any level.
pub struct Levels<'a> {
    content: &'a str,
    outline: Outline<'a>,
    context: &'a Context<'a>,
    selection: OnceCell<Selection>,
    summarized: OnceCell<usize>,
}

impl<'a> Levels<'a> {
    /// Splits a content into pieces; `None` if it cannot be shortened.
    pub fn new(input: &Reducible<'a>, context: &'a Context<'a>) -> Option<Levels<'a>> {
        let (selection, summarized) = (OnceCell::new(), OnceCell::new());
        Some(Levels { content: input.content, outline: outline(input)?, context, selection, summarized })
    }

    /// Returns the rest at a level, as [`reduce`] does.
    pub fn at(&self, level: Level, marker: &dyn Fn(bool) -> String) -> Option<String> {
        let kept = match level {
            Level::Original => return None,
            Level::Minimal | Level::Archived => self.outline.texts().map(|pieces| KeptPieces::none(pieces.len())).collect(),
            Level::Summarized => self.selection().first(self.summarized()),
            // The larger of the two limits applies: a summarized content is never longer.
            Level::Trimmed => {
                let bytes = (self.content.len() / TRIMMED_SHARE).max(TRIMMED_BYTES);
                self.selection().first(self.most(bytes, &|text| text.len() <= bytes).max(self.summarized()))
            }
        };
        self.outline.rendered(self.content, &kept, &marker(bare(&kept)))
    }

    fn selection(&self) -> &Selection {
        self.selection.get_or_init(|| {
            let texts =
                self.outline.texts().map(|pieces| Text { pieces, line: self.context.line, weight: 1.0, is_extract: false });
            select(&texts.collect::<Vec<_>>(), self.context.name, self.context.shown)
        })
    }

    fn summarized(&self) -> usize {
        let bytes = SUMMARIZED_TOKENS as usize * BYTES_PER_TOKEN;
        *self.summarized.get_or_init(|| self.most(bytes, &|text| estimate(text) <= SUMMARIZED_TOKENS))
    }

    /// Returns the maximum number of choices whose rest is accepted by `fits`. The search starts at the expected size `bytes`.
    fn most(&self, bytes: usize, fits: &dyn Fn(&str) -> bool) -> usize {
        let selection = self.selection();
        let fits = |choices: usize| {
            let rendered = self.outline.rendered(self.content, &selection.first(choices), "");
            rendered.is_none_or(|text| fits(&text))
        };
        let texts: Vec<&[Piece<'_>]> = self.outline.texts().collect();
        let expected = selection.within(bytes, &|text, piece| texts[text][piece].text.len());
        let (mut fitting, mut beyond) = (0, selection.choices() + 1);
        // Steps grow from the expected value, then the interval is halved.
        let mut next = expected.clamp(1, selection.choices().max(1));
        let mut step = 1 + next / 16;
        while beyond - fitting > 1 {
            if fits(next) {
                fitting = next;
            } else {
                beyond = next;
            }
            next = match (fitting, beyond) {
                (_, beyond) if beyond > selection.choices() => (fitting + step).min(selection.choices()),
                (0, beyond) => beyond.saturating_sub(step).max(1),
                (fitting, beyond) => fitting + (beyond - fitting) / 2,
            };
            step *= 2;
        }
        fitting
    }
}
