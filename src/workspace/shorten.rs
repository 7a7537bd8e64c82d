//! Blocks to other levels, each from its original.

use super::draft::{Draft, Kept};
use super::{Original, PlanError};
use crate::engine::{self, LaterLines, Reducible, Rules, marker};
use crate::model::{Block, BlockKind, BlockNumber, Level, Role, Zone};
use std::collections::BTreeMap;

/// Bytes that must go for a change to be worth a line of its own: about thirty tokens.
const LEAST_SAVED_BYTES: usize = 120;

/// The tags around a text that the client added.
const REMINDER: (&str, &str) = ("<system-reminder>\n", "\n</system-reminder>");

/// Blocks that were left alone, by reason.
pub type KeptBlocks = BTreeMap<Kept, Vec<BlockNumber>>;

/// Puts blocks to the levels that are wanted, whatever their present one. `rules` protect blocks that nobody named.
///
/// # Errors
///
/// The session cannot be read.
pub fn shorten(
    draft: &mut Draft<'_>,
    wanted: &BTreeMap<BlockNumber, Level>,
    reason: &str,
    rules: Option<&Rules>,
) -> Result<KeptBlocks, PlanError> {
    let reading = &draft.workspace.reading;
    let mut kept = KeptBlocks::new();
    let mut later = LaterLines::default();
    let lines_matter = wanted.values().any(|level| matches!(level, Level::Trimmed | Level::Summarized));
    // From the end on, so that of lines that repeat the last ones stay.
    let mut order: Vec<BlockNumber> = reading.window.blocks.clone();
    order.extend(wanted.keys().filter(|number| reading.block(**number).is_some_and(|block| block.position.zone == Zone::Cold)));
    for number in order.into_iter().rev() {
        let Some(block) = reading.block(number) else { continue };
        let level = wanted.get(&number).copied();
        let result = block.role == Role::ToolResult && lines_matter;
        if level.is_none() && !result {
            continue;
        }
        let outcome = match level {
            Some(level) => one(draft, block, level, reason, rules, &later)?,
            None => Outcome::Kept(None),
        };
        if let Outcome::Kept(Some(why)) = outcome {
            kept.entry(why).or_default().push(number);
        }
        if result {
            match outcome {
                Outcome::Shortened(content) => later.add(&content),
                Outcome::Kept(_) => later.add(&draft.content(number)?),
            }
        }
    }
    for blocks in kept.values_mut() {
        blocks.sort_unstable();
    }
    Ok(kept)
}

enum Outcome {
    Shortened(String),
    Kept(Option<Kept>),
}

fn one(
    draft: &mut Draft<'_>,
    block: &Block,
    level: Level,
    reason: &str,
    rules: Option<&Rules>,
    later: &LaterLines,
) -> Result<Outcome, PlanError> {
    let keep = |why| Ok(Outcome::Kept(Some(why)));
    if let Some(why) = draft.immutable(block.number)? {
        return keep(why);
    }
    if level > block.level && block.pin.is_some() {
        return keep(Kept::Pinned);
    }
    if level > block.level && block.focused {
        return keep(Kept::Focused);
    }
    if level == Level::Original {
        return match draft.restore(block.number) {
            Ok(()) if block.level == Level::Original => keep(Kept::AsItIs),
            Ok(()) => Ok(Outcome::Kept(None)),
            Err(PlanError::NoOriginal(_)) => keep(Kept::NoOriginal),
            Err(error) => Err(error),
        };
    }
    // A new reason is a new line; without one there is nothing to say anew, and the old reason stays.
    if level == block.level && reason.is_empty() {
        return keep(Kept::AsItIs);
    }
    let original = match draft.original(block.number) {
        Ok(original) => original,
        Err(PlanError::NoOriginal(_)) => return keep(Kept::NoOriginal),
        Err(error) => return Err(error),
    };
    if rules.is_some_and(|rules| rules.protect(block, &original.content)) {
        return keep(Kept::Protected);
    }
    let Some(content) = shortened(&original, level, reason, later) else { return keep(Kept::NotShorter) };
    if content == draft.content(block.number)? {
        return keep(Kept::AsItIs);
    }
    draft.replace(block.number, level, &content, reason)?;
    Ok(Outcome::Shortened(content))
}

/// What stands for an original at a level; nothing when it would not be worth it.
fn shortened(original: &Original, level: Level, reason: &str, later: &LaterLines) -> Option<String> {
    let block = &original.block;
    let inner = original.content.strip_prefix(REMINDER.0).and_then(|rest| rest.strip_suffix(REMINDER.1));
    let reminder = inner.is_some() && block.kind == BlockKind::Attachment;
    let content = if reminder { inner.unwrap_or_default() } else { original.content.as_str() };
    let repeated = |line: &str| later.contains(line);
    let input = Reducible {
        kind: block.kind,
        tool: block.tool.as_deref(),
        error: block.error,
        images: &block.images,
        content,
        repeated: &repeated,
    };
    let label = engine::label(block);
    let hint = if block.kind == BlockKind::ToolUse { String::new() } else { engine::hint(&input) };
    let line = marker::Line { number: block.number, tokens: original.tokens, label: &label, reason, hint: &hint };
    let line = marker::line(level, &line);
    let text = match (block.kind, level) {
        (BlockKind::ToolUse, level) => {
            let level = level.min(Level::Minimal);
            engine::tool_input(content, level, &line).or_else(|| engine::text_input(content, level, &line))?
        }
        (_, Level::Minimal | Level::Archived) => line,
        (_, level) => format!("{line}\n{}", engine::reduce(&input, level)?),
    };
    let text = if reminder { format!("{}{text}{}", REMINDER.0, REMINDER.1) } else { text };
    // What a picture costs does not follow from its bytes; newer models need up to twice the estimated tokens for a line.
    let saved = original.content.len().saturating_sub(text.len());
    let worth = match block.images.is_empty() {
        true => saved >= LEAST_SAVED_BYTES && saved * 10 > original.content.len(),
        false => engine::tokens::estimate(&text) * 2.0 < original.tokens,
    };
    worth.then_some(text)
}
