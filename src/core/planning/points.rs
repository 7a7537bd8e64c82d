//! Reads the values of a session at a point of its log, and plans their restoration.

use super::PlanError;
use super::draft::{Draft, Folded};
use crate::engine::diff::{BlockDifference, DiffKind};
use crate::engine::{self};
use crate::model::{
    Address, Basis, BlockChange, BlockNumber, Edit, Level, LoggedEdit, Mark, MarkAddress, MarkKind, OperationId, RowAddress,
    Slot, TokenCount,
};
use std::collections::BTreeMap;

/// The value of a slot at a point of the log.
pub(super) struct Then<'a> {
    /// The first edit after the point: its value before is the value at the point.
    pub first: &'a LoggedEdit,
    /// The last edit: its value after is the expected current value.
    pub last: &'a LoggedEdit,
}

impl Draft<'_> {
    /// Returns every slot that was edited after a point, in the order of the first edits.
    pub(super) fn edited_after(&self, point: OperationId) -> Vec<((RowAddress, Slot), Then<'_>)> {
        let mut order: Vec<(RowAddress, Slot)> = Vec::new();
        let mut slots: BTreeMap<(RowAddress, Slot), Then<'_>> = BTreeMap::new();
        let later = self.source.history.operations.iter().filter(|operation| operation.id > point);
        for edit in later.flat_map(|operation| &operation.edits) {
            let key = (edit.row, edit.slot);
            match slots.get_mut(&key) {
                Some(then) => then.last = edit,
                None => {
                    order.push(key);
                    slots.insert(key, Then { first: edit, last: edit });
                }
            }
        }
        order.into_iter().filter_map(|key| slots.remove(&key).map(|then| (key, then))).collect()
    }

    pub(super) fn stored(&self, address: Option<Address>) -> Result<Option<Vec<u8>>, PlanError> {
        let Some(address) = address else { return Ok(None) };
        let originals = self.originals.ok_or(PlanError::Gone)?;
        Ok(Some(originals.original(&address)?))
    }

    /// Returns the current value of a slot; `None` if the row or the slot does not exist.
    pub(super) fn current_value(&self, row: RowAddress, slot: Slot) -> Option<Vec<u8>> {
        let place = self.addresses.row(row)?;
        let value = self.value(place, slot)?;
        Some(if slot == Slot::Line { [&value[..], b"\n"].concat() } else { value })
    }

    /// Plans to restore the values that the log has for a point. Other bytes are not restored.
    /// Errors: another program changed a block since, or a value is not in the store.
    pub(super) fn revert_to(&mut self, point: OperationId) -> Result<(), PlanError> {
        let mut edits = Vec::new();
        for ((row, slot), then) in self.edited_after(point) {
            let target = self.stored(then.first.before)?;
            let now = match (slot, self.addresses.row(row)) {
                (Slot::Ahead, Some(place)) => Some(self.lines_ahead(place, self.stored(then.last.after)?.as_deref())?),
                _ => self.current_value(row, slot),
            };
            if slot == Slot::Line {
                if now.is_some() != target.is_some() {
                    let before = now.and(self.added_line(row)?);
                    edits.push(Edit { row, slot, before, after: target, change: None });
                }
                continue;
            }
            if now == target {
                continue;
            }
            if now != self.stored(then.last.after)? {
                if slot == Slot::Usage {
                    continue;
                }
                let number = then.last.change.as_ref().map_or(0, |change| change.number);
                return Err(PlanError::ChangedElsewhere(number));
            }
            let change = then.first.change.as_ref().zip(then.last.change.as_ref()).map(|(first, last)| BlockChange {
                level_after: first.level_before,
                tokens_after: first.tokens_before,
                reason: String::new(),
                ..last.inverted()
            });
            edits.push(Edit { row, slot, before: now, after: target, change });
        }
        // Restore in reverse order, as undo does, so that restored rows keep their original order.
        edits.reverse();
        let first = self.source.history.operations.iter().find(|operation| operation.id > point);
        self.logged_until = first.and_then(|first| first.last_row);
        self.folded = first.map(|first| Folded::Until(self.last_row_before(first.id)));
        let marks = self.marks_back(point);
        self.revert(edits, marks)
    }

    /// Returns the marks that restore those at a point of the log, in the order of their blocks.
    pub(super) fn marks_back(&self, point: OperationId) -> Vec<Mark> {
        let mut then: BTreeMap<(MarkAddress, MarkKind), &Mark> = BTreeMap::new();
        let mut now: BTreeMap<(MarkAddress, MarkKind), &Mark> = BTreeMap::new();
        let later = self.source.history.operations.iter().filter(|operation| operation.id > point);
        for mark in later.flat_map(|operation| &operation.marks) {
            then.entry((mark.address, mark.kind)).or_insert(mark);
            now.insert((mark.address, mark.kind), mark);
        }
        let back = then.into_iter().filter_map(|(key, first)| {
            let last = now.get(&key)?;
            (first.before != last.after).then(|| Mark {
                before: last.after.clone(),
                after: first.before.clone(),
                ..(*last).clone()
            })
        });
        let mut back: Vec<Mark> = back.collect();
        back.sort_by_key(|mark| mark.number);
        back
    }

    /// Returns the differences in content between two points of the log, block by block. Without `to`, compares with the current
    /// state.
    pub fn differences(&self, from: OperationId, to: Option<OperationId>) -> Result<Vec<BlockDifference>, PlanError> {
        let reading = self.source.reading;
        let until: BTreeMap<(RowAddress, Slot), Then<'_>> =
            to.map(|to| self.edited_after(to).into_iter().collect()).unwrap_or_default();
        let mut differences = Vec::new();
        for ((row, slot), then) in self.edited_after(from) {
            if slot.index().is_none() && slot != Slot::Line {
                continue;
            }
            let place = self.addresses.row(row);
            let before = self.stored(then.first.before)?;
            let later = until.get(&(row, slot));
            let after = match later {
                Some(later) => self.stored(later.first.before)?,
                None => self.current_value(row, slot),
            };
            if before == after {
                continue;
            }
            let index = slot.index().unwrap_or_default() as usize;
            let current = place.and_then(|row| reading.session.blocks_of(row).get(index));
            let text = |value: &Option<Vec<u8>>| self.text(place, slot, value.as_deref());
            let (old, new) = (then.first.change.as_ref(), later.and_then(|later| later.first.change.as_ref()));
            let current_tokens = current.map_or(0.0, |block| block.tokens.value);
            let tokens = |value: &Option<Vec<u8>>, change: Option<&BlockChange>| {
                let tokens = change.map_or(current_tokens, |change| change.tokens_before);
                calibrated(if value.is_some() { tokens } else { 0.0 })
            };
            differences.push(BlockDifference {
                number: current.map_or_else(|| old.map_or(0, |change| change.number), |block| block.number),
                label: current.map(engine::label).or_else(|| old.map(|change| change.label.clone())).unwrap_or_default(),
                kind: match (&before, &after) {
                    (None, _) => DiffKind::Added,
                    (_, None) => DiffKind::Removed,
                    _ => DiffKind::Changed,
                },
                level_before: old.map_or(Level::Original, |change| change.level_before),
                level_after: new.map_or(current.map_or(Level::Original, |block| block.level), |change| change.level_before),
                tokens_before: tokens(&before, old),
                tokens_after: tokens(&after, new),
                before: text(&before)?,
                after: text(&after)?,
            });
        }
        // Rows that the client writes for itself have no content for the model.
        differences.retain(|difference| difference.before != difference.after);
        differences.sort_by_key(|difference| difference.number);
        Ok(differences)
    }

    /// Returns the differences in content that the edits so far would cause.
    pub(super) fn planned(&self) -> Result<Vec<BlockDifference>, PlanError> {
        let mut differences = Vec::new();
        for ((row, _, slot), edit) in &self.edits {
            let Some(change) = &edit.change else { continue };
            let before = self.text(Some(*row), *slot, edit.before.as_deref())?;
            let after = self.text(Some(*row), *slot, edit.after.as_deref())?;
            let tokens = [change.tokens_before, change.tokens_after];
            differences.push(block_difference(change, tokens, before, after));
        }
        for edit in self.reversal.iter().flat_map(|reversal| &reversal.logged) {
            differences.extend(self.reversed(edit)?);
        }
        differences.sort_by_key(|difference| difference.number);
        // A redaction shows no difference, because both texts are masked.
        differences.retain(|difference| difference.before != difference.after);
        for edit in self.removed_lines() {
            differences.extend(self.removed_row(edit)?);
        }
        for edit in self.added_lines() {
            let after = self.text(None, Slot::Line, edit.after.as_deref())?;
            if !after.is_empty() {
                let tokens = engine::tokens::estimate(&after);
                differences.push(self.added_row(tokens, after));
            }
        }
        Ok(differences)
    }

    /// Returns the difference that an edit of an exact reversal causes; `None` if it changes no content.
    fn reversed(&self, edit: &LoggedEdit) -> Result<Option<BlockDifference>, PlanError> {
        let row = self.addresses.row(edit.row);
        let before = self.text(row, edit.slot, self.stored(edit.before)?.as_deref())?;
        let after = self.text(row, edit.slot, self.stored(edit.after)?.as_deref())?;
        let tokens = |known: Option<f64>, text: &str| {
            if text.is_empty() { 0.0 } else { known.unwrap_or_else(|| engine::tokens::estimate(text)) }
        };
        Ok(match (edit.slot, &edit.change) {
            (_, Some(change)) => {
                let tokens = [tokens(Some(change.tokens_before), &before), tokens(Some(change.tokens_after), &after)];
                Some(block_difference(change, tokens, before, after))
            }
            (Slot::Line, None) if edit.after.is_none() => {
                let block = row.and_then(|row| self.session().blocks_of(row).first());
                Some(BlockDifference {
                    number: block.map_or(self.session().blocks.len() as BlockNumber, |block| block.number),
                    label: block.map(engine::label).unwrap_or_default(),
                    kind: DiffKind::Removed,
                    tokens_before: calibrated(tokens(None, &before)),
                    before,
                    ..self.added_row(tokens(None, &after), after)
                })
            }
            (Slot::Line, None) => Some(BlockDifference {
                tokens_before: calibrated(tokens(None, &before)),
                before,
                ..self.added_row(tokens(None, &after), after)
            }),
            _ => None,
        })
    }

    fn removed_row(&self, edit: &Edit) -> Result<Option<BlockDifference>, PlanError> {
        let row = self.addresses.row(edit.row).ok_or(PlanError::Gone)?;
        let Some(block) = self.session().blocks_of(row).first() else { return Ok(None) };
        Ok(Some(BlockDifference {
            number: block.number,
            label: engine::label(block),
            kind: DiffKind::Removed,
            level_before: block.level,
            level_after: block.level,
            tokens_before: block.tokens,
            tokens_after: TokenCount::ZERO,
            before: self.text(None, Slot::Line, edit.before.as_deref())?,
            after: String::new(),
        }))
    }

    fn added_row(&self, tokens: f64, text: String) -> BlockDifference {
        BlockDifference {
            number: self.session().blocks.len() as BlockNumber + 1,
            label: "note".to_owned(),
            kind: DiffKind::Added,
            level_before: Level::Original,
            level_after: Level::Original,
            tokens_before: TokenCount::ZERO,
            tokens_after: calibrated(tokens),
            before: String::new(),
            after: text,
        }
    }

    /// Returns the readable text of a value, with credentials masked.
    fn text(&self, row: Option<u32>, slot: Slot, value: Option<&[u8]>) -> Result<String, PlanError> {
        self.plain(row, slot, value).map(|text| self.source.reading.known.mask(&text).into_owned())
    }

    fn plain(&self, row: Option<u32>, slot: Slot, value: Option<&[u8]>) -> Result<String, PlanError> {
        let provider = self.source.provider;
        let Some(value) = value else { return Ok(String::new()) };
        if slot == Slot::Line {
            let parsed = provider.parse(value.trim_ascii());
            return Ok(parsed.blocks.iter().map(|block| block.text()).collect::<Vec<_>>().join("\n"));
        }
        let whole = row.and_then(|row| {
            let line = self.line(row).ok()?;
            let at = provider.locate_slot(&line, slot)?;
            let line = [&line[..at.start], value, &line[at.end..]].concat();
            let parsed = provider.parse(&line);
            parsed.blocks.get(slot.index()? as usize).map(|block| block.text().to_owned())
        });
        Ok(whole.unwrap_or_else(|| provider.decode(value)))
    }

    /// Returns the cost of the window at a point of the log, in tokens.
    pub fn tokens_at(&self, point: Option<OperationId>) -> f64 {
        let later = point.and_then(|point| self.source.history.operations.iter().find(|operation| operation.id > point));
        later.map_or(self.source.reading.price.total.value, |operation| operation.tokens_before)
    }
}

/// Returns the difference that a change of a block causes; `tokens` are those before and after.
fn block_difference(change: &BlockChange, tokens: [f64; 2], before: String, after: String) -> BlockDifference {
    BlockDifference {
        number: change.number,
        label: change.label.clone(),
        kind: DiffKind::Changed,
        level_before: change.level_before,
        level_after: change.level_after,
        tokens_before: calibrated(tokens[0]),
        tokens_after: calibrated(tokens[1]),
        before,
        after,
    }
}

fn calibrated(tokens: f64) -> TokenCount {
    TokenCount { value: tokens, basis: Basis::Calibrated }
}
