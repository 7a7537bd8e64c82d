//! The contents that a pack is made from, and which of them are needed.

use super::Wanted;
use crate::engine::Analysis;
use crate::engine::summary::{self, Contents, is_reply, live_turns};
use crate::model::{Block, BlockKind, BlockNumber, Key, Level, Role, ToolVerb, Zone};
use rustc_hash::{FxHashMap, FxHashSet};

/// Newest texts of the agent, failed calls, and calls and results of which lines are taken.
const TEXTS: usize = 120;
const FAILURES: usize = 60;
const RECORDS: usize = 60;

/// The original of a block, with credentials masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub target: String,
    /// The input of a tool as it is sent; any other content for people.
    pub text: String,
    /// The parts that a person wrote.
    pub words: Vec<String>,
}

/// The originals of blocks.
pub type Sources = FxHashMap<BlockNumber, Source>;

/// Returns the contents that summaries are made from: of a reply, only the words of the user, without what its client wrapped around
/// them.
pub fn contents_of(reading: &Analysis, sources: &Sources) -> Contents {
    let text = |(number, source): (&BlockNumber, &Source)| {
        let is_reply = reading.block(*number).is_some_and(is_reply);
        (*number, if is_reply { source.words.join("\n") } else { source.text.clone() })
    };
    sources.iter().map(text).collect()
}

/// The blocks that count, in file order, their calls and their originals.
pub(super) struct LiveBlocks<'a> {
    pub reading: &'a Analysis,
    pub sources: &'a Sources,
    pub blocks: Vec<&'a Block>,
    /// The contents of blocks that the last compactions repeat: the model still sees them.
    pub repeated: FxHashSet<Key>,
    calls: FxHashMap<Key, &'a Block>,
}

impl<'a> LiveBlocks<'a> {
    pub fn new(reading: &'a Analysis, sources: &'a Sources) -> LiveBlocks<'a> {
        let turns = live_turns(reading);
        let all = turns.iter().flat_map(|turn| &turn.blocks).filter_map(|number| reading.block(*number));
        let repeated = reading.session.repeated_words();
        let (copies, blocks): (Vec<&Block>, Vec<&Block>) = all.partition(|block| repeated.contains(&block.number));
        let in_window = copies.iter().filter(|block| block.position.zone != Zone::Cold);
        let repeated = in_window.map(|block| block.hash).collect();
        let uses = blocks.iter().filter(|block| block.kind == BlockKind::ToolUse);
        let calls = uses.filter_map(|block| Some((block.call?, *block))).collect();
        LiveBlocks { reading, sources, blocks, repeated, calls }
    }

    pub fn source(&self, block: &Block) -> Option<&'a Source> {
        self.sources.get(&block.number)
    }

    pub fn target<'s>(&'s self, block: &'s Block) -> &'s str {
        let call = block.call.and_then(|call| self.calls.get(&call)).filter(|call| call.level != Level::Original);
        call.and_then(|call| self.source(call)).map_or_else(|| block.target(), |source| &source.target)
    }

    /// Returns the texts of the agent, the newest first.
    pub fn texts(&self) -> impl Iterator<Item = &'a Block> {
        let is_text = |block: &&Block| block.kind == BlockKind::Text && block.role == Role::Assistant;
        self.blocks.iter().copied().rev().filter(is_text).take(TEXTS)
    }

    /// Returns the last result of each call with a target, the newest first.
    pub fn last_results(&self) -> Vec<(&'a Block, String)> {
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let results = self.blocks.iter().rev().filter(|block| block.kind == BlockKind::ToolResult);
        let targets = results.map(|block| (*block, self.target(block).to_owned()));
        targets.filter(|(_, target)| !target.is_empty() && seen.insert(target.clone())).collect()
    }

    /// Returns the calls and results of which lines are taken, the newest first.
    pub fn records(&self) -> impl Iterator<Item = &'a Block> {
        let is_record = |block: &&Block| match (block.kind, block.tool.as_deref()) {
            (BlockKind::ToolUse, Some(tool)) => matches!(tool.verb, ToolVerb::Edit | ToolVerb::Run),
            (kind, _) => kind == BlockKind::ToolResult,
        };
        self.blocks.iter().copied().rev().filter(is_record).take(RECORDS)
    }
}

/// Returns the blocks whose originals a pack is made from, in file order: those of summaries, and of lists; with a query or for whole turns
/// all of their texts, calls and results.
pub fn needed(reading: &Analysis, wanted: &Wanted) -> Vec<BlockNumber> {
    let sources = Sources::default();
    let live = LiveBlocks::new(reading, &sources);
    let is_wanted = |block: &Block| {
        let is_requested = wanted.form.has_full_texts() && wanted.turns.contains(block.position.turn);
        is_content(block) && (is_requested || wanted.query.is_some())
    };
    let is_told = |block: &&&Block| {
        let verb = block.tool.as_deref().map(|tool| tool.verb);
        let is_call = block.kind == BlockKind::ToolUse && (block.level != Level::Original || verb == Some(ToolVerb::Plan));
        !block.words.is_empty() || is_call || is_wanted(block)
    };
    // A shortened block can have lost the words of a person.
    let is_prompt = |block: &Block| block.kind == BlockKind::Text && block.role == Role::User && block.level != Level::Original;
    let blocks = live.blocks.iter().filter(|block| is_told(block) || is_prompt(block)).map(|block| block.number);
    let failed = live.last_results().into_iter().map(|(block, _)| block).filter(|block| block.error);
    let others = live.texts().chain(failed.take(FAILURES)).chain(live.records()).map(|block| block.number);
    let mut numbers: Vec<BlockNumber> = blocks.chain(others).chain(summary::needed(reading)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Returns true if a block has a text that is not an instruction of its client.
pub(super) fn is_content(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Text | BlockKind::ToolUse | BlockKind::ToolResult) && !block.ground
}
