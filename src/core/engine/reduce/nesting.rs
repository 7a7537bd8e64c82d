//! Nesting of a line: the enclosing declaration, which is needed to understand a line of code, and the beginning of its sentence in a
//! comment.

use super::Piece;
use super::lines::without_number;
use super::salience::declaration;

const TAB: usize = 4;
/// Marks that start a line of a comment, and those that end a sentence in it.
const COMMENTS: &[&str] = &["/// ", "//! ", "// ", "# ", "-- "];
const SENTENCE_ENDS: &[char] = &['.', '!', '?', ':', ';'];

/// Sets the enclosing declaration of each indented line that has no parent yet.
pub(super) fn nest(pieces: &mut [Piece<'_>]) {
    let mut around: Vec<(usize, usize)> = Vec::new();
    let mut under = None;
    // A line of a comment whose sentence continues, with its indentation.
    let mut open: Option<(usize, usize)> = None;
    for (place, piece) in pieces.iter_mut().enumerate() {
        let text = without_number(&piece.text);
        // Of a blank line of a numbered file only the number is left.
        let blank = !piece.inline && text.trim_start().bytes().all(|byte| byte.is_ascii_digit());
        if !piece.inline && !blank {
            let indent = indent(text);
            let words = comment(text);
            let begun = open.filter(|(_, before)| words.is_some() && *before == indent).map(|(place, _)| place);
            open = words.filter(|words| !words.ends_with(SENTENCE_ENDS)).map(|_| (place, indent));
            piece.under = piece.under.or(begun);
            while around.last().is_some_and(|(outer, _)| *outer >= indent) {
                around.pop();
            }
            under = around.last().map(|(_, place)| *place);
            if declaration(text).is_some() {
                around.push((indent, place));
            }
        }
        match blank {
            true => open = None,
            false => piece.under = piece.under.or(under),
        }
    }
}

/// Returns the words of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let words = COMMENTS.iter().find_map(|mark| line.trim().strip_prefix(mark));
    words.or_else(|| line.trim_end().strip_prefix(' ')?.trim_start().strip_prefix("* ")).filter(|words| words.contains(' '))
}

/// The columns before the text of a line.
fn indent(line: &str) -> usize {
    line.chars().map_while(|c| [(' ', 1), ('\t', TAB)].iter().find(|(known, _)| *known == c).map(|(_, columns)| columns)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::Style;
    use super::super::piece::line_pieces;
    use super::*;

    fn check(text: &str, expected: &[Option<usize>]) {
        let mut pieces = line_pieces(text, Style::Code);
        nest(&mut pieces);
        assert_eq!(pieces.iter().map(|piece| piece.under).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn a_line_is_below_its_declaration() {
        let text = "use a;\nimpl A {\n    fn b() {\n        if c {\n            d();\n        }\n    }\n    e: F,\n}\ng();";
        check(text, &[None, None, Some(1), Some(2), Some(2), Some(2), Some(1), Some(1), None, None]);
    }

    #[test]
    fn a_line_of_a_comment_is_below_the_beginning_of_its_sentence() {
        let text = "// It keeps the totals\n// of a shop, see\n// `sum`. They are exact.\n// Another one\nlet a = 1;\n    // apart from\n// it here";
        check(text, &[None, Some(0), Some(1), None, None, None, None]);
    }

    #[test]
    fn numbers_of_lines_are_not_indentation() {
        check("     9→def a():\n    10→\n    11→\tb()\n    12→c()", &[None, None, Some(0), None]);
    }
}
