//! The model's words about turns, compared with the turns.

use super::summary::Outcome;
use crate::model::Housekeeping;
use crate::text::words::stem;
use rustc_hash::FxHashSet;

/// The minimum share of the words of a text that occur in its turn, in percent.
const LEAST_PERCENT: usize = 60;
/// The minimum length of a word that is compared, in characters: shorter ones are in every turn.
const LEAST_CHARACTERS: usize = 4;
/// Words that state a success, those that state a failure, and those that negate one of the words after them.
const SUCCESSES: &[&str] = &["pass", "done", "work", "fix", "succeed", "success", "successful", "complete", "finish", "green"];
const FAILURES: &[&str] = &["fail", "failure", "error", "broken", "interrupted"];
const NEGATIONS: &[&str] = &["no", "not", "never", "none", "without", "cannot", "0", "zero"];
/// The number of words over which a negation reaches.
const NEGATED_WORDS: usize = 3;

/// Returns the first text that a turn does not support: a headline that states only success although the outcome is a failure, a file
/// or a number that does not occur in the contents of the turn, or too many words; `None` if the turn supports all.
pub fn unsupported<'a>(words: &'a Housekeeping, contents: &[String], outcome: Outcome) -> Option<&'a str> {
    if outcome.is_failure() && states_success(&words.response_header) {
        return Some(&words.response_header);
    }
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

/// Returns true if a text states a success, or that something did not fail, and no failure.
fn states_success(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_one = |word: &str, known: &[&str]| known.iter().any(|known| stem(known) == stem(word));
    let is_negated = |at: usize| {
        let before = &words[at.saturating_sub(NEGATED_WORDS)..at];
        before.iter().any(|word| NEGATIONS.contains(word) || word.ends_with("n't"))
    };
    let states = |known, other| (0..words.len()).any(|at| is_one(words[at], if is_negated(at) { other } else { known }));
    states(SUCCESSES, FAILURES) && !states(FAILURES, SUCCESSES)
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
            let supported = unsupported(&words, &contents, Outcome::Answered).is_none();
            assert_eq!(supported, is_supported, "{header} {change}");
        };
        check("Parser fixed, 42 tests pass", "src/parse.rs: keeps comments", true);
        check("Parser fixed, 43 tests pass", "src/parse.rs", false);
        check("Parser fixed", "src/lexer.rs", false);
        check("Rewrote the database layer completely", "", false);
    }

    #[test]
    fn a_headline_of_success_is_refused_after_a_failure() {
        let contents =
            ["Keep comments in all tests; the parser is done, fixed and works, the tests do not pass or fail".to_owned()];
        for (header, states) in [
            ("all tests pass", true),
            ("parser fixed, comments kept", true),
            ("tests do not fail", true),
            ("0 tests fail, parser works", true),
            ("the parser keeps comments", false),
            ("parser done, tests fail", false),
            ("tests don’t pass", false),
            ("parser not fixed", false),
        ] {
            assert_eq!(states_success(header), states, "{header}");
            let words = Housekeeping { response_header: header.to_owned(), ..Housekeeping::default() };
            let failed = Outcome::Tests { passed: 3, failed: 2 };
            assert!(!states || unsupported(&words, &contents, failed) == Some(header), "{header}");
        }
    }
}
