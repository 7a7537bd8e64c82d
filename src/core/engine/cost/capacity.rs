//! The window capacity of models, in tokens.

use crate::engine::ReadSettings;
use crate::model::{WindowEvidence, json_forms};
use schemars::JsonSchema;
use serde::Serialize;

/// Window sizes by prefix of the model name; the longest match counts.
///
/// 1M from the 4.7 generation on, 200k before and for Haiku, as the client offers it by default. The 4.6 generation has 1M on
/// request: a session that was billed for more than the table value had it. Sources: Anthropic's overviews of the models, and for
/// GPT-5 the value that Codex writes into its sessions (258,400, which is 95 % of the window); for Gemini the limit of input tokens on
/// the pages of the models (ai.google.dev/gemini-api/docs/models).
const WINDOWS: &[(&str, u64)] = &[
    ("claude-", 200_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-fable-5", 1_000_000),
    ("claude-mythos-5", 1_000_000),
    ("gpt-5", 272_000),
    ("gemini-", 1_048_576),
];

/// The window of a model without a matching entry, and the smallest one of current models.
pub(in crate::engine) const USUAL: u64 = 200_000;
/// The least share of a window at which clients compact by themselves.
const LEAST_FILL: f64 = 0.7;
/// The next size of windows above 200k.
const LARGE: u64 = 1_000_000;

/// The size of a window, and how it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    pub tokens: u64,
    pub source: CapacitySource,
    /// Tokens at its end that the client keeps free: it compacts the session by itself before they are used. 0 if unknown.
    pub reserve: u64,
}

json_forms! {
    /// The size of a window.
    KnownCapacity of capacity: Capacity {
        /// Size of the window.
        capacity_tokens: u64 = capacity.tokens,
        /// Source of the window size.
        capacity_source: CapacitySource = capacity.source,
    }

    /// The size of a window, and the part of it that is kept free.
    ReservedCapacity of capacity: Capacity {
        /// Size of the window.
        capacity_tokens: u64 = capacity.tokens,
        /// Source of the window size.
        capacity_source: CapacitySource = capacity.source,
        /// Tokens at the end of the window that the agent program keeps free: it compacts by itself before they are used; 0 if unknown.
        reserve_tokens: u64 = capacity.reserve,
    }
}

impl Capacity {
    /// Returns the tokens that can be added to a window with `used` tokens until the client compacts it, or until it is full if the
    /// client's reserve is unknown; 0 if it is fuller.
    pub fn free(&self, used: u64) -> u64 {
        self.tokens.saturating_sub(self.reserve).saturating_sub(used)
    }

    /// Returns the window of a session that its client compacted by itself: a smaller one if a window of this size has room for more
    /// than clients keep free, and no later request was larger.
    fn compacted(self, evidence: &WindowEvidence) -> Capacity {
        let is_inferred = matches!(self.source, CapacitySource::Model | CapacitySource::Observed | CapacitySource::Assumed);
        let smaller = evidence.compacted_tokens.max(USUAL);
        let is_compacted = evidence.compacted_tokens > 0 && evidence.later_tokens <= smaller;
        if is_inferred && is_compacted && (smaller as f64) < self.tokens as f64 * LEAST_FILL {
            return Capacity { tokens: smaller, source: CapacitySource::Compacted, reserve: 0 };
        }
        self
    }
}

/// The source of the window size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapacitySource {
    /// The settings or an option.
    Setting,
    /// The agent program.
    Client,
    /// The name of the model.
    Model,
    /// The session, which held more than the usual window of its model.
    Observed,
    /// A compaction by the client itself, long before the usual window of the model was full.
    Compacted,
    /// The default for unknown models.
    #[default]
    Assumed,
}

