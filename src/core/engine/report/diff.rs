//! Diff of two texts: removed and added lines, changed words, and the part that is shown.

use crate::model::limits::{DIFF_LINES, DIFF_WORD_BYTES, DIFF_WORD_LINE_BYTES};
use crate::model::{BlockNumber, Level, TokenCount};
use crate::text::differences::{differences, tokens};
use schemars::JsonSchema;
use serde::Serialize;
use similar::DiffTag;

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// A block that was not there before.
    Added,
    /// A block that is gone.
    Removed,
    /// A block with another content or another cost.
    Changed,
}

/// A block that differs between two states.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockDifference {
    /// Block number, from 1 in file order.
    pub number: BlockNumber,
    /// Short description.
    pub label: String,
    pub kind: DiffKind,
    pub level_before: Level,
    pub level_after: Level,
    pub tokens_before: TokenCount,
    pub tokens_after: TokenCount,
    /// Content before.
    pub before: String,
    /// Content after.
    pub after: String,
}

/// Fate of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFate {
    /// The line is in both texts.
    Kept,
    /// The line is only in the earlier text.
    Removed,
    /// The line is only in the later text.
    Added,
}

/// Consecutive lines with the same fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    pub fate: LineFate,
    /// The lines with their line feeds; kept lines are taken from the later text.
    pub lines: Vec<&'a str>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text; the last piece of a line contains the line feed.
    pub text: &'a str,
    /// True if the piece differs from the corresponding removed or added line.
    pub emphasized: bool,
}

/// A visible element of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown<'a> {
    Line {
        fate: LineFate,
        pieces: Vec<Piece<'a>>,
    },
    /// Omitted lines with the same fate.
    Folded {
        fate: LineFate,
        lines: usize,
        bytes: usize,
    },
    /// The remaining changes, if there are more than can be shown.
    Rest {
        removed: usize,
        added: usize,
    },
}

/// Returns the runs of kept, removed and added lines. Kept and added lines together are `after`. Removed lines precede the lines
/// that replace them. A missing line feed at the end is not a difference, unless it is the only one. For large texts with many
/// differences, the result is not necessarily minimal.
pub fn changes<'a>(before: &'a str, after: &'a str) -> Vec<Run<'a>> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let without_feeds = |lines: &[&'a str]| lines.iter().map(|line| line.strip_suffix('\n').unwrap_or(line)).collect::<Vec<_>>();
    let (old_keys, new_keys) = (without_feeds(&old), without_feeds(&new));
    let operations = if old_keys == new_keys { differences(&old, &new) } else { differences(&old_keys, &new_keys) };
    // If only braces and empty lines were kept, they would split a text that was replaced as a whole.
    let says_something = |line: &&str| line.contains(char::is_alphanumeric);
    let kept = operations.iter().filter(|operation| operation.tag() == DiffTag::Equal);
    let replaced = old != new && !kept.flat_map(|operation| &new[operation.new_range()]).any(says_something);
    if replaced {
        let runs = [Run { fate: LineFate::Removed, lines: old }, Run { fate: LineFate::Added, lines: new }];
        return runs.into_iter().filter(|run| !run.lines.is_empty()).collect();
    }
    let mut runs = Vec::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for operation in operations {
        if operation.tag() == DiffTag::Equal {
            push_replaced(&mut runs, &mut removed, &mut added);
            runs.push(Run { fate: LineFate::Kept, lines: new[operation.new_range()].to_vec() });
        } else {
            removed.extend_from_slice(&old[operation.old_range()]);
            added.extend_from_slice(&new[operation.new_range()]);
        }
    }
    push_replaced(&mut runs, &mut removed, &mut added);
    runs
}

fn push_replaced<'a>(runs: &mut Vec<Run<'a>>, removed: &mut Vec<&'a str>, added: &mut Vec<&'a str>) {
    for (fate, lines) in [(LineFate::Removed, removed), (LineFate::Added, added)] {
        if !lines.is_empty() {
            runs.push(Run { fate, lines: std::mem::take(lines) });
        }
    }
}

