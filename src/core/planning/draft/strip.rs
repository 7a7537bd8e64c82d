//! Excludes thinking whose signed prefix changed, and includes it again when the prefix is restored.

use super::{Draft, Folded, hash};
use crate::engine::{self, Binding};
use crate::model::{Block, BlockKind, BlockNumber, Edit, Event, Key, LoggedEdit, Row, Session, Slot, ThinkingScope, Window};
use crate::planning::revision::Revision;
use crate::planning::{PlanError, thinking};
use crate::provider::EMPTY_MESSAGE;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// The number of thinking blocks and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thinking {
    pub blocks: u32,
    pub tokens: f64,
    /// The number of these blocks that a digest replaces.
    pub folded: u32,
}

impl Thinking {
    fn add(&mut self, tokens: f64) {
        self.blocks += 1;
        self.tokens += tokens;
    }
}

impl Draft<'_> {
    /// Returns the session after the plan, without the thinking that its model would reject. If originals were restored, thinking
    /// that an earlier plan excluded is sent again, unless that would exclude other thinking.
    pub(super) fn fit_thinking(&mut self, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<(Revision, Window), PlanError> {
        let unsent = if self.restores { self.unsent_thinking()? } else { Vec::new() };
        if unsent.is_empty() {
            return self.without_unfit(known);
        }
        let before = self.checkpoint();
        for (row, slot) in unsent {
            match slot {
                Slot::Line => self.remove_line(row)?,
                _ => self.refill(row)?,
            }
        }
        let (revision, window) = self.without_unfit(known)?;
        let with = self.thinking_of(&revision, &window);
        drop(revision);
        let restored = self.checkpoint();
        self.roll_back(&before);
        let (revision, window) = self.without_unfit(known)?;
        let without = self.thinking_of(&revision, &window);
        if with.len() > without.len() && with.is_superset(&without) {
            drop((revision, window));
            self.roll_back(&restored);
            return self.revised(known);
        }
        Ok((revision, window))
    }

    /// Returns the session after the plan, without the thinking whose prefix changed.
    fn without_unfit(&mut self, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<(Revision, Window), PlanError> {
        let (mut revision, window) = self.revised(known)?;
        let Some(first) = self.first_unfit(&revision, &window) else { return Ok((revision, window)) };
        if self.keeps_thinking {
            return Err(self.bound(&mut revision, &window));
        }
        self.strip(&revision, &window, first)?;
        // The revision uses as much memory as the session, so free it before the next one is made.
        drop(revision);
        self.revised(known)
    }

    /// Returns true if the plan may keep a thinking block after a changed prefix.
    fn is_spared(&self, session: &Session, block: &Block) -> bool {
        // Bytes restored exactly were sent together before; only thinking written since may not match the restored prefix.
        if self.reversal.is_some() && session.rows[block.row as usize].offset < self.restored_bytes {
            return true;
        }
        match engine::binding_of(session, &self.reading().model, block) {
            Binding::Free => true,
            Binding::Unknown => self.keeps_thinking,
            Binding::Bound => false,
        }
    }

    /// Returns the first thinking block of the window whose prefix changed.
    fn first_unfit(&self, revision: &Revision, window: &Window) -> Option<BlockNumber> {
        if !self.source.provider.binds_thinking() {
            return None;
        }
        let logged = self.reversal.iter().flat_map(|reversal| &reversal.logged);
        let timeline = thinking::Timeline::new(&self.source, &self.addresses, &self.edits, &self.lines, logged);
        timeline.first_unfit(revision, window, &|block| self.is_spared(&revision.session, block))
    }

    pub(super) fn lost_thinking(&self, revision: &Revision, window: &Window) -> FxHashSet<BlockNumber> {
        let Some(first) = self.first_unfit(revision, window) else { return FxHashSet::default() };
        let behind = window.blocks_in(&revision.session).skip_while(|block| block.number != first);
        let lost = behind.filter(|block| block.kind == BlockKind::Thinking && !self.is_spared(&revision.session, block));
        lost.map(|block| block.number).collect()
    }

    /// Returns the thinking blocks of the window that are dropped when something before them changes.
    pub(in crate::planning) fn bound_thinking(&self) -> FxHashSet<BlockNumber> {
        let session = self.session();
        let binds = self.source.provider.binds_thinking();
        let thinking = self.reading().in_window().filter(|block| binds && block.kind == BlockKind::Thinking);
        thinking.filter(|block| !self.is_spared(session, block)).map(|block| block.number).collect()
    }

    /// Leaves out the thinking of earlier turns that each request is billed for, in a range of blocks, oldest first until `tokens` are
    /// saved. The thinking of a model that binds it stays: what follows would be refused. Returns the saved tokens.
    pub fn leave_out_thinking(&mut self, range: Range<BlockNumber>, tokens: f64) -> Result<f64, PlanError> {
        let reading = self.reading();
        let rows = &self.session().rows;
        let answered: FxHashSet<Key> = reading
            .in_window()
            .filter(|block| block.kind != BlockKind::Thinking)
            .filter_map(|block| rows[block.row as usize].message)
            .collect();
        // A message needs something to say.
        let is_answered = |block: &&Block| rows[block.row as usize].message.is_some_and(|message| answered.contains(&message));
        let blocks = engine::old_thinking(reading).filter(|block| range.contains(&block.number) && !self.keeps_thinking);
        let blocks: Vec<&Block> = blocks.filter(is_answered).collect();
        let mut saved = 0.0;
        for block in blocks {
            if saved < tokens && self.source.provider.is_only_thinking(&self.line(block.row)?) {
                self.empty(block.row)?;
                saved += block.tokens.value;
            }
        }
        Ok(saved)
    }

    /// Returns the error for thinking that cannot be kept.
    fn bound(&self, revision: &mut Revision, window: &Window) -> PlanError {
        let lost = self.lost_thinking(revision, window);
        let tokens = self.tokens(revision);
        let model = window.blocks_in(&revision.session).find(|block| lost.contains(&block.number));
        let model = model.and_then(|block| revision.session.rows[block.row as usize].model.as_deref());
        PlanError::Bound {
            model: model.unwrap_or(&self.reading().model).to_owned(),
            blocks: lost.len() as u32,
            tokens: lost.iter().map(|number| tokens[*number as usize - 1]).sum::<f64>().round() as u64,
        }
    }

    /// Returns the thinking blocks of a window, by row before the plan and index.
    fn thinking_of(&self, revision: &Revision, window: &Window) -> FxHashSet<(u32, u32)> {
        let thinking = window.blocks_in(&revision.session).filter(|block| block.kind == BlockKind::Thinking);
        thinking.filter_map(|block| Some((revision.was[block.row as usize]?, block.index))).collect()
    }

    /// Returns the thinking that the plan drops and the thinking that it restores.
    pub(super) fn thinking_difference(&self, revision: &Revision, window: &Window, tokens: &[f64]) -> (Thinking, Thinking) {
        let sent = self.thinking_of(revision, window);
        let (mut dropped, mut restored) = (Thinking::default(), Thinking::default());
        let mut before: FxHashSet<(u32, u32)> = FxHashSet::default();
        let is_folded = |block: &Block| match &self.folded {
            Some(Folded::Blocks(blocks)) => blocks.contains(&block.number),
            Some(Folded::Turns(turns)) => turns.contains(&block.position.turn),
            _ => false,
        };
        for block in self.reading().in_window().filter(|block| block.kind == BlockKind::Thinking) {
            before.insert((block.row, block.index));
            if !sent.contains(&(block.row, block.index)) {
                dropped.add(block.tokens.value);
                dropped.folded += u32::from(is_folded(block));
            }
        }
        for block in window.blocks_in(&revision.session).filter(|block| block.kind == BlockKind::Thinking) {
            if revision.was[block.row as usize].is_some_and(|row| !before.contains(&(row, block.index))) {
                restored.add(tokens[block.number as usize - 1]);
            }
        }
        (dropped, restored)
    }

    /// Excludes thinking from a block of the revision on, by adding a row that excludes it. If the client does not support such
    /// rows, or some thinking must stay, empties the rows that hold nothing but thinking instead.
    fn strip(&mut self, revision: &Revision, window: &Window, first: BlockNumber) -> Result<(), PlanError> {
        let provider = self.source.provider;
        let place = window.blocks.iter().position(|number| *number == first).unwrap_or_default();
        let thinks = |block: &&Block| block.kind == BlockKind::Thinking;
        let behind = || window.blocks_in(&revision.session).skip(place).filter(thinks);
        let spared = |block: &Block| self.is_spared(&revision.session, block);
        let unfit: Vec<&Block> = behind().filter(|block| !spared(block)).collect();
        let old = |block: &Block| revision.was[block.row as usize];
        let any_spared = behind().any(spared);
        let alone =
            |block: &&Block| old(block).is_some_and(|row| self.line(row).is_ok_and(|line| provider.is_only_thinking(&line)));
        if (any_spared || !provider.knows_stripping(&self.line(self.last_linked()?)?)) && unfit.iter().all(alone) {
            for block in unfit {
                self.empty(old(block).ok_or(PlanError::Moved)?)?;
            }
            return Ok(());
        }
        // Thinking of the same message before this block stays.
        let rows = &revision.session.rows;
        let block = &revision.session.blocks[first as usize - 1];
        let message = rows[block.row as usize].message;
        let same = |before: &&Block| rows[before.row as usize].message == message;
        let kept = window.blocks_in(&revision.session).take(place).filter(thinks).filter(same).count() as u32;
        let first = self.line(old(block).ok_or(PlanError::NoWay)?)?;
        self.add_row(self.leaf_identity()?, |new| provider.strip_thinking(new, &first, kept)).map(drop)
    }

    /// Returns the row whose message was emptied and was one that `is_meant` accepts.
    pub(in crate::planning) fn emptied_row(&self, is_meant: &dyn Fn(&[u8]) -> bool) -> Result<Option<u32>, PlanError> {
        let Some(originals) = self.originals else { return Ok(None) };
        for edit in self.source.history.edits().filter(|edit| edit.slot == Slot::Message) {
            if let (Some(row), Some(before)) = (self.addresses.row(edit.row), edit.before)
                && self.value(row, Slot::Message).as_deref() == Some(EMPTY_MESSAGE)
                && is_meant(&originals.original(&before)?)
            {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Removes the only block of a row.
    pub(in crate::planning) fn empty(&mut self, row: u32) -> Result<(), PlanError> {
        let address = self.addresses.address(row).ok_or(PlanError::Moved)?;
        // A reversal must not restore the block.
        let (start, end) = {
            let row = &self.session().rows[row as usize];
            (row.offset, row.offset + u64::from(row.length))
        };
        if let Some(reversal) = &mut self.reversal {
            let brings_back = |edit: &LoggedEdit| edit.row == address && edit.slot == Slot::Message;
            if reversal.logged.iter().any(brings_back) {
                reversal.logged.retain(|edit| !brings_back(edit));
                reversal.hunks.retain(|hunk| hunk.offset < start || hunk.offset > end);
            }
        }
        self.set_value(row, Slot::Message, EMPTY_MESSAGE)
    }

    /// Returns the edits of aperture that exclude thinking: rows that exclude it, and rows that were emptied.
    fn unsent_thinking(&self) -> Result<Vec<(u32, Slot)>, PlanError> {
        let strips = |row: &u32| {
            let event = self.session().rows[*row as usize].event.as_deref();
            matches!(event, Some(Event::ThinkingStripped(ThinkingScope::From { .. })))
        };
        let removed: FxHashSet<u32> = self.removed_lines().filter_map(|edit| self.addresses.row(edit.row)).collect();
        let rows = 0..self.session().rows.len() as u32;
        let lines: Vec<u32> = rows.filter(strips).filter(|row| !removed.contains(row) && self.added(*row)).collect();
        // A row with children keeps its place in the chain.
        let ids: FxHashSet<Key> = lines.iter().filter_map(|row| self.session().rows[*row as usize].id).collect();
        let follows = |(place, row): (u32, &Row)| row.parent.is_some_and(|id| ids.contains(&id)) && !lines.contains(&place);
        let followed = (0u32..).zip(&self.session().rows).any(follows);
        let lines = if followed { Vec::new() } else { lines };
        let empty = Some(hash(EMPTY_MESSAGE));
        let emptied = self.source.history.edits().filter(|edit| edit.slot == Slot::Message && edit.after == empty);
        let emptied: FxHashSet<u32> = emptied.filter_map(|edit| self.addresses.row(edit.row)).collect();
        // The thinking of a model that accepts it after any prefix was left out for its size.
        let model = |row: u32| self.session().rows[row as usize].model.as_deref().unwrap_or(&self.reading().model);
        let still = |row: &u32| {
            engine::binding(model(*row)) != Binding::Free && self.value(*row, Slot::Message).as_deref() == Some(EMPTY_MESSAGE)
        };
        let mut emptied: Vec<u32> = emptied.into_iter().filter(still).collect();
        emptied.sort_unstable();
        let lines = lines.into_iter().map(|row| (row, Slot::Line));
        Ok(lines.chain(emptied.into_iter().map(|row| (row, Slot::Message))).collect())
    }

    fn remove_line(&mut self, row: u32) -> Result<(), PlanError> {
        let address = self.addresses.address(row).ok_or(PlanError::Moved)?;
        let before = self.added_line(address)?;
        self.lines.push(Edit { row: address, slot: Slot::Line, before, after: None, change: None });
        Ok(())
    }

    /// Restores the message of a row that was emptied.
    pub(in crate::planning) fn refill(&mut self, row: u32) -> Result<(), PlanError> {
        let address = self.addresses.address(row).ok_or(PlanError::Moved)?;
        let first = self.source.history.edits().find(|edit| edit.row == address && edit.slot == Slot::Message);
        let Some((originals, first)) = self.originals.zip(first.and_then(|edit| edit.before)) else { return Ok(()) };
        self.set_value(row, Slot::Message, &originals.original(&first)?)
    }
}
