//! A sentence of the user: its plain words and its mood.

use super::grammar;
use super::voice::without_quotations;
use crate::text::lists::word_lists;
use crate::text::words::{FIRST_IDEOGRAPH, prose_words};

word_lists! { "words.txt": FOREIGN }

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

/// Pronouns for a thing in another text: a statement that has one as its subject does not say what it is about. `das` is German.
const STAND_INS: [&str; 14] =
    ["he", "it", "it's", "one", "she", "that", "that's", "them", "these", "they", "they're", "this", "those", "das"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Statement,
    Question,
    /// Demands something, or is a fragment.
    Order,
}

#[derive(Debug)]
pub(super) struct Sentence<'a> {
    /// The sentence as the user wrote it.
    pub text: &'a str,
    /// Its words in lower case, without marks and quotations, each with a space before and behind.
    words: String,
    /// Offset of the sentence proper in `words`, behind the openers.
    start: usize,
    pub mood: Mood,
    pub has_contrast: bool,
}

impl<'a> Sentence<'a> {
    pub fn new(text: &'a str) -> Sentence<'a> {
        let words = plain_words(text);
        let (start, has_contrast) = openers(text, &words);
        let mut sentence = Sentence { text, words, start, mood: Mood::Order, has_contrast };
        sentence.mood = sentence.find_mood();
        sentence
    }

    pub fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.find(phrase).is_some())
    }

    pub fn starts_with(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| begins(&self.words[self.start..], phrase))
    }

    /// True if it ends with one of the phrases, without a subject or determiner before it: `still not there`, unlike `find the bug`.
    pub fn ends_bare_with(&self, phrases: &[&str]) -> bool {
        let words = self.words.trim_end();
        let is_bare = |before: &str| !before.split_whitespace().any(|word| grammar::SUBJECTS.contains(&word));
        let mut before = phrases.iter().filter_map(|phrase| words.strip_suffix(phrase));
        before.any(|before| before.ends_with(' ') && is_bare(before))
    }

    /// True if a negation is among the first words of the sentence or of a clause: `can't we`, `did you not`, `…, isn't it`.
    pub fn negates_early(&self) -> bool {
        let early = self.tokens().take(EARLY_WORDS).any(|word| grammar::NEGATIONS.contains(&word));
        let clause = self.text.rsplit([',', ';', '-']).next().map(plain_words).unwrap_or_default();
        early
            || clause
                .split_whitespace()
                .take(1)
                .any(|word| grammar::NEGATIONS.contains(&word) && grammar::AUXILIARIES.contains(&word))
    }

    /// True if the sentence starts with a negation, alone or behind an auxiliary verb: `never`, `do not`.
    pub fn prohibits(&self) -> bool {
        let mut tokens =
            self.tokens().skip_while(|word| grammar::AUXILIARIES.contains(word) && !grammar::NEGATIONS.contains(word));
        self.starts_with(&grammar::NEGATIONS) || tokens.next().is_some_and(|word| grammar::NEGATIONS.contains(&word))
    }

    /// True if it asks for the reason of an act of the user or the agent, or of an omission: `why do we`, `why not`.
    pub fn criticizes(&self) -> bool {
        let Some(at) = grammar::REASONS.iter().filter_map(|reason| self.find(reason).map(|at| at + reason.len())).min() else {
            return false;
        };
        let rest = &self.words[at..];
        let first = rest.split_whitespace().next().unwrap_or_default();
        grammar::NEGATIONS.contains(&first)
            || rest.split_whitespace().take(EARLY_WORDS).any(|word| grammar::PEOPLE.contains(&word))
    }

    /// True if a word of generality qualifies what it says, not a thing: `only tabs`, unlike `the only trick`.
    pub fn generalizes(&self) -> bool {
        self.has_unless_after(&grammar::GENERALITIES, &["the", "not", "if"])
    }

    /// True if it opens a condition, not an indirect question: `if it fails`, unlike `check if it fails`.
    pub fn is_conditional(&self) -> bool {
        self.has_unless_after(&grammar::CONDITIONS, &["ask", "check", "is", "know", "see", "sure", "tell", "was", "wonder"])
    }

    fn has_unless_after(&self, phrases: &[&str], words: &[&str]) -> bool {
        let is_free = |at: usize| self.words[..at].split_whitespace().next_back().is_none_or(|before| !words.contains(&before));
        phrases.iter().any(|phrase| self.find(phrase).is_some_and(is_free))
    }

    /// True if it asks at its end for a confirmation: `we use tabs, right`, unlike `the order is right`.
    pub fn ends_with_tag(&self) -> bool {
        let mut words = self.words.split_whitespace().rev();
        let is_tag = words.next().is_some_and(|last| grammar::TAGS.contains(&last));
        is_tag && words.next().is_some_and(|before| !grammar::AUXILIARIES.contains(&before))
    }

    /// True if it points at something that only its conversation shows: `this must not say it`, `these names`; not at its own end
    /// (`like this: …`), at its own beginning (`…, but this is the goal`), or at the project.
    pub fn points(&self) -> bool {
        const POINTERS: [&str; 3] = ["this", "these", "those"];
        const PLACES: [&str; 7] = ["codebase", "crate", "package", "project", "repo", "repository", "service"];
        let tokens: Vec<&str> = self.words.split_whitespace().collect();
        let points = |at: usize| {
            let next = tokens.get(at + 1);
            let joins = |word: &&str| grammar::ADVERSATIVES.contains(word) || grammar::CONSEQUENCES.contains(word);
            let is_joined = at > STATEMENT_WORDS && joins(&tokens[at - 1]);
            let is_own = is_joined && next.is_some_and(|next| grammar::AUXILIARIES.contains(next));
            POINTERS.contains(&tokens[at]) && !is_own && next.is_none_or(|next| !PLACES.contains(next))
        };
        !self.text.contains("this: ") && (0..tokens.len()).any(points) || self.adds()
    }

    /// True if it begins with a word that adds it to what was said before; words before a colon introduce it.
    fn adds(&self) -> bool {
        let first = self.words.split_whitespace().next().unwrap_or_default();
        grammar::ADVERSATIVES.contains(&first) && introduction(self.text, &self.words) == 0
    }

    /// True if it gives the place of a thing in or beside the project: `the schema is in db/schema.sql`.
    pub fn gives_place(&self) -> bool {
        let mut words = self.text.split_whitespace().skip_while(|word| !matches!(*word, "is" | "are")).skip(1);
        let is_place =
            |word: &str| word.trim_end_matches('.').contains('/') && !word.starts_with(['/', '~']) && !word.contains("://");
        matches!(words.next(), Some("in" | "at" | "under")) && words.next().is_some_and(|word| is_place(word.trim_matches('`')))
    }

    /// True if it gives the present value of a thing: `the port is 9090 now`.
    pub fn gives_value(&self) -> bool {
        let is_value = |word: &&str| word.contains(|c: char| c.is_ascii_digit()) || self.text.contains(&format!("`{word}"));
        let mut words = self.tokens().skip_while(|word| !matches!(*word, "is" | "are"));
        let is_now = self.has(&["now", "from now on", "nowadays"]);
        words.next().is_some() && is_now && words.take(CLAUSE_WORDS).any(|word| is_value(&word))
    }

    /// True if it says by itself what it is about: it names its subject, ends with no pronoun, and chooses no option of a question.
    pub fn is_whole(&self) -> bool {
        let tokens: Vec<&str> = self.tokens().collect();
        // The pronoun of a condition refers to the words before it: `we write no loop if we can avoid it`.
        let is_condition = || tokens.iter().skip(1).any(|word| grammar::CONDITIONS.contains(word));
        let ends = tokens.last().is_some_and(|last| STAND_INS.contains(last) && *last != "das") && !is_condition();
        // A single letter is an option of a question: `A for the first, B for the rest`. `I` is a pronoun; C, R and V are languages.
        let is_option = self.text.split(|c: char| !c.is_alphanumeric() && !"-.'/_".contains(c)).any(|word| {
            word.len() == 1 && word.chars().all(|c| c.is_ascii_uppercase()) && !matches!(word, "I" | "C" | "R" | "V")
        }) || tokens.len() <= 2 && tokens.iter().any(|word| word.len() == 1);
        self.names_subject() && !ends && !is_option
    }

    /// True if its subject is not a pronoun for another text.
    pub fn names_subject(&self) -> bool {
        const LINKS: [&str; 22] = [
            "assume", "believe", "by", "case", "default", "do", "don't", "ensure", "feel", "feels", "guess", "i", "i'm", "if",
            "in", "like", "make", "maybe", "not", "sure", "think", "thought",
        ];
        let asks = self.mood == Mood::Question;
        let mut tokens = self.tokens().skip_while(|word| LINKS.contains(word) || asks && grammar::AUXILIARIES.contains(word));
        // A sentence of such words alone begins with its subject.
        let subject = tokens.next().or_else(|| self.tokens().next()).unwrap_or_default();
        let next = tokens.next().unwrap_or_default();
        let is_noun = matches!(subject, "this" | "that" | "these" | "those" | "one")
            && !grammar::AUXILIARIES.contains(&next)
            && !matches!(next, "" | "of");
        (!STAND_INS.contains(&subject) || is_noun || self.has_clause_as_subject()) && !self.places_stand_in()
    }

    /// True if its subject is the clause at its end: `it is not expected that the list knows them`, unlike `it is the list that …`.
    fn has_clause_as_subject(&self) -> bool {
        const DETERMINERS: [&str; 9] = ["a", "all", "an", "my", "our", "so", "some", "the", "your"];
        let mut tokens = self.tokens();
        let is_it = match tokens.next() {
            Some("it's") => true,
            Some("it") => tokens.next().is_some_and(|word| grammar::AUXILIARIES.contains(&word)),
            _ => false,
        };
        let described: Vec<&str> = tokens.by_ref().take_while(|word| *word != "that").collect();
        is_it
            && (1..=EARLY_WORDS).contains(&described.len())
            && !described.iter().any(|word| DETERMINERS.contains(word))
            && tokens.next().is_some()
    }

    /// True if it says of an unnamed thing where or for which case it holds: `at release.yml it shouldn't be a secret`.
    fn places_stand_in(&self) -> bool {
        const PREPOSITIONS: [&str; 6] = ["at", "for", "from", "in", "on", "with"];
        let mut tokens = self.tokens().take(2 * CLAUSE_WORDS).peekable();
        if tokens.next_if(|first| PREPOSITIONS.contains(first)).is_none() {
            return false;
        }
        let is_finite = |word: &&str| grammar::AUXILIARIES.contains(word) || grammar::OBLIGATIONS.contains(word);
        let subject = tokens
            .by_ref()
            .find(|word| grammar::FIRST_PERSON.contains(word) || matches!(word.split('\'').next(), Some("it" | "they")));
        match subject {
            Some("it's" | "they're") => true,
            Some("it" | "they") => tokens.next().as_ref().is_some_and(is_finite),
            _ => false,
        }
    }

    /// Returns the number of words; each character of a script without spaces counts as one.
    pub fn count(&self) -> usize {
        self.tokens().map(|word| word.chars().filter(|c| *c >= FIRST_IDEOGRAPH).count().max(1)).sum()
    }

    /// Returns the words of the sentence proper.
    fn tokens(&self) -> impl Iterator<Item = &str> {
        self.words[self.start..].split_whitespace()
    }

    fn find(&self, phrase: &str) -> Option<usize> {
        find(&self.words, phrase)
    }

    fn find_mood(&self) -> Mood {
        let end =
            self.text.trim_end_matches(|character: char| !matches!(character, '?' | '？' | '؟') && !character.is_alphanumeric());
        let is_asked = end.ends_with(['?', '？', '؟']) || self.text.starts_with('¿');
        let first = self.tokens().next().unwrap_or_default();
        let second = self.tokens().nth(1).unwrap_or_default();
        let has_person = grammar::SUBJECTS.contains(&second);
        let inverts = grammar::AUXILIARIES.contains(&first) && (has_person || second.ends_with("n't"));
        // `what I meant is …` states; `what is …` asks.
        let asks = grammar::QUESTION_WORDS.contains(&first) && !(has_person && grammar::FIRST_PERSON.contains(&second));
        if is_asked || asks || inverts {
            return Mood::Question;
        }
        let has_subject = grammar::SUBJECTS.contains(&first) || has_person && grammar::QUESTION_WORDS.contains(&first);
        if has_subject || self.starts_with(&grammar::STANCES) || self.starts_with(&grammar::TASTES) || self.has_clause() {
            Mood::Statement
        } else {
            Mood::Order
        }
    }

    /// True if a subject and its auxiliary are near the start: in `in that case we can`; or a noun and its auxiliary: `users won't see it`.
    fn has_clause(&self) -> bool {
        let tokens: Vec<&str> = self.tokens().take(CLAUSE_WORDS + 1).collect();
        let is_finite = |word: &str| grammar::AUXILIARIES.contains(&word) || grammar::OBLIGATIONS.contains(&word);
        let is_subject = |word: &str| grammar::FIRST_PERSON.contains(&word) || grammar::SUBJECTS.contains(&word);
        let clause = tokens.windows(2).any(|pair| is_subject(pair[0]) && is_finite(pair[1]));
        // The noun phrase of a statement is short; an order has its verb first and its auxiliaries in later clauses.
        let noun =
            tokens.iter().take(CLAUSE_WORDS).skip(1).any(|word| grammar::AUXILIARIES.contains(word) && !word.starts_with("do"));
        let is_subordinate = tokens.iter().take(CLAUSE_WORDS).any(|word| {
            grammar::CONDITIONS.contains(word) || grammar::CONSEQUENCES.contains(word) || matches!(*word, "and" | "to")
        });
        (clause || noun) && !is_subordinate
    }
}

