//! The comparison of two lists of lines that claims only what is certain.

use crate::text::differences::differences;
use rustc_hash::FxHashMap;
use similar::DiffOp;
use std::ops::Range;

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

/// A text with the places of its lines.
pub struct Places<'a> {
    lines: &'a [&'a str],
    of: FxHashMap<&'a str, Vec<usize>>,
}

impl<'a> Places<'a> {
    pub fn new(lines: &'a [&'a str]) -> Places<'a> {
        let mut of: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        lines.iter().enumerate().for_each(|(place, line)| of.entry(line).or_default().push(place));
        Places { lines, of }
    }

    fn within(&self, line: &str, range: &Range<usize>) -> &[usize] {
        let places = self.of.get(line).map_or(&[][..], Vec::as_slice);
        let place = |bound: usize| places.partition_point(|place| *place < bound);
        &places[place(range.start)..place(range.end)]
    }
}

/// Compares two versions of one text. A line is the same, or new, only if it is in every comparison with the fewest differences.
pub fn compare(before: &[&str], after: &[&str]) -> Vec<Match> {
    let mut found = vec![Match::New; after.len()];
    for (place, line) in known_lines(before, &Places::new(after)) {
        found[place] = line;
    }
    found
}

/// Returns the places of the lines that are not new, in order.
fn known_lines(before: &[&str], after: &Places<'_>) -> Vec<(usize, Match)> {
    let mut found = Vec::new();
    let (mut first, mut next) = (0, 0);
    for (line, place) in anchors(before, after) {
        compare_all(&before[first..line], first, after, next..place, &mut found);
        found.push((place, Match::Same(line)));
        (first, next) = (line + 1, place + 1);
    }
    compare_all(&before[first..], first, after, next..after.lines.len(), &mut found);
    found
}

/// Returns the pairs of lines that each text has once, in the order of both, without those that were moved.
fn anchors(before: &[&str], after: &Places<'_>) -> Vec<(usize, usize)> {
    let in_before = counts(before, after);
    let pair = |(line, text): (usize, &&str)| match after.of.get(text)?[..] {
        [place] if in_before[text] == 1 => Some((line, place)),
        _ => None,
    };
    let old: Vec<(usize, usize)> = before.iter().enumerate().filter_map(pair).collect();
    let mut new = old.clone();
    new.sort_unstable_by_key(|(_, place)| *place);
    let texts = |pairs: &[(usize, usize)]| pairs.iter().map(|(line, _)| before[*line]).collect::<Vec<&str>>();
    let (old_texts, new_texts) = (texts(&old), texts(&new));
    let forward = matching(&old_texts, &new_texts);
    let backward = matching(&reversed(&old_texts), &reversed(&new_texts));
    let pairs = new.into_iter().zip(forward).zip(backward.into_iter().rev());
    let agreed = pairs.filter_map(|(((_, place), forward), backward)| {
        let line = forward.filter(|line| backward == Some(old.len() - 1 - line))?;
        Some((old[line].0, place))
    });
    agreed.collect()
}

/// Compares lines with a range of a text in all ways with the fewest differences. `offset` is the number of the first line before.
fn compare_all(before: &[&str], offset: usize, text: &Places<'_>, range: Range<usize>, found: &mut Vec<(usize, Match)>) {
    let mut texts = before.to_vec();
    texts.sort_unstable();
    texts.dedup();
    // The other lines of the range are new.
    let mut places: Vec<usize> = texts.into_iter().flat_map(|line| text.within(line, &range)).copied().collect();
    places.sort_unstable();
    let after: Vec<&str> = places.iter().map(|place| text.lines[*place]).collect();
    let (rows, columns) = (before.len(), after.len());
    if columns == 0 {
        return;
    }
    if rows * columns > MAX_PAIRS {
        found.extend(places.into_iter().map(|place| (place, Match::Unclear)));
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
    for (column, place) in places.into_iter().enumerate() {
        let is_pair =
            |row: &usize| before[*row] == after[column] && starts[at(*row, column)] + 1 + ends[at(row + 1, column + 1)] == most;
        let mut pairs = (0..rows).filter(is_pair);
        match (pairs.next(), pairs.next()) {
            (None, _) => {}
            (Some(_), Some(_)) => found.push((place, Match::Unclear)),
            (Some(row), None) => {
                let can_miss = (0..=rows).any(|row| starts[at(row, column)] + ends[at(row, column + 1)] == most);
                found.push((place, if can_miss { Match::Unclear } else { Match::Same(offset + row) }));
            }
        }
    }
}

/// Finds the lines of a part of a text in another text, which need not have them. Returns the places in the text and the lines of the
/// part that belong to a run of consecutive lines that are recognized.
pub fn recognize(part: &[&str], text: &Places<'_>) -> Vec<(usize, usize)> {
    if part == text.lines {
        return (0..part.len()).map(|line| (line, line)).collect();
    }
    let in_part = counts(part, text);
    let same = |(place, line)| if let Match::Same(line) = line { Some((place, line)) } else { None };
    let same: Vec<(usize, usize)> = known_lines(part, text).into_iter().filter_map(same).collect();
    let is_recognized = |run: &&[(usize, usize)]| {
        let lines = run.iter().map(|(_, line)| part[*line]);
        let single = lines.clone().filter(|line| in_part[line] == 1 && text.of[line].len() == 1);
        let telling: usize = single.map(letters).sum();
        match run.len() {
            1 => telling >= TELLING_LINE && lines.flat_map(str::split_whitespace).count() >= TELLING_WORDS,
            _ => telling >= TELLING_RUN,
        }
    };
    let runs = same.chunk_by(|one, other| *other == (one.0 + 1, one.1 + 1));
    runs.filter(is_recognized).flatten().copied().collect()
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

/// Returns how often each line that a text has too is among lines.
fn counts<'a>(lines: &[&'a str], text: &Places<'_>) -> FxHashMap<&'a str, usize> {
    let mut counts = FxHashMap::default();
    lines.iter().filter(|line| text.of.contains_key(**line)).for_each(|line| *counts.entry(*line).or_default() += 1);
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
        let check = |part: &[&str], text: &[&str], expected: &[(usize, usize)]| {
            assert_eq!(recognize(part, &Places::new(text)), expected);
        };
        check(&["let total = sum(items);", "}"], &["x", "let total = sum(items);", "}"], &[(1, 0), (2, 1)]);
        check(&["return", "}"], &["x", "return", "}"], &[]);
        check(&["return nil, err"], &["x", "return nil, err"], &[]);
        check(&["}"], &["}"], &[(0, 0)]);
    }
}
