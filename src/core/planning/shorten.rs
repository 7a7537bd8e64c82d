//! Shortens and restores blocks, each from its original.

use super::budget::fit;
use super::draft::{Draft, SkipReason};
use super::{Original, PlanError};
use crate::engine::{
    self, Choice, Context, KeptPieces, Known, Left, Need, Outlined, Preset, Rules, Selection, Shortened, Subject, Why,
};
use crate::model::{Block, BlockKind, BlockNumber, Key, Level, Outdated, Role};
use crate::provider::{ProviderAdapter, conventions};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Minimum size in bytes of an assistant text that is shortened: conclusions of a sentence or two carry the thread of the work.
const SAID_BYTES: u64 = 600;

/// Skipped blocks, by reason.
pub type SkippedBlocks = BTreeMap<SkipReason, Vec<BlockNumber>>;

/// The target of shortening a window.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum Aim {
    Preset(Preset),
    /// A maximum cost of the window, in tokens.
    Tokens(u64),
}

/// A cache of plans and token counts. Every failure is a cache miss.
pub trait PlanCache: Sync {
    /// Returns a serialized plan by the hash of its inputs.
    fn plan(&self, key: Key) -> Option<Vec<u8>>;

    fn remember_plan(&self, key: Key, packed: &[u8]);

    fn count(&self, hash: Key) -> Option<u32>;
}

/// An original with the parameters for shortening it.
pub(super) struct Source {
    original: Original,
    /// The opening tag, the content to shorten and the closing tag, if the client put tags around the content.
    tagged: Option<[String; 3]>,
    why: Why,
    newest: bool,
    /// The current size in tokens and bytes, if the block is already shortened.
    now: Option<(f64, usize)>,
    /// The numbers of the options in the block that the user chose.
    named: Vec<u32>,
    /// The reminders of the client in the original, as byte ranges; those that a later block repeats are left out.
    reminders: Vec<(u32, u32)>,
    /// The text of a model at the level `summarized`, and the model.
    written: Option<(String, String)>,
    /// True if no part of the block may be cut: a part of the newest prompt, or the rejection of a call without a known place of the
    /// reason.
    whole: bool,
}

impl Source {
    /// Masks credentials before the content is split: a part of a credential is not recognized.
    fn new(draft: &Draft<'_>, mut original: Original, why: Why, newest: bool, now: Option<(f64, usize)>) -> Source {
        let known = &draft.source.reading.known;
        if let Cow::Owned(masked) = known.mask(&original.content) {
            original.block.words = moved_words(&original, &masked, known);
            original.content = masked;
        }
        let tagged = split_tags(draft.source.provider, &original);
        let reading = draft.source.reading;
        // An original is parsed apart from its session and knows no row.
        let is_newest = reading.block(original.block.number).is_some_and(|block| engine::is_newest_prompt(reading, block));
        let whole = is_newest || engine::is_rejection(&original.block);
        Source { original, tagged, why, newest, now, named: Vec::new(), reminders: Vec::new(), written: None, whole }
    }

    pub(super) fn number(&self) -> BlockNumber {
        self.original.block.number
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            block: &self.original.block,
            conventions: conventions(),
            content: self.tagged.as_ref().map_or(&self.original.content, |[_, inner, _]| inner),
            tokens: self.original.tokens,
            label: engine::placeholder_label(&self.original.block),
            why: self.why.clone(),
            newest: self.newest,
            left: self.now.map(|(tokens, bytes)| Left { tokens, bytes, readable: &self.original.readable }),
            held: self.held(),
            written: self.written.as_ref().map(|(text, _)| text.as_str()),
        }
    }

    /// Returns the ranges to keep, relative to the content to shorten: the options that the user chose or, if there are none, the
    /// words of a person and the reminders of the client.
    fn held(&self) -> Vec<(u32, u32)> {
        let offset = self.tagged.as_ref().map_or(0, |[tag, ..]| tag.len() as u32);
        let length = self.tagged.as_ref().map_or(self.original.content.len(), |[_, inner, _]| inner.len()) as u32;
        let inside = |(start, end): &(u32, u32)| {
            let (start, end) = (start.checked_sub(offset)?, end.checked_sub(offset)?.min(length));
            (start < end).then_some((start, end))
        };
        match &*self.named {
            _ if self.whole => vec![(0, length)],
            [] => {
                let mut held: Vec<_> = self.original.block.words.iter().chain(&self.reminders).filter_map(inside).collect();
                held.sort_unstable();
                held.dedup_by(|next, before| next.0 < before.1);
                held
            }
            named => engine::item_ranges(&self.original.content, named),
        }
    }

    /// Puts the client's tags around a shortened content.
    fn wrapped(&self, content: String) -> String {
        match &self.tagged {
            Some([tag, _, end]) => format!("{tag}{content}{end}"),
            None => content,
        }
    }
}

