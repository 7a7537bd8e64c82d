//! A window handed over: one digest in the place of all that is old.

use super::draft::{Draft, Folded};
use super::{PlanError, Scope};
use crate::engine::{self, Old, Preset, Rules};
use crate::model::{Block, BlockKind, BlockNumber, Role, RowKind};
use rustc_hash::FxHashSet;

/// Calls of tools that stay as they are, with all that was said since.
const CALLS: usize = 3;

/// Puts one digest in the place of all that is old, and returns the blocks that it stands for: none where that would save nothing.
/// What is pinned, focused or protected stands in the digest word for word.
///
/// # Errors
///
/// The session cannot be read, or the provider cannot write a digest.
pub fn hand_over(draft: &mut Draft<'_>, preset: &Preset, scope: &Scope, rules: &Rules) -> Result<Vec<BlockNumber>, PlanError> {
    let reading = &draft.workspace.reading;
    let Some(kept) = first_kept(reading, scope.end) else { return Ok(Vec::new()) };
    let chain = draft.chain_turns();
    let linked = draft.workspace.provider.branches();
    let first_row = reading.block(kept).map_or(0, |block| block.row);
    let start = match linked {
        true => match draft.fold_start(&(0..=u32::MAX), &chain) {
            Ok(start) if chain[start].0 < first_row => start,
            _ => return Ok(Vec::new()),
        },
        false => 0,
    };
    // What comes before the first row that goes stays, and what a compaction of the client kept.
    let stays: FxHashSet<u32> = if linked { chain[..start].iter().map(|(row, _)| *row).collect() } else { FxHashSet::default() };
    let from = if linked { chain[start].0 } else { 0 };
    let before = reading.window.blocks.iter().take_while(|number| **number != kept).filter_map(|number| reading.block(*number));
    let goes = |block: &&Block| block.row >= from && !stays.contains(&block.row) && (linked || block.role != Role::System);
    let old: Vec<&Block> = before.filter(goes).collect();
    let contents = old.iter().map(|block| content(draft, block)).collect::<Result<Vec<String>, _>>()?;
    let said = old.iter().zip(&contents).filter(|(block, _)| !matches!(block.role, Role::System | Role::Thinking));
    let held = |block: &Block, content: &str| block.pin.is_some() || block.focused || rules.protect(block, content);
    let said: Vec<Old<'_>> = said.map(|(block, content)| Old { block, content, whole: held(block, content) }).collect();
    let digest = engine::digest(reading, &said, preset.worth_millionths);
    if digest.len() as u64 * 2 > old.iter().map(|block| block.bytes).sum() {
        return Ok(Vec::new());
    }
    let folded: Vec<BlockNumber> = old.iter().map(|block| block.number).collect();
    if linked {
        let next = chain[start..].iter().map(|(row, _)| *row).find(|row| *row == first_row).ok_or(PlanError::NoWay)?;
        draft.bridge(chain[start].0, next, &digest)?;
    } else {
        let gone: FxHashSet<u32> = old.iter().map(|block| block.row).collect();
        let (first, last): (Vec<u32>, Vec<u32>) =
            reading.window.rows.iter().filter(|row| !gone.contains(row)).partition(|row| **row < first_row);
        draft.restart(&first, &digest, &last)?;
    }
    draft.folded = Some(Folded::Blocks(folded.iter().copied().collect()));
    Ok(folded)
}

/// What a block said to people before aperture first changed it, or what it says where that is not known.
fn content(draft: &Draft<'_>, block: &Block) -> Result<String, PlanError> {
    match draft.original(block.number) {
        Ok(original) => Ok(original.readable),
        Err(PlanError::NoOriginal(_)) => draft.content(block.number),
        Err(error) => Err(error),
    }
}

/// The first block of those that stay: that of the response in which the first call is that stays.
fn first_kept(reading: &engine::Reading, end: BlockNumber) -> Option<BlockNumber> {
    let mut calls = reading.in_window().filter(|block| block.kind == BlockKind::ToolUse);
    let call = match reading.block(end) {
        Some(block) => block,
        None => calls.by_ref().collect::<Vec<_>>().into_iter().rev().nth(CALLS - 1)?,
    };
    let answers = |block: &&Block| {
        block.position.step == call.position.step && reading.session.rows[block.row as usize].kind == RowKind::Assistant
    };
    let first = reading.in_window().find(|block| answers(block) || block.number == call.number)?;
    Some(first.number)
}
