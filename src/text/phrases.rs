//! Noun phrases of prose, in its own words and spelling.

use super::function_words::{BREAKS, CONNECTORS, DETERMINERS, EDGES, LIGHT_NOUNS, OPENINGS, PURPOSES, STEPS, SUBJECTS};
use super::stop_words::is_stop_word;
use super::words::spaced;
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Maximum number of words of a phrase.
const PHRASE_WORDS: usize = 6;
/// Maximum length of a word of a phrase, in characters.
const WORD_CHARACTERS: usize = 24;
/// Number of words up to which any sentence is prose.
const SHORT_WORDS: usize = 6;

/// The class of a word in a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// A word with information about the subject.
    Content,
    /// A common noun: part of a phrase with other words only.
    Light,
    /// A verb or an adverb: not at the start or the end of a phrase.
    Edge,
    Connector,
    Determiner,
    /// Any other word: it ends a phrase.
    Break,
}

/// Returns true if a set of words, separated by spaces, contains a lowercase word.
macro_rules! is_in {
    ($words:expr, $word:expr) => {{
        static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| $words.split_whitespace().collect());
        WORDS.contains($word)
    }};
}

fn class(word: &str) -> Class {
    let plain = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '\'' | '’' | '+' | '#' | '.'));
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_short = plain && letters >= 2 && digits <= 3 && word.chars().count() <= WORD_CHARACTERS;
    if is_in!(CONNECTORS, word) {
        Class::Connector
    } else if is_in!(DETERMINERS, word) {
        Class::Determiner
    } else if is_in!(LIGHT_NOUNS, word) {
        Class::Light
    } else if !is_short || is_stop_word(word) || is_in!(BREAKS, word) || word.contains(['\'', '’']) {
        Class::Break
    } else if is_in!(EDGES, word) || word.ends_with("ly") {
        Class::Edge
    } else {
        Class::Content
    }
}

/// Returns the words of a phrase that carry information about its subject: no common nouns and no names of code.
pub fn content_words(phrase: &str) -> impl Iterator<Item = &str> {
    phrase.split_whitespace().filter(|word| !is_identifier(word) && class(&word.to_lowercase()) == Class::Content)
}

/// Returns the number of words of a phrase.
pub fn words_of(phrase: &str) -> usize {
    phrase.split_whitespace().count()
}

