//! Recall: texts that the model cannot see any more, found by what is asked, and what of them is printed.
//!
//! Texts are ranked by BM25 (Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009) with the title as a field of
//! more weight (BM25F; Robertson, Zaragoza & Taylor 2004). Any word of the query may match: an agent that asks in its own
//! words rarely knows more than some of those that stand in the text. On needs of real sessions (what an agent's next calls
//! used and only texts out of its sight had) two settings differ from those for articles. A word that occurs often in a text
//! counts for more of it (`k1` is 8, not 1.2), and length is no fault (`b` is 0): the long text is the one that was read,
//! and what is printed of it is bounded anyhow. A text that repeats a better one is put back, since what it says was found.

mod pieces;
mod words;

pub use pieces::{answer, pieces};

use crate::engine::content::keywords::is_stop_word;
use crate::engine::content::terms;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use words::{Word, words};

/// How soon more of the same word counts for nothing more.
const SATURATION: f32 = 8.0;
/// Weight of a word of the title, in occurrences in the text.
const TITLE_WEIGHT: f32 = 2.0;
/// How many of the best texts are held against each other.
const COMPARED: usize = 40;
/// Two texts that share more of their terms than this say the same (Jaccard).
const SAME: f32 = 0.35;
/// Factor of the score of a text that repeats a better one.
const REPEATED: f32 = 0.5;

/// A text that can be recalled.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// The text itself.
    pub text: &'a str,
    /// The tool and what it was pointed at, on one line; empty if no tool made it.
    pub title: &'a str,
}

/// A text that answers a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its index among the documents.
    pub document: usize,
    /// How well it fits; comparable among the hits of one query only.
    pub score: f32,
}

/// Returns the documents that have any word of the query, best first; those that fit equally in their order.
pub fn rank(query: &str, documents: &[Document<'_>]) -> Vec<Hit> {
    let query = Query::new(query);
    let found: Vec<(usize, Vec<(u32, f32)>)> = documents
        .par_iter()
        .enumerate()
        .map(|(index, document)| (index, query.frequencies(document)))
        .filter(|(_, frequencies)| !frequencies.is_empty())
        .collect();
    let mut holders = vec![0u32; query.counts.len()];
    for (term, _) in found.iter().flat_map(|(_, frequencies)| frequencies) {
        holders[*term as usize] += 1;
    }
    let all = documents.len() as f32;
    let rarity = |holders: u32| (1.0 + (all - holders as f32 + 0.5) / (holders as f32 + 0.5)).ln();
    let weights: Vec<f32> = query.counts.iter().zip(&holders).map(|(count, holders)| *count as f32 * rarity(*holders)).collect();
    let score = |frequencies: &[(u32, f32)]| {
        let part = |(term, often): &(u32, f32)| weights[*term as usize] * often * (SATURATION + 1.0) / (often + SATURATION);
        frequencies.iter().map(part).sum()
    };
    let mut hits: Vec<Hit> =
        found.iter().map(|(document, frequencies)| Hit { document: *document, score: score(frequencies) }).collect();
    sort(&mut hits);
    put_repetitions_back(&mut hits, documents);
    hits
}

fn sort(hits: &mut [Hit]) {
    hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document)));
}

