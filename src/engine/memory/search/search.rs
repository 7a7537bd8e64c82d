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
//! The weights were fitted on prompts of real sessions; with each repository left out in turn the result is the same within the
//! error (see `search-eval tune lopo`).

use super::index::{DocumentKind, Documents, RowName, SearchDocument, search_words};
use super::names::names;
use rustc_hash::{FxHashMap, FxHashSet};

/// Searched part of a prompt, in bytes: what follows is pasted data.
const QUERY_BYTES: usize = 3000;
/// Maximum relevant occurrences of a word in a query.
const QUERY_COUNT: f32 = 3.0;
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
    /// Term frequency saturation: the `k1` of BM25. Length normalization is off, as in recall: long documents were read.
    pub saturation: f32,
    /// Length normalization: the `b` of BM25.
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
    /// Weight of names in prompts.
    pub in_prompt: f32,
    /// Weight of names in answers.
    pub in_answer: f32,
    /// Weight of names in calls.
    pub in_call: f32,
    /// Weight of names in results: most of them are never used.
    pub in_result: f32,
    /// Weight of names in summaries.
    pub in_summary: f32,
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
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            saturation: 0.6,
            length: 0.0,
            prompt: 0.3,
            session: 0.3,
            recency: 0.1,
            decay: 0.8,
            sharpness: 6.0,
            in_prompt: 0.5,
            in_answer: 1.0,
            in_call: 1.0,
            in_result: 0.5,
            in_summary: 1.0,
            best: 0.5,
            sessions: 1.33,
            documents: 1.0,
            matching: 1.5,
            brevity: 0.4,
            hit: 2.0,
        }
    }
}

/// A session to search in.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name: the same for the query that is asked in it.
    pub session: &'a str,
    /// What a digest calls it: a short id.
    pub label: &'a str,
    /// Its index.
    pub documents: &'a Documents,
}

/// What is searched for.
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
    /// The document.
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
    /// By number in the corpus.
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

    fn add_documents(&mut self, source: usize, documents: &'a [SearchDocument], seen: &mut FxHashSet<(RowName, DocumentKind, u32)>) {
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
    /// Names with their values, best first.
    pub(crate) names: Vec<(u32, f32)>,
    hit: f32,
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
        let relevance = relevance(&scores.documents, corpus, &searched, &scores.prompts, weights);
        let documents = searched.into_iter().zip(relevance).collect::<Vec<_>>();
        let names = values(query, corpus, &documents, &terms, &scores.rarity, weights);
        Retrieval { corpus, documents, names, hit: weights.hit }
    }

    /// Returns the documents that cover the most valuable names, best first, at most `limit`; then the most relevant ones.
    pub fn hits(&self, limit: usize) -> Vec<Hit<'a>> {
        let total: f32 = self.names.iter().map(|(_, value)| value).sum::<f32>().max(f32::MIN_POSITIVE);
        let mut values = vec![0.0; self.corpus.names.len()];
        self.names.iter().for_each(|(name, value)| values[*name as usize] = *value);
        let gain = |values: &[f32], (document, relevance): (usize, f32)| {
            self.corpus.names_of(document).map(|name| values[name as usize]).sum::<f32>() * relevance.powf(self.hit)
        };
        let mut left: Vec<(f32, (usize, f32))> = self.documents.iter().map(|found| (gain(&values, *found), *found)).collect();
        let mut hits = Vec::new();
        // A gain only falls, so a document whose old gain is below the best new one need not be looked at.
        while hits.len() < limit {
            let mut best: Option<usize> = None;
            for place in 0..left.len() {
                if best.is_some_and(|best| left[best].0 >= left[place].0) || left[place].0 <= 0.0 {
                    continue;
                }
                left[place].0 = gain(&values, left[place].1);
                if left[place].0 > 0.0 && best.is_none_or(|best| left[place].0 > left[best].0) {
                    best = Some(place);
                }
            }
            let Some(best) = best else { break };
            let (gain, (document, _)) = std::mem::replace(&mut left[best], (-1.0, (0, 0.0)));
            self.corpus.names_of(document).for_each(|name| values[name as usize] = 0.0);
            hits.push(self.hit(document, gain / total));
        }
        left.retain(|(gain, (_, relevance))| *gain >= 0.0 && *relevance > 0.0);
        left.sort_by(|(_, (_, a)), (_, (_, b))| b.total_cmp(a));
        hits.extend(left.iter().take(limit - hits.len()).map(|(_, (document, _))| self.hit(*document, 0.0)));
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
        let mut documents = Vec::with_capacity(searched.len());
        let mut prompts = vec![0.0f32; corpus.turns.len()];
        let mut start = 0;
        for (number, (end, length)) in searched.iter().zip(parts) {
            let norm = weights.saturation * (1.0 - weights.length + weights.length * length / average.max(1.0));
            let part = |(term, count): &(usize, f32)| rarity[*term] * count * (weights.saturation + 1.0) / (count + norm);
            let score = found[start..end].iter().map(part).sum();
            documents.push(score);
            let document = &corpus.documents[*number];
            if document.document.kind == DocumentKind::Prompt {
                // Two prompts that share most of their words are about the same task; a long one shares some with all.
                let score = score / (length + 5.0).sqrt();
                prompts[document.turn] = prompts[document.turn].max(score);
            }
            start = end;
        }
        normalize(&mut documents);
        normalize(&mut prompts);
        Scores { documents, prompts, rarity }
    }
}

/// Returns the relevance of each searched document: its own score, and what it inherits from its turn and its session.
fn relevance(scores: &[f32], corpus: &Corpus<'_>, searched: &[usize], prompts: &[f32], weights: &Weights) -> Vec<f32> {
    let mut of_sessions: Vec<Vec<f32>> = vec![Vec::new(); corpus.sources.len()];
    let mut newest = vec![0i64; corpus.sources.len()];
    for (number, score) in searched.iter().zip(scores) {
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
        weights.prompt * prompts[document.turn]
            + weights.session * sessions[document.source]
            + weights.recency * recency[document.source]
    };
    searched.iter().zip(scores).map(|(number, score)| score + inherited(&corpus.documents[*number])).collect()
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
        let weight = relevance.powf(weights.sharpness) * weights.of_kind(document.document.kind);
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

impl Weights {
    fn of_kind(&self, kind: DocumentKind) -> f32 {
        match kind {
            DocumentKind::Prompt => self.in_prompt,
            DocumentKind::Answer => self.in_answer,
            DocumentKind::Call => self.in_call,
            DocumentKind::Result => self.in_result,
            DocumentKind::Summary => self.in_summary,
        }
    }
}

/// Divides numbers by the highest one.
fn normalize(numbers: &mut [f32]) {
    let highest = numbers.iter().copied().fold(0.0, f32::max);
    if highest > 0.0 {
        numbers.iter_mut().for_each(|number| *number /= highest);
    }
}
