//! Brings a window within a budget: shortens its blocks and, if that is not enough, replaces its oldest turns by one digest.

use super::digest_fold::{Fold, Story, first_kept, fold_places};
use super::draft::{Checkpoint, Draft};
use super::shorten::{Plan, Source, by_number, put};
use super::{Aim, PlanCache, PlanError, Scope};
use crate::engine::{self, KeptPieces, Preset, Rules, Subject};
use crate::model::BlockNumber;
use rustc_hash::{FxHashMap, FxHashSet};

/// Minimum share of the budget that the window should use, if its blocks allow that.
const LEAST_USED: f64 = 0.95;
/// Maximum number of times the expected savings are corrected by the actual ones.
const CORRECTIONS: usize = 10;
/// Maximum number of blocks that are tried as the first changed block.
const STARTS: usize = 4;
/// Maximum number of digests of the same turns that are measured, and the share of the budget that they use at most: the next reading
/// estimates the tokens of a digest slightly differently.
const DIGESTS: usize = 14;
const MOST_USED: f64 = 0.998;

/// Brings a window that exceeds a budget within it, while using most of the budget: leaves out old thinking, shortens the blocks
/// `sources` and, as the last step, folds the oldest turns.
/// Errors: the session cannot be read, or the budget is too small.
pub(super) fn fit(
    draft: &mut Draft<'_>,
    budget: u64,
    scope: &Scope,
    sources: &[Source],
    rules: &Rules,
    cache: &dyn PlanCache,
) -> Result<(), PlanError> {
    let excess = draft.source.reading.price.total.value - budget as f64;
    let is_whole = scope.only.is_none();
    let before = draft.checkpoint();
    let saved = if is_whole { draft.leave_out_thinking(0..scope.end, excess)? } else { 0.0 };
    if saved >= excess {
        return Ok(());
    }
    let Err(shortened) = fit_blocks(draft, budget, excess - saved, sources, cache)? else { return Ok(()) };
    let folded = match is_whole && rules.folds_turns {
        true => {
            draft.roll_back(&before);
            fit_turns(draft, budget, scope, sources, rules, cache)?
        }
        false => Err(f64::INFINITY),
    };
    folded.map(drop).map_err(|folded| PlanError::Budget { budget, smallest: shortened.min(folded).ceil() as u64 })
}

/// Shortens the blocks of a window that exceeds a budget by `excess` tokens. Returns the used share of the budget.
///
/// A change drops all later thinking if the model binds it. So the first changed block is the earliest one after which no more
/// thinking is dropped than necessary.
/// Errors: the inner error means that the budget is too small; its value is the smallest reachable size in tokens.
fn fit_blocks(
    draft: &mut Draft<'_>,
    budget: u64,
    excess: f64,
    sources: &[Source],
    cache: &dyn PlanCache,
) -> Result<Result<f64, f64>, PlanError> {
    let reading = draft.source.reading;
    let bound = draft.bound_thinking();
    let mut behind = 0.0;
    let mut freed: FxHashMap<BlockNumber, f64> = FxHashMap::default();
    for block in reading.window.blocks.iter().rev().filter_map(|number| reading.block(*number)) {
        freed.insert(block.number, behind);
        behind += if bound.contains(&block.number) { block.tokens.value } else { 0.0 };
    }
    let freed = |source: &Source| freed.get(&source.number()).copied().unwrap_or_default();
    // The smallest change of that block saves something too.
    let most = if draft.keeps_thinking { 0.0 } else { excess + budget as f64 * (1.0 - LEAST_USED) / 2.0 };
    let start = sources.iter().position(|source| freed(source) <= most).unwrap_or(sources.len());
    let mut reached = Err(excess + budget as f64);
    for start in (start..sources.len()).take(STARTS) {
        let lead = freed(&sources[start]);
        reached = fit_from(draft, (budget, excess), &sources[start..], lead, cache)?;
        match &reached {
            // The thinking after this block and its smallest change save too much.
            Ok(used) if *used < LEAST_USED && lead > 0.0 && start + 1 < sources.len() => {}
            _ => break,
        }
    }
    // The thinking between two blocks can exceed the amount that may be dropped.
    if reached.is_err() && start > 0 && !draft.keeps_thinking {
        let source = &sources[start - 1];
        reached = fit_from(draft, (budget, excess), std::slice::from_ref(source), freed(source), cache)?;
    }
    Ok(reached)
}

