//! `aperture compress`: shortens blocks to a lower level.

use super::ChangeOptions;
use crate::engine;
use crate::model::Level;
use serde::Serialize;

/// Arguments of `compress`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
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
    pub selector: Option<String>,
    /// Stale blocks, and beyond them aging ones as far as the preset allows
    #[arg(long, group = "what")]
    pub stale: bool,
    /// What will be missed least, until the window fits its budget
    #[arg(long, group = "what")]
    pub over_budget: bool,
    /// The same, with this budget: tokens, or a share of the window's size such as 50%
    #[arg(long, value_name = "N", value_parser = budget, group = "what")]
    pub budget: Option<Budget>,
    /// How much is left [default: by a rule, or summarized]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub level: Option<Level>,
    /// How much of what is old stays: lossless, light, balanced, aggressive or handoff
    #[arg(long, value_name = "NAME", value_parser = preset)]
    #[serde(serialize_with = "preset_name")]
    pub preset: Option<&'static engine::Preset>,
    /// Leave everything from this block on as it is
    #[arg(long, value_name = "BLOCK")]
    pub keep_from: Option<String>,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
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

    /// Returns true if only the selector and the level decide which blocks are shortened, and how.
    pub fn is_by_name(&self) -> bool {
        let more = self.stale || self.over_budget || self.budget.is_some() || self.preset.is_some() || self.keep_from.is_some();
        self.selector.is_some() && !more
    }
}

/// Serializes a preset by its name.
fn preset_name<S: serde::Serializer>(preset: &Option<&'static engine::Preset>, serializer: S) -> Result<S::Ok, S::Error> {
    preset.map(|preset| preset.name).serialize(serializer)
}

/// The maximum size of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// A number of tokens.
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
        None => super::tokens(text).map(Budget::Tokens),
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
