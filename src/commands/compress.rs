//! `aperture compress`: shortens blocks to a lower level.

use super::changing::{ChangeOptions, Said, change, edit_price};
use crate::app::{CommandError, Env, ErrorKind};
use crate::engine::{self, EditPrice, Selector};
use crate::model::{BlockNumber, Level, OperationKind};
use crate::output::{ChangeReport, amount, plural};
use crate::workspace::{Aim, Draft, Handover, Scope, Workspace, hand_over, shorten, shrink};
use anyhow::anyhow;

/// Arguments of `compress`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:
  aperture compress --stale                     stale blocks, and aging ones by preset
  aperture compress --stale --preset aggressive --dry-run
  aperture compress 'tool(Read) & turn(1..3)' --level minimal
  aperture compress --budget 120k               until the window holds 120k tokens
  aperture compress --budget 50%                until it is half full
  aperture compress --stale --keep-from 240     nothing from block 240 on

Each block is shortened from its original, and aperture expand brings it back. One
batch costs one rewrite of the prompt cache; ten small ones cost ten.
aperture help selectors explains how blocks are named.")]
#[group(id = "what", required = true, multiple = true)]
pub struct Arguments {
    /// Blocks, by a selector
    #[arg(group = "what")]
    selector: Option<String>,
    /// Stale blocks, and beyond them aging ones as far as the preset allows
    #[arg(long, group = "what")]
    stale: bool,
    /// What will be missed least, until the window fits its budget
    #[arg(long, group = "what")]
    over_budget: bool,
    /// The same, with this budget: tokens, or a share of the window's size such as 50%
    #[arg(long, value_name = "N", value_parser = budget, group = "what")]
    budget: Option<Budget>,
    /// How much is left [default: by a rule, or summarized]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,
    /// How much of what is old stays: lossless, light, balanced, aggressive or handoff
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<&'static engine::Preset>,
    /// Leave everything from this block on as it is
    #[arg(long, value_name = "BLOCK")]
    keep_from: Option<String>,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Arguments {
    /// Returns the arguments of `compress --stale`, which compresses stale blocks by the settings.
    pub fn stale(live: bool) -> Arguments {
        Arguments { stale: true, options: ChangeOptions { live, ..ChangeOptions::default() }, ..Arguments::default() }
    }

    /// Returns the arguments of `compress --over-budget`, with the budget of the settings.
    pub fn over_budget(live: bool) -> Arguments {
        Arguments { over_budget: true, stale: false, ..Arguments::stale(live) }
    }

    /// Returns the arguments that bring selected blocks to a level.
    pub fn of(selector: String, level: Option<Level>, options: ChangeOptions) -> Arguments {
        let selector = Some(selector);
        Arguments { selector, stale: false, over_budget: false, budget: None, level, preset: None, keep_from: None, options }
    }

    /// Returns the selector and the level; `None` if any other option is set.
    pub fn named(&self) -> Option<(&str, Option<Level>)> {
        let more = self.stale || self.over_budget || self.budget.is_some() || self.preset.is_some() || self.keep_from.is_some();
        self.selector.as_deref().filter(|_| !more).map(|selector| (selector, self.level))
    }
}

/// The maximum size of a window.
#[derive(Clone, Copy, Debug)]
enum Budget {
    Tokens(u64),
    Percent(f64),
}

impl Budget {
    fn tokens(self, reading: &engine::Analysis) -> u64 {
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
        Some(_) => Err("a share of the window is written as 50%".to_owned()),
    }
}

/// Parses the name of a level below the original.
pub fn level(text: &str) -> Result<Level, String> {
    match Level::from_name(text) {
        Some(level @ (Level::Trimmed | Level::Summarized | Level::Minimal)) => Ok(level),
        _ => Err("a level is trimmed, summarized or minimal".to_owned()),
    }
}

fn preset(name: &str) -> Result<&'static engine::Preset, String> {
    let names = || engine::PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    engine::preset(name).ok_or_else(|| format!("a preset is one of {}", names()))
}

