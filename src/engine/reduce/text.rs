//! Text of any kind: what was said, what a tool answered.

use super::telling::Style;
use super::{Reducer, Reducible, extract, hint, trim};
use crate::model::Level;

/// Any text, by its lines.
pub(super) struct Text;

impl Reducer for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn fits(&self, _: &Reducible<'_>) -> bool {
        true
    }

    fn reduce(&self, input: &Reducible<'_>, level: Level) -> Option<String> {
        match level {
            Level::Trimmed => {
                let trimmed = trim::trim(input.content, Style::of(input), input.repeated);
                // Nothing but blanks is left of blanks.
                Some(trimmed).filter(|text| !text.trim().is_empty()).or_else(|| Some(hint::detail(input)))
            }
            Level::Summarized => extract::extract(input.content, Style::of(input), input.repeated),
            Level::Minimal => Some(hint::detail(input)),
            Level::Original | Level::Archived => None,
        }
    }
}
