//! Selects the pieces of many texts to keep: as much as possible of what the agent will need, in as few bytes as possible.
//!
//! A name or a line is worth the probability that it is needed, counted once: the worth of a piece is that of the content that no
//! other kept piece shows. A name is never kept without its line: a list of names tells a reader nothing. This is budgeted maximum
//! coverage. The greedy choice of the piece with the highest worth per byte reaches at least 1 − 1/√e of the optimum (Khuller, Moss and
//! Naor 1999; for summaries Lin and Bilmes 2010). Worths only decrease as more is shown, so a piece is re-evaluated only when it reaches
//! the head of the queue (Minoux 1978).

use crate::engine::reduce::{ALWAYS, KeptPieces, Line, Piece, names, without_number};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Base worth of any readable line.
const READABLE: f32 = 1e-7;

/// Bytes that a kept piece costs in addition to its own: its line break, and a share of the mark of the gap before it.
const PIECE_BYTES: f32 = 8.0;
/// The cost of a piece that only repeats the form of one before, relative to others.
const AGAIN_COST: f32 = 4.0;

/// The pieces of one text, and their weights.
pub struct Text<'a> {
    pub pieces: &'a [Piece<'a>],
    /// The probability that the agent quotes one of its lines.
    pub line: f32,
    /// Weight of its words relative to the words of a tool.
    pub weight: f32,
    /// True if it is shown as an extract, without numbers and indentation of lines.
    pub is_extract: bool,
}

/// Chosen pieces, the highest worth per byte first.
pub struct Selection {
    /// Number of pieces of each text.
    sizes: Vec<usize>,
    chosen: Vec<Choice>,
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    worth: f32,
    text: u32,
    piece: u32,
}

struct Item {
    text: u32,
    piece: u32,
    cost: f32,
    salience: f32,
    terms: Range<u32>,
    chosen: bool,
}

/// The terms met so far, by the index that each has in the list of chances.
#[derive(Default)]
struct KnownTerms {
    ids: FxHashMap<u32, u32>,
    /// True if the worth of the name was computed.
    named: Vec<bool>,
}

struct Items<'a> {
    texts: &'a [Text<'a>],
    items: Vec<Item>,
    terms: Vec<u32>,
    chances: Vec<f32>,
    shown: Vec<bool>,
    /// Index of the first item of each text.
    starts: Vec<u32>,
}

