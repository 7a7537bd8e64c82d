//! The lines of passages that answer a query, or name what a reader needs next, within a budget.

use super::excerpt::PassageKind;
use super::names::names_of;
use super::passages::{Occurrences, RankedPassage};
use crate::text::clauses::is_printed;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Passages whose lines are compared, and longest line of them, in bytes.
const READ: usize = 60;
const LINE_BYTES: usize = 240;
/// Bytes that a line costs beside its own, bytes of the label of a passage, and usual bytes of a token.
const LINE_COST: usize = 10;
const LABEL_COST: usize = 60;
const BYTES_OF_TOKEN: usize = 6;
/// The share of the lines that answer the query by its words, as a divisor: the others name what is needed.
const ANSWERS_SHARE: usize = 20;
/// Factor of a name that an agent wrote in a call and saw in a result: it works with it. Of a name that one only read, 1.
const USED: f32 = 3.0;
/// Factor of a name with a word of the query.
const ASKED: f32 = 2.0;

/// A line of a passage: the index of the passage, and the place in its text.
pub(super) type PassageLine = (usize, Range<usize>);

/// A passage with its score, in shares of the best, and its names.
pub(super) struct NamedPassage<'a> {
    pub score: f32,
    pub passage: usize,
    pub names: Vec<&'a str>,
}

impl Occurrences<'_> {
    /// Returns the first of ranked passages with their names, and the values of all names.
    pub(super) fn named(&self, ranked: &[RankedPassage], most: usize) -> (Vec<NamedPassage<'_>>, FxHashMap<&str, f32>) {
        let best = ranked.first().map_or(1.0, |found| found.score.max(f32::MIN_POSITIVE));
        let named = |found: &RankedPassage| {
            let names = names_of(&self.passages[found.passage].text);
            NamedPassage { score: found.score / best, passage: found.passage, names }
        };
        let pool: Vec<NamedPassage<'_>> = ranked.iter().take(most).map(named).collect();
        let values = self.values(&pool);
        (pool, values)
    }

    /// Returns the values of the names of passages: a name is worth more in good passages, if an agent worked with it or the query has a
    /// word of it, and less if it is long or in many.
    fn values<'b>(&self, pool: &[NamedPassage<'b>]) -> FxHashMap<&'b str, f32> {
        #[derive(Default)]
        struct Holders {
            scores: f32,
            count: f32,
            is_in_call: bool,
            is_in_result: bool,
        }
        let mut holders: FxHashMap<&str, Holders> = FxHashMap::default();
        for NamedPassage { score, passage, names } in pool {
            let kind = self.passages[*passage].kind;
            for name in names {
                let holders = holders.entry(name).or_default();
                holders.scores += score.powi(4);
                holders.count += 1.0;
                holders.is_in_call |= kind == PassageKind::Call;
                holders.is_in_result |= kind == PassageKind::Result;
            }
        }
        let matcher = self.query.matcher();
        let value = |(name, holders): (&'b str, Holders)| {
            let mut is_asked = false;
            matcher.find(name, |_, _, _| is_asked = true);
            let used = if holders.is_in_call && holders.is_in_result { USED } else { 1.0 };
            let asked = if is_asked { ASKED } else { 1.0 };
            (name, used * asked * holders.scores.ln_1p() / (holders.count * name.len() as f32).sqrt())
        };
        holders.into_iter().map(value).collect()
    }

    /// Returns the lines that answer best, then those of the best passages that name most for their length of what good passages name, each
    /// name once, then all others that answer. `priors` are those of the passages, `known` are texts that the reader has.
    pub(super) fn lines(&self, priors: &[f32], known: &[&str], budget_tokens: usize) -> Vec<PassageLine> {
        let stretches = self.stretches(priors, known);
        let mut answers = stretches.into_iter().flat_map(|found| found.lines.into_iter().map(move |line| (found.passage, line)));
        let budget = budget_tokens * BYTES_OF_TOKEN;
        let mut chosen = Vec::new();
        let mut room = budget / ANSWERS_SHARE;
        while let Some((passage, place)) = answers.next().filter(|_| room > 0) {
            room = room.saturating_sub(place.len());
            chosen.push((passage, place));
        }
        let ranked = self.ranked(priors);
        let (pool, mut values) = self.named(&ranked, READ);
        known.iter().flat_map(|text| names_of(text)).for_each(|name| _ = values.remove(name));
        chosen.extend(self.naming_lines(&pool, values, budget));
        chosen.extend(answers);
        let mut printed: FxHashSet<(usize, usize)> = FxHashSet::default();
        chosen.retain(|(passage, place)| printed.insert((*passage, place.start)));
        chosen
    }

    /// Returns the lines of passages that name most for their length, best first, until they have `left` bytes.
    fn naming_lines<'b>(
        &'b self,
        pool: &[NamedPassage<'_>],
        mut values: FxHashMap<&'b str, f32>,
        mut left: usize,
    ) -> Vec<PassageLine> {
        let mut labelled: FxHashSet<usize> = FxHashSet::default();
        let lines: Vec<Line<'b>> = pool.iter().flat_map(|found| self.lines_of(found.score, found.passage)).collect();
        let rated = |place: usize, values: &FxHashMap<&str, f32>, labelled: &FxHashSet<usize>| {
            (lines[place].gain(values, labelled).to_bits(), Reverse(place))
        };
        let mut order: BinaryHeap<(u32, Reverse<usize>)> =
            (0..lines.len()).map(|place| rated(place, &values, &labelled)).collect();
        let mut chosen = Vec::new();
        while let Some((_, Reverse(place))) = order.pop().filter(|(gain, _)| *gain > 0 && left > 0) {
            // The names of lines before it are worth nothing any more.
            let now = rated(place, &values, &labelled);
            if order.peek().is_some_and(|next| *next > now) {
                order.push(now);
                continue;
            }
            let line = &lines[place];
            line.names.iter().for_each(|name| _ = values.remove(name));
            left = left.saturating_sub(line.place.len());
            if labelled.insert(line.passage) {
                // Its other lines need no label of their own.
                let others = (0..lines.len()).filter(|other| lines[*other].passage == line.passage);
                order.extend(others.map(|other| rated(other, &values, &labelled)));
            }
            chosen.push((line.passage, line.place.clone()));
        }
        chosen
    }

    /// Returns the lines of a passage with names; those that could be credentials are left out.
    fn lines_of(&self, score: f32, passage: usize) -> impl Iterator<Item = Line<'_>> {
        let text = &*self.passages[passage].text;
        let is_shown = |line: &&str| line.len() <= LINE_BYTES && !assigns_credential(line) && !is_printed(line);
        text.lines().filter(is_shown).filter_map(move |line| {
            let names = names_of(line);
            let start = line.as_ptr() as usize - text.as_ptr() as usize;
            let place = start..start + line.trim_end().len();
            (!names.is_empty()).then_some(Line { score, passage, place, names })
        })
    }
}

