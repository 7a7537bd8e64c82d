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
    /// The newest part of the window, of which more is kept, in percent of the tokens.
    pub newest_percent: f64,
    /// True if the thinking of earlier turns is left out, where it is billed again with each request.
    pub drops_thinking: bool,
    /// True if one digest replaces all old blocks.
    pub folds: bool,
    /// True if that digest has a header for each turn.
    pub has_headers: bool,
}

/// The presets, the one with the least compression first.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "lossless",
        description: "removes repetitions; keeps every other line",
        keeps_percent: 99,
        frees_percent: 20,
        worth_millionths: 0.0,
        newest_percent: 0.0,
        drops_thinking: false,
        folds: false,
        has_headers: false,
    },
    Preset {
        name: "light",
        description: "removes lines that the agent is very unlikely to use again",
        keeps_percent: 94,
        frees_percent: 60,
        worth_millionths: 12.5,
        newest_percent: 33.0,
        drops_thinking: false,
        folds: false,
        has_headers: false,
    },
    Preset {
        name: "balanced",
        description: "keeps lines that the agent may use again; old thinking goes",
        keeps_percent: 90,
        frees_percent: 70,
        worth_millionths: 32.0,
        newest_percent: 33.0,
        drops_thinking: true,
        folds: false,
        has_headers: false,
    },
    Preset {
        name: "aggressive",
        description: "keeps lines that the agent is likely to use again; old thinking goes",
        keeps_percent: 81,
        frees_percent: 77,
        worth_millionths: 76.0,
        newest_percent: 20.0,
        drops_thinking: true,
        folds: false,
        has_headers: false,
    },
    Preset {
        name: "layers",
        description: "one digest for all old blocks: words of the user, state, turns, lines",
        keeps_percent: 67,
        frees_percent: 92,
        worth_millionths: 170.0,
        newest_percent: 0.0,
        drops_thinking: true,
        folds: true,
        has_headers: true,
    },
    Preset {
        name: "handoff",
        description: "a shorter digest, without turns, for a fresh start",
        keeps_percent: 55,
        frees_percent: 94,
        worth_millionths: 366.0,
        newest_percent: 0.0,
        drops_thinking: true,
        folds: true,
        has_headers: false,
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
