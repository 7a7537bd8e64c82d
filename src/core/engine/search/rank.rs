//! The order of what matches a query.

use super::excerpt::{Excerpt, Passage, Words, excerpt};
use super::query::{Matcher, Query};
use super::terms::keys_of;
use super::{Posting, Postings};
use crate::model::words;
use rustc_hash::{FxHashMap, FxHashSet};

// The figures were chosen on known-item queries over real sessions; in a wide range around them the result is the same.

/// Occurrences in the prompt, the answers, and the calls with results: data with the words is rarely what is looked for.
const TURNS: Scoring = Scoring { fields: [2.0, 1.0, 0.02], saturation: 0.5, share_power: 2 };
/// Added factor of a turn that has all words beside each other, and the distance at which it is half of it, in bytes.
const NEAR: f32 = 0.3;
const NEAR_BYTES: f32 = 180.0;
/// Added factor of a turn that has all words in the form of the query.
const SAME_FORM: f32 = 0.8;
/// Factor of a word that was searched in place of another one.
const REPLACED: f32 = 0.6;
/// Factor of a turn that has only the parts of a word that is written as one.
const APART: f32 = 0.25;
/// Factor of a turn that the user left.
const LEFT: f32 = 0.1;
/// Distance between two passages of a turn, in bytes.
const PASSAGE_GAP: usize = 60;

words! {
    /// The form in which a turn matches a query; the first is the best.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum MatchTier {
        /// It has all words and phrases in the form of the query.
        Exact = "exact",
        /// It has all words, some with another ending.
        Stemmed = "stemmed",
        /// It has some of the words.
        FewerWords = "fewer_words",
        /// It has words like those of the query, which nothing has.
        Nearest = "nearest",
    }
}

/// A turn that has words of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub turn: u32,
    /// Comparable among the turns of one query.
    pub score: f32,
    /// A bit for each term that it has.
    pub has: u64,
    /// A bit for each term that its prompt or an answer has.
    pub is_said: u64,
}

/// A candidate that was read.
#[derive(Clone, Debug)]
pub struct Match {
    /// The factor of the score of the candidate.
    pub factor: f32,
    pub tier: MatchTier,
    /// The indexes of the needed terms that it does not have, and of the words that are written as one, in the place of their parts.
    pub missing: Vec<usize>,
    /// A bit for each term that it has.
    pub has: u64,
    pub excerpt: Excerpt,
}

/// Returns the weights of the terms of a query by the number of turns that have each: of those that none has, 0.
pub fn rarities(holders: &[u32], turns: u32) -> Vec<f32> {
    let rarity = |holders: &u32| {
        let (held, all) = (*holders as f32, turns.max(*holders) as f32);
        if *holders == 0 { 0.0 } else { (1.0 + (all - held + 0.5) / (held + 0.5)).ln() }
    };
    holders.iter().map(rarity).collect()
}

/// The weights that make a score of the frequencies of words.
#[derive(Clone, Copy, Debug)]
pub struct Scoring {
    /// Weight of an occurrence in each field.
    pub fields: [f32; 3],
    /// Saturation of frequencies: the `k1` of BM25.
    pub saturation: f32,
    /// Power of the share of the query that a text has.
    pub share_power: i32,
}

