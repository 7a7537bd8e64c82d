//! The use of a block, what remains of it, and where it is in the window.

use super::{BlockNumber, texts, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The usage of a block by later blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usefulness {
    /// The number of later blocks of the agent that use terms which this block introduced.
    pub references: u32,
    pub last_turn: Option<u32>,
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
    /// The last answer that builds on it in other words, as a local model says.
    pub echoed_by: Option<BlockNumber>,
    /// The later result that says the same in other words, as a local model says.
    pub alike: Option<BlockNumber>,
}

texts! {
    /// The reason why a block is outdated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Outdated, reason {
        /// A later result has the same content.
        Duplicate = "repeated",
        /// The file was read again.
        ReadAgain = "read again",
        /// The same command or search ran again.
        RunAgain = "run again",
        /// A failed attempt succeeded later.
        Succeeded = "succeeded later",
        /// The plan was replaced.
        Replaced = "replaced",
        /// The file was edited afterwards.
        EditedLater = "edited later",
    }
}

impl Outdated {
    /// Returns true if a later block replaces this one, so that nothing is lost without it.
    pub fn supersedes(self) -> bool {
        self != Outdated::EditedLater
    }
}

words! {
    /// Level of a block.
    #[derive(Default, Hash, PartialOrd, Ord, Deserialize)]
    pub enum Level {
        /// The whole block.
        #[default]
        Original = "original",
        /// The essential lines.
        Trimmed = "trimmed",
        /// A short extract.
        Summarized = "summarized",
        /// One line.
        Minimal = "minimal",
        /// A placeholder; the content is in cold storage.
        Archived = "archived",
    }
}

words! {
    /// The state of a block in its lifecycle.
    #[derive(Default, Hash)]
    pub enum State {
        /// One of the newest blocks.
        #[default]
        Fresh = "fresh",
        /// Recent, or of a kind that does not go stale.
        Active = "active",
        /// Older, and used since.
        Referenced = "referenced",
        /// Superseded, or unused for long.
        Stale = "stale",
        /// Shortened.
        Compressed = "compressed",
        /// Replaced by a placeholder.
        Archived = "archived",
        /// Not in the window.
        Evicted = "evicted",
    }
}

impl State {
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
}

/// The position of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// The zone; cold for blocks outside the window.
    pub zone: Zone,
    /// The turn that it belongs to, from 1 in file order; 0 before the first prompt.
    pub turn: u32,
    /// The API response that it belongs to or precedes, from 1 in file order.
    pub step: u32,
    /// Attention of models to this position: 1 at both ends of the window, less in the middle.
    pub relevance: f32,
}

words! {
    /// The position of a block in the context window.
    #[derive(Default, Hash, PartialOrd, Ord)]
    pub enum Zone {
        /// The beginning: instructions, the first prompt, the summary of a compaction.
        Primacy = "primacy",
        /// Between the beginning and the newest part.
        Middle = "middle",
        /// The newest part.
        Recency = "recency",
        /// Not in the window.
        #[default]
        Cold = "cold",
    }
}

impl Zone {
    /// Returns the name in texts for people, which is a selector too.
    pub fn label(self) -> &'static str {
        match self {
            Zone::Primacy => "beginning",
            Zone::Middle => "middle",
            Zone::Recency => "newest",
            Zone::Cold => "outside",
        }
    }
}

words! {
    /// The place where a block is pinned.
    #[derive(Hash)]
    pub enum Pin {
        /// At its own place.
        Here = "here",
        /// At the beginning of the window.
        Top = "top",
        /// At the end of the window.
        Bottom = "bottom",
    }
}
