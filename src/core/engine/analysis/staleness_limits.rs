//! Staleness limits: how long each kind of block may be unused, and the turns left.

use super::never_stale::{instructs, is_said};
use super::references::steps_until_below;
use super::states::{ACTIVE_STEPS, Facts, HOT};
use crate::model::{Block, BlockKind, State};

/// The time without use after which a block is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalenessLimit {
    pub turns: u32,
    /// Responses of the model without a reference.
    pub steps: u32,
}

/// When a block counts as stale, by its kind; kinds without a limit never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalePolicy([Option<StalenessLimit>; BlockKind::ALL.len()]);

/// The kinds that become stale by default: tool inputs, tool results and images. Messages of people and of the model define the
/// work.
pub const PERISHABLE: [BlockKind; 4] = [BlockKind::ToolUse, BlockKind::ToolResult, BlockKind::Image, BlockKind::Document];

/// Returns true if a block is of a kind that becomes stale by default.
pub fn is_perishable(block: &Block) -> bool {
    PERISHABLE.contains(&block.kind)
}

impl Default for StalenessLimit {
    fn default() -> Self {
        StalenessLimit { turns: 3, steps: 30 }
    }
}

impl Default for StalePolicy {
    fn default() -> Self {
        StalePolicy::of_all(StalenessLimit::default())
    }
}

impl StalePolicy {
    /// Sets the same limit for every kind that becomes stale.
    pub fn of_all(limit: StalenessLimit) -> StalePolicy {
        StalePolicy(BlockKind::ALL.map(|kind| PERISHABLE.contains(&kind).then_some(limit)))
    }

    pub fn with(mut self, kind: BlockKind, limit: Option<StalenessLimit>) -> StalePolicy {
        self.0[kind as usize] = limit;
        self
    }

    /// Returns the limit of a kind; `None` if it never becomes stale.
    pub fn limit_for_kind(&self, kind: BlockKind) -> Option<StalenessLimit> {
        self.0[kind as usize]
    }

    /// Returns the limit of a block; `None` if it is an instruction or the words of a person.
    pub fn limit_for(&self, block: &Block) -> Option<StalenessLimit> {
        self.limit_for_kind(block.kind).filter(|_| !instructs(block) && !is_said(block))
    }
}

/// Returns the turns without a reference until a block becomes stale; 0 if it is stale, `None` if it never becomes stale.
pub fn turns_left(block: &Block, step: u32, policy: &StalePolicy, steps_per_turn: f64) -> Option<u32> {
    let limit = policy.limit_for(block)?;
    let facts = Facts::from_block(block, step, policy);
    if !facts.is_whole() {
        return None;
    }
    if block.state == State::Stale {
        return Some(0);
    }
    let turns = |steps: u32| (f64::from(steps) / steps_per_turn.max(1.0)).ceil() as u32;
    if facts.superseded {
        return Some(1);
    }
    let usefulness = &block.usefulness;
    let age = step.saturating_sub(block.position.step);
    let to_settle = turns((ACTIVE_STEPS + 1).saturating_sub(age));
    let to_cool = turns(steps_until_below(usefulness.heat, HOT));
    let by_steps = turns(limit.steps.saturating_sub(usefulness.stale_steps));
    let by_turns = limit.turns.saturating_sub(usefulness.stale_turns);
    let by_turns = by_turns.max(turns(ACTIVE_STEPS.saturating_sub(usefulness.stale_steps)));
    Some(by_steps.min(by_turns).max(to_settle).max(to_cool).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::analysis::states::state;
    use crate::model::{Role, Zone};

    #[test]
    fn each_kind_has_its_own_patience() {
        let mut block = Block::new(BlockKind::Attachment, Role::System);
        block.position.zone = Zone::Middle;
        block.usefulness.stale_turns = 5;
        block.usefulness.stale_steps = 12;
        let long = StalenessLimit { turns: 5, steps: 90 };
        for (policy, expected) in [
            (StalePolicy::default(), State::Active),
            (StalePolicy::default().with(BlockKind::Attachment, Some(long)), State::Stale),
            (StalePolicy::default().with(BlockKind::Image, None), State::Active),
        ] {
            assert_eq!(state(&block, 100, &policy), expected);
        }
    }

    #[test]
    fn a_block_lives_as_long_as_was_said() {
        let policy = StalePolicy::default();
        for steps_per_turn in [1u32, 4, 40] {
            for (heat, stale_turns, stale_steps) in [(0.1, 0, 0), (0.9, 0, 0), (0.99, 1, 3), (0.3, 2, 12), (0.2, 1, 28)] {
                let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
                block.position = crate::model::Position { zone: Zone::Middle, step: 100 - stale_steps, ..block.position };
                block.usefulness.heat = heat;
                (block.usefulness.stale_turns, block.usefulness.stale_steps) = (stale_turns, stale_steps);
                block.state = state(&block, 100, &policy);
                let left = turns_left(&block, 100, &policy, f64::from(steps_per_turn)).unwrap();
                let after = |turns: u32| {
                    let steps = turns * steps_per_turn;
                    let mut block = block.clone();
                    block.usefulness.stale_turns += turns;
                    block.usefulness.stale_steps += steps;
                    block.usefulness.heat = 1.0 - (1.0 - heat).powf((-(steps as f32) / 20.0).exp2());
                    state(&block, 100 + steps, &policy)
                };
                assert_eq!(after(left), State::Stale, "{steps_per_turn} {heat} {stale_turns} {stale_steps}: {left}");
                assert!(
                    left <= 1 || after(left - 1) != State::Stale,
                    "{steps_per_turn} {heat} {stale_turns} {stale_steps}: {left}"
                );
            }
        }
    }
}
