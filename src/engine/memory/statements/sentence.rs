//! A sentence of the user: its plain words and its mood.

use super::grammar::{GRAMMARS, Grammar};
use super::voice::{PLACEHOLDER, without_quotations};

/// Minimum share, as a divisor, of characters of a script without spaces that decides the language.
const SCRIPT_SHARE: usize = 5;
/// Maximum number of words before a colon that introduce a sentence: `one more thing: …`.
const INTRODUCTION_WORDS: usize = 3;

/// Number of words in which the negation or the subject of a question occurs.
const EARLY_WORDS: usize = 3;

/// Number of words in which the subject and the verb of a statement occur.
const CLAUSE_WORDS: usize = 4;
/// Minimum number of words of a statement before a question: `the disk is full, where do we put it?`.
const STATEMENT_WORDS: usize = 4;
/// Maximum number of words of a question without a verb behind a statement: `…, another idea?`.
const TAIL_WORDS: usize = 4;

/// Mood of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// States something.
    Statement,
    /// Asks something.
    Question,
    /// Demands something, or is a fragment.
    Order,
}

/// A sentence in plain words.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    /// The sentence as the user wrote it.
    pub text: &'a str,
    /// Its words in lower case, without marks and quotations, each with a space before and behind.
    words: String,
    /// Offset of the sentence proper in `words`, behind the openers.
    start: usize,
    pub mood: Mood,
    /// True if it contradicts from its start.
    pub has_contrast: bool,
    grammar: &'static Grammar,
}

