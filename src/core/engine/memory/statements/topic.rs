//! The topic of a statement: the same statement in slightly other words has the same key.

use super::grammar;
use super::sentence::plain_words;
use crate::text::lists::word_lists;
use crate::text::words::stem;

/// Maximum number of words that make the topic: the longest ones, which carry most of it.
const TOPIC_WORDS: usize = 5;

word_lists! { "words.txt": FILLERS }

/// Returns the key of the topic of a statement, from its content words and whether it is negated. Stable across runs.
pub fn topic_key(text: &str) -> u64 {
    // Code spans are names, and names are the topic: they count as words here.
    let plain = plain_words(&text.replace(['`', '"'], " "));
    let words = content_words(&plain);
    let mut hash = fnv(FNV_START, &[u8::from(is_negated(text))]);
    if words.is_empty() {
        hash = fnv(hash, plain_words(text).as_bytes());
    }
    words.iter().fold(hash, |hash, word| fnv(fnv(hash, word.as_bytes()), &[0]))
}

/// Offset basis and prime of FNV-1a with 64 bits: keys are stored, so their hash must not depend on a library's version.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Continues the FNV-1a hash of bytes.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// Returns the content words of plain words, each once, sorted.
fn content_words(plain: &str) -> Vec<&str> {
    let mut words: Vec<&str> = plain.split_whitespace().filter(|word| !is_function_word(word)).map(key).collect();
    words.sort_by(|a, b| b.chars().count().cmp(&a.chars().count()).then_with(|| a.cmp(b)));
    words.dedup();
    words.truncate(TOPIC_WORDS);
    words.sort_unstable();
    words
}

fn is_function_word(word: &str) -> bool {
    let is_other = || grammar::FAILURES.contains(&word) || grammar::CONVENTIONS.contains(&word);
    FILLERS.contains(&word) || (grammar::has(word) && !is_other())
}

/// Returns the stem of a word; a name in several parts as it is.
fn key(word: &str) -> &str {
    if word.contains(['-', '_']) { word } else { stem(word) }
}

/// True if a negation precedes the first content word: `never push`, unlike `use rg, not grep`.
fn is_negated(text: &str) -> bool {
    plain_words(text).split_whitespace().take_while(|word| is_function_word(word)).any(|word| grammar::NEGATIONS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_statement_has_the_same_key_and_another_one_has_another() {
        for (a, b, is_same) in [
            ("use pnpm, not npm", "please use `pnpm` instead of npm", true),
            ("Never push to main", "we should never push to main!", true),
            ("tests live in tests/it", "the tests should live in tests/it", true),
            ("use pnpm", "use yarn", false),
            ("push to main", "never push to main", false),
            ("the cache is shared", "the cache is private", false),
        ] {
            assert_eq!(topic_key(a) == topic_key(b), is_same, "{a} / {b}");
        }
    }
}
