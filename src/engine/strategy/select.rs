//! Selects the pieces of many texts to keep: as much as possible of what the agent will need, in as few bytes as possible.
//!
//! A name or a line is worth the probability that it is needed, counted once: the worth of a piece is that of the content that no
//! other kept piece shows. This is budgeted maximum coverage. The greedy choice of the piece with the highest worth per byte
//! reaches at least 1 − 1/√e of the optimum (Khuller, Moss and Naor 1999; for summaries Lin and Bilmes 2010). Worths only decrease
//! as more is shown, so a piece is re-evaluated only when it reaches the head of the queue (Minoux 1978).

use crate::engine::reduce::{ALWAYS, KeptPieces, Line, Name, Piece, names, whole_name};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Base worth of any readable line.
const READABLE: f32 = 1e-7;

/// Costs of keeping an item in addition to its own bytes, and the worth of a single name.
#[derive(Clone, Copy)]
pub struct Costs {
    /// Additional bytes of a piece.
    pub piece_bytes: f32,
    /// Additional bytes of a name.
    pub name_bytes: f32,
    /// Worth of a single name, as a share of its worth in its line.
    pub name_share: f32,
}

/// Costs for in-place selection: line break plus a share of the gap marker. A line in its place can be understood.
pub const IN_PLACE: Costs = Costs { piece_bytes: 12.0, name_bytes: 2.0, name_share: 0.35 };

/// The pieces of one text, and their weights.
pub struct Text<'a> {
    pub pieces: &'a [Piece<'a>],
    /// The probability that the agent quotes one of its lines.
    pub line: f32,
    /// Weight of its words relative to the words of a tool.
    pub weight: f32,
}

/// Chosen items, the highest worth per byte first: pieces, or names of pieces that were not chosen yet.
pub struct Selection {
    /// Number of pieces of each text.
    sizes: Vec<usize>,
    chosen: Vec<(f32, Choice)>,
    /// The terms of the pieces; each piece has a range.
    terms: Vec<u32>,
}

#[derive(Clone, Debug)]
enum Choice {
    Piece { text: u32, piece: u32, terms: Range<u32> },
    Name { text: u32, piece: u32, range: Range<usize>, term: u32 },
}

/// A candidate of the priority queue.
struct Candidate {
    worth: f32,
    item: u32,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equal candidates the later one is chosen, because it is current.
        self.worth.total_cmp(&other.worth).then(self.item.cmp(&other.item))
    }
}

/// A piece or a name that may be chosen.
struct Item {
    text: u32,
    piece: u32,
    /// Range of the name, if the item is a name.
    name: Option<Range<usize>>,
    cost: f32,
    salience: f32,
    /// Range in the list of terms.
    terms: Range<u32>,
    chosen: bool,
}

/// Last occurrence of a name, which is shown as a single name.
struct Place {
    text: u32,
    piece: u32,
    range: Range<usize>,
}

/// The terms met so far, by the index that each has in the list of chances.
#[derive(Default)]
struct KnownTerms {
    ids: FxHashMap<u32, u32>,
    /// The last occurrence of each as a name.
    places: Vec<Option<Place>>,
    /// True if the worth of the name was computed.
    named: Vec<bool>,
}

/// All items, and the terms in them.
struct Items<'a> {
    texts: &'a [Text<'a>],
    items: Vec<Item>,
    terms: Vec<u32>,
    chances: Vec<f32>,
    shown: Vec<bool>,
    name_share: f32,
    /// Index of the first item of each text.
    starts: Vec<u32>,
}