impl<'a> Sentence<'a> {
    /// Reads a sentence in a language.
    pub fn new(text: &'a str, grammar: &'static Grammar) -> Sentence<'a> {
        let words = plain_words(text, grammar.is_spaced);
        let (start, has_contrast) = openers(text, &words, grammar);
        let mut sentence = Sentence { text, words, start, mood: Mood::Order, has_contrast, grammar };
        sentence.mood = sentence.find_mood();
        sentence
    }

    /// True if the sentence has one of the phrases.
    pub fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.find(phrase).is_some())
    }

    /// True if the sentence proper starts with one of the phrases.
    pub fn starts_with(&self, phrases: &[&str]) -> bool {
        let rest = &self.words[self.start..];
        phrases.iter().any(|phrase| {
            rest.strip_prefix(' ').is_some_and(|rest| {
                rest.strip_prefix(phrase).is_some_and(|rest| !self.grammar.is_spaced || rest.starts_with(' '))
            })
        })
    }

    /// True if its first word is one of these.
    pub fn begins_with(&self, words: &[&str]) -> bool {
        self.words.split_whitespace().next().is_some_and(|first| words.contains(&first))
    }

    /// True if the sentence ends with one of the phrases, and has no subject or determiner before it: `still not there`, unlike
    /// `find the bug`.
    pub fn ends_bare_with(&self, phrases: &[&str]) -> bool {
        let words = self.words.trim_end();
        let is_bare = |before: &str| !before.split_whitespace().any(|word| self.grammar.subjects.contains(&word));
        let mut before = phrases.iter().filter_map(|phrase| words.strip_suffix(phrase));
        before.any(|before| (!self.grammar.is_spaced || before.ends_with(' ')) && is_bare(before))
    }

    /// True if a negation is among the first words of the sentence or of a clause: `can't we`, `did you not`, `…, isn't it`.
    pub fn negates_early(&self) -> bool {
        let grammar = self.grammar;
        if !grammar.is_spaced {
            return self.has(grammar.negations);
        }
        let early = self.tokens().take(EARLY_WORDS).any(|word| grammar.negations.contains(&word));
        let clause = self.text.rsplit([',', ';', '-']).next().map(|clause| plain_words(clause, true)).unwrap_or_default();
        early
            || clause
                .split_whitespace()
                .take(1)
                .any(|word| grammar.negations.contains(&word) && grammar.auxiliaries.contains(&word))
    }

    /// True if the sentence starts with a negation, alone or behind an auxiliary verb: `never`, `do not`.
    pub fn prohibits(&self) -> bool {
        let grammar = self.grammar;
        let mut tokens = self.tokens().skip_while(|word| grammar.auxiliaries.contains(word) && !grammar.negations.contains(word));
        self.starts_with(grammar.negations) || tokens.next().is_some_and(|word| grammar.negations.contains(&word))
    }

    /// True if the sentence asks for the reason of an act of the user or the agent, or for the reason of an omission: `why do we`,
    /// `why not`.
    pub fn criticizes(&self) -> bool {
        let grammar = self.grammar;
        let Some(at) = grammar.reasons.iter().filter_map(|reason| self.find(reason).map(|at| at + reason.len())).min() else {
            return false;
        };
        let rest = &self.words[at..];
        if !grammar.is_spaced {
            return self.has(grammar.people) || self.has(grammar.negations);
        }
        let first = rest.split_whitespace().next().unwrap_or_default();
        grammar.negations.contains(&first) || rest.split_whitespace().take(EARLY_WORDS).any(|word| grammar.people.contains(&word))
    }

    /// Returns the number of words; of characters in a language without spaces.
    pub fn count(&self) -> usize {
        if self.grammar.is_spaced {
            self.tokens().count()
        } else {
            self.words.chars().filter(|character| character.is_alphanumeric()).count()
        }
    }

    /// Returns the words of the sentence proper.
    fn tokens(&self) -> impl Iterator<Item = &str> {
        self.words[self.start..].split_whitespace()
    }

    fn find(&self, phrase: &str) -> Option<usize> {
        if !self.grammar.is_spaced {
            return self.words.find(phrase);
        }
        let mut from = 0;
        while let Some(at) = self.words[from..].find(phrase) {
            let at = from + at;
            let end = at + phrase.len();
            if self.words[..at].ends_with(' ') && self.words[end..].starts_with(' ') {
                return Some(at);
            }
            from = at + phrase.chars().next().map_or(1, char::len_utf8);
        }
        None
    }

    fn find_mood(&self) -> Mood {
        let grammar = self.grammar;
        let end =
            self.text.trim_end_matches(|character: char| !matches!(character, '?' | '？' | '؟') && !character.is_alphanumeric());
        let is_asked = end.ends_with(['?', '？', '؟']) || self.text.starts_with('¿');
        if !grammar.is_spaced {
            let asks = is_asked
                || (self.has(grammar.question_words)
                    && !self.has(grammar.stances)
                    && !self.has(grammar.tastes)
                    && !self.has(grammar.obligations));
            return if asks {
                Mood::Question
            } else if self.has(grammar.requests) && !self.has(grammar.negations) {
                Mood::Order
            } else {
                Mood::Statement
            };
        }
        let first = self.tokens().next().unwrap_or_default();
        let second = self.tokens().nth(1).unwrap_or_default();
        let has_person = grammar.subjects.contains(&second);
        let inverts = grammar.auxiliaries.contains(&first) && !grammar.drops_subjects && (has_person || second.ends_with("n't"));
        // `what I meant is …` states; `what is …` asks.
        let asks = grammar.question_words.contains(&first) && !(has_person && grammar.first_person.contains(&second));
        if is_asked || asks || inverts {
            return Mood::Question;
        }
        let has_subject = grammar.subjects.contains(&first) || has_person && grammar.question_words.contains(&first);
        let has_verb = grammar.drops_subjects && grammar.auxiliaries.contains(&first);
        if has_subject || has_verb || self.starts_with(grammar.stances) || self.starts_with(grammar.tastes) || self.has_clause() {
            Mood::Statement
        } else {
            Mood::Order
        }
    }

    /// True if a subject and its auxiliary are near the start: in `in that case we can`; or a noun and its auxiliary: `users won't see it`.
    fn has_clause(&self) -> bool {
        let grammar = self.grammar;
        let tokens: Vec<&str> = self.tokens().take(CLAUSE_WORDS + 1).collect();
        let is_finite = |word: &str| grammar.auxiliaries.contains(&word) || grammar.obligations.contains(&word);
        let is_subject = |word: &str| grammar.first_person.contains(&word) || grammar.subjects.contains(&word);
        let clause = tokens.windows(2).any(|pair| is_subject(pair[0]) && is_finite(pair[1]));
        // The noun phrase of a statement is short; an order has its verb first and its auxiliaries in later clauses.
        let noun =
            tokens.iter().take(CLAUSE_WORDS).skip(1).any(|word| grammar.auxiliaries.contains(word) && !word.starts_with("do"));
        let is_subordinate = tokens.iter().take(CLAUSE_WORDS).any(|word| {
            grammar.conditions.contains(word) || grammar.consequences.contains(word) || matches!(*word, "and" | "to")
        });
        (clause || noun) && !is_subordinate
    }
}

/// Returns the clauses of a sentence that state or ask something on their own: before and behind a contradiction (`…, but …`), a
/// consequence (`…, so …`), and a question at its end (`…, where do we put it?`).
pub(super) fn clauses<'a>(text: &'a str, grammar: &Grammar) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices([',', ';', '，', '；', '–']) {
        let (before, after) = (&text[start..at], &text[at + mark.len()..]);
        if before.chars().filter(|character| character.is_alphanumeric()).count() > 0 && starts_clause(before, after, grammar) {
            found.push(before);
            start = at + mark.len();
        }
    }
    found.push(&text[start..]);
    found
}

/// True if the text behind a comma is a clause of its own.
fn starts_clause(before: &str, after: &str, grammar: &Grammar) -> bool {
    if !grammar.is_spaced {
        return grammar.adversatives.iter().chain(grammar.consequences).any(|word| after.trim_start().starts_with(word));
    }
    let words = plain_words(after, true);
    let first = words.split_whitespace().next().unwrap_or_default();
    if grammar.adversatives.contains(&first) || grammar.consequences.contains(&first) {
        return true;
    }
    let is_last = !after.contains([',', ';']) && after.trim_end().ends_with('?');
    let is_tail = grammar.question_words.contains(&first)
        || grammar.auxiliaries.contains(&first)
        || (words.split_whitespace().count() <= TAIL_WORDS && !grammar.tags.contains(&first));
    is_last && is_tail && plain_words(before, true).split_whitespace().count() >= STATEMENT_WORDS
}