/// Returns the window of a session of `model`, without the client's reserve.
pub fn capacity(model: &str, evidence: &WindowEvidence, settings: &ReadSettings) -> Capacity {
    let peak = evidence.peak_tokens;
    let named = settings.model_windows.iter().filter(|(name, _)| model.starts_with(name.as_str()));
    let named = named.max_by_key(|(name, _)| name.len()).map(|(_, tokens)| *tokens);
    let known = WINDOWS.iter().filter(|(name, _)| model.starts_with(name)).max_by_key(|(name, _)| name.len());
    let usual = known.map_or(USUAL, |(_, tokens)| *tokens);
    let (tokens, source) = match (settings.window_tokens.or(named), evidence.stated_tokens.filter(|tokens| *tokens > 0)) {
        (Some(tokens), _) => (tokens, CapacitySource::Setting),
        (None, Some(tokens)) => (tokens, CapacitySource::Client),
        (None, None) if peak > usual && peak <= LARGE => (LARGE, CapacitySource::Observed),
        (None, None) if known.is_some() => (usual, CapacitySource::Model),
        (None, None) => (usual, CapacitySource::Assumed),
    };
    Capacity { tokens, source, reserve: 0 }.compacted(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(model: &str, peak: u64, tokens: u64, source: CapacitySource) {
        let evidence = WindowEvidence { peak_tokens: peak, ..WindowEvidence::default() };
        assert_eq!(capacity(model, &evidence, &ReadSettings::default()), Capacity { tokens, source, reserve: 0 }, "{model}");
    }

    #[test]
    fn windows_by_model() {
        check("claude-opus-4-5-20251101", 0, 200_000, CapacitySource::Model);
        check("gpt-5.2-codex", 0, 272_000, CapacitySource::Model);
        check("claude-opus-5-5", 0, 1_000_000, CapacitySource::Model);
        check("qwen3:8b", 0, 200_000, CapacitySource::Assumed);
    }

    #[test]
    fn a_session_that_holds_more_has_the_larger_window() {
        check("claude-sonnet-4-5-20250929", 200_001, 1_000_000, CapacitySource::Observed);
    }

    #[test]
    fn an_automatic_compaction_shows_a_smaller_window() {
        let later = |model: &str, stated_tokens, compacted_tokens, later_tokens| {
            let evidence = WindowEvidence { peak_tokens: 0, stated_tokens, compacted_tokens, later_tokens };
            let window = capacity(model, &evidence, &ReadSettings::default());
            (window.tokens, window.source)
        };
        let shown = |model: &str, stated, at| later(model, stated, at, 0);
        assert_eq!(later("claude-opus-5-5", None, 167_000, 200_000), (200_000, CapacitySource::Compacted));
        assert_eq!(later("claude-opus-5-5", None, 167_000, 200_001), (1_000_000, CapacitySource::Model));
        assert_eq!(shown("claude-opus-5-5", None, 167_000), (200_000, CapacitySource::Compacted));
        assert_eq!(shown("claude-opus-5-5", None, 213_000), (213_000, CapacitySource::Compacted));
        assert_eq!(shown("claude-opus-5-5", None, 967_000), (1_000_000, CapacitySource::Model));
        assert_eq!(shown("claude-opus-4-5", None, 155_000), (200_000, CapacitySource::Model));
        assert_eq!(shown("claude-opus-5-5", Some(500_000), 167_000), (500_000, CapacitySource::Client));
        assert_eq!(shown("claude-opus-5-5", None, 0), (1_000_000, CapacitySource::Model));
    }

    #[test]
    fn the_reserve_is_not_free() {
        let window = Capacity { tokens: 200_000, reserve: 33_000, ..Capacity::default() };
        assert_eq!([0, 38_000, 167_000, 199_000].map(|used| window.free(used)), [167_000, 129_000, 0, 0]);
        assert_eq!(Capacity { reserve: 0, ..window }.free(38_000), 162_000);
    }

    #[test]
    fn settings_win_and_the_longest_name_wins_among_them() {
        let settings = ReadSettings {
            model_windows: vec![("claude".to_owned(), 1), ("claude-opus".to_owned(), 2)],
            ..ReadSettings::default()
        };
        let held = WindowEvidence { peak_tokens: 9, ..WindowEvidence::default() };
        let stated = |tokens| WindowEvidence { stated_tokens: Some(tokens), ..held };
        assert_eq!(capacity("claude-opus-5", &stated(5), &settings).tokens, 2);
        assert_eq!(capacity("gpt-5", &stated(258_400), &settings).source, CapacitySource::Client);
        assert_eq!(capacity("claude-opus-5", &held, &ReadSettings { window_tokens: Some(7), ..settings }).tokens, 7);
    }
}