/// Returns the visible part of a diff, with the changed words of similar lines emphasized: at most [`DIFF_LINES`] lines, or all
/// changes if `full`. At most two unchanged lines are shown before and after a change. If most of the text was removed, the removed
/// lines are only counted.
pub fn shown<'a>(runs: &[Run<'a>], full: bool) -> Vec<Shown<'a>> {
    let mut lines = if full { folded(runs, 2, usize::MAX, false) } else { fitted(runs) };
    emphasize(&mut lines);
    lines
}

fn fitted<'a>(runs: &[Run<'a>]) -> Vec<Shown<'a>> {
    let bytes =
        |fate| runs.iter().filter(|run| run.fate == fate).flat_map(|run| &run.lines).map(|line| line.len()).sum::<usize>();
    let (kept, removed, added) = (bytes(LineFate::Kept), bytes(LineFate::Removed), bytes(LineFate::Added));
    let shortened = kept + added < removed;
    let whole = folded(runs, 2, usize::MAX, false);
    if whole.len() <= DIFF_LINES {
        return whole;
    }
    for heads in (1..DIFF_LINES).rev() {
        let lines = folded(runs, (heads / 2).min(2), heads, shortened);
        if lines.len() <= DIFF_LINES {
            return lines;
        }
    }
    let fate = |line: &Shown<'_>| match line {
        Shown::Line { fate, .. } | Shown::Folded { fate, .. } => *fate,
        Shown::Rest { .. } => LineFate::Kept,
    };
    let mut lines = folded(runs, 1, 3, shortened);
    // The cut follows a change: it does not separate removed lines from their replacement, and does not precede unchanged lines.
    let mut end = DIFF_LINES - 1;
    while end > 1 && (fate(&lines[end - 1]) == LineFate::Kept || fate(&lines[end]) != LineFate::Kept) {
        end -= 1;
    }
    let (mut removed, mut added) = (0, 0);
    for line in lines.drain(end..) {
        let count = if let Shown::Folded { lines, .. } = line { lines } else { 1 };
        match fate(&line) {
            LineFate::Removed => removed += count,
            LineFate::Added => added += count,
            LineFate::Kept => {}
        }
    }
    lines.push(Shown::Rest { removed, added });
    lines
}

/// Folds the runs to at most `context` unchanged lines beside a change and `heads` lines of each change. If `shortened`, removed
/// lines are shown only if they are short.
fn folded<'a>(runs: &[Run<'a>], context: usize, heads: usize, shortened: bool) -> Vec<Shown<'a>> {
    let mut shown = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let (first, last) = match run.fate {
            LineFate::Kept => (if place == 0 { 0 } else { context }, if place + 1 == runs.len() { 0 } else { context }),
            LineFate::Removed if shortened && run.lines.len() > heads.min(3) => (0, 0),
            _ => (heads, 0),
        };
        let count = run.lines.len();
        let whole = |line: &&'a str| Shown::Line { fate: run.fate, pieces: vec![Piece { text: line, emphasized: false }] };
        // A fold needs a line itself, so a single line is not folded.
        if count <= first.saturating_add(last).saturating_add(1) {
            shown.extend(run.lines.iter().map(whole));
            continue;
        }
        let (head, rest) = run.lines.split_at(first);
        let (middle, tail) = rest.split_at(rest.len() - last);
        shown.extend(head.iter().map(whole));
        let bytes = middle.iter().map(|line| line.len()).sum();
        shown.push(Shown::Folded { fate: run.fate, lines: middle.len(), bytes });
        shown.extend(tail.iter().map(whole));
    }
    shown
}

