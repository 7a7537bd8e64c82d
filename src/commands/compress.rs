//! `aperture compress`: shortens blocks to a lower level.

use super::ChangeOptions;
use crate::engine;
use crate::model::Level;

/// Arguments of `compress`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:
  aperture compress --stale                     stale blocks, and aging ones by preset
  aperture compress --stale --preset aggressive --dry-run
  aperture compress 'tool(Read) & turn(1..3)' --level minimal
  aperture compress --budget 120k               until the window has 120k tokens
  aperture compress --budget 50%                until it is half full
  aperture compress --stale --keep-from 240     not block 240 and later ones

Each block is shortened from its original, and aperture expand restores it. One
change costs one rewrite of the prompt cache; ten small ones cost ten.
Blocks are named by selectors: aperture help selectors.")]
#[group(id = "what", required = true, multiple = true)]
pub struct Arguments {
    /// Blocks, by a selector
    #[arg(group = "what")]
    pub selector: Option<String>,
    /// Stale blocks, and aging ones as far as the preset allows
    #[arg(long, group = "what")]
    pub stale: bool,
    /// The least useful blocks, until the window is within its budget
    #[arg(long, group = "what")]
    pub over_budget: bool,
    /// Like --over-budget, with this budget: tokens, or a share of the window's size such as 50%
    #[arg(long, value_name = "N", value_parser = budget, group = "what")]
    pub budget: Option<Budget>,
    /// Level of the result [default: by a rule, or summarized]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub level: Option<Level>,
    /// Strength: lossless, light, balanced, aggressive or handoff
    #[arg(long, value_name = "NAME", value_parser = preset)]
    pub preset: Option<&'static engine::Preset>,
    /// Do not change this block and later ones
    #[arg(long, value_name = "BLOCK")]
    pub keep_from: Option<String>,
    /// The options of every change.
    #[command(flatten)]
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
pub enum Budget {
    /// A number of tokens.
    Tokens(u64),
    /// A share of the size of the window, in percent.
    Percent(f64),
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
        None => crate::commands::globals::tokens(text).map(Budget::Tokens),
        Some(Ok(percent)) if percent > 0.0 && percent <= 100.0 => Ok(Budget::Percent(percent)),
        Some(_) => Err("write a share of the window as 50%".to_owned()),
    }
}

/// Parses the name of a level below the original.
pub fn level(text: &str) -> Result<Level, String> {
    match Level::from_name(text) {
        Some(level @ (Level::Trimmed | Level::Summarized | Level::Minimal)) => Ok(level),
        _ => Err("the levels are trimmed, summarized, minimal".to_owned()),
    }
}

fn preset(name: &str) -> Result<&'static engine::Preset, String> {
    let names = || engine::PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    engine::preset(name).ok_or_else(|| format!("the presets are {}", names()))
}
