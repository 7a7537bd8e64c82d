//! Passages in memory: their order for a query, and the stretches of whole lines that answer it.

use super::excerpt::Passage;
use super::names::names_of;
use super::query::{Matcher, Query};
use super::rank::{Scoring, scores};
use crate::engine::content::terms::{self, without_line_number};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Weight of an occurrence in the title and in the text of a passage. What an agent needs again is in what it read: frequency counts
/// more than in turns, and length does not count against a text.
const PASSAGES: Scoring = Scoring { fields: [2.0, 1.0, 0.0], saturation: 16.0, share_power: 0 };
const STRETCHES: Scoring = Scoring { fields: [0.0, 1.0, 0.0], saturation: 6.0, share_power: 0 };
/// Passages at the top that are compared with each other, the share of common terms from which on two say the same (Jaccard), and the
/// factor of the score of the second.
const COMPARED: usize = 40;
const SAME: f32 = 0.35;
const REPEATED: f32 = 0.5;
/// Usual length of a stretch, in bytes.
const STRETCH_BYTES: usize = 300;
/// Best stretches by their words, and of these the best by all, which are compared with each other.
const VALUED: usize = 900;
const POOL: usize = 150;
/// Names of a stretch that count, and what all of them are worth: as much as this share of the query.
const NAMES: usize = 10;
const NAMES_WORTH: f32 = 0.15;
/// Share of the value of a stretch that is lost if its names were printed before.
const KNOWN_SHARE: f32 = 0.5;

/// A passage with words of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedPassage {
    pub passage: usize,
    /// Comparable among the passages of one query.
    pub score: f32,
}

/// A part of a passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    pub passage: usize,
    pub lines: Vec<Range<usize>>,
}

/// The terms of a title, and the places and terms of a text in order.
type Occurring = (Vec<usize>, Vec<(usize, usize)>);

/// The places of the words of a query in passages, in the order of their age.
pub struct Occurrences<'a> {
    pub(super) query: &'a Query,
    pub(super) passages: &'a [Passage<'a>],
    found: Vec<Occurring>,
}

