//! `aperture compress`: shortens blocks to a lower level.

use super::{BulkOptions, ChangeOptions};
use crate::app::{CommandError, Env, one_of};
use crate::commands::change::pipeline::{ChangeSummary, EditSizes, NothingToChange, change, edit_price, edit_sizes};
use crate::engine::{self, EditPrice, first_of_last_turns};
use crate::model::{BlockNumber, Level, OperationKind, State};
use crate::output::{ChangeReport, amount, plural};
use crate::workspace::{Aim, DigestFold, Draft, Scope, SkipReason, Workspace, fold_into_digest, shorten, shrink};
use clap::builder::TypedValueParser;
use serde::Serialize;
use std::slice;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("compress"))]
#[command(override_usage = "aperture compress [OPTIONS] <SELECTOR>...
       aperture compress [OPTIONS] --stale
       aperture compress [OPTIONS] --preset <NAME>
       aperture compress [OPTIONS] --budget <N>")]
#[group(id = "what", required = true, multiple = true)]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(group = "what")]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Stale blocks only: those that aperture blocks stale lists
    #[arg(long, group = "what")]
    pub stale: bool,
    /// The least useful blocks, until the window is within its budget
    #[arg(long, group = "what")]
    pub over_budget: bool,
    /// Like --over-budget, with this budget: tokens, or a share of the window's size such as 50%
    #[arg(long, value_name = "N", value_parser = budget, group = "what")]
    pub budget: Option<Budget>,
    /// Level of the result [default: by a rule, or summarized]
    #[arg(long, value_name = "LEVEL", value_parser = level(), hide_possible_values = true)]
    pub level: Option<Level>,
    /// Old blocks, stale or not, at this strength: lossless, light, balanced, aggressive, layers or handoff; with --stale, only stale ones
    #[arg(long, value_name = "NAME", hide_possible_values = true, group = "what")]
    #[arg(value_parser = one_of(engine::PRESETS.iter().map(|preset| preset.name), engine::preset))]
    #[serde(serialize_with = "preset_name")]
    pub preset: Option<&'static engine::Preset>,
    /// Do not change this block and later ones
    #[arg(long, value_name = "BLOCK")]
    pub keep_from: Option<String>,
    /// Do not change the blocks of the last N turns [default: setting protect.turns, unless blocks are selected]
    #[arg(long, value_name = "N", value_parser = crate::app::number::<u32>)]
    pub keep_turns: Option<u32>,
    /// Also make a change that saves under 1 % of the window
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

impl Arguments {
    /// Returns true if only the selector and the level decide which blocks are shortened, and how.
    pub fn is_by_name(&self) -> bool {
        let more = self.stale
            || self.over_budget
            || self.budget.is_some()
            || self.preset.is_some()
            || self.keep_from.is_some()
            || self.bulk.is_bulk()
            || self.keep_turns.is_some();
        !self.selector.is_empty() && !more
    }
}

fn preset_name<S: serde::Serializer>(preset: &Option<&'static engine::Preset>, serializer: S) -> Result<S::Ok, S::Error> {
    preset.map(|preset| preset.name).serialize(serializer)
}

/// The maximum size of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    Tokens(u64),
    /// A share of the size of the window, in percent.
    Percent(f64),
}

impl Serialize for Budget {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Budget::Tokens(tokens) => tokens.to_string().serialize(serializer),
            Budget::Percent(percent) => format!("{percent}%").serialize(serializer),
        }
    }
}

impl Budget {
    pub fn tokens(self, reading: &engine::Analysis) -> u64 {
        match self {
            Budget::Tokens(tokens) => tokens,
            Budget::Percent(percent) => (reading.capacity.tokens as f64 * percent / 100.0) as u64,
        }
    }
}

fn budget(text: &str) -> Result<Budget, String> {
    match text.strip_suffix('%').map(str::parse) {
        None => crate::app::tokens(text).map(Budget::Tokens),
        Some(Ok(percent)) if percent > 0.0 && percent <= 100.0 => Ok(Budget::Percent(percent)),
        Some(_) => Err("write a share of the window as 50%".to_owned()),
    }
}

/// Returns the parser of the levels to which a block can be brought by name.
pub fn level() -> impl TypedValueParser<Value = Level> {
    one_of([Level::Trimmed, Level::Summarized, Level::Minimal].map(Level::name), Level::from_name)
}

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
            summary.skipped = shrink(draft, aim, scope, rules, env.cache().as_ref())?;
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
                first.ok_or_else(|| CommandError::refused(unmatched()))?
            }
            None => BlockNumber::MAX,
        };
        let end = end.min(first_of_last_turns(reading, arguments.keep_turns.unwrap_or_default()));
        let mut summary = ChangeSummary::change("compressed");
        let picked = selector.as_ref().map(|selector| selector.select(reading)).transpose()?;
        let named = selector.as_ref().map(|selector| selector.named(reading)).unwrap_or_default();
        summary.must_pay = named.is_empty() && arguments.budget.is_none() && !arguments.force;
        draft.numbered.extend(named);
        let by_preset = arguments.stale || arguments.preset.is_some();
        if let (Some(picked), false) = (&picked, by_preset) {
            let level = arguments.level.unwrap_or(Level::Summarized);
            // Compressing never makes a block longer: `expand` does that.
            let is_longer = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.level <= level);
            let (wanted, shorter): (Vec<_>, Vec<_>) = picked.iter().copied().filter(|number| *number < end).partition(is_longer);
            summary.skipped = shorten(draft, &wanted.into_iter().map(|number| (number, level)).collect(), "", None)?;
            if !shorter.is_empty() {
                summary.skipped.entry(SkipReason::NotShorter).or_default().extend(shorter);
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