fn put_repetitions_back(hits: &mut [Hit], documents: &[Document<'_>]) {
    let best = hits.len().min(COMPARED);
    let terms: Vec<Vec<u32>> = hits[..best]
        .par_iter()
        .map(|hit| {
            let mut terms = terms::terms(documents[hit.document].text);
            terms.sort_unstable();
            terms
        })
        .collect();
    let mut said: Vec<usize> = Vec::new();
    for (place, hit) in hits[..best].iter_mut().enumerate() {
        if said.iter().any(|other| likeness(&terms[place], &terms[*other]) > SAME) {
            hit.score *= REPEATED;
        } else {
            said.push(place);
        }
    }
    sort(hits);
}

/// The share of the terms of two texts that both have; each list is sorted.
fn likeness(left: &[u32], right: &[u32]) -> f32 {
    let (mut one, mut other, mut common) = (left, right, 0);
    while let ([first, after_first @ ..], [second, after_second @ ..]) = (one, other) {
        common += usize::from(first == second);
        if first <= second {
            one = after_first;
        }
        if second <= first {
            other = after_second;
        }
    }
    common as f32 / (left.len() + right.len() - common).max(1) as f32
}

/// A query: its distinct words, with the number of occurrences of each.
struct Query {
    terms: FxHashMap<Box<str>, u32>,
    counts: Vec<u32>,
    /// True if a word of the query has these first two bytes: most words of a text are told by that.
    beginnings: Box<[bool; 1 << 16]>,
}

impl Query {
    /// Stop words are left out, unless nothing else is asked.
    fn new(text: &str) -> Query {
        let mut query = Query { terms: FxHashMap::default(), counts: Vec::new(), beginnings: Box::new([false; 1 << 16]) };
        words(text, |word| {
            if !is_stop_word(&word.text().to_lowercase()) {
                query.add(word);
            }
        });
        if query.terms.is_empty() {
            words(text, |word| query.add(word));
        }
        query
    }

    fn add(&mut self, word: Word<'_>) {
        let mut key = String::new();
        word.key(&mut key);
        if let [first, second, ..] = key.as_bytes() {
            self.beginnings[usize::from(*first) << 8 | usize::from(*second)] = true;
        }
        let next = self.counts.len() as u32;
        let term = *self.terms.entry(key.into()).or_insert(next);
        if term == next {
            self.counts.push(0);
        }
        self.counts[term as usize] += 1;
    }

    /// Passes on the terms of the query that stand in a text, each as often as it does.
    fn find(&self, text: &str, mut found: impl FnMut(u32)) {
        let mut key = String::new();
        words(text, |word| {
            if let [first, second, ..] = word.text().as_bytes()
                && first.is_ascii()
                && second.is_ascii()
                && !self.beginnings[usize::from(first.to_ascii_lowercase()) << 8 | usize::from(second.to_ascii_lowercase())]
            {
                return;
            }
            word.key(&mut key);
            if let Some(term) = self.terms.get(key.as_str()) {
                found(*term);
            }
        });
    }

    /// Number of occurrences of each term in a document, in order of terms, without zeros.
    fn frequencies(&self, document: &Document<'_>) -> Vec<(u32, f32)> {
        let mut often: FxHashMap<u32, f32> = FxHashMap::default();
        self.find(document.text, |term| *often.entry(term).or_default() += 1.0);
        self.find(document.title, |term| *often.entry(term).or_default() += TITLE_WEIGHT);
        let mut often: Vec<(u32, f32)> = often.into_iter().collect();
        // The sum of a score depends on its order, if by little.
        often.sort_unstable_by_key(|(term, _)| *term);
        often
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    fn check(query: &str, texts: &[(&str, &str)], expected: &[usize]) {
        let documents: Vec<Document<'_>> = texts.iter().map(|(title, text)| Document { text, title }).collect();
        let found: Vec<usize> = rank(query, &documents).iter().map(|hit| hit.document).collect();
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn any_word_is_enough_and_rare_ones_count_more() {
        let texts = [("", "the parser fails"), ("", "the parser works"), ("", "a cache of rows"), ("", "nothing of it")];
        check("why does the parser lose cache rows", &texts, &[2, 0, 1]);
        check("unheard", &texts, &[]);
        check("", &texts, &[]);
    }

    #[test]
    fn stop_words_are_asked_for_only_alone() {
        let texts = [("", "all of them"), ("", "lexer")];
        check("all lexer", &texts, &[1]);
        check("all", &texts, &[0]);
    }

    #[test]
    fn an_identifier_is_found_by_itself_and_by_its_parts() {
        let texts = [("", "let row = parse(line)"), ("", "fn parse_row()"), ("", "parseRow()")];
        check("parse_row", &texts, &[1, 0, 2]);
        check("parsing rows", &texts, &[0, 1, 2]);
    }

    #[test]
    fn the_title_counts_more_than_the_text() {
        let texts =
            [("Bash make", "see src/heat.rs"), ("Read src/heat.rs", "fn main() {}"), ("Read src/cold.rs", "fn main() {}")];
        check("heat", &texts, &[1, 0]);
        check("src/heat.rs", &texts, &[1, 0, 2]);
    }

    #[test]
    fn a_text_that_repeats_a_better_one_is_put_back() {
        let long = "cache_segment is read\nsegment_bytes are counted\nload_segments in parallel\n";
        let again = format!("{long}and one more line of text");
        check("cache segment", &[("", &again), ("", long), ("", "a segment of the cache")], &[0, 2, 1]);
    }

    proptest! {
        #[test]
        fn any_texts_are_ranked(query in any::<String>(), texts in proptest::collection::vec(any::<String>(), 0..8)) {
            let documents: Vec<Document<'_>> = texts.iter().map(|text| Document { text, title: &query }).collect();
            let hits = rank(&query, &documents);
            prop_assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
            prop_assert!(hits.iter().all(|hit| hit.score.is_finite() && hit.score > 0.0));
            prop_assert_eq!(&rank(&query, &documents), &hits);
        }
    }
}
