//! The differences of two lists of texts.

use rustc_hash::FxHashMap;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, DiffableStr, group_diff_ops};
use std::fmt::Write as _;

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
    text.tokenize_lines()
}

/// Returns the words and the characters between them.
pub fn tokens(text: &str) -> Vec<&str> {
    text.tokenize_unicode_words()
}

/// Returns the differences of two texts as a unified diff without file names, with at most `context` equal lines around each change.
pub fn unified(before: &str, after: &str, context: usize) -> String {
    let (old, new) = (lines(before), lines(after));
    let mut unified = String::new();
    for hunk in group_diff_ops(differences(&old, &new), context) {
        let _ = writeln!(unified, "{}", UnifiedHunkHeader::new(&hunk));
        for change in hunk.iter().flat_map(|operation| operation.iter_changes(&old, &new)) {
            let _ = write!(unified, "{}{}", change.tag(), change.value());
            if !change.value().ends_with_newline() {
                unified.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    unified
}

#[cfg(test)]
mod tests {
    use super::*;
    use similar::TextDiff;

    proptest::proptest! {
        #[test]
        fn any_texts_differ_as_the_library_finds(before in "([ab\\n]{0,9}|[a-d]\n){0,90}", after in "([ab\\n]{0,9}|[a-d]\n){0,90}") {
            let diff = TextDiff::from_unicode_words(&before, &after);
            proptest::prop_assert_eq!(differences(&tokens(&before), &tokens(&after)), diff.ops());
            let diff = TextDiff::from_lines(&before, &after);
            proptest::prop_assert_eq!(differences(&lines(&before), &lines(&after)), diff.ops());
            proptest::prop_assert_eq!(unified(&before, &after, 2), diff.unified_diff().context_radius(2).to_string());
        }
    }
}