/// Returns the clauses of a sentence that state or ask something on their own: before and behind a contradiction (`…, but …`), a
/// consequence (`…, so …`), and a question at its end (`…, where do we put it?`).
pub(super) fn clauses(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices([',', ';', '，', '；', '–']) {
        let (before, after) = (&text[start..at], &text[at + mark.len()..]);
        if before.chars().filter(|character| character.is_alphanumeric()).count() > 0 && starts_clause(before, after) {
            found.push(before);
            start = at + mark.len();
        }
    }
    found.push(&text[start..]);
    found
}

/// True if the text behind a comma is a clause of its own.
fn starts_clause(before: &str, after: &str) -> bool {
    let words = plain_words(after);
    let first = words.split_whitespace().next().unwrap_or_default();
    if grammar::ADVERSATIVES.contains(&first) || grammar::CONSEQUENCES.contains(&first) {
        return true;
    }
    let is_last = !after.contains([',', ';']) && after.trim_end().ends_with('?');
    let is_tail = grammar::QUESTION_WORDS.contains(&first)
        || grammar::AUXILIARIES.contains(&first)
        || (words.split_whitespace().count() <= TAIL_WORDS && !grammar::TAGS.contains(&first));
    is_last && is_tail && plain_words(before).split_whitespace().count() >= STATEMENT_WORDS
}

