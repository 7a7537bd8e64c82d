//! Clauses of prose that can name a subject, in their own words and spelling.

use super::lists::word_sets;
use super::stop_words::{is_function_word, is_stop_word};
use super::words::spaced;
use std::ops::Range;

word_sets! {
    "function_words.txt":
    ASSENTS, BREAKS, CONJUNCTIONS, COPULAS, DETERMINERS, EDGES, GOES_ON, INTENTIONS, LIGHT_NOUNS, OPENINGS, PRONOUNS, QUESTIONS, REQUESTS, STEPS,
    SUBJECTS, TRAILERS,
}

/// Maximum number of words of a clause, and that of characters of one in a language without spaces.
const CLAUSE_WORDS: usize = 8;
const WIDE_CHARACTERS: usize = 20;
/// Maximum length of a word of a clause, in characters.
const WORD_CHARACTERS: usize = 28;
/// Number of words of a prompt that tell if it only agrees.
const ASSENT_WORDS: usize = 8;
/// Number of words up to which any sentence is prose.
const SHORT_WORDS: usize = 6;
/// Maximum share, as a divisor, of characters of a line that are neither letters nor spaces: a line of output has more.
const MARK_SHARE: usize = 3;
/// Length in bytes below which the share of marks says nothing.
const SHORT_LINE: usize = 24;
/// Marks around a word that end no clause, and marks that a name starts with.
const QUOTES: [char; 10] = ['`', '"', '\'', '“', '”', '‘', '’', '*', '_', '~'];
const PREFIXES: [char; 6] = ['.', '/', '-', '@', '#', '$'];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// A word with information about the subject.
    Content,
    Light,
    Edge,
    /// Any other word.
    Break,
}

fn class(word: &str) -> Class {
    let plain = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | '#' | '.' | '/' | '&'));
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_light = |word: &str| LIGHT_NOUNS.contains(word);
    // An amount, a number of a ticket, a branch: `55k`, `ABC-12`, `origin/main`.
    let is_number = word.starts_with(|c: char| c.is_ascii_digit())
        || word.split_once('-').is_some_and(|(_, number)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
    if word.split('/').all(is_light) || is_number && letters > 0 {
        Class::Light
    } else if !plain
        || letters + digits.min(1) < 2
        || letters == 0
        || digits > 3
        || is_stop_word(word)
        || BREAKS.contains(word)
        || TRAILERS.contains(word)
    {
        Class::Break
    } else if EDGES.contains(word) || STEPS.contains(word) || word.ends_with("ly") {
        Class::Edge
    } else {
        Class::Content
    }
}

/// Returns the words of a clause that carry information about its subject: no common nouns and no names of code.
pub fn content_words(clause: &str) -> impl Iterator<Item = &str> {
    let words = spaced(clause).map(|(_, inner)| &clause[inner]);
    words.filter(|word| !is_identifier(word) && class(&word.to_lowercase()) == Class::Content)
}

/// Calls `found` with each two and three words in a row that name a subject, without marks between them. The first is not a common noun.
pub fn phrases<'a>(text: &'a str, mut found: impl FnMut(&'a str)) {
    let mut starts: Vec<usize> = Vec::new();
    for (token, inner) in spaced(text) {
        let word = &text[inner.clone()];
        let after_mark = token.trim_start_matches(QUOTES);
        let class = if !after_mark.starts_with(word) || is_identifier(word) { Class::Break } else { class(&word.to_lowercase()) };
        let is_noun = class == Class::Content || class == Class::Light && !starts.is_empty();
        if word.is_empty() || !is_noun {
            starts.clear();
            continue;
        }
        starts.push(inner.start);
        for start in starts.iter().rev().skip(1).take(2) {
            found(&text[*start..inner.end]);
        }
        if after_mark != word {
            starts.clear();
        }
    }
}

/// Returns the words of a clause with their information about its subject, from 0 to 1. A clause without spaces is one word.
pub fn weighed_words(clause: &str) -> impl Iterator<Item = (&str, f32)> {
    let mut words = spaced(clause).map(|(_, inner)| &clause[inner]).filter(|word| !word.is_empty()).peekable();
    let mut is_first = true;
    std::iter::from_fn(move || {
        let word = words.next()?;
        let lower = word.to_lowercase();
        let is_verb =
            std::mem::take(&mut is_first) && words.peek().is_some_and(|next| DETERMINERS.contains(next.to_lowercase().as_str()));
        let weight = match class(&lower) {
            _ if STEPS.contains(lower.as_str()) => 0.0,
            Class::Content if is_verb => 0.5,
            Class::Content if is_identifier(word) => 0.6,
            Class::Content => 1.0,
            Class::Light | Class::Edge => 0.25,
            Class::Break => 0.0,
        };
        Some((word, weight))
    })
}