/// Returns true if a line gives something with the name of a credential a value: of no use, and at worst one that was not recognized.
fn assigns_credential(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["passw", "secret", "token"].iter().flat_map(|name| lower.match_indices(name)).any(|(at, _)| {
        let rest = lower[at..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
        rest.starts_with(['=', ':'])
    })
}

struct Line<'a> {
    score: f32,
    passage: usize,
    place: Range<usize>,
    names: Vec<&'a str>,
}

impl Line<'_> {
    /// Returns the value of its names for its cost, which a label adds to if its passage has none yet.
    fn gain(&self, values: &FxHashMap<&str, f32>, labelled: &FxHashSet<usize>) -> f32 {
        // Not `sum`: that of no numbers is −0, which is not the least of all bits.
        let new = self.names.iter().filter_map(|name| values.get(name)).fold(0.0, |sum, value| sum + value);
        let label = if labelled.contains(&self.passage) { 0 } else { LABEL_COST };
        new * self.score / (self.place.len() + label + LINE_COST) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::super::excerpt::Passage;
    use super::super::query::Query;
    use super::*;

    fn value(query: &str, passages: &[Passage<'_>], name: &str) -> f32 {
        let query = Query::of_text(query);
        let occurrences = Occurrences::new(&query, passages);
        occurrences.named(&occurrences.ranked(&[]), READ).1[name]
    }

    #[test]
    fn names_that_an_agent_works_with_and_those_with_a_word_of_the_query_are_worth_more() {
        let passages = [
            Passage::untitled(PassageKind::Call, "cache: call evict_old here"),
            Passage::untitled(PassageKind::Result, "cache\nfn evict_old()\nfn evict_new()"),
            Passage::untitled(PassageKind::Result, "the cache has evict_new, too"),
        ];
        assert!(value("cache", &passages, "evict_old") > 2.0 * value("cache", &passages, "evict_new"));
        let passages = [Passage::untitled(PassageKind::Result, "cache of rows\nfn evict_old()\nfn cache_old()")];
        assert!(value("cache", &passages, "cache_old") > 1.5 * value("cache", &passages, "evict_old"));
    }

    #[test]
    fn lines_have_the_values_of_no_credentials() {
        let passages = [Passage::untitled(PassageKind::Result, "the cache\napi_token = heat_map\nfn heat_map()")];
        let query = Query::of_text("cache");
        let lines = Occurrences::new(&query, &passages).naming_lines(
            &[NamedPassage { score: 1.0, passage: 0, names: Vec::new() }],
            FxHashMap::from_iter([("heat_map", 1.0)]),
            500,
        );
        let texts: Vec<&str> = lines.iter().map(|(_, place)| &passages[0].text[place.clone()]).collect();
        assert_eq!(texts, ["fn heat_map()"]);
    }
}
