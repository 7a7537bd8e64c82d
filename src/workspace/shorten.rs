//! Blocks to shorter forms and back, each from its original.

use super::draft::{Draft, Kept};
use super::{Original, PlanError, Workspace};
use crate::engine::{self, Context, KeptPieces, Known, Need, Outlined, Preset, Rules, Selection, Shortened, Subject};
use crate::model::{Block, BlockKind, BlockNumber, Key, Level, Role};
use crate::store::Cache;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Bytes from which on a block can get shorter by more than its marker line.
const LEAST_BYTES: u64 = 150;
/// Bytes of a text of the model from which on it gets shorter: what it concluded in a sentence or two is the thread of the work.
const SAID_BYTES: u64 = 300;
/// Bytes of a prompt from which on it holds more than what the user typed.
const PASTED_BYTES: u64 = 2_000;
/// Bytes by which a block that is short already must get shorter still to be changed again.
const LEAST_SAVED_BYTES: usize = 120;

/// The tags around a text that the client added.
const REMINDER: (&str, &str) = ("<system-reminder>\n", "\n</system-reminder>");

/// Blocks that were left alone, by reason.
pub type KeptBlocks = BTreeMap<Kept, Vec<BlockNumber>>;

/// How far a window is shortened.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum Aim {
    /// As far as a preset says.
    Preset(Preset),
    /// Until the window costs at most so many tokens.
    Tokens(u64),
}

/// An original, and how it is shortened.
struct Source {
    original: Original,
    /// The part of the content that is shortened, where the client put tags around it.
    inner: Option<String>,
    reason: String,
    newest: bool,
}

impl Source {
    /// Credentials are masked before pieces are taken of a content: a part of one has no shape any more.
    fn new(mut original: Original, reason: String, newest: bool, known: &Known) -> Source {
        if let Cow::Owned(masked) = known.mask(&original.content) {
            original.content = masked;
        }
        let attached = original.block.kind == BlockKind::Attachment;
        let inner = original.content.strip_prefix(REMINDER.0).and_then(|rest| rest.strip_suffix(REMINDER.1));
        let inner = inner.filter(|_| attached).map(str::to_owned);
        Source { original, inner, reason, newest }
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            block: &self.original.block,
            content: self.inner.as_deref().unwrap_or(&self.original.content),
            tokens: self.original.tokens,
            label: engine::placeholder_label(&self.original.block),
            reason: self.reason.clone(),
            newest: self.newest,
        }
    }

    /// A shortened content as it stands in its block.
    fn wrapped(&self, content: String) -> String {
        if self.inner.is_some() { format!("{}{content}{}", REMINDER.0, REMINDER.1) } else { content }
    }
}

/// Which blocks of a window may be shortened.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The first block of those that stay as they are.
    pub end: BlockNumber,
    /// The blocks that are meant; none for all.
    pub only: Option<Vec<BlockNumber>>,
    /// The level that all of them get which get shorter; none for what each deserves.
    pub level: Option<Level>,
}

/// Shortens what is old of a window, by what the agent will need of it.
///
/// What was decided for the same contents and the same aim is taken from `cache`.
///
/// # Errors
///
/// The session cannot be read, or a budget is smaller than what can be reached.
pub fn shrink(draft: &mut Draft<'_>, aim: Aim, scope: &Scope, rules: &Rules, cache: &Cache) -> Result<KeptBlocks, PlanError> {
    let reading = &draft.workspace.reading;
    let total = reading.price.total.value;
    if matches!(aim, Aim::Tokens(budget) if total <= budget as f64) {
        return Ok(KeptBlocks::new());
    }
    let (sources, mut kept) = sources(draft, aim, scope, rules)?;
    let subjects: Vec<Subject<'_>> = sources.iter().map(Source::subject).collect();
    let by_number: FxHashMap<BlockNumber, &Source> =
        sources.iter().map(|source| (source.original.block.number, source)).collect();
    let plan = Plan::new(reading, &subjects, aim, cache);
    let budget = match aim {
        Aim::Preset(preset) => {
            let pieces = plan.known().unwrap_or_else(|| {
                let selection = plan.selection();
                plan.remember(selection.first(selection.worth_at_least(preset.worth())))
            });
            let shortened = plan.outlined.shortened(&pieces);
            if let Some(level) = scope.level {
                let wanted = shortened.iter().map(|shortened| (shortened.number, level)).collect();
                kept.extend(shorten(draft, &wanted, "", Some(rules))?);
                return Ok(kept);
            }
            put(draft, shortened, &by_number)?;
            return Ok(kept);
        }
        Aim::Tokens(budget) => budget as f64,
    };
    let mut known = plan.known();
    let mut wanted = total - budget;
    loop {
        let enough = known.take().map_or_else(|| plan.outlined.saving(plan.selection(), wanted), Ok);
        let all = enough.is_err();
        let pieces = enough.unwrap_or_else(|least| least);
        put(draft, plan.outlined.shortened(&pieces), &by_number)?;
        // What was expected is an estimate; what comes of it is counted.
        match draft.window_tokens(&|hash| cache.count(hash))? - budget {
            over if over <= 0.0 => {
                plan.remember(pieces);
                return Ok(kept);
            }
            over if all => {
                let smallest = (budget + over).max(0.0).ceil() as u64;
                return Err(PlanError::Budget { budget: budget as u64, smallest });
            }
            over => wanted += over * 1.1 + 1.0,
        }
    }
}

