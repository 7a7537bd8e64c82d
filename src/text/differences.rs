//! The differences of two lists of texts.

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp, DiffableStr, TextDiff, capture_diff_slices};

/// Returns the operations that turn one list into the other. For long lists with many differences, they are not necessarily the fewest.
pub fn differences<'t>(before: &[&'t str], after: &[&'t str]) -> Vec<DiffOp> {
    // The algorithm is compiled once, for numbers, and not for each type of list.
    let mut known: FxHashMap<&'t str, usize> = FxHashMap::default();
    let mut numbered = |texts: &[&'t str]| -> Vec<usize> {
        let number = |text: &&'t str| {
            let next = known.len();
            *known.entry(*text).or_insert(next)
        };
        texts.iter().map(number).collect()
    };
    capture_diff_slices(Algorithm::Myers, &numbered(before), &numbered(after))
}

/// Returns the words and the characters between them.
pub fn tokens(text: &str) -> Vec<&str> {
    text.tokenize_unicode_words()
}

/// Returns the differences of two texts as a unified diff without file names, with at most `context` equal lines around each change.
pub fn unified(before: &str, after: &str, context: usize) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(context).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_texts_differ_as_the_library_finds(before in "([ab\\n]{0,9}|[a-d]\n){0,90}", after in "([ab\\n]{0,9}|[a-d]\n){0,90}") {
            let diff = TextDiff::from_unicode_words(&before, &after);
            proptest::prop_assert_eq!(differences(&tokens(&before), &tokens(&after)), diff.ops());
        }
    }
}
