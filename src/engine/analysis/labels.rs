//! Labels of topics: phrases of the user, or else of the agent, that name a subject.

use crate::text::phrases::{content_words, is_wide, words_of};
use crate::text::words::stem;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Phrases of a message after which the weight of its next one is half, and messages of the user likewise.
const PLACES: f32 = 4.0;
/// Blocks with a word from which on it counts as a word of the topic, and not only of one phrase.
const SUPPORT: u32 = 2;
/// Blocks with a word from which on it is a label by itself.
const REPEATED: u32 = 3;
/// Weight of a phrase whose words are only in one block.
const UNSUPPORTED: f32 = 0.25;
/// Weight of a word that is not a keyword, and that of a phrase of common nouns.
const RARE: f32 = 0.01;
/// Weights of phrases by their number of words.
const LENGTHS: [f32; 5] = [0.35, 1.0, 1.25, 1.25, 1.15];
/// Share of the weight that the further occurrences of a phrase add.
const AGAIN: f32 = 0.15;

/// The texts of one speaker that can name a topic, in file order.
#[derive(Debug, Default)]
struct SpeakerTexts<'a> {
    /// Phrases with the weights of their places.
    phrases: Vec<(&'a str, f32)>,
    /// First clauses of messages.
    clauses: Vec<&'a str>,
    /// The number of messages with phrases.
    messages: u32,
}

/// The texts that can name a topic: those of the user and of the agent.
#[derive(Debug, Default)]
pub(super) struct Candidates<'a> {
    user: SpeakerTexts<'a>,
    agent: SpeakerTexts<'a>,
}

impl<'a> SpeakerTexts<'a> {
    fn extend(&mut self, other: SpeakerTexts<'a>) {
        self.phrases.extend(other.phrases);
        self.clauses.extend(other.clauses);
        self.messages += other.messages;
    }
}

impl<'a> Candidates<'a> {
    /// Adds the phrases of a message, in order. `clause` is its first one, or empty.
    pub(super) fn add(&mut self, phrases: impl Iterator<Item = &'a str>, clause: &'a str, is_answer: bool) {
        let texts = if is_answer { &mut self.agent } else { &mut self.user };
        let message = PLACES / (PLACES + texts.messages as f32);
        let known = texts.phrases.len();
        texts.phrases.extend(phrases.enumerate().map(|(rank, phrase)| (phrase, message * PLACES / (PLACES + rank as f32))));
        texts.messages += u32::from(texts.phrases.len() > known);
        texts.clauses.extend(Some(clause).filter(|clause| !clause.is_empty()));
    }

    /// Adds the candidates of another part of the same topic.
    pub(super) fn extend(&mut self, other: Candidates<'a>) {
        self.user.extend(other.user);
        self.agent.extend(other.agent);
    }

    /// Returns the text that names the topic best and is not the label of another one: a phrase of the user with several words that
    /// the topic repeats, the first clause of a message, the next step of the agent, another phrase, or a word that the topic
    /// repeats. `words` are the weights of the words of the topic, and the numbers of blocks that have them.
    pub(super) fn label(&self, words: &FxHashMap<&str, (f32, u32)>, taken: &BTreeSet<String>) -> Option<String> {
        let is_free = |text: &&str| !taken.contains(&text.to_lowercase());
        let user = ranked(&self.user.phrases, words, taken);
        let agent = ranked(&self.agent.phrases, words, taken);
        let is_known = |phrase: &&str| content_words(phrase).all(|word| count(words, word) >= SUPPORT);
        let is_specific = |phrase: &&str| is_known(phrase) || phrase.split(' ').nth(2).is_some();
        let has_words = |phrase: &&str| phrase.contains(' ') || phrase.chars().any(is_wide);
        let is_repeated = |word: &&str| content_words(word).any(|word| count(words, word) >= REPEATED);
        let phrases = |phrases: &[&'a str]| phrases.iter().copied().filter(has_words).collect::<Vec<_>>();
        let (of_user, of_agent) = (phrases(&user), phrases(&agent));
        let steps = self.agent.clauses.iter().copied().filter(is_free).map(|clause| (score(clause, words), clause));
        let step = || steps.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, clause)| clause);
        let label = of_user.iter().copied().find(is_specific);
        let label = label.or_else(|| self.user.clauses.iter().copied().find(is_free)).or_else(step);
        let label = label.or_else(|| of_user.first().copied()).or_else(|| of_agent.iter().copied().find(is_known));
        let label = label.or_else(|| user.iter().chain(&agent).copied().find(is_repeated));
        Some(label?.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Returns distinct phrases that are not the labels of other topics, the best first.
fn ranked<'a>(phrases: &[(&'a str, f32)], words: &FxHashMap<&str, (f32, u32)>, taken: &BTreeSet<String>) -> Vec<&'a str> {
    let mut sums: FxHashMap<String, (f32, &str)> = FxHashMap::default();
    for (phrase, place) in phrases {
        let key = phrase.to_lowercase();
        if taken.contains(&key) {
            continue;
        }
        let score = place * score(phrase, words);
        let (sum, spelling) = sums.entry(key).or_insert((0.0, phrase));
        *sum = sum.max(score) + AGAIN * sum.min(score);
        *spelling = (*spelling).min(phrase);
    }
    let mut best: Vec<(f32, &str)> = sums.into_values().collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    best.into_iter().map(|(_, phrase)| phrase).collect()
}

/// Returns the value of a phrase as a label.
fn score(phrase: &str, words: &FxHashMap<&str, (f32, u32)>) -> f32 {
    let (mut sum, mut content, mut supported) = (0.0, 0, 0);
    for word in content_words(phrase) {
        sum += words.get(stem(&word.to_lowercase())).map_or(RARE, |(weight, _)| *weight);
        supported += u32::from(count(words, word) >= SUPPORT);
        content += 1;
    }
    let all = words_of(phrase).max(1);
    let support = supported as f32 / content.max(1) as f32;
    let length = LENGTHS[(all - 1).min(LENGTHS.len() - 1)];
    // Two words say more than one; each further one adds less. Names and common nouns add little.
    let share = (content.max(1) as f32 / all as f32).powf(0.15);
    sum.max(RARE) / (content.max(1) as f32).sqrt() * length * share * (UNSUPPORTED + (1.0 - UNSUPPORTED) * support)
}

fn count(words: &FxHashMap<&str, (f32, u32)>, word: &str) -> u32 {
    words.get(stem(&word.to_lowercase())).map_or(0, |(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompts: &[&'static [&'static str]], clause: &'static str, words: &[(&'static str, u32)], expected: Option<&str>) {
        let mut candidates = Candidates::default();
        for phrases in prompts {
            candidates.add(phrases.iter().copied(), clause, false);
        }
        let words = words.iter().map(|(word, count)| (stem(word), (*count as f32, *count))).collect();
        assert_eq!(candidates.label(&words, &BTreeSet::new()).as_deref(), expected);
    }

    #[test]
    fn a_label_is_a_phrase_of_words_that_the_topic_repeats() {
        check(&[&["tho ogirin urls", "flaky login test"]], "", &[("flaky", 2), ("login", 5)], Some("flaky login test"));
        check(&[&["cobra"]], "migrate to cobra", &[("cobra", 5)], Some("migrate to cobra"));
        check(&[&["cobra"]], "", &[("cobra", 5)], Some("cobra"));
        check(&[&["confident"]], "", &[], None);
        check(&[], "", &[], None);
    }
}
