//! Search in all sessions of a project: finds what an agent will need for a prompt.
//!
//! A prompt has many words, of which few matter, and the content that its answer needs rarely repeats them. So documents (blocks)
//! are only a step on the way to *names*, the identifiers and files that later calls use. The relevance of a document is its BM25
//! score (Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009) plus what it inherits: from the prompt of its turn,
//! from the best documents of its session, and from the age of the session. The value of a name is the sum of the relevances of
//! the documents that have it, less if many sessions have it: what is everywhere in a project is found without a memory. Hits are
//! then chosen one by one, each for the value of the names that the hits before it do not have, so that ten hits cover ten times
//! more than ten copies of the best one (maximum coverage; Nemhauser, Wolsey & Fisher 1978).
//!
//! The weights are round numbers: weights fitted to real sessions, with each repository left out in turn, are not better there than
//! the differences between two fits.

use super::index::{DocumentKind, Documents, RowName, SearchDocument, search_words};
use super::names::names;
use rustc_hash::{FxHashMap, FxHashSet};

/// Searched part of a prompt, in bytes: what follows is pasted data.
const QUERY_BYTES: usize = 3000;
/// Maximum relevant occurrences of a word in a query.
const QUERY_COUNT: f32 = 3.0;
/// The usual `k1` and `b` of BM25.
const USUAL_SATURATION: f32 = 1.2;
const USUAL_LENGTH: f32 = 0.75;
/// Names of the best documents that are compared: the rest is never printed.
const NAMES: usize = 1500;
/// Documents of a session that make up its score.
const SESSION_DOCUMENTS: usize = 10;
/// Sessions that may have a name before it counts as common.
const COMMON_SESSIONS: u32 = 3;
/// Documents that may have a name before it counts as common.
const COMMON_DOCUMENTS: u32 = 25;

/// The weights of the signals. [`Weights::default`] is what the product uses; others are for measurements.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Term frequency saturation: the `k1` of BM25.
    pub saturation: f32,
    /// Length normalization: the `b` of BM25. Low, as in recall: what is long was read, and holds more that is needed.
    pub length: f32,
    /// Share of the score of the turn's prompt in the relevance of a document.
    pub prompt: f32,
    /// Share of the score of the session.
    pub session: f32,
    /// Share of the recency of the session.
    pub recency: f32,
    /// Recency of a session, relative to the next newer one.
    pub decay: f32,
    /// Exponent of the relevance: a high one makes the best documents count almost alone.
    pub sharpness: f32,
    /// Weight of the best document of a name, against the sum over all of them.
    pub best: f32,
    /// Penalty of a name for each session above [`COMMON_SESSIONS`].
    pub sessions: f32,
    /// Penalty of a name for each doubling above [`COMMON_DOCUMENTS`].
    pub documents: f32,
    /// Weight of query words within a name.
    pub matching: f32,
    /// Exponent of the length of a name, by which its value is divided: a long one takes the room of several.
    pub brevity: f32,
    /// Exponent of the relevance of a hit, by which the value of its names is multiplied.
    pub hit: f32,
    /// Worth of the document that fits the words of the query best, as a share of the value of all names.
    pub fit: f32,
    /// Share of the fit of a document in its relevance.
    pub own: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            saturation: 1.2,
            length: 0.2,
            prompt: 0.5,
            session: 0.5,
            recency: 0.2,
            decay: 0.7,
            sharpness: 4.0,
            best: 0.5,
            sessions: 1.0,
            documents: 2.0,
            matching: 1.0,
            brevity: 0.5,
            hit: 2.0,
            fit: 0.5,
            own: 1.0,
        }
    }
}

/// A session to search in.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name: the same for the query that is asked in it.
    pub session: &'a str,
    /// Its name in a digest: a short id.
    pub label: &'a str,
    /// Its index.
    pub documents: &'a Documents,
}

/// A query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The user's prompt, or words.
    pub text: &'a str,
    /// Texts that the reader has already: names in them are worth nothing. The prompt counts as one of them.
    pub known: &'a [&'a str],
    /// The session that asks: it is not searched.
    pub session: Option<&'a str>,
    /// Only documents that are older are searched; in milliseconds since 1970, UTC.
    pub before: Option<i64>,
}

/// A document that was found.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    /// Its session.
    pub source: Source<'a>,
    pub document: &'a SearchDocument,
    /// Its share in the value of all names that were found; comparable only among the hits of one query.
    pub score: f32,
}