/// Selects among the pieces of texts. `chance` returns the probability that a name is needed; terms in `shown` are worth nothing.
pub fn select(texts: &[Text<'_>], chance: &(dyn Fn(u32) -> f32 + Sync), shown: &FxHashSet<u32>) -> Selection {
    let mut items = Items::new(texts, chance, shown);
    // Worths are not negative, so that their bits have their order. Of equal candidates the later one is chosen: it is current.
    let mut queue: BinaryHeap<(u32, u32)> =
        (0..items.items.len() as u32).map(|item| (items.worth(item).to_bits(), item)).collect();
    let mut chosen = Vec::new();
    let mut least = f32::INFINITY;
    while let Some((before, item)) = queue.pop() {
        if items.items[item as usize].chosen {
            continue;
        }
        let worth = items.worth(item);
        if worth <= 0.0 {
            continue;
        }
        let rank = worth.to_bits();
        if rank < before && queue.peek().is_some_and(|(next, _)| *next > rank) {
            queue.push((rank, item));
            continue;
        }
        least = least.min(worth);
        items.choose(item, least, &mut chosen);
    }
    Selection { sizes: texts.iter().map(|text| text.pieces.len()).collect(), chosen }
}

impl<'a> Items<'a> {
    fn new(texts: &'a [Text<'a>], chance: &(dyn Fn(u32) -> f32 + Sync), shown: &FxHashSet<u32>) -> Items<'a> {
        let found = texts.par_iter().map(|text| text.pieces.iter().map(|piece| names(&piece.text)).collect::<Vec<_>>());
        let found: Vec<Vec<_>> = found.collect();
        let mut all =
            Items { texts, items: Vec::new(), terms: Vec::new(), chances: Vec::new(), shown: Vec::new(), starts: Vec::new() };
        let mut known = KnownTerms::default();
        for (text, found) in found.into_iter().enumerate() {
            all.starts.push(all.items.len() as u32);
            for (piece, (names, line)) in found.into_iter().enumerate() {
                let terms = all.add_terms((text, piece), (names, line), &mut known, chance, shown);
                let Piece { text: words, salience, held, again, .. } = &texts[text].pieces[piece];
                let shown = if texts[text].is_extract { without_number(words).trim() } else { words };
                let bytes = shown.len() as f32 + PIECE_BYTES;
                all.items.push(Item {
                    text: text as u32,
                    piece: piece as u32,
                    cost: if *again { bytes * AGAIN_COST } else { bytes },
                    salience: if words.trim().is_empty() { 0.0 } else { salience + READABLE },
                    terms,
                    chosen: *held,
                });
            }
        }
        // Held parts are kept in any case, so their terms need not be shown again.
        for item in all.items.iter().filter(|item| item.chosen) {
            for id in &all.terms[item.terms.start as usize..item.terms.end as usize] {
                all.shown[*id as usize] = true;
            }
        }
        all
    }

    /// Adds the terms of a piece, its names and its line; returns their range in the list of terms.
    fn add_terms(
        &mut self,
        (text, piece): (usize, usize),
        (names, line): (Vec<u32>, Option<Line>),
        known: &mut KnownTerms,
        chance: &(dyn Fn(u32) -> f32 + Sync),
        shown: &FxHashSet<u32>,
    ) -> Range<u32> {
        let from = self.terms.len() as u32;
        let texts = self.texts;
        let Piece { again, nameless, .. } = texts[text].pieces[piece];
        let quotable = |line: &Line| line.quotable && !again && !nameless;
        let line = line.map(|line| (line.term, Some(if quotable(&line) { texts[text].line } else { READABLE })));
        let names = if nameless { Vec::new() } else { names };
        let names = names.into_iter().map(|term| (term, None));
        for (term, worth) in names.chain(line) {
            let id = *known.ids.entry(term).or_insert_with(|| {
                self.chances.push(0.0);
                self.shown.push(shown.contains(&term));
                known.named.push(false);
                self.chances.len() as u32 - 1
            });
            // The worth of a name is computed once; a line can be worth more in another text.
            let asked = worth.is_some() || std::mem::replace(&mut known.named[id as usize], true);
            let worth = worth.unwrap_or_else(|| if asked { 0.0 } else { chance(term) });
            let most = &mut self.chances[id as usize];
            *most = most.max(worth);
            if !self.terms[from as usize..].contains(&id) {
                self.terms.push(id);
            }
        }
        from..self.terms.len() as u32
    }

    /// Returns the piece that must be kept with another one, unless it is already kept.
    fn under(&self, item: &Item) -> Option<u32> {
        let under = self.texts[item.text as usize].pieces[item.piece as usize].under?;
        let under = self.starts[item.text as usize] + under as u32;
        (!self.items[under as usize].chosen).then_some(under)
    }

    /// Returns the worth per byte that an item adds to the chosen ones.
    fn worth(&self, item: u32) -> f32 {
        let item = &self.items[item as usize];
        let news: f32 = self.news(item).map(|id| self.chances[id as usize]).sum();
        let cost = item.cost + self.under(item).map_or(0.0, |under| self.items[under as usize].cost);
        // A line whose names all occur elsewhere also has no worth of its own.
        let salience = if news > 0.0 || item.terms.is_empty() || item.salience >= ALWAYS { item.salience } else { 0.0 };
        (salience + news) * self.texts[item.text as usize].weight / cost
    }

    fn news(&self, item: &Item) -> impl Iterator<Item = u32> {
        let terms = &self.terms[item.terms.start as usize..item.terms.end as usize];
        terms.iter().copied().filter(|id| !self.shown[*id as usize])
    }

    fn choose(&mut self, item: u32, worth: f32, chosen: &mut Vec<Choice>) {
        if let Some(under) = self.under(&self.items[item as usize]) {
            self.choose(under, worth, chosen);
        }
        self.items[item as usize].chosen = true;
        let Item { text, piece, terms, .. } = &self.items[item as usize];
        for place in terms.clone() {
            let id = self.terms[place as usize];
            self.shown[id as usize] = true;
        }
        chosen.push(Choice { worth, text: *text, piece: *piece });
    }
}