impl<'a> Occurrences<'a> {
    /// Searches passages, the oldest first.
    pub fn new(query: &'a Query, passages: &'a [Passage<'a>]) -> Occurrences<'a> {
        let matcher = query.matcher();
        let found = passages.par_iter().map(|passage| find(&matcher, passage)).collect();
        Occurrences { query, passages, found }
    }

    /// Returns the passages with any of the words, best first. One that repeats a better one comes later.
    pub fn ranked(&self, priors: &[f32]) -> Vec<RankedPassage> {
        let mut lists = vec![Vec::new(); self.query.terms.len()];
        for (number, (title, text)) in (0..).zip(&self.found) {
            let mut counts = vec![[0.0f32; 3]; lists.len()];
            title.iter().for_each(|term| counts[*term][0] += 1.0);
            text.iter().for_each(|(_, term)| counts[*term][1] += 1.0);
            for (term, count) in counts.into_iter().enumerate().filter(|(_, count)| count[0] + count[1] > 0.0) {
                lists[term].push((number, count));
            }
        }
        let (found, _) = scores(self.query, &lists, self.passages.len() as u32, &PASSAGES);
        let best = found.first().map_or(1.0, |found| found.score.max(f32::MIN_POSITIVE));
        let ranked = found.iter().map(|found| {
            let passage = found.turn as usize;
            RankedPassage { passage, score: found.score / best + priors.get(passage).copied().unwrap_or_default() }
        });
        let mut ranked: Vec<RankedPassage> = ranked.collect();
        sort(&mut ranked);
        self.put_repetitions_back(&mut ranked);
        ranked
    }

    /// Returns true if a passage has all words that the query needs.
    pub fn has_all(&self, passage: usize) -> bool {
        let (title, text) = &self.found[passage];
        let has = |term: usize| title.contains(&term) || text.iter().any(|(_, found)| *found == term);
        (0..self.query.terms.len()).all(|term| !self.query.terms[term].is_needed || has(term))
    }

    /// Returns the words that the query needs and no passage has.
    pub fn missing(&self) -> Vec<&'a str> {
        let mut has = vec![false; self.query.terms.len()];
        for (title, text) in &self.found {
            title.iter().chain(text.iter().map(|(_, term)| term)).for_each(|term| has[*term] = true);
        }
        let terms = self.query.terms.iter().zip(has);
        terms.filter(|(term, has)| term.is_needed && !has).map(|(term, _)| &*term.text).collect()
    }

    fn put_repetitions_back(&self, ranked: &mut [RankedPassage]) {
        let best = ranked.len().min(COMPARED);
        let terms: Vec<Vec<u32>> = ranked[..best]
            .par_iter()
            .map(|found| {
                let mut terms = terms::terms(&self.passages[found.passage].text);
                terms.sort_unstable();
                terms
            })
            .collect();
        let mut said: Vec<usize> = Vec::new();
        for (place, found) in ranked[..best].iter_mut().enumerate() {
            if said.iter().any(|other| likeness(&terms[place], &terms[*other]) > SAME) {
                found.score *= REPEATED;
            } else {
                said.push(place);
            }
        }
        sort(ranked);
    }

    /// Returns the stretches with any of the words, best first: each is worth its words, its names, and less if those before it have
    /// the same names. `priors` are added to the worth of the stretches of each passage, in shares of the query; none if empty. `known`
    /// are texts that the reader has.
    pub fn stretches(&self, priors: &[f32], known: &[&str]) -> Vec<Stretch> {
        let mut lists = vec![Vec::new(); self.query.terms.len()];
        let mut stretches: Vec<(usize, Range<usize>)> = Vec::new();
        let mut all = 0;
        for (passage, (title, found)) in self.found.iter().enumerate() {
            let text = &self.passages[passage].text;
            all += text.len() / STRETCH_BYTES + 1;
            let mut at = 0;
            for place in divide(text) {
                let until = at + found[at..].iter().take_while(|(start, _)| *start < place.end).count();
                // A passage that only its title names begins with what it is about.
                let of_title = if place.start == 0 { title.as_slice() } else { &[] };
                let mut counts: Vec<(usize, f32)> = Vec::new();
                for term in found[at..until].iter().map(|(_, term)| term).chain(of_title) {
                    match counts.iter_mut().find(|(known, _)| known == term) {
                        Some((_, count)) => *count += 1.0,
                        None => counts.push((*term, 1.0)),
                    }
                }
                at = until;
                if counts.is_empty() {
                    if at == found.len() {
                        break;
                    }
                    continue;
                }
                for (term, count) in counts {
                    lists[term].push((stretches.len() as u32, [0.0, count, 0.0]));
                }
                stretches.push((passage, place));
            }
        }
        let (found, weights) = scores(self.query, &lists, all as u32, &STRETCHES);
        let needed: f32 = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let valued = found.iter().take(VALUED).map(|found| {
            let (passage, place) = stretches[found.turn as usize].clone();
            let names = names_of(&self.passages[passage].text[place.clone()]);
            let worth = found.score / needed
                + NAMES_WORTH * names.len().min(NAMES) as f32 / NAMES as f32
                + priors.get(passage).copied().unwrap_or_default();
            Valued { passage, place, worth, names }
        });
        let mut pool: Vec<Valued<'_>> = valued.collect();
        pool.sort_by(|one, other| {
            other.worth.total_cmp(&one.worth).then((one.passage, one.place.start).cmp(&(other.passage, other.place.start)))
        });
        pool.truncate(POOL);
        self.cover(pool, known)
    }

    /// Orders stretches by what each adds to those before it.
    fn cover<'s>(&'s self, mut pool: Vec<Valued<'s>>, known: &[&'s str]) -> Vec<Stretch> {
        let mut printed_names: FxHashSet<&str> = known.iter().flat_map(|text| names_of(text)).collect();
        let mut printed_lines: FxHashSet<&str> = FxHashSet::default();
        let mut chosen = Vec::new();
        while let Some(Valued { passage, place, names, .. }) = take_best(&mut pool, |stretch| {
            let new = stretch.names.iter().filter(|name| !printed_names.contains(*name)).count() as f32;
            let share = if stretch.names.is_empty() { 0.5 } else { new / stretch.names.len() as f32 };
            stretch.worth * (1.0 - KNOWN_SHARE + KNOWN_SHARE * share)
        }) {
            let text = &self.passages[passage].text;
            let is_new = |line: &Range<usize>| is_telling(&text[line.clone()]) && printed_lines.insert(text[line.clone()].trim());
            let new: Vec<Range<usize>> = lines(text, place).filter(is_new).collect();
            printed_names.extend(names);
            if !new.is_empty() {
                chosen.push(Stretch { passage, lines: new });
            }
        }
        chosen
    }
}

