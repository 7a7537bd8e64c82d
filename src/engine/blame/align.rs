//! The comparison of two lists of lines that claims only what is certain.

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Letters and digits in the lines of a run by which it is recognized, and of a single line. A line counts if each list has it once.
const TELLING_RUN: usize = 12;
const TELLING_LINE: usize = 24;
/// Words of a single line by which it is recognized.
const TELLING_WORDS: usize = 3;

/// The line of the first list that a line of the second one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The first list does not have the line at its place.
    New,
    /// It is this line of the first list.
    Same(usize),
    /// More than one comparison is possible.
    Unclear,
}

/// Compares two versions of one text. A line is the same, or new, only if all comparisons agree: by lines that occur once and by the
/// fewest differences, from both ends.
pub fn compare(before: &[&str], after: &[&str]) -> Vec<Match> {
    let (last_before, last_after) = (reversed(before), reversed(after));
    let mut all = Vec::with_capacity(4);
    for algorithm in [Algorithm::Patience, Algorithm::Myers] {
        all.push(matching(algorithm, before, after));
        let backward = matching(algorithm, &last_before, &last_after).into_iter().rev();
        all.push(backward.map(|at| at.map(|at| before.len() - 1 - at)).collect());
    }
    let agreed = (0..after.len()).map(|at| match all[0][at] {
        first if all.iter().any(|matches| matches[at] != first) => Match::Unclear,
        Some(line) => Match::Same(line),
        None => Match::New,
    });
    agreed.collect()
}

/// Finds the lines of a part of a text in another text, which need not have them. Returns the line of the part for each line of the
/// text, if it belongs to a run of consecutive lines that are recognized.
pub fn recognize(part: &[&str], text: &[&str]) -> Vec<Option<usize>> {
    let matches = compare(part, text);
    let mut found = vec![None; text.len()];
    if part == text {
        return (0..text.len()).map(Some).collect();
    }
    let (in_part, in_text) = (counts(part), counts(text));
    let is_single = |line: &str| in_part.get(line) == Some(&1) && in_text.get(line) == Some(&1);
    let mut start = 0;
    while start < text.len() {
        let Match::Same(first) = matches[start] else {
            start += 1;
            continue;
        };
        let length = (0..).take_while(|at| matches.get(start + at) == Some(&Match::Same(first + at))).count();
        let run = &text[start..start + length];
        let telling: usize = run.iter().filter(|line| is_single(line)).map(|line| letters(line)).sum();
        let is_recognized = match run {
            [line] => telling >= TELLING_LINE && line.split_whitespace().count() >= TELLING_WORDS,
            _ => telling >= TELLING_RUN,
        };
        if is_recognized {
            (0..length).for_each(|at| found[start + at] = Some(first + at));
        }
        start += length;
    }
    found
}

/// Returns the line of the first list for each line of the second one, if they are equal and in the same order.
fn matching(algorithm: Algorithm, before: &[&str], after: &[&str]) -> Vec<Option<usize>> {
    let mut found = vec![None; after.len()];
    for operation in capture_diff_slices(algorithm, before, after) {
        if let DiffOp::Equal { old_index, new_index, len } = operation {
            (0..len).for_each(|at| found[new_index + at] = Some(old_index + at));
        }
    }
    found
}

fn reversed<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().rev().copied().collect()
}

fn counts<'a>(lines: &[&'a str]) -> FxHashMap<&'a str, usize> {
    let mut counts = FxHashMap::default();
    lines.iter().for_each(|line| *counts.entry(*line).or_default() += 1);
    counts
}

/// Returns the number of letters and digits.
pub fn letters(line: &str) -> usize {
    line.chars().filter(|character| character.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_can_be_either_of_two_is_unclear() {
        use Match::{New, Same, Unclear};
        let check =
            |before: &[&str], after: &[&str], expected: &[Match]| assert_eq!(compare(before, after), expected, "{after:?}");
        check(&["a", "}"], &["a", "x", "}"], &[Same(0), New, Same(1)]);
        check(&["a", "}", "b"], &["a", "}", "}", "b"], &[Same(0), Unclear, Unclear, Same(2)]);
        check(&["a", "b"], &["b"], &[Same(1)]);
        check(&[], &["b"], &[New]);
    }

    #[test]
    fn a_run_is_recognized_by_a_line_that_occurs_once() {
        let check = |part: &[&str], text: &[&str], expected: &[Option<usize>]| assert_eq!(recognize(part, text), expected);
        check(&["let total = sum(items);", "}"], &["x", "let total = sum(items);", "}"], &[None, Some(0), Some(1)]);
        check(&["return", "}"], &["x", "return", "}"], &[None, None, None]);
        check(&["return nil, err"], &["x", "return nil, err"], &[None, None]);
        check(&["}"], &["}"], &[Some(0)]);
    }
}
