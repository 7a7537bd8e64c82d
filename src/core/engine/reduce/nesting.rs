//! Nesting of a line: the enclosing declaration, which is needed to understand a line of code.

use super::Piece;
use super::lines::without_number;
use super::salience::declaration;

const TAB: usize = 4;

/// Sets the enclosing declaration of each indented line that has no parent yet.
pub(super) fn nest(pieces: &mut [Piece<'_>]) {
    let mut around: Vec<(usize, usize)> = Vec::new();
    let mut under = None;
    for (place, piece) in pieces.iter_mut().enumerate() {
        let text = without_number(&piece.text);
        // Of a blank line of a numbered file only the number is left.
        let blank = !piece.inline && text.trim_start().bytes().all(|byte| byte.is_ascii_digit());
        if !piece.inline && !blank {
            let indent = indent(text);
            while around.last().is_some_and(|(outer, _)| *outer >= indent) {
                around.pop();
            }
            under = around.last().map(|(_, place)| *place);
            if declaration(text).is_some() {
                around.push((indent, place));
            }
        }
        if !blank {
            piece.under = piece.under.or(under);
        }
    }
}

/// The columns before the text of a line.
fn indent(line: &str) -> usize {
    line.chars().map_while(|c| [(' ', 1), ('\t', TAB)].iter().find(|(known, _)| *known == c).map(|(_, columns)| columns)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{Style, line_pieces};
    use super::*;

    #[test]
    fn a_line_is_below_its_declaration() {
        let text = "use a;\nimpl A {\n    fn b() {\n        if c {\n            d();\n        }\n    }\n    e: F,\n}\ng();";
        let mut pieces = line_pieces(text, Style::Code);
        nest(&mut pieces);
        let under: Vec<Option<usize>> = pieces.iter().map(|piece| piece.under).collect();
        assert_eq!(under, [None, None, Some(1), Some(2), Some(2), Some(2), Some(1), Some(1), None, None]);
    }

    #[test]
    fn numbers_of_lines_are_not_indentation() {
        let mut pieces = line_pieces("     9→def a():\n    10→\n    11→\tb()\n    12→c()", Style::Code);
        nest(&mut pieces);
        assert_eq!(pieces.iter().map(|piece| piece.under).collect::<Vec<_>>(), [None, None, Some(0), None]);
    }
}