/// The documents of some sessions, prepared for searches: each content once, names numbered across sessions.
#[derive(Debug)]
pub struct Corpus<'a> {
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) names: Vec<&'a str>,
    /// For each source the number of each of its names.
    numbers: Vec<Vec<u32>>,
    pub(crate) documents: Vec<CorpusDocument<'a>>,
    pub(crate) turns: Vec<Turn>,
}

#[derive(Debug)]
pub(crate) struct CorpusDocument<'a> {
    pub source: usize,
    /// The call that it belongs to, or itself; by number in the source.
    pub step: u32,
    pub turn: usize,
    pub document: &'a SearchDocument,
}

#[derive(Debug)]
pub(crate) struct Turn {
    pub source: usize,
    /// The document of its prompt, by number in the corpus; the first one of the turn if it has none.
    pub prompt: usize,
}

impl<'a> Corpus<'a> {
    /// Prepares some sessions, the first copy of a forked or resumed session first: the first source that has a row owns it.
    pub fn new(sources: &'a [Source<'a>]) -> Corpus<'a> {
        let mut corpus = Corpus { sources, names: Vec::new(), numbers: Vec::new(), documents: Vec::new(), turns: Vec::new() };
        let mut known: FxHashMap<&str, u32> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for (source, Source { documents, .. }) in sources.iter().enumerate() {
            let names = documents.names().iter().map(|name| {
                *known.entry(name).or_insert_with(|| {
                    corpus.names.push(name);
                    corpus.names.len() as u32 - 1
                })
            });
            let numbers = names.collect();
            corpus.numbers.push(numbers);
            corpus.add_documents(source, documents.documents(), &mut seen);
        }
        corpus
    }

    fn add_documents(
        &mut self,
        source: usize,
        documents: &'a [SearchDocument],
        seen: &mut FxHashSet<(RowName, DocumentKind, u32)>,
    ) {
        let mut turn = None;
        for (number, document) in (0..).zip(documents) {
            // Rows without an identity of their own are compared by their content.
            let row = if matches!(document.row, RowName::Line(_)) { RowName::Line(0) } else { document.row.clone() };
            if !seen.insert((row, document.kind, document.content)) {
                continue;
            }
            if turn != Some(document.turn) {
                turn = Some(document.turn);
                self.turns.push(Turn { source, prompt: self.documents.len() });
            }
            let step = document.call.unwrap_or(number);
            self.documents.push(CorpusDocument { source, step, turn: self.turns.len() - 1, document });
        }
    }

    /// Returns the distinct names of all sessions.
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// Returns the numbers of the distinct names of a document.
    pub(crate) fn names_of(&self, document: usize) -> impl Iterator<Item = u32> {
        let document = &self.documents[document];
        let numbers = &self.numbers[document.source];
        document.document.names().filter_map(|name| numbers.get(name as usize).copied())
    }
}

/// The result of a search: the relevant documents and the names that are worth knowing.
#[derive(Debug)]
pub struct Retrieval<'a> {
    pub(crate) corpus: &'a Corpus<'a>,
    /// Documents that were searched, in order, each with its relevance.
    pub(crate) documents: Vec<(usize, f32)>,
    /// The match of each of them with the words of the query, at most 1.
    pub(crate) fits: Vec<f32>,
    /// Names with their values, best first.
    pub(crate) names: Vec<(u32, f32)>,
    hit: f32,
    fit: f32,
}

/// Returns the documents that an answer to a prompt needs, best first, at most `limit`. Pure; the corpus is not changed.
pub fn search<'a>(query: &Query<'_>, corpus: &'a Corpus<'a>, limit: usize) -> Vec<Hit<'a>> {
    Retrieval::new(query, corpus).hits(limit)
}