/// What is decided for a window, and what the cache knows of it.
struct Plan<'a> {
    reading: &'a engine::Reading,
    outlined: Outlined<'a>,
    selection: OnceCell<Selection>,
    key: Option<Key>,
    cache: &'a Cache,
}

impl<'a> Plan<'a> {
    fn new(reading: &'a engine::Reading, subjects: &'a [Subject<'a>], aim: Aim, cache: &'a Cache) -> Plan<'a> {
        let key = engine::plan_key(reading, subjects, &aim);
        Plan { reading, outlined: Outlined::new(subjects), selection: OnceCell::new(), key, cache }
    }

    fn selection(&self) -> &Selection {
        self.selection.get_or_init(|| self.outlined.weigh(self.reading))
    }

    /// What was kept when the same was planned before.
    fn known(&self) -> Option<Vec<KeptPieces>> {
        let pieces: Vec<KeptPieces> = postcard::from_bytes(&self.cache.plan(self.key?)?).ok()?;
        self.outlined.fits(&pieces).then_some(pieces)
    }

    fn remember(&self, pieces: Vec<KeptPieces>) -> Vec<KeptPieces> {
        if let (Some(key), Ok(packed)) = (self.key, postcard::to_stdvec(&pieces)) {
            self.cache.remember_plan(key, &packed);
        }
        pieces
    }
}

/// Puts what is left of blocks in their places.
fn put(draft: &mut Draft<'_>, shortened: Vec<Shortened>, sources: &FxHashMap<BlockNumber, &Source>) -> Result<(), PlanError> {
    for Shortened { number, level, content } in shortened {
        let (Some(block), Some(source)) = (draft.workspace.reading.block(number), sources.get(&number)) else { continue };
        // What is short already is changed again only where that saves something.
        if block.level == Level::Original || content.len() + LEAST_SAVED_BYTES <= block.bytes as usize {
            draft.replace(number, level, &source.wrapped(content), &source.reason)?;
        }
    }
    Ok(())
}

/// The originals of all blocks that may be shortened, and why others may not.
fn sources(draft: &Draft<'_>, aim: Aim, scope: &Scope, rules: &Rules) -> Result<(Vec<Source>, KeptBlocks), PlanError> {
    let reading = &draft.workspace.reading;
    let newest = engine::newest(reading, if let Aim::Preset(preset) = aim { preset.newest_percent } else { 0.0 });
    let mut kept = KeptBlocks::new();
    let mut sources: Vec<Source> = Vec::new();
    let meant = |block: &&Block| scope.only.as_ref().is_none_or(|only| only.contains(&block.number));
    for block in reading.in_window().filter(|block| block.number < scope.end && is_old(draft.workspace, block)).filter(meant) {
        let original = match untouchable(draft, block)? {
            Some(why) => Err(why),
            None => match draft.original(block.number) {
                Ok(original) if rules.protect(block, &original.content) => Err(Kept::Protected),
                Ok(original) => Ok(original),
                Err(PlanError::NoOriginal(_)) => Err(Kept::NoOriginal),
                Err(error) => return Err(error),
            },
        };
        match original {
            Ok(original) => {
                sources.push(Source::new(original, engine::why_old(block), newest.contains(&block.number), &reading.known));
            }
            Err(why) => kept.entry(why).or_default().push(block.number),
        }
    }
    Ok((sources, kept))
}

