//! A digest: one text in the place of all that is old, to hand the work over.
//!
//! What is worth most of every block, as in a window that is shortened in place, but without what stands around it: a line
//! alone, a name alone. Names are most of it: the names in 2 % of a session's characters are nine in ten of those that the
//! agent needs next, lines cost five times as much a piece.

use super::need::Need;
use super::select::{Costs, Text, select};
use crate::engine::reduce::{KeptPieces, Piece, Style, line_pieces, whole_name, without_number};
use crate::engine::{Reading, amount, label};
use crate::model::{Block, BlockKind, BlockNumber, Level, Role, ToolVerb};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// In a digest a name has a space behind it and a line its line end; nothing stands in its place anyway.
const COSTS: Costs = Costs { piece_bytes: 1.0, name_bytes: 1.0, name_share: 1.0 };
/// Bytes up to which what the user typed stands in a digest whole.
const PROMPT_BYTES: usize = 300;

/// A block that a digest stands for.
pub struct Old<'a> {
    /// It.
    pub block: &'a Block,
    /// Its content for people, as it was before aperture first changed it.
    pub content: &'a str,
    /// Whether all of it is to stand in the digest.
    pub whole: bool,
}

/// What is worth most of old blocks, in their order: lines under the number of their block, then names by turn. What the rest
/// of the window shows is not said again. `worth` is what a byte must be worth.
pub fn digest(reading: &Reading, old: &[Old<'_>], worth: f32) -> String {
    let mut need = Need::new(reading);
    for old in old.iter().filter(|old| old.block.level != Level::Original) {
        need.replace(old.block, &crate::engine::terms_of(old.content));
    }
    let numbers: FxHashSet<BlockNumber> = old.iter().map(|old| old.block.number).collect();
    let stays = |block: &&Block| block.role != Role::System && !numbers.contains(&block.number);
    let shown: FxHashSet<u32> = reading.in_window().filter(stays).flat_map(|block| block.terms.iter().copied()).collect();
    let pieces: Vec<Vec<Piece<'_>>> = old.iter().map(|old| if is_whole(old) { Vec::new() } else { pieces(old) }).collect();
    let texts = pieces.iter().zip(old);
    let texts: Vec<Text<'_>> = texts.map(|(pieces, old)| Text { pieces, line: need.of_line(old.block), weight: 1.0 }).collect();
    let selection = select(&texts, &|term| need.of_name(term), &shown, &COSTS);
    let kept = selection.first(selection.worth_at_least(worth));
    written(old, &pieces, &kept)
}

/// Whether all of a block stands in the digest: what is held, and what the user typed.
fn is_whole(old: &Old<'_>) -> bool {
    let typed = old.block.role == Role::User && old.block.kind == BlockKind::Text && old.content.len() <= PROMPT_BYTES;
    old.whole || typed
}

/// The lines of a content, without their numbers and indents; of an edit those that it wrote.
fn pieces<'a>(old: &Old<'a>) -> Vec<Piece<'a>> {
    let lines = line_pieces(old.content, Style::Output).into_iter();
    let mut lines: Vec<Piece<'_>> = lines.map(|piece| Piece { text: trimmed(piece.text, ""), ..piece }).collect();
    let tool = old.block.tool.as_deref().filter(|_| old.block.role == Role::ToolUse);
    if !tool.is_some_and(|tool| tool.verb == ToolVerb::Edit) {
        return lines;
    }
    let is_patch = old.content.contains("*** Begin Patch");
    let mut is_old = false;
    lines.retain(|piece| {
        is_old = match &*piece.text {
            text if is_patch => text.starts_with('-'),
            text if text.starts_with("old_string: ") => true,
            text if text.starts_with("new_string: ") => false,
            _ => is_old,
        };
        !is_old
    });
    let mark = if is_patch { "+" } else { "new_string: " };
    lines.into_iter().map(|piece| Piece { text: trimmed(piece.text, mark), ..piece }).collect()
}

