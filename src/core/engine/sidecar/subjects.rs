//! The contents of a session that tasks are about, each with its address.

use super::{SidecarTask, address};
use crate::engine::Analysis;
use crate::model::{Block, BlockKind, BlockNumber, Key, Level, Role, Tool, ToolVerb, Topic, Turn};
use crate::text::errors::{is_error, is_exit_code};
use crate::text::names::last_components;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher as _;

/// The minimum prose of the agent in a turn, in bytes: less is quoted as it is.
const TURN_BYTES: u64 = 400;
/// The minimum size of a block, in bytes: a shorter one is nearly as short at the level `summarized`.
const BLOCK_BYTES: u64 = 2_000;
/// The number of turns from which on a session has a course.
const SESSION_TURNS: usize = 3;
/// The number of newest turns that the course of a session is made from.
const NEWEST_TURNS: usize = 30;
/// The share of an excerpt that is taken from the start of a text, in percent.
const HEAD_PERCENT: usize = 65;
/// The minimum size of an answer that can build on results, and of such a result, in bytes.
const ECHO_BYTES: u64 = 200;
/// The number of results before an answer that it can build on.
const ECHO_RESULTS: usize = 6;
/// The minimum size of a result that is compared with a later one, in bytes.
const DUPLICATE_BYTES: u64 = 500;
const SHINGLE_WORDS: usize = 3;
/// The share of the shingles of a result that a later one has, in percent, from which on a model compares them.
const ALIKE_PERCENT: usize = 60;
/// The number of lines with errors that stay beside a text of a model.
const ERROR_LINES: usize = 4;

/// The place of a subject in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectPlace {
    Turn(u32),
    Block(BlockNumber),
    Topic(usize),
    Session,
}

/// A content that a task is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub task: SidecarTask,
    pub address: Key,
    pub place: SubjectPlace,
    /// The blocks that it is made from, in order.
    pub blocks: Vec<BlockNumber>,
}

impl Subject {
    fn new(task: SidecarTask, parts: impl IntoIterator<Item = Key>, place: SubjectPlace, blocks: Vec<BlockNumber>) -> Subject {
        Subject { task, address: address(task, parts), place, blocks }
    }
}

/// Returns the subjects of a session in the order of their places. `original` returns the hash of the original of a shortened block, so
/// that a shortened session has the same subjects.
pub fn subjects(reading: &Analysis, original: &dyn Fn(&Block) -> Option<Key>) -> Vec<Subject> {
    let hash = |block: &Block| if block.level == Level::Original { Some(block.hash) } else { original(block) };
    let mut found = Vec::new();
    let mut of_turns: Vec<(Key, Vec<BlockNumber>)> = Vec::new();
    for turn in &reading.turns {
        let prose = prose(reading, turn);
        let Some(hashes) = prose.iter().map(|block| hash(block)).collect::<Option<Vec<Key>>>() else { continue };
        let blocks: Vec<BlockNumber> = prose.iter().map(|block| block.number).collect();
        let of_agent: u64 = prose.iter().filter(|block| block.role == Role::Assistant).map(|block| block.bytes).sum();
        if of_agent >= TURN_BYTES {
            let place = SubjectPlace::Turn(turn.number);
            found.push(Subject::new(SidecarTask::Turn, hashes.iter().copied(), place, blocks.clone()));
        }
        if !blocks.is_empty() {
            of_turns.push((address(SidecarTask::Turn, hashes), blocks));
        }
    }
    found.extend(topic_subjects(reading));
    found.extend(boundary_subjects(reading));
    found.extend(echo_subjects(reading));
    found.extend(duplicate_subjects(reading));
    if of_turns.len() >= SESSION_TURNS {
        let newest = &of_turns[of_turns.len().saturating_sub(NEWEST_TURNS)..];
        let blocks = newest.iter().flat_map(|(_, blocks)| blocks).copied().collect();
        let turns = newest.iter().map(|(address, _)| *address);
        found.push(Subject::new(SidecarTask::Session, turns, SubjectPlace::Session, blocks));
    }
    for block in reading.in_window().filter(|block| block.kind == BlockKind::ToolResult && block.media.is_empty()) {
        if (block.bytes >= BLOCK_BYTES || block.level != Level::Original)
            && let Some(hash) = hash(block)
        {
            let (place, blocks) = (SubjectPlace::Block(block.number), vec![block.number]);
            found.push(Subject::new(SidecarTask::Block, [hash], place, blocks));
        }
    }
    found
}

