//! Folds the old part of a window into one digest.

use super::draft::{Draft, Folded};
use super::{PlanError, Scope};
use crate::engine::summary::{Contents, briefing, needed};
use crate::engine::{self, DigestSource, Preset, Rules};
use crate::model::{Block, BlockKind, BlockNumber, Flags, Level, Role, RowKind, Zone};
use rustc_hash::FxHashSet;

/// The reason recorded for a client summary that the digest replaces.
const SUMMARY_REASON: &str = "in the digest";

/// Minimum length of a line, in bytes, to be recognized as a quote without quotation marks.
const QUOTE_BYTES: usize = 16;
/// Minimum length of a line, in bytes, to be recognized as a quote between quotation marks; and the maximum number of bytes that
/// are compared of a longer line.
const WORD_BYTES: usize = 4;
const QUOTED_BYTES: usize = 48;
/// Maximum number of lines of the latest prompts to search for.
const QUOTABLE: usize = 2_000;

/// Maximum number of turns with a header.
const HEADERS: usize = 200;

/// Number of newest tool calls that stay unchanged, with everything after them.
const CALLS: usize = 3;

/// The result of folding the old part of a window.
#[derive(Clone, Debug)]
pub enum DigestFold {
    /// The blocks that the digest replaces.
    Folded(Vec<BlockNumber>),
    /// The reason why there is no digest.
    Nothing(&'static str),
}

/// Replaces the old part of a window by one digest, if the digest has at most half the bytes. Pinned, focused and protected blocks
/// are included in the digest verbatim.
///
/// # Errors
///
/// The session cannot be read, or the provider cannot write a digest.
pub fn fold_into_digest(draft: &mut Draft<'_>, preset: &Preset, scope: &Scope, rules: &Rules) -> Result<DigestFold, PlanError> {
    let reading = draft.source.reading;
    let Some(kept) = first_kept(reading, scope.end) else {
        return Ok(DigestFold::Nothing("there are only 3 tool calls or fewer, and the newest 3 stay"));
    };
    let chain = draft.chain_turns();
    let linked = draft.source.provider.branches();
    let of_client = |block: &Block| draft.source.provider.is_standing(&reading.session, block);
    let first_row = reading.block(kept).map_or(0, |block| block.row);
    // The rows that a compaction of the client left can only stay as a whole.
    if !linked && reading.session.rows[first_row as usize].kind == RowKind::Boundary {
        return Ok(DigestFold::Nothing("only part of the last compaction's content is old, and it stays as a whole"));
    }
    let start = match linked {
        true => match draft.fold_start(&(0..=u32::MAX), &chain) {
            Ok(start) if chain[start].0 < first_row => start,
            _ => return Ok(DigestFold::Nothing("there are no blocks between the first prompt and the newest 3 tool calls")),
        },
        false => 0,
    };
    // Rows before the first removed row stay, and so do rows that a compaction of the client kept, and instructions.
    let guides: FxHashSet<u32> =
        chain[start..].iter().map(|(row, _)| *row).filter(|row| linked && is_guide(draft, *row)).collect();
    let stays: FxHashSet<u32> = if linked { chain[..start].iter().map(|(row, _)| *row).collect() } else { FxHashSet::default() };
    let from = if linked { chain[start].0 } else { 0 };
    let before = reading.window.blocks.iter().take_while(|number| **number != kept).filter_map(|number| reading.block(*number));
    let summary = summary_before(draft, &chain[..start], rules)?;
    let goes = |block: &&Block| {
        let stays = stays.contains(&block.row) || guides.contains(&block.row);
        Some(block.number) == summary || block.row >= from && !stays && (linked || !of_client(block))
    };
    let old: Vec<&Block> = before.filter(goes).collect();
    let summary = summary.filter(|summary| old.iter().any(|block| block.number == *summary));
    let mut contents = old.iter().map(|block| content(draft, block)).collect::<Result<Vec<_>, PlanError>>()?;
    for (block, (content, words)) in old.iter().zip(&mut contents).filter(|(block, _)| Some(block.number) == summary) {
        *words = quotes(draft, block, content)?;
    }
    // A digest can replace compacted blocks, and need not include blocks that the client sends again.
    let again = |block: &Block| engine::is_compacted(reading, block) || draft.source.provider.sends_again(block);
    let ground = |block: &Block| draft.is_instruction(block) && !again(block);
    let tells = |block: &Block| !matches!(block.role, Role::System | Role::Thinking) || ground(block);
    let said = old.iter().zip(&contents).filter(|(block, _)| tells(block));
    let held = |block: &Block, content: &str| block.pin.is_some() || block.focused || rules.protect(block, content);
    let said = said.map(|(block, (content, words))| DigestSource {
        block,
        content,
        words,
        whole: held(block, content) || ground(block),
    });
    let contents = summary_contents(draft)?;
    let points = briefing(reading, &contents);
    let headers = if preset.has_headers { turn_headers(reading, &contents, kept) } else { Vec::new() };
    let digest = engine::digest(reading, &said.collect::<Vec<_>>(), &points, &headers, preset.worth());
    if digest.len() as u64 * 2 > old.iter().map(|block| block.bytes).sum() {
        return Ok(DigestFold::Nothing("a digest would save less than half of the old blocks"));
    }
    let folded: Vec<BlockNumber> = old.iter().map(|block| block.number).filter(|number| Some(*number) != summary).collect();
    if let Some((number, block)) = summary.and_then(|number| Some((number, reading.block(number)?))) {
        let tokens = draft.original(number).map_or(block.tokens.value, |original| original.tokens);
        let line = engine::marker::Line { number, tokens, label: "", reason: SUMMARY_REASON, hint: "" };
        draft.replace(number, Level::Minimal, &engine::marker::line(Level::Minimal, &line), SUMMARY_REASON)?;
    }
    if linked {
        let next = chain[start..].iter().map(|(row, _)| *row).find(|row| *row == first_row).ok_or(PlanError::NoWay)?;
        draft.bridge(chain[start].0, next, &guides, &digest)?;
    } else {
        let (first, last): (Vec<u32>, Vec<u32>) = reading.window.rows.iter().partition(|row| **row < first_row);
        let lasts = |row: &u32| reading.session.blocks_of(*row).iter().any(of_client);
        draft.restart(&first.into_iter().filter(lasts).collect::<Vec<_>>(), &digest, &last)?;
    }
    draft.folded = Some(Folded::Blocks(folded.iter().copied().collect()));
    Ok(DigestFold::Folded(folded))
}

/// Returns true if a row only instructs the model, so that a digest leaves it in its place: not a part of a call, and not a row that
/// aperture added, which can be undone before the digest.
fn is_guide(draft: &Draft<'_>, row: u32) -> bool {
    let (session, mut blocks) = (&draft.source.reading.session, draft.source.reading.session.blocks_of(row).iter().peekable());
    // The note on commands that the digest replaces goes with them.
    let is_caveat = session.rows[row as usize].flags.any(Flags::CAVEAT);
    let guides = |block: &Block| {
        matches!(block.kind, BlockKind::Text | BlockKind::Attachment) && draft.is_instruction(block) && block.words.is_empty()
    };
    let is_compacted = |block: &Block| engine::is_compacted(draft.source.reading, block);
    !is_caveat && blocks.peek().is_some() && blocks.all(|block| guides(block) && !is_compacted(block)) && !draft.added(row)
}

/// Returns the summary of the client's last compaction before the removed blocks, if the digest can replace it.
fn summary_before(draft: &Draft<'_>, stays: &[(u32, u32)], rules: &Rules) -> Result<Option<BlockNumber>, PlanError> {
    let reading = draft.source.reading;
    let blocks = stays.iter().flat_map(|(row, _)| reading.session.blocks_of(*row));
    let is_summary = |block: &&Block| {
        engine::is_compacted(reading, block)
            && block.kind == BlockKind::Text
            && block.role == Role::User
            && block.words.is_empty()
    };
    let Some(block) = blocks.into_iter().find(is_summary) else { return Ok(None) };
    let held = block.pin.is_some() || block.focused || block.level == Level::Archived || draft.immutable(block.number)?.is_some();
    if held || rules.protect(block, &draft.content(block.number)?) {
        return Ok(None);
    }
    Ok(Some(block.number))
}

/// Returns the lines of a client's summary that quote words of a person from earlier blocks outside the window.
fn quotes(draft: &Draft<'_>, summary: &Block, content: &str) -> Result<Vec<String>, PlanError> {
    let reading = draft.source.reading;
    let blocks = &reading.session.blocks;
    let before = blocks[..blocks.partition_point(|block| block.row < summary.row)].iter();
    let mut said: FxHashSet<String> = FxHashSet::default();
    for block in before.rev().filter(|block| block.position.zone == Zone::Cold && !block.words.is_empty()) {
        let text = draft.content(block.number)?;
        for line in block.words_in(&text).flat_map(str::lines) {
            // Of an answer to a question, take only the answer.
            let marks = &reading.session.conventions.answer_marks;
            let answer = marks.iter().find_map(|mark| Some(line.rsplit_once(mark)?.1)).unwrap_or(line);
            let line = answer.trim().trim_end_matches('"');
            // A summary may quote only the beginning of a line; a short line counts as a quote only between quotation marks.
            let begin = &line[..line.floor_char_boundary(QUOTED_BYTES)];
            match line.len() {
                QUOTE_BYTES.. => drop(said.insert(begin.to_owned())),
                WORD_BYTES.. => drop(said.insert(format!("\"{line}\""))),
                _ => {}
            }
        }
        if said.len() > QUOTABLE {
            break;
        }
    }
    let quotes = |line: &&str| said.iter().any(|said| line.contains(&**said));
    Ok(content.lines().filter(quotes).map(|line| line.trim().to_owned()).collect())
}

/// Returns the text of a block before aperture first changed it, or its current text if the original is unknown, and the words of a
/// person in it. Credentials are masked in both.
fn content(draft: &Draft<'_>, block: &Block) -> Result<(String, Vec<String>), PlanError> {
    let mask = |text: &str| draft.source.reading.known.mask(text).into_owned();
    let words = |block: &Block, content: &str| block.words_in(content).map(mask).collect();
    match draft.original(block.number) {
        Ok(original) => {
            let words = words(&original.block, &original.content);
            Ok((mask(&original.readable), words))
        }
        Err(PlanError::NoOriginal(_)) => {
            let content = draft.content(block.number)?;
            let words = words(block, &content);
            Ok((mask(&content), words))
        }
        Err(error) => Err(error),
    }
}

/// Returns the current contents that a briefing is made from.
fn summary_contents(draft: &Draft<'_>) -> Result<Contents, PlanError> {
    let reading = draft.source.reading;
    let numbers = needed(reading);
    let contents = draft.contents(&numbers)?;
    let texts = numbers.iter().zip(contents).map(|(number, content)| {
        let tool = reading.block(*number).is_some_and(|block| block.role == Role::ToolUse);
        (*number, if tool { content.sent } else { content.readable })
    });
    Ok(texts.collect())
}

/// Returns the headers of the turns before a block, each with its number: the newest ones, after the number of others.
fn turn_headers(reading: &engine::Analysis, contents: &Contents, end: BlockNumber) -> Vec<String> {
    let (turns, _) = engine::summary::summarize(reading, contents, &|_| String::new());
    let is_old = |turn: &&crate::model::Turn| turn.blocks.first().is_some_and(|first| *first < end);
    let old: Vec<String> = (reading.turns.iter().filter(is_old).zip(&turns))
        .filter(|(_, summary)| !summary.header.text.is_empty())
        .map(|(turn, summary)| format!("{} {}", turn.number, summary.header.text.trim()))
        .collect();
    let before = old.len().saturating_sub(HEADERS);
    let first = (before > 0).then(|| format!("[… {before} turns]"));
    first.into_iter().chain(old.into_iter().skip(before)).collect()
}

/// Returns the first block that stays: the first block of the response that contains block `end` or, if there is no such block, the
/// oldest call that stays.
fn first_kept(reading: &engine::Analysis, end: BlockNumber) -> Option<BlockNumber> {
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
