//! Topics: the subjects of parts of the conversation, taken from their own words.
//!
//! A topic is labelled with a clause of its messages or the subject of a commit, or else with the file that it works on. Otherwise it is
//! left out.
//!
//! A segment (`Stretch`) is a turn. Its words are weighted by their frequency in the segment and their rarity in other segments
//! (tf-idf). A turn whose prompt names no subject belongs to the topic before it. Neighbours with similar words (cosine) are merged
//! into one topic, then similar topics are merged.

use super::labels::{Candidates, TITLE};
use crate::model::{BlockNumber, Event, Role, Session, Topic, Window};
use crate::text::clauses::content_words;
use crate::text::names::telling_name;
use crate::text::words::stem;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Minimum similarity of neighbouring and of distant segments that are merged into one topic.
const NEIGHBOUR_LIKENESS: f32 = 0.2;
const DISTANT_LIKENESS: f32 = 0.3;
const TOPIC_WORDS: usize = 8;
/// Stretches above which only neighbours are compared: comparing all with all would take too long.
const COMPARED_STRETCHES: usize = 400;

/// Blocks with a word, and share of the turns of a topic with it, from which on the topic supports it fully.
const BLOCKS: f32 = 4.0;
const TURNS_SHARE: f32 = 0.3;
/// Clauses of a message after which the weight of the words of its next one is half.
const PLACES: f32 = 4.0;
/// Weight of a word of a clause of the agent, and of the subject of a commit.
const ANSWER: f32 = 0.3;

type Words = FxHashMap<u32, f32>;

#[derive(Default)]
struct Stretch<'a> {
    blocks: Vec<BlockNumber>,
    turns: BTreeSet<u32>,
    words: Words,
    /// The numbers of blocks and of turns with each word.
    counts: FxHashMap<u32, (u32, u32)>,
    candidates: Candidates<'a>,
    has_subject: bool,
    files: Vec<(&'a str, u32)>,
    /// The length of the vector of its words, once they are weighed.
    length: f32,
}

/// Groups the blocks of the window, and those cut from it, into topics; returns each topic with its blocks.
pub fn find(session: &Session, window: &Window) -> Vec<(Topic, Vec<BlockNumber>)> {
    let (mut stretches, names) = stretches(session, window);
    for stretch in &mut stretches {
        stretch.has_subject = stretch.candidates.has_subject(&stems(stretch, &names));
    }
    weigh(&mut stretches, names.len());
    merge_neighbours(&mut stretches);
    if stretches.len() <= COMPARED_STRETCHES {
        merge_distant(&mut stretches);
    }
    add_title(session, &mut stretches, &names);
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut topics = Vec::new();
    for stretch in stretches {
        let files = file_labels(&stretch.files);
        let label = stretch.candidates.label(&stems(&stretch, &names), &taken);
        let Some(label) = label.or_else(|| files.into_iter().find(|label| !taken.contains(&label.to_lowercase()))) else {
            continue;
        };
        taken.insert(label.to_lowercase());
        let keywords = ranked(&stretch.words, &names).into_iter().take(TOPIC_WORDS).map(str::to_owned).collect();
        topics.push((
            Topic { label, written: String::new(), keywords, turns: stretch.turns.iter().copied().collect() },
            stretch.blocks,
        ));
    }
    topics
}

