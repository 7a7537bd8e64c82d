//! From what is wanted to a plan: the session as it would be, and whether the client could resume it.

use super::Draft;
use crate::engine::diff::BlockDifference;
use crate::model::{Actor, Block, BlockKind, BlockNumber, Key, OperationId, OperationKind, Plan, Window};
use crate::provider::Source;
use crate::workspace::revision::{Revision, revise};
use crate::workspace::{PlanError, gate, thinking};

/// What a plan would do, beside the plan itself.
pub struct Drafted {
    /// The plan.
    pub plan: Plan,
    /// The window after it: blocks of [`Drafted::revision`].
    pub window: Window,
    /// The session after it.
    pub revision: Revision,
    /// What each block of the session after it costs, by its index.
    pub tokens: Vec<f64>,
    /// Tokens of the window before the first change: what the prompt cache still knows.
    pub unchanged_prefix: f64,
    /// How many thinking blocks are no longer sent.
    pub thinking_dropped: u32,
    /// What the model would see differently; only for a look ahead.
    pub differences: Vec<BlockDifference>,
}

impl Drafted {
    /// The plan alone: the rest takes as much room as the session.
    pub fn into_plan(self) -> Plan {
        self.plan
    }
}

impl Draft<'_> {
    /// The plan, with all that goes with the changes: notes, thinking that no longer fits, the fullness that the client reads.
    ///
    /// # Errors
    ///
    /// The result would not be a session that the client can resume.
    pub fn finish(
        mut self,
        kind: OperationKind,
        command: &str,
        inverts: Option<OperationId>,
        known: &(dyn Fn(Key) -> Option<u32> + Sync),
        look_ahead: bool,
    ) -> Result<Drafted, PlanError> {
        for (label, content) in std::mem::take(&mut self.notes) {
            let parent = self.leaf_identity()?;
            self.note_behind(parent, &label, &content)?;
        }
        let (provider, reading) = (self.workspace.provider, self.reading());
        let mut revision = revise(&self, known)?;
        let mut window = provider.window(&revision.session);
        // Of calls that are still open, the API of older models wants the thinking that led to them.
        let open = if thinking::leads_calls(&reading.model) { self.open_turn() } else { None };
        // What is restored byte for byte is as it was sent before; only what was written since may no longer fit it.
        let (restored, restored_bytes) = (self.reversal.is_some(), self.restored_bytes);
        let offsets: Vec<u64> = revision.session.rows.iter().map(|row| row.offset).collect();
        let spared =
            |block: &Block| open == Some(block.position.turn) || restored && offsets[block.row as usize] < restored_bytes;
        let timeline = || {
            let logged = self.reversal.iter().flat_map(|reversal| &reversal.logged);
            thinking::Timeline::new(self.workspace, &self.addresses, &self.edits, &self.lines, logged)
        };
        if provider.binds_thinking()
            && let Some(first) = timeline().first_unfit(&revision, &window, &spared)
        {
            self.strip(&revision, &window, first, &spared)?;
            // It takes as much room as the session: there need not be two.
            drop(revision);
            revision = revise(&self, known)?;
            window = provider.window(&revision.session);
        }
        let tokens = self.tokens(&revision);
        // An exact reversal restores the figures too, and what it leads to passed the gate before.
        if !restored {
            self.lower_figures(&mut revision, &window, &tokens)?;
            self.keep_lengths()?;
            gate::check(&self, &revision, &window)?;
        }
        let before: f64 = reading.in_window().map(|block| block.tokens.value).sum();
        let after: f64 = window.blocks.iter().map(|number| tokens[*number as usize - 1]).sum();
        let total = reading.price.total.value;
        let thinks = |block: &&Block| block.kind == BlockKind::Thinking;
        let thinking_after = blocks(&revision, &window).filter(thinks).count();
        let thinking_dropped = reading.in_window().filter(thinks).count().saturating_sub(thinking_after) as u32;
        let unchanged_prefix = self.unchanged_prefix(&revision, &window);
        self.fill_in(&revision, &tokens);
        let differences = if look_ahead { self.planned()? } else { Vec::new() };
        let plan = Plan {
            kind,
            command: command.to_owned(),
            actor: Actor::User,
            inverts,
            edits: self.edits.into_values().chain(self.lines).collect(),
            reversal: self.reversal.filter(|reversal| !reversal.hunks.is_empty() || !self.marks.is_empty()),
            marks: self.marks,
            base_bytes: reading.session.bytes,
            base_hash: self.base_hash,
            tokens_before: total,
            tokens_after: (total + after - before).max(0.0),
            last_row: reading.session.rows.iter().rev().find_map(|row| row.id),
        };
        Ok(Drafted { plan, window, revision, tokens, unchanged_prefix, thinking_dropped, differences })
    }

    /// About what the window would cost with the changes so far, in tokens: thinking that no longer fits still counts.
    ///
    /// # Errors
    ///
    /// The file is another one by now.
    pub fn window_tokens(&self, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<f64, PlanError> {
        let reading = self.reading();
        let revision = revise(self, known)?;
        let tokens = self.tokens(&revision);
        let window = self.workspace.provider.window(&revision.session);
        let before: f64 = reading.in_window().map(|block| block.tokens.value).sum();
        let after: f64 = window.blocks.iter().map(|number| tokens[*number as usize - 1]).sum();
        Ok((reading.price.total.value + after - before).max(0.0))
    }

    /// The turn whose calls are still open when the session is resumed: what is sent last of the model is a call.
    fn open_turn(&self) -> Option<u32> {
        let reading = self.reading();
        let messages = self.workspace.provider.messages(&reading.session, &reading.window);
        let last = messages.iter().rev().find(|message| message.role == "assistant")?;
        let Source::Block(number) = last.parts.last()?.source else { return None };
        reading.block(number).filter(|block| block.kind == BlockKind::ToolUse).map(|block| block.position.turn)
    }

    /// What the window has in common with the one before, from its beginning on, in tokens.
    fn unchanged_prefix(&self, revision: &Revision, window: &Window) -> f64 {
        let reading = self.reading();
        let pairs = reading.in_window().zip(blocks(revision, window));
        let common = pairs.take_while(|(old, new)| old.hash == new.hash && old.kind == new.kind);
        common.map(|(old, _)| old.tokens.value).sum::<f64>() + reading.price.outside.value
    }
}

/// The blocks of a window, in its order.
pub(super) fn blocks<'a>(revision: &'a Revision, window: &'a Window) -> impl Iterator<Item = &'a Block> {
    window.blocks.iter().map(|number: &BlockNumber| &revision.session.blocks[*number as usize - 1])
}
