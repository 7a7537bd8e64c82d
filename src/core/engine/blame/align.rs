//! The comparison of two lists of lines that claims only what is certain.

use crate::text::differences::differences;
use rustc_hash::FxHashMap;
use similar::DiffOp;

/// Letters and digits in the lines of a run by which it is recognized, and of a single line. A line counts if each list has it once.
const TELLING_RUN: usize = 12;
const TELLING_LINE: usize = 16;
/// Words of a single line by which it is recognized.
const TELLING_WORDS: usize = 3;

/// Pairs of lines that are compared in all ways. In longer texts without lines that occur once, repeated lines are unclear.
const MAX_PAIRS: usize = 1 << 21;

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

/// Compares two versions of one text. A line is the same, or new, only if it is in every comparison with the fewest differences.
pub fn compare(before: &[&str], after: &[&str]) -> Vec<Match> {
    let mut found = vec![Match::New; after.len()];
    let (mut first, mut next) = (0, 0);
    for (line, place) in anchors(before, after) {
        compare_all(&before[first..line], &after[next..place], first, &mut found[next..place]);
        found[place] = Match::Same(line);
        (first, next) = (line + 1, place + 1);
    }
    compare_all(&before[first..], &after[next..], first, &mut found[next..]);
    found
}

/// Returns the pairs of lines that each text has once, in the order of both, without those that were moved.
fn anchors(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let (in_before, in_after) = (counts(before), counts(after));
    let is_single = |line: &str| in_before.get(line) == Some(&1) && in_after.get(line) == Some(&1);
    let singles = |lines: &[&str]| (0..lines.len()).filter(|at| is_single(lines[*at])).collect::<Vec<usize>>();
    let (old, new) = (singles(before), singles(after));
    let old_texts: Vec<&str> = old.iter().map(|at| before[*at]).collect();
    let new_texts: Vec<&str> = new.iter().map(|at| after[*at]).collect();
    let forward = matching(&old_texts, &new_texts);
    let backward = matching(&reversed(&old_texts), &reversed(&new_texts));
    let pairs = (0..new.len()).zip(forward).zip(backward.into_iter().rev());
    let agreed = pairs.filter_map(|((place, forward), backward)| {
        let line = forward.filter(|line| backward == Some(old.len() - 1 - line))?;
        Some((old[line], new[place]))
    });
    agreed.collect()
}

/// Compares two lists in all ways with the fewest differences. `offset` is the number of the first line before.
fn compare_all(before: &[&str], after: &[&str], offset: usize, found: &mut [Match]) {
    let (rows, columns) = (before.len(), after.len());
    if rows == 0 || columns == 0 {
        return;
    }
    if rows * columns > MAX_PAIRS {
        let known = counts(before);
        for (found, line) in found.iter_mut().zip(after) {
            *found = if known.contains_key(line) { Match::Unclear } else { Match::New };
        }
        return;
    }
    let at = |row: usize, column: usize| row * (columns + 1) + column;
    let mut starts = vec![0u32; (rows + 1) * (columns + 1)];
    let mut ends = starts.clone();
    // The number of equal lines in the lists before a pair of lines, and from it on.
    for row in 0..rows {
        for column in 0..columns {
            let equal = starts[at(row, column)] + u32::from(before[row] == after[column]);
            starts[at(row + 1, column + 1)] = equal.max(starts[at(row, column + 1)]).max(starts[at(row + 1, column)]);
        }
    }
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let equal = ends[at(row + 1, column + 1)] + u32::from(before[row] == after[column]);
            ends[at(row, column)] = equal.max(ends[at(row, column + 1)]).max(ends[at(row + 1, column)]);
        }
    }
    let most = ends[0];
    for (column, found) in found.iter_mut().enumerate() {
        let is_pair =
            |row: &usize| before[*row] == after[column] && starts[at(*row, column)] + 1 + ends[at(row + 1, column + 1)] == most;
        let mut pairs = (0..rows).filter(is_pair);
        *found = match (pairs.next(), pairs.next()) {
            (None, _) => Match::New,
            (Some(_), Some(_)) => Match::Unclear,
            (Some(row), None) => {
                let can_miss = (0..=rows).any(|row| starts[at(row, column)] + ends[at(row, column + 1)] == most);
                if can_miss { Match::Unclear } else { Match::Same(offset + row) }
            }
        };
    }
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
fn matching(before: &[&str], after: &[&str]) -> Vec<Option<usize>> {
    let mut found = vec![None; after.len()];
    for operation in differences(before, after) {
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
        check(&["a", "1", "}", ""], &["a", "2", "}", "", "b", "}", ""], &[Same(0), New, Unclear, Unclear, New, Unclear, Unclear]);
        check(&["a", "b"], &["b", "a"], &[Unclear, Unclear]);
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