impl Selection {
    /// Returns the number of choices that are worth at least `worth` per byte: the probability that the agent needs the shown
    /// content.
    pub fn worth_at_least(&self, worth: f32) -> usize {
        self.chosen.partition_point(|choice| choice.worth >= worth)
    }

    pub fn choices(&self) -> usize {
        self.chosen.len()
    }

    /// Returns the number of first choices that have about `bytes` bytes. `length` returns the length of each piece of a text.
    pub fn within(&self, bytes: usize, length: &dyn Fn(usize, usize) -> usize) -> usize {
        let lengths = self.chosen.iter().map(|choice| length(choice.text as usize, choice.piece as usize) + 1);
        let mut left = bytes;
        lengths.take_while(|length| left.checked_sub(*length).map(|rest| left = rest).is_some()).count()
    }

    /// Returns the first choices, by text.
    pub fn first(&self, count: usize) -> Vec<KeptPieces> {
        let mut kept: Vec<KeptPieces> = self.sizes.iter().map(|pieces| KeptPieces::none(*pieces)).collect();
        for choice in &self.chosen[..count.min(self.chosen.len())] {
            kept[choice.text as usize].pieces[choice.piece as usize] = true;
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the indexes of the kept lines of a content if all lines with any worth are kept.
    fn kept(pieces: &[Piece<'_>], chance: f32) -> Vec<usize> {
        let texts = [Text { pieces, line: 0.001, weight: 1.0, is_extract: false }];
        let selection = select(&texts, &|_| chance, &FxHashSet::default());
        let kept = selection.first(selection.worth_at_least(0.0));
        (0..pieces.len()).filter(|place| kept[0].pieces[*place]).collect()
    }

    #[test]
    fn lines_that_differ_in_a_figure_stay_where_anything_does() {
        let line = |text, again| Piece { again, ..Piece::line(std::borrow::Cow::Borrowed(text)) };
        let pieces = [line("took 12 ms in all", false), line("took 13 ms in all", true), line("took 12 ms in all", true)];
        assert_eq!(kept(&pieces, 0.01).len(), 2);
    }

    #[test]
    fn pieces_that_always_stay_need_no_new_names() {
        let line = |salience| Piece { salience, ..Piece::line(std::borrow::Cow::Borrowed("*** Update File: a_b.rs")) };
        assert_eq!(kept(&[line(ALWAYS), line(0.1), line(ALWAYS)], 0.01), [0, 2]);
    }

    #[test]
    fn the_choices_within_a_number_of_bytes_are_counted() {
        let choice = |piece| Choice { worth: 1.0, text: 0, piece };
        let selection = Selection { chosen: vec![choice(1), choice(2), choice(0)], sizes: vec![3] };
        // With separators: lines of 4 + 1, 7 + 1 and 2 + 1 bytes.
        let lengths = [2, 4, 7];
        for (bytes, choices) in [(0, 0), (4, 0), (5, 1), (12, 1), (13, 2), (15, 2), (16, 3), (1000, 3)] {
            assert_eq!(selection.within(bytes, &|_, piece| lengths[piece]), choices, "{bytes}");
        }
    }
}