/// Returns the segments, and the words by word number.
fn stretches<'a>(session: &'a Session, window: &Window) -> (Vec<Stretch<'a>>, Vec<Cow<'a, str>>) {
    let mut numbers: FxHashMap<Cow<'a, str>, u32> = FxHashMap::default();
    let mut names: Vec<Cow<'a, str>> = Vec::new();
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    let mut stretches: Vec<Stretch<'a>> = Vec::new();
    let inside: rustc_hash::FxHashSet<BlockNumber> = window.blocks.iter().copied().collect();
    for block in &session.blocks {
        if session.rows[block.row as usize].sidechain || window.is_left(block.row) {
            continue;
        }
        let turn = block.position.turn;
        let place = *known.entry(turn).or_insert_with(|| {
            stretches.push(Stretch::default());
            stretches.len() - 1
        });
        let stretch = &mut stretches[place];
        stretch.blocks.push(block.number);
        stretch.turns.insert(turn);
        let weight = match block.role {
            Role::User if block.words.is_empty() => 1.0,
            Role::User => 3.0,
            Role::ToolUse => 2.0,
            Role::Assistant => 1.5,
            _ => 0.4,
        } * if inside.contains(&block.number) { 1.0 } else { 0.8 };
        let mut found: BTreeSet<u32> = BTreeSet::new();
        let mut add = |word: Cow<'a, str>, weight: f32| {
            let number = *numbers.entry(word).or_insert_with_key(|word| {
                names.push(word.clone());
                names.len() as u32 - 1
            });
            *stretch.words.entry(number).or_default() += weight;
            found.insert(number);
        };
        for (rank, word) in block.keywords.iter().enumerate() {
            add(word.into(), weight / (1.0 + rank as f32 / 3.0));
        }
        let is_answer = block.role != Role::User;
        for (rank, clause) in block.clauses().enumerate() {
            let place = if is_answer { ANSWER } else { 1.0 } / (1.0 + rank as f32 / PLACES);
            content_words(clause).for_each(|word| add(lowercase(word), place));
        }
        for number in found {
            let (blocks, _) = *stretch.counts.entry(number).or_default();
            stretch.counts.insert(number, (blocks + 1, 1));
        }
        match block.role {
            Role::ToolResult => stretch.candidates.commits.extend(block.clauses()),
            _ => stretch.candidates.add(block.clauses(), is_answer),
        }
        for file in block.files() {
            let name = telling_name(file);
            match stretch.files.iter_mut().find(|(known, _)| *known == name) {
                Some((_, uses)) => *uses += 1,
                None => stretch.files.push((name, 1)),
            }
        }
    }
    (stretches, names)
}

fn lowercase(word: &str) -> Cow<'_, str> {
    if word.chars().any(char::is_uppercase) { word.to_lowercase().into() } else { word.into() }
}

/// Returns how well a topic supports each of its words, from 0 to 1.
fn stems<'n>(stretch: &Stretch<'_>, names: &'n [Cow<'_, str>]) -> FxHashMap<&'n str, f32> {
    let mut stems: FxHashMap<&str, (u32, u32)> = FxHashMap::default();
    for (word, (blocks, turns)) in &stretch.counts {
        let known = stems.entry(stem(&names[*word as usize])).or_default();
        *known = (known.0 + blocks, known.1 + turns);
    }
    let enough = stretch.turns.len() as f32 * TURNS_SHARE;
    let support = |(blocks, turns): (u32, u32)| (blocks as f32 / BLOCKS).min(1.0) * (turns as f32 / enough).min(1.0);
    stems.into_iter().map(|(word, counts)| (word, support(counts))).collect()
}

/// Adds the title of the session to the candidates of the topic that has most of its words.
fn add_title<'a>(session: &'a Session, stretches: &mut [Stretch<'a>], names: &[Cow<'a, str>]) {
    let title = session.rows.iter().rev().find_map(|row| match row.event.as_deref() {
        Some(Event::Title { text, .. }) => Some(text.as_str()),
        _ => None,
    });
    let Some(title) = title else { return };
    let common = |stretch: &Stretch<'_>| {
        let stems = stems(stretch, names);
        content_words(title).filter(|word| stems.contains_key(stem(&word.to_lowercase()))).count()
    };
    // The first of several.
    let main = stretches.iter_mut().rev().max_by_key(|stretch| common(stretch));
    if let Some(main) = main.filter(|main| common(main) > 0) {
        main.candidates.user.push((title, TITLE));
    }
}