/// Removes the element with the greatest value, of equal ones the first; `None` if there are none.
pub(super) fn take_best<T>(pool: &mut Vec<T>, value: impl Fn(&T) -> f32) -> Option<T> {
    let values: Vec<f32> = pool.iter().map(value).collect();
    let best = (0..pool.len()).max_by(|one, other| values[*one].total_cmp(&values[*other]).then(other.cmp(one)))?;
    Some(pool.remove(best))
}

/// A stretch that is compared with others.
struct Valued<'a> {
    passage: usize,
    place: Range<usize>,
    worth: f32,
    names: Vec<&'a str>,
}

fn sort(ranked: &mut [RankedPassage]) {
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.passage.cmp(&other.passage)));
}

/// Returns true if a line has two letters or digits beside each other: others are brackets and marks.
fn is_telling(line: &str) -> bool {
    without_line_number(line)
        .as_bytes()
        .windows(2)
        .any(|pair| pair.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80))
}

fn find(matcher: &Matcher<'_>, passage: &Passage<'_>) -> Occurring {
    let (mut title, mut text) = (Vec::new(), Vec::new());
    matcher.find(&passage.title, |term, _, _| title.push(term));
    matcher.find(&passage.text, |term, place, _| text.push((place.start, term)));
    text.sort_unstable();
    (title, text)
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

/// Divides a text into stretches of about [`STRETCH_BYTES`], at the ends of lines where it can.
fn divide(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let from = start;
        let most = text.ceil_char_boundary((start + STRETCH_BYTES).min(text.len()));
        let least = text.ceil_char_boundary((start + STRETCH_BYTES / 2).min(text.len()));
        start = if most == text.len() {
            most
        } else {
            let after = |found: Option<usize>, length: usize| found.map(|at| least + at + length);
            let part = &text[least..most];
            after(part.rfind('\n'), 1)
                .or_else(|| after(part.rfind("\\n"), 2))
                .or_else(|| after(part.rfind(' '), 1))
                .unwrap_or(most)
        };
        Some(from..start)
    })
}

fn lines(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let start = part.start;
    let part = &text[part];
    part.split('\n').map(move |line| {
        let from = start + (line.as_ptr() as usize - part.as_ptr() as usize);
        from..from + line.trim_end().len()
    })
}

