//! Folds the old part of a window into one digest.

use super::draft::{Draft, Folded};
use super::{PlanError, Scope};
use crate::engine::summary::{Contents, Point, briefing, needed, own_words};
use crate::engine::{self, Digest, DigestSource, Preset, Rules, is_prompt};
use crate::model::{Block, BlockKind, BlockNumber, Flags, Key, Level, Role, RowKind, Zone};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The reason recorded for a client summary that the digest replaces.
const SUMMARY_REASON: &str = "in the digest";

/// Minimum length of a line, in bytes, to be recognized as a quote without quotation marks.
const QUOTE_BYTES: usize = 16;
/// Minimum length of a line, in bytes, to be recognized as a quote between quotation marks; the bytes of a longer one with which a quote
/// begins, and those that are compared.
const WORD_BYTES: usize = 4;
const QUOTED_BYTES: usize = 48;
const LONGEST_QUOTE_BYTES: usize = 2_000;
/// Maximum number of lines of the latest prompts to search for.
const QUOTABLE: usize = 2_000;

/// Maximum number of turns with a header.
const HEADERS: usize = 200;

/// Number of newest tool calls that stay unchanged, with everything after them.
const CALLS: usize = 3;

/// The result of folding the old part of a window.
#[derive(Clone, Debug)]
pub enum DigestFold {
    Folded(Vec<BlockNumber>),
    /// The reason why there is no digest.
    Nothing(&'static str),
}

/// Replaces the old part of a window by one digest, if the digest has at most half the bytes. Pinned, focused and protected blocks
/// are included in the digest verbatim.
/// Errors: the session cannot be read, or the provider cannot write a digest.
pub fn fold_into_digest(draft: &mut Draft<'_>, preset: &Preset, scope: &Scope, rules: &Rules) -> Result<DigestFold, PlanError> {
    let Some(kept) = first_kept(draft.source.reading, scope.end) else {
        return Ok(DigestFold::Nothing("there are only 3 tool calls or fewer, and the newest 3 stay"));
    };
    let fold = match Fold::new(draft, kept, rules)? {
        Ok(fold) => fold,
        Err(why) => return Ok(DigestFold::Nothing(why)),
    };
    let digest = fold.digest(draft, &Story::new(draft)?, preset.has_headers);
    let text = digest.text(digest.selection.worth_at_least(preset.worth()));
    if text.len() as u64 * 2 > fold.old.iter().map(|old| old.block.bytes).sum() {
        return Ok(DigestFold::Nothing("a digest would save less than half of the old blocks"));
    }
    Ok(DigestFold::Folded(fold.write(draft, &text)?))
}

/// The parts of a digest that are about the whole session.
pub(super) struct Story {
    points: Vec<Point>,
    headers: Vec<TurnHeader>,
}

struct TurnHeader {
    turn: u32,
    first: BlockNumber,
    text: String,
}

impl Story {
    /// Returns the points of a briefing and the headers of turns.
    pub(super) fn new(draft: &Draft<'_>) -> Result<Story, PlanError> {
        let reading = draft.source.reading;
        let contents = summary_contents(draft)?;
        Ok(Story { points: briefing(reading, &contents), headers: turn_headers(reading, &contents) })
    }

    /// Returns the newest headers of the turns before a block, after the number of others.
    fn headers_before(&self, end: BlockNumber) -> Vec<String> {
        let old = &self.headers[..self.headers.partition_point(|header| header.first < end)];
        let before = old.len().saturating_sub(HEADERS);
        let first = (before > 0).then(|| format!("[… {before} turns]"));
        first.into_iter().chain(old[before..].iter().map(|header| format!("{} {}", header.turn, header.text))).collect()
    }

