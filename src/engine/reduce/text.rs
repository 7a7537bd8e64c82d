//! Text of any kind: what was said, what a tool answered.

use super::piece::line_pieces;
use super::telling::Style;
use super::{Piece, Reducer, Reducible};

/// Any text, by its lines.
pub(super) struct Text;

impl Reducer for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn fits(&self, _: &Reducible<'_>) -> bool {
        true
    }

    fn pieces<'a>(&self, input: &Reducible<'a>) -> Vec<Piece<'a>> {
        line_pieces(input.content, Style::of(input))
    }
}
