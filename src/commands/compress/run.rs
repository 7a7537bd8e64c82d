use super::Arguments;
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::change::pipeline::{ChangeSummary, EditSizes, NothingToChange, change, edit_price, edit_sizes};
use crate::engine::{self, EditPrice, first_of_last_turns};
use crate::model::{BlockNumber, Level, OperationKind, State};
use crate::output::{ChangeReport, amount, plural};
use crate::workspace::{Aim, DigestFold, Draft, Scope, SkipReason, Workspace, fold_into_digest, shorten, shrink};
use std::slice;

/// Plans the change for a preset or a budget. A preset that folds turns does so only if `whole` is true: neither blocks nor a level
/// were selected.
fn apply_aim(
    env: &Env,
    draft: &mut Draft<'_>,
    aim: Aim,
    whole: bool,
    scope: &Scope,
    rules: &engine::Rules,
    summary: &mut ChangeSummary,
) -> Result<(), CommandError> {
    match aim {
        Aim::Preset(preset) if preset.folds && whole => {
            if let DigestFold::Nothing(why) = fold_into_digest(draft, &preset, scope, rules)? {
                summary.notes.push(why.to_owned());
            }
        }
        aim => {
            summary.by_state = matches!(aim, Aim::Preset(_));
            summary.kept = shrink(draft, aim, scope, rules, env.cache().as_ref())?;
        }
    }
    let folded = draft.folded_blocks();
    if folded > 0 {
        *summary = ChangeSummary { what: Some(plural(folded, "block")), ..ChangeSummary::change("folded into one digest") };
    }
    Ok(())
}

/// The blocks that a forecast is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Reach {
    /// Stale blocks: `compress --stale`.
    Stale,
    /// All old blocks: `compress --preset` and budgets.
    Old,
}

/// Plans `compress` with the current settings and returns its cost and savings; `None` if it would change nothing.
pub fn forecast(env: &Env, workspace: &Workspace<'_>, aim: Aim, reach: Reach) -> Result<Option<EditPrice>, CommandError> {
    // A screen that prints a hint would take the time of a whole plan: that of an unchanged session is known.
    let key = workspace.plan_key(&(aim, reach, format!("{:?}", env.rules)));
    let known = key.and_then(|key| postcard::from_bytes::<Option<EditSizes>>(&env.cache().plan(key)?).ok());
    let sizes = match known {
        Some(sizes) => sizes,
        None => {
            let sizes = planned_sizes(env, workspace, aim, reach)?;
            if let (Some(key), Ok(packed)) = (key, postcard::to_stdvec(&sizes)) {
                env.cache().remember_plan(key, &packed);
            }
            sizes
        }
    };
    Ok(sizes.map(|sizes| edit_price(env, workspace, &sizes)))
}

fn planned_sizes(env: &Env, workspace: &Workspace<'_>, aim: Aim, reach: Reach) -> Result<Option<EditSizes>, CommandError> {
    let store = env.existing_store()?;
    let mut draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    let only = (reach == Reach::Stale).then(|| workspace.reading.stale().iter().map(|block| block.number).collect());
    let scope = Scope { end: first_of_last_turns(&workspace.reading, env.rules.keep_turns), only, level: None };
    apply_aim(env, &mut draft, aim, reach == Reach::Old, &scope, &env.rules, &mut ChangeSummary::change("compressed"))?;
    let cache = env.cache();
    let drafted = draft.finish(OperationKind::Change, "", None, &|hash| cache.count(hash), false)?;
    Ok(edit_sizes(&drafted))
}

/// Shortens the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = (!arguments.selector.is_empty()).then(|| env.selector(&arguments.selector)).transpose()?;
    let keep_from = arguments.keep_from.as_ref().map(|block| env.selector(slice::from_ref(block))).transpose()?;
    let mut rules = env.rules.clone();
    if let Some(preset) = arguments.preset {
        rules.preset = *preset;
    }
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let end = match &keep_from {
            Some(selector) => {
                let first = selector.select(reading)?.into_iter().next();
                let unmatched = || NothingToChange("--keep-from matches no block".to_owned());
                first.ok_or_else(|| CommandError::new(ErrorKind::Refused, unmatched()))?
            }
            None => BlockNumber::MAX,
        };
        let end = end.min(first_of_last_turns(reading, arguments.keep_turns.unwrap_or_default()));
        let mut summary = ChangeSummary::change("compressed");
        let picked = selector.as_ref().map(|selector| selector.select(reading)).transpose()?;
        let named = selector.as_ref().map(|selector| selector.named(reading)).unwrap_or_default();
        summary.must_pay = named.is_empty() && !arguments.force;
        draft.name_blocks(named);
        let by_preset = arguments.stale || arguments.preset.is_some();
        if let (Some(picked), false) = (&picked, by_preset) {
            let level = arguments.level.unwrap_or(Level::Summarized);
            // Compressing never makes a block longer: `expand` does that.
            let is_longer = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.level <= level);
            let (wanted, shorter): (Vec<_>, Vec<_>) = picked.iter().copied().filter(|number| *number < end).partition(is_longer);
            summary.kept = shorten(draft, &wanted.into_iter().map(|number| (number, level)).collect(), "", None)?;
            if !shorter.is_empty() {
                summary.kept.entry(SkipReason::NotShorter).or_default().extend(shorter);
            }
        }
        let budget = arguments.budget.map(|budget| budget.tokens(reading));
        let budget = budget.or_else(|| arguments.over_budget.then(|| rules.budget(reading)));
        let aim = match budget {
            Some(tokens) => Some(Aim::Tokens(tokens)),
            None => by_preset.then_some(Aim::Preset(rules.preset)),
        };
        let whole = picked.is_none() && arguments.level.is_none() && !arguments.stale;
        if let Some(aim) = aim {
            let kept_turns = arguments.keep_turns.unwrap_or(rules.keep_turns);
            let end = end.min(first_of_last_turns(reading, kept_turns));
            let is_stale = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.state == State::Stale);
            let only = match picked.filter(|_| by_preset) {
                Some(picked) if arguments.stale => Some(picked.into_iter().filter(is_stale).collect()),
                None if arguments.stale => Some(reading.stale().iter().map(|block| block.number).collect()),
                picked => picked,
            };
            if arguments.stale && only.as_ref().is_some_and(Vec::is_empty) {
                summary.notes.push("no block is stale".to_owned());
            }
            let scope = Scope { end, only, level: arguments.level };
            apply_aim(env, draft, aim, whole, &scope, &rules, &mut summary)?;
            summary.by_state &= !arguments.stale;
        }
        if let Some(budget) = budget.filter(|budget| reading.price.total.value <= *budget as f64) {
            summary.notes.push(format!("the window is within its budget of {}", amount(budget)));
        }
        Ok(summary)
    })
}
