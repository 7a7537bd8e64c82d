//! Moves blocks to cold storage: one line stays of each, or one line of a whole turn whose blocks are too short for that.

use super::digest_fold::{Story, is_guide};
use super::draft::{Draft, Folded};
use super::{PlanError, SkipReason, SkippedBlocks, shorten};
use crate::engine::{self, plural};
use crate::model::{Block, BlockKind, BlockNumber, Key, Level};
use crate::text::cut::one_line;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Whole turns that follow each other, and their blocks that leave the window.
struct ShortTurns {
    turns: RangeInclusive<u32>,
    blocks: Vec<BlockNumber>,
}

/// Archives the selected blocks. Turns of which all blocks are selected, and some too short for a line in their place, are folded:
/// one note has a line for each turn, and what the user said. Returns the skipped blocks, by reason.
pub fn archive(draft: &mut Draft<'_>, selected: &[BlockNumber], reason: &str) -> Result<SkippedBlocks, PlanError> {
    let archived = |numbers: &mut dyn Iterator<Item = BlockNumber>| -> BTreeMap<BlockNumber, Level> {
        numbers.map(|number| (number, Level::Archived)).collect()
    };
    let before = draft.checkpoint();
    let skipped = shorten(draft, &archived(&mut selected.iter().copied()), reason, None)?;
    let too_short = skipped.get(&SkipReason::NotShorter).map(Vec::as_slice).unwrap_or_default();
    let short = if too_short.is_empty() { Vec::new() } else { short_turns(draft, selected, too_short)? };
    if short.is_empty() {
        return Ok(skipped);
    }
    draft.roll_back(&before);
    let story = Story::new(draft)?;
    let mut folded: FxHashSet<BlockNumber> = FxHashSet::default();
    for short in short {
        folded.extend(fold(draft, short, &story, reason)?);
    }
    let others = selected.iter().copied().filter(|number| !folded.contains(number));
    let skipped = shorten(draft, &archived(&mut others.into_iter()), reason, None)?;
    draft.folded = (!folded.is_empty()).then_some(Folded::Blocks(folded));
    Ok(skipped)
}

/// Returns the turns before the last one that can be folded: all their blocks are selected, apart from thinking and instructions,
/// and one of them is in `too_short`.
fn short_turns(draft: &Draft<'_>, selected: &[BlockNumber], too_short: &[BlockNumber]) -> Result<Vec<ShortTurns>, PlanError> {
    let reading = draft.source.reading;
    if !draft.source.provider.branches() {
        return Ok(Vec::new());
    }
    let (chain, selected) = (draft.chain_turns(), selected.iter().copied().collect::<FxHashSet<_>>());
    let last = chain.iter().map(|(_, turn)| *turn).max().unwrap_or_default();
    let mut calls: FxHashMap<Key, FxHashSet<u32>> = FxHashMap::default();
    for (call, turn) in reading.in_window().filter_map(|block| Some((block.call?, block.position.turn))) {
        calls.entry(call).or_default().insert(turn);
    }
    let mut found: Vec<ShortTurns> = Vec::new();
    for turn in (1..last).filter(|turn| reading.turns.iter().any(|known| known.number == *turn)) {
        let Ok(start) = draft.fold_start(&(turn..=turn), &chain) else { continue };
        let goes = |block: &&Block| block.position.turn == turn && block.row >= chain[start].0 && !is_guide(draft, block.row);
        let blocks: Vec<&Block> = reading.in_window().filter(goes).collect();
        let is_free = |block: &&Block| {
            let is_selected = selected.contains(&block.number) || block.kind == BlockKind::Thinking;
            let is_apart = block.call.and_then(|call| calls.get(&call)).is_none_or(|turns| turns.len() == 1);
            is_selected && is_apart && block.pin.is_none() && !block.focused && !draft.is_instruction(block)
        };
        let is_short = blocks.iter().any(|block| too_short.contains(&block.number));
        if !is_short || !blocks.iter().all(is_free) || !chain.iter().any(|(row, next)| *row > chain[start].0 && *next > turn) {
            continue;
        }
        let numbers = blocks.iter().map(|block| block.number);
        match found.last_mut().filter(|before| before.turns.end() + 1 == turn) {
            Some(before) => {
                before.turns = *before.turns.start()..=turn;
                before.blocks.extend(numbers);
            }
            None => found.push(ShortTurns { turns: turn..=turn, blocks: numbers.collect() }),
        }
    }
    Ok(found)
}

/// Replaces turns by one note with a line for each and the words of the user, and returns their blocks; none if the note would not be
/// shorter.
fn fold(draft: &mut Draft<'_>, short: ShortTurns, story: &Story, reason: &str) -> Result<Vec<BlockNumber>, PlanError> {
    let reading = draft.source.reading;
    let why = if reason.is_empty() { String::new() } else { format!(": {}", reading.known.mask(&one_line(reason))) };
    let mut note = format!(
        "[{} archived{why}. @recall(NUMBER) restores a block, @recall(\"words\") the matching parts.]",
        plural(short.blocks.len() as u64, "block")
    );
    let blocks = || short.blocks.iter().filter_map(|number| reading.block(*number));
    for turn in short.turns.clone() {
        let mut numbers = blocks().filter(|block| block.position.turn == turn).map(|block| block.number);
        let first = numbers.next().unwrap_or_default();
        let place = numbers.next_back().map_or_else(|| format!("#{first}"), |last| format!("#{first}..{last}"));
        let _ = write!(note, "\nturn {turn}, {place}: {}", story.header(turn));
        let spoken = blocks().filter(|block| block.position.turn == turn && !block.words.is_empty());
        let spoken: Vec<&Block> = spoken.collect();
        let contents = draft.contents(&spoken.iter().map(|block| block.number).collect::<Vec<_>>())?;
        for (block, content) in spoken.into_iter().zip(contents) {
            let words = draft.quote_person(block, &content.sent);
            if !story.header(turn).contains(words.trim()) {
                let _ = write!(note, "\nthe user: {words}");
            }
        }
    }
    if f64::from(engine::o200k(&note)) >= blocks().map(|block| block.tokens.value).sum() {
        return Ok(Vec::new());
    }
    let chain = draft.chain_turns();
    let start = draft.fold_start(&short.turns, &chain)?;
    let next = (start..chain.len()).find(|place| chain[*place].1 > *short.turns.end()).ok_or(PlanError::LastTurn)?;
    let guides = chain[start..next].iter().map(|(row, _)| *row).filter(|row| is_guide(draft, *row)).collect();
    draft.bridge(chain[start].0, chain[next].0, &guides, &note)?;
    Ok(short.blocks)
}
