//! Explanations: the reason for the state of a block, the references to it, and its content at each level.

use crate::engine::analysis::never_stale::{instructs, is_said};
use crate::engine::analysis::references::{Referrer, referrers};
use crate::engine::analysis::staleness_limits::StalenessLimit;
use crate::engine::analysis::states::{ACTIVE_STEPS, FRESH_STEPS, Facts, lifecycle};
use crate::engine::content::terms::spelled;
use crate::engine::strategy::{Context, Need, Subject};
use crate::engine::{Analysis, counts, label, plural};
use crate::model::{As, Basis, Block, BlockNumber, Estimated, Event, Level, Media, Role, Row, RowKind, State, TokenCount};
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of listed names of a reference.
const NAMES: usize = 4;

/// The reasons for the state of a block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Explanation {
    pub state: State,
    /// Rule of the lifecycle that led to the state; `arrived` if none applied yet.
    pub rule: &'static str,
    /// Condition of the rule.
    pub when: &'static str,
    /// Rules that led to the state, in order.
    pub path: Vec<&'static str>,
    /// Facts that meet the condition.
    pub because: Vec<String>,
    /// Heat of the block and its causes.
    pub heat: String,
    /// Later blocks of the agent that refer to the block, the surest first.
    pub references: Vec<Referred>,
    /// Estimated turns without a reference until the block goes stale: 0 if it is stale, null if it never will be.
    pub turns_left: Option<u32>,
}

/// A reference to a block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reference")]
pub struct Referred {
    /// Number of the block that refers.
    pub number: BlockNumber,
    /// Short description of that block.
    pub label: String,
    /// Response of the model that it belongs to.
    pub step: u32,
    /// Responses of the model since.
    pub steps_ago: u32,
    /// Weight of the reference: 0.33 is the threshold, 1 and more is certain.
    pub weight: f32,
    /// Names and lines that both blocks contain, the rarest first.
    pub names: Vec<String>,
}

/// The part of a block that a level keeps.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LevelPreview {
    pub level: Level,
    /// Preset that chooses this level; null for the level itself.
    pub preset: Option<&'static str>,
    /// Cost of the content that is kept.
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Content that is kept; null if all of it is.
    pub content: Option<String>,
    /// Reason why all of it is kept.
    pub why: Option<&'static str>,
    /// Local model that wrote the content; null if rules made it.
    pub written_by: Option<String>,
}

/// Explains a block. `content` is the content that the model receives, decoded for people.
pub fn explain(reading: &Analysis, block: &Block, content: &str) -> Explanation {
    let path = lifecycle(reading, block);
    let last = path.last();
    let mut found = referrers(&reading.session, block.number);
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.number.cmp(&a.number)));
    // Credentials are masked before the text is split, because a part of a credential cannot be detected.
    let content = reading.known.mask(content);
    let spelled = spelled(&content);
    let referred = |referrer: Referrer| {
        let by = reading.block(referrer.number)?;
        let names = referrer.terms.iter().filter_map(|term| spelled.get(term));
        Some(Referred {
            number: referrer.number,
            label: label(by),
            step: by.position.step,
            steps_ago: reading.steps.saturating_sub(by.position.step),
            weight: referrer.weight,
            names: names.take(NAMES).map(|name| (*name).to_owned()).collect(),
        })
    };
    Explanation {
        state: block.state,
        rule: last.map_or("arrived", |rule| rule.name),
        when: last.map_or("it belongs to the last two responses", |rule| rule.when),
        path: path.iter().map(|rule| rule.name).collect(),
        because: because(reading, block),
        heat: heat(reading, block),
        references: found.into_iter().filter_map(referred).collect(),
        turns_left: block.usefulness.turns_left,
    }
}

fn ago(now: u32, then: u32) -> String {
    match now.saturating_sub(then) {
        0 => "just now".to_owned(),
        steps => format!("{} ago", plural(steps, "step")),
    }
}

