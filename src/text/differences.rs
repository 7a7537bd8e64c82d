//! The differences of two lists of texts.

use rustc_hash::FxHashMap;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, group_diff_ops};
use std::fmt::Write as _;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Returns the operations that turn one list into the other. For long lists with many differences, they are not necessarily the fewest.
pub fn differences<'t>(before: &[&'t str], after: &[&'t str]) -> Vec<DiffOp> {
    // One algorithm is compiled once, for numbers: not all algorithms of the library for each type of list.
    let mut known: FxHashMap<&'t str, usize> = FxHashMap::default();
    let mut numbered = |texts: &[&'t str]| -> Vec<usize> {
        let number = |text: &&'t str| {
            let next = known.len();
            *known.entry(*text).or_insert(next)
        };
        texts.iter().map(number).collect()
    };
    let (before, after) = (numbered(before), numbered(after));
    let mut captured = Compact::new(Replace::new(Capture::new()), &before, &after);
    let Ok(()) = myers::diff(&mut captured, &before, 0..before.len(), &after, 0..after.len());
    captured.into_inner().into_inner().into_ops()
}

/// Returns the lines of a text, each with its line end.
pub fn lines(text: &str) -> Vec<&str> {
    let mut rest = text;
    let line = || {
        let end = rest.find(['\n', '\r'])?;
        let (line, behind) = rest.split_at(end + if rest[end..].starts_with("\r\n") { 2 } else { 1 });
        rest = behind;
        Some(line)
    };
    let mut lines: Vec<&str> = std::iter::from_fn(line).collect();
    lines.extend((!rest.is_empty()).then_some(rest));
    lines
}

/// Returns the words and the characters between them.
pub fn tokens(text: &str) -> Vec<&str> {
    text.split_word_bounds().collect()
}

/// Returns the differences of two texts as a unified diff without file names, with at most `context` equal lines around each change.
pub fn unified(before: &str, after: &str, context: usize) -> String {
    let (old, new) = (lines(before), lines(after));
    let mut unified = String::new();
    for hunk in group_diff_ops(differences(&old, &new), context) {
        let [Some(first), Some(last)] = [hunk.first(), hunk.last()] else { continue };
        let removed = in_header(first.old_range().start..last.old_range().end);
        let _ = writeln!(unified, "@@ -{removed} +{} @@", in_header(first.new_range().start..last.new_range().end));
        for change in hunk.iter().flat_map(|operation| operation.iter_changes(&old, &new)) {
            let _ = write!(unified, "{}{}", change.tag(), change.value());
            if !change.value().ends_with(['\n', '\r']) {
                unified.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    unified
}

/// Formats a range of lines as the header of a hunk has it.
fn in_header(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        many => format!("{},{many}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use similar::TextDiff;

    proptest::proptest! {
        #[test]
        fn any_texts_differ_as_the_library_finds(before in "([ab\\r\\n]{0,9}|[a-d]\n){0,90}", after in "([ab\\r\\n]{0,9}|[a-d]\n){0,90}") {
            let diff = TextDiff::from_unicode_words(&before, &after);
            proptest::prop_assert_eq!(differences(&tokens(&before), &tokens(&after)), diff.ops());
            let diff = TextDiff::from_lines(&before, &after);
            proptest::prop_assert_eq!(differences(&lines(&before), &lines(&after)), diff.ops());
            proptest::prop_assert_eq!(unified(&before, &after, 2), diff.unified_diff().context_radius(2).to_string());
        }
    }
}