impl<'a> Retrieval<'a> {
    /// Searches a corpus.
    pub fn new(query: &Query<'_>, corpus: &'a Corpus<'a>) -> Retrieval<'a> {
        Retrieval::weighted(query, corpus, &Weights::default())
    }

    /// Searches a corpus with other weights than those of the product.
    pub fn weighted(query: &Query<'_>, corpus: &'a Corpus<'a>, weights: &Weights) -> Retrieval<'a> {
        let searched: Vec<usize> = (0..corpus.documents.len()).filter(|number| is_searched(query, corpus, *number)).collect();
        let terms = Terms::new(query, corpus);
        let scores = Scores::new(&terms, corpus, &searched, weights);
        let relevance = relevance(&scores, corpus, &searched, weights);
        let documents = searched.into_iter().zip(relevance).collect::<Vec<_>>();
        let names = values(query, corpus, &documents, &terms, &scores.rarity, weights);
        Retrieval { corpus, documents, fits: scores.fits, names, hit: weights.hit, fit: weights.fit }
    }

    /// Returns the documents that fit the query and cover the most valuable names, best first, at most `limit`.
    pub fn hits(&self, limit: usize) -> Vec<Hit<'a>> {
        let total: f32 = self.names.iter().map(|(_, value)| value).sum::<f32>().max(f32::MIN_POSITIVE);
        let mut values = vec![0.0; self.corpus.names.len()];
        self.names.iter().for_each(|(name, value)| values[*name as usize] = *value);
        let gain = |values: &[f32], place: usize| {
            let (document, relevance) = self.documents[place];
            let names = self.corpus.names_of(document).map(|name| values[name as usize]).sum::<f32>() / total;
            names * relevance.powf(self.hit) + self.fit * self.fits[place].powf(self.hit)
        };
        let mut left: Vec<f32> = (0..self.documents.len()).map(|place| gain(&values, place)).collect();
        let mut hits = Vec::new();
        // A gain only falls, so a document whose old gain is below the best new one need not be looked at.
        while hits.len() < limit {
            let mut best: Option<usize> = None;
            for place in 0..left.len() {
                if left[place] <= 0.0 || best.is_some_and(|best| left[best] >= left[place]) {
                    continue;
                }
                left[place] = gain(&values, place);
                if left[place] > 0.0 && best.is_none_or(|best| left[place] > left[best]) {
                    best = Some(place);
                }
            }
            let Some(best) = best else { break };
            let score = std::mem::replace(&mut left[best], 0.0);
            let document = self.documents[best].0;
            self.corpus.names_of(document).for_each(|name| values[name as usize] = 0.0);
            hits.push(self.hit(document, score));
        }
        hits
    }

    fn hit(&self, document: usize, score: f32) -> Hit<'a> {
        let document = &self.corpus.documents[document];
        Hit { source: self.corpus.sources[document.source], document: document.document, score }
    }
}

fn is_searched(query: &Query<'_>, corpus: &Corpus<'_>, number: usize) -> bool {
    let document = &corpus.documents[number];
    let is_old = query.before.is_none_or(|before| (1..before).contains(&document.document.time));
    is_old && query.session != Some(corpus.sources[document.source].session)
}

/// The terms of a query: its words, then its names.
struct Terms {
    /// The number of each word, by its hash.
    words: FxHashMap<u32, usize>,
    /// Occurrences of each term in the query.
    counts: Vec<f32>,
    /// For each source the term of each of its words and of each of its names; 0 if none, else the number of the term and 1.
    of_words: Vec<Vec<u16>>,
    of_names: Vec<Vec<u16>>,
}

impl Terms {
    fn new(query: &Query<'_>, corpus: &Corpus<'_>) -> Terms {
        let text = &query.text[..query.text.floor_char_boundary(QUERY_BYTES)];
        let (mut words, mut counts) = (FxHashMap::default(), Vec::new());
        search_words(text, |hash| {
            let term = *words.entry(hash).or_insert(counts.len());
            if term == counts.len() {
                counts.push(0.0);
            }
            counts[term] += 1.0;
        });
        let mut spelled: FxHashMap<&str, u16> = FxHashMap::default();
        names(text, |name| {
            let next = counts.len();
            spelled.entry(name).or_insert_with(|| {
                counts.push(1.0);
                next as u16 + 1
            });
        });
        let of_names: Vec<u16> = corpus.names.iter().map(|name| spelled.get(name).copied().unwrap_or_default()).collect();
        let words_of = |source: &Source<'_>| {
            source.documents.words().iter().map(|hash| words.get(hash).map_or(0, |term| *term as u16 + 1)).collect()
        };
        let names_of = |numbers: &Vec<u32>| numbers.iter().map(|number| of_names[*number as usize]).collect();
        Terms {
            of_words: corpus.sources.iter().map(words_of).collect(),
            of_names: corpus.numbers.iter().map(names_of).collect(),
            words,
            counts,
        }
    }

    /// Calls `found` with each term of a document, and its occurrences; returns the number of words of the document.
    fn find(&self, document: &CorpusDocument<'_>, mut found: impl FnMut(usize, f32)) -> f32 {
        let (words, names) = (&self.of_words[document.source], &self.of_names[document.source]);
        let mut length = 0;
        for (word, count) in document.document.words() {
            length += count;
            if let Some(term) = words.get(word as usize).filter(|term| **term > 0) {
                found(usize::from(*term) - 1, count as f32);
            }
        }
        for name in document.document.names() {
            if let Some(term) = names.get(name as usize).filter(|term| **term > 0) {
                found(usize::from(*term) - 1, 1.0);
            }
        }
        length as f32
    }
}