/// Replaces the oldest turns of a window by a digest that uses the rest of a budget: as few turns as possible and, if all but the last
/// one are not enough, the oldest responses of that. Returns as [`fit_blocks`].
fn fit_turns(
    draft: &mut Draft<'_>,
    budget: u64,
    scope: &Scope,
    sources: &[Source],
    rules: &Rules,
    cache: &dyn PlanCache,
) -> Result<Result<f64, f64>, PlanError> {
    let bound = if draft.keeps_thinking { draft.bound_thinking() } else { FxHashSet::default() };
    let places = fold_places(draft, scope.end).into_iter().filter(|place| bound.iter().all(|number| number < place));
    let places: Vec<BlockNumber> = places.collect();
    let folding = Folding { budget, scope, sources, rules, cache, before: draft.checkpoint(), story: Story::new(draft)? };
    // As the presets, keep the newest calls if that is possible.
    let newest = first_kept(draft.source.reading, scope.end);
    let (older, newer) = places.split_at(newest.map_or(0, |newest| places.partition_point(|place| *place <= newest)));
    let mut smallest = f64::INFINITY;
    for places in [older, newer] {
        match folding.fold_oldest(draft, places)? {
            Ok(used) => return Ok(Ok(used)),
            Err(size) => smallest = smallest.min(size),
        }
    }
    Ok(Err(smallest))
}

/// The presets that fold, the one with the longest digest first.
fn folding_presets() -> impl Iterator<Item = &'static Preset> {
    engine::PRESETS.iter().filter(|preset| preset.folds)
}

/// A window whose oldest part is folded to meet a budget.
struct Folding<'a> {
    budget: u64,
    scope: &'a Scope,
    sources: &'a [Source],
    rules: &'a Rules,
    cache: &'a dyn PlanCache,
    before: Checkpoint,
    story: Story,
}

