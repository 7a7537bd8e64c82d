//! `aperture compress`: blocks to a shorter level.

use super::changing::{ChangeOptions, Opened, Said, change};
use crate::cli::{CommandError, Env, ErrorKind};
use crate::engine::{self, Rules, Selector};
use crate::model::{BlockNumber, Level, Zone};
use crate::output::amount;
use crate::workspace::{Draft, Kept, shorten};
use anyhow::anyhow;
use std::collections::{BTreeMap, BTreeSet};

/// Arguments of `compress`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture compress --stale                     what is stale, by how long it is unused
  aperture compress --stale --preset aggressive --dry-run
  aperture compress 'tool(Read) & turn(1..3)' --level minimal
  aperture compress --budget 120k               until the window holds 120k tokens
  aperture compress --stale --keep-from 240     nothing from block 240 on

Each block is shortened from its original, and aperture expand brings it back. One
batch costs one rewrite of the prompt cache; ten small ones cost ten.
aperture help selectors explains how blocks are named.")]
#[group(id = "what", required = true, multiple = true)]
pub struct Arguments {
    /// Blocks, by a selector
    #[arg(group = "what")]
    selector: Option<String>,
    /// Every stale block, by how long it is unused
    #[arg(long, group = "what")]
    stale: bool,
    /// What is stale, then what is old, until the window fits its budget
    #[arg(long, group = "what")]
    over_budget: bool,
    /// The same, with this budget in tokens
    #[arg(long, value_name = "N", value_parser = crate::cli::tokens, group = "what")]
    budget: Option<u64>,
    /// How much is left [default: by a rule, or summarized]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,
    /// How short stale blocks get: light, balanced or aggressive
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<&'static engine::Preset>,
    /// Leave everything from this block on as it is
    #[arg(long, value_name = "BLOCK")]
    keep_from: Option<String>,
    #[command(flatten)]
    options: ChangeOptions,
}

/// A level below the original, as it is typed.
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

/// Shortens the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let selector = arguments.selector.as_deref().map(Selector::parse).transpose()?;
    let keep_from = arguments.keep_from.as_deref().map(Selector::parse).transpose()?;
    let mut rules = env.rules.clone();
    if let Some(preset) = arguments.preset {
        rules.levels = preset.levels;
    }
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let end = match &keep_from {
            Some(selector) => {
                let first = selector.select(reading)?.into_iter().next();
                first.ok_or_else(|| CommandError::new(ErrorKind::Refused, anyhow!("no block fits --keep-from")))?
            }
            None => BlockNumber::MAX,
        };
        let mut said = Said::change("compressed");
        let mut wanted: BTreeMap<BlockNumber, Level> = BTreeMap::new();
        if arguments.stale {
            wanted = engine::stale_levels(reading, &rules);
            if let Some(level) = arguments.level {
                wanted.values_mut().for_each(|wanted| *wanted = level);
            }
        }
        if let Some(selector) = &selector {
            let level = arguments.level.unwrap_or(Level::Summarized);
            // What stands there shorter already gets longer only when that was asked for.
            let named = selector
                .select(reading)?
                .into_iter()
                .filter(|number| arguments.level.is_some() || reading.block(*number).is_some_and(|block| block.level < level));
            let picked: Vec<BlockNumber> = named.collect();
            if arguments.stale {
                wanted.retain(|number, _| picked.contains(number));
            } else {
                wanted.extend(picked.into_iter().map(|number| (number, level)));
            }
        }
        wanted.retain(|number, _| *number < end);
        let named = selector.is_some() && !arguments.stale;
        said.kept = shorten(draft, &wanted, "", (!named).then_some(&rules))?;
        let budget = arguments.budget.or_else(|| arguments.over_budget.then(|| rules.budget(reading)));
        if let Some(budget) = budget {
            fit(draft, opened, &rules, budget, end, &mut said)?;
        }
        Ok(said)
    })
}

/// Shortens round by round until the window fits its budget.
fn fit(
    draft: &mut Draft<'_>,
    opened: &Opened,
    rules: &Rules,
    budget: u64,
    end: BlockNumber,
    said: &mut Said,
) -> Result<(), CommandError> {
    let reading = &opened.workspace.reading;
    let total = reading.price.total.value;
    let mut tried: BTreeMap<BlockNumber, Level> = BTreeMap::new();
    let mut shortened: BTreeSet<BlockNumber> = BTreeSet::new();
    let mut kept: BTreeMap<BlockNumber, Kept> = BTreeMap::new();
    for round in engine::rounds(reading) {
        // A round goes on as long as what was expected of some blocks did not come true.
        loop {
            let mut wanted: BTreeMap<BlockNumber, Level> = BTreeMap::new();
            let mut expected = total - draft.saved_so_far();
            for (number, level) in &round {
                if expected <= budget as f64 {
                    break;
                }
                let untried = tried.get(number).is_none_or(|tried| tried < level);
                let block = reading.block(*number).filter(|block| untried && *number < end && block.level < *level);
                let Some(block) = block else { continue };
                // About what is left at the level; what really is left is seen when it is done.
                let left = match level {
                    Level::Trimmed => 0.4,
                    Level::Summarized => 0.15,
                    _ => 0.05,
                };
                expected -= block.tokens.value * (1.0 - left);
                wanted.insert(*number, *level);
            }
            if wanted.is_empty() {
                break;
            }
            let left_alone = shorten(draft, &wanted, "", Some(rules))?;
            let left_alone = left_alone.into_iter().flat_map(|(why, blocks)| blocks.into_iter().map(move |number| (number, why)));
            let left_alone: BTreeMap<BlockNumber, Kept> = left_alone.collect();
            shortened.extend(wanted.keys().filter(|number| !left_alone.contains_key(number)));
            kept.extend(left_alone);
            tried.append(&mut wanted);
        }
    }
    for (number, why) in kept.into_iter().filter(|(number, _)| !shortened.contains(number)) {
        said.keep(why, number);
    }
    let left = (total - draft.saved_so_far()).max(0.0).round() as u64;
    if left > budget {
        let recent: f64 = reading.zone(Zone::Recency).1.value;
        said.notes.push(format!(
            "still {} over the budget of {}: the newest part holds {}, and the dialogue stays",
            amount(left - budget),
            amount(budget),
            amount(recent.round() as u64)
        ));
    } else if total <= budget as f64 {
        said.notes.push(format!("the window is within its budget of {}", amount(budget)));
    }
    Ok(())
}
