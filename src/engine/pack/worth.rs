//! The worth of lines of code and output: the names and lines that the agent is likely to use again, each counted once.

use super::content::{LiveBlocks, Sources};
use crate::engine::reduce::{names, without_number};
use crate::engine::terms_of;
use crate::model::{Block, Role, ToolVerb};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Lines of a piece of code, and the least after which it can end at a line of the outermost level.
const PIECE_LINES: usize = 12;
const LEAST_LINES: usize = 4;
/// Bytes that a piece costs in addition to its own: its share of the title.
const PIECE_BYTES: f64 = 24.0;
/// Lengths of lines in bytes: shorter ones hold no statement, longer ones are data.
pub(super) const LINE_BYTES: Range<usize> = 12..301;

/// Occurrences of a name.
#[derive(Clone, Copy, Default)]
struct Use {
    blocks: u32,
    /// Last step in which it occurs.
    step: u32,
    /// Steps in which the agent wrote it, and the last of them.
    written: u32,
    written_step: u32,
}

/// The names of a session, with their occurrences in texts of the agent, calls and results.
pub(super) struct Names {
    uses: FxHashMap<u32, Use>,
    step: u32,
}

/// A piece of a text, which is shown whole.
pub(super) struct Piece {
    /// Its lines in the text.
    pub lines: Range<usize>,
    /// Bytes of its lines.
    pub bytes: usize,
    names: Vec<u32>,
    /// Hashes of its lines that can be quoted.
    quotes: Vec<u32>,
}

impl Names {
    /// Counts the names of the blocks from whose originals a pack is made.
    pub fn new(live: &LiveBlocks<'_>, sources: &Sources) -> Names {
        let mut found = Names { uses: FxHashMap::default(), step: 0 };
        for block in live.texts().chain(live.records()) {
            let step = block.position.step;
            found.step = found.step.max(step);
            let Some(source) = sources.get(&block.number) else { continue };
            for term in terms_of(&source.text) {
                let known = found.uses.entry(term).or_default();
                known.blocks += 1;
                known.step = known.step.max(step);
                let is_written = matches!(block.role, Role::Assistant | Role::ToolUse);
                if is_written && (known.written == 0 || known.written_step != step) {
                    (known.written, known.written_step) = (known.written + 1, step);
                }
            }
        }
        found
    }

    /// Returns the probability that the agent uses a name soon: that of [`crate::engine::Need`], for originals.
    fn of_name(&self, term: u32) -> f64 {
        let Some(known) = self.uses.get(&term) else { return 0.0 };
        let age = f64::from(self.step.saturating_sub(known.step));
        let written = if known.written > 0 { 1.1 + 0.7 * f64::from(known.written).ln_1p() } else { 0.0 };
        chance(-3.3 - 0.45 * age.ln_1p() + written - if known.blocks > 1 { 0.0 } else { 0.95 })
    }

    /// Returns the probability that the agent quotes a line of a block soon.
    fn of_line(&self, block: &Block) -> f64 {
        let age = f64::from(self.step.saturating_sub(block.position.step));
        let kind = match block.tool.as_deref().map(|tool| tool.verb) {
            Some(ToolVerb::Edit) => 3.2,
            Some(ToolVerb::Read) if block.role == Role::ToolResult => 1.7,
            _ if block.role == Role::ToolUse => -3.0,
            _ => 0.0,
        };
        chance(-5.4 - 1.04 * age.ln_1p() + kind)
    }

    /// Returns what a piece of a block is worth for each of its bytes beside what is shown.
    pub fn worth(&self, block: &Block, piece: &Piece, shown: &FxHashSet<u32>) -> f64 {
        let is_new = |term: &&u32| !shown.contains(*term);
        let names: f64 = piece.names.iter().filter(is_new).map(|term| self.of_name(*term)).sum();
        let quotes = piece.quotes.iter().filter(is_new).count() as f64 * self.of_line(block);
        (names + quotes) / (piece.bytes as f64 + PIECE_BYTES)
    }
}

impl Piece {
    /// Marks its names and lines as shown.
    pub fn show(&self, shown: &mut FxHashSet<u32>) {
        shown.extend(self.names.iter().chain(&self.quotes));
    }
}

fn chance(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
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

/// Splits a run of lines without a blank one.
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
            terms.extend(names.into_iter().map(|name| name.term));
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

/// Returns a line without the number of its line in a file.
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