impl Folding<'_> {
    /// Folds as few blocks as possible: those before one of the places. Returns as [`fit_blocks`].
    fn fold_oldest(&self, draft: &mut Draft<'_>, places: &[BlockNumber]) -> Result<Result<f64, f64>, PlanError> {
        let (mut begin, mut end) = (0, places.len());
        while begin < end {
            let middle = begin + (end - begin) / 2;
            if self.is_enough(draft, places[middle])? { end = middle } else { begin = middle + 1 }
        }
        let Some(place) = places.get(begin).or(places.last()) else { return Ok(Err(f64::INFINITY)) };
        let reached = self.fold(draft, *place)?;
        // One turn can be more than the room that is left.
        if begin > 0 && begin < places.len() && reached.is_ok_and(|used| used < LEAST_USED) {
            let folded = draft.checkpoint();
            let earlier = self.fold(draft, places[begin - 1])?;
            if earlier.is_ok() && earlier.ok() > reached.ok() {
                return Ok(earlier);
            }
            draft.roll_back(&folded);
        }
        Ok(reached)
    }

    /// Returns true if the budget is met when the digest of the mildest preset replaces the blocks before `place`.
    fn is_enough(&self, draft: &mut Draft<'_>, place: BlockNumber) -> Result<bool, PlanError> {
        let (Ok(fold), Some(preset)) = (Fold::new(draft, place, self.rules)?, folding_presets().next()) else { return Ok(false) };
        let digest = fold.digest(draft, &self.story, preset.has_headers);
        match self.put(draft, &fold, &digest.text(digest.selection.worth_at_least(preset.worth()))) {
            Err(PlanError::NoWay) => Ok(false),
            tokens => Ok(tokens? <= self.budget as f64 * MOST_USED),
        }
    }

    /// Folds with a digest, and returns the size of the window in tokens.
    fn put(&self, draft: &mut Draft<'_>, fold: &Fold<'_>, digest: &str) -> Result<f64, PlanError> {
        draft.roll_back(&self.before);
        fold.write(draft, digest)?;
        draft.leave_out_thinking(fold.kept..self.scope.end, f64::INFINITY)?;
        draft.window_tokens(&|hash| self.cache.count(hash))
    }

    /// Replaces the blocks before `place` by the longest digest that the budget allows. If the shortest one is too long, shortens the
    /// blocks that stay. Returns as [`fit_blocks`].
    fn fold(&self, draft: &mut Draft<'_>, place: BlockNumber) -> Result<Result<f64, f64>, PlanError> {
        let limit = self.budget as f64;
        let Ok(fold) = Fold::new(draft, place, self.rules)? else { return Ok(Err(f64::INFINITY)) };
        let mut shortest = Vec::new();
        for preset in folding_presets() {
            let digest = fold.digest(draft, &self.story, preset.has_headers);
            let (mut lines, mut beyond) = (digest.selection.worth_at_least(preset.worth()), digest.selection.choices() + 1);
            let mut tokens = self.put(draft, &fold, &digest.text(lines))?;
            if tokens > limit {
                shortest = vec![digest.text(lines), digest.text(0)];
                continue;
            }
            for _ in 0..DIGESTS {
                let middle = lines + (beyond - lines) / 2;
                if tokens >= limit * (1.0 + LEAST_USED) / 2.0 || middle == lines {
                    break;
                }
                let tried = self.put(draft, &fold, &digest.text(middle))?;
                if tried <= limit * MOST_USED { (lines, tokens) = (middle, tried) } else { beyond = middle }
            }
            return Ok(Ok(self.put(draft, &fold, &digest.text(lines))? / limit));
        }
        let rest = &self.sources[self.sources.partition_point(|source| source.number() < fold.kept)..];
        let mut reached = Err(f64::INFINITY);
        for text in shortest {
            let tokens = self.put(draft, &fold, &text)?;
            reached = match tokens - limit {
                // Content that the provider writes again cannot be changed in the same operation.
                excess if excess > 0.0 && draft.source.provider.branches() => {
                    fit_from(draft, (self.budget, excess), rest, 0.0, self.cache)?
                }
                excess if excess > 0.0 => Err(tokens),
                _ => Ok(tokens / limit),
            };
            if reached.is_ok() {
                break;
            }
        }
        Ok(reached)
    }
}

