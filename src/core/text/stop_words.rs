//! Words without information about the topic of a text.

use crate::text::lists::word_lists;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

word_lists! { "stop_words.txt": STOP_WORDS, FUNCTION_WORDS }

/// Returns true if nearly every English sentence has a lowercase word.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// Returns true if a lowercase word carries no information about the topic of a text.
pub fn is_stop_word(word: &str) -> bool {
    static KNOWN: LazyLock<FxHashSet<&'static str>> =
        LazyLock::new(|| STOP_WORDS.iter().chain(FUNCTION_WORDS.iter()).copied().collect());
    KNOWN.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted() && FUNCTION_WORDS.is_sorted());
    }
}
