//! `aperture compress`: shortens blocks to a lower level.

mod run;

pub use run::{Reach, forecast, run};

use super::{BulkOptions, ChangeOptions};
use crate::engine;
use crate::model::Level;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

/// Arguments of `compress`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture compress --stale                     stale blocks, and nothing else
  aperture compress --preset balanced -n        stale blocks, and older ones in use
  aperture compress --preset handoff            one digest in the place of all that is old
  aperture compress 'tool(Read) & turn(1..3)' --level minimal
  aperture compress --budget 120k               until the window has 120k tokens
  aperture compress --budget 50%                until it is half full
  aperture compress --stale --keep-from 240     not block 240 and later ones
  aperture compress --stale --all --dry-run     stale blocks of every session on this machine
  aperture compress all --keep-turns 2          not the last two turns

Each block is shortened from its original, and aperture expand restores it. One
change costs one rewrite of the prompt cache; ten small ones cost ten. A change
that saves under 1 % of the window does nothing without --force (exit code 0).
Instructions, reminders and texts of hooks are only shortened if their block is
named by its number.
Blocks are named by selectors: aperture help selectors; many sessions: aperture help bulk.")]
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
    #[arg(long, value_name = "NAME", value_parser = preset(), hide_possible_values = true, group = "what")]
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
    /// The sessions, if there are many.
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
    /// Returns the budget in tokens for the window of a session.
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
    let names = [Level::Trimmed, Level::Summarized, Level::Minimal].map(Level::name);
    PossibleValuesParser::new(names).try_map(|name| Level::from_name(&name).ok_or("there is no such level"))
}

fn preset() -> impl TypedValueParser<Value = &'static engine::Preset> {
    let names = engine::PRESETS.iter().map(|preset| preset.name);
    PossibleValuesParser::new(names).try_map(|name| engine::preset(&name).ok_or("there is no such preset"))
}
