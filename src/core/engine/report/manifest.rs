//! The context manifest: a summary of the window in a few hundred tokens.

use super::explain::last_compaction;
use crate::engine::content::rules::{Rule, rule};
use crate::engine::{
    Analysis, Capacity, EditPrice, FileInWork, KnownCapacity, Suggestion, SuggestionKind, expiring, files_in_work, label,
    stale_reason,
};
use crate::model::{
    As, Block, BlockKind, BlockNumber, Estimated, Hidden, Key, Level, Pin, Role, State, TokenCount, Zone, json_forms,
};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

json_forms! {
    /// A number of blocks at a level.
    LevelCount of pair: (Level, u32) {
        level: Level = pair.0,
        blocks: u32 = pair.1,
    }

    /// A number of blocks in a state.
    StateCount of pair: (State, u32) {
        state: State = pair.0,
        blocks: u32 = pair.1,
    }
}

/// The content of a window in a few hundred tokens.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Manifest {
    pub session: String,
    /// Model of the last response.
    pub model: String,
    /// Number of blocks in the window.
    pub blocks: u32,
    /// Tokens of the window.
    pub tokens: TokenCount,
    #[serde(flatten, with = "As::<KnownCapacity>")]
    pub capacity: Capacity,
    /// Share of the window that is in use.
    pub percent: f64,
    /// Tokens that are sent and not in the file, such as the system prompt.
    pub outside_tokens: TokenCount,
    /// The tokens that the client usually sends so, from and to, if no bill tells them.
    #[serde(skip)]
    pub unrecorded: Option<(u32, u32)>,
    /// True if these include lost messages: the row before the first one of the window is missing.
    pub lost: bool,
    /// Zones in window order, cold storage last.
    pub zones: Vec<ZoneSummary>,
    /// Topics of the window, the most recent first.
    pub topics: Vec<String>,
    /// Blocks of the file that are not in the window.
    pub hidden: Hidden,
    /// Topics that are only in cold storage, the most recent first.
    pub cold_topics: Vec<String>,
    /// Topics of the blocks that are compacted away or archived, by part of the conversation.
    pub forgotten: Vec<Forgotten>,
    /// Shortened blocks of the window.
    pub shortened: ShortenedBlocks,
    /// Files in work, the most likely to be needed next first.
    pub files: Vec<FileInWork>,
    /// Rules that the user stated: those that say that they hold for ever first, then the newest.
    pub rules: Vec<UserRule>,
    /// Beginning of the last prompt.
    pub current_task: Option<String>,
    /// Focused blocks.
    pub focused: Vec<BlockSummary>,
    /// Blocks at the beginning of the window, the largest first.
    pub primacy: Vec<BlockSummary>,
    /// Blocks in the middle of the window, the largest first.
    pub middle: Vec<BlockSummary>,
    /// Recent blocks, the largest first.
    pub recent: Vec<BlockSummary>,
    /// Stale blocks, the largest first.
    pub stale: Vec<BlockSummary>,
    pub stale_blocks: u32,
    /// Tokens of the stale blocks.
    pub stale_tokens: TokenCount,
    /// Runs of archived blocks.
    pub archived: Vec<ArchivedRun>,
    /// Pinned blocks that are not in the window.
    pub pinned_outside: Vec<BlockNumber>,
    /// Blocks that another program changed after aperture shortened them.
    pub changed_elsewhere: Vec<BlockNumber>,
    /// Free part of the window.
    pub remaining_tokens: u64,
    /// Number of shortened blocks that could be expanded in half of the free part, the smallest first.
    pub expandable: u32,
    /// Estimated cost and savings of `aperture compress --stale`, if it is suggested.
    pub stale_price: Option<EditPrice>,
    /// Blocks of the window by state.
    #[serde(with = "As::<Vec<StateCount>>")]
    pub states: Vec<(State, u32)>,
    /// Blocks that go stale with the next turn unless they are used, the largest first.
    pub expiring: Vec<BlockSummary>,
    /// Number of these blocks.
    pub expiring_blocks: u32,
    /// Tokens of these blocks.
    pub expiring_tokens: TokenCount,
    /// Suggested commands.
    pub suggestions: Vec<Suggestion>,
}

