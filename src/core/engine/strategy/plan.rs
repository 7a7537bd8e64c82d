//! A plan for a whole window: selects the most valuable pieces of all old contents.

use super::level::{Context, Levels};
use super::need::Need;
use super::select::{Selection, Text, select};
use crate::engine::content::terms::terms;
use crate::engine::cost::tokens::estimate;
use crate::engine::reduce::{KeptPieces, Outline, Reducible, SUMMARIZED_TOKENS, bare, outline};
use crate::engine::sidecar::{SourceText, kept_lines};
use crate::engine::{Analysis, hint, marker};
use crate::model::{Block, BlockKind, BlockNumber, Conventions, Key, Level, Outdated, Role};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

/// Weight of a tool's input relative to results and dialogue: a line that also occurs in a result is kept there, with its number
/// and unescaped.
const INPUT: f32 = 0.2;
/// Weight of the probability that a line is quoted, beside those of its names.
const LINE: f32 = 0.5;
/// Weight of the newest part relative to the rest.
const NEWEST: f32 = 2.0;
/// Minimum saving in bytes for a change to be worth its marker line: about twenty tokens.
const SAVED_BYTES: usize = 80;
/// Bytes of kept lines below which a description of the content says more.
const LEAST_LEFT_BYTES: usize = 60;
/// Minimum saving in bytes for changing a shortened block again.
const LEAST_SAVED_BYTES: usize = 120;

/// Number of parts into which the choices are divided to meet a budget.
const PRECISION: usize = 200;

/// A block that may be shortened.
pub struct Subject<'a> {
    /// The block before its first change by aperture, with its current number and position.
    pub block: &'a Block,
    /// The texts and names by which clients mark what they add to contents.
    pub conventions: &'a Conventions,
    pub content: &'a str,
    pub tokens: f64,
    /// Short description, if the block before it in the window does not give it.
    pub label: String,
    pub why: Why,
    /// True if it belongs to the newest part.
    pub newest: bool,
    /// The remainder after an earlier change, if the block was shortened before.
    pub left: Option<Left<'a>>,
    /// The parts of the content that are kept at every level, as byte ranges in order.
    pub held: Vec<(u32, u32)>,
    /// The text of a local model for the level `summarized`.
    pub written: Option<&'a str>,
}

/// The remainder of a block after an earlier change.
#[derive(Clone, Copy)]
pub struct Left<'a> {
    pub tokens: f64,
    pub bytes: usize,
    pub readable: &'a str,
}

impl<'a> Subject<'a> {
    pub fn input(&self) -> Reducible<'_> {
        let block = self.block;
        Reducible {
            kind: block.kind,
            tool: block.tool.as_deref(),
            error: block.error,
            media: &block.media,
            conventions: self.conventions,
            content: self.content,
            held: &self.held,
        }
    }

    /// Returns the marker line at a level. If no line of the content is kept, it describes the content.
    pub fn marker(&self, level: Level, bare: bool) -> String {
        let bare = bare || matches!(level, Level::Minimal | Level::Archived);
        // Content that is repeated elsewhere needs no description.
        let label = marker::part_of(&self.label, marker::LABEL_CHARACTERS);
        let characters = marker::HINT_CHARACTERS - label.chars().count();
        let hint = if bare && !self.why.stands_again { hint(&self.input(), characters) } else { String::new() };
        let line = marker::Line {
            number: self.block.number,
            tokens: self.tokens,
            label: if bare { &label } else { "" },
            reason: &self.why.reason,
            hint: &hint,
        };
        marker::line(level, &line)
    }
}