/// Returns the ranges of the words of a person in a content after masking.
fn moved_words(original: &Original, masked: &str, known: &Known) -> Box<[(u32, u32)]> {
    let mut from = 0;
    let moved = original.block.words_in(&original.content).filter_map(|words| {
        let words = known.mask(words);
        let start = from + masked.get(from..)?.find(&*words)?;
        from = start + words.len();
        Some((start as u32, from as u32))
    });
    moved.collect()
}

/// Splits a content that the client put between tags. Without the tags, command output would become a prompt.
fn split_tags(provider: &dyn ProviderAdapter, original: &Original) -> Option<[String; 3]> {
    let (block, content) = (&original.block, &original.content);
    if let Some((open, close)) = provider.attachment_tags().filter(|_| block.kind == BlockKind::Attachment) {
        let inner = content.strip_prefix(open)?.strip_suffix(close)?;
        return Some([open, inner, close].map(str::to_owned));
    }
    let tag = engine::marker::client_tag(content, conventions());
    let is_text = matches!(block.kind, BlockKind::Text | BlockKind::Attachment);
    if tag.is_empty() || block.role != Role::User || !is_text || !content.ends_with('>') {
        return None;
    }
    let end = content.rfind("</").filter(|end| *end >= tag.len())?;
    Some([tag.to_owned(), content[tag.len()..end].to_owned(), format!("\n{}", &content[end..])])
}

/// The blocks of a window that may be shortened.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The first block of the part that stays unchanged.
    pub end: BlockNumber,
    /// The selected blocks; `None` for all.
    pub only: Option<Vec<BlockNumber>>,
    /// The level for all blocks that get shorter; `None` to choose a level for each.
    pub level: Option<Level>,
}

/// Shortens the old blocks of a window according to how useful the agent will find them.
///
/// A plan for the same contents and the same aim is taken from `cache`.
/// Errors: the session cannot be read, or the budget is too small to be reached.
pub fn shrink(
    draft: &mut Draft<'_>,
    aim: Aim,
    scope: &Scope,
    rules: &Rules,
    cache: &dyn PlanCache,
) -> Result<SkippedBlocks, PlanError> {
    let reading = draft.source.reading;
    if matches!(aim, Aim::Tokens(budget) if reading.price.total.value <= budget as f64) {
        return Ok(SkippedBlocks::new());
    }
    let (sources, mut skipped) = sources(draft, aim, scope, rules)?;
    let preset = match aim {
        Aim::Preset(preset) => preset,
        Aim::Tokens(budget) => {
            fit(draft, budget, scope, &sources, rules, cache)?;
            return Ok(skipped);
        }
    };
    let subjects: Vec<Subject<'_>> = sources.iter().map(Source::subject).collect();
    let plan = Plan::new(reading, &subjects, aim, cache);
    let pieces = plan.cached_pieces().unwrap_or_else(|| {
        let selection = plan.selection();
        plan.remember(selection.first(selection.worth_at_least(preset.worth())))
    });
    let shortened = plan.outlined.shortened(&pieces);
    if let Some(level) = scope.level {
        let wanted = shortened.iter().map(|shortened| (shortened.number, level)).collect();
        skipped.extend(shorten(draft, &wanted, "", Some(rules))?);
        return Ok(skipped);
    }
    put(draft, shortened, &by_number(&sources))?;
    if preset.drops_thinking && scope.only.is_none() {
        draft.leave_out_thinking(0..scope.end, f64::INFINITY)?;
    }
    Ok(skipped)
}

pub(super) fn by_number(sources: &[Source]) -> FxHashMap<BlockNumber, &Source> {
    sources.iter().map(|source| (source.number(), source)).collect()
}

/// The selection for a window, and its key in the plan cache.
pub(super) struct Plan<'a> {
    reading: &'a engine::Analysis,
    pub(super) outlined: Outlined<'a>,
    selection: OnceCell<Selection>,
    key: Option<Key>,
    cache: &'a dyn PlanCache,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        reading: &'a engine::Analysis,
        subjects: &'a [Subject<'a>],
        aim: Aim,
        cache: &'a dyn PlanCache,
    ) -> Plan<'a> {
        let key = engine::plan_key(reading, subjects, &aim);
        Plan { reading, outlined: Outlined::new(subjects), selection: OnceCell::new(), key, cache }
    }

    pub(super) fn selection(&self) -> &Selection {
        self.selection.get_or_init(|| self.outlined.weigh(self.reading))
    }

    /// Returns the cached result of the same plan.
    pub(super) fn cached_pieces(&self) -> Option<Vec<KeptPieces>> {
        let pieces: Vec<KeptPieces> = postcard::from_bytes(&self.cache.plan(self.key?)?).ok()?;
        self.outlined.fits(&pieces).then_some(pieces)
    }

    pub(super) fn remember(&self, pieces: Vec<KeptPieces>) -> Vec<KeptPieces> {
        if let (Some(key), Ok(packed)) = (self.key, postcard::to_stdvec(&pieces)) {
            self.cache.remember_plan(key, &packed);
        }
        pieces
    }
}

