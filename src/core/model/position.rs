//! Where a block is in the window.

use super::words;

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
