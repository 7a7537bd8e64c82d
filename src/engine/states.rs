//! States: where in its life a block is.

use crate::model::{Block, BlockKind, Level, State, Zone};

/// When a block counts as stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalePolicy {
    /// Turns without a reference.
    pub turns: u32,
    /// Responses of the model without a reference.
    pub steps: u32,
}

impl Default for StalePolicy {
    fn default() -> Self {
        StalePolicy { turns: 3, steps: 30 }
    }
}

/// Responses of the model in which a block is fresh.
const FRESH_STEPS: u32 = 2;
/// Responses of the model in which it is too early to judge a block.
const ACTIVE_STEPS: u32 = 10;

/// The heat from which on a block is not forgotten, whoever last came back to it: one rare reference a half-life ago.
const HOT: f32 = 0.4;

/// Whether a block is of a kind that goes stale.
pub fn is_perishable(block: &Block) -> bool {
    matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult | BlockKind::Image | BlockKind::Document)
}

/// The state of a block. `step` is the last one of the session.
///
/// Only what tools were told and answered, and pictures, go stale: what people and the model said is what the work is about.
pub fn state(block: &Block, step: u32, policy: StalePolicy) -> State {
    let usefulness = &block.usefulness;
    let age = step.saturating_sub(block.position.step);
    let perishable = is_perishable(block);
    let forgotten = usefulness.heat < HOT
        && (usefulness.stale_steps >= policy.steps
            || (usefulness.stale_turns >= policy.turns && usefulness.stale_steps >= ACTIVE_STEPS));
    match block.level {
        _ if block.position.zone == Zone::Cold => State::Evicted,
        Level::Archived => State::Archived,
        Level::Trimmed | Level::Summarized | Level::Minimal => State::Compressed,
        Level::Original if age < FRESH_STEPS => State::Fresh,
        Level::Original if perishable && usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes()) => State::Stale,
        Level::Original if age <= ACTIVE_STEPS => State::Active,
        Level::Original if perishable && forgotten => State::Stale,
        Level::Original if usefulness.references > 0 => State::Referenced,
        Level::Original => State::Active,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Outdated, Role};

    fn check(change: impl FnOnce(&mut Block), expected: State) {
        let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
        block.position.zone = Zone::Middle;
        block.position.step = 50;
        change(&mut block);
        assert_eq!(state(&block, 100, StalePolicy::default()), expected);
    }

    #[test]
    fn what_is_not_in_the_window_is_evicted() {
        check(|block| block.position.zone = Zone::Cold, State::Evicted);
    }

    #[test]
    fn the_newest_is_fresh_even_when_superseded() {
        check(
            |block| {
                block.position.step = 99;
                block.usefulness.outdated = Some((Outdated::ReadAgain, 1));
            },
            State::Fresh,
        );
    }

    #[test]
    fn what_a_later_result_says_is_stale() {
        check(|block| block.usefulness.outdated = Some((Outdated::RunAgain, 1)), State::Stale);
        check(|block| block.usefulness.outdated = Some((Outdated::EditedLater, 1)), State::Active);
    }

    #[test]
    fn what_nobody_came_back_to_is_stale() {
        check(|block| block.usefulness.stale_steps = 30, State::Stale);
        check(|block| (block.usefulness.stale_turns, block.usefulness.stale_steps) = (3, 10), State::Stale);
        check(|block| (block.usefulness.stale_turns, block.usefulness.stale_steps) = (3, 9), State::Active);
    }

    #[test]
    fn dialogue_does_not_go_stale() {
        check(
            |block| {
                (block.kind, block.role) = (BlockKind::Text, Role::User);
                block.usefulness.stale_steps = 50;
            },
            State::Active,
        );
    }

    #[test]
    fn what_is_used_is_referenced() {
        check(|block| block.usefulness.references = 1, State::Referenced);
    }
}
