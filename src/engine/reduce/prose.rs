//! Prose: what people and the model wrote, web pages, documents, reports of subagents; by sentence where paragraphs are long.

use super::lines::lines;
use super::piece::{sentences, tells};
use super::telling::Style;
use super::{Piece, Reducer, Reducible};
use std::borrow::Cow;

/// What the first sentence of a paragraph tells: it says what the paragraph is about.
const FIRST: f32 = 0.000_3;

/// Any text of sentences.
pub(super) struct Prose;

impl Reducer for Prose {
    fn name(&self) -> &'static str {
        "prose"
    }

    fn fits(&self, input: &Reducible<'_>) -> bool {
        Style::of(input) == Style::Prose
    }

    fn pieces<'a>(&self, input: &Reducible<'a>) -> Vec<Piece<'a>> {
        let mut pieces: Vec<Piece<'a>> = Vec::new();
        for line in lines(input.content) {
            let tells = tells(&line, Style::Prose) + FIRST;
            for (place, part) in sentences(&line).into_iter().enumerate() {
                let text = match &line {
                    Cow::Borrowed(line) => Cow::Borrowed(&line[part]),
                    Cow::Owned(line) => Cow::Owned(line[part].to_owned()),
                };
                let first = place == 0;
                let tells = if first { tells } else { 0.0 };
                pieces.push(Piece { tells, lines: usize::from(first), inline: !first, ..Piece::line(text) });
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BlockKind;

    #[test]
    fn a_long_paragraph_is_taken_apart_by_sentence() {
        let content = format!("# Title\n{}Then it ends here.", "This is a sentence of some length. ".repeat(9));
        let input = Reducible { kind: BlockKind::Text, tool: None, error: false, images: &[], content: &content };
        let pieces = Prose.pieces(&input);
        assert_eq!((pieces.len(), pieces[2].inline, &*pieces[2].text), (11, true, "This is a sentence of some length. "));
    }
}