/// Topics of one third of the conversation whose blocks are compacted away or archived.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Third of the conversation: 0 for the first, 2 for the last.
    pub third: u32,
    /// Topics, the one with the most tokens first.
    pub topics: Vec<String>,
    pub blocks: u32,
}

/// Shortened blocks of the window, without archived ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ShortenedBlocks {
    pub blocks: u32,
    /// Cost before they were shortened.
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Saved tokens.
    #[serde(with = "As::<Estimated>")]
    pub saved: f64,
}

/// A rule that the user stated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UserRule {
    pub block: BlockNumber,
    /// Sentence, verbatim.
    pub text: String,
}

/// Archived blocks that follow each other in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ArchivedRun {
    /// Number of the first block.
    pub first: BlockNumber,
    /// Number of the last block.
    pub last: BlockNumber,
    pub blocks: u32,
    /// Cost before they were archived.
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Reasons, each once.
    pub reasons: Vec<String>,
    /// Number of thinking blocks between them, whose signatures are kept.
    pub thinking: u32,
}

/// A zone of the window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ZoneSummary {
    pub zone: Zone,
    pub blocks: u32,
    /// Cost; for cold storage, the cost that the blocks would have in the window.
    pub tokens: TokenCount,
    /// Number of blocks with words of a person: prompts and answers.
    pub user_messages: u32,
    /// Number of responses of the model.
    pub responses: u32,
    pub tool_results: u32,
    /// Shortened blocks by level.
    #[serde(with = "As::<Vec<LevelCount>>")]
    pub compressed: Vec<(Level, u32)>,
}

/// A block in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockSummary {
    pub number: BlockNumber,
    /// Short description.
    pub label: String,
    pub tokens: TokenCount,
    /// Position in the window.
    pub zone: Zone,
    /// Place where the block is pinned.
    pub pin: Option<Pin>,
    /// Reason why the block is stale.
    pub reason: Option<String>,
}

/// Creates the manifest of an analysis, with at most `listed` entries in each list.
pub fn manifest(reading: &Analysis, listed: usize) -> Manifest {
    let stale = reading.stale();
    let largest = |zone: Zone| {
        let mut blocks: Vec<&Block> = reading.in_window().filter(|block| block.position.zone == zone).collect();
        blocks.sort_by(|a, b| b.tokens.value.total_cmp(&a.tokens.value));
        blocks.into_iter().take(listed).map(entry).collect()
    };
    let (warm, cold) = topics(reading, listed);
    let expiring = expiring(reading);
    let is_billed = reading.session.rows.iter().any(|row| row.usage.is_some());
    Manifest {
        session: reading.session.id.clone(),
        model: reading.model.clone(),
        blocks: reading.window.blocks.len() as u32,
        tokens: reading.price.total,
        capacity: reading.capacity,
        percent: reading.percent(),
        outside_tokens: reading.price.outside,
        unrecorded: reading.session.conventions.unrecorded_tokens.filter(|_| !is_billed),
        lost: is_cut_off(reading),
        zones: Zone::ALL.into_iter().map(|zone| summary(reading, zone)).collect(),
        hidden: reading.window.hidden,
        topics: warm,
        cold_topics: cold,
        forgotten: forgotten(reading, listed),
        shortened: shortened(reading),
        files: files_in_work(reading, listed.saturating_mul(3)),
        rules: rules(reading, listed),
        current_task: reading.current_task().map(str::to_owned),
        focused: reading.in_window().filter(|block| block.focused).map(entry).collect(),
        primacy: largest(Zone::Primacy),
        middle: largest(Zone::Middle),
        recent: largest(Zone::Recency),
        stale_blocks: stale.len() as u32,
        stale_tokens: stale.iter().map(|block| block.tokens).sum(),
        stale: stale.into_iter().take(listed).map(entry).collect(),
        remaining_tokens: reading.remaining(),
        archived: archived(reading),
        pinned_outside: numbers(reading, &|block| block.pin.is_some() && block.position.zone == Zone::Cold),
        changed_elsewhere: numbers(reading, &|block| block.changed_elsewhere),
        expandable: expandable(reading),
        stale_price: None,
        states: State::ALL
            .into_iter()
            .map(|state| (state, reading.in_window().filter(|block| block.state == state).count() as u32))
            .filter(|(_, count)| *count > 0)
            .collect(),
        expiring_blocks: expiring.len() as u32,
        expiring_tokens: expiring.iter().map(|block| block.tokens).sum(),
        expiring: expiring.into_iter().take(listed).map(entry).collect(),
        suggestions: Vec::new(),
    }
}

