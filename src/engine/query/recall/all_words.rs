//! Selection of the texts that have every word of a query.

use crate::text::stop_words::is_stop_word;
use crate::text::words::Word;
use aho_corasick::{AhoCorasick, MatchKind};

/// The words of a query: all but those that most texts have. Case and the ending of a plain word do not count.
#[derive(Debug)]
pub struct AllWords {
    matcher: Option<AhoCorasick>,
    /// For each pattern of the matcher its word.
    owners: Vec<usize>,
    count: usize,
}

impl AllWords {
    /// Collects the words of a query.
    pub fn new(query: &str) -> AllWords {
        let words = || query.split(|letter: char| letter != '_' && !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut chosen: Vec<&str> = words().filter(|word| !is_stop_word(&word.to_lowercase())).collect();
        if chosen.is_empty() {
            chosen = words().collect();
        }
        let (mut patterns, mut owners) = (Vec::new(), Vec::new());
        for (place, word) in chosen.iter().enumerate() {
            let mut key = String::new();
            if word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                Word::Part(word).key(&mut key);
            } else {
                Word::Whole(word).key(&mut key);
            }
            // The matcher ignores the case of ASCII letters only.
            let forms = if word.is_ascii() { vec![key] } else { vec![key, (*word).to_owned(), word.to_uppercase()] };
            owners.extend(forms.iter().map(|_| place));
            patterns.extend(forms);
        }
        let matcher = AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&patterns).ok();
        AllWords { matcher, owners, count: chosen.len() }
    }

    /// Returns true if a text has all words. False if there are no words.
    pub fn are_in(&self, text: &[u8]) -> bool {
        let (Some(matcher), mut seen, mut left) = (&self.matcher, vec![false; self.count], self.count) else { return false };
        for found in matcher.find_overlapping_iter(text).filter(|found| starts_word(text, found.start())) {
            if !std::mem::replace(&mut seen[self.owners[found.pattern().as_usize()]], true) {
                left -= 1;
                if left == 0 {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns true if a word can start at a place: after anything but a letter or digit, after an escape sequence of JSON, or with the
/// capital of a compound name.
fn starts_word(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|at| text[at]) else { return true };
    let is_escape = || matches!(before, b'n' | b't' | b'r') && start >= 2 && text[start - 2] == b'\\';
    let is_capital = || before.is_ascii_lowercase() && text[start].is_ascii_uppercase();
    !before.is_ascii_alphanumeric() || is_escape() || is_capital()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_all_words_or_is_left_out() {
        let check =
            |query: &str, text: &str, expected| assert_eq!(AllWords::new(query).are_in(text.as_bytes()), expected, "{query}");
        check("retry limit", "The Retry_Limit is 2", true);
        check("retry limit", "retry, retry", false);
        check("how are tokens refreshed", "refreshes a token", true);
        check("setting_2_14", r#"{"text":"\nsetting_2_14 = 1"}"#, true);
        check("setting_2_14", "setting_2_15", false);
        check("Größe", "GRÖSSE und GRÖßE", true);
        check("limit", "retryLimit and retry_limit", true);
        check("other", "nothing but another", false);
        check("the", "the", true);
        check("", "anything", false);
        check("-- ()", "anything", false);
    }
}