/// Returns the lines of stretches, with a mark and a number where others are left out, by passage, in the order of first stretches.
pub fn print(passages: &[Passage<'_>], stretches: &[Stretch]) -> Vec<(usize, String)> {
    let mut order: Vec<usize> = Vec::new();
    for stretch in stretches {
        if !order.contains(&stretch.passage) {
            order.push(stretch.passage);
        }
    }
    let printed = |passage: usize| {
        let of_passage = stretches.iter().filter(|stretch| stretch.passage == passage);
        let mut shown: Vec<Range<usize>> = of_passage.flat_map(|stretch| stretch.lines.iter().cloned()).collect();
        shown.sort_unstable_by_key(|line| line.start);
        (passage, print_lines(&passages[passage].text, &shown))
    };
    order.into_iter().map(printed).collect()
}

fn print_lines(text: &str, shown: &[Range<usize>]) -> String {
    let mut printed = String::new();
    let mut end = 0;
    for line in shown {
        print_gap(&text[end.min(line.start)..line.start], &mut printed);
        printed.push_str(&text[line.clone()]);
        printed.push('\n');
        end = line.end;
    }
    print_gap(&text[end..], &mut printed);
    printed
}

fn print_gap(left_out: &str, printed: &mut String) {
    match left_out.trim_matches('\n').lines().filter(|line| !line.trim().is_empty()).count() {
        0 => {}
        1 => printed.push_str("[…]\n"),
        lines => printed.push_str(&format!("[… {lines} lines]\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::excerpt::PassageKind;
    use super::*;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    fn passages<'a>(texts: &[(&'a str, &'a str)]) -> Vec<Passage<'a>> {
        let passage = |(title, text): &(&'a str, &'a str)| Passage {
            kind: PassageKind::Result,
            title: (*title).into(),
            text: (*text).into(),
        };
        texts.iter().map(passage).collect()
    }

    fn check(query: &str, texts: &[(&str, &str)], expected: &[usize]) {
        let (query, passages) = (Query::of_text(query), passages(texts));
        let found: Vec<usize> = Occurrences::new(&query, &passages).ranked(&[]).iter().map(|found| found.passage).collect();
        assert_eq!(found, expected, "{query:?}");
    }

    fn printed(query: &str, texts: &[(&str, &str)]) -> Vec<(usize, String)> {
        let (query, passages) = (Query::of_text(query), passages(texts));
        print(&passages, &Occurrences::new(&query, &passages).stretches(&[], &[]))
    }

    #[test]
    fn passages_are_ordered_by_their_words() {
        let texts = [("", "the parser fails"), ("", "the parser works"), ("", "a cache of rows"), ("", "nothing of it")];
        check("why does the parser lose cache rows", &texts, &[2, 0, 1]);
        check("unheard", &texts, &[]);
        check("", &texts, &[]);
        // An identifier is found by itself and by its parts.
        let texts = [("", "let row = parse(line)"), ("", "fn parse_row()"), ("", "parseRow()")];
        check("parsing rows", &texts, &[0, 1, 2]);
        check("parse_row", &texts, &[1, 0, 2]);
        // The title counts more than the text.
        let texts =
            [("Bash make", "see src/heat.rs"), ("Read src/heat.rs", "fn main() {}"), ("Read src/cold.rs", "fn main() {}")];
        check("heat", &texts, &[1, 0]);
        // A text that repeats a better one is put back.
        let long = "cache_segment is read\nsegment_bytes are counted\nload_segments in parallel\n";
        let again = format!("{long}and one more line of text");
        check("cache segment", &[("", &again), ("", long), ("", "a segment of the cache")], &[0, 2, 1]);
    }

    #[test]
    fn whole_lines_around_the_words_are_shown_and_others_counted() {
        let before = "let unrelated = 1;\n".repeat(30);
        let text = format!("{before}fn price_of(row: &Row) {{\n    row.price\n}}\n{}", "let another = 2;\n".repeat(30));
        let found = printed("price of rows", &[("", &text)]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].1.starts_with("[… 3") && found[0].1.contains("fn price_of(row: &Row) {\n    row.price\n"),
            "{}",
            found[0].1
        );
        assert!(found[0].1.ends_with(" lines]\n"), "{}", found[0].1);
    }

    #[test]
    fn of_a_passage_that_only_its_title_names_the_beginning_is_shown() {
        let found = printed("heat", &[("Read src/heat.rs", "fn main() {}\nfn other() {}")]);
        assert_eq!(found, [(0, "fn main() {}\nfn other() {}\n".to_owned())]);
    }

    #[test]
    fn a_line_is_shown_once() {
        let found = printed("price", &[("", "the price of a row"), ("", "the price of a row\nthe price of all rows")]);
        let lines: Vec<&str> = found.iter().flat_map(|(_, text)| text.lines()).filter(|line| line.contains("a row")).collect();
        assert_eq!(lines.len(), 1, "{found:?}");
    }

    proptest! {
        #[test]
        fn any_texts_are_ranked(query in any::<String>(), texts in proptest::collection::vec(any::<String>(), 0..8)) {
            let texts: Vec<(&str, &str)> = texts.iter().map(|text| (query.as_str(), text.as_str())).collect();
            let (query, passages) = (Query::of_text(&query), passages(&texts));
            let found = Occurrences::new(&query, &passages);
            let ranked = found.ranked(&[]);
            prop_assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
            prop_assert!(ranked.iter().all(|found| found.score.is_finite() && found.score > 0.0));
            prop_assert_eq!(&found.ranked(&[]), &ranked);
        }

        #[test]
        fn stretches_are_whole_lines_in_their_places(text in "(parse |[a-c_]{1,90}|ü|\\n|[0-9]→){0,80}") {
            let (query, passages) = (Query::of_text("parse"), passages(&[("", &text)]));
            let mut seen = FxHashSet::default();
            for stretch in Occurrences::new(&query, &passages).stretches(&[], &[]) {
                prop_assert!(stretch.lines.is_sorted_by(|a, b| a.end <= b.start));
                for line in stretch.lines {
                    prop_assert!(seen.insert(text[line].trim()));
                }
            }
        }
    }
}