/// Returns true if the parent of the first row of the live chain, or one of its ancestors, is missing from the file.
fn is_cut_off(reading: &Analysis) -> bool {
    let rows = &reading.session.rows;
    let mut parent = reading.window.chain.first().and_then(|first| rows[*first as usize].parent);
    if parent.is_none() {
        return false;
    }
    // Rows outside any chain, such as progress reports, can be in between. Each visited row is removed, so a cycle ends and counts
    // as lost.
    let mut parents: FxHashMap<Key, Option<Key>> = rows.iter().filter_map(|row| Some((row.id?, row.parent))).collect();
    while let Some(id) = parent {
        match parents.remove(&id) {
            Some(next) => parent = next,
            None => return true,
        }
    }
    false
}

impl Manifest {
    pub fn with(mut self, suggestions: Vec<Suggestion>) -> Manifest {
        let stale = suggestions.iter().find(|suggestion| suggestion.kind == SuggestionKind::Compress);
        self.stale_price = stale.and_then(|suggestion| suggestion.price);
        self.suggestions = suggestions;
        self
    }
}

fn numbers(reading: &Analysis, test: &dyn Fn(&Block) -> bool) -> Vec<BlockNumber> {
    reading.session.blocks.iter().filter(|block| test(block)).map(|block| block.number).collect()
}

/// Returns the archived blocks of the window. Blocks separated only by thinking or by blocks that belong to them form one run.
fn archived(reading: &Analysis) -> Vec<ArchivedRun> {
    let mut runs: Vec<ArchivedRun> = Vec::new();
    let mut thinking = 0;
    let mut open = false;
    for block in reading.session.blocks.iter().filter(|block| block.position.zone != Zone::Cold || block.role == Role::Thinking) {
        if block.level == Level::Archived {
            if !open {
                runs.push(ArchivedRun { first: block.number, ..ArchivedRun::default() });
                thinking = 0;
            }
            open = true;
            if let Some(run) = runs.last_mut() {
                run.last = block.number;
                run.blocks += 1;
                run.tokens += block.marker.map_or(0.0, |marker| marker.tokens);
                run.thinking += std::mem::take(&mut thinking);
                if !block.reason.is_empty() && !run.reasons.iter().any(|reason| *reason == *block.reason) {
                    run.reasons.push(block.reason.to_string());
                }
            }
        } else if block.role == Role::Thinking {
            thinking += 1;
        } else if block.kind != BlockKind::ToolUse {
            open = false;
        }
    }
    runs
}

/// Returns the number of shortened blocks that can be expanded within half of the free tokens, the smallest first.
fn expandable(reading: &Analysis) -> u32 {
    let mut costs: Vec<f64> = reading
        .in_window()
        .filter(|block| matches!(block.level, Level::Trimmed | Level::Summarized | Level::Minimal))
        .filter_map(|block| Some(block.marker?.tokens - block.tokens.value))
        .collect();
    costs.sort_by(f64::total_cmp);
    let mut free = reading.remaining() as f64 / 2.0;
    let fits = costs.into_iter().take_while(|cost| {
        free -= cost;
        free >= 0.0
    });
    fits.count() as u32
}

/// Returns the list entry of a block.
pub fn entry(block: &Block) -> BlockSummary {
    BlockSummary {
        number: block.number,
        label: label(block),
        tokens: block.tokens,
        zone: block.position.zone,
        pin: block.pin,
        reason: stale_reason(block),
    }
}

