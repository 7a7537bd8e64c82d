//! The use of a block, and what remains of it.

use super::BlockNumber;
use serde::{Deserialize, Serialize};

/// The usage of a block by later blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usefulness {
    /// The number of later blocks of the agent that use terms which this block introduced.
    pub references: u32,
    /// The turn of the last of them.
    pub last_turn: Option<u32>,
    /// The step of the last of them.
    pub last_step: Option<u32>,
    /// Heat, from 0 to 1.
    pub heat: f32,
    /// Turns since it was written or last referenced.
    pub stale_turns: u32,
    /// Steps since it was written or last referenced.
    pub stale_steps: u32,
    /// The reason why its content is outdated, and the block that replaces it; `None` if it is not outdated.
    pub outdated: Option<(Outdated, BlockNumber)>,
    /// Every such reason with its block, the strongest first: `outdated` is the first of them.
    pub reasons: Vec<(Outdated, BlockNumber)>,
    /// Estimated number of turns without a reference until it becomes stale; 0 if it is stale, `None` if it is never stale.
    pub turns_left: Option<u32>,
}

/// The reason why the content of a block is outdated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outdated {
    /// A later result has the same content.
    Duplicate,
    /// The file was read again.
    ReadAgain,
    /// The same command or search ran again.
    RunAgain,
    /// A failed attempt that later succeeded.
    Succeeded,
    /// The plan was replaced.
    Replaced,
    /// The file was edited afterwards; its older content may still be needed.
    EditedLater,
}

impl Outdated {
    /// Returns the reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            Outdated::Duplicate => "repeated",
            Outdated::ReadAgain => "read again",
            Outdated::RunAgain => "run again",
            Outdated::Succeeded => "succeeded later",
            Outdated::Replaced => "replaced",
            Outdated::EditedLater => "edited later",
        }
    }

    /// Returns true if a later block replaces this one, so that nothing is lost without it.
    pub fn supersedes(self) -> bool {
        self != Outdated::EditedLater
    }
}

/// The level of a block: its remaining part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    #[default]
    Original,
    /// The essential lines.
    Trimmed,
    /// A short extract.
    Summarized,
    /// One line.
    Minimal,
    /// A placeholder; the content is in cold storage.
    Archived,
}

impl Level {
    /// Every level, from the longest to the shortest.
    pub const ALL: [Level; 5] = [Level::Original, Level::Trimmed, Level::Summarized, Level::Minimal, Level::Archived];

    /// Returns the level with this name.
    pub fn from_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Returns the name in commands and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Level::Original => "original",
            Level::Trimmed => "trimmed",
            Level::Summarized => "summarized",
            Level::Minimal => "minimal",
            Level::Archived => "archived",
        }
    }
}

/// The state of a block in its life cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// New: part of the last steps.
    #[default]
    Fresh,
    /// Recent, not yet old enough to judge.
    Active,
    /// Old, but the agent used it recently.
    Referenced,
    /// Superseded, or unused for a long time.
    Stale,
    /// Shortened.
    Compressed,
    /// In cold storage.
    Archived,
    /// Not in the window: hidden by a compaction or on an abandoned branch.
    Evicted,
}

impl State {
    /// Every state, in the order of the life cycle.
    pub const ALL: [State; 7] =
        [State::Fresh, State::Active, State::Referenced, State::Stale, State::Compressed, State::Archived, State::Evicted];

    /// Returns a short description.
    pub fn meaning(self) -> &'static str {
        match self {
            State::Fresh => "new: part of the last responses",
            State::Active => "recent, or of a kind that never becomes stale",
            State::Referenced => "older, and used since",
            State::Stale => "superseded by a later block, or unused for a long time",
            State::Compressed => "shortened to a part or to one line",
            State::Archived => "replaced by one line; recall and expand restore it",
            State::Evicted => "not in the window: before a compaction, or on an abandoned branch",
        }
    }

    /// Returns the name in selectors and JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::Fresh => "fresh",
            State::Active => "active",
            State::Referenced => "referenced",
            State::Stale => "stale",
            State::Compressed => "compressed",
            State::Archived => "archived",
            State::Evicted => "evicted",
        }
    }
}