/// Returns the reasons for the state as text, the deciding fact first.
fn because(reading: &Analysis, block: &Block) -> Vec<String> {
    let facts = Facts::from_block(block, reading.steps, &reading.stale_policy);
    let limit = reading.stale_policy.limit_for(block);
    let usefulness = &block.usefulness;
    let age = reading.steps.saturating_sub(block.position.step);
    let mut because = Vec::new();
    match block.state {
        State::Fresh => because.push(format!("{} old: fresh for the first {FRESH_STEPS}", plural(age, "step"))),
        State::Compressed => because.push(format!("it was shortened to {}", block.level.name())),
        State::Archived => because.push("its content was taken out of the window; one line replaces it".to_owned()),
        State::Evicted => because.push(place_outside(reading, block).to_owned()),
        State::Stale if facts.superseded => {}
        State::Stale => because.extend(limit.map(|limit| unused(block, limit))),
        State::Referenced => {
            because.push(format!("last used {}", ago(reading.steps, usefulness.last_step.unwrap_or_default())));
        }
        State::Active if limit.is_none() => {
            because.push(match () {
                () if instructs(block) => "instructions and reminders are never stale".to_owned(),
                () if is_said(block) => "messages of the user are never stale".to_owned(),
                () => format!("{} is never stale", block.kind.name().replace('_', " ")),
            });
        }
        State::Active if !facts.settled => {
            because.push(format!("{} old: too early to judge before {}", plural(age, "step"), ACTIVE_STEPS + 1));
        }
        State::Active => because.push("not used yet, and not old enough to be stale".to_owned()),
    }
    because.extend(usefulness.reasons.iter().map(|(reason, by)| {
        let what = reading.block(*by).map(label).unwrap_or_default();
        let note = if reason.supersedes() { "" } else { "; its older content may still be needed" };
        format!("{} in #{by} {what}{note}", reason.reason())
    }));
    because.extend(usefulness.alike.map(|by| format!("#{by} says the same in other words, as a local model says")));
    because.extend(usefulness.echoed_by.map(|by| format!("the answer #{by} builds on it, as a local model says")));
    because
}

/// Returns the place of a block that is not in the window: `before a compaction`.
fn place_outside(reading: &Analysis, block: &Block) -> &'static str {
    let (window, row) = (&reading.window, block.row);
    let boundary = last_compaction(reading);
    let live = window.chain.partition_point(|link| boundary.is_some_and(|boundary| *link < boundary));
    match () {
        () if reading.session.rows[row as usize].sidechain => "of a subagent",
        () if window.cuts.iter().any(|cut| cut.rows.contains(&row)) => "cut off by a missing row",
        () if boundary.is_some_and(|boundary| row < boundary) => "before a compaction",
        () if window.chain[live..].contains(&row) => "the client no longer sends it",
        () => "on a branch that was left",
    }
}

/// Returns the row of the last compaction of a window; `None` if it was not compacted.
pub(super) fn last_compaction(reading: &Analysis) -> Option<u32> {
    let is_cut = |row: &Row| {
        row.kind == RowKind::Boundary || matches!(row.event.as_deref(), Some(Event::Compaction { .. } | Event::CompactSummary))
    };
    let row = reading.session.rows.iter().rposition(is_cut).filter(|_| reading.window.compacted)?;
    Some(row as u32)
}

fn unused(block: &Block, limit: StalenessLimit) -> String {
    let (turns, steps) = (plural(block.usefulness.stale_turns, "turn"), plural(block.usefulness.stale_steps, "step"));
    format!("unused for {turns} and {steps}; stale from {} or {} on", limit.turns, limit.steps)
}

fn heat(reading: &Analysis, block: &Block) -> String {
    let usefulness = &block.usefulness;
    let uses = match (usefulness.references, usefulness.last_step) {
        (0, _) | (_, None) => "never used since".to_owned(),
        (count, Some(last)) => format!("{}, the last {}", plural(count, "reference"), ago(reading.steps, last)),
    };
    let long = |limit: StalenessLimit| usefulness.stale_turns >= limit.turns || usefulness.stale_steps >= limit.steps;
    let kept = block.state == State::Referenced && reading.stale_policy.limit_for(block).is_some_and(long);
    let note = if kept { "; used too often to become stale" } else { "" };
    match block.state {
        State::Evicted => uses,
        _ => format!("{uses}{note} (heat {:.2} of 1)", usefulness.heat),
    }
}

