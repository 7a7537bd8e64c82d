//! The sections of the composed text, and how a budget is divided among them.

use crate::engine::memory::intent::Intent;

/// A section of the composed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Pinned,
    /// Memories that the user wrote, edited or accepted.
    Certain,
    /// Memories of a repository that the user did not accept.
    Repository,
    Rules,
    /// Failed calls and what works.
    Failures,
    /// Commands in their order.
    Procedures,
    Commands,
    Files,
    /// Limits and durations of tools.
    Agent,
    /// Results of a search in earlier sessions.
    Digests,
}

impl Section {
    pub(super) fn heading(self) -> &'static str {
        match self {
            Section::Pinned => "Always:",
            Section::Certain => "Written or accepted by the user:",
            Section::Repository => {
                "From .aperture/memory/ of this repository, not confirmed by the user (aperture memory review --accept-tree):"
            }
            Section::Rules => "The user said:",
            Section::Failures => "Failures and fixes:",
            Section::Procedures => "Usual order of commands, by task:",
            Section::Commands => "Commands that succeeded here:",
            Section::Files => "Where things are:",
            Section::Agent => "Limits of tools:",
            Section::Digests => "From earlier sessions:",
        }
    }
}

/// The shares of the sections, relative to each other, at some budgets in tokens; between them they are interpolated. What a section
/// does not need is divided among the others.
const SHARES: &[(usize, &[(Section, usize)])] = &[
    (
        150,
        &[
            (Section::Rules, 40),
            (Section::Failures, 25),
            (Section::Procedures, 10),
            (Section::Commands, 10),
            (Section::Files, 10),
            (Section::Agent, 2),
            (Section::Repository, 10),
            (Section::Digests, 0),
        ],
    ),
    (
        500,
        &[
            (Section::Rules, 50),
            (Section::Failures, 18),
            (Section::Procedures, 10),
            (Section::Commands, 10),
            (Section::Files, 12),
            (Section::Agent, 2),
            (Section::Repository, 10),
            (Section::Digests, 0),
        ],
    ),
    (
        1500,
        &[
            (Section::Rules, 50),
            (Section::Failures, 15),
            (Section::Procedures, 8),
            (Section::Commands, 7),
            (Section::Files, 20),
            (Section::Agent, 2),
            (Section::Repository, 10),
            (Section::Digests, 0),
        ],
    ),
    (
        2000,
        &[
            (Section::Rules, 10),
            (Section::Failures, 5),
            (Section::Procedures, 4),
            (Section::Commands, 4),
            (Section::Files, 6),
            (Section::Agent, 2),
            (Section::Repository, 10),
            (Section::Digests, 71),
        ],
    ),
];

/// The share of a section without any: it receives what all others leave.
pub(super) const LEAST_SHARE: f64 = 1e-6;

/// Returns the factor by which the intent of the prompt changes a share, in percent.
fn preference(intent: Intent, section: Section) -> usize {
    match (intent, section) {
        (Intent::Operational, Section::Failures | Section::Commands) => 130,
        (Intent::Factual, Section::Rules | Section::Files) => 120,
        (Intent::Procedural, Section::Procedures) => 130,
        (Intent::Introspective, Section::Agent) => 1000,
        _ => 100,
    }
}

/// Returns the share of each section, in the order in which they are printed. They are relative to each other.
pub(super) fn shares(budget: usize, intent: Intent) -> Vec<(Section, f64)> {
    let after = SHARES.iter().position(|(at, _)| *at >= budget).unwrap_or(SHARES.len() - 1);
    let (high, low) = (SHARES[after], SHARES[after.saturating_sub(1)]);
    let weight = match high.0.checked_sub(low.0) {
        Some(span @ 1..) if budget < high.0 => (budget.saturating_sub(low.0)) as f64 / span as f64,
        _ => 1.0,
    };
    let share = |((section, low), (_, high)): (&(Section, usize), &(Section, usize))| {
        let share = *low as f64 * (1.0 - weight) + *high as f64 * weight;
        (*section, (share * preference(intent, *section) as f64).max(LEAST_SHARE))
    };
    low.1.iter().zip(high.1).map(share).collect()
}