/// Returns the turns with any word of a query, best first, and the weights of its terms. `postings` are those of each term and each
/// segment with the number of the segment's first turn; `turns` is the number of all turns;
/// `turn_of` returns the turn that another one continues.
pub fn candidates(
    query: &Query,
    postings: &[Vec<(u32, Postings<'_>)>],
    turns: u32,
    turn_of: &dyn Fn(u32) -> u32,
    is_wanted: &dyn Fn(u32) -> bool,
) -> (Vec<Candidate>, Vec<f32>) {
    let list = |segments: &Vec<(u32, Postings<'_>)>| {
        let of_turn = |first: u32, (turn, posting): (u32, Posting)| (turn_of(first + turn), posting.frequencies());
        let mut list: Vec<(u32, [f32; 3])> =
            segments.iter().flat_map(|(first, postings)| postings.clone().map(move |posting| of_turn(*first, posting))).collect();
        list.sort_unstable_by_key(|(turn, _)| *turn);
        list.dedup_by(|(turn, more), (before, sum)| {
            let is_same = turn == before;
            if is_same {
                *sum = std::array::from_fn(|field| sum[field] + more[field]);
            }
            is_same
        });
        list
    };
    let lists: Vec<Vec<(u32, [f32; 3])>> = postings.iter().map(list).collect();
    let (mut found, weights) = scores(query, &lists, turns, &TURNS);
    found.retain(|candidate| is_wanted(candidate.turn));
    (found, weights)
}

/// Returns the texts with any word of a query, best first, and the weights of its terms. `lists` are for each term the texts that have
/// it, with its frequencies; `all` is the number of texts.
pub fn scores(query: &Query, lists: &[Vec<(u32, [f32; 3])>], all: u32, scoring: &Scoring) -> (Vec<Candidate>, Vec<f32>) {
    let mut found: FxHashMap<u32, (f32, u64, u64)> = FxHashMap::default();
    let holders: Vec<u32> = lists.iter().map(|list| list.len() as u32).collect();
    let weights = rarities(&holders, all);
    for (index, ((list, weight), term)) in lists.iter().zip(&weights).zip(&query.terms).enumerate() {
        let factor = if term.is_replaced { REPLACED } else { 1.0 };
        for (text, frequencies) in list {
            let frequency =
                frequencies.iter().zip(scoring.fields).map(|(frequency, weight)| frequency * weight).sum::<f32>() * factor;
            let (score, has, is_said) = found.entry(*text).or_default();
            *score += weight * frequency * (scoring.saturation + 1.0) / (frequency + scoring.saturation);
            *has |= 1 << index;
            *is_said |= u64::from(frequencies[0] > 0.0 || frequencies[1] > 0.0) << index;
        }
    }
    let needed: f32 = total(query, &weights, u64::MAX).max(f32::MIN_POSITIVE);
    let mut candidates: Vec<Candidate> = found
        .into_iter()
        .map(|(turn, (score, has, is_said))| {
            let share = total(query, &weights, has) / needed;
            Candidate { turn, score: score * share.powi(scoring.share_power), has, is_said }
        })
        .collect();
    candidates.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(b.turn.cmp(&a.turn)));
    (candidates, weights)
}

/// Returns the sum of the weights of the needed terms among those with a bit in `has`.
fn total(query: &Query, weights: &[f32], has: u64) -> f32 {
    let terms = query.terms.iter().zip(weights).enumerate().filter(|(index, (term, _))| term.is_needed && has & 1 << index != 0);
    terms.map(|(_, (_, weight))| weight).sum()
}

/// Compares a turn with a query; `None` if it has none of the words, lacks a phrase, or has what the query leaves out.
pub fn rate(query: &Query, matcher: &Matcher<'_>, weights: &[f32], passages: &[Passage<'_>], is_left: bool) -> Option<Match> {
    let holds = |text: &String| passages.iter().any(|passage| contains(&passage.text, text));
    if !query.phrases.iter().all(holds) || query.without.iter().any(holds) {
        return None;
    }
    let (mut places, mut exact, mut start) = (Vec::new(), 0u64, 0);
    let mut has = 0u64;
    let mut words = vec![Words::new(); passages.len()];
    for (passage, words) in passages.iter().zip(&mut words) {
        for text in [&passage.title, &passage.text] {
            words.clear();
            matcher.find(text, |term, place, is_exact| {
                has |= 1 << term;
                exact |= u64::from(is_exact) << term;
                places.push((start + place.start, term));
                words.push((term, place));
            });
            start += text.len() + PASSAGE_GAP;
        }
    }
    let needed: Vec<usize> = (0..query.terms.len()).filter(|term| query.terms[*term].is_needed).collect();
    let count = |bits: u64| needed.iter().filter(|term| bits & 1 << **term != 0).count();
    let mut missing: Vec<usize> = needed.iter().copied().filter(|term| has & 1 << term == 0).collect();
    let (joined, apart): (Vec<usize>, Vec<usize>) =
        (0..query.terms.len()).filter(|term| query.terms[*term].is_joined).partition(|term| {
            let name = &query.terms[*term].text;
            passages.iter().any(|passage| has_name(&passage.title, name) || has_name(&passage.text, name))
        });
    places.sort_unstable();
    places.retain(|(_, term)| query.terms[*term].is_needed);
    let held = count(has);
    let mut factor = 1.0 + SAME_FORM * count(exact) as f32 / needed.len() as f32;
    if held > 1 {
        let apart = shortest(&places, held) as f32;
        factor += NEAR * (held - 1) as f32 / needed.len() as f32 * NEAR_BYTES / (NEAR_BYTES + apart);
    }
    factor *= APART.powi(apart.len() as i32);
    for term in apart {
        keys_of(&query.terms[term].text, |_, key| missing.retain(|part| query.terms[*part].keys[0] != key));
        missing.push(term);
    }
    let is_replaced = query.terms.iter().any(|term| term.is_replaced);
    let tier = match () {
        () if is_replaced => MatchTier::Nearest,
        () if !missing.is_empty() => MatchTier::FewerWords,
        () if count(exact) == needed.len() => MatchTier::Exact,
        () => MatchTier::Stemmed,
    };
    let names = joined.iter().map(|term| query.terms[*term].text.clone());
    let excerpt = excerpt(matcher, weights, &query.phrases.iter().cloned().chain(names).collect::<Vec<_>>(), passages, &words)?;
    Some(Match { factor: if is_left { factor * LEFT } else { factor }, tier, missing, has, excerpt })
}