impl Subject<'_> {
    /// Returns the rest of the block at a level; `None` if it would hardly be shorter.
    pub fn at_level(&self, level: Level, context: &Context<'_>) -> Option<String> {
        let [left] = self.at_levels([level], context);
        left
    }

    /// Returns the rest of the block at several levels, as [`Subject::at_level`] does.
    pub fn at_levels<const N: usize>(&self, levels: [Level; N], context: &Context<'_>) -> [Option<String>; N] {
        let apart = Levels::new(&self.input(), context);
        levels.map(|level| {
            let by_rules = apart.as_ref().and_then(|apart| apart.at(level, &|bare| self.marker(level, bare)));
            if level == Level::Summarized
                && let Some(content) = self.written.and_then(|text| self.with_written(text))
                && by_rules.as_deref().is_none_or(|kept| SourceText::new(&content).has_facts_of(kept))
            {
                return Some(content);
            }
            by_rules.filter(|content| self.is_worth(content))
        })
    }

    /// Returns the text of a model after the marker line, with the lines that stay beside it; `None` if that is too long.
    fn with_written(&self, text: &str) -> Option<String> {
        let kept = kept_lines(self.block, self.content, text);
        let content =
            [self.marker(Level::Summarized, false), text.to_owned()].into_iter().chain(kept).collect::<Vec<_>>().join("\n");
        // The lines that stay may be as long as a text by rules.
        (self.is_worth(&content) && estimate(&content) <= 2.0 * SUMMARIZED_TOKENS).then_some(content)
    }

    /// Returns true if a content is shorter than the current one of a shortened block, by more than the cost of changing it again.
    fn is_shorter_than_now(&self, content: &str) -> bool {
        self.left.is_none_or(|left| content.len() + LEAST_SAVED_BYTES <= left.bytes)
    }

    /// Returns true if a content is enough shorter to be worth the replacement.
    fn is_worth(&self, content: &str) -> bool {
        let saved = self.content.len().saturating_sub(content.len());
        match self.block.media.is_empty() {
            true => saved >= SAVED_BYTES && saved * 10 > self.content.len(),
            // The tokens of an image or a document do not depend on its placeholder; newer models need up to twice the estimate for a line.
            false => estimate(content) * 2.0 < self.tokens,
        }
    }
}

/// Returns the blocks at the end of a window that hold the given percentage of its tokens. Shortened blocks count with their
/// original size and thinking does not count, so that a change of the window does not change its newest part. The counted size is
/// limited to the capacity of the model.
pub fn newest(reading: &Analysis, percent: f64) -> FxHashSet<BlockNumber> {
    let size = |block: &Block| match block.kind {
        BlockKind::Thinking => 0.0,
        _ if block.level == Level::Original => block.tokens.value,
        _ => block.marker.map_or(block.tokens.value, |marker| marker.tokens.max(block.tokens.value)),
    };
    let all: f64 = reading.price.outside.value + reading.in_window().map(size).sum::<f64>();
    let most = reading.price.total.value.max(reading.capacity.tokens as f64);
    let mut left = all.min(most) * percent / 100.0;
    let newest = reading.window.blocks.iter().rev().filter_map(|number| reading.block(*number)).take_while(|block| {
        left -= size(block);
        left >= 0.0
    });
    newest.map(|block| block.number).collect()
}

/// The reason for shortening a block, for its marker line.
#[derive(Clone, Debug, Default)]
pub struct Why {
    /// The reason in a few words. Empty if the block is only old.
    pub reason: String,
    /// True if another block has the same content, or a newer one of its kind.
    pub stands_again: bool,
}

/// Returns the reason why a block is old.
pub fn why_old(block: &Block) -> Why {
    block.usefulness.outdated.map(why).unwrap_or_default()
}

/// Returns the words for a reason.
pub fn why((outdated, by): (Outdated, BlockNumber)) -> Why {
    let words = match outdated {
        Outdated::Duplicate => "same as",
        Outdated::ReadAgain => "read again in",
        Outdated::RunAgain => "run again in",
        Outdated::Replaced => "replaced by",
        Outdated::Succeeded => "succeeded in",
        Outdated::EditedLater => "edited in",
    };
    Why { reason: format!("{words} #{by}"), stands_again: matches!(outdated, Outdated::Duplicate | Outdated::Replaced) }
}

/// Rest of a block.
pub struct Shortened {
    pub number: BlockNumber,
    pub level: Level,
    /// The content, after its marker line.
    pub content: String,
}

/// The pieces of all subjects.
pub struct Outlined<'a> {
    subjects: &'a [Subject<'a>],
    outlines: Vec<(Outline<'a>, Range<usize>)>,
    places: Vec<usize>,
    texts: usize,
}

