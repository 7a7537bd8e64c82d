//! A statement in few words, for lists that have no room for the whole.

use super::grammar;
use super::sentence::{Mood, Sentence, clauses};
use super::signals::{STATEMENT_THRESHOLD, Score, score, signals_of};
use super::voice::sentences;
use crate::engine::content::rules::{Rule, rule};

/// The part of a statement that states something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief<'a> {
    /// The clauses from the first to the last that state something, in the user's words, without interjections before them.
    pub text: &'a str,
    /// The points for outliving its task: the sum of the weights of the signals of its best clause, in quarters.
    pub lasting: i32,
    /// True if it asks, or tells a belief or a wish for the task at hand, and is not a rule.
    pub is_opinion: bool,
}

/// A clause at its place in the text.
struct Clause {
    start: usize,
    end: usize,
    score: Score,
    is_opinion: bool,
}

/// Returns the part of a text that states something, without questions, requests and remarks around it; else the best clause.
pub fn brief(text: &str) -> Brief<'_> {
    let clauses = clauses_of(text);
    let Some(best) = clauses.iter().max_by_key(|clause| (clause.score.lasting, clause.score.statement)) else {
        return Brief { text, lasting: 0, is_opinion: false };
    };
    let states = |clause: &&Clause| clause.score.statement >= STATEMENT_THRESHOLD;
    let first = clauses.iter().find(states).unwrap_or(best);
    let last = clauses.iter().rfind(states).unwrap_or(best);
    let told = without_end(without_openers(&text[first.start..last.end]));
    let mut printed = clauses.iter().filter(|clause| (first.start..=last.start).contains(&clause.start));
    let is_opinion = printed.any(|clause| clause.is_opinion) && rule(text) != Some(Rule::Lasting);
    Brief { text: told, lasting: best.score.lasting, is_opinion }
}

/// Returns the clauses of a text. A reason and its consequence (`the cache is shared, so …`), and a condition and what follows from it
/// (`if the port is taken, …`), are one; so are a sentence and the one before that names its subject.
fn clauses_of(text: &str) -> Vec<Clause> {
    let mut found: Vec<Clause> = Vec::new();
    for sentence in sentences(text) {
        let mut has_condition = false;
        let names_subject = Sentence::new(sentence).names_subject();
        for (at, clause) in clauses(sentence).into_iter().map(str::trim).enumerate() {
            let words = Sentence::new(clause);
            let score = score(&signals_of(&words, rule(clause) == Some(Rule::Lasting)));
            let is_opinion = words.mood == Mood::Question
                || words.criticizes()
                || words.has(&["is there any"])
                || words.has(&grammar::STANCES)
                || words.has(&["should we", "take a look", "look and see", "think about", "right now"])
                // An order to make sure of something holds for all that follows.
                || words.has(&["we need to", "we also need to"]) && !words.has(&["make sure"])
                || words.starts_with(&grammar::NARRATORS) && !words.has(&grammar::TASTES);
            let start = clause.as_ptr() as usize - text.as_ptr() as usize;
            let end = start + clause.len();
            let follows = at > 0 && (has_condition || words.begins_with(&grammar::CONSEQUENCES));
            match found.last_mut().filter(|_| follows || at == 0 && !names_subject) {
                Some(before) => {
                    let is_opinion = before.is_opinion || is_opinion;
                    *before = Clause { start: before.start, end, score: before.score.max(score), is_opinion };
                }
                None => found.push(Clause { start, end, score, is_opinion }),
            }
            has_condition = words.is_conditional();
        }
    }
    found
}

/// Returns a text without an aside in parentheses at its end, and without its last full stops.
fn without_end(text: &str) -> &str {
    let text = text.trim_end_matches(['.', '…', '。', ' ']);
    let aside = text.strip_suffix(')').and_then(|before| before.rfind(" (").filter(|at| !before[at + 2..].contains('(')));
    aside.map_or(text, |at| text[..at].trim_end())
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
    fn only_the_statement_is_left() {
        // Interjections are left out.
        check("ok so we never commit the lock file", "we never commit the lock file");
        check("no, the port must be 8081", "the port must be 8081");
        // Questions and requests around a statement are left out.
        check("we should never log the address, any other idea?", "we should never log the address");
        check("Can you look at that again? The names must stay sorted.", "The names must stay sorted");
        check("what?", "what?");
        // Asides and full stops at the end are left out.
        check("the port must be 8081 (it was free when I looked).", "the port must be 8081");
        check("we never log it (see the policy) in tests...", "we never log it (see the policy) in tests");
        check("(never)", "(never)");
    }

    #[test]
    fn a_consequence_keeps_its_reason_and_a_condition_what_follows() {
        for text in [
            "the queue is shared by all workers, so we should not block it",
            "if a release is not in the list of ours, how do we find it?",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_question_for_a_reason_is_an_opinion_and_a_reason_is_not() {
        assert!(brief("tool/v5 - why are we not using v6").is_opinion);
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
