//! The facts of a session that the screen shows.

use crate::app::Env;
use crate::commands::{inbox, status};
use crate::engine::{self, Analysis, label, next_request_dollars, stale_reason};
use crate::model::{
    Actor, Basis, Block, BlockKind, BlockNumber, Level, OperationId, OperationKind, Pin, ProposalNumber, State, Zone,
};
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Kinds of content that the head lists as reclaimable.
const RECLAIMED: usize = 5;

/// A session at one moment.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub path: PathBuf,
    /// The shortest name that `-s` takes.
    pub name: String,
    pub title: String,
    pub model: String,
    /// The command that continues the session in its client.
    pub resume: String,
    /// Tokens of the window, its size, the part that the client keeps free, and what is left until it compacts.
    pub tokens: f64,
    pub capacity: u64,
    pub reserve: u64,
    pub free: u64,
    /// True if the tokens are estimated, and not billed.
    pub is_estimated: bool,
    /// The time at which the prompt cache expires, in milliseconds since 1970; `None` without an answer.
    pub cache_ends: Option<i64>,
    /// Estimated price of the next prompt while the cache is warm and after it expired.
    pub next_prompt: Option<(f64, f64)>,
    /// Tokens of stale blocks by kind, the most first, and their sum.
    pub reclaimable: Vec<(String, f64)>,
    pub stale_tokens: f64,
    /// True if a client has the session open and reads changes only when it resumes.
    pub is_open: bool,
    /// Turns in file order; the first can be what precedes the first prompt.
    pub turns: Vec<TurnRow>,
    /// Blocks in the window, in file order.
    pub blocks: Vec<BlockRow>,
    /// Subagents, in the order of their ends.
    pub subagents: Vec<SubagentRow>,
    pub newest_operation: Option<(OperationId, OperationKind, String)>,
    /// Commands of the model that wait for the user.
    pub proposals: Vec<(ProposalNumber, String)>,
}

/// A turn of the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnRow {
    pub number: u32,
    pub prompt: String,
    pub time: Option<i64>,
    pub tokens: f64,
    pub stale_tokens: f64,
    pub blocks: usize,
}

/// A subagent of the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubagentRow {
    pub path: PathBuf,
    pub title: String,
    pub turn: u32,
    pub tokens: f64,
    pub steps: u32,
}

/// A block of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    pub number: BlockNumber,
    pub turn: u32,
    pub kind: BlockKind,
    /// The name of the tool, or of the kind.
    pub sort: String,
    /// The file that its tool names; empty if it names none.
    pub file: String,
    pub label: String,
    pub tokens: f64,
    pub zone: Zone,
    pub state: State,
    pub level: Level,
    pub pin: Option<Pin>,
    pub is_focused: bool,
    pub references: u32,
    pub stale_reason: Option<String>,
}

impl Picture {
    /// Returns the facts of a session as it was read.
    pub fn new(env: &Env, workspace: &Workspace<'_>) -> Picture {
        let reading = &workspace.reading;
        let found = crate::commands::live::pending::found(workspace);
        let blocks: Vec<BlockRow> = reading.in_window().map(block_row).collect();
        let lifetime = workspace.cache_milliseconds();
        let now = env.current_time();
        let total = reading.price.total;
        let mut by_sort: BTreeMap<&str, f64> = BTreeMap::new();
        for block in blocks.iter().filter(|block| block.state == State::Stale) {
            *by_sort.entry(&block.sort).or_default() += block.tokens;
        }
        let mut reclaimable: Vec<(String, f64)> = by_sort.into_iter().map(|(sort, tokens)| (sort.to_owned(), tokens)).collect();
        reclaimable.sort_by(|a, b| b.1.total_cmp(&a.1));
        reclaimable.truncate(RECLAIMED);
        let id = &workspace.location.id;
        Picture {
            path: workspace.path.clone(),
            name: env.name_of(&workspace.path, id),
            title: status::title(reading),
            model: reading.model.clone(),
            resume: workspace.provider.resume_command(id),
            tokens: total.value,
            capacity: reading.capacity.tokens,
            reserve: reading.capacity.reserve,
            free: reading.remaining(),
            is_estimated: total.basis != Basis::Measured,
            cache_ends: engine::idle_milliseconds(reading, now).map(|idle| now - idle + lifetime),
            next_prompt: next_request_dollars(total.value, &reading.model, lifetime, &env.prices),
            stale_tokens: reading.stale_total().1.value,
            reclaimable,
            is_open: crate::commands::change::pipeline::is_live(env, &found),
            turns: turn_rows(reading, &blocks),
            blocks,
            subagents: Vec::new(),
            newest_operation: env.history_of(&found).unwrap_or_default().operations.last().map(|operation| {
                let by = if operation.actor == Actor::User { String::new() } else { format!("{}: ", operation.actor.name()) };
                (operation.id, operation.kind, by + &operation.command)
            }),
            proposals: inbox::waiting_here(env).unwrap_or_default(),
        }
    }

    pub fn block(&self, number: BlockNumber) -> Option<&BlockRow> {
        let place = self.blocks.binary_search_by_key(&number, |block| block.number).ok()?;
        self.blocks.get(place)
    }
}

fn block_row(block: &Block) -> BlockRow {
    let tool = block.tool.as_deref();
    let file = tool.filter(|tool| tool.verb.names_file()).map_or("", |tool| &tool.target);
    BlockRow {
        number: block.number,
        turn: block.position.turn,
        kind: block.kind,
        sort: tool.map_or_else(|| block.kind.name().replace('_', " "), |tool| tool.name.to_string()),
        file: file.to_owned(),
        label: label(block),
        tokens: block.tokens.value,
        zone: block.position.zone,
        state: block.state,
        level: block.level,
        pin: block.pin,
        is_focused: block.focused,
        references: block.usefulness.references,
        stale_reason: stale_reason(block),
    }
}

fn turn_rows(reading: &Analysis, blocks: &[BlockRow]) -> Vec<TurnRow> {
    let mut rows: BTreeMap<u32, TurnRow> = BTreeMap::new();
    for block in blocks {
        let row = rows.entry(block.turn).or_insert_with(|| {
            let turn = reading.turn(block.turn);
            let prompt = turn.map_or("before the first prompt", |turn| crate::provider::without_insertions(&turn.prompt));
            let time = turn.and_then(|turn| turn.timestamp);
            TurnRow { number: block.turn, prompt: prompt.to_owned(), time, ..TurnRow::default() }
        });
        row.tokens += block.tokens;
        row.stale_tokens += if block.state == State::Stale { block.tokens } else { 0.0 };
        row.blocks += 1;
    }
    rows.into_values().collect()
}
