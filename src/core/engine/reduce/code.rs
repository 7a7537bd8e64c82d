//! Source files, and all text without a specific reducer: split into lines, with declarations as the most salient ones.

use super::nesting::nest;
use super::output::mark_repeated;
use super::piece::line_pieces;
use super::salience::Style;
use super::{Piece, Reducible};

pub(super) fn fits(_: &Reducible<'_>) -> bool {
    true
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces = line_pieces(input.content, Style::detect(input));
    mark_repeated(&mut pieces);
    nest(&mut pieces);
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::check_pieces;
    use crate::model::ToolVerb;

    #[test]
    fn numbers_stay_with_their_lines() {
        let text = "     1→impl Row {\n     2→    fn price(&self) {\n     3→    }";
        check_pieces("code", ToolVerb::Read, text, text);
    }
}