/// Returns the rest of a block at each level below the original.
pub fn levels(reading: &Analysis, subject: &Subject<'_>) -> Vec<LevelPreview> {
    let need = Need::new(reading);
    let number = subject.block.number;
    let others = reading.in_window().filter(|other| other.role != Role::System && other.number != number);
    let shown: FxHashSet<u32> = others.flat_map(|other| other.terms.iter().copied()).collect();
    let context = Context { name: &|term| need.of_name(term), line: need.of_line(subject.block), shown: &shown };
    // A shortened block costs what is around its content as well.
    let measured = |content: &str| Block { counts: counts(content), ..subject.block.clone() };
    let tokens = TokenCount { value: subject.tokens, basis: Basis::Estimated };
    let whole = Block { tokens, ..measured(subject.content) };
    let kept = |(level, content): (Level, Option<String>)| {
        let left = |content: &String| Block { media: Media::default(), ..measured(content) };
        let tokens = content.as_ref().map(|content| reading.price.revised(&whole, &left(content)).value);
        let why = content.is_none().then_some("already as short as possible");
        LevelPreview { level, preset: None, tokens: tokens.unwrap_or(subject.tokens), content, why, written_by: None }
    };
    let levels = [Level::Trimmed, Level::Summarized, Level::Minimal];
    levels.into_iter().zip(subject.at_levels(levels, &context)).map(kept).collect()
}

/// Returns the reason why a block is stale: the block that superseded it, or the time without a reference.
pub fn stale_reason(block: &Block) -> Option<String> {
    if let Some((reason, by)) = block.usefulness.outdated.filter(|(reason, _)| reason.supersedes()) {
        return Some(format!("{} in #{by}", reason.reason()));
    }
    (block.state == State::Stale).then(|| {
        let (turns, steps) = (block.usefulness.stale_turns, block.usefulness.stale_steps);
        if turns > 1 { format!("unused for {turns} turns") } else { format!("unused for {steps} steps") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::analysis::references::trace;
    use crate::model::{BlockKind, Row, RowKind, Session};

    /// Creates a session of blocks, each with its terms and the number of terms used by the agent.
    fn session(blocks: &[(&[u32], u32)]) -> Session {
        let mut session = Session::default();
        for (place, (terms, uses)) in blocks.iter().enumerate() {
            let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
            (block.position.step, block.terms, block.uses) = (place as u32, terms.to_vec(), *uses);
            session.add(Row::new(RowKind::User), [block]);
        }
        session
    }

    #[test]
    fn as_many_blocks_are_named_as_were_counted() {
        let common: Vec<(&[u32], u32)> = std::iter::repeat_n((&[9u32][..], 0), 14).collect();
        let mut blocks: Vec<(&[u32], u32)> =
            vec![(&[1, 2, 3], 0), (&[1, 4], 2), (&[2, 3, 1], 3), (&[5], 0), (&[1], 1), (&[9], 1)];
        blocks.extend(common);
        blocks.push((&[9, 5], 2));
        let session = session(&blocks);
        let counted = trace(&session, 1, blocks.len() as u32);
        assert!(counted.iter().any(|usefulness| usefulness.references > 1));
        for (place, usefulness) in counted.iter().enumerate() {
            let named = referrers(&session, place as u32 + 1);
            assert_eq!(named.len() as u32, usefulness.references, "block {}", place + 1);
            assert!(named.iter().all(|referrer| !referrer.terms.is_empty() && referrer.number > place as u32 + 1));
        }
        assert!(referrers(&session, 0).is_empty() && referrers(&session, 999).is_empty());
    }
}