/// Returns the topics of a session: a topic is known by the prompts of its turns, which no rule shortens.
pub fn topic_subjects(reading: &Analysis) -> Vec<Subject> {
    let is_prompt =
        |block: &&Block| block.kind == BlockKind::Text && block.role == Role::User && !block.ground && block.bytes > 0;
    let subject = |(index, topic): (usize, &Topic)| {
        let turns = topic.turns.iter().filter_map(|number| reading.turn(*number));
        let blocks = turns.flat_map(|turn| &turn.blocks).filter_map(|number| reading.block(*number)).filter(is_prompt);
        let (blocks, hashes): (Vec<BlockNumber>, Vec<Key>) = blocks.map(|block| (block.number, block.hash)).unzip();
        (!blocks.is_empty()).then(|| Subject::new(SidecarTask::Topic, hashes, SubjectPlace::Topic(index), blocks))
    };
    reading.topics.iter().enumerate().filter_map(subject).collect()
}

/// Returns the prompts that can begin another task, each with the prompts of the turn before it and the last text of the agent.
pub fn boundary_subjects(reading: &Analysis) -> Vec<Subject> {
    let subject = |pair: &[Turn]| {
        let [before, now] = pair else { return None };
        let of = |turn: &Turn, role: Role| {
            prose(reading, turn).into_iter().filter(|block| block.role == role).map(|block| (block.number, block.hash)).collect()
        };
        let (asked, answers, asks): (Vec<_>, Vec<_>, Vec<_>) =
            (of(before, Role::User), of(before, Role::Assistant), of(now, Role::User));
        let blocks = vec![asked.first()?.0, answers.last()?.0, asks.first()?.0];
        let prompts = asked.iter().chain(&asks).map(|(_, hash)| *hash);
        Some(Subject::new(SidecarTask::Boundary, prompts, SubjectPlace::Turn(now.number), blocks))
    };
    reading.turns.windows(2).filter_map(subject).collect()
}

/// Returns the last answers of turns, each with the newest large results before it, by their calls, which no change touches.
pub fn echo_subjects(reading: &Analysis) -> Vec<Subject> {
    let mut results: Vec<(BlockNumber, Key)> = Vec::new();
    let mut found = Vec::new();
    for turn in &reading.turns {
        let mut last = None;
        for block in turn.blocks.iter().filter_map(|number| reading.block(*number)) {
            let is_large = block.bytes >= ECHO_BYTES || block.level != Level::Original;
            match (block.kind, block.call) {
                (BlockKind::ToolResult, Some(call)) if block.media.is_empty() && is_large => results.push((block.number, call)),
                (BlockKind::Text, _) if block.role == Role::Assistant && block.level == Level::Original => {
                    last = Some((block, results.len()));
                }
                _ => {}
            }
        }
        let Some((answer, before)) = last.filter(|(answer, before)| answer.bytes >= ECHO_BYTES && *before > 0) else { continue };
        let texts = &results[before.saturating_sub(ECHO_RESULTS)..before];
        let texts = std::iter::once((answer.number, answer.hash)).chain(texts.iter().copied());
        let (blocks, keys): (Vec<BlockNumber>, Vec<Key>) = texts.unzip();
        found.push(Subject::new(SidecarTask::Echo, keys, SubjectPlace::Turn(turn.number), blocks));
    }
    found
}

/// Returns the whole results of the window, each with the next one of the same kind that is at least as large: the same file, or a command
/// with the same two first words. Results that a rule knows to be outdated are left out.
pub fn duplicate_subjects(reading: &Analysis) -> Vec<Subject> {
    let mut newer: FxHashMap<(ToolVerb, String), &Block> = FxHashMap::default();
    let mut found = Vec::new();
    let is_compared = |block: &&Block| {
        block.kind == BlockKind::ToolResult && block.media.is_empty() && !block.error && block.level == Level::Original
    };
    for block in reading.in_window().filter(is_compared).collect::<Vec<_>>().into_iter().rev() {
        let Some(tool) = block.tool.as_ref().filter(|_| block.bytes >= DUPLICATE_BYTES) else { continue };
        let key = (tool.verb, kind_of_call(tool));
        if let Some(later) = newer.get(&key).filter(|later| later.bytes >= block.bytes && block.usefulness.outdated.is_none()) {
            let (place, blocks) = (SubjectPlace::Block(block.number), vec![block.number, later.number]);
            found.push(Subject::new(SidecarTask::Duplicate, [block.hash, later.hash], place, blocks));
        }
        newer.insert(key, block);
    }
    found
}

