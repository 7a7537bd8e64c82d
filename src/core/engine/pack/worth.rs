//! The worth of lines of code and output: the names and lines that the agent is likely to use again, each counted once.

use super::content::LiveBlocks;
use crate::engine::reduce::{names, without_number};
use crate::engine::{Need, terms_of};
use crate::model::Block;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Lines of a piece of code, and the least after which it can end at a line of the outermost level.
const PIECE_LINES: usize = 12;
const LEAST_LINES: usize = 4;
/// Bytes that a piece costs in addition to its own: its share of the title.
const PIECE_BYTES: f32 = 24.0;
/// Lengths of lines in bytes: shorter ones hold no statement, longer ones are data.
pub(super) const LINE_BYTES: Range<usize> = 12..301;

/// A piece of a text, which is shown whole.
pub(super) struct Piece {
    pub lines: Range<usize>,
    pub bytes: usize,
    names: Vec<u32>,
    /// Hashes of its lines that can be quoted.
    quotes: Vec<u32>,
}

/// Returns the facts of the names in the originals of the texts, calls and results from which a pack is made.
pub(super) fn need(live: &LiveBlocks<'_>) -> Need {
    let blocks = live.texts().chain(live.records());
    let named: Vec<(&Block, Vec<u32>)> = blocks.filter_map(|block| Some((block, terms_of(&live.source(block)?.text)))).collect();
    Need::of(live.reading.steps, named.iter().map(|(block, names)| (*block, names.as_slice())))
}

impl Piece {
    /// Returns what it is worth for each of its bytes beside what is shown.
    pub fn worth(&self, need: &Need, block: &Block, shown: &FxHashSet<u32>) -> f32 {
        let is_new = |term: &&u32| !shown.contains(*term);
        let names: f32 = self.names.iter().filter(is_new).map(|term| need.of_name(*term)).sum();
        let quotes = self.quotes.iter().filter(is_new).count() as f32 * need.of_line(block);
        (names + quotes) / (self.bytes as f32 + PIECE_BYTES)
    }

    /// Marks its names and lines as shown.
    pub fn show(&self, shown: &mut FxHashSet<u32>) {
        shown.extend(self.names.iter().chain(&self.quotes));
    }
}

/// Returns the pieces of a text: of code runs of lines up to a blank line, of output single lines.
pub(super) fn pieces(lines: &[&str], is_code: bool) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..=lines.len() {
        let is_end = lines.get(at).is_none_or(|line| line.trim().is_empty() || line.len() >= LINE_BYTES.end);
        if is_end {
            runs(&lines[start..at], start, is_code, &mut found);
            start = at + 1;
        }
    }
    found.into_iter().filter_map(|range| piece(lines, range)).collect()
}

fn runs(lines: &[&str], first: usize, is_code: bool, found: &mut Vec<Range<usize>>) {
    if !is_code {
        found.extend((first..first + lines.len()).map(|at| at..at + 1));
        return;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outermost = lines.iter().map(|line| indent(line)).min().unwrap_or_default();
    let mut start = 0;
    for (at, line) in lines.iter().enumerate() {
        let begins =
            indent(line) == outermost && line.trim_start().starts_with(|c: char| c.is_alphanumeric() || "_@#/-*".contains(c));
        let is_full = at - start >= PIECE_LINES;
        if is_full || begins && lines.len() > PIECE_LINES && at - start >= LEAST_LINES {
            found.push(first + start..first + at);
            start = at;
        }
    }
    if start < lines.len() {
        found.push(first + start..first + lines.len());
    }
}

/// Returns a piece; `None` if no line of it holds a statement.
fn piece(lines: &[&str], range: Range<usize>) -> Option<Piece> {
    let own = &lines[range.clone()];
    let holds = |line: &&str| LINE_BYTES.contains(&line.trim().len());
    own.iter().any(holds).then(|| {
        let (mut terms, mut quotes) = (FxHashSet::default(), FxHashSet::default());
        for line in own {
            let (names, line) = names(line);
            terms.extend(names);
            quotes.extend(line.filter(|line| line.quotable).map(|line| line.term));
        }
        let sorted = |set: FxHashSet<u32>| {
            let mut list: Vec<u32> = set.into_iter().collect();
            list.sort_unstable();
            list
        };
        Piece { lines: range, bytes: own.iter().map(|line| line.len() + 1).sum(), names: sorted(terms), quotes: sorted(quotes) }
    })
}

pub(super) fn plain(line: &str) -> &str {
    without_number(line).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_code_end_at_blank_lines_and_keep_their_braces() {
        let check = |text: &str, is_code: bool, expected: &[Range<usize>]| {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(pieces(&lines, is_code).into_iter().map(|piece| piece.lines).collect::<Vec<_>>(), expected, "{text}");
        };
        check("fn main_entry() {\n    call_it(1);\n}\n\nfn other_one() {\n}", true, &[0..3, 4..6]);
        check("the first line here\nshort\nthe second line here", false, &[0..1, 2..3]);
        let long = "fn a_function() {\n    one();\n    two();\n    three();\n}\n".repeat(4);
        check(&long, true, &[0..5, 5..10, 10..15, 15..20]);
        check("}\n\n", true, &[]);
    }
}