impl<'a> Outlined<'a> {
    /// Splits each content into pieces.
    pub fn new(subjects: &'a [Subject<'a>]) -> Outlined<'a> {
        let found: Vec<Option<Outline<'a>>> = subjects.par_iter().map(|subject| outline(&subject.input())).collect();
        let mut all = Outlined { subjects, outlines: Vec::new(), places: Vec::new(), texts: 0 };
        for (place, outline) in found.into_iter().enumerate() {
            if let Some(outline) = outline {
                let texts = all.texts..all.texts + outline.texts().len();
                all.texts = texts.end;
                all.outlines.push((outline, texts));
                all.places.push(place);
            }
        }
        all
    }

    /// Ranks the pieces by worth, the highest first. The rest of the window is kept, so its content need not be shown again.
    pub fn weigh(&self, reading: &Analysis) -> Selection {
        // The terms of the original block count, and not those of a shortened one: the result is then the same when it is computed
        // again.
        let originals = self.subjects.iter().filter_map(|subject| Some((subject.block.number, terms(subject.left?.readable))));
        let need = Need::with_originals(reading, &originals.collect());
        let numbers: FxHashSet<BlockNumber> = self.subjects.iter().map(|subject| subject.block.number).collect();
        // Client insertions may be gone after the next start of the session, thinking may be left out, and lines in tool input are
        // escaped.
        let stays = |block: &&Block| {
            !matches!(block.role, Role::System | Role::Thinking | Role::ToolUse) && !numbers.contains(&block.number)
        };
        let others = reading.in_window().filter(stays);
        let shown: FxHashSet<u32> = others.flat_map(|block| block.terms.iter().copied()).collect();
        let texts: Vec<Text<'_>> = self
            .outlines
            .iter()
            .zip(&self.places)
            .flat_map(|((outline, _), place)| {
                let subject = &self.subjects[*place];
                let line = LINE * need.of_line(subject.block);
                let weight = if subject.block.role == Role::ToolUse { INPUT } else { 1.0 };
                let weight = if subject.newest { weight * NEWEST } else { weight };
                outline.texts().map(move |pieces| Text { pieces, line, weight, is_extract: false })
            })
            .collect();
        select(&texts, &|term| need.of_name(term), &shown)
    }

    /// Returns the first choices of a selection that save at least the given tokens, in tokens of the originals. The block `lead`
    /// is shortened in any case.
    /// Errors: less can be saved: the smallest possible rest.
    pub fn saving(
        &self,
        selection: &Selection,
        tokens: f64,
        lead: Option<BlockNumber>,
    ) -> Result<Vec<KeptPieces>, Vec<KeptPieces>> {
        let lead = lead.and_then(|number| self.lead(selection, number));
        let first = |count: usize| {
            let mut kept = selection.first(count);
            if let Some((texts, pieces, most)) = &lead
                && count > *most
            {
                kept[texts.clone()].clone_from_slice(pieces);
            }
            kept
        };
        let mut best = first(0);
        if self.saved(&best) < tokens {
            return Err(best);
        }
        let (mut fitting, mut beyond) = (0, selection.choices() + 1);
        while beyond - fitting > 1 + fitting / PRECISION {
            let middle = fitting + (beyond - fitting) / 2;
            let kept = first(middle);
            if self.saved(&kept) >= tokens {
                (fitting, best) = (middle, kept);
            } else {
                beyond = middle;
            }
        }
        if beyond > selection.choices() {
            let all = first(selection.choices());
            if self.saved(&all) >= tokens {
                best = all;
            }
            self.leave_whole(&mut best, tokens, lead.as_ref().map(|(texts, ..)| texts.start));
        }
        Ok(best)
    }

    /// Keeps some blocks whole if removing worthless content saves more than needed: the largest savings that are not needed. The
    /// block with the text `lead` is shortened in any case.
    fn leave_whole(&self, kept: &mut [KeptPieces], tokens: f64, lead: Option<usize>) {
        let savings = self.savings(kept);
        let mut spare = savings.iter().map(|(_, saved)| saved).sum::<f64>() - tokens;
        let mut largest = savings;
        largest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (place, saved) in largest {
            let texts = self.outlines[place].1.clone();
            if saved > 0.0 && saved <= spare && lead.is_none_or(|lead| lead != texts.start) {
                spare -= saved;
                kept[texts].iter_mut().for_each(|kept| kept.whole = true);
            }
        }
    }

    /// Returns the texts of a block, the kept pieces at its mildest shortening, and the number of choices up to which it is
    /// shortened.
    fn lead(&self, selection: &Selection, number: BlockNumber) -> Option<(Range<usize>, Vec<KeptPieces>, usize)> {
        let place = self.places.iter().position(|place| self.subjects[*place].block.number == number)?;
        let texts = self.outlines[place].1.clone();
        let pieces = |count: usize| selection.first(count)[texts.clone()].to_vec();
        let is_shorter = |count: usize| self.shorten_subject(place, &pieces(count)).is_some();
        if !is_shorter(0) {
            return None;
        }
        let (mut shorter, mut whole) = (0, selection.choices() + 1);
        while whole - shorter > 1 {
            let middle = shorter + (whole - shorter) / 2;
            if is_shorter(middle) { shorter = middle } else { whole = middle }
        }
        Some((texts.clone(), pieces(shorter), shorter))
    }

    pub fn saved(&self, kept: &[KeptPieces]) -> f64 {
        self.savings(kept).into_iter().map(|(_, saved)| saved).sum()
    }

    /// Returns the saved tokens of each shortened block, by the index of its outline.
    fn savings(&self, kept: &[KeptPieces]) -> Vec<(usize, f64)> {
        let places = (0..self.outlines.len()).into_par_iter();
        let savings = places.filter_map(|place| {
            let shortened = self.shorten_subject(place, &kept[self.outlines[place].1.clone()])?;
            let subject = &self.subjects[self.places[place]];
            let left = estimate(&shortened.content) / estimate(subject.content).max(1.0);
            let now = subject.left.map_or(subject.tokens, |left| left.tokens);
            Some((place, now - subject.tokens * left))
        });
        savings.collect()
    }

    /// Returns true if the kept pieces belong to these texts, as far as can be checked without ranking them.
    pub fn fits(&self, kept: &[KeptPieces]) -> bool {
        let texts = self.outlines.iter().flat_map(|(outline, _)| outline.texts());
        kept.len() == self.texts && texts.zip(kept).all(|(pieces, kept)| kept.fits(pieces))
    }

    /// Returns the rest of the subjects with the kept pieces; omits subjects that would not get shorter.
    ///
    /// `kept` has one element for each text, as returned by [`Selection::first`].
    pub fn shortened(&self, kept: &[KeptPieces]) -> Vec<Shortened> {
        let outlines = (0..self.outlines.len()).into_par_iter();
        outlines.filter_map(|place| self.shorten_subject(place, &kept[self.outlines[place].1.clone()])).collect()
    }

    /// Shortens one subject by its outline; `None` if it would not get shorter.
    fn shorten_subject(&self, place: usize, kept: &[KeptPieces]) -> Option<Shortened> {
        let (outline, _) = &self.outlines[place];
        let subject = &self.subjects[self.places[place]];
        if kept.iter().any(|kept| kept.whole) {
            return None;
        }
        let bytes: usize = outline.texts().zip(kept).map(|(pieces, kept)| kept.bytes(pieces)).sum();
        let none = || outline.texts().map(|pieces| KeptPieces::none(pieces.len())).collect::<Vec<_>>();
        let kept = if bytes < LEAST_LEFT_BYTES { Cow::Owned(none()) } else { Cow::Borrowed(kept) };
        let left = outline.rendered(subject.content, &kept, "")?;
        let level = match () {
            () if kept.iter().all(KeptPieces::is_none) => Level::Minimal,
            () if estimate(&left) <= SUMMARIZED_TOKENS => Level::Summarized,
            () => Level::Trimmed,
        };
        let content = outline.marked(subject.content, &kept, left, &subject.marker(level, bare(&kept)))?;
        let worth = subject.is_worth(&content) && subject.is_shorter_than_now(&content);
        worth.then_some(Shortened { number: subject.block.number, level, content })
    }
}

/// Returns the key of a plan: equal for equal contents in equal positions, equal rules and an equal aim.
///
/// `aim` contains all other inputs of the plan.
pub fn plan_key(reading: &Analysis, subjects: &[Subject<'_>], aim: &impl Serialize) -> Option<Key> {
    let window: Vec<_> =
        reading.in_window().map(|block| (block.number, block.role, block.hash.0, block.position.step, &block.tool)).collect();
    let subjects: Vec<_> = subjects
        .par_iter()
        .map(|subject| {
            let content = Key::from_bytes(subject.content.as_bytes()).0;
            let held = &subject.held;
            (subject.block.number, content, subject.tokens.to_bits(), &subject.label, &subject.why.reason, subject.newest, held)
        })
        .collect();
    let all = (env!("CARGO_PKG_VERSION"), reading.steps, window, subjects, aim);
    Some(Key::from_bytes(&postcard::to_stdvec(&all).ok()?))
}