/// Returns the file of a call, or its first two words.
fn kind_of_call(tool: &Tool) -> String {
    match tool.verb.names_file() {
        true => last_components(&tool.target, 2).replace('\\', "/"),
        false => tool.target.split_whitespace().take(2).collect::<Vec<_>>().join(" "),
    }
}

/// Returns true if most shingles of the older text of a comparison are in the newer one.
pub fn is_alike(comparison: &str) -> bool {
    let shingles = |text: &str| -> FxHashSet<u64> {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(SHINGLE_WORDS).map(|words| FxBuildHasher.hash_one(words)).collect()
    };
    let Some((older, newer)) = compared(comparison) else { return false };
    let (older, newer) = (shingles(older), shingles(newer));
    older.intersection(&newer).count() * 100 >= older.len().max(1) * ALIKE_PERCENT
}

/// The line before the second prompt.
pub(super) const NOW: &str = "\n\nThe second prompt: ";

/// Returns the text about a prompt and what came before it.
pub fn boundary_text(asked: &str, answered: &str, asks: &str) -> String {
    format!("The first prompt: {asked}\n\nThe agent: {answered}{NOW}{asks}")
}

/// The line before each result that an answer can build on; its number follows.
const RESULT: &str = "\n\n— Result ";

/// Returns the text about an answer and the results before it.
pub fn echo_text(answer: &str, results: &[String]) -> String {
    let result = |(index, text): (usize, &String)| format!("{RESULT}{}:\n{text}", index + 1);
    format!("The answer: {answer}{}", results.iter().enumerate().map(result).collect::<String>())
}

/// Returns the answer and the results in such a text; `None` if it has none.
pub(super) fn echo_parts(text: &str) -> Option<(&str, Vec<&str>)> {
    let mut parts = text.split(RESULT);
    let answer = parts.next()?;
    let results: Vec<&str> = parts.collect();
    (!results.is_empty()).then_some((answer, results))
}

/// The start of a comparison, and the line between its notes.
const OLDER: &str = "The old note: ";
const NEWER: &str = "\n\nThe new note: ";

/// Returns the text of a comparison of a memory with its successor.
pub fn comparison(older: &str, newer: &str) -> String {
    format!("{OLDER}{older}{NEWER}{newer}")
}

/// Returns the old and the new note of a comparison; `None` if a text is not one.
pub fn compared(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(OLDER)?.split_once(NEWER)
}

/// Returns the address of a comparison.
pub fn comparison_address(older: &str, newer: &str) -> Key {
    address(SidecarTask::Memory, [Key::from_bytes(older.as_bytes()), Key::from_bytes(newer.as_bytes())])
}

/// Returns the address of the text of a block, by the hash of its original.
pub fn block_address(hash: Key) -> Key {
    address(SidecarTask::Block, [hash])
}

/// Returns the texts of the user and of the agent in a turn.
fn prose<'a>(reading: &'a Analysis, turn: &Turn) -> Vec<&'a Block> {
    let blocks = turn.blocks.iter().filter_map(|number| reading.block(*number));
    let is_prose = |block: &&Block| {
        block.kind == BlockKind::Text && !block.ground && block.bytes > 0 && matches!(block.role, Role::User | Role::Assistant)
    };
    blocks.filter(is_prose).collect()
}

/// Returns the start and the end of a text within a number of characters, in whole lines where there are some.
pub fn excerpt(text: &str, most_characters: usize) -> String {
    let characters = text.chars().count();
    if characters <= most_characters {
        return text.to_owned();
    }
    let at = |character: usize| text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
    let head = most_characters * HEAD_PERCENT / 100;
    let (end, start) = (at(head), at(characters - (most_characters - head).saturating_sub(3)));
    let end = text[..end].rfind('\n').filter(|line| line * 2 > end).unwrap_or(end);
    let start = text[start..].find('\n').filter(|line| *line < text.len() - start - *line).map_or(start, |line| start + line + 1);
    format!("{}\n…\n{}", &text[..end], &text[start..])
}

/// Returns the lines of a content that a text of a model lacks and that stay beside it: words of a person, and the first errors.
pub fn kept_lines(block: &Block, content: &str, text: &str) -> Vec<String> {
    let words = block.words_in(content).map(str::trim).filter(|words| !words.is_empty());
    let errors = content.lines().map(str::trim).filter(|line| is_error(line) && !is_exit_code(line)).take(ERROR_LINES);
    let mut kept: Vec<String> = Vec::new();
    for line in words.chain(errors) {
        if !text.contains(line) && !kept.iter().any(|known| known.contains(line)) {
            kept.push(line.to_owned());
        }
    }
    kept
}
