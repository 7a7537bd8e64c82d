//! The sections of the composed text, and how a budget is divided among them.

use crate::engine::memory::intent::Intent;

/// A section of the composed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// Repositories, sites and people.
    Entities,
    /// Statements of the user.
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
    /// Returns the heading.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Section::Entities => "Named in several sessions:",
            Section::Rules => "The user said:",
            Section::Failures => "Failures and fixes:",
            Section::Procedures => "Order of commands:",
            Section::Commands => "Commands:",
            Section::Files => "Files:",
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
            (Section::Failures, 28),
            (Section::Procedures, 40),
            (Section::Rules, 0),
            (Section::Agent, 0),
            (Section::Commands, 0),
            (Section::Files, 32),
            (Section::Digests, 0),
        ],
    ),
    (
        500,
        &[
            (Section::Failures, 11),
            (Section::Procedures, 10),
            (Section::Rules, 28),
            (Section::Agent, 1),
            (Section::Commands, 20),
            (Section::Files, 35),
            (Section::Digests, 0),
        ],
    ),
    (
        1500,
        &[
            (Section::Failures, 8),
            (Section::Procedures, 8),
            (Section::Rules, 50),
            (Section::Agent, 2),
            (Section::Commands, 5),
            (Section::Files, 27),
            (Section::Digests, 0),
        ],
    ),
    (
        2000,
        &[
            (Section::Failures, 6),
            (Section::Procedures, 6),
            (Section::Rules, 14),
            (Section::Agent, 2),
            (Section::Commands, 4),
            (Section::Files, 14),
            (Section::Digests, 54),
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