/// Shortens some blocks. The first one is always changed if that frees `lead` tokens of thinking. Returns the share of the budget
/// that the window then uses.
/// Errors: the inner error means that the budget is too small; its value is the smallest reachable size in tokens.
fn fit_from(
    draft: &mut Draft<'_>,
    (budget, excess): (u64, f64),
    sources: &[Source],
    lead: f64,
    cache: &dyn PlanCache,
) -> Result<Result<f64, f64>, PlanError> {
    let reading = draft.source.reading;
    let subjects: Vec<Subject<'_>> = sources.iter().map(Source::subject).collect();
    let by_number = by_number(sources);
    let plan = Plan::new(reading, &subjects, Aim::Tokens(budget), cache);
    let first = subjects.first().map(|subject| subject.block.number).filter(|_| lead > 0.0);
    let before = draft.edits.clone();
    let limit = budget as f64;
    let tokens_with = |draft: &mut Draft<'_>, pieces: &[KeptPieces]| {
        draft.edits.clone_from(&before);
        put(draft, plan.outlined.shortened(pieces), &by_number)?;
        draft.window_tokens(&|hash| cache.count(hash))
    };
    if let Some(pieces) = plan.cached_pieces() {
        let tokens = tokens_with(draft, &pieces)?;
        if tokens <= limit {
            return Ok(Ok(tokens / limit));
        }
    }
    // The expected saving is an estimate; the actual one is measured.
    let mut search = SavingSearch { limit, wanted: excess - lead, too_little: f64::NEG_INFINITY, enough: f64::INFINITY };
    let mut best: Option<(f64, Vec<KeptPieces>)> = None;
    for _ in 0..CORRECTIONS {
        let (pieces, all) = match plan.outlined.saving(plan.selection(), search.wanted, first) {
            Ok(pieces) => (pieces, false),
            Err(least) => (least, true),
        };
        let tokens = tokens_with(draft, &pieces)?;
        if tokens > limit && all {
            if best.is_none() {
                return Ok(Err(tokens));
            }
            break;
        }
        if tokens > limit {
            search.save_more(tokens, plan.outlined.saved(&pieces));
        } else {
            if best.as_ref().is_none_or(|(known, _)| *known < tokens) {
                best = Some((tokens, pieces));
            }
            if tokens >= limit * (1.0 + LEAST_USED) / 2.0 {
                break;
            }
            search.save_less(tokens);
        }
        if !search.narrow() {
            break;
        }
    }
    let Some((tokens, pieces)) = best else {
        let pieces = plan.outlined.saving(plan.selection(), f64::INFINITY, first).unwrap_or_else(|least| least);
        let tokens = tokens_with(draft, &pieces)?;
        return Ok(if tokens <= limit { Ok(tokens / limit) } else { Err(tokens) });
    };
    tokens_with(draft, &pieces)?;
    plan.remember(pieces);
    Ok(Ok(tokens / limit))
}

/// The search for the saving that makes the window use a budget, in tokens.
struct SavingSearch {
    limit: f64,
    wanted: f64,
    /// The largest saving known to be too little, and the smallest one known to be enough.
    too_little: f64,
    enough: f64,
}

impl SavingSearch {
    /// Continues with a larger saving: the tried one, which was expected to save `saved`, left `tokens`.
    fn save_more(&mut self, tokens: f64, saved: f64) {
        self.too_little = self.too_little.max(self.wanted);
        self.wanted = self.wanted.max(saved) + more_to_save(tokens, self.limit);
    }

    /// Continues with a smaller saving: the tried one left `tokens`.
    fn save_less(&mut self, tokens: f64) {
        self.enough = self.enough.min(self.wanted);
        self.wanted -= self.limit * (1.0 - (1.0 - LEAST_USED) / 4.0) - tokens;
    }

    /// Keeps the next saving between the known bounds. Returns false if there is none to try.
    fn narrow(&mut self) -> bool {
        if self.wanted <= self.too_little || self.wanted >= self.enough {
            self.wanted = (self.too_little + self.enough) / 2.0;
        }
        self.wanted.is_finite() && self.enough - self.too_little >= 1.0
    }
}

/// Returns the additional saving, in tokens, to try if `tokens` remain. It is large enough that blocks which hardly get shorter do
/// not use up the corrections, and small enough that the budget is used.
fn more_to_save(tokens: f64, limit: f64) -> f64 {
    (tokens - limit) * 1.1 + limit * (1.0 - LEAST_USED) / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget between two blocks saves nothing until it reaches the next block.
    #[test]
    fn blocks_that_hardly_get_shorter_do_not_use_up_the_corrections() {
        let (total, limit) = (215_000.0, 193_500.0);
        // The expected saving and the remaining size: the actual saving is 8 % less than expected.
        for step in [40.0, 400.0, 1_500.0] {
            let expected = |wanted: f64| (wanted / step).ceil() * step;
            let mut wanted = total - limit;
            let left = |wanted: f64| total - expected(wanted) * 0.92;
            let tries = (0..CORRECTIONS).take_while(|_| {
                let short = left(wanted) > limit;
                if short {
                    wanted = f64::max(wanted, expected(wanted)) + more_to_save(left(wanted), limit);
                }
                short
            });
            assert!(tries.count() <= 2, "{step}");
            assert!(left(wanted) >= limit * LEAST_USED, "{step}");
        }
    }
}
