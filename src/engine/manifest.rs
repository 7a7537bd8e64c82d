//! The context manifest: what the window holds, in a few hundred tokens.

use super::{Capacity, Reading, label};
use crate::model::{Block, BlockKind, BlockNumber, Hidden, Level, Pin, Role, TokenCount, Zone};
use serde::Serialize;

/// What the window holds.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// The session's id.
    pub session: String,
    /// The model of the last response.
    pub model: String,
    /// Blocks in the window.
    pub blocks: u32,
    /// Tokens of the window.
    pub tokens: TokenCount,
    /// How much it can hold.
    pub capacity: Capacity,
    /// How full it is, in percent.
    pub percent: f64,
    /// What is sent and not in the file.
    pub outside: TokenCount,
    /// The zones in window order, cold storage last.
    pub zones: Vec<ZoneSummary>,
    /// Topics of the window, the most recent first.
    pub topics: Vec<String>,
    /// Blocks of the file that are not in the window, by reason.
    pub hidden: Hidden,
    /// Topics of cold storage only, the most recent first.
    pub cold_topics: Vec<String>,
    /// The first words of the last prompt.
    pub current_task: Option<String>,
    /// Blocks that the user selected.
    pub focused: Vec<Entry>,
    /// What the window begins with, the most expensive first.
    pub primacy: Vec<Entry>,
    /// The most expensive blocks between the ends.
    pub middle: Vec<Entry>,
    /// The most expensive recent blocks.
    pub recent: Vec<Entry>,
    /// The stale blocks, the most expensive first.
    pub stale: Vec<Entry>,
    /// How many blocks are stale.
    pub stale_blocks: u32,
    /// What they cost together.
    pub stale_tokens: TokenCount,
    /// Tokens that are still free.
    pub remaining: u64,
}

/// A zone in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct ZoneSummary {
    /// Which.
    pub zone: Zone,
    /// Its blocks.
    pub blocks: u32,
    /// What they cost; for cold storage, what they would.
    pub tokens: TokenCount,
    /// Messages of the user in it.
    pub user_messages: u32,
    /// Responses of the model in it.
    pub responses: u32,
    /// Tool results in it.
    pub tool_results: u32,
    /// Shortened blocks in it, by level.
    pub compressed: Vec<(Level, u32)>,
}

/// A block in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its number.
    pub number: BlockNumber,
    /// What it is.
    pub label: String,
    /// What it costs.
    pub tokens: TokenCount,
    /// Where it stands.
    pub zone: Zone,
    /// Where it is pinned.
    pub pin: Option<Pin>,
    /// Why it is stale, if it is.
    pub reason: Option<String>,
}

/// The manifest of a reading, with at most `listed` entries in each list.
pub fn manifest(reading: &Reading, listed: usize) -> Manifest {
    let stale = reading.stale();
    let largest = |zone: Zone| {
        let mut blocks: Vec<&Block> = reading.in_window().filter(|block| block.position.zone == zone).collect();
        blocks.sort_by(|a, b| b.tokens.value.total_cmp(&a.tokens.value));
        blocks.into_iter().take(listed).map(entry).collect()
    };
    let (warm, cold) = topics(reading, listed);
    Manifest {
        session: reading.session.id.clone(),
        model: reading.model.clone(),
        blocks: reading.window.blocks.len() as u32,
        tokens: reading.price.total.0,
        capacity: reading.capacity,
        percent: reading.percent(),
        outside: reading.price.outside.0,
        zones: Zone::ALL.into_iter().map(|zone| summary(reading, zone)).collect(),
        hidden: reading.window.hidden,
        topics: warm,
        cold_topics: cold,
        current_task: reading.current_task().map(str::to_owned),
        focused: reading.in_window().filter(|block| block.focused).map(entry).collect(),
        primacy: largest(Zone::Primacy),
        middle: largest(Zone::Middle),
        recent: largest(Zone::Recency),
        stale_blocks: stale.len() as u32,
        stale_tokens: stale.iter().map(|block| block.tokens).sum(),
        stale: stale.into_iter().take(listed).map(entry).collect(),
        remaining: reading.remaining(),
    }
}

/// A block as it stands in a list.
pub fn entry(block: &Block) -> Entry {
    Entry {
        number: block.number,
        label: label(block),
        tokens: block.tokens,
        zone: block.position.zone,
        pin: block.pin,
        reason: stale_reason(block),
    }
}

/// Why a block is stale, in words: what superseded it, or for how long nobody came back to it.
pub fn stale_reason(block: &Block) -> Option<String> {
    if let Some((reason, by)) = block.usefulness.outdated.filter(|(reason, _)| reason.supersedes()) {
        return Some(format!("{} in #{by}", reason.reason()));
    }
    (block.state == crate::model::State::Stale).then(|| {
        let (turns, steps) = (block.usefulness.stale_turns, block.usefulness.stale_steps);
        if turns > 1 { format!("unused for {turns} turns") } else { format!("unused for {steps} steps") }
    })
}

fn summary(reading: &Reading, zone: Zone) -> ZoneSummary {
    let blocks: Vec<&Block> = reading.session.blocks.iter().filter(|block| block.position.zone == zone).collect();
    let count = |test: &dyn Fn(&Block) -> bool| blocks.iter().filter(|block| test(block)).count() as u32;
    let mut responses: Vec<u32> = blocks
        .iter()
        .filter(|block| matches!(block.role, Role::Assistant | Role::Thinking | Role::ToolUse))
        .map(|block| block.position.step)
        .collect();
    responses.dedup();
    let levels = [Level::Trimmed, Level::Summarized, Level::Minimal, Level::Archived];
    ZoneSummary {
        zone,
        blocks: blocks.len() as u32,
        tokens: blocks.iter().map(|block| block.tokens).sum(),
        user_messages: count(&|block| block.role == Role::User && block.kind != BlockKind::Attachment),
        responses: responses.len() as u32,
        tool_results: count(&|block| block.kind == BlockKind::ToolResult),
        compressed: levels
            .into_iter()
            .map(|level| (level, count(&|block| block.level == level)))
            .filter(|(_, count)| *count > 0)
            .collect(),
    }
}

/// Topics with blocks in the window, and those that only cold storage has; the most recent first.
fn topics(reading: &Reading, listed: usize) -> (Vec<String>, Vec<String>) {
    let mut last: Vec<(BlockNumber, BlockNumber)> = vec![(0, 0); reading.topics.len()];
    for block in &reading.session.blocks {
        if let Some(place) = block.topic.and_then(|topic| last.get_mut(topic as usize)) {
            if block.position.zone == Zone::Cold {
                place.1 = block.number;
            } else {
                place.0 = block.number;
            }
        }
    }
    let newest = |pick: &dyn Fn(&(BlockNumber, BlockNumber)) -> BlockNumber| {
        let mut found: Vec<(BlockNumber, &str)> = last
            .iter()
            .zip(&reading.topics)
            .map(|(place, topic)| (pick(place), topic.label.as_str()))
            .filter(|(number, _)| *number > 0)
            .collect();
        found.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        found.into_iter().take(listed).map(|(_, label)| label.to_owned()).collect()
    };
    (newest(&|(warm, _)| *warm), newest(&|(warm, cold)| if *warm == 0 { *cold } else { 0 }))
}