/// Returns the grammar of the language in which a text is written; English if nothing decides.
pub(super) fn language(text: &str) -> &'static Grammar {
    let [english, _, _, _, _, chinese, japanese, korean] = GRAMMARS;
    let (mut letters, mut han, mut kana, mut hangul) = (0, 0, 0, 0);
    for character in text.chars().filter(|character| character.is_alphabetic()) {
        letters += 1;
        match character {
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{ac00}'..='\u{d7af}' => hangul += 1,
            '\u{4e00}'..='\u{9fff}' => han += 1,
            _ => {}
        }
    }
    if (han + kana + hangul) * SCRIPT_SHARE > letters {
        return if hangul > han + kana {
            korean
        } else if kana > 0 {
            japanese
        } else {
            chinese
        };
    }
    let words = plain_words(text, true);
    let mut best = (english, 0);
    for grammar in GRAMMARS.into_iter().filter(|grammar| grammar.is_spaced) {
        let lists = [
            grammar.subjects, grammar.auxiliaries, grammar.first_person, grammar.negations, grammar.openers,
            grammar.question_words, grammar.conditions, grammar.obligations,
        ];
        let count = words.split_whitespace().filter(|word| lists.iter().any(|list| list.contains(word))).count();
        if count > best.1 {
            best = (grammar, count);
        }
    }
    best.0
}

/// Returns the words of a text in lower case, each with a space before and behind; characters in a language without spaces.
pub(super) fn plain_words(text: &str, is_spaced: bool) -> String {
    let text = without_quotations(text).to_lowercase().replace(['’', '‘'], "'");
    if !is_spaced {
        return format!(" {} ", text.trim());
    }
    let mut words = String::with_capacity(text.len() + 2);
    for word in text.split(|character: char| !character.is_alphanumeric() && !matches!(character, '\'' | '-' | '_' | PLACEHOLDER))
    {
        let word = word.trim_matches(['\'', '-', '_']);
        if !word.is_empty() {
            words.push(' ');
            words.push_str(word);
        }
    }
    words.push(' ');
    words
}

/// Returns the offset behind the openers of a sentence, and whether one of them contradicts.
fn openers(text: &str, words: &str, grammar: &Grammar) -> (usize, bool) {
    if !grammar.is_spaced {
        return (0, grammar.contrasts.iter().any(|word| words.find(word).is_some_and(|at| at <= 12)));
    }
    let mut start = introduction(text, words);
    let mut contrast = false;
    loop {
        let rest = &words[start..];
        let matches = |phrase: &&&str| {
            rest.strip_prefix(' ').is_some_and(|rest| rest.strip_prefix(**phrase).is_some_and(|rest| rest.starts_with(' ')))
        };
        contrast |= grammar.contrasts.iter().any(|phrase| matches(&phrase));
        match grammar.openers.iter().filter(matches).max_by_key(|phrase| phrase.len()) {
            Some(phrase) => start += 1 + phrase.len(),
            None => return (start, contrast),
        }
    }
}

/// Returns the number of bytes of plain words before a colon that introduces a sentence.
fn introduction(text: &str, all: &str) -> usize {
    let Some((before, after)) = text.split_once(": ") else { return 0 };
    let words = plain_words(before, true);
    let count = words.split_whitespace().count();
    if count == 0 || count > INTRODUCTION_WORDS || after.trim().is_empty() || !all.starts_with(&words) {
        0
    } else {
        words.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moods() {
        for (text, mood) in [
            ("we should log that", Mood::Statement),
            ("hmm, the cache is shared", Mood::Statement),
            ("in that case we can drop it", Mood::Statement),
            ("users won't see it", Mood::Statement),
            ("ok, should we log that", Mood::Question),
            ("one thing: why is it slow", Mood::Question),
            ("add a test for it", Mood::Order),
            ("yes, go on", Mood::Order),
            ("das muss sortiert sein", Mood::Statement),
            ("warum nicht v6", Mood::Question),
            ("deberíamos usar pnpm", Mood::Statement),
            ("我们应该用 pnpm", Mood::Statement),
            ("テストを追加してください", Mood::Order),
        ] {
            assert_eq!(Sentence::new(text, language(text)).mood, mood, "{text}");
        }
    }

    #[test]
    fn contrasts() {
        for (text, expected) in [
            ("no, use tabs", true),
            ("ok but we use tabs", true),
            ("use tabs", false),
            ("nein, bitte nicht so", true),
            ("不是这样", true),
        ] {
            assert_eq!(Sentence::new(text, language(text)).has_contrast, expected, "{text}");
        }
    }
}