/// Returns true if a text has at least as many words of other languages as function words of English.
pub(super) fn is_foreign(text: &str) -> bool {
    let words = plain_words(text);
    let is_english = |word: &&str| grammar::has(word);
    let is_other = |word: &&str| FOREIGN.contains(word) || word.contains(|c: char| c.is_alphabetic() && !c.is_ascii());
    let other = words.split_whitespace().filter(is_other).count();
    other > 0 && other >= words.split_whitespace().filter(is_english).count()
}

/// Returns the words of a text in lower case, each with a space before and behind.
pub(super) fn plain_words(text: &str) -> String {
    let text = without_quotations(text).to_lowercase().replace(['’', '‘'], "'");
    prose_words(&text).flat_map(|word| [" ", word]).chain([" "]).collect()
}

/// Returns the place of a phrase of whole words in plain words.
pub(super) fn find(words: &str, phrase: &str) -> Option<usize> {
    let is_whole = |at: &usize| words[..*at].ends_with(' ') && words[at + phrase.len()..].starts_with(' ');
    words.match_indices(phrase).map(|(at, _)| at).find(is_whole)
}

/// Returns true if plain words begin with a phrase of whole words.
pub(super) fn begins(words: &str, phrase: &str) -> bool {
    words.strip_prefix(' ').and_then(|rest| rest.strip_prefix(phrase)).is_some_and(|rest| rest.starts_with(' '))
}

/// Returns the offset behind the openers of a sentence, and whether one of them contradicts.
fn openers(text: &str, words: &str) -> (usize, bool) {
    let mut start = introduction(text, words);
    let mut contrast = false;
    loop {
        let matches = |phrase: &&&str| begins(&words[start..], phrase);
        contrast |= grammar::CONTRASTS.iter().any(|phrase| matches(&phrase));
        match grammar::OPENERS.iter().filter(matches).max_by_key(|phrase| phrase.len()) {
            Some(phrase) => start += 1 + phrase.len(),
            None => return (start, contrast),
        }
    }
}

/// Returns the number of bytes of plain words before a colon that introduces a sentence.
fn introduction(text: &str, all: &str) -> usize {
    let Some((before, after)) = text.split_once(": ") else { return 0 };
    let words = plain_words(before);
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
        ] {
            assert_eq!(Sentence::new(text).mood, mood, "{text}");
        }
    }

    #[test]
    fn contrasts() {
        for (text, expected) in [("no, use tabs", true), ("ok but we use tabs", true), ("use tabs", false)] {
            assert_eq!(Sentence::new(text).has_contrast, expected, "{text}");
        }
    }
}