/// Returns true if a sentence is prose: most of its words are words, not paths, times or code.
pub fn is_prose(sentence: &str) -> bool {
    let (mut all, mut odd) = (0, 0);
    for (_, inner) in spaced(sentence) {
        let word = &sentence[inner];
        all += 1;
        odd += usize::from(word.is_empty() || !word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’')));
    }
    all <= SHORT_WORDS || odd * 3 <= all
}

/// Returns true if a word is a name of code or of a file.
fn is_identifier(word: &str) -> bool {
    let inner = word.get(1..).unwrap_or_default();
    word.contains(['_', '.', '#']) || inner.chars().any(char::is_uppercase) && inner.chars().any(char::is_lowercase)
}

/// A word of a sentence.
struct Token {
    range: Range<usize>,
    class: Class,
    /// True if it is a noun by its place: after an article.
    is_noun: bool,
    /// True if it has the form of a participle.
    is_participle: bool,
}

/// Calls `found` with the noun phrases of a sentence, in order: runs of words between verbs, pronouns and punctuation.
pub fn phrases<'a>(sentence: &'a str, mut found: impl FnMut(&'a str)) {
    let mut run: Vec<Token> = Vec::new();
    let mut is_verb_next = false;
    for (token, inner) in spaced(sentence) {
        let word = &sentence[inner.clone()];
        if word.chars().any(is_wide) {
            flush(sentence, &mut run, &mut found);
            wide_phrases(word, &mut found);
            continue;
        }
        if !token.starts_with(word.chars().next().unwrap_or(' ')) {
            flush(sentence, &mut run, &mut found);
        }
        let possessive = word.len() > 2 && (word.ends_with("'s") || word.ends_with("’s"));
        let class = if possessive { Class::Break } else { class(&word.to_lowercase()) };
        let lower = word.to_lowercase();
        let is_verb = std::mem::replace(&mut is_verb_next, is_in!(SUBJECTS, lower.as_str()));
        let before = run.last().map(|last| last.class);
        let is_noun = before == Some(Class::Determiner);
        // An article that follows no preposition begins the object of a verb.
        if class == Class::Determiner && before.is_some_and(|before| before != Class::Connector) {
            flush(sentence, &mut run, &mut found);
        }
        // A participle before a preposition is a verb: `returned from the parser`.
        if class == Class::Connector && run.last().is_some_and(|last| last.is_participle) {
            run.pop();
            flush(sentence, &mut run, &mut found);
        }
        match class {
            Class::Break => flush(sentence, &mut run, &mut found),
            _ if is_verb => flush(sentence, &mut run, &mut found),
            class => run.push(Token { range: inner, class, is_noun, is_participle: is_participle(&lower) }),
        }
        if word.is_empty() || !token.ends_with(word) {
            flush(sentence, &mut run, &mut found);
        }
    }
    flush(sentence, &mut run, &mut found);
}

/// Ends a run: passes on its nouns, joined by prepositions if they are few enough.
fn flush<'a>(sentence: &'a str, run: &mut Vec<Token>, found: &mut impl FnMut(&'a str)) {
    let mut from = 0;
    while from < run.len() {
        // The longest part that is short enough ends before a connector.
        let ends = (from + 1..=run.len()).filter(|end| *end == run.len() || run[*end].class == Class::Connector);
        let parts: Vec<&[Token]> = ends.map(|end| trimmed(&run[from..end])).collect();
        let fits = |part: &&[Token]| part.len() <= PHRASE_WORDS && !part.is_empty();
        let Some(part) = parts.iter().rfind(|part| fits(part)).or_else(|| parts.first()) else { break };
        let next = run.iter().position(|token| part.last().is_some_and(|last| last.range == token.range));
        let part = &part[part.len().saturating_sub(PHRASE_WORDS)..];
        let part = trimmed(part);
        if let (Some(first), Some(last)) = (part.first(), part.last())
            && (part.len() > 1 || first.class == Class::Content)
        {
            found(&sentence[first.range.start..last.range.end]);
        }
        let after = next.map_or(from, |next| next + 1).max(from + 1);
        from = (after..run.len()).find(|place| run[*place].class == Class::Connector).map_or(run.len(), |place| place + 1);
    }
    run.clear();
}

/// Returns the words of a phrase without verbs, articles and prepositions at its ends.
fn trimmed(words: &[Token]) -> &[Token] {
    let is_noun =
        |token: &Token| matches!(token.class, Class::Content | Class::Light) || token.class == Class::Edge && token.is_noun;
    let start = words.iter().position(is_noun).unwrap_or(words.len());
    let mut end = words.iter().rposition(is_noun).map_or(start, |last| last + 1).max(start);
    // `the job failed`: a participle at the end is a verb.
    while end > start + 1 && words[end - 1].is_participle {
        end -= 1;
    }
    &words[start..end]
}

/// Returns the first clause of a message, at most a few words of it: from its verb on, without greetings.
pub fn clause(sentence: &str) -> Option<&str> {
    let mut range: Option<Range<usize>> = None;
    let mut count = 0;
    let mut has_content = false;
    let mut end = 0;
    for (token, inner) in spaced(sentence) {
        let word = &sentence[inner.clone()];
        let lower = word.to_lowercase();
        let class = class(&lower);
        if range.is_none() && (is_in!(OPENINGS, lower.as_str()) || word.is_empty()) {
            continue;
        }
        if word.len() > WORD_CHARACTERS
            || word.chars().any(is_wide)
            || word.contains(['/', '\\', '<', '{', '='])
            || word.is_empty()
        {
            break;
        }
        let range = range.get_or_insert(inner.clone());
        count += 1;
        range.end = inner.end;
        // The verb names no subject.
        has_content |= count > 1 && class == Class::Content && !is_in!(STEPS, lower.as_str());
        if matches!(class, Class::Content | Class::Light) {
            end = inner.end;
        }
        if count == PHRASE_WORDS || !token.ends_with(word) {
            break;
        }
    }
    let range = range?;
    let clause = sentence.get(range.start..end)?;
    let verb = clause.split(' ').next().unwrap_or_default().to_lowercase();
    (has_content && clause.split(' ').nth(2).is_some() && !is_in!(STEPS, verb.as_str()) && !clause.contains(['`', '’', '\'']))
        .then_some(clause)
}

/// Returns true if an English word has the form of a participle.
fn is_participle(word: &str) -> bool {
    word.is_ascii() && word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed")
}

/// Returns the first clause of a sentence of the agent about its next step.
pub fn purpose(sentence: &str) -> Option<&str> {
    let first = sentence.split(' ').next().unwrap_or_default().to_lowercase();
    clause(sentence).filter(|_| is_in!(PURPOSES, first.as_str()))
}

/// Returns true for characters of languages that do not separate words by spaces.
pub fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Passes on the runs of ideographs and Katakana between function characters: most of them are nouns.
fn wide_phrases<'a>(text: &'a str, found: &mut impl FnMut(&'a str)) {
    const FUNCTION: &str =
        "的了是我你您他她它们在和与或及把被给这那哪有没不要吗呢吧就都也还请让用对从到为以会能可将并但而后前上下中个些么什怎";
    let parts = text.split(|c: char| FUNCTION.contains(c) || !is_wide(c) || matches!(c, '\u{3040}'..='\u{309f}' | '\u{30fb}'));
    for part in parts.filter(|part| (2..=10).contains(&part.chars().count())) {
        found(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: &[&str]) {
        let mut found = Vec::new();
        phrases(sentence, |phrase| found.push(phrase));
        assert_eq!(found, expected, "{sentence}");
    }

    #[test]
    fn phrases_are_nouns_between_verbs_and_marks() {
        check("create a draft PR for the telemetry opt-out, please", &["draft PR for the telemetry opt-out"]);
        check("Migriere die Datenbank auf das neue Schema", &["Datenbank", "Schema"]);
        check("Let's fix it", &[]);
        check("データベースの移行を確認してください", &["データベース", "移行", "確認"]);
        check("see src/a.rs and 4f3a9b21c7", &[]);
        check("the retry of failed uploads stopped", &["retry of failed uploads"]);
    }

    #[test]
    fn an_article_starts_the_object_of_a_verb() {
        check("update your applauncher shortcut", &["applauncher shortcut"]);
        check("the error returned from the parser", &["parser"]);
    }

    #[test]
    fn the_clause_of_a_request_has_its_verb() {
        assert_eq!(clause("please can you add a dark mode toggle?"), Some("add a dark mode toggle"));
        assert_eq!(clause("yes"), None);
        assert_eq!(clause("/etc/hosts"), None);
    }

    #[test]
    fn logs_are_not_prose() {
        assert!(is_prose("Add a User-Agent string for requests coming from the client"));
        assert!(!is_prose("2026/06/18 13:17:39 WARN refs/a/b: [remote rejected] 9f2c main"));
    }

    proptest::proptest! {
        #[test]
        fn every_phrase_is_a_short_part_of_its_sentence(sentence in "(the |a |of |fix |login |flaky |Test |in |to |错误 |\\PC{0,4} ){0,14}") {
            let mut end = 0;
            phrases(&sentence, |phrase| {
                let at = sentence[end..].find(phrase).map(|at| end + at);
                assert!(at.is_some(), "{phrase}");
                assert!(words_of(phrase) <= PHRASE_WORDS);
                end = at.unwrap_or_default();
            });
            if let Some(clause) = clause(&sentence) {
                assert!(sentence.contains(clause) && words_of(clause) <= PHRASE_WORDS);
            }
        }
    }
}