    /// Returns the header of a turn; empty if it has none.
    pub(super) fn header(&self, turn: u32) -> &str {
        self.headers.iter().find(|header| header.turn == turn).map_or("", |header| &header.text)
    }
}

struct OldBlock<'a> {
    block: &'a Block,
    content: String,
    /// The part of it from which lines are taken.
    own: Option<String>,
    /// The texts that an edit replaces.
    replaced: String,
    /// The words of a person in the content.
    words: Vec<String>,
    /// The prompts after it that are in no block.
    queued: Vec<String>,
    whole: bool,
    /// True if the digest contains nothing of the block.
    hidden: bool,
}

/// The part of a window that one digest can replace.
pub(super) struct Fold<'a> {
    pub(super) kept: BlockNumber,
    old: Vec<OldBlock<'a>>,
    /// The first row that leaves the chain; `None` if the rows are not linked.
    start: Option<u32>,
    /// The later rows that stay in the chain.
    guides: FxHashSet<u32>,
    /// The replaced summary of the client's last compaction.
    summary: Option<BlockNumber>,
    /// The prompt that the client sends after the digest, in the same message, although it is older.
    prompt_after: Option<BlockNumber>,
}

impl<'a> Fold<'a> {
    /// Prepares the fold of the window before a block. The inner error is the reason why there is none.
    pub(super) fn new(draft: &Draft<'a>, kept: BlockNumber, rules: &Rules) -> Result<Result<Fold<'a>, &'static str>, PlanError> {
        let reading = draft.source.reading;
        let chain = draft.chain_turns();
        let linked = draft.source.provider.branches();
        let of_client = |block: &Block| draft.source.provider.is_standing(&reading.session, block);
        let first_row = reading.block(kept).map_or(0, |block| block.row);
        // The rows that a compaction of the client left can only stay as a whole.
        if !linked && reading.session.rows[first_row as usize].kind == RowKind::Boundary {
            return Ok(Err("only part of the last compaction's content is old, and it stays as a whole"));
        }
        let start = match linked {
            true => match draft.fold_start(&(0..=u32::MAX), &chain) {
                Ok(start) if chain[start].0 < first_row => start,
                _ => return Ok(Err("there are no blocks between the first prompt and the newest 3 tool calls")),
            },
            false => 0,
        };
        // Rows before the first removed row stay, and so do rows that a compaction of the client kept, and instructions.
        let guides = chain[start..].iter().map(|(row, _)| *row).filter(|row| linked && is_guide(draft, *row));
        // Of a reminder that the client repeats word by word, the newest stays.
        let mut known: FxHashSet<Vec<Key>> = FxHashSet::default();
        let hashes = |row: u32| reading.session.blocks_of(row).iter().map(|block| block.hash).collect();
        let (guides, repeated): (FxHashSet<u32>, FxHashSet<u32>) =
            guides.collect::<Vec<_>>().into_iter().rev().partition(|row| known.insert(hashes(*row)));
        let stays: FxHashSet<u32> =
            if linked { chain[..start].iter().map(|(row, _)| *row).collect() } else { FxHashSet::default() };
        let from = if linked { chain[start].0 } else { 0 };
        let before =
            reading.window.blocks.iter().take_while(|number| **number != kept).filter_map(|number| reading.block(*number));
        let summary = summary_before(draft, &chain[..start], rules)?;
        let goes = |block: &&Block| {
            let stays = stays.contains(&block.row) || guides.contains(&block.row);
            Some(block.number) == summary || block.row >= from && !stays && (linked || !of_client(block))
        };
        // A digest can replace compacted blocks, and need not include blocks that the client sends again.
        let again = |block: &Block| engine::is_compacted(reading, block) || draft.source.provider.sends_again(block);
        let mut old = Vec::new();
        for block in before.filter(goes) {
            let Texts { content, own, replaced, words } = texts_of(draft, block)?;
            let words = if Some(block.number) == summary { quotes(draft, block, &content)? } else { words };
            let ground = draft.is_instruction(block) && !again(block) && !repeated.contains(&block.row);
            let whole = ground || block.pin.is_some() || block.focused || rules.protect(block, &content);
            let hidden = !ground && matches!(block.role, Role::System | Role::Thinking) || repeated.contains(&block.row);
            old.push(OldBlock { block, content, own, replaced, words, queued: Vec::new(), whole, hidden });
        }
        for (number, words) in reading.queued_words() {
            let before = old.iter_mut().filter(|old| old.block.number == number);
            before.for_each(|old| old.queued.push(reading.known.mask(&words).into_owned()));
        }
        let summary = summary.filter(|summary| old.iter().any(|old| old.block.number == *summary));
        let speaks = |row: &u32| matches!(reading.session.rows[*row as usize].kind, RowKind::User | RowKind::Assistant);
        let last = chain[..start].iter().map(|(row, _)| *row).rev().find(|row| linked && speaks(row));
        let prompt_after = last.and_then(|row| reading.session.blocks_of(row).iter().find(|block| is_prompt(block)));
        let (start, prompt_after) = (linked.then_some(from), prompt_after.map(|block| block.number));
        Ok(Ok(Fold { kept, old, start, guides, summary, prompt_after }))
    }

