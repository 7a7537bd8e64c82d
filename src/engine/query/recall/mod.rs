//! Recall: search in texts that are no longer in the window, and selection of the printed parts.
//!
//! Texts are ranked by BM25 (Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009) with the title as a field of higher
//! weight (BM25F; Robertson, Zaragoza & Taylor 2004). Any word of the query may match: an agent that uses its own words rarely
//! knows more than some words of the text. Two settings differ from those for articles, based on real sessions (the content that an
//! agent's next calls used and that was only in texts outside the window). The frequency of a word in a text counts more (`k1` is
//! 8, not 1.2), and there is no length normalization (`b` is 0): long texts are usually the ones that were read, and the printed
//! part is limited anyway. A text that repeats a better one is ranked lower, because its content was already found.

mod pieces;

pub use pieces::{answer, pieces};

use crate::engine::content::terms;
use crate::text::stop_words::is_stop_word;
use crate::text::words::{Word, words};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Term frequency saturation: the `k1` of BM25.
const SATURATION: f32 = 8.0;
/// Weight of a word of the title, in occurrences in the text.
const TITLE_WEIGHT: f32 = 2.0;
/// Number of best texts that are compared with each other.
const COMPARED: usize = 40;
/// Texts with a higher share of common terms are considered equal (Jaccard).
const SAME: f32 = 0.35;
/// Factor of the score of a text that repeats a better one.
const REPEATED: f32 = 0.5;

/// A text that can be recalled.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    pub text: &'a str,
    /// The tool and its target, on one line; empty if the text is not from a tool.
    pub title: &'a str,
}

/// A text that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its index among the documents.
    pub document: usize,
    /// Score; comparable only among the hits of one query.
    pub score: f32,
}

/// Returns the documents that contain any word of the query, best first; equal scores in document order.
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

/// Returns the share of common terms of two texts; each list is sorted.
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
    /// True if a query word starts with these two bytes: a fast filter for most words of a text.
    beginnings: Box<[bool; 1 << 16]>,
}

impl Query {
    /// Stop words are omitted, unless the query contains only stop words.
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

    /// Calls `found` for each occurrence of a query term in a text.
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
        // The floating-point sum of a score depends on its order, so the order is fixed.
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
