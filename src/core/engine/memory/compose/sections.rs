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
    /// The open thoughts of the last turn.
    Open,
    /// The last mistakes, with cause and fix.
    Mistakes,
    /// Other failed calls and what works.
    Failures,
    /// Commands in their order.
    Procedures,
    Commands,
    Files,
    /// Pages of the web that the prompt is about.
    Pages,
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
            Section::Open => "The last turn left open:",
            Section::Mistakes => "The last mistakes, with cause and fix:",
            Section::Failures => "Other failures and fixes:",
            Section::Procedures => "Usual order of commands, by task:",
            Section::Commands => "Commands that succeeded here:",
            Section::Files => "Where things are:",
            Section::Pages => "Found on the web:",
            Section::Digests => "From earlier sessions:",
        }
    }
}

/// Budgets in tokens, and the shares of the sections at each, relative to each other: between them they are interpolated. A share that
/// a section does not need is divided among the others; the lines that are worth least in each section are left out.
const BUDGETS: [usize; 4] = [150, 500, 1500, 2000];
const SHARES: [(Section, [usize; 4]); 10] = [
    (Section::Rules, [40, 50, 50, 10]),
    (Section::Open, [5, 6, 4, 2]),
    (Section::Mistakes, [15, 10, 8, 3]),
    (Section::Failures, [10, 8, 7, 2]),
    (Section::Procedures, [10, 10, 8, 4]),
    (Section::Commands, [10, 10, 7, 4]),
    (Section::Files, [10, 12, 20, 6]),
    (Section::Pages, [3, 4, 4, 3]),
    (Section::Repository, [10, 10, 10, 10]),
    (Section::Digests, [0, 0, 0, 71]),
];

/// The share of a section without any: it receives what all others leave.
pub(super) const LEAST_SHARE: f64 = 1e-6;

/// Returns the factor by which the intent of the prompt changes a share, in percent.
fn preference(intent: Intent, section: Section) -> usize {
    match (intent, section) {
        (Intent::Operational, Section::Mistakes | Section::Failures | Section::Commands) => 130,
        (Intent::Factual, Section::Rules | Section::Files) => 120,
        (Intent::Procedural, Section::Procedures) => 130,
        (Intent::Introspective, Section::Mistakes | Section::Failures) => 300,
        _ => 100,
    }
}

/// Returns the share of each section, in the order in which they are printed. They are relative to each other.
pub(super) fn shares(budget: usize, intent: Intent) -> Vec<(Section, f64)> {
    let after = BUDGETS.iter().position(|at| *at >= budget).unwrap_or(BUDGETS.len() - 1);
    let before = after.saturating_sub(1);
    let (low, high) = (BUDGETS[before], BUDGETS[after]);
    let weight = if low < high && budget < high { budget.saturating_sub(low) as f64 / (high - low) as f64 } else { 1.0 };
    let share = |(section, shares): (Section, [usize; 4])| {
        let share = shares[before] as f64 * (1.0 - weight) + shares[after] as f64 * weight;
        (section, (share * preference(intent, section) as f64).max(LEAST_SHARE))
    };
    SHARES.into_iter().map(share).collect()
}