pub(super) fn put(
    draft: &mut Draft<'_>,
    shortened: Vec<Shortened>,
    sources: &FxHashMap<BlockNumber, &Source>,
) -> Result<(), PlanError> {
    for Shortened { number, level, content } in shortened {
        let (Some(block), Some(source)) = (draft.source.reading.block(number), sources.get(&number)) else { continue };
        if draft.is_shorter_as_sent(block, &content)? {
            draft.replace(number, level, &source.wrapped(content), &source.why.reason)?;
        }
    }
    Ok(())
}

/// Returns the originals of all blocks that may be shortened, and the skipped blocks by reason.
fn sources(draft: &Draft<'_>, aim: Aim, scope: &Scope, rules: &Rules) -> Result<(Vec<Source>, SkippedBlocks), PlanError> {
    let reading = draft.source.reading;
    let newest = engine::newest(reading, if let Aim::Preset(preset) = aim { preset.newest_percent } else { 0.0 });
    let choices = engine::choices(reading);
    // A result that says so is replaced together with its call.
    let results = reading.in_window().filter(|block| matches!(block.usefulness.outdated, Some((Outdated::Replaced, _))));
    let replaced: FxHashMap<Key, Why> = results.filter_map(|result| Some((result.call?, engine::why_old(result)))).collect();
    let why = |block: &Block| block.call.and_then(|call| replaced.get(&call)).cloned().unwrap_or_else(|| engine::why_old(block));
    let mut skipped = SkippedBlocks::new();
    let mut sources: Vec<Source> = Vec::new();
    let only: Option<FxHashSet<BlockNumber>> = scope.only.as_ref().map(|only| only.iter().copied().collect());
    let meant = |block: &&Block| only.as_ref().is_none_or(|only| only.contains(&block.number));
    for block in reading.in_window().filter(|block| block.number < scope.end && is_old(block)).filter(meant) {
        let original = match draft.immutable(block.number)?.or_else(|| held(draft, block)) {
            // Only a selection reports them.
            Some(SkipReason::Instructions | SkipReason::PlanInForce) if scope.only.is_none() => continue,
            Some(why) => Err(why),
            None => match draft.original(block.number) {
                Ok(original) if rules.protect(block, &original.content) => Err(SkipReason::Protected),
                Ok(original) => Ok(original),
                Err(PlanError::NoOriginal(_)) => Err(SkipReason::NoOriginal),
                Err(error) => return Err(error),
            },
        };
        match original {
            Ok(original) => {
                let now = (block.level != Level::Original).then_some((block.tokens.value, block.bytes as usize));
                let (named, newest) = (chosen_options(&choices, block.number), newest.contains(&block.number));
                let source = Source::new(draft, original, why(block), newest, now);
                sources.push(Source { named, ..source });
            }
            Err(why) => skipped.entry(why).or_default().push(block.number),
        }
    }
    // Of a reminder that is repeated, the newest copy stays.
    let mut seen: FxHashSet<Key> = FxHashSet::default();
    for source in sources.iter_mut().rev() {
        let content = &source.original.content;
        let mut found = conventions().reminders(content);
        found.retain(|range| seen.insert(Key::from_text(&content[range.clone()])));
        source.reminders = found.into_iter().map(|range| (range.start as u32, range.end as u32)).collect();
    }
    Ok((sources, skipped))
}

fn chosen_options(choices: &[Choice], block: BlockNumber) -> Vec<u32> {
    let place = choices.partition_point(|choice| choice.offer < block);
    let own = choices[place..].iter().take_while(|choice| choice.offer == block);
    own.flat_map(|choice| choice.numbers.iter().copied()).collect()
}

/// Returns true if a block is of a kind and size that may be shortened when it is old.
fn is_old(block: &Block) -> bool {
    // The words of a person stay: only the rest can be shortened.
    let rest = block.bytes.saturating_sub(block.words_bytes());
    let said = block.role == Role::Assistant && block.kind == BlockKind::Text && block.bytes < SAID_BYTES;
    // A short text around the words of a person belongs to them, such as the files that they name.
    let least = if block.words.is_empty() { engine::LEAST_BYTES } else { SAID_BYTES };
    let is_large = !said && (rest >= least || !block.media.is_empty());
    // A shortened block is one whatever is left of it, so that the same change again is none.
    block.level < Level::Archived && block.kind != BlockKind::Thinking && (is_large || block.level != Level::Original)
}