/// Selects among the pieces of texts. `chance` returns the probability that a name is needed; terms in `shown` are worth nothing.
pub fn select(texts: &[Text<'_>], chance: &(dyn Fn(u32) -> f32 + Sync), shown: &FxHashSet<u32>, costs: &Costs) -> Selection {
    let mut items = Items::new(texts, chance, shown, costs);
    let mut queue: BinaryHeap<Candidate> =
        (0..items.items.len() as u32).map(|item| Candidate { worth: items.worth(item), item }).collect();
    let mut chosen = Vec::new();
    let mut least = f32::INFINITY;
    while let Some(Candidate { worth: before, item }) = queue.pop() {
        if items.items[item as usize].chosen {
            continue;
        }
        let worth = items.worth(item);
        if worth <= 0.0 {
            continue;
        }
        if worth < before && queue.peek().is_some_and(|next| next.worth > worth) {
            queue.push(Candidate { worth, item });
            continue;
        }
        least = least.min(worth);
        items.choose(item, least, &mut chosen);
    }
    Selection { sizes: texts.iter().map(|text| text.pieces.len()).collect(), chosen, terms: items.terms }
}

impl<'a> Items<'a> {
    fn new(texts: &'a [Text<'a>], chance: &(dyn Fn(u32) -> f32 + Sync), shown: &FxHashSet<u32>, costs: &Costs) -> Items<'a> {
        let found = texts.par_iter().map(|text| text.pieces.iter().map(|piece| names(&piece.text)).collect::<Vec<_>>());
        let found: Vec<Vec<_>> = found.collect();
        let mut all = Items {
            texts,
            items: Vec::new(),
            terms: Vec::new(),
            chances: Vec::new(),
            shown: Vec::new(),
            name_share: costs.name_share,
            starts: Vec::new(),
        };
        let mut known = KnownTerms::default();
        for (text, found) in found.into_iter().enumerate() {
            all.starts.push(all.items.len() as u32);
            for (piece, (names, line)) in found.into_iter().enumerate() {
                let terms = all.add_terms((text, piece), (names, line), &mut known, chance, shown);
                let Piece { text: words, salience, held, .. } = &texts[text].pieces[piece];
                all.items.push(Item {
                    text: text as u32,
                    piece: piece as u32,
                    name: None,
                    cost: words.len() as f32 + costs.piece_bytes,
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
        all.add_names(known, costs);
        all
    }

    /// Adds the terms of a piece, its names and its line; returns their range in the list of terms.
    fn add_terms(
        &mut self,
        (text, piece): (usize, usize),
        (names, line): (Vec<Name>, Option<Line>),
        known: &mut KnownTerms,
        chance: &(dyn Fn(u32) -> f32 + Sync),
        shown: &FxHashSet<u32>,
    ) -> Range<u32> {
        let from = self.terms.len() as u32;
        let texts = self.texts;
        let Piece { again, nameless, .. } = texts[text].pieces[piece];
        let quotable = |line: &Line| line.quotable && !again && !nameless;
        let line = line.map(|line| (line.term, None, Some(if quotable(&line) { texts[text].line } else { READABLE })));
        let names = if nameless { Vec::new() } else { names };
        let names = names.into_iter().map(|name| (name.term, Some(name.range).filter(|_| name.alone), None));
        for (term, range, worth) in names.chain(line) {
            let id = *known.ids.entry(term).or_insert_with(|| {
                self.chances.push(0.0);
                self.shown.push(shown.contains(&term));
                known.places.push(None);
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
            if let Some(range) = range {
                known.places[id as usize] = Some(Place { text: text as u32, piece: piece as u32, range });
            }
        }
        from..self.terms.len() as u32
    }

    /// Adds an item for each name that can be shown alone. A path shows the names of its components.
    fn add_names(&mut self, known: KnownTerms, costs: &Costs) {
        let (texts, ids) = (self.texts, &known.ids);
        let places = known.places.into_par_iter().zip(&self.shown).map(|(place, shown)| {
            let place = place.filter(|_| !shown)?;
            let words = &texts[place.text as usize].pieces[place.piece as usize].text;
            let whole = whole_name(words, place.range.clone());
            let cost = whole.len() as f32 + costs.name_bytes;
            let within = names(&words[whole]).0.into_iter().filter_map(|name| ids.get(&name.term).copied()).collect();
            Some((place, cost, within))
        });
        let places: Vec<Option<(Place, f32, Vec<u32>)>> = places.collect();
        for (id, place) in places.into_iter().enumerate() {
            let Some((Place { text, piece, range }, cost, within)) = place else { continue };
            let from = self.terms.len() as u32;
            self.terms.push(id as u32);
            self.terms.extend(within.into_iter().filter(|other| *other != id as u32));
            let terms = from..self.terms.len() as u32;
            self.items.push(Item { text, piece, name: Some(range), cost, salience: 0.0, terms, chosen: false });
        }
    }

    /// Returns the piece that must be kept with another one, unless it is already kept.
    fn under(&self, item: &Item) -> Option<u32> {
        let under = self.texts[item.text as usize].pieces[item.piece as usize].under.filter(|_| item.name.is_none())?;
        let under = self.starts[item.text as usize] + under as u32;
        (!self.items[under as usize].chosen).then_some(under)
    }

    /// Returns the worth per byte that an item adds to the chosen ones.
    fn worth(&self, item: u32) -> f32 {
        let item = &self.items[item as usize];
        if item.name.is_some() && self.shown[self.terms[item.terms.start as usize] as usize] {
            return 0.0;
        }
        let news: f32 = self.news(item).map(|id| self.chances[id as usize]).sum();
        let share = if item.name.is_some() { self.name_share } else { 1.0 };
        let cost = item.cost + self.under(item).map_or(0.0, |under| self.items[under as usize].cost);
        // A line whose names all occur elsewhere also has no worth of its own.
        let salience = if news > 0.0 || item.terms.is_empty() || item.salience >= ALWAYS { item.salience } else { 0.0 };
        (salience + news) * share * self.texts[item.text as usize].weight / cost
    }

    fn news(&self, item: &Item) -> impl Iterator<Item = u32> {
        let terms = &self.terms[item.terms.start as usize..item.terms.end as usize];
        terms.iter().copied().filter(|id| !self.shown[*id as usize])
    }

    fn choose(&mut self, item: u32, worth: f32, chosen: &mut Vec<(f32, Choice)>) {
        if let Some(under) = self.under(&self.items[item as usize]) {
            self.choose(under, worth, chosen);
        }
        self.items[item as usize].chosen = true;
        let Item { text, piece, name, terms, .. } = &self.items[item as usize];
        let (text, piece) = (*text, *piece);
        let choice = match name {
            None => Choice::Piece { text, piece, terms: terms.clone() },
            Some(range) => Choice::Name { text, piece, range: range.clone(), term: self.terms[terms.start as usize] },
        };
        for place in terms.clone() {
            let id = self.terms[place as usize];
            self.shown[id as usize] = true;
        }
        chosen.push((worth, choice));
    }
}

impl Selection {
    /// Returns the number of choices that are worth at least `worth` per byte: the probability that the agent needs the shown
    /// content.
    pub fn worth_at_least(&self, worth: f32) -> usize {
        self.chosen.partition_point(|(known, _)| *known >= worth)
    }

    /// Returns the number of choices.
    pub fn choices(&self) -> usize {
        self.chosen.len()
    }

    /// Returns the number of first choices that have about `bytes` bytes. `length` returns the length of each piece of a text.
    pub fn within(&self, bytes: usize, length: &dyn Fn(usize, usize) -> usize) -> usize {
        let lengths = self.chosen.iter().map(|(_, choice)| match choice {
            Choice::Piece { text, piece, .. } => length(*text as usize, *piece as usize) + 1,
            Choice::Name { range, .. } => range.len() + 2,
        });
        let mut left = bytes;
        lengths.take_while(|length| left.checked_sub(*length).map(|rest| left = rest).is_some()).count()
    }

    /// Returns the first choices, by text.
    pub fn first(&self, count: usize) -> Vec<KeptPieces> {
        let mut kept: Vec<KeptPieces> = self.sizes.iter().map(|pieces| KeptPieces::none(*pieces)).collect();
        let chosen = &self.chosen[..count.min(self.chosen.len())];
        let mut shown: FxHashSet<u32> = FxHashSet::default();
        for (_, choice) in chosen {
            if let Choice::Piece { text, piece, terms } = choice {
                kept[*text as usize].pieces[*piece as usize] = true;
                shown.extend(&self.terms[terms.start as usize..terms.end as usize]);
            }
        }
        // A name is not repeated if its line was chosen later.
        for (_, choice) in chosen {
            if let Choice::Name { text, piece, range, term } = choice
                && !shown.contains(term)
            {
                kept[*text as usize].names.entry(*piece as usize).or_default().push(range.clone());
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the indexes of the kept lines of a content if all lines with any worth are kept.
    fn kept(pieces: &[Piece<'_>], chance: f32) -> Vec<usize> {
        let texts = [Text { pieces, line: 0.001, weight: 1.0 }];
        let selection = select(&texts, &|_| chance, &FxHashSet::default(), &IN_PLACE);
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
        let choice = |piece| (1.0, Choice::Piece { text: 0, piece, terms: 0..0 });
        let name = (1.0, Choice::Name { text: 0, piece: 2, range: 0..6, term: 0 });
        let selection = Selection { chosen: vec![choice(1), name, choice(0)], terms: Vec::new(), sizes: vec![3] };
        // With separators: a line of 4 + 1 bytes, a name of 6 + 2, a line of 2 + 1.
        let lengths = [2, 4, 50];
        for (bytes, choices) in [(0, 0), (4, 0), (5, 1), (12, 1), (13, 2), (15, 2), (16, 3), (1000, 3)] {
            assert_eq!(selection.within(bytes, &|_, piece| lengths[piece]), choices, "{bytes}");
        }
    }
}
