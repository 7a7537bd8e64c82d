//! States: where in its life a block is, by one table of transitions.

use super::staleness_limits::{StalePolicy, StalenessLimit};
use crate::model::{Block, Level, State, Zone};

/// Responses of the model in which a block is fresh.
pub const FRESH_STEPS: u32 = 2;
/// Responses of the model in which it is too early to judge a block.
pub const ACTIVE_STEPS: u32 = 10;
/// Minimum heat of a block that is not forgotten, whichever block referred to it last: one rare reference a half-life ago.
pub const HOT: f32 = 0.4;

/// Facts that determine the state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// True if the model would see it.
    pub in_window: bool,
    pub level: Level,
    /// True if it belongs to the last responses.
    pub newest: bool,
    /// True if it is old enough to be judged by its use.
    pub settled: bool,
    /// True if a later block has the same content, or newer content.
    pub superseded: bool,
    /// True if the block was not referenced for longer than the policy allows.
    pub forgotten: bool,
    /// True if a later block of the agent came back to it.
    pub used: bool,
}

impl Facts {
    /// Computes the facts of a block. `step` is the last one of the session.
    pub fn from_block(block: &Block, step: u32, policy: &StalePolicy) -> Facts {
        let usefulness = &block.usefulness;
        let limit = policy.limit_for(block);
        let age = step.saturating_sub(block.position.step);
        let unused = |limit: StalenessLimit| {
            usefulness.stale_steps >= limit.steps
                || (usefulness.stale_turns >= limit.turns && usefulness.stale_steps >= ACTIVE_STEPS)
        };
        Facts {
            in_window: block.position.zone != Zone::Cold,
            level: block.level,
            newest: age < FRESH_STEPS,
            settled: age > ACTIVE_STEPS,
            superseded: limit.is_some() && usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes()),
            forgotten: usefulness.heat < HOT && limit.is_some_and(unused),
            used: usefulness.references > 0,
        }
    }

    pub fn is_whole(&self) -> bool {
        self.in_window && self.level == Level::Original
    }

    fn is_stale(&self) -> bool {
        self.superseded || (self.settled && self.forgotten)
    }
}

/// A step from one state into another one.
pub struct Transition {
    pub name: &'static str,
    /// The states that it leads out of.
    pub from: &'static [State],
    pub to: State,
    pub when: &'static str,
    holds: fn(&Facts) -> bool,
}

impl Transition {
    /// True if it leads out of a state under these circumstances.
    pub fn applies(&self, state: State, facts: &Facts) -> bool {
        self.from.contains(&state) && (self.holds)(facts)
    }
}

use State::{Active, Archived, Compressed, Evicted, Fresh, Referenced, Stale};

/// All transitions. For any facts, at most one leads out of a state, and following them ends in the same state from any start: a
/// state depends on the current facts only, and not on history.
pub static TRANSITIONS: &[Transition] = &[
    Transition {
        name: "age",
        from: &[Fresh],
        to: Active,
        when: "the model has answered twice since",
        holds: |facts| facts.is_whole() && !facts.newest,
    },
    Transition {
        name: "outdated",
        from: &[Active, Referenced],
        to: Stale,
        when: "a later result supersedes it: repeated, read again, run again, succeeded later, replaced",
        holds: |facts| facts.is_whole() && facts.superseded,
    },
    Transition {
        name: "unused",
        from: &[Active, Referenced],
        to: Stale,
        when: "unused for the turns or steps that [stale] sets for its kind, older than 10 steps, and not hot",
        holds: |facts| facts.is_whole() && facts.settled && facts.forgotten && !facts.superseded,
    },
    Transition {
        name: "used",
        from: &[Active],
        to: Referenced,
        when: "older than 10 steps, and the agent later used names from it",
        holds: |facts| facts.is_whole() && facts.settled && facts.used && !facts.is_stale(),
    },
    Transition {
        name: "back in use",
        from: &[Stale],
        to: Active,
        when: "the agent used it again, or the block that superseded it is gone",
        holds: |facts| facts.is_whole() && !facts.is_stale(),
    },
    Transition {
        name: "shortened",
        from: &[Fresh, Active, Referenced, Stale, Archived, Evicted],
        to: Compressed,
        when: "compress shortened it to a part or to one line",
        holds: |facts| facts.in_window && !matches!(facts.level, Level::Original | Level::Archived),
    },
    Transition {
        name: "archived",
        from: &[Fresh, Active, Referenced, Stale, Compressed, Evicted],
        to: Archived,
        when: "archive replaced it with one line",
        holds: |facts| facts.in_window && facts.level == Level::Archived,
    },
    Transition {
        name: "out of the window",
        from: &[Fresh, Active, Referenced, Stale, Compressed, Archived],
        to: Evicted,
        when: "the client compacted or rewound the session, or compact folded its turn",
        holds: |facts| !facts.in_window,
    },
    Transition {
        name: "restored",
        from: &[Compressed, Archived, Evicted],
        to: Fresh,
        when: "expand, recall --restore, undo or uncompact; its age and use then decide again",
        holds: |facts| facts.is_whole(),
    },
];