/// Returns the reason why a block that can be changed must not get shorter, if there is one.
fn held(draft: &Draft<'_>, block: &Block) -> Option<SkipReason> {
    match () {
        () if draft.is_instruction(block) => Some(SkipReason::Instructions),
        () if draft.is_plan_in_force(block) => Some(SkipReason::PlanInForce),
        () if block.pin.is_some() => Some(SkipReason::Pinned),
        () if block.focused => Some(SkipReason::Focused),
        () => None,
    }
}

/// Changes blocks to the given levels, whatever their current one. `rules` protect blocks that the user did not name.
pub fn shorten(
    draft: &mut Draft<'_>,
    wanted: &BTreeMap<BlockNumber, Level>,
    reason: &str,
    rules: Option<&Rules>,
) -> Result<SkippedBlocks, PlanError> {
    let reading = draft.source.reading;
    // Weigh blocks by their originals, so that the result does not depend on earlier shortening.
    let mut need = Need::new(reading);
    for number in wanted.keys() {
        if let Some(block) = reading.block(*number).filter(|block| block.level != Level::Original)
            && let Ok(original) = draft.original(*number)
        {
            need.replace(block, &engine::terms_of(&original.readable));
        }
    }
    let others = reading.in_window().filter(|block| block.role != Role::System && !wanted.contains_key(&block.number));
    let mut shown: FxHashSet<u32> = others.flat_map(|block| block.terms.iter().copied()).collect();
    let choices = engine::choices(reading);
    let mut skipped = SkippedBlocks::new();
    // Iterate from the end, so that the last of repeated lines stays.
    for (number, level) in wanted.iter().rev() {
        let Some(block) = reading.block(*number) else { continue };
        let context = Context { name: &|term| need.of_name(term), line: need.of_line(block), shown: &shown };
        let content = match shorten_block(draft, block, *level, reason, rules, &choices, &context)? {
            Ok(content) => content,
            Err(why) => {
                skipped.entry(why).or_default().push(*number);
                draft.content(*number)?
            }
        };
        shown.extend(engine::terms_of(&content));
    }
    for blocks in skipped.values_mut() {
        blocks.sort_unstable();
    }
    Ok(skipped)
}

/// Changes a block to a level, and returns its new content; of a restored block none. The inner error is the reason why it stays.
fn shorten_block(
    draft: &mut Draft<'_>,
    block: &Block,
    level: Level,
    reason: &str,
    rules: Option<&Rules>,
    choices: &[Choice],
    context: &Context<'_>,
) -> Result<Result<String, SkipReason>, PlanError> {
    let keep = |why| Ok(Err(why));
    if let Some(why) = draft.immutable(block.number)? {
        return keep(why);
    }
    if let Some(why) = held(draft, block).filter(|_| level > block.level) {
        return keep(why);
    }
    if level == Level::Original {
        return match draft.restore(block.number) {
            Ok(()) if block.level == Level::Original => keep(SkipReason::AsItIs),
            Ok(()) => Ok(Ok(String::new())),
            Err(PlanError::NoOriginal(_)) => keep(SkipReason::NoOriginal),
            Err(error) => Err(error),
        };
    }
    // A new reason requires a new marker line; without one, the block and its reason stay unchanged.
    if level == block.level && reason.is_empty() {
        return keep(SkipReason::AsItIs);
    }
    let original = match draft.original(block.number) {
        Ok(original) => original,
        Err(PlanError::NoOriginal(_)) => return keep(SkipReason::NoOriginal),
        Err(error) => return Err(error),
    };
    if rules.is_some_and(|rules| rules.protect(block, &original.content)) {
        return keep(SkipReason::Protected);
    }
    let named = chosen_options(choices, block.number);
    let why = Why { reason: reason.to_owned(), stands_again: false };
    let mut source = Source { named, ..Source::new(draft, original, why, false, None) };
    if level == Level::Summarized && source.tagged.is_none() {
        source.written = draft.texts.as_ref().and_then(|texts| texts(source.original.block.hash));
    }
    let Some(content) = source.subject().at_level(level, context) else { return keep(SkipReason::NotShorter) };
    let content = source.wrapped(content);
    if content == draft.content(block.number)? {
        return keep(SkipReason::AsItIs);
    }
    if !draft.is_shorter_as_sent(block, &content)? {
        return keep(SkipReason::NotShorter);
    }
    let by_model = source.written.as_ref().filter(|(text, _)| content.contains(text.as_str()));
    let reason = by_model.map_or_else(|| reason.to_owned(), |(_, model)| engine::sidecar::written_by(model));
    draft.replace(block.number, level, &content, &reason)?;
    Ok(Ok(content))
}
