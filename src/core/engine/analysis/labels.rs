//! Labels of topics: clauses of the user or subjects of commits, or else clauses of the agent, that name a subject.

use crate::text::clauses::{is_fragment, is_request, is_statement, is_wide, points, weighed_words};
use crate::text::words::stem;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Messages, and clauses of a message, after which the value of the next one is half.
const MESSAGES: f32 = 4.0;
const CLAUSES: f32 = 2.0;
/// Values of a title that the client gave to the session, and of the subject of a commit, beside 1 of the first clause of a message.
pub(super) const TITLE: f32 = 2.0;
const COMMIT: f32 = 1.6;
/// Share of the value of a word that its topic does not support.
const UNSUPPORTED: f32 = 0.4;
/// Values of the words of a clause, the best first.
const WORDS: [f32; 4] = [1.0, 1.0, 0.6, 0.3];
/// Value of a request, and shares of the value of a clause that needs the text before it, and, as a label, of a statement, a question or
/// one that points at the text around it.
const REQUEST: f32 = 1.3;
const FRAGMENT: f32 = 0.75;
const STATEMENT: f32 = 0.4;
/// Characters of a language without spaces that are one word.
const WIDE: f32 = 4.0;
/// Minimum value of a clause that names a subject, and of a label.
const SUBJECT: f32 = 1.2;
const LABEL: f32 = 0.5;

/// The texts that can name a topic, with the values of their places.
#[derive(Debug, Default)]
pub(super) struct Candidates<'a> {
    pub(super) user: Vec<(&'a str, f32)>,
    agent: Vec<(&'a str, f32)>,
    pub(super) commits: Vec<&'a str>,
    /// The number of messages of the user and of the agent with clauses.
    messages: [u32; 2],
}

impl<'a> Candidates<'a> {
    pub(super) fn add(&mut self, clauses: impl Iterator<Item = &'a str>, is_answer: bool) {
        let texts = if is_answer { &mut self.agent } else { &mut self.user };
        let messages = &mut self.messages[usize::from(is_answer)];
        let message = MESSAGES / (MESSAGES + *messages as f32);
        let known = texts.len();
        texts.extend(clauses.enumerate().map(|(rank, clause)| (clause, message * CLAUSES / (CLAUSES + rank as f32))));
        *messages += u32::from(texts.len() > known);
    }

    /// Adds the candidates of another part of the same topic.
    pub(super) fn extend(&mut self, other: Candidates<'a>) {
        let message = |speaker: usize| MESSAGES / (MESSAGES + self.messages[speaker] as f32);
        let (user, agent) = (message(0), message(1));
        self.user.extend(other.user.into_iter().map(|(clause, place)| (clause, place * user)));
        self.agent.extend(other.agent.into_iter().map(|(clause, place)| (clause, place * agent)));
        self.commits.extend(other.commits);
        self.messages = [0, 1].map(|speaker| self.messages[speaker] + other.messages[speaker]);
    }

    /// Returns true if the user names a subject. `words` are the words of the topic with its support for each, from 0 to 1.
    pub(super) fn has_subject(&self, words: &FxHashMap<&str, f32>) -> bool {
        self.user.iter().any(|(clause, place)| place * value(clause, words) >= SUBJECT)
    }

    /// Returns the clause that names the topic best and is not the label of another one, without quotation marks. `words` are the
    /// words of the topic with its support for each, from 0 to 1.
    pub(super) fn label(&self, words: &FxHashMap<&str, f32>, taken: &BTreeSet<String>) -> Option<String> {
        let best = |texts: &mut dyn Iterator<Item = (&str, f32)>| {
            let values = texts.map(|(clause, place)| (place * value(clause, words), plain(clause)));
            let is_free = |clause: &str| !taken.contains(&clause.to_lowercase());
            let named = values.filter(|(value, clause)| *value >= LABEL && is_free(clause));
            let ranked = named.map(|(value, clause)| {
                (if is_statement(&clause) || points(&clause) { value * STATEMENT } else { value }, clause)
            });
            // The first of several with one value.
            ranked.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, clause)| clause)
        };
        let commits = self.commits.iter().map(|subject| (*subject, COMMIT));
        best(&mut self.user.iter().copied().chain(commits)).or_else(|| best(&mut self.agent.iter().copied()))
    }
}

fn plain(clause: &str) -> String {
    clause.replace(['`', '"', '“', '”', '*'], "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the information of a clause about the subject of a topic.
fn value(clause: &str, words: &FxHashMap<&str, f32>) -> f32 {
    let wide = clause.chars().filter(|c| is_wide(*c)).count() as f32;
    let support = |word: &str| words.get(stem(&word.to_lowercase())).copied().unwrap_or_default();
    let mut values: Vec<f32> = weighed_words(clause)
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(word, weight)| weight * (UNSUPPORTED + (1.0 - UNSUPPORTED) * support(word)))
        .collect();
    values.sort_by(|a, b| b.total_cmp(a));
    let value = wide / WIDE + values.iter().zip(WORDS).map(|(value, share)| value * share).sum::<f32>();
    let value = if is_request(clause) { value * REQUEST } else { value };
    if is_fragment(clause) { value * FRAGMENT } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompts: &[&'static [&'static str]], words: &[(&'static str, f32)], expected: Option<&str>) {
        let mut candidates = Candidates::default();
        for clauses in prompts {
            candidates.add(clauses.iter().copied(), false);
        }
        let words = words.iter().map(|(word, count)| (stem(word), *count)).collect();
        assert_eq!(candidates.label(&words, &BTreeSet::new()).as_deref(), expected);
    }

    #[test]
    fn a_label_is_a_clause_of_words_that_the_topic_repeats() {
        check(
            &[&["tho ogirin urls", "fix the flaky login test"]],
            &[("flaky", 0.5), ("login", 1.0)],
            Some("fix the flaky login test"),
        );
        check(&[&["migrate to `cobra`"]], &[("cobra", 1.0)], Some("migrate to cobra"));
        check(&[&["do it again"]], &[], None);
        check(
            &[&["counters are reset and a new prompt starts", "split the session store"]],
            &[("counters", 1.0), ("prompt", 1.0), ("store", 0.5)],
            Some("split the session store"),
        );
        check(&[], &[], None);
    }

    #[test]
    fn the_subject_of_a_commit_names_a_topic_and_begins_none() {
        let mut candidates = Candidates::default();
        candidates.add(["thanks", "and the test"].into_iter(), false);
        candidates.commits.push("retry the flaky token refresh");
        let words = [(stem("token"), 1.0)].into_iter().collect();
        assert_eq!(candidates.label(&words, &BTreeSet::new()).as_deref(), Some("retry the flaky token refresh"));
        assert!(!candidates.has_subject(&words));
    }
}
