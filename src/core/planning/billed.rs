//! Rows of responses as they were billed, before operations of the log changed them.

use super::addresses::{Addresses, NAMELESS};
use super::originals::Originals;
use super::parse::parse_chunk;
use crate::model::{Address, Key, LoggedEdit, Row, Session, Slot};
use crate::provider::ProviderAdapter;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The values of rows that operations replaced.
#[derive(Clone, Debug, Default)]
pub struct ReplacedValues {
    /// For each slot of a row, by its identity: the address of the value before its first change, by that of each value that an edit
    /// wrote. An operation in any state counts: a file has its value only if it was written.
    slots: FxHashMap<Key, BTreeMap<Slot, FxHashMap<Address, Address>>>,
}

impl ReplacedValues {
    /// Collects what edits replaced, the oldest first: figures, and contents of rows with an identity.
    pub fn new<'e>(edits: impl Iterator<Item = &'e LoggedEdit>) -> ReplacedValues {
        let mut values = ReplacedValues::default();
        for edit in edits {
            let is_content = edit.slot == Slot::Message || edit.slot.index().is_some();
            let (Some(before), Some(after)) = (edit.before, edit.after) else { continue };
            if edit.slot == Slot::Usage || is_content && edit.row.id != NAMELESS {
                let known = values.slots.entry(edit.row.id).or_default().entry(edit.slot).or_default();
                let first = known.get(&before).copied().unwrap_or(before);
                if first != after {
                    known.insert(after, first);
                }
            }
        }
        values
    }

    /// Returns the line of a response as it was billed; `None` if it has no bill, or no replaced value.
    pub fn billed(&self, provider: &dyn ProviderAdapter, line: &[u8], originals: &dyn Originals) -> Option<Vec<u8>> {
        if !self.slots.is_empty() {
            provider.locate_slot(line, Slot::Usage)?;
        }
        self.restored(provider, line, originals)
    }

    /// Returns a line with its values as they were before their first changes; `None` if no edit wrote one of them. A value that is
    /// missing from the store stays.
    pub fn restored(&self, provider: &dyn ProviderAdapter, line: &[u8], originals: &dyn Originals) -> Option<Vec<u8>> {
        if self.slots.is_empty() {
            return None;
        }
        let slots = self.slots.get(&provider.row_id(line).unwrap_or(NAMELESS))?;
        let mut restored: Option<Vec<u8>> = None;
        // A slot can be within another one, which has its earlier value only then.
        for (slot, known) in slots.iter().chain(slots) {
            let now = restored.as_deref().unwrap_or(line);
            let Some(at) = provider.locate_slot(now, *slot) else { continue };
            let first = known.get(blake3::hash(&now[at.clone()]).as_bytes());
            if let Some(value) = first.and_then(|first| originals.original(first).ok()) {
                restored = Some([&now[..at.start], &value, &now[at.end..]].concat());
            }
        }
        restored
    }
}

/// Returns a session with the bills of its responses, and the sizes of their contents, as they were before operations changed them;
/// `None` if none did. `line` returns a row.
pub fn billed_session(
    provider: &dyn ProviderAdapter,
    session: &Session,
    replaced: &ReplacedValues,
    line: &dyn Fn(u32) -> Option<Vec<u8>>,
    originals: &dyn Originals,
) -> Option<Session> {
    let addresses = Addresses::new(session);
    let mut billed: Option<Session> = None;
    let mut first_block = 0;
    for (place, row) in session.rows.iter().enumerate() {
        let blocks = first_block..first_block + row.blocks as usize;
        first_block = blocks.end;
        let is_replaced = addresses.any(place as u32).is_some_and(|address| replaced.slots.contains_key(&address.id));
        if row.usage.is_none() || !is_replaced {
            continue;
        }
        let Some(was) = line(place as u32).and_then(|line| replaced.billed(provider, &line, originals)) else { continue };
        let was = parse_chunk(provider, &|_| None, &was, 0);
        let billed = billed.get_or_insert_with(|| session.clone());
        // A client can write the bill of a response in a row of its own.
        let is_same = |other: &&mut Row| other.usage == row.usage && (other.message.is_some() && other.message == row.message);
        if let Some(usage) = was.rows.first().and_then(|row| row.usage) {
            billed.rows.iter_mut().filter(is_same).for_each(|other| other.usage = Some(usage));
            billed.rows[place].usage = Some(usage);
        }
        if was.blocks.len() == blocks.len() {
            for (block, was) in billed.blocks[blocks].iter_mut().zip(was.blocks) {
                (block.kind, block.bytes, block.signature_bytes) = (was.kind, was.bytes, was.signature_bytes);
            }
        }
    }
    billed
}