/// Emphasizes the changed words if a removed line and an added line are similar.
fn emphasize(shown: &mut [Shown<'_>]) {
    let mut budget = DIFF_WORD_BYTES;
    for change in shown
        .split_mut(|line| matches!(line, Shown::Line { fate: LineFate::Kept, .. } | Shown::Folded { fate: LineFate::Kept, .. }))
    {
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for line in change {
            match line {
                Shown::Line { fate: LineFate::Removed, pieces } => removed.push(pieces),
                Shown::Line { fate: LineFate::Added, pieces } => added.push(pieces),
                _ => {}
            }
        }
        let mut next = 0;
        for old in removed {
            // One or two lines may be between them. Searching further is not worth its cost.
            for place in next..added.len().min(next + 3) {
                let (Some(before), Some(after)) = (old.first(), added[place].first()) else { continue };
                let (before, after) = (before.text, after.text);
                let Some(left) = budget.checked_sub(before.len() + after.len()) else { return };
                budget = left;
                if let Some((before, after)) = words(before, after) {
                    (*old, *added[place]) = (before, after);
                    next = place + 1;
                    break;
                }
            }
        }
    }
}

/// Returns the pieces of two lines if at least two fifths of their visible text are equal.
fn words<'a>(before: &'a str, after: &'a str) -> Option<(Vec<Piece<'a>>, Vec<Piece<'a>>)> {
    let prefix = common_prefix(before, after);
    let suffix = common_suffix(&before[prefix..], &after[prefix..]);
    let old = &before[prefix..before.len() - suffix];
    let new = &after[prefix..after.len() - suffix];
    let mut sides = [vec![(prefix, false)], vec![(prefix, false)]];
    let mut same = visible(&before[..prefix]) + visible(&before[before.len() - suffix..]);
    if old.len().max(new.len()) > DIFF_WORD_LINE_BYTES {
        sides[0].push((old.len(), true));
        sides[1].push((new.len(), true));
    } else {
        let (old, new) = (tokens(old), tokens(new));
        let length = |words: &[&str]| words.iter().map(|word| word.len()).sum();
        for operation in differences(&old, &new) {
            let (removed, added) = (length(&old[operation.old_range()]), length(&new[operation.new_range()]));
            let same_words = &new[if operation.tag() == DiffTag::Equal { operation.new_range() } else { 0..0 }];
            let kept: usize = same_words.iter().map(|word| visible(word)).sum();
            same += kept;
            // Spaces between two changed words belong to the change.
            let changed = operation.tag() != DiffTag::Equal || (kept == 0 && sides[0].len() > 1);
            sides[0].push((removed, changed));
            sides[1].push((added, changed));
        }
    }
    let all = visible(before) + visible(after);
    let [mut old_lengths, mut new_lengths] = sides;
    old_lengths.push((suffix, false));
    new_lengths.push((suffix, false));
    (5 * same >= all).then(|| (pieces(before, &old_lengths), pieces(after, &new_lengths)))
}

/// Splits a line into pieces of the given lengths. Adjacent pieces of the same kind are joined.
fn pieces<'a>(line: &'a str, lengths: &[(usize, bool)]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (place, (length, emphasized)) in lengths.iter().enumerate() {
        end += length;
        let ends = lengths[place + 1..].iter().find(|(length, _)| *length > 0).is_none_or(|(_, next)| next != emphasized);
        if *length > 0 && ends {
            pieces.push(Piece { text: &line[start..end], emphasized: *emphasized });
            start = end;
        }
    }
    pieces
}

