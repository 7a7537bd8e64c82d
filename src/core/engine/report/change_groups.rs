//! Changed blocks, grouped by kind and reason.

use crate::engine::Analysis;
use crate::model::{As, Block, BlockChange, BlockKind, Estimated, State};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Changed blocks of one kind and reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ChangeGroup {
    /// Tool and its part, such as `Read result`, or kind of the block.
    pub kind: String,
    /// Reason that makes the blocks candidates: such as `read again` or `unused`, or else their state; empty if they are not shortened.
    pub reason: &'static str,
    pub blocks: usize,
    #[serde(with = "As::<Estimated>")]
    pub tokens_before: f64,
    #[serde(with = "As::<Estimated>")]
    pub tokens_after: f64,
}

impl ChangeGroup {
    /// Returns the tokens that the model no longer receives.
    pub fn saved(&self) -> f64 {
        self.tokens_before - self.tokens_after
    }
}

/// Groups changed blocks by kind and reason; those with the largest effect come first.
pub fn change_groups(reading: &Analysis, changes: &[BlockChange]) -> Vec<ChangeGroup> {
    let mut groups: BTreeMap<(String, &'static str), ChangeGroup> = BTreeMap::new();
    for change in changes {
        let block = reading.block(change.number);
        // The reasons are those of shortening a block, not of restoring it.
        let shortens = |block: &Block| if change.level_after > change.level_before { reason(block) } else { "" };
        let key = (block.map(kind).unwrap_or_default(), block.map_or("added", shortens));
        let group = groups.entry(key).or_default();
        group.blocks += 1;
        group.tokens_before += change.tokens_before;
        group.tokens_after += change.tokens_after;
    }
    let mut groups: Vec<ChangeGroup> =
        groups.into_iter().map(|((kind, reason), group)| ChangeGroup { kind, reason, ..group }).collect();
    groups.sort_by(|a, b| b.saved().abs().total_cmp(&a.saved().abs()));
    groups
}

fn kind(block: &Block) -> String {
    let part = match block.kind {
        BlockKind::ToolUse => "call",
        BlockKind::ToolResult => "result",
        kind => return kind.name().to_owned(),
    };
    block.tool.as_ref().map_or_else(|| block.kind.name().replace('_', " "), |tool| format!("{} {part}", tool.name))
}

fn reason(block: &Block) -> &'static str {
    match block.usefulness.outdated {
        Some((reason, _)) if reason.supersedes() || block.state != State::Stale => reason.reason(),
        _ if block.state == State::Stale => "unused",
        _ => block.state.name(),
    }
}