    /// Returns the digest of the replaced blocks.
    pub(super) fn digest<'b>(&'b self, draft: &Draft<'_>, story: &Story, has_headers: bool) -> Digest<'b> {
        let told = self.old.iter().filter(|old| !old.hidden);
        let told = told.map(|OldBlock { block, content, own, replaced, words, queued, whole, .. }| DigestSource {
            block,
            content,
            own: own.as_deref().unwrap_or(content),
            replaced,
            words,
            queued,
            whole: *whole,
        });
        let headers = if has_headers { story.headers_before(self.kept) } else { Vec::new() };
        Digest::new(draft.source.reading, told.collect(), self.prompt_after, &story.points, &headers)
    }

    /// Writes a digest in the place of the old blocks, and returns these.
    /// Errors: the session cannot be read, or the provider cannot write a digest.
    pub(super) fn write(&self, draft: &mut Draft<'_>, digest: &str) -> Result<Vec<BlockNumber>, PlanError> {
        let reading = draft.source.reading;
        let first_row = reading.block(self.kept).map_or(0, |block| block.row);
        let numbers = self.old.iter().map(|old| old.block.number);
        let folded: Vec<BlockNumber> = numbers.filter(|number| Some(*number) != self.summary).collect();
        if let Some((number, block)) = self.summary.and_then(|number| Some((number, reading.block(number)?))) {
            let tokens = draft.original(number).map_or(block.tokens.value, |original| original.tokens);
            let line = engine::marker::Line { number, tokens, label: "", reason: SUMMARY_REASON, hint: "" };
            draft.replace(number, Level::Minimal, &engine::marker::line(Level::Minimal, &line), SUMMARY_REASON)?;
        }
        match self.start {
            Some(start) if reading.window.chain.contains(&first_row) => draft.bridge(start, first_row, &self.guides, digest)?,
            Some(_) => return Err(PlanError::NoWay),
            None => draft.restart(first_row, digest)?,
        }
        draft.folded = Some(Folded::Blocks(folded.iter().copied().collect()));
        Ok(folded)
    }
}

/// Returns true if a row only instructs the model, so that a digest leaves it in its place: not a part of a call, and not a row that
/// aperture added, which can be undone before the digest.
pub(super) fn is_guide(draft: &Draft<'_>, row: u32) -> bool {
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

/// Returns what a client's summary quotes of the words of a person in earlier blocks outside the window.
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
            if line.len() >= WORD_BYTES {
                said.insert(line[..line.floor_char_boundary(LONGEST_QUOTE_BYTES)].to_owned());
            }
        }
        if said.len() > QUOTABLE {
            break;
        }
    }
    let quotes = |line: &str| {
        let mut found: Vec<(usize, &str)> = said.iter().filter_map(|said| quotation(line, said)).collect();
        found.sort_unstable_by_key(|(at, quote)| (*at, std::cmp::Reverse(quote.len())));
        let mut end = 0;
        found.retain(|(at, quote)| {
            let is_new = *at >= end;
            end = if is_new { at + quote.len() } else { end };
            is_new
        });
        found.into_iter().map(|(_, quote)| quote.to_owned()).collect::<Vec<_>>()
    };
    Ok(content.lines().flat_map(quotes).collect())
}

