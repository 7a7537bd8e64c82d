//! Removes whole turns from the chain and restores them. No row is deleted; only the links between rows change.

use super::draft::{Draft, Folded};
use super::{PlanError, SkipReason};
use crate::engine;
use crate::model::{Block, BlockKind, Event, Key, Role, RowKind, Session, Slot, ThinkingScope};
use crate::provider::NO_PARENT;
use crate::text::cut::{cut, one_line};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::RangeInclusive;

/// The type of the attachment that replaces folded turns.
pub const SUMMARY: &str = "aperture_summary";

/// Maximum characters in a summary, for a prompt that no person wrote and for an answer.
const PROMPT_CHARACTERS: usize = 300;
const ANSWER_CHARACTERS: usize = 600;

impl Draft<'_> {
    /// Removes whole turns from the chain and puts one note in their place. The prompt of the first turn stays.
    /// Errors: the turns are not in the window, or they include the last turn, which is still in progress.
    pub fn fold(&mut self, turns: RangeInclusive<u32>, summary: &str) -> Result<(), PlanError> {
        if !self.source.provider.branches() {
            return Err(PlanError::NoBranches);
        }
        let chain = self.chain_turns();
        let start = self.fold_start(&turns, &chain)?;
        let next = (start..chain.len()).find(|place| chain[*place].1 > *turns.end()).ok_or(PlanError::LastTurn)?;
        let pinned = self.source.reading.in_window().find(|block| {
            (block.pin.is_some() || block.focused) && turns.contains(&block.position.turn) && block.row >= chain[start].0
        });
        if let Some(block) = pinned {
            return Err(PlanError::Held(
                block.number,
                if block.pin.is_some() { SkipReason::Pinned } else { SkipReason::Focused },
            ));
        }
        self.bridge(chain[start].0, chain[next].0, &FxHashSet::default(), summary)?;
        self.folded = Some(Folded::Turns(turns));
        Ok(())
    }

    /// Returns the position in the chain of the first row that folding removes; from turn 0 on, everything after the first message.
    pub(super) fn fold_start(&self, turns: &RangeInclusive<u32>, chain: &[(u32, u32)]) -> Result<usize, PlanError> {
        let session = &self.source.reading.session;
        let is_user = |(row, _): &&(u32, u32)| session.rows[*row as usize].kind == RowKind::User;
        let first_prompt = chain.iter().find(is_user).map(|(row, _)| *row);
        let boundary = chain_boundary(session, &self.source.reading.window.chain);
        let start = chain.iter().position(|(row, turn)| {
            let (kind, prompt) = (session.rows[*row as usize].kind, session.rows[*row as usize].prompt);
            // The summary of a compaction stays, with the rows that the compaction kept and the client attached to it.
            let behind = Some(*row) >= boundary && Some(*row) > first_prompt;
            turns.contains(turn)
                && match *turns.start() {
                    0 => behind && matches!(kind, RowKind::User | RowKind::Assistant),
                    // Attachments to the first prompt belong to it.
                    1 => behind && kind == RowKind::Assistant,
                    _ => Some(*row) >= boundary && (prompt || kind == RowKind::Assistant),
                }
        });
        start.ok_or(PlanError::NoTurns)
    }

    /// Replaces the rows of the chain from `start` to before `next` by one note, which follows those of `kept`.
    pub(super) fn bridge(&mut self, start: u32, next: u32, kept: &FxHashSet<u32>, note: &str) -> Result<(), PlanError> {
        let mut parent = self.last_sent_before(start)?;
        for row in self.lasting(start, next, kept) {
            self.link(row, &parent)?;
            parent = self.identity(row)?;
        }
        let note = self.note_behind(parent, SUMMARY, note)?;
        self.link(next, &note)?;
        self.mark_leaf()
    }

    /// Returns the rows from `start` to before `next` that are in `kept`, or that affect the rows before them and so must stay in the
    /// chain. Without the
    /// rows that hold the system prompt and the tools, the client would create both again, and so change the prefix that is cached
    /// and signed. Without the rows that exclude earlier thinking, that thinking would be sent again.
    fn lasting(&self, start: u32, next: u32, kept: &FxHashSet<u32>) -> Vec<u32> {
        let (session, provider) = (&self.source.reading.session, self.source.provider);
        let chain = || self.source.reading.window.chain.iter().copied();
        let stays =
            |message| chain().take_while(|row| *row != start).any(|row| session.rows[row as usize].message == Some(message));
        let lasts = |row: &u32| match session.rows[*row as usize].event.as_deref() {
            _ if kept.contains(row) => true,
            // A row that a change added may be undone before the fold is, and the fold adds its own.
            Some(Event::ThinkingStripped(_)) if self.added(*row) => false,
            Some(Event::ThinkingStripped(ThinkingScope::All)) => true,
            Some(Event::ThinkingStripped(ThinkingScope::From { message, .. })) => stays(*message),
            _ => session.blocks_of(*row).is_empty() && self.line(*row).is_ok_and(|line| provider.is_frozen_system(&line)),
        };
        chain().skip_while(|row| *row != start).take_while(|row| *row != next).filter(lasts).collect()
    }

    /// Returns the parent of a note that replaces a row. It is not a result without its call: the client drops such a result, and
    /// the note with it.
    fn last_sent_before(&self, row: u32) -> Result<Vec<u8>, PlanError> {
        let (session, window) = (&self.source.reading.session, &self.source.reading.window);
        let is_result = |row: u32| session.blocks_of(row).iter().any(|block| block.kind == BlockKind::ToolResult);
        let lost = |row: u32| is_result(row) && !window.rows.contains(&row);
        let speaks = |row: &u32| matches!(session.rows[*row as usize].kind, RowKind::User | RowKind::Assistant);
        let mut before = window.chain.iter().rev().skip_while(|other| **other != row).skip(1).copied().filter(speaks).peekable();
        if !before.peek().is_some_and(|row| lost(*row)) {
            return self.value(row, Slot::Parent).ok_or(PlanError::NoWay);
        }
        before.find(|row| !lost(*row)).map_or(Ok(NO_PARENT.to_vec()), |row| self.identity(row))
    }

    /// Returns a summary of turns: the prompt, the tools used and the final answer. It is extractive: all text comes from the
    /// session.
    pub fn summarize(&self, turns: RangeInclusive<u32>) -> Result<String, PlanError> {
        let reading = self.source.reading;
        let (start, end) = (turns.start(), turns.end());
        // Mask before truncating: part of a credential is not recognized.
        let content = |number| -> Result<String, PlanError> { Ok(reading.known.mask(&self.content(number)?).into_owned()) };
        let mut text = match start == end {
            true => format!("[turn {start}, folded; the user can restore it]\n"),
            false => format!("[turns {start} to {end}, folded; the user can restore them]\n"),
        };
        for turn in reading.turns.iter().filter(|turn| turns.contains(&turn.number)) {
            let blocks = || turn.blocks.iter().filter_map(|number| reading.block(*number));
            let spoken: Vec<&Block> = blocks().filter(|block| !block.words.is_empty()).collect();
            // Read each row once: it can have as many blocks as bytes.
            let contents = self.contents(&spoken.iter().map(|block| block.number).collect::<Vec<_>>())?;
            let mut said = spoken.into_iter().zip(contents).peekable();
            let opens = said.next_if(|(block, _)| block.kind != BlockKind::ToolResult);
            let prompt = || blocks().find(|block| block.role == Role::User && block.kind == BlockKind::Text);
            let asked = match (opens, prompt()) {
                (Some((block, content)), _) => self.quote_person(block, &content.sent),
                (None, Some(block)) => cut(&one_line(&content(block.number)?), PROMPT_CHARACTERS),
                (None, None) => String::new(),
            };
            text.push_str(&format!("Turn {}: {asked}\n", turn.number));
            for (block, content) in said {
                let tool = block.tool.as_deref().filter(|_| block.kind == BlockKind::ToolResult);
                let to = tool.map(|tool| format!(" ({})", tool.name)).unwrap_or_default();
                text.push_str(&format!("  the user said{to}: {}\n", self.quote_person(block, &content.sent)));
            }
            let mut tools: Vec<(String, u32)> = Vec::new();
            let mut places: FxHashMap<String, usize> = FxHashMap::default();
            for block in blocks().filter(|block| block.kind == BlockKind::ToolUse) {
                let label = engine::label(block);
                let place = *places.entry(label.clone()).or_insert(tools.len());
                match tools.get_mut(place) {
                    Some((_, count)) => *count += 1,
                    None => tools.push((label, 1)),
                }
            }
            if !tools.is_empty() {
                let listed =
                    tools.iter().map(|(label, count)| if *count > 1 { format!("{label} ×{count}") } else { label.clone() });
                text.push_str(&format!("  tools: {}\n", listed.collect::<Vec<_>>().join("; ")));
            }
            let answer = blocks().rfind(|block| block.role == Role::Assistant && block.kind == BlockKind::Text);
            if let Some(block) = answer {
                text.push_str(&format!("  ended: {}\n", cut(&one_line(&content(block.number)?), ANSWER_CHARACTERS)));
            }
        }
        Ok(text.trim_end().to_owned())
    }

    /// Returns the words of a person in a block, with each part truncated and credentials masked.
    pub(super) fn quote_person(&self, block: &Block, content: &str) -> String {
        let known = &self.source.reading.known;
        // Mask before truncating, as above.
        let words = block.words_in(content).map(|words| engine::bounded_words(&known.mask(words)).into_owned());
        words.collect::<Vec<_>>().join("\n")
    }

    /// Restores the rows that the last compaction of the client hid, if they are still in the file.
    /// Errors: there is no compaction, or the hidden rows are not in the file.
    pub fn uncut(&mut self) -> Result<(), PlanError> {
        let session = &self.source.reading.session;
        let chain = &self.source.reading.window.chain;
        let boundary = chain_boundary(session, chain).ok_or(PlanError::NotCompacted)?;
        let uncut = self.source.provider.uncut_boundary().ok_or(PlanError::NoBranches)?;
        let before = self.value(boundary, Slot::LogicalParent).ok_or(PlanError::CutAway)?;
        let parent = serde_json::from_slice::<String>(&before).map_err(|_| PlanError::CutAway)?;
        // A shrunk file has single rows of what was before.
        let mut seen = FxHashSet::default();
        let mut above = Some(Key::from_text(&parent));
        while let Some(id) = above.filter(|id| seen.insert(*id)) {
            let row = self.addresses.row_of(id).ok_or(PlanError::CutAway)?;
            above = session.rows[row as usize].parent;
        }
        self.set_value(boundary, Slot::Subtype, uncut)?;
        self.set_value(boundary, Slot::Parent, &before)?;
        // Drop the summary from the chain: the rows that it summarizes are visible again.
        let own = self.identity(boundary)?;
        let of = |row: u32| session.rows[row as usize].id;
        let summary = (0..session.rows.len() as u32).find(|row| {
            matches!(session.rows[*row as usize].event.as_deref(), Some(Event::CompactSummary))
                && session.rows[*row as usize].parent == of(boundary)
        });
        if let Some(summary) = summary {
            let children = (0..session.rows.len() as u32).filter(|row| session.rows[*row as usize].parent == of(summary));
            for child in children.collect::<Vec<_>>() {
                self.link(child, &own)?;
            }
        }
        Ok(())
    }

    /// Returns the rows of the chain since the last compaction, each with its turn.
    pub(super) fn chain_turns(&self) -> Vec<(u32, u32)> {
        let session = &self.source.reading.session;
        let chain = &self.source.reading.window.chain;
        let boundary = chain.iter().rposition(|row| session.rows[*row as usize].kind == RowKind::Boundary);
        let mut turn = 0;
        let rows = chain[boundary.map_or(0, |place| place + 1)..].iter().map(|row| {
            if let Some(block) = session.blocks_of(*row).first() {
                turn = block.position.turn;
            }
            (*row, turn)
        });
        rows.collect()
    }
}

/// Returns the boundary row of the last compaction in a chain.
fn chain_boundary(session: &Session, chain: &[u32]) -> Option<u32> {
    chain.iter().rev().find(|row| session.rows[**row as usize].kind == RowKind::Boundary).copied()
}