fn path(from: State, facts: &Facts) -> impl Iterator<Item = &'static Transition> {
    let mut state = from;
    let facts = *facts;
    // No path is longer than the table; the laws below say so, and this makes sure.
    (0..TRANSITIONS.len()).map_while(move |_| {
        let next = TRANSITIONS.iter().find(|transition| transition.applies(state, &facts))?;
        state = next.to;
        Some(next)
    })
}

/// Returns the transitions from fresh to the state of a block; empty if the block is fresh.
pub fn lifecycle(reading: &crate::engine::Analysis, block: &Block) -> Vec<&'static Transition> {
    path(Fresh, &Facts::from_block(block, reading.steps, &reading.stale_policy)).collect()
}

/// The state of a block. `step` is the last one of the session.
pub fn state(block: &Block, step: u32, policy: &StalePolicy) -> State {
    path(Fresh, &Facts::from_block(block, step, policy)).last().map_or(Fresh, |transition| transition.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKind, Outdated, Role};

    /// All circumstances: no block is among the newest and old enough to be judged.
    fn circumstances() -> Vec<Facts> {
        let mut all = Vec::new();
        for level in Level::ALL {
            for bits in 0..64u32 {
                let bit = |place: u32| bits >> place & 1 == 1;
                let [in_window, newest, settled, superseded, forgotten, used] = [0, 1, 2, 3, 4, 5].map(bit);
                if !(newest && settled) {
                    all.push(Facts { in_window, level, newest, settled, superseded, forgotten, used });
                }
            }
        }
        all
    }

    /// Computes the state independently of the table.
    fn expected(facts: &Facts) -> State {
        match facts.level {
            _ if !facts.in_window => Evicted,
            Level::Archived => Archived,
            Level::Trimmed | Level::Summarized | Level::Minimal => Compressed,
            Level::Original if facts.newest => Fresh,
            Level::Original if facts.superseded => Stale,
            Level::Original if !facts.settled => Active,
            Level::Original if facts.forgotten => Stale,
            Level::Original if facts.used => Referenced,
            Level::Original => Active,
        }
    }

    #[test]
    fn no_two_rules_are_for_the_same_situation() {
        for facts in circumstances() {
            for state in State::ALL {
                let rules = TRANSITIONS.iter().filter(|rule| rule.applies(state, &facts)).map(|rule| rule.name);
                let rules: Vec<_> = rules.collect();
                assert!(rules.len() <= 1, "{state:?} {facts:?}: {rules:?}");
            }
        }
    }

    #[test]
    fn every_path_ends_where_the_facts_say_wherever_it_begins() {
        for facts in circumstances() {
            for from in State::ALL {
                // Age never decreases, and a used block remains used.
                let possible = match from {
                    Active | Stale => !(facts.is_whole() && facts.newest),
                    Referenced => !facts.is_whole() || (facts.settled && facts.used),
                    _ => true,
                };
                let end = path(from, &facts).last().map_or(from, |rule| rule.to);
                assert!(!possible || end == expected(&facts), "{from:?} {facts:?}: {end:?}");
            }
        }
    }

    #[test]
    fn the_table_covers_every_state_and_every_rule_is_needed() {
        for state in State::ALL {
            assert!(TRANSITIONS.iter().any(|rule| rule.to == state), "nothing leads to {state:?}");
            assert!(TRANSITIONS.iter().any(|rule| rule.from.contains(&state)), "nothing leads out of {state:?}");
        }
        for (place, rule) in TRANSITIONS.iter().enumerate() {
            assert!(!rule.from.contains(&rule.to), "{} leads nowhere", rule.name);
            assert!(!TRANSITIONS[..place].iter().any(|other| other.name == rule.name), "{} twice", rule.name);
            for from in rule.from {
                assert!(circumstances().iter().any(|facts| rule.applies(*from, facts)), "{} never from {from:?}", rule.name);
            }
        }
    }

    fn check(change: impl FnOnce(&mut Block), expected: State) {
        let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
        block.position.zone = Zone::Middle;
        block.position.step = 50;
        change(&mut block);
        assert_eq!(state(&block, 100, &StalePolicy::default()), expected);
    }

    #[test]
    fn the_newest_is_fresh_even_when_superseded() {
        check(
            |block| {
                block.position.step = 99;
                block.usefulness.outdated = Some((Outdated::ReadAgain, 1));
            },
            Fresh,
        );
    }

    #[test]
    fn blocks_become_stale_unless_they_are_used() {
        // Superseded results are stale.
        check(|block| block.usefulness.outdated = Some((Outdated::RunAgain, 1)), Stale);
        check(|block| block.usefulness.outdated = Some((Outdated::EditedLater, 1)), Active);
        // Unused blocks become stale.
        check(|block| block.usefulness.stale_steps = 30, Stale);
        check(|block| (block.usefulness.stale_turns, block.usefulness.stale_steps) = (3, 10), Stale);
        check(|block| (block.usefulness.stale_turns, block.usefulness.stale_steps) = (3, 9), Active);
        // Dialogue does not go stale.
        check(
            |block| {
                (block.kind, block.role) = (BlockKind::Text, Role::User);
                block.usefulness.stale_steps = 50;
            },
            Active,
        );
        // Used blocks are referenced.
        check(|block| block.usefulness.references = 1, Referenced);
    }
}