/// Turns counts into tf-idf: log-dampened counts, times how few stretches have the word.
fn weigh(stretches: &mut [Stretch<'_>], words: usize) {
    let mut spread = vec![0.0f32; words];
    for word in stretches.iter().flat_map(|stretch| stretch.words.keys()) {
        spread[*word as usize] += 1.0;
    }
    let all = stretches.len() as f32;
    for stretch in stretches {
        for (word, weight) in &mut stretch.words {
            // Words of every segment do not distinguish them, but they are all there is if there is only one segment.
            *weight = (1.0 + *weight).ln() * (all / spread[*word as usize]).ln().max(0.05);
        }
        stretch.length = length(&stretch.words);
    }
}

fn merge_neighbours(stretches: &mut Vec<Stretch<'_>>) {
    let mut merged: Vec<Stretch<'_>> = Vec::new();
    for stretch in stretches.drain(..) {
        match merged.last_mut() {
            Some(last) if !stretch.has_subject || likeness(last, &stretch) >= NEIGHBOUR_LIKENESS => absorb(last, stretch),
            _ => merged.push(stretch),
        }
    }
    *stretches = merged;
}

fn merge_distant(stretches: &mut Vec<Stretch<'_>>) {
    let mut merged: Vec<Stretch<'_>> = Vec::new();
    for stretch in stretches.drain(..) {
        let nearest = merged
            .iter()
            .enumerate()
            .map(|(place, known)| (place, likeness(known, &stretch)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, likeness)| *likeness >= DISTANT_LIKENESS);
        match nearest {
            Some((place, _)) => absorb(&mut merged[place], stretch),
            None => merged.push(stretch),
        }
    }
    *stretches = merged;
}

fn absorb<'a>(into: &mut Stretch<'a>, other: Stretch<'a>) {
    into.blocks.extend(other.blocks);
    into.turns.extend(other.turns);
    into.candidates.extend(other.candidates);
    into.has_subject |= other.has_subject;
    for (word, (blocks, turns)) in other.counts {
        let known = into.counts.entry(word).or_default();
        *known = (known.0 + blocks, known.1 + turns);
    }
    for (name, uses) in other.files {
        match into.files.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += uses,
            None => into.files.push((name, uses)),
        }
    }
    for (word, weight) in other.words {
        *into.words.entry(word).or_default() += weight;
    }
    into.length = length(&into.words);
}

/// The cosine of two word vectors.
fn likeness(a: &Stretch<'_>, b: &Stretch<'_>) -> f32 {
    let (small, large) = if a.words.len() < b.words.len() { (&a.words, &b.words) } else { (&b.words, &a.words) };
    let dot: f32 = small.iter().filter_map(|(word, weight)| large.get(word).map(|other| weight * other)).sum();
    let lengths = a.length * b.length;
    if lengths > 0.0 { dot / lengths } else { 0.0 }
}

fn length(words: &Words) -> f32 {
    words.values().map(|weight| weight * weight).sum::<f32>().sqrt()
}

fn ranked<'n>(words: &Words, names: &'n [Cow<'_, str>]) -> Vec<&'n str> {
    let mut ranked: Vec<(&str, f32)> = words.iter().map(|(word, weight)| (&*names[*word as usize], *weight)).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    ranked.into_iter().map(|(word, _)| word).collect()
}

/// Returns labels for the work on the files that a topic uses most.
fn file_labels(files: &[(&str, u32)]) -> Vec<String> {
    let mut files: Vec<&(&str, u32)> = files.iter().collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    files.into_iter().take(3).map(|(name, _)| format!("work on {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_likeness(a: &'static str, b: &'static str, expected: f32) {
        let stretch = |text: &'static str| {
            let words: Words = text.split_whitespace().map(|word| (u32::from(word.as_bytes()[0]), 1.0)).collect();
            Stretch { length: length(&words), words, ..Stretch::default() }
        };
        assert!((likeness(&stretch(a), &stretch(b)) - expected).abs() < 1e-6);
    }

    #[test]
    fn likeness_is_a_cosine() {
        check_likeness("a b", "a b", 1.0);
        check_likeness("a", "b", 0.0);
        check_likeness("", "b", 0.0);
    }

    #[test]
    fn a_topic_is_named_after_its_files() {
        assert_eq!(file_labels(&[("a.rs", 1), ("b.rs", 3)]), ["work on b.rs", "work on a.rs"]);
    }
}