/// Returns the words of a person that a line quotes, and their place: all that both have from the beginning of `said`. A few words, or a
/// name, are a quotation only between quotation marks.
fn quotation<'a>(line: &'a str, said: &str) -> Option<(usize, &'a str)> {
    if said.len() < QUOTE_BYTES || !said.contains(' ') {
        let marked = [format!("\"{said}\""), format!("“{said}”")].into_iter().find_map(|marked| line.find(&marked));
        let at = marked.and_then(|at| Some(at + line[at..].chars().next()?.len_utf8()))?;
        return Some((at, &line[at..at + said.len()]));
    }
    // A summary may quote only the beginning.
    let at = line.find(&said[..said.floor_char_boundary(QUOTED_BYTES)])?;
    let both = line[at..].char_indices().zip(said.chars()).take_while(|((_, one), other)| one == other);
    let end = at + both.last().map_or(0, |((place, one), _)| place + one.len_utf8());
    let is_whole = !line[..end].ends_with(char::is_alphanumeric) || !line[end..].starts_with(char::is_alphanumeric);
    let end = if is_whole { end } else { at + line[at..end].rfind(' ')? };
    Some((at, line[at..end].trim_end()))
}

/// The texts of a block, for a digest.
struct Texts {
    content: String,
    /// Of a call the texts that it writes or runs.
    own: Option<String>,
    /// Of a call the texts that it replaces.
    replaced: String,
    words: Vec<String>,
}

