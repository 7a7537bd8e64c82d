//! Labels of topics: clauses of the user, or else of the agent, that name a subject.

use crate::text::clauses::{is_fragment, is_request, is_wide, weighed_words};
use crate::text::words::stem;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Messages, and clauses of a message, after which the value of the next one is half.
const MESSAGES: f32 = 4.0;
const CLAUSES: f32 = 4.0;
const TITLE: f32 = 1.5;
/// Blocks with a word from which on it has its full value, and the value of a word in no block.
const SUPPORT: f32 = 4.0;
const UNSUPPORTED: f32 = 0.4;
/// Values of the words of a clause, the best first.
const WORDS: [f32; 4] = [1.0, 1.0, 0.6, 0.3];
/// Value of a request, and share of the value of a clause that needs the text before it.
const REQUEST: f32 = 1.15;
const FRAGMENT: f32 = 0.75;
/// Characters of a language without spaces that are one word.
const WIDE: f32 = 4.0;
/// Minimum value of a clause that names a subject, and of a label.
const SUBJECT: f32 = 1.2;
const LABEL: f32 = 0.5;

/// The texts that can name a topic, with the values of their places.
#[derive(Debug, Default)]
pub(super) struct Candidates<'a> {
    user: Vec<(&'a str, f32)>,
    agent: Vec<(&'a str, f32)>,
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

    pub(super) fn set_title(&mut self, title: &'a str) {
        self.user.push((title, TITLE));
    }

    /// Adds the candidates of another part of the same topic.
    pub(super) fn extend(&mut self, other: Candidates<'a>) {
        let message = |speaker: usize| MESSAGES / (MESSAGES + self.messages[speaker] as f32);
        let (user, agent) = (message(0), message(1));
        self.user.extend(other.user.into_iter().map(|(clause, place)| (clause, place * user)));
        self.agent.extend(other.agent.into_iter().map(|(clause, place)| (clause, place * agent)));
        self.messages = [0, 1].map(|speaker| self.messages[speaker] + other.messages[speaker]);
    }

    /// Returns true if the user names a subject. `words` are the numbers of blocks that have a word.
    pub(super) fn has_subject(&self, words: &FxHashMap<&str, u32>) -> bool {
        self.user.iter().any(|(clause, place)| place * value(clause, words) >= SUBJECT)
    }

    /// Returns the clause that names the topic best and is not the label of another one, without quotation marks. `words` are the
    /// numbers of blocks that have a word.
    pub(super) fn label(&self, words: &FxHashMap<&str, u32>, taken: &BTreeSet<String>) -> Option<String> {
        let best = |texts: &[(&str, f32)]| {
            let values = texts.iter().map(|(clause, place)| (place * value(clause, words), plain(clause)));
            let is_free = |clause: &str| !taken.contains(&clause.to_lowercase());
            let values = values.filter(|(value, clause)| *value >= LABEL && is_free(clause));
            // The first of several with one value.
            values.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, clause)| clause)
        };
        best(&self.user).or_else(|| best(&self.agent))
    }
}

fn plain(clause: &str) -> String {
    clause.replace(['`', '"', '“', '”', '*'], "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the information of a clause about the subject of a topic.
fn value(clause: &str, words: &FxHashMap<&str, u32>) -> f32 {
    let wide = clause.chars().filter(|c| is_wide(*c)).count() as f32;
    let support = |word: &str| words.get(stem(&word.to_lowercase())).map_or(0.0, |blocks| (*blocks as f32 / SUPPORT).min(1.0));
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

    fn check(prompts: &[&'static [&'static str]], words: &[(&'static str, u32)], expected: Option<&str>) {
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
            &[("flaky", 2), ("login", 5)],
            Some("fix the flaky login test"),
        );
        check(&[&["migrate to `cobra`"]], &[("cobra", 5)], Some("migrate to cobra"));
        check(&[&["do it again"]], &[], None);
        check(&[], &[], None);
    }
}
