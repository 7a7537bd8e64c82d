//! Applies stored marks and levels to the blocks of a session.

use super::addresses::Addresses;
use crate::engine::Analysis;
use crate::model::{Block, BlockChange, History, Key, Level, MarkAddress, MarkKind, Marker, Pin, Session};
use rustc_hash::FxHashMap;

/// Sets pins, focus marks and changes by other programs on the blocks of a session, and the words of the model on its turns.
///
/// If the row of a mark is missing, after a compaction or a rewrite by another program, the mark is matched by the content of its
/// block. Focus marks expire `focus_turns` turns after they were made.
pub fn apply(reading: &mut Analysis, history: &History, focus_turns: u32) {
    if history.operations.is_empty() {
        return;
    }
    let turn = reading.last_turn();
    let session = &mut reading.session;
    let mut words: Vec<(u32, &String)> = Vec::new();
    let bound = BoundBlocks::new(session, history);
    let (marks, changes) = (bound.marks(), last_changes(&bound.addresses, &bound.first, history));
    for (place, _, kind, value) in marks {
        let Some(block) = session.blocks.get_mut(place) else { continue };
        match kind {
            MarkKind::Pin => block.pin = Some(Pin::from_mark(value)),
            MarkKind::Housekeeping => words.push((block.position.turn, value)),
            MarkKind::Focus => block.focused = value.parse::<u32>().is_ok_and(|since| turn < since.saturating_add(focus_turns)),
        }
    }
    for (place, change) in changes {
        if let Some(block) = session.blocks.get_mut(place) {
            block.reason = change.reason.as_str().into();
            block.changed_elsewhere = block.marker.map_or(Level::Original, |marker| marker.level) != change.level_after;
        }
    }
    for (number, value) in words {
        if let Some(turn) = reading.turns.iter_mut().find(|turn| turn.number == number) {
            turn.housekeeping = serde_json::from_str(value).ok();
        }
    }
}

/// The blocks of a session by the addresses of marks, which stay when blocks are numbered differently.
pub struct BoundBlocks<'s, 'h> {
    session: &'s Session,
    history: &'h History,
    addresses: Addresses,
    /// The index of the first block of each row.
    first: Vec<u32>,
}

impl<'s, 'h> BoundBlocks<'s, 'h> {
    pub fn new(session: &'s Session, history: &'h History) -> BoundBlocks<'s, 'h> {
        BoundBlocks { session, history, addresses: Addresses::new(session), first: first_blocks(session) }
    }

    /// Returns the address of a block.
    pub fn address(&self, block: &Block) -> Option<MarkAddress> {
        Some(MarkAddress { row: self.addresses.any(block.row)?, index: block.index, content: block.hash })
    }

    /// Returns the index of the block at an address. It must be the same one: its content is the same, or only aperture changed it.
    pub fn place(&self, address: &MarkAddress) -> Option<usize> {
        let first = *self.first.get(self.addresses.row(address.row)? as usize)?;
        let place = (first + address.index) as usize;
        let block = self.session.blocks.get(place).filter(|block| self.addresses.any(block.row) == Some(address.row))?;
        let is_changed = || self.history.edits_of(address.row, address.index).next().is_some();
        (block.hash == address.content || is_changed()).then_some(place)
    }

    /// Returns the marks in force, each with the index of its block.
    pub fn marks(&self) -> Vec<(usize, MarkAddress, MarkKind, &'h String)> {
        let marks = &self.history.marks;
        let mut by_content: FxHashMap<Key, usize> = FxHashMap::default();
        if !marks.is_empty() {
            let blocks = self.session.blocks.iter().enumerate().filter(|(_, block)| block.bytes > 0);
            by_content.extend(blocks.map(|(place, block)| (block.hash, place)));
        }
        let placed = marks.iter().filter_map(|(address, kind, value)| {
            let place = self.place(address).or_else(|| by_content.get(&address.content).copied())?;
            Some((place, *address, *kind, value))
        });
        placed.collect()
    }
}

/// Returns the costs of the shortened blocks of a session as the log has them, by the index of each, in tokens: bills count the content
/// before.
pub fn logged_costs(session: &Session, history: &History) -> FxHashMap<usize, f64> {
    if history.operations.is_empty() {
        return FxHashMap::default();
    }
    let changes = last_changes(&Addresses::new(session), &first_blocks(session), history).into_iter();
    let is_in_force = |(place, change): &(usize, &BlockChange)| {
        let marker = session.blocks.get(*place).and_then(|block| block.marker);
        let is_of_change = |marker: Marker| (marker.number, marker.level) == (change.number, change.level_after);
        marker.is_some_and(is_of_change) && change.tokens_after > 0.0
    };
    changes.filter(is_in_force).map(|(place, change)| (place, change.tokens_after)).collect()
}

fn last_changes<'h>(addresses: &Addresses, first: &[u32], history: &'h History) -> FxHashMap<usize, &'h BlockChange> {
    let mut changes = FxHashMap::default();
    for edit in history.edits() {
        let (Some(change), Some(index)) = (&edit.change, edit.slot.index()) else { continue };
        if let Some(first) = addresses.row(edit.row).and_then(|row| first.get(row as usize)) {
            changes.insert((first + index) as usize, change);
        }
    }
    changes
}

/// Returns the index of the first block of each row.
fn first_blocks(session: &Session) -> Vec<u32> {
    let starts = session.rows.iter().scan(0, |next, row| {
        let start = *next;
        *next += row.blocks;
        Some(start)
    });
    starts.collect()
}