/// Returns the texts of a block before aperture first changed it, or its current texts if the original is unknown. Credentials are
/// masked in all.
fn texts_of(draft: &Draft<'_>, block: &Block) -> Result<Texts, PlanError> {
    let reading = draft.source.reading;
    let mask = |text: &str| reading.known.mask(text).into_owned();
    let conventions = reading.session.conventions;
    // A rejection without a reason keeps the words of the client.
    let words = |block: &Block, content: &str| {
        let own = block.words_in(content).map(|words| own_words(block, words, conventions).unwrap_or(words));
        own.map(mask).collect()
    };
    let names = &conventions.inputs;
    let texts = |readable: &str, sent: &str, words: Vec<String>| {
        let is_call = block.role == Role::ToolUse;
        let own = is_call.then(|| mask(&names.written_texts(sent)));
        let replaced = if is_call { mask(&names.replaced_texts(sent)) } else { String::new() };
        Texts { content: mask(readable), own, replaced, words }
    };
    match draft.original(block.number) {
        Ok(original) => Ok(texts(&original.readable, &original.content, words(&original.block, &original.content))),
        Err(PlanError::NoOriginal(_)) => {
            let content = draft.content(block.number)?;
            Ok(texts(&content, &content, words(block, &content)))
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

fn turn_headers(reading: &engine::Analysis, contents: &Contents) -> Vec<TurnHeader> {
    let (summaries, _) = engine::summary::summarize(reading, contents, &|_| String::new());
    let turns = reading.turns.iter().zip(summaries).filter(|(_, summary)| !summary.header.text.is_empty());
    let header = |(turn, summary): (&crate::model::Turn, engine::summary::TurnSummary)| {
        Some(TurnHeader { turn: turn.number, first: *turn.blocks.first()?, text: summary.header.text.trim().to_owned() })
    };
    turns.filter_map(header).collect()
}

/// Returns the blocks from which a window can stay while a digest replaces the ones before, in order: the first block of each turn,
/// and of each response of the last turn.
pub(super) fn fold_places(draft: &Draft<'_>, end: BlockNumber) -> Vec<BlockNumber> {
    let reading = draft.source.reading;
    let mut answered: FxHashMap<Key, usize> = FxHashMap::default();
    // The client sends attachments before the prompt that they follow in the chain.
    let mut firsts: BTreeMap<u32, u32> = BTreeMap::new();
    for (place, block) in reading.in_window().enumerate() {
        firsts.entry(block.position.turn).and_modify(|row| *row = block.row.min(*row)).or_insert(block.row);
        answered.extend(block.call.filter(|_| block.kind == BlockKind::ToolResult).map(|call| (call, place)));
    }
    let (earliest, last) = (firsts.pop_first(), firsts.last_key_value().map(|(turn, _)| *turn));
    let last = last.or(earliest.map(|(turn, _)| turn));
    let linked: FxHashSet<u32> = reading.window.chain.iter().copied().collect();
    let is_linked = |block: &Block| !draft.source.provider.branches() || linked.contains(&block.row);
    let (mut places, mut step, mut open) = (Vec::new(), 0, 0);
    for (place, block) in reading.in_window().enumerate().take_while(|(_, block)| block.number <= end) {
        let position = &block.position;
        let responds = reading.session.rows[block.row as usize].kind == RowKind::Assistant && Some(position.turn) == last;
        let opens = firsts.get(&position.turn) == Some(&block.row) && firsts.remove(&position.turn).is_some();
        // A result stays with its call.
        if (opens || responds && position.step > step) && place >= open && is_linked(block) {
            places.push(block.number);
        }
        step = if responds { position.step } else { step };
        if block.kind == BlockKind::ToolUse {
            open = open.max(block.call.and_then(|call| answered.get(&call)).map_or(0, |result| result + 1));
        }
    }
    places
}

/// Returns the first block that stays: the first block of the response that contains block `end`, or the call whose result it is. If
/// there is no such block, the oldest call that stays counts.
pub(super) fn first_kept(reading: &engine::Analysis, end: BlockNumber) -> Option<BlockNumber> {
    let mut calls = reading.in_window().filter(|block| block.kind == BlockKind::ToolUse);
    let call = match reading.block(end) {
        Some(block) if block.kind == BlockKind::ToolResult => calls.find(|call| call.call == block.call).unwrap_or(block),
        Some(block) => block,
        None => calls.by_ref().collect::<Vec<_>>().into_iter().rev().nth(CALLS - 1)?,
    };
    let answers = |block: &&Block| {
        block.position.step == call.position.step && reading.session.rows[block.row as usize].kind == RowKind::Assistant
    };
    let first = reading.in_window().find(|block| answers(block) || block.number == call.number)?;
    Some(first.number)
}

#[cfg(test)]
mod tests {
    use super::quotation;

    #[test]
    fn a_quotation_has_the_words_of_the_person_only() {
        let keep = "Keep the old name of the file that the importer reads, please";
        for (line, said, expected) in [
            ("1. **Asked**: \"use two columns\" - it has two.", "use two columns", Some("use two columns")),
            ("1. “use two columns”", "use two columns", Some("use two columns")),
            ("2. \"Keep the old name of the file that the importer reads, please\" - done.", keep, Some(keep)),
            (
                "- Keep the old name of the file that the importer reads, pleased by it",
                keep,
                Some("Keep the old name of the file that the importer reads,"),
            ),
            (
                "- Keep the old name of the file that the importer has (done)",
                keep,
                Some("Keep the old name of the file that the importer"),
            ),
            ("- Écru is the \"name\" of it", "Écru is the \"name\"", Some("Écru is the \"name\"")),
            ("- It has two columns.", "use two columns", None),
            // A name is not a quotation.
            ("`move-the-old-names/a.md` was written", "move-the-old-names", None),
        ] {
            assert_eq!(quotation(line, said).map(|(_, quote)| quote), expected, "{line}");
        }
    }
}
