//! Completes a draft into a plan: computes the resulting session and checks that the client can resume it.

use super::Draft;
use super::strip::Thinking;
use crate::engine::diff::BlockDifference;
use crate::model::{Actor, Key, OperationId, OperationKind, Plan, Window};
use crate::planning::revision::{Revision, revise};
use crate::planning::{PlanError, gate};

/// Maximum difference in tokens between a window and its logged size at which both count as equal: figures are rounded in the file.
const SAME_WINDOW: f64 = 2.0;

/// A plan and its computed effects.
#[must_use = "a plan changes nothing until it is applied"]
pub struct Drafted {
    pub plan: Plan,
    /// The window after the plan: blocks of [`Drafted::revision`].
    pub window: Window,
    /// The session after the plan.
    pub revision: Revision,
    /// Tokens of the window before the first change, which remain in the prompt cache.
    pub unchanged_prefix: f64,
    /// The thinking that is no longer sent.
    pub thinking_dropped: Thinking,
    /// The thinking that is sent again.
    pub thinking_restored: Thinking,
    /// The differences in content; only for a dry run.
    pub differences: Vec<BlockDifference>,
}

impl Drafted {
    /// Returns the plan alone and frees the rest, which uses as much memory as the session.
    pub fn into_plan(self) -> Plan {
        self.plan
    }
}

impl Draft<'_> {
    /// Completes the plan: adds notes, drops thinking whose prefix changed, and updates the context usage that the client reads.
    /// Errors: the client could not resume the resulting session.
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
        let reading = self.reading();
        let restored = self.reversal.is_some();
        let (mut revision, window) = self.fit_thinking(known)?;
        let (mut tokens, mut after) = self.costs(&mut revision, &window);
        // An exact reversal also restores the figures, and its result passed the gate before.
        if !restored {
            self.lower_figures(&mut revision, &window, &tokens)?;
            if self.loses_bill(&revision, &window) {
                (tokens, after) = self.costs(&mut revision, &window);
            }
            self.keep_lengths(&mut revision)?;
            gate::check(&self, &revision, &window)?;
        }
        let total = reading.price.total.value;
        let (thinking_dropped, thinking_restored) = self.thinking_difference(&revision, &window, &tokens);
        let unchanged_prefix = self.unchanged_prefix(&revision, &window);
        self.fill_in(&revision, &tokens);
        let differences = if look_ahead { self.planned()? } else { Vec::new() };
        // If the newest operation is inverted, use its logged token count instead of a new estimate.
        let history = self.source.history;
        let inverted = inverts.filter(|id| *id == history.last()).and_then(|id| history.operation(id));
        let logged = inverted.filter(|operation| (operation.tokens_after - total).abs() <= SAME_WINDOW);
        let tokens_after = logged.map_or(after, |operation| operation.tokens_before);
        let window_change = self.window_change(&revision, &window)?;
        revision.added.clear();
        let block_edits = self.block_edits(&mut revision)?;
        let plan = Plan {
            kind,
            command: command.to_owned(),
            actor: Actor::User,
            inverts,
            edits: self.edits.into_values().chain(self.lines).collect(),
            block_edits,
            window: window_change,
            reversal: self.reversal.filter(|reversal| !reversal.hunks.is_empty() || !self.marks.is_empty()),
            marks: self.marks,
            companions: Vec::new(),
            base_bytes: reading.session.bytes,
            base_hash: self.base_hash,
            tokens_before: total,
            tokens_after,
            last_row: reading.session.rows.iter().rev().find_map(|row| row.id),
        };
        Ok(Drafted { plan, window, revision, unchanged_prefix, thinking_dropped, thinking_restored, differences })
    }

    /// Returns the session after the changes so far, and its window.
    pub(super) fn revised(&self, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<(Revision, Window), PlanError> {
        let revision = revise(self, known)?;
        let window = self.source.provider.window(&revision.session);
        Ok((revision, window))
    }

    /// Returns the cost of the window after the changes so far, in tokens, without the thinking that they drop.
    pub fn window_tokens(&self, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<f64, PlanError> {
        let (mut revision, window) = self.revised(known)?;
        let (tokens, after) = self.costs(&mut revision, &window);
        let lost = self.lost_thinking(&revision, &window);
        let unsent = window.blocks.iter().filter(|number| lost.contains(number));
        let unsent: f64 = unsent.map(|number| tokens[*number as usize - 1]).sum();
        Ok((after - unsent).max(0.0))
    }

    /// Returns the cost of the prefix that the window has in common with the one before, in tokens.
    fn unchanged_prefix(&self, revision: &Revision, window: &Window) -> f64 {
        let reading = self.reading();
        let pairs = reading.in_window().zip(window.blocks_in(&revision.session));
        let common = pairs.take_while(|(old, new)| old.hash == new.hash && old.kind == new.kind);
        common.map(|(old, _)| old.tokens.value).sum::<f64>() + reading.price.outside.value
    }
}
