//! Numbers of turns, which stay when rows are added or removed, and of blocks, which do not.

use crate::engine::Analysis;
use crate::model::{History, Key, LoggedEdit, Operation, OperationKind, Plan, Role, Session, Slot, Turn};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Returns the turns of a session, each with the identity of its first row and its number.
pub fn turn_numbers(reading: &Analysis) -> Vec<(Key, u32)> {
    reading.turns.iter().map(|turn| (identity(reading, turn), turn.number)).collect()
}

/// Returns true if a plan can change the places of turns in the file.
pub fn moves_turns(plan: &Plan) -> bool {
    plan.slots().any(|(slot, ..)| is_of_rows(slot)) || plan.reversal.as_ref().is_some_and(|reversal| !reversal.hunks.is_empty())
}

fn is_of_rows(slot: Slot) -> bool {
    matches!(slot, Slot::Line | Slot::Ahead | Slot::Break(_))
}

/// Returns true if an operation since a row was written could change the numbers of the blocks before it. A change adds rows at the end
/// only.
pub fn are_renumbered_since(session: &Session, history: &History, row: u32) -> bool {
    let is_added = |kind, edit: &LoggedEdit| kind == OperationKind::Change && edit.slot == Slot::Line && edit.before.is_none();
    let renumbers =
        |operation: &&Operation| operation.edits.iter().any(|edit| is_of_rows(edit.slot) && !is_added(operation.kind, edit));
    let last = |operation: &Operation| session.rows.iter().rposition(|row| row.id.is_some() && row.id == operation.last_row);
    history.operations.iter().filter(renumbers).filter_map(last).any(|last| row as usize <= last)
}

/// The numbers that turns had before operations moved them, for a reader of rows in file order.
#[derive(Clone, Debug, Default)]
pub struct KeptTurns {
    numbers: FxHashMap<Key, u32>,
    last: u32,
}

impl KeptTurns {
    pub fn new(history: &History) -> KeptTurns {
        // Of a row that repeats, the first.
        let numbers = history.turns.iter().rev().copied().collect();
        KeptTurns { numbers, last: history.turns.iter().map(|(_, number)| *number).max().unwrap_or_default() }
    }

    /// Returns the number of the turn that begins at a row with an identity, after turns of numbers up to `highest`.
    pub fn number(&self, row: Option<Key>, highest: u32) -> u32 {
        let Some(row) = row else { return highest + 1 };
        self.numbers.get(&row).copied().unwrap_or(highest.max(self.last) + 1)
    }
}

/// Gives each turn the number that it had before the operations of the log. Turns without one follow the highest number.
pub fn keep_turn_numbers(reading: &mut Analysis, history: &History) {
    if history.turns.is_empty() {
        return;
    }
    // Identities of rows can repeat.
    let mut known: FxHashMap<Key, VecDeque<u32>> = FxHashMap::default();
    for (turn, number) in &history.turns {
        known.entry(*turn).or_default().push_back(*number);
    }
    let mut last = history.turns.iter().map(|(_, number)| *number).max().unwrap_or_default();
    let mut numbers = vec![0];
    for turn in &reading.turns {
        let number = known.get_mut(&identity(reading, turn)).and_then(VecDeque::pop_front);
        numbers.push(number.unwrap_or_else(|| {
            last += 1;
            last
        }));
    }
    let kept = |place: u32| numbers.get(place as usize).copied().unwrap_or(place);
    reading.turns.iter_mut().for_each(|turn| turn.number = kept(turn.number));
    reading.session.blocks.iter_mut().for_each(|block| block.position.turn = kept(block.position.turn));
    reading.topics.iter_mut().flat_map(|topic| &mut topic.turns).for_each(|turn| *turn = kept(*turn));
}

/// Returns the identity of the first row of a turn; without one, a hash of its time and of the first text in the user's name.
fn identity(reading: &Analysis, turn: &Turn) -> Key {
    let mut blocks = turn.blocks.iter().filter_map(|number| reading.block(*number));
    let id = blocks.clone().next().and_then(|block| reading.session.rows.get(block.row as usize)?.id);
    id.unwrap_or_else(|| {
        let first = blocks.find(|block| block.role == Role::User && !block.preview.is_empty());
        let text = first.map_or("", |block| &block.preview);
        Key::from_bytes(format!("{:?} {text}", turn.timestamp).as_bytes())
    })
}
