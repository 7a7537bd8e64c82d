//! Prose: text written by people and the model, web pages, documents, reports of subagents; split into sentences if paragraphs are
//! long.

use super::lines::{lines, without_number};
use super::piece::{part_of, salience, sentences};
use super::salience::{self, Style};
use super::{Piece, Reducible};

/// Salience added to the first sentence of a paragraph, which introduces its subject.
const FIRST: f32 = 0.000_3;

/// Bytes of a line that can be wrapped within a sentence.
const WRAPPED_BYTES: usize = 50;

/// Returns true if a line is an item of a list, a row of a table, a quotation or a tag.
fn is_item(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with(['-', '*', '+', '•', '|', '>', '<', '#']) || rest.len() < text.len() && rest.starts_with(['.', ')'])
}

/// Returns true for any text of sentences.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    Style::detect(input) == Style::Prose
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut heading = None;
    let mut before: Option<usize> = None;
    for line in lines(input.content) {
        let text = without_number(&line).trim();
        let heads = text.starts_with('#') && salience::heading(text).is_some();
        // A sentence that continues in the next line is understood from its beginning.
        let is_wrapped =
            before.is_some_and(|before| pieces[before..].iter().map(|piece| piece.text.len()).sum::<usize>() >= WRAPPED_BYTES);
        let begun = before.filter(|_| text.starts_with(char::is_lowercase) || is_wrapped && !is_item(text));
        let under = if heads { None } else { begun.or(heading) };
        let first = pieces.len();
        (heading, before) = match text {
            _ if heads => (Some(first), None),
            "" => (heading, None),
            text if text.ends_with(['.', '!', '?', ':', ';', '|', '`', '}']) => (heading, None),
            _ => (heading, Some(first)),
        };
        let salience = salience(&line, Style::Prose) + FIRST;
        for (place, part) in sentences(&line).into_iter().enumerate() {
            let (salience, lines) = if place == 0 { (salience, 1) } else { (0.0, 0) };
            pieces.push(Piece { salience, under, lines, inline: place > 0, ..Piece::line(part_of(&line, part)) });
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BlockKind;

    #[test]
    fn a_long_paragraph_is_taken_apart_by_sentence() {
        let content = format!("# Title\n{}Then it ends here.", "This is a sentence of some length. ".repeat(9));
        let input = Reducible::plain(BlockKind::Text, &content);
        let pieces = pieces(&input);
        assert_eq!((pieces.len(), pieces[2].inline, &*pieces[2].text), (11, true, "This is a sentence of some length. "));
    }

    #[test]
    fn text_stands_under_its_heading_and_the_rest_of_a_sentence_under_its_beginning() {
        let content = "# Title\nA sentence that goes on\nin the next line.\nanother\n\n## Part\nText";
        let input = Reducible::plain(BlockKind::Text, content);
        let under: Vec<Option<usize>> = pieces(&input).iter().map(|piece| piece.under).collect();
        assert_eq!(under, [None, Some(0), Some(1), Some(0), Some(0), None, Some(5)]);
        let content = "A sentence that is wrapped at the margin, and names\n`a_b` in its second line.\n- An item of a list that is also quite long, without an end\n- B";
        let input = Reducible::plain(BlockKind::Text, content);
        let under: Vec<Option<usize>> = pieces(&input).iter().map(|piece| piece.under).collect();
        assert_eq!(under, [None, Some(0), None, None]);
    }
}