/// Plans the shortening for a preset or a budget. A preset that folds turns does so only if `whole` is true: neither blocks nor a
/// level were selected.
fn apply_aim(
    env: &Env,
    draft: &mut Draft<'_>,
    aim: Aim,
    whole: bool,
    scope: &Scope,
    rules: &engine::Rules,
    said: &mut Said,
) -> Result<(), CommandError> {
    match aim {
        Aim::Preset(preset) if preset.folds && whole => match hand_over(draft, &preset, scope, rules)? {
            Handover::Folded(blocks) => {
                *said = Said { what: Some(plural(blocks.len(), "block")), ..Said::change("folded into one digest") };
            }
            Handover::Nothing(why) => said.notes.push(why.to_owned()),
        },
        aim => {
            said.by_state = matches!(aim, Aim::Preset(_));
            said.kept = shrink(draft, aim, scope, rules, &env.cache())?;
        }
    }
    Ok(())
}

/// Plans `compress --stale` with the current settings and returns its cost and savings; `None` if it would change nothing.
///
/// # Errors
///
/// The plan cannot be made.
pub fn forecast(env: &Env, workspace: &Workspace<'_>) -> Result<Option<EditPrice>, CommandError> {
    let store = env.existing_store()?;
    let mut draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    let scope = Scope { end: BlockNumber::MAX, only: None, level: None };
    let aim = Aim::Preset(env.rules.preset);
    apply_aim(env, &mut draft, aim, true, &scope, &env.rules, &mut Said::change("compressed"))?;
    let cache = env.cache();
    let drafted = draft.finish(OperationKind::Change, "", None, &|hash| cache.count(hash), false)?;
    Ok(edit_price(env, workspace, &drafted))
}

/// Shortens the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = arguments.selector.as_deref().map(Selector::parse).transpose()?;
    let keep_from = arguments.keep_from.as_deref().map(Selector::parse).transpose()?;
    let mut rules = env.rules.clone();
    if let Some(preset) = arguments.preset {
        rules.preset = *preset;
    }
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let end = match &keep_from {
            Some(selector) => {
                let first = selector.select(reading)?.into_iter().next();
                first.ok_or_else(|| CommandError::new(ErrorKind::Refused, anyhow!("--keep-from matches no block")))?
            }
            None => BlockNumber::MAX,
        };
        let mut said = Said::change("compressed");
        let picked = selector.as_ref().map(|selector| selector.select(reading)).transpose()?;
        if let (Some(picked), false) = (&picked, arguments.stale) {
            let level = arguments.level.unwrap_or(Level::Summarized);
            // A block that is already shorter becomes longer only with an explicit level.
            let named = picked.iter().filter(|number| **number < end);
            let shorter = |number: &&BlockNumber| reading.block(**number).is_some_and(|block| block.level < level);
            let wanted = named.filter(|number| arguments.level.is_some() || shorter(number)).map(|number| (*number, level));
            said.kept = shorten(draft, &wanted.collect(), "", None)?;
        }
        let named = arguments.budget.map(|budget| budget.tokens(reading));
        let budget = named.or_else(|| arguments.over_budget.then(|| rules.budget(reading)));
        let aim = match budget {
            Some(tokens) => Some(Aim::Tokens(tokens)),
            None => arguments.stale.then_some(Aim::Preset(rules.preset)),
        };
        let whole = picked.is_none() && arguments.level.is_none();
        if let Some(aim) = aim {
            let scope = Scope { end, only: picked.filter(|_| arguments.stale), level: arguments.level };
            apply_aim(env, draft, aim, whole, &scope, &rules, &mut said)?;
        }
        if let Some(budget) = budget.filter(|budget| reading.price.total.value <= *budget as f64) {
            said.notes.push(format!("the window is within its budget of {}", amount(budget)));
        }
        Ok(said)
    })
}
