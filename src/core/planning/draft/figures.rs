//! Computes the cost of the blocks after a plan, and updates the usage figure from which the client computes the context usage.

use super::Draft;
use crate::engine;
use crate::model::{Block, Edit, RowKind, Session, Slot, Window};
use crate::planning::PlanError;
use crate::planning::bills::last_bill;
use crate::planning::revision::Revision;

impl Draft<'_> {
    pub(super) fn costs(&self, revision: &mut Revision, window: &Window) -> (Vec<f64>, f64) {
        let reading = self.reading();
        if self.loses_bill(revision, window) || self.regains_bill() {
            return engine::unbilled_costs(&mut revision.session, window, &reading.model);
        }
        let tokens = self.tokens(revision);
        let before: f64 = reading.in_window().map(|block| block.tokens.value).sum();
        let after: f64 = window.blocks.iter().map(|number| tokens[*number as usize - 1]).sum();
        (tokens, (reading.price.total.value + after - before).max(0.0))
    }

    /// Returns true if the plan removes the last billed response from the window: the next analysis then estimates the whole
    /// window.
    pub(super) fn loses_bill(&self, revision: &Revision, window: &Window) -> bool {
        let billed = |session: &Session, window: &Window| {
            window.rows.iter().any(|row| session.rows[*row as usize].usage.is_some_and(|usage| usage.sent() > 0))
        };
        billed(self.session(), &self.reading().window) && !billed(&revision.session, window)
    }

    /// Returns true if the last bill counted rows that the client has lost, and that a repair links again: it is the size of the window
    /// then.
    fn regains_bill(&self) -> bool {
        self.repairs.is_some() && !self.reading().window.cuts.is_empty() && self.reading().price.measured.is_none()
    }

    /// Returns the cost of each block of the revision; that of a changed block follows from its cost before, so that both are counted
    /// in the same way.
    pub(super) fn tokens(&self, revision: &Revision) -> Vec<f64> {
        let reading = self.reading();
        let price = |(block, was): (&Block, &Option<u32>)| {
            let old = was.and_then(|was| reading.session.blocks.get(was as usize));
            match old {
                Some(old) if old.hash == block.hash && old.kind == block.kind => old.tokens.value,
                Some(old) => {
                    let known = self.known_tokens.get(&old.number).copied();
                    known.unwrap_or_else(|| reading.price.revised(old, block).value)
                }
                None => reading.price.revised(block, block).value,
            }
        };
        revision.session.blocks.iter().zip(&revision.block_was).map(price).collect()
    }

    /// Writes the tokens that would be sent after the plan into the usage figures of the last response, so that the client shows
    /// the correct context usage.
    pub(super) fn lower_figures(&mut self, revision: &mut Revision, window: &Window, tokens: &[f64]) -> Result<(), PlanError> {
        if self.regains_bill() {
            return Ok(());
        }
        let (provider, reading) = (self.source.provider, self.reading());
        let rows = &reading.session.rows;
        let billed = |row: u32| rows[row as usize].usage.is_some_and(|usage| usage.sent() > 0);
        let Some(last) = last_bill(&reading.session, &reading.window.rows).map(|place| reading.window.rows[place]) else {
            return Ok(());
        };
        let until = self.logged_until.and_then(|id| self.addresses.row_of(id));
        if until.is_some_and(|until| last <= until) {
            return Ok(());
        }
        let message = rows[last as usize].message;
        let of_response = |row: u32| rows[row as usize].kind == RowKind::Assistant && rows[row as usize].message == message;
        let before = reading.in_window().take_while(|block| !of_response(block.row));
        let before: f64 = before.map(|block| block.tokens.value).sum();
        let after =
            window.blocks_in(&revision.session).take_while(|block| !revision.was[block.row as usize].is_some_and(of_response));
        let after: f64 = after.map(|block| tokens[block.number as usize - 1]).sum();
        let change = (after - before).round();
        let is_outdated = reading.window.outdated_bill == Some(last);
        if change == 0.0 && !is_outdated {
            return Ok(());
        }
        // The bill may be in a separate row.
        let same = |row: &u32| rows[*row as usize].message == message && billed(*row);
        for row in (self.session().inherited_rows()..rows.len() as u32).filter(same) {
            let place = (row, 0, Slot::Usage);
            let (Some(address), Some(value)) = (self.addresses.address(row), self.value(row, Slot::Usage)) else { continue };
            let sent = rows[row as usize].usage.map_or(0, |usage| usage.sent());
            // An outdated bill counted more than the change takes out.
            let sent = if is_outdated { after + reading.price.outside.value } else { sent as f64 + change };
            let sent = sent.round().max(1.0) as u64;
            let written = provider.usage(&value, sent, &self.line(row)?).filter(|written| *written != value);
            let fits = |written: &Vec<u8>| self.room(row).is_none_or(|room| written.len() <= value.len() + room);
            let Some(written) = written.filter(|_| !self.edits.contains_key(&place)).filter(fits) else { continue };
            let edit = Edit { row: address, slot: Slot::Usage, before: Some(value), after: Some(written), change: None };
            self.edits.insert(place, edit);
            revision.amend(self, row)?;
        }
        Ok(())
    }

    /// Writes the costs before and after into the block changes.
    pub(super) fn fill_in(&mut self, revision: &Revision, tokens: &[f64]) {
        let session = &self.source.reading.session;
        let mut costs = vec![0.0; session.blocks.len()];
        for (was, tokens) in revision.block_was.iter().zip(tokens) {
            if let Some(was) = was {
                costs[*was as usize] = *tokens;
            }
        }
        for ((row, _, slot), edit) in &mut self.edits {
            let block = slot.index().and_then(|index| session.blocks_of(*row).get(index as usize));
            if let (Some(change), Some(block)) = (&mut edit.change, block) {
                change.number = block.number;
                change.tokens_before = block.tokens.value;
                change.tokens_after = costs[block.number as usize - 1];
            }
        }
    }
}
