//! Words without information about the topic of a text.

use crate::text::lists::word_sets;

word_sets! { "stop_words.txt": STOP_WORDS, FUNCTION_WORDS }

/// Returns true if nearly every English sentence has a lowercase word.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(word)
}

/// Returns true if a lowercase word carries no information about the topic of a text.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word) || FUNCTION_WORDS.contains(word)
}