/// Whether a block is of a kind and size that gets shorter with age.
fn is_old(workspace: &Workspace<'_>, block: &Block) -> bool {
    let row = &workspace.reading.session.rows[block.row as usize];
    let typed = row.prompt && block.role == Role::User && block.kind == BlockKind::Text && block.bytes < PASTED_BYTES;
    let said = block.role == Role::Assistant && block.kind == BlockKind::Text && block.bytes < SAID_BYTES;
    block.level < Level::Minimal
        && !said
        && !workspace.provider.is_ground(row, block)
        && block.kind != BlockKind::Thinking
        && !typed
        && (block.bytes >= LEAST_BYTES || !block.images.is_empty())
}

/// Why a block stays as it is, if so.
fn untouchable(draft: &Draft<'_>, block: &Block) -> Result<Option<Kept>, PlanError> {
    Ok(match draft.immutable(block.number)? {
        Some(why) => Some(why),
        None if block.pin.is_some() => Some(Kept::Pinned),
        None if block.focused => Some(Kept::Focused),
        None => None,
    })
}

/// Puts blocks to the levels that are wanted, whatever their present one. `rules` protect blocks that nobody named.
///
/// # Errors
///
/// The session cannot be read.
pub fn shorten(
    draft: &mut Draft<'_>,
    wanted: &BTreeMap<BlockNumber, Level>,
    reason: &str,
    rules: Option<&Rules>,
) -> Result<KeptBlocks, PlanError> {
    let reading = &draft.workspace.reading;
    // What a block brought once counts, not what was left of it: the way to a level makes no difference.
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
    let mut kept = KeptBlocks::new();
    // From the end on, so that of what repeats the last one stays.
    for (number, level) in wanted.iter().rev() {
        let Some(block) = reading.block(*number) else { continue };
        let content = match one(draft, block, *level, reason, rules, &need, &shown)? {
            Outcome::Shortened(content) => content,
            Outcome::Restored => String::new(),
            Outcome::Kept(why) => {
                kept.entry(why).or_default().push(*number);
                draft.content(*number)?
            }
        };
        shown.extend(engine::terms_of(&content));
    }
    for blocks in kept.values_mut() {
        blocks.sort_unstable();
    }
    Ok(kept)
}

enum Outcome {
    Shortened(String),
    Restored,
    Kept(Kept),
}

fn one(
    draft: &mut Draft<'_>,
    block: &Block,
    level: Level,
    reason: &str,
    rules: Option<&Rules>,
    need: &Need,
    shown: &FxHashSet<u32>,
) -> Result<Outcome, PlanError> {
    let keep = |why| Ok(Outcome::Kept(why));
    if let Some(why) = draft.immutable(block.number)? {
        return keep(why);
    }
    if level > block.level && block.pin.is_some() {
        return keep(Kept::Pinned);
    }
    if level > block.level && block.focused {
        return keep(Kept::Focused);
    }
    if level == Level::Original {
        return match draft.restore(block.number) {
            Ok(()) if block.level == Level::Original => keep(Kept::AsItIs),
            Ok(()) => Ok(Outcome::Restored),
            Err(PlanError::NoOriginal(_)) => keep(Kept::NoOriginal),
            Err(error) => Err(error),
        };
    }
    // A new reason is a new line; without one there is nothing to say anew, and the old reason stays.
    if level == block.level && reason.is_empty() {
        return keep(Kept::AsItIs);
    }
    let original = match draft.original(block.number) {
        Ok(original) => original,
        Err(PlanError::NoOriginal(_)) => return keep(Kept::NoOriginal),
        Err(error) => return Err(error),
    };
    if rules.is_some_and(|rules| rules.protect(block, &original.content)) {
        return keep(Kept::Protected);
    }
    let source = Source::new(original, reason.to_owned(), false, &draft.workspace.reading.known);
    let context = Context { name: &|term| need.of_name(term), line: need.of_line(block), shown };
    let Some(content) = source.subject().at_level(level, &context) else { return keep(Kept::NotShorter) };
    let content = source.wrapped(content);
    if content == draft.content(block.number)? {
        return keep(Kept::AsItIs);
    }
    draft.replace(block.number, level, &content, reason)?;
    Ok(Outcome::Shortened(content))
}