fn summary(reading: &Analysis, zone: Zone) -> ZoneSummary {
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
        user_messages: count(&|block| !block.words.is_empty()),
        responses: responses.len() as u32,
        tool_results: count(&|block| block.kind == BlockKind::ToolResult),
        compressed: levels
            .into_iter()
            .map(|level| (level, count(&|block| block.level == level)))
            .filter(|(_, count)| *count > 0)
            .collect(),
    }
}

/// Returns the topics of blocks that are compacted away or archived, by third of the conversation.
fn forgotten(reading: &Analysis, listed: usize) -> Vec<Forgotten> {
    let rows = &reading.session.rows;
    let boundary = last_compaction(reading).unwrap_or_default();
    let is_forgotten = |block: &&Block| {
        let archived = block.level == Level::Archived;
        let compacted = block.position.zone == Zone::Cold && block.row < boundary;
        !rows[block.row as usize].sidechain && (archived || compacted)
    };
    // Tokens and the last turn of each topic in these blocks.
    let mut topics: Vec<(f64, u32)> = vec![(0.0, 0); reading.topics.len()];
    let mut blocks = [0; 3];
    let turns = reading.last_turn().max(1);
    let third = |turn: u32| (turn.saturating_sub(1) * 3 / turns).min(2);
    for block in reading.session.blocks.iter().filter(is_forgotten) {
        blocks[third(block.position.turn) as usize] += 1;
        if let Some(place) = block.topic.and_then(|topic| topics.get_mut(topic as usize)) {
            place.0 += block.marker.map_or(block.tokens.value, |marker| marker.tokens).max(1.0);
            place.1 = block.position.turn;
        }
    }
    let part = |number: u32| {
        let mut found: Vec<(f64, &str)> = topics
            .iter()
            .zip(&reading.topics)
            .filter(|((tokens, turn), _)| *tokens > 0.0 && third(*turn) == number)
            .map(|((tokens, _), topic)| (*tokens, topic.name()))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let topics: Vec<String> = found.into_iter().take(listed).map(|(_, label)| label.to_owned()).collect();
        Forgotten { third: number, topics, blocks: blocks[number as usize] }
    };
    (0..3).map(part).filter(|part| !part.topics.is_empty()).collect()
}

/// Returns the number of shortened blocks of the window and the tokens that they save.
fn shortened(reading: &Analysis) -> ShortenedBlocks {
    let mut sum = ShortenedBlocks::default();
    for block in reading.in_window().filter(|block| !matches!(block.level, Level::Original | Level::Archived)) {
        let tokens = block.marker.map_or(block.tokens.value, |marker| marker.tokens);
        sum.blocks += 1;
        sum.tokens += tokens;
        sum.saved += (tokens - block.tokens.value).max(0.0);
    }
    sum
}

/// Returns the rules of the user without duplicates: those that say that they hold for ever first, then the newest.
fn rules(reading: &Analysis, listed: usize) -> Vec<UserRule> {
    let mut found: Vec<(Option<Rule>, UserRule)> = Vec::new();
    let is_live = |block: &&Block| !reading.is_left(block) && !reading.session.rows[block.row as usize].sidechain;
    for block in reading.session.blocks.iter().rev().filter(is_live) {
        for text in block.rules() {
            if !found.iter().any(|(_, known)| known.text.eq_ignore_ascii_case(text)) {
                found.push((rule(text), UserRule { block: block.number, text: text.to_owned() }));
            }
        }
    }
    found.sort_by_key(|(rule, _)| std::cmp::Reverse(*rule));
    found.into_iter().take(listed).map(|(_, rule)| rule).collect()
}

/// Returns the topics with blocks in the window, and the topics of cold storage only; the most recent first.
fn topics(reading: &Analysis, listed: usize) -> (Vec<String>, Vec<String>) {
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
            .map(|(place, topic)| (pick(place), topic.name()))
            .filter(|(number, _)| *number > 0)
            .collect();
        found.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        found.into_iter().take(listed).map(|(_, label)| label.to_owned()).collect()
    };
    (newest(&|(warm, _)| *warm), newest(&|(warm, cold)| if *warm == 0 { *cold } else { 0 }))
}
