//! Presets: the degree to which old blocks are shortened.

use serde::Serialize;

/// A named strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Preset {
    pub name: &'static str,
    pub description: &'static str,
    /// Share of the content that the agent needed later and that is left, in percent: measured on recorded sessions (docs/internals.md).
    pub keeps_percent: u32,
    /// Share of the old content that is removed there, in percent.
    pub frees_percent: u32,
    /// Minimum worth of a kept byte: the probability that the agent needs it, in parts per million.
    pub worth_millionths: f32,
    /// The newest part of the window, which remains nearly unchanged, in percent of the tokens.
    pub newest_percent: f64,
    /// True if one digest replaces all old blocks.
    pub folds: bool,
}

/// The presets, the one with the least compression first.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "lossless",
        description: "removes repetitions; keeps every name and every other line",
        keeps_percent: 99,
        frees_percent: 23,
        worth_millionths: 0.0,
        newest_percent: 0.0,
        folds: false,
    },
    Preset {
        name: "light",
        description: "removes content that the agent is very unlikely to use again",
        keeps_percent: 91,
        frees_percent: 57,
        worth_millionths: 5.5,
        newest_percent: 25.0,
        folds: false,
    },
    Preset {
        name: "balanced",
        description: "keeps content that the agent may use again; newest quarter nearly unchanged",
        keeps_percent: 82,
        frees_percent: 69,
        worth_millionths: 26.0,
        newest_percent: 25.0,
        folds: false,
    },
    Preset {
        name: "aggressive",
        description: "keeps content that the agent is likely to use again",
        keeps_percent: 74,
        frees_percent: 78,
        worth_millionths: 92.0,
        newest_percent: 12.0,
        folds: false,
    },
    Preset {
        name: "handoff",
        description: "replaces all old blocks but instructions with one digest, for a fresh start",
        keeps_percent: 39,
        frees_percent: 95,
        worth_millionths: 302.0,
        newest_percent: 0.0,
        folds: true,
    },
];

/// The default preset.
pub const DEFAULT_PRESET: &str = "balanced";

impl Preset {
    /// Returns the minimum worth of a kept byte.
    pub fn worth(&self) -> f32 {
        self.worth_millionths * 1e-6
    }
}

/// Returns the preset with a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