/// The BM25 scores of a query; the highest one is 1.
struct Scores {
    /// By place among the searched documents.
    documents: Vec<f32>,
    /// The same with the usual length normalization: short documents that are about nothing else come first.
    fits: Vec<f32>,
    /// Scores of the prompts of turns, by number in the corpus.
    prompts: Vec<f32>,
    /// The weight of each term: its rarity and its occurrences in the query.
    rarity: Vec<f32>,
}

impl Scores {
    fn new(terms: &Terms, corpus: &Corpus<'_>, searched: &[usize], weights: &Weights) -> Scores {
        let all = searched.len() as f32;
        let mut holders = vec![0.0f32; terms.counts.len()];
        let mut found: Vec<(usize, f32)> = Vec::new();
        let mut parts: Vec<(usize, f32)> = Vec::with_capacity(searched.len());
        for number in searched {
            let length = terms.find(&corpus.documents[*number], |term, count| {
                found.push((term, count));
                holders[term] += 1.0;
            });
            parts.push((found.len(), length));
        }
        let rarity: Vec<f32> = holders
            .iter()
            .zip(&terms.counts)
            .map(|(holders, count)| {
                let rarity = (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln();
                rarity * count.min(QUERY_COUNT).sqrt()
            })
            .collect();
        let average = parts.iter().map(|(_, length)| length).sum::<f32>() / all.max(1.0);
        let (mut documents, mut fits) = (Vec::with_capacity(searched.len()), Vec::with_capacity(searched.len()));
        let mut prompts = vec![0.0f32; corpus.turns.len()];
        let mut start = 0;
        for (number, (end, length)) in searched.iter().zip(parts) {
            let score = bm25(&found[start..end], &rarity, weights.saturation, weights.length, length / average.max(1.0));
            documents.push(score);
            fits.push(bm25(&found[start..end], &rarity, USUAL_SATURATION, USUAL_LENGTH, length / average.max(1.0)));
            let document = &corpus.documents[*number];
            if document.document.kind == DocumentKind::Prompt {
                // Two prompts that share most of their words are about the same task; a long one shares some with all.
                let score = score / (length + 5.0).sqrt();
                prompts[document.turn] = prompts[document.turn].max(score);
            }
            start = end;
        }
        normalize(&mut documents);
        // A document that has all words of a query fits; one that shares some words with a long prompt hardly does.
        let words = rarity.iter().sum::<f32>() * (USUAL_SATURATION + 1.0);
        fits.iter_mut().for_each(|fit: &mut f32| *fit /= words.max(f32::MIN_POSITIVE));
        normalize(&mut prompts);
        Scores { documents, fits, prompts, rarity }
    }
}

/// Returns the BM25 score of the terms of a document, whose length is given in average lengths.
fn bm25(found: &[(usize, f32)], rarity: &[f32], saturation: f32, normalization: f32, length: f32) -> f32 {
    let norm = saturation * (1.0 - normalization + normalization * length);
    found.iter().map(|(term, count)| rarity[*term] * count * (saturation + 1.0) / (count + norm)).sum()
}

/// Returns the relevance of each searched document: its own score, and what it inherits from its turn and its session.
fn relevance(scores: &Scores, corpus: &Corpus<'_>, searched: &[usize], weights: &Weights) -> Vec<f32> {
    let mut of_sessions: Vec<Vec<f32>> = vec![Vec::new(); corpus.sources.len()];
    let mut newest = vec![0i64; corpus.sources.len()];
    for (number, score) in searched.iter().zip(&scores.documents) {
        let document = &corpus.documents[*number];
        of_sessions[document.source].push(*score);
        newest[document.source] = newest[document.source].max(document.document.time);
    }
    let mut sessions: Vec<f32> = of_sessions
        .into_iter()
        .map(|mut scores| {
            scores.sort_unstable_by(|a, b| b.total_cmp(a));
            scores.iter().take(SESSION_DOCUMENTS).sum()
        })
        .collect();
    normalize(&mut sessions);
    let mut order: Vec<usize> = (0..newest.len()).collect();
    order.sort_by_key(|source| std::cmp::Reverse(newest[*source]));
    let mut recency = vec![0.0; newest.len()];
    let mut share = 1.0;
    for source in order.into_iter().filter(|source| newest[*source] > 0) {
        recency[source] = share;
        share *= weights.decay;
    }
    let inherited = |document: &CorpusDocument<'_>| {
        weights.prompt * scores.prompts[document.turn]
            + weights.session * sessions[document.source]
            + weights.recency * recency[document.source]
    };
    let own = scores.documents.iter().zip(&scores.fits).map(|(score, fit)| score + weights.own * fit);
    searched.iter().zip(own).map(|(number, own)| own + inherited(&corpus.documents[*number])).collect()
}