/// A line without its number, its indent, and a mark at its beginning.
fn trimmed<'a>(text: Cow<'a, str>, mark: &str) -> Cow<'a, str> {
    let trim = |text: &str| -> Range<usize> {
        let inner = without_number(text).trim();
        let inner = inner.strip_prefix(mark).unwrap_or(inner).trim();
        let start = inner.as_ptr() as usize - text.as_ptr() as usize;
        start..start + inner.len()
    };
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[trim(text)]),
        Cow::Owned(text) => Cow::Owned(text[trim(&text)].to_owned()),
    }
}

fn written(old: &[Old<'_>], pieces: &[Vec<Piece<'_>>], kept: &[KeptPieces]) -> String {
    let tokens: f64 = old.iter().map(|old| old.block.tokens.value).sum();
    let mut text = format!(
        "[handed over: {} blocks of {} tokens in short. @recall(NUMBER) brings a block back, @recall(\"words\") what fits them.]",
        old.len(),
        amount(tokens.round() as u64)
    );
    let mut about = String::new();
    for ((old, pieces), kept) in old.iter().zip(pieces).zip(kept) {
        let lines: Vec<&str> = match is_whole(old) {
            true => vec![old.content.trim()],
            false => pieces.iter().zip(&kept.pieces).filter(|(_, kept)| **kept).map(|(piece, _)| &*piece.text).collect(),
        };
        if lines.is_empty() {
            continue;
        }
        let of = subject(old.block);
        let _ = write!(text, "\n#{}", old.block.number);
        if of != about && !of.is_empty() {
            let _ = write!(text, " {of}");
        }
        about = of;
        for line in lines {
            let _ = write!(text, "\n{line}");
        }
    }
    let mut turn = None;
    for ((old, pieces), kept) in old.iter().zip(pieces).zip(kept) {
        for (piece, range) in kept.names.iter().flat_map(|(piece, ranges)| ranges.iter().map(move |range| (piece, range))) {
            let of = old.block.position.turn;
            if turn.is_none() {
                text.push_str("\nNamed besides, by turn:");
            }
            if turn.replace(of) != Some(of) {
                let _ = write!(text, "\n{of}:");
            }
            let words = &pieces[*piece].text;
            let _ = write!(text, " {}", &words[whole_name(words, range.clone())]);
        }
    }
    text
}

/// What a block is about, for the line above it: who said it, or the file.
fn subject(block: &Block) -> String {
    match (block.role, block.tool.as_deref()) {
        (Role::User, _) => "user".to_owned(),
        (_, Some(tool)) if tool.verb.names_file() => label(block),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tool;

    fn check(content: &str, expected: &[&str]) {
        let mut block = Block::new(BlockKind::ToolUse, Role::ToolUse);
        let (name, target) = ("Edit".into(), "/w/a.rs".into());
        block.tool = Some(Box::new(Tool { name, verb: ToolVerb::Edit, target, scope: 0, whole: true, parameters: 3 }));
        let found = pieces(&Old { block: &block, content, whole: false });
        assert_eq!(found.iter().map(|piece| &*piece.text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn of_an_edit_the_lines_that_it_wrote_count() {
        check(
            "file_path: /w/a.rs\nold_string: let a = 1;\n  b();\nnew_string:     let a = 2;\n  c();\n",
            &["file_path: /w/a.rs", "let a = 2;", "c();"],
        );
        check("file_path: /w/a.rs\ncontent: x\n", &["file_path: /w/a.rs", "content: x"]);
    }

    #[test]
    fn of_a_patch_the_lines_count_that_it_left_or_put() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n fn a() {\n-    one();\n+    two();\n }\n*** End Patch";
        check(patch, &["*** Begin Patch", "*** Update File: a.rs", "@@", "fn a() {", "two();", "}", "*** End Patch"]);
    }
}
