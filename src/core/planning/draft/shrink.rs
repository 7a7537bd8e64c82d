//! Shrinks a session file: rows and values that no request has leave it. The window stays the same.

use super::Draft;
use crate::engine::summary::last_message;
use crate::model::{BlockKind, Edit, Key, RowKind, Slot, Turn, Unneeded, UnneededData};
use crate::planning::PlanError;
use crate::provider::UnsentRecord;
use rustc_hash::{FxHashMap, FxHashSet};

impl Draft<'_> {
    /// Plans the removal of everything that the client neither sends nor needs to resume the session: the rows before the last compaction
    /// but the prompts and the last answers to them, with the file snapshots and the request records that belong to them, and long texts in
    /// copies of results.
    /// Errors: the file changed since it was read; the client needs all rows of its sessions.
    pub fn shrink_file(&mut self) -> Result<UnneededData, PlanError> {
        let provider = self.source.provider;
        if !provider.branches() {
            return Err(PlanError::NoBranches);
        }
        self.keeps_window = true;
        let mut shrunk = UnneededData::default();
        let unneeded = self.unneeded_rows()?;
        self.remove_rows(&unneeded, &mut shrunk)?;
        for row in 0..self.session().rows.len() as u32 {
            if unneeded[row as usize].is_none() && self.session().rows[row as usize].kind == RowKind::User {
                self.shorten_display(row, &mut shrunk)?;
            }
        }
        Ok(shrunk)
    }

    /// Returns the kind of each row that the client does not need, by row.
    fn unneeded_rows(&self) -> Result<Vec<Option<Unneeded>>, PlanError> {
        let (session, window) = (self.session(), &self.reading().window);
        let rows = &session.rows;
        let mut unneeded = vec![None; rows.len()];
        let boundary = window.chain.iter().copied().rfind(|row| rows[*row as usize].kind == RowKind::Boundary);
        let Some(boundary) = boundary else { return Ok(unneeded) };
        let mut counts: FxHashMap<Key, u32> = FxHashMap::default();
        rows.iter().filter_map(|row| row.id).for_each(|id| *counts.entry(id).or_default() += 1);
        let needed: FxHashSet<u32> = window.rows.iter().chain(&window.chain).copied().collect();
        // The story of the session needs them, and lists of sessions show the first prompt.
        let story: FxHashSet<u32> = self.reading().turns.iter().flat_map(|turn| self.prompt_and_answer(turn)).collect();
        let mut records: Vec<(u32, Key, Option<Key>)> = Vec::new();
        for row in session.inherited_rows()..rows.len() as u32 {
            let facts = &rows[row as usize];
            let speaks = matches!(
                facts.kind,
                RowKind::User | RowKind::Assistant | RowKind::Attachment | RowKind::Link | RowKind::Boundary
            );
            // Of rows with one identity, the client reads the last one in the place of the first.
            let is_single = facts.id.is_some_and(|id| counts.get(&id) == Some(&1));
            if speaks && is_single && row < boundary && !needed.contains(&row) && !story.contains(&row) {
                unneeded[row as usize] = Some(Unneeded::CompactedRows);
            } else if facts.kind == RowKind::Record {
                match self.source.provider.unsent_record(&self.line(row)?) {
                    Some(UnsentRecord::Request) if row < boundary => unneeded[row as usize] = Some(Unneeded::RequestRecords),
                    Some(UnsentRecord::FileSnapshot { message, continues }) => records.push((row, message, continues)),
                    _ => {}
                }
            }
        }
        // A snapshot stays as long as the client can rewind to its message, or another snapshot continues it.
        let can_rewind = |row: u32| unneeded[row as usize].is_none() && (row >= boundary || needed.contains(&row));
        let left = (0..).zip(rows).filter(|(row, _)| can_rewind(*row));
        let mut messages: FxHashSet<Key> = left.filter_map(|(_, row)| row.id).collect();
        for (row, message, continues) in records.iter().rev() {
            if *row >= boundary || messages.contains(message) {
                messages.extend(continues);
            } else {
                unneeded[*row as usize] = Some(Unneeded::FileSnapshots);
            }
        }
        Ok(unneeded)
    }

    /// Returns the rows of a turn that tell what was asked and answered: its first words, and the text with which it ends.
    fn prompt_and_answer(&self, turn: &Turn) -> impl Iterator<Item = u32> {
        let reading = self.reading();
        let last = last_message(reading, turn).filter(|block| block.kind == BlockKind::Text);
        let rows = [turn.opening.and_then(|number| reading.block(number)), last].into_iter().flatten().map(|block| block.row);
        rows.filter(|row| !reading.window.is_left(*row))
    }

    /// Plans the removal of rows. Each run of lines between two rows that stay is one value, which the second of them has before it.
    fn remove_rows(&mut self, unneeded: &[Option<Unneeded>], shrunk: &mut UnneededData) -> Result<(), PlanError> {
        let session = self.session();
        let end = |row: u32| session.rows.get(row as usize + 1).map_or(session.bytes, |next| next.offset);
        let first = session.inherited_rows();
        let Some(mut start) = session.rows.get(first as usize).map(|row| row.offset) else { return Ok(()) };
        let (mut left, mut gone): (Vec<u8>, Vec<(Unneeded, u64)>) = (Vec::new(), Vec::new());
        for row in first..session.rows.len() as u32 {
            let offset = session.rows[row as usize].offset;
            let address = self.addresses.address(row).filter(|address| address.occurrence == 0);
            match (unneeded[row as usize], address) {
                (Some(kind), _) => gone.push((kind, end(row) - offset)),
                (None, None) => left.extend_from_slice(&self.rows.range(offset..end(row))?),
                (None, Some(address)) => {
                    if !gone.is_empty() {
                        let before = self.rows.range(start..offset)?.to_vec();
                        let after = Some(std::mem::take(&mut left));
                        let edit = Edit { row: address, slot: Slot::Ahead, before: Some(before), after, change: None };
                        self.edits.insert((row, 0, Slot::Ahead), edit);
                        for (kind, bytes) in gone.drain(..) {
                            shrunk.add(kind, bytes);
                        }
                    }
                    left.clear();
                    start = end(row);
                }
            }
        }
        Ok(())
    }

    /// Plans a shorter copy of a result, unless a block of the row depends on the copy.
    fn shorten_display(&mut self, row: u32, shrunk: &mut UnneededData) -> Result<(), PlanError> {
        let provider = self.source.provider;
        if self.addresses.address(row).is_none() || self.session().inherited_from(row).is_some() {
            return Ok(());
        }
        let line = self.line(row)?;
        let Some((at, after)) = provider.locate_slot(&line, Slot::Display).zip(provider.short_display(&line)) else {
            return Ok(());
        };
        let shorter = [&line[..at.start], &after, &line[at.end..]].concat();
        if provider.parse(&shorter) != provider.parse(&line) {
            return Ok(());
        }
        shrunk.add(Unneeded::DisplayCopies, (line.len() - shorter.len()) as u64);
        self.set_value(row, Slot::Display, &after)
    }
}