/// Returns the places of a lowercase ASCII text in another one, in any case.
fn places<'a>(text: &'a str, lower: &'a str) -> impl Iterator<Item = usize> {
    let (bytes, first) = (text.as_bytes(), lower.bytes().next().unwrap_or_default());
    let is_it = |part: &[u8]| part.eq_ignore_ascii_case(lower.as_bytes());
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), bytes)
        .filter(move |at| bytes.get(*at..at + lower.len()).is_some_and(is_it))
}

fn contains(text: &str, lower: &str) -> bool {
    if lower.is_ascii() { lower.is_empty() || places(text, lower).next().is_some() } else { text.to_lowercase().contains(lower) }
}

/// Returns true if a text has a lowercase ASCII name, not as a part of a longer word.
fn has_name(text: &str, name: &str) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let (before, behind) = (|at: usize| text.as_bytes()[..at].last(), |at: usize| text.as_bytes().get(at + name.len()));
    places(text, name).any(|at| !is_letter(before(at)) && !is_letter(behind(at)))
}

/// Returns the length of the shortest stretch with `count` different terms. `places` are in order.
fn shortest(places: &[(usize, usize)], count: usize) -> usize {
    let mut often: FxHashMap<usize, usize> = FxHashMap::default();
    let (mut first, mut best) = (0, usize::MAX);
    for (end, term) in places {
        *often.entry(*term).or_default() += 1;
        while often.len() == count {
            let (start, term) = places[first];
            best = best.min(end - start);
            first += 1;
            if let Some(times) = often.get_mut(&term) {
                *times -= 1;
                if *times == 0 {
                    often.remove(&term);
                }
            }
        }
    }
    best
}

/// Longest difference in the length of a word that begins like another one, in bytes.
const LONGER: usize = 4;
/// Letters of a word from which on a difference in one letter is a typing error, and in two.
const ONE_ERROR: usize = 4;
const TWO_ERRORS: usize = 8;
/// The most words that are searched in place of one.
const MOST_NEAREST: usize = 6;

