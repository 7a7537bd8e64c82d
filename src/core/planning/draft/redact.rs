//! Redacts credentials: only their own bytes change.

use super::{Draft, SkipReason};
use crate::engine::{self, Secret};
use crate::model::{Block, BlockKind, BlockNumber, Edit, Key, Slot};
use crate::planning::PlanError;
use crate::provider::{Stub, strings};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The result of a redaction.
#[derive(Clone, Debug, Default)]
pub struct Redacted {
    pub kinds: BTreeMap<&'static str, usize>,
    pub outside_blocks: usize,
    /// Blocks with credentials that stay unchanged, with the reason.
    pub skipped: Vec<(SkipReason, BlockNumber)>,
    /// Rows with credentials outside their blocks that stay unchanged, by index in the session.
    pub skipped_rows: Vec<u32>,
    /// The number of credentials that were found outside the requested scope.
    pub elsewhere: usize,
}

impl Draft<'_> {
    /// Redacts the credentials in blocks and, if `outside_blocks` is true, in all other strings of the file. `find` returns the
    /// credentials in a row.
    ///
    /// Thinking is signed and stays unchanged. So do rows whose identity or links would change.
    pub fn redact(
        &mut self,
        blocks: &BTreeSet<BlockNumber>,
        outside_blocks: bool,
        find: &dyn Fn(&[u8]) -> Vec<Secret>,
    ) -> Result<Redacted, PlanError> {
        let mut redacted = Redacted::default();
        for block in self.session().blocks.iter().filter(|block| blocks.contains(&block.number)) {
            if self.session().inherited_from(block.row).is_some() && !find(&self.line(block.row)?).is_empty() {
                redacted.skipped.push((SkipReason::Inherited, block.number));
            }
        }
        for row in self.session().inherited_rows()..self.session().rows.len() as u32 {
            let line = self.line(row)?;
            let mut found = find(&line);
            if found.is_empty() {
                continue;
            }
            for block in self.session().blocks_of(row) {
                self.redact_block(&line, block, blocks.contains(&block.number), &mut found, &mut redacted)?;
            }
            if outside_blocks && !found.is_empty() {
                self.redact_strings(row, &line, &found, &mut redacted)?;
            } else {
                redacted.elsewhere += found.len();
            }
        }
        Ok(redacted)
    }

    /// Redacts the credentials of one block, and removes them from `found`.
    fn redact_block(
        &mut self,
        line: &[u8],
        block: &Block,
        wanted: bool,
        found: &mut Vec<Secret>,
        redacted: &mut Redacted,
    ) -> Result<(), PlanError> {
        let provider = self.source.provider;
        if block.kind == BlockKind::Thinking {
            let element = provider.locate_slot(line, Slot::Element(block.index));
            if !take(found, element.as_ref()).is_empty() && wanted {
                redacted.skipped.push((SkipReason::Signed, block.number));
            }
            return Ok(());
        }
        // A block without an address or a slot is handled like any other string.
        let Ok((address, slot)) = self.place(block) else { return Ok(()) };
        let Some(range) = provider.locate_slot(line, slot) else { return Ok(()) };
        let own = take(found, Some(&range));
        let value = &line[range.clone()];
        let Some(after) = self.masked(value, &shifted(&own, range.start)) else { return Ok(()) };
        if !wanted {
            redacted.elsewhere += own.len();
            return Ok(());
        }
        self.set(block, address, slot, after, block.level, "")?;
        if let Some(change) = self.edits.get_mut(&(block.row, block.index, slot)).and_then(|edit| edit.change.as_mut()) {
            change.redacted = true;
        }
        redacted.count(&own);
        Ok(())
    }

    /// Returns a value with placeholders for its credentials. If rows may not grow and the value would, each byte of a credential
    /// is replaced by an asterisk instead.
    fn masked(&self, value: &[u8], found: &[Secret]) -> Option<Vec<u8>> {
        let named = engine::masked(value, found)?;
        if named.len() <= value.len() || !self.source.provider.keeps_offsets(self.session()) {
            return Some(named);
        }
        let mut covered = value.to_vec();
        for secret in found {
            covered.get_mut(secret.range.clone())?.fill(b'*');
        }
        Some(covered)
    }

    fn redact_strings(&mut self, row: u32, line: &[u8], found: &[Secret], redacted: &mut Redacted) -> Result<(), PlanError> {
        let Some(address) = self.addresses.any(row) else { return Ok(()) };
        let mut left = found.to_vec();
        let changed: Vec<(u64, Range<usize>, Vec<u8>)> = strings(line)
            .into_iter()
            .filter_map(|(path, range)| {
                let own = take(&mut left, Some(&range));
                let after = self.masked(&line[range.clone()], &shifted(&own, range.start))?;
                Some((path, range, after))
            })
            .collect();
        let mut edited = line.to_vec();
        for (_, range, after) in changed.iter().rev() {
            edited.splice(range.clone(), after.iter().copied());
        }
        // A broken row has no strings, and a row with another identity would not be found again.
        let (before, after) = (self.looks(line), self.looks(&edited));
        if !left.is_empty() || before.0 != after.0 {
            redacted.skipped_rows.push(row);
            return Ok(());
        }
        let sent = before.1 != after.1;
        for (path, range, after) in changed {
            let slot = Slot::String { path, sent };
            let before = Some(line[range].to_vec());
            self.edits.insert((row, 0, slot), Edit { row: address, slot, before, after: Some(after), change: None });
            redacted.outside_blocks += 1;
        }
        redacted.count(found);
        Ok(())
    }

    /// Returns the invariants of a row and the hashes of its contents.
    fn looks(&self, line: &[u8]) -> ((Option<Key>, Option<Stub>), Vec<Key>) {
        let provider = self.source.provider;
        let parsed = provider.parse(line);
        let contents = parsed.blocks.iter().map(|block| Key::from_bytes(block.content.as_bytes()));
        ((parsed.row.id, provider.stub(line)), contents.collect())
    }
}

impl Redacted {
    fn count(&mut self, found: &[Secret]) {
        for secret in found {
            *self.kinds.entry(secret.kind).or_default() += 1;
        }
    }
}

/// Removes the credentials within a range from the list and returns them.
fn take(found: &mut Vec<Secret>, range: Option<&Range<usize>>) -> Vec<Secret> {
    let Some(range) = range else { return Vec::new() };
    found.extract_if(.., |secret| range.start <= secret.range.start && secret.range.end <= range.end).collect()
}

/// Returns the credentials with ranges relative to `start`.
fn shifted(found: &[Secret], start: usize) -> Vec<Secret> {
    found.iter().map(|secret| Secret { range: secret.range.start - start..secret.range.end - start, kind: secret.kind }).collect()
}
