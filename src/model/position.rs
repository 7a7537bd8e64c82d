//! Where a block is in the window.

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

/// The zone of a block in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Zone {
    /// The beginning: instructions, the first prompt, the summary of a compaction.
    Primacy,
    /// Everything between the ends.
    Middle,
    /// The newest part.
    Recency,
    /// Outside the window.
    #[default]
    Cold,
}

impl Zone {
    /// Every zone, in window order.
    pub const ALL: [Zone; 4] = [Zone::Primacy, Zone::Middle, Zone::Recency, Zone::Cold];

    /// Returns the name in selectors and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Zone::Primacy => "primacy",
            Zone::Middle => "middle",
            Zone::Recency => "recency",
            Zone::Cold => "cold",
        }
    }

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

/// The position of a pinned block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pin {
    /// Position.
    Here,
    /// At the beginning of the window.
    Top,
    /// At its end.
    Bottom,
}