/// Returns the words that are like one that nothing has, the most similar first. `known` are words with the length of their postings.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = (&'a str, u32)>) -> Vec<String> {
    let letters = word.chars().count();
    let beginning = if word.len() > ONE_ERROR { &word[..word.floor_char_boundary(word.len() - 1)] } else { word };
    let distance = |known: &str| {
        if letters >= ONE_ERROR && known.starts_with(beginning) && known.len() <= word.len() + LONGER {
            return Some(known.len().abs_diff(word.len()));
        }
        let most = if letters >= TWO_ERRORS { 2 } else { usize::from(letters >= ONE_ERROR) };
        if known.len().abs_diff(word.len()) > most * 2 || most == 0 {
            return None;
        }
        Some(strsim::osa_distance(word, known)).filter(|distance| *distance <= most)
    };
    let mut found: Vec<(usize, std::cmp::Reverse<u32>, &str)> =
        known.filter_map(|(known, length)| Some((distance(known)?, std::cmp::Reverse(length), known))).collect();
    found.sort_unstable();
    // Each part of the index can have the word.
    let mut seen = FxHashSet::default();
    found.retain(|(.., known)| seen.insert(*known));
    found.into_iter().take(MOST_NEAREST).map(|(.., known)| known.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::excerpt::PassageKind;
    use super::super::{read_postings, write_postings};
    use super::*;

    fn rated(query: &str, text: &str) -> Option<(MatchTier, Vec<String>, f32)> {
        let query = Query::parse(query).unwrap();
        let weights = vec![1.0; query.terms.len()];
        let found = rate(&query, &query.matcher(), &weights, &[Passage::untitled(PassageKind::Answer, text)], false)?;
        let missing = found.missing.iter().map(|term| query.terms[*term].text.clone()).collect();
        Some((found.tier, missing, found.factor))
    }

    #[test]
    fn a_turn_with_more_and_rarer_words_is_better() {
        let query = Query::parse("flaky login").unwrap();
        let one = Posting::new([0.0, 1.0, 0.0]);
        let list = |turns: &[u32]| {
            let mut bytes = Vec::new();
            write_postings(turns.iter().map(|turn| (*turn, one)), &mut bytes);
            bytes
        };
        let (flaky, login) = (list(&[3, 9]), list(&[1, 2, 3, 4, 5]));
        let postings = [vec![(0, read_postings(&flaky))], vec![(0, read_postings(&login))]];
        let (found, weights) = candidates(&query, &postings, 20, &|turn| turn, &|turn| turn != 5);
        let turns: Vec<u32> = found.iter().map(|found| found.turn).collect();
        assert_eq!(turns, [3, 9, 4, 2, 1]);
        assert!(weights[0] > weights[1]);
    }

    #[test]
    fn tiers_tell_how_a_turn_matches() {
        let check = |query: &str, text: &str, tier, missing: &[&str]| {
            let found = rated(query, text).unwrap();
            assert_eq!((found.0, found.1), (tier, missing.iter().map(|word| (*word).to_owned()).collect()), "{query}");
        };
        check("flaky login", "the flaky login test", MatchTier::Exact, &[]);
        check("flaky logins", "the flaky login test", MatchTier::Stemmed, &[]);
        check("flaky logout", "the flaky login test", MatchTier::FewerWords, &["logout"]);
        check("\"login test\"", "the flaky Login Test", MatchTier::Exact, &[]);
        check("WEB-12 ticket", "the ticket web-12.", MatchTier::Exact, &[]);
        check("WEB-12 ticket", "12 tickets of the web", MatchTier::FewerWords, &["web-12"]);
        check("WEB-12 ticket", "a ticket", MatchTier::FewerWords, &["web-12"]);
        check("open_many_carts", "open as many carts", MatchTier::FewerWords, &["open_many_carts"]);
        assert!(rated("\"flaky test\"", "the flaky login test").is_none());
        assert!(rated("flaky -login", "the flaky login test").is_none());
        assert!(rated("absent", "the flaky login test").is_none());
    }

    #[test]
    fn words_beside_each_other_are_better() {
        let factor = |text: &str| rated("retry limit", text).unwrap().2;
        assert!(factor("the retry limit") > factor(&format!("retry {} limit", "x ".repeat(200))));
    }

    #[test]
    fn a_typing_error_has_nearest_words() {
        let known = ["parser", "parse", "permission", "perimeter", "permissions", "table"];
        let find = |word: &str| nearest(word, known.iter().map(|word| (*word, 1)));
        assert_eq!(find("permision"), ["permission", "permissions"]);
        assert_eq!(find("tabel"), ["table"]);
        assert!(find("xyz").is_empty());
    }
}