/// The documents that have a name.
#[derive(Clone, Copy)]
struct Holders {
    sum: f32,
    best: f32,
    documents: u32,
    sessions: u32,
    last_source: usize,
}

/// Returns the best names with their values.
fn values(
    query: &Query<'_>,
    corpus: &Corpus<'_>,
    documents: &[(usize, f32)],
    terms: &Terms,
    rarity: &[f32],
    weights: &Weights,
) -> Vec<(u32, f32)> {
    let nobody = Holders { sum: 0.0, best: 0.0, documents: 0, sessions: 0, last_source: usize::MAX };
    let mut holders = vec![nobody; corpus.names.len()];
    for (number, relevance) in documents {
        let document = &corpus.documents[*number];
        let weight = relevance.powf(weights.sharpness);
        for name in corpus.names_of(*number) {
            let holders = &mut holders[name as usize];
            holders.sum += weight;
            holders.best = holders.best.max(weight);
            holders.documents += 1;
            holders.sessions += u32::from(holders.last_source != document.source);
            holders.last_source = document.source;
        }
    }
    let mut known: FxHashSet<&str> = FxHashSet::default();
    query.known.iter().chain([&query.text]).for_each(|text| names(text, |name| _ = known.insert(name)));
    let mut values: Vec<(u32, f32)> = (0..)
        .zip(&holders)
        .filter(|(name, holders)| holders.sum > 0.0 && !known.contains(corpus.names[*name as usize]))
        .map(|(name, holders)| (name, value(corpus.names[name as usize], holders, terms, rarity, weights)))
        .collect();
    values.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    values.truncate(NAMES);
    values
}

fn value(name: &str, holders: &Holders, terms: &Terms, rarity: &[f32], weights: &Weights) -> f32 {
    let mut matching = 0.0;
    search_words(name, |hash| matching += terms.words.get(&hash).map_or(0.0, |term| rarity[*term]));
    let value = (1.0 - weights.best) * holders.sum.ln_1p() + weights.best * holders.best;
    let sessions = holders.sessions.saturating_sub(COMMON_SESSIONS) as f32;
    let documents = (holders.documents.max(COMMON_DOCUMENTS) as f32 / COMMON_DOCUMENTS as f32).log2();
    let common = (1.0 + weights.sessions * sessions) * (1.0 + weights.documents * documents);
    value * (1.0 + weights.matching * matching / 8.0) / common / (name.len() as f32).powf(weights.brevity)
}

