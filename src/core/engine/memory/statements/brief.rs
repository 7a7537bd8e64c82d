//! A statement in few words, for lists that have no room for the whole.

use super::grammar;
use super::sentence::{Mood, Sentence, clauses};
use super::signals::{STATEMENT_THRESHOLD, score, signals_of};
use super::voice::sentences;
use crate::engine::content::rules::{Rule, rule};

/// A statement without what is before and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief<'a> {
    /// The statement in the user's words, without interjections before it.
    pub text: &'a str,
    /// The points for outliving its task: the sum of the weights of the signals of its best clause, in quarters.
    pub lasting: i32,
    /// True if it asks, or tells a belief or a wish for the task at hand, and is not a rule.
    pub is_opinion: bool,
    /// True if all of the text is in it, but for questions.
    pub is_whole: bool,
}

impl Brief<'_> {
    /// Returns true for a question, an opinion, or a wish for the task at hand.
    pub fn asks_or_opines(&self) -> bool {
        self.is_opinion || self.text.ends_with(['?', '？'])
    }
}

/// A sentence at its place in the text, with those that do not name their subject.
struct Group {
    start: usize,
    end: usize,
    lasting: i32,
    states: bool,
    is_opinion: bool,
    /// True if it does nothing but ask.
    asks: bool,
}

/// Returns the sentences of a text from the first to the last that states something, without the words before them and the last full
/// stops; else the whole text. A sentence is never cut, except for a question behind facts: a question or a wish gives it its sense.
pub fn brief(text: &str) -> Brief<'_> {
    let groups = groups_of(text);
    let lasting = groups.iter().map(|group| group.lasting).max().unwrap_or_default();
    let states = |group: &&Group| group.states && !group.is_opinion;
    let told = match (groups.iter().find(states), groups.iter().rfind(states)) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..text.len(),
    };
    let mut printed = groups.iter().filter(|group| told.contains(&group.start));
    let is_opinion = printed.any(|group| group.is_opinion) && rule(text) != Some(Rule::Lasting);
    let is_whole = groups.iter().all(|group| group.asks || told.contains(&group.start));
    let text = without_openers(&text[told]).trim_end_matches(['.', '…', '。', ' ']);
    Brief { text, lasting, is_opinion, is_whole }
}

fn groups_of(text: &str) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for sentence in sentences(text) {
        let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
        let mut clauses = clauses(sentence);
        // A question behind facts does not change them.
        let facts =
            clauses.iter().rposition(|clause| !asks(clause)).filter(|last| clauses[..=*last].iter().all(|one| is_fact(one)));
        clauses.truncate(facts.map_or(clauses.len(), |last| last + 1));
        let end = clauses.last().map_or(start, |last| last.as_ptr() as usize + last.len() - text.as_ptr() as usize);
        let asks = clauses.iter().all(|clause| asks(clause));
        let mut group = Group { start, end, lasting: i32::MIN, states: false, is_opinion: false, asks };
        for clause in clauses.into_iter().map(str::trim) {
            let words = Sentence::new(clause);
            let score = score(&signals_of(&words, rule(clause) == Some(Rule::Lasting)));
            group.lasting = group.lasting.max(score.lasting);
            group.states |= score.statement >= STATEMENT_THRESHOLD;
            group.is_opinion |= is_opinion(&words);
        }
        match found.last_mut().filter(|_| !Sentence::new(sentence).names_subject()) {
            Some(before) => {
                before.end = group.end;
                before.lasting = before.lasting.max(group.lasting);
                before.states |= group.states;
                before.is_opinion |= group.is_opinion;
                before.asks &= group.asks;
            }
            None => found.push(group),
        }
    }
    found
}

fn asks(clause: &str) -> bool {
    let words = Sentence::new(clause.trim());
    words.mood == Mood::Question || words.has(&["i wonder"])
}

/// Returns true if a clause states what is so of a thing, not what a person does or should do.
fn is_fact(clause: &str) -> bool {
    let words = Sentence::new(clause.trim());
    let is_wish =
        [&grammar::FIRST_PERSON[..], &grammar::PEOPLE, &grammar::HEDGES, &["must", "need", "needs", "should", "shouldn't"]];
    words.mood == Mood::Statement && !is_wish.iter().any(|list| words.has(list)) && !is_opinion(&words)
}

/// Returns true if a clause asks, or tells a belief or a wish for the task at hand.
fn is_opinion(words: &Sentence<'_>) -> bool {
    words.mood == Mood::Question
        || words.criticizes()
        || words.ends_with_tag()
        || words.has(&["is there any"])
        || words.has(&grammar::STANCES)
        || words.starts_with(&grammar::HEDGES)
        || words.has(&["should we", "take a look", "look and see", "think about", "right now"])
        // An order to make sure of something holds for all that follows.
        || words.has(&["we need to", "we also need to"]) && !words.has(&["make sure"])
        || words.starts_with(&grammar::NARRATORS) && !words.has(&grammar::TASTES)
}

/// Returns a text without the interjections and conjunctions before its first sentence proper: `ok so we …`.
fn without_openers(text: &str) -> &str {
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
        if !word.is_empty() && !grammar::OPENERS.contains(&&*word) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(brief(text).text, expected, "{text}");
    }

    #[test]
    fn a_statement_is_whole_without_the_words_before_it() {
        check("ok so we never commit the lock file", "we never commit the lock file");
        check("no, the port must be 8081.", "the port must be 8081");
        check("what?", "what?");
        check("(never)", "(never)");
        // A part of it would have another sense.
        for text in [
            "we should never log the address, any other idea?",
            "the queue is shared by all workers, so we should not block it",
            "the port must be 8081 (it was free when I looked)",
        ] {
            check(text, text);
        }
        assert!(brief("we should log the address, any other idea?").asks_or_opines());
        // A whole sentence beside it has its own.
        for text in
            ["The names must stay sorted. Can you look at that again?", "I want to drop the list. The names must stay sorted."]
        {
            check(text, "The names must stay sorted");
            assert!(!brief(text).asks_or_opines(), "{text}");
        }
    }

    #[test]
    fn a_fact_is_told_without_the_questions_beside_it() {
        for text in ["but again: the mirror has no login, how should that work?", "I wonder how. the mirror has no login"] {
            let told = brief(text);
            assert_eq!((told.text, told.is_whole, told.asks_or_opines()), ("the mirror has no login", true, false), "{text}");
        }
        assert!(!brief("I want to drop the list. The names must stay sorted.").is_whole);
    }

    #[test]
    fn a_question_for_a_reason_is_an_opinion_and_a_reason_is_not() {
        assert!(brief("tool/v5 - why are we not using v6").is_opinion);
        assert!(brief("Not sure yet if we keep the old branches").is_opinion);
        assert!(brief("we need to add a button for it").is_opinion);
        assert!(brief("we also want to think about the order of the workers").is_opinion);
        assert!(brief("I don't care about the looks right now").is_opinion);
        assert!(!brief("we need to make sure that the list has no client's name").is_opinion);
        assert!(!brief("the comment says only the why and is easy to read").is_opinion);
    }

    #[test]
    fn rules_are_more_lasting_than_remarks() {
        let lasting = |text| brief(text).lasting;
        assert!(lasting("we should always squash before a merge") > lasting("I thought it was the other one"));
    }
}
