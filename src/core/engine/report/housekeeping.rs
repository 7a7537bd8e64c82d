//! The model's words about turns, compared with the turns.

use crate::model::Housekeeping;
use crate::text::words::stem;
use rustc_hash::FxHashSet;

/// The minimum share of the words of a text that occur in its turn, in percent.
const LEAST_PERCENT: usize = 60;
/// The minimum length of a word that is compared, in characters: shorter ones are in every turn.
const LEAST_CHARACTERS: usize = 4;

/// Returns the first text that a turn does not support: a file or a number that does not occur in the contents of the turn, or too many
/// words; `None` if the turn supports all.
pub fn unsupported<'a>(words: &'a Housekeeping, contents: &[String]) -> Option<&'a str> {
    let whole = contents.join("\n").to_lowercase();
    let known: FxHashSet<&str> = parts(&whole).map(stem).collect();
    words.texts().find(|text| {
        let lower = text.to_lowercase();
        let facts = lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        let is_fact =
            |word: &&str| word.contains(['/', '_']) || word.contains('.') || word.contains(|c: char| c.is_ascii_digit());
        if !facts.filter(is_fact).all(|fact| whole.contains(fact)) {
            return true;
        }
        let compared: Vec<&str> = parts(&lower).filter(|word| word.chars().count() >= LEAST_CHARACTERS).collect();
        compared.iter().filter(|word| known.contains(stem(word))).count() * 100 < compared.len() * LEAST_PERCENT
    })
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_with_the_turn() {
        let contents = ["Fix the parser in src/parse.rs".to_owned(), "42 tests passed, comments are kept".to_owned()];
        let check = |header: &str, change: &str, is_supported: bool| {
            let code_changes = vec![change.to_owned()];
            let words = Housekeeping { response_header: header.to_owned(), code_changes, ..Housekeeping::default() };
            assert_eq!(unsupported(&words, &contents).is_none(), is_supported, "{header} {change}");
        };
        check("Parser fixed, 42 tests pass", "src/parse.rs: keeps comments", true);
        check("Parser fixed, 43 tests pass", "src/parse.rs", false);
        check("Parser fixed", "src/lexer.rs", false);
        check("Rewrote the database layer completely", "", false);
    }
}