/// Returns true if the marks and digits of a text show that a program printed it.
pub fn is_printed(text: &str) -> bool {
    let marks = text.chars().filter(|character| !character.is_alphabetic() && !character.is_whitespace()).count();
    text.len() >= SHORT_LINE && marks * MARK_SHARE > text.chars().count()
}

/// Returns true if a sentence is prose: most of its words are words, not paths, times or code.
pub fn is_prose(sentence: &str) -> bool {
    if is_printed(sentence) {
        return false;
    }
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

/// Returns true if a clause starts with a verb: a known one, or a word before an article.
pub fn is_request(clause: &str) -> bool {
    let mut words = clause.split_whitespace().map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    let is_before_article = words.next().is_some_and(|word| DETERMINERS.contains(word.as_str()));
    let class = class(&first);
    REQUESTS.contains(first.as_str()) || class == Class::Edge || class != Class::Break && is_before_article
}

/// Returns true if a short prompt asks for an action, and not only to continue: it begins with a verb of requests, or with a word before
/// a pronoun.
pub fn is_order(prompt: &str) -> bool {
    let plain = |word: &str| word.trim_end_matches(['.', '!', ',']).to_lowercase();
    let mut words = prompt.split_whitespace().map(plain);
    let first = words.next().unwrap_or_default();
    let word = first.as_str();
    let is_known = STEPS.contains(word) || REQUESTS.contains(word) || EDGES.contains(word);
    let is_before_pronoun = !is_stop_word(word) && words.next().is_some_and(|next| matches!(next.as_str(), "it" | "them"));
    let is_verb = word == "do" || !is_function_word(word) && !QUESTIONS.contains(word) && !GOES_ON.contains(word);
    is_verb && (is_known || is_before_pronoun) && !prompt.ends_with('?')
}

/// Returns true if a clause states or asks something instead of naming it: it has a form of `be` or `have`, or begins as a question.
pub fn is_statement(clause: &str) -> bool {
    let mut words = clause.split_whitespace().map(str::to_lowercase).peekable();
    words.peek().is_some_and(|first| QUESTIONS.contains(first.as_str())) || words.any(|word| COPULAS.contains(word.as_str()))
}

/// Returns true if a clause needs the text before it: it has a pronoun, or it starts within a sentence that is not a question.
pub fn is_fragment(clause: &str) -> bool {
    let mut words = clause.split_whitespace().map(str::to_lowercase).peekable();
    let begins = |word: &str| QUESTIONS.contains(word) || REQUESTS.contains(word);
    let is_open = words.peek().is_some_and(|first| class(first) == Class::Break && !begins(first));
    is_open || words.any(|word| PRONOUNS.contains(word.as_str()))
}

/// Returns true if a clause names its subject only beside the text around it: it is a condition of another one, or points at something.
pub fn points(clause: &str) -> bool {
    let mut words = clause.split_whitespace().map(str::to_lowercase).peekable();
    let is_condition =
        words.peek().is_some_and(|first| CONJUNCTIONS.contains(first.as_str()) && !QUESTIONS.contains(first.as_str()));
    is_condition || words.any(|word| matches!(word.as_str(), "this" | "these" | "those" | "you"))
}

/// Returns true if a prompt only agrees or declines: its words are such words, or choose an option by one letter or digit.
pub fn is_assent(prompt: &str) -> bool {
    let words = prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(ASSENT_WORDS).all(|word| word.len() == 1 || ASSENTS.contains(word.to_lowercase().as_str()))
}

/// Returns true if a sentence of the agent is about its next step.
pub fn is_step(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or_default().to_lowercase();
    INTENTIONS.contains(first.as_str())
}

/// Returns true if a sentence tells the model its role: `You are an expert`.
pub fn gives_role(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    let is_next = |word: &str| words.next().is_some_and(|next| next.eq_ignore_ascii_case(word));
    ["you", "are"].into_iter().all(is_next) && words.next().is_some_and(|article| ["a", "an"].contains(&article))
}

/// Calls `found` with the clauses of a sentence that have a word of a subject, in order: each from its verb on, without greetings,
/// articles and the words that it could end without. Of an answer, the verbs of steps are omitted too.
pub fn clauses<'a>(sentence: &'a str, is_answer: bool, mut found: impl FnMut(&'a str)) {
    if gives_role(sentence) {
        return;
    }
    let mut part: Vec<(Range<usize>, Class)> = Vec::new();
    for (token, mut inner) in spaced(sentence) {
        // A list in brackets without a space before it: `services(mail, chat)`.
        let opened = sentence[inner.clone()].find('(').filter(|at| *at > 2);
        inner.end = opened.map_or(inner.end, |at| inner.start + at);
        let word = &sentence[inner.clone()];
        if word.chars().any(is_wide) {
            flush(sentence, &mut part, is_answer, false, &mut found);
            wide_clauses(token, &mut found);
            continue;
        }
        let is_odd = word.is_empty()
            || word.contains(['\\', '<', '>', '{', '=', '(', '|', ':', '§'])
            || token.starts_with("../")
            || token.starts_with('-') && token.len() == 2
            || word.matches('/').count() > 1
            || word.chars().count() > WORD_CHARACTERS;
        let name = token.trim_start_matches(QUOTES);
        if is_odd || !name.trim_start_matches(PREFIXES).starts_with(word) || name.starts_with("..") {
            flush(sentence, &mut part, is_answer, is_odd, &mut found);
        }
        if !is_odd {
            let start = name.find(word).unwrap_or_default();
            let start = if name[..start].chars().all(|c| PREFIXES.contains(&c)) { inner.start - start } else { inner.start };
            part.push((start..inner.end, class(&word.to_lowercase())));
        }
        if !token.trim_end_matches(QUOTES).ends_with(word) {
            flush(sentence, &mut part, is_answer, false, &mut found);
        }
    }
    flush(sentence, &mut part, is_answer, false, &mut found);
}

/// Returns true if words start with a verb in the past or the third person, before its object: a subject is named by the object.
fn is_inflected(words: &[String], part: &[(Range<usize>, Class)]) -> bool {
    let [verb, next, ..] = words else { return false };
    let is_noun = || matches!(part[1].1, Class::Content | Class::Light) || DETERMINERS.contains(next.as_str());
    let is_past_or_third = verb.ends_with("ed") || verb.ends_with('s') && !verb.ends_with("ss");
    matches!(part[0].1, Class::Content | Class::Edge) && is_past_or_third && is_noun()
}

/// Ends a part of a sentence without marks: passes on its clauses, those after a conjunction too. One that `goes_on` with code or a path
/// ends with a noun, not with the verb or the preposition before those.
fn flush<'a>(
    sentence: &'a str,
    part: &mut Vec<(Range<usize>, Class)>,
    is_answer: bool,
    goes_on: bool,
    found: &mut impl FnMut(&'a str),
) {
    let lower: Vec<String> = part.iter().map(|(range, _)| sentence[range.clone()].to_lowercase()).collect();
    let is_noun = |place: usize| part.get(place).is_some_and(|(_, class)| matches!(class, Class::Content | Class::Light));
    let is_opening = |word: &str| {
        OPENINGS.contains(word)
            || DETERMINERS.contains(word)
            || is_answer && (STEPS.contains(word) || CONJUNCTIONS.contains(word))
    };
    // `It is not expected that the list knows them`: the clause alone says the opposite.
    let is_denied = |place: usize| lower[place - 1] == "that" && lower[..place].iter().any(|word| word == "not");
    let conjunctions = (1..lower.len()).filter(|place| CONJUNCTIONS.contains(lower[place - 1].as_str()) && !is_denied(*place));
    let mut last = usize::MAX;
    for start in std::iter::once(0).chain(conjunctions) {
        let mut from = start;
        loop {
            let is_verb = from > 0
                && SUBJECTS.contains(lower[from - 1].as_str())
                && (is_inflected(&lower[from..], &part[from..])
                    || lower.get(from).is_some_and(|word| COPULAS.contains(word.as_str())));
            if !is_verb && !lower.get(from).is_some_and(|word| is_opening(word)) {
                break;
            }
            from += 1;
        }
        if from == last {
            continue;
        }
        last = from;
        let most = lower.len().min(from + CLAUSE_WORDS);
        let end = if most == lower.len() && !goes_on {
            (from..most).rfind(|place| !TRAILERS.contains(lower[*place].as_str())).map(|place| place + 1)
        } else {
            let ends = || (from + 1..=most).rev().filter(|end| is_noun(end - 1));
            ends().find(|end| !is_noun(*end)).or_else(|| ends().next())
        };
        let Some(end) = end.filter(|end| *end > from + 1 && part[from..*end].iter().any(|(_, class)| *class == Class::Content))
        else {
            continue;
        };
        found(&sentence[part[from].0.start..part[end - 1].0.end]);
    }
    part.clear();
}

/// Returns true for characters of languages that do not separate words by spaces.
pub fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Passes on the parts of a text between marks that are short enough for a label.
fn wide_clauses<'a>(text: &'a str, found: &mut impl FnMut(&'a str)) {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != 'ー' && c != '-');
    for part in parts.filter(|part| part.chars().any(is_wide)) {
        let end = part.char_indices().nth(WIDE_CHARACTERS).map_or(part.len(), |(at, _)| at);
        found(&part[..end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: &[&str]) {
        let mut found = Vec::new();
        clauses(sentence, false, |clause| found.push(clause));
        assert_eq!(found, expected, "{sentence}");
    }

    #[test]
    fn an_order_has_a_verb_of_requests() {
        for (prompt, expected) in [
            ("commit", true),
            ("do 0.54.0", true),
            ("install usage4shop", true),
            ("ship it", true),
            ("Fix tests.", true),
            ("continue", false),
            ("try again", false),
            ("is it", false),
            ("commit?", false),
            ("hello there", false),
            ("prompt one", false),
            ("the end", false),
        ] {
            assert_eq!(is_order(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn clauses_are_parts_of_requests() {
        check("please can you add a dark mode toggle?", &["add a dark mode toggle"]);
        check("Update your `applauncher` shortcut, please", &["Update your `applauncher` shortcut"]);
        check("Migriere die Datenbank auf das neue Schema", &["Migriere die Datenbank auf das neue Schema"]);
        check("データベースの移行を確認してください。", &["データベースの移行を確認してください"]);
        check("Parsing of `.app/a.json` is strict - fail on keys", &["Parsing of `.app/a.json` is strict"]);
        check("You are a highly experienced developer", &[]);
        check("run gh api -X PATCH", &["run gh api"]);
        check("add short timeouts to the client to avoid a/b/c.rs", &["add short timeouts to the client"]);
        check("yes", &[]);
        check("/etc/hosts/a", &[]);
        check("Let's do it", &[]);
        check("the action that transforms raw chat logs", &["action that transforms raw chat logs", "raw chat logs"]);
        check("when we captured multiple sessions", &["when we captured multiple sessions", "multiple sessions"]);
        check("make sure that parsers fail on keys", &["parsers fail on keys"]);
        check("it is not expected that parsers fail on keys", &["expected that parsers fail on keys"]);
        check("this is a status line with a footer", &["status line with a footer"]);
        check("which is the best parser for dates?", &["best parser for dates"]);
        check("is the parser used for dates?", &["is the parser used for dates"]);
        let expected = "retry of failed uploads stopped without any message";
        check("the retry of failed uploads stopped without any message in the log", &[expected]);
    }

    #[test]
    fn phrases_are_words_of_a_subject_in_a_row() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = Vec::new();
            phrases(text, |phrase| found.push(phrase));
            assert_eq!(found, expected, "{text}");
        };
        check("The shadow branch conflict is gone.", &["shadow branch", "branch conflict", "shadow branch conflict"]);
        check("a `login log`, transcript retrieval", &["login log", "transcript retrieval"]);
        check("checkpoint, branch (git) and src/cart.rs", &[]);
        check("the branch of the shadow", &[]);
    }

    #[test]
    fn logs_are_not_prose() {
        assert!(is_prose("Add a User-Agent string for requests coming from the client"));
        assert!(!is_prose("2026/06/18 13:17:39 WARN refs/a/b: [remote rejected] 9f2c main"));
    }

    proptest::proptest! {
        #[test]
        fn every_clause_is_a_short_part_of_its_sentence(sentence in "(the |a |of |and |fix |login |flaky |Test |in |to |错误 |\\PC{0,4} ){0,14}") {
            for is_answer in [false, true] {
                clauses(&sentence, is_answer, |clause| {
                    assert!(sentence.contains(clause));
                    assert!(clause.split_whitespace().count() <= CLAUSE_WORDS);
                });
            }
        }
    }
}