/// Counts the bytes that are not blank.
fn visible(text: &str) -> usize {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

/// Maximum number of characters searched back for the start of a word. Limits the cost of lines without spaces.
const LONGEST_WORD: usize = 40;

/// Returns the length in bytes of the common prefix, up to the start of a word.
fn common_prefix(before: &str, after: &str) -> usize {
    let same = before.bytes().zip(after.bytes()).take_while(|(old, new)| old == new).count();
    let same = before.floor_char_boundary(same);
    let mut nearby = before[..same].char_indices().rev().take(LONGEST_WORD);
    match nearby.find(|(_, character)| !character.is_alphanumeric()) {
        Some((at, character)) => at + character.len_utf8(),
        None if same <= LONGEST_WORD => 0,
        None => same,
    }
}

/// Returns the length in bytes of the common suffix, from the end of a word.
fn common_suffix(before: &str, after: &str) -> usize {
    let same = before.bytes().rev().zip(after.bytes().rev()).take_while(|(old, new)| old == new).count();
    let start = before.ceil_char_boundary(before.len() - same);
    let mut nearby = before[start..].char_indices().take(LONGEST_WORD);
    match nearby.find(|(_, character)| !character.is_alphanumeric()) {
        Some((at, _)) => before.len() - start - at,
        None if before.len() - start <= LONGEST_WORD => 0,
        None => before.len() - start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the visible lines, each with its sign, and with the emphasized words in brackets.
    fn drawn(before: &str, after: &str, full: bool) -> String {
        let sign = |fate: &LineFate| match fate {
            LineFate::Kept => ' ',
            LineFate::Removed => '-',
            LineFate::Added => '+',
        };
        let line = |shown: &Shown<'_>| match shown {
            Shown::Line { fate, pieces } => {
                let piece = |piece: &Piece<'_>| {
                    let text = piece.text.replace('\n', "");
                    if piece.emphasized { format!("[{text}]") } else { text }
                };
                format!("{}{}\n", sign(fate), pieces.iter().map(piece).collect::<String>())
            }
            Shown::Folded { fate, lines, .. } => format!("{}… {lines}\n", sign(fate)),
            Shown::Rest { removed, added } => format!("… -{removed} +{added}\n"),
        };
        shown(&changes(before, after), full).iter().map(line).collect()
    }

    fn numbered(range: std::ops::Range<usize>) -> String {
        range.map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn differences_are_drawn() {
        let check = |before: &str, after: &str, expected: &str| assert_eq!(drawn(before, after, false), expected);
        check("", "", "");
        check("", "a\nb\n", "+a\n+b\n");
        check("a\nb\n", "a\nc\n", " a\n-b\n+c\n");
        check("let total = 1;\n", "let sum = 1;\n", "-let [total] = 1;\n+let [sum] = 1;\n");
        check("one two three", "one 2 3 three", "-one [two] three\n+one [2 3] three\n");
        check("a very old thing here\n", "a brand new thing here\n", "-a [very old] thing here\n+a [brand new] thing here\n");
        check("apples\n", "pears\n", "-apples\n+pears\n");
        check("x = foobar(1)\n", "x = foobaz(1)\n", "-x = [foobar](1)\n+x = [foobaz](1)\n");
        // A line feed at the end counts only alone.
        check("a\nb", "a\nb\nc\n", " a\n b\n+c\n");
        check("a\nb\n", "a\nb", " a\n-b[]\n+b\n");
        check("a b\r\n", "a b\n", "-a b[\r]\n+a b\n");
        // Braces do not hold a replaced text together.
        check("first\n}\n\nsecond\n", "other\n}\nthings\n", "-first\n-}\n-\n-second\n+other\n+}\n+things\n");
        // Blocks that lost most of their text are counted.
        check(&numbered(0..118), "a short extract\nof it\n", "-… 118\n+a short extract\n+of it\n");
        check(&numbered(0..118), "", "-… 118\n");
        check(&numbered(0..100), &numbered(40..43), "-… 40\n line 40\n line 41\n line 42\n-… 57\n");
        check("one\ntwo\n", "", "-one\n-two\n");
        // Unchanged lines are folded.
        let before = numbered(0..40);
        let after = before.replace("line 20\n", "row 20 is other\n");
        let expected = " … 18\n line 18\n line 19\n-line 20\n+row 20 is other\n line 21\n line 22\n … 17\n";
        check(&before, &after, expected);
    }

    #[test]
    fn only_so_much_is_shown() {
        let check = |before: &str, after: &str| {
            let some = drawn(before, after, false);
            let all = drawn(before, after, true);
            assert!(some.lines().count() <= DIFF_LINES, "{some}");
            assert!(all.lines().count() > DIFF_LINES && !all.contains("… -"), "{all}");
            some
        };
        let odd: String =
            (0..100).map(|number| if number % 9 == 0 { format!("row {number}\n") } else { format!("line {number}\n") }).collect();
        assert!(check(&numbered(0..100), &odd).ends_with("… -10 +10\n"));
        assert!(check("", &numbered(0..100)).ends_with("+line 10\n+… 89\n"));
        check(&numbered(0..30), &numbered(100..130));
    }

    #[test]
    fn long_lines_are_compared_around_what_changed() {
        let long = "word ".repeat(100_000);
        let (before, after) = (format!("{long}old {long}"), format!("{long}new {long}"));
        let (old, new) = words(&before, &after).unwrap();
        assert_eq!(old.iter().map(|piece| piece.text).collect::<String>(), before.as_str());
        assert_eq!(old.iter().map(|piece| piece.emphasized).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(new[1].text, "new");
        // Texts without a space that differ in the middle.
        let (before, after) =
            (format!("{}{}", "a".repeat(50_000), "b".repeat(20_000)), format!("{}{}", "a".repeat(50_000), "c".repeat(20_000)));
        assert_eq!(words(&before, &after).unwrap().0[1].text.len(), 20_000);
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof!["[ab}]{0,3}", "[a-c ]{0,12}", "(é|日|\r|\t|\u{1b}|a| ){0,6}"];
        (proptest::collection::vec(line, 0..30), any::<bool>())
            .prop_map(|(lines, feed)| lines.join("\n") + if feed { "\n" } else { "" })
    }

    proptest! {
        #[test]
        fn runs_give_both_texts(before in text(), after in text(), full in any::<bool>()) {
            let runs = changes(&before, &after);
            let side = |without: LineFate| runs.iter().filter(|run| run.fate != without).flat_map(|run| run.lines.clone()).collect::<String>();
            prop_assert_eq!(side(LineFate::Removed), after.clone());
            // A kept line has the line feed of the later text.
            prop_assert_eq!(side(LineFate::Added).trim_end_matches('\n').replace('\n', ""), before.trim_end_matches('\n').replace('\n', ""));
            prop_assert_eq!(runs.iter().all(|run| run.fate == LineFate::Kept), before == after);
            let all: usize = runs.iter().map(|run| run.lines.len()).sum();
            let lines = shown(&runs, full);
            prop_assert!(full || lines.len() <= DIFF_LINES);
            let mut accounted = 0;
            for line in &lines {
                match line {
                    Shown::Line { pieces, .. } => {
                        accounted += 1;
                        let whole: String = pieces.iter().map(|piece| piece.text).collect();
                        prop_assert!(runs.iter().any(|run| run.lines.contains(&whole.as_str())));
                    }
                    Shown::Folded { lines, .. } => accounted += lines,
                    Shown::Rest { .. } => accounted = all,
                }
            }
            prop_assert_eq!(accounted, all);
        }

        #[test]
        fn any_lines_are_compared(before in any::<String>(), after in any::<String>()) {
            if let Some((old, new)) = words(&before, &after) {
                prop_assert_eq!(old.iter().map(|piece| piece.text).collect::<String>(), before.as_str());
                prop_assert_eq!(new.iter().map(|piece| piece.text).collect::<String>(), after.as_str());
                let kept = |pieces: &[Piece<'_>]| pieces.iter().filter(|piece| !piece.emphasized).map(|piece| piece.text).collect::<String>();
                prop_assert_eq!(kept(&old), kept(&new));
            }
        }
    }
}