/// Divides numbers by the highest one.
fn normalize(numbers: &mut [f32]) {
    let highest = numbers.iter().copied().fold(0.0, f32::max);
    if highest > 0.0 {
        numbers.iter_mut().for_each(|number| *number /= highest);
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::tests::{call, index, prompt, result};
    use super::*;
    use crate::model::TraceContent;

    const DAY: i64 = 86_400_000;

    /// Searches sessions `s0`, `s1`, … of consecutive days; returns the session and block of each hit.
    fn found(query: &Query<'_>, sessions: Vec<Vec<TraceContent>>) -> Vec<String> {
        let documents: Vec<Documents> = (0..).zip(sessions).map(|(day, contents)| index(day * DAY, contents)).collect();
        let labels: Vec<String> = (0..documents.len()).map(|number| format!("s{number}")).collect();
        let sources: Vec<Source<'_>> =
            labels.iter().zip(&documents).map(|(label, documents)| Source { session: label, label, documents }).collect();
        let corpus = Corpus::new(&sources);
        search(query, &corpus, 10).iter().map(|hit| format!("{}#{}", hit.source.label, hit.document.block)).collect()
    }

    fn ask(text: &str) -> Query<'_> {
        Query { text, ..Query::default() }
    }

    fn answer(text: &str) -> TraceContent {
        TraceContent::Answer(text.to_owned())
    }

    #[test]
    fn the_document_with_the_rare_words_of_the_query_is_first() {
        let sessions = vec![
            vec![prompt("add a login page"), result(1, "loginForm in login.html")],
            vec![prompt("make the parser faster"), result(1, "parseRows in parser.rs"), answer("the parser is faster")],
        ];
        let hits = found(&ask("why is the parser slow"), sessions.clone());
        assert_eq!(hits.first().map(String::as_str), Some("s1#2"), "{hits:?}");
        let hits = found(&ask("login"), sessions);
        assert!(hits[0].starts_with("s0"), "{hits:?}");
    }

    #[test]
    fn a_name_is_searched_as_a_whole() {
        let sessions = vec![vec![answer("parseRows calls readLine")], vec![answer("parse the rows of the table, tableSize")]];
        assert_eq!(found(&ask("parseRows"), sessions)[0], "s0#1");
    }

    #[test]
    fn the_asking_session_and_later_documents_are_not_searched() {
        let sessions = || {
            vec![
                vec![answer("cacheSize of the cache")],
                vec![answer("cacheAge of the cache")],
                vec![answer("cacheKey of the cache")],
            ]
        };
        let mut query = ask("cache");
        query.session = Some("s1");
        query.before = Some(2 * DAY);
        assert_eq!(found(&query, sessions()), ["s0#1"]);
        query.before = Some(0);
        assert_eq!(found(&query, sessions()), [""; 0]);
    }

    #[test]
    fn content_that_a_fork_repeats_is_found_once() {
        let first = vec![prompt("make the cache smaller, please"), answer("cacheSize is halved in cache.rs")];
        let mut fork = first.clone();
        fork.push(answer("the cache has a cacheLimit"));
        let hits = found(&ask("cache"), vec![first, fork]);
        assert!(hits.contains(&"s0#2".to_owned()) && hits.contains(&"s1#3".to_owned()), "{hits:?}");
        assert!(!hits.contains(&"s1#2".to_owned()) && !hits.contains(&"s1#1".to_owned()), "{hits:?}");
    }

    #[test]
    fn a_hit_adds_something_to_the_hits_before_it() {
        let names = "cacheSize cacheAge cacheKey";
        let sessions = vec![
            vec![result(1, &format!("cache: {names}"))],
            vec![result(1, &format!("cache {names} again"))],
            vec![result(1, "cache with evictOldest")],
        ];
        let hits = found(&ask("cache"), sessions);
        assert_eq!(hits.iter().position(|hit| hit == "s2#1"), Some(1), "{hits:?}");
    }

    #[test]
    fn names_that_are_known_or_common_are_worth_less() {
        let session = |name: &str| vec![call(1, "Read", "src/main.rs"), result(1, &format!("the cache calls {name}"))];
        let sessions: Vec<Documents> = ["evictOldest", "countRows", "readLine", "openFile", "cacheKey"]
            .iter()
            .zip(0..)
            .map(|(name, day)| index(day * DAY, session(name)))
            .collect();
        let sources: Vec<Source<'_>> = sessions.iter().map(|documents| Source { session: "", label: "", documents }).collect();
        let corpus = Corpus::new(&sources);
        let found = Retrieval::new(&Query { text: "the cache", known: &["see cacheKey"], ..Query::default() }, &corpus);
        let names: Vec<&str> = found.names.iter().map(|(name, _)| corpus.names[*name as usize]).collect();
        assert!(!names.contains(&"cacheKey"), "{names:?}");
        assert_eq!(names.last(), Some(&"main.rs"), "{names:?}");
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        assert_eq!(found(&ask("cache"), Vec::new()), [""; 0]);
        assert_eq!(found(&ask(""), vec![vec![]]), [""; 0]);
        let hits = found(&ask("???"), vec![vec![answer("cacheKey")]]);
        assert!(hits.len() <= 1);
    }
}
