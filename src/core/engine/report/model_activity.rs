//! The changes by the model to its own context in the last turn.

use crate::engine::{Analysis, plural};
use crate::model::{Actor, BlockNumber, History, Level, MarkKind, Operation};
use std::collections::BTreeSet;

/// The blocks that the commands of the model changed in the last turn, without what was undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelActivity {
    pub archived: usize,
    /// Blocks that were shortened in another way.
    pub shortened: usize,
    pub expanded: usize,
    pub rewritten: usize,
    pub pinned: usize,
    /// Blocks that were marked as relevant.
    pub focused: usize,
}

impl ModelActivity {
    /// Counts the blocks; empty if the time of the last prompt is not known.
    pub fn in_last_turn(reading: &Analysis, history: &History) -> ModelActivity {
        let Some(start) = reading.turns.last().and_then(|turn| turn.timestamp) else { return ModelActivity::default() };
        ModelActivity::since(history, start)
    }

    fn since(history: &History, start: i64) -> ModelActivity {
        let of_model = |operation: &&Operation| operation.actor == Actor::Model && operation.time >= start;
        let in_force = |operation: &&Operation| history.undone_by(operation.id).is_none();
        let mut blocks: [BTreeSet<BlockNumber>; 6] = Default::default();
        for operation in history.operations.iter().filter(of_model).filter(in_force) {
            for change in operation.edits.iter().filter_map(|edit| edit.change.as_ref()) {
                let place = match (change.level_before, change.level_after) {
                    (before, after) if after < before => 2,
                    (_, Level::Archived) => 0,
                    (before, after) if after > before => 1,
                    _ => 3,
                };
                blocks[place].insert(change.number);
            }
            for mark in operation.marks.iter().filter(|mark| mark.after.is_some()) {
                let place = match mark.kind {
                    MarkKind::Pin => 4,
                    MarkKind::Focus => 5,
                    MarkKind::Housekeeping => continue,
                };
                blocks[place].insert(mark.number);
            }
        }
        let [archived, shortened, expanded, rewritten, pinned, focused] = blocks.map(|blocks| blocks.len());
        ModelActivity { archived, shortened, expanded, rewritten, pinned, focused }
    }

    /// Returns a sentence about an agent, such as `Claude archived 3 blocks and expanded 1`; `None` if it did nothing.
    pub fn sentence(&self, agent: &str) -> Option<String> {
        let deeds = [
            ("archived", self.archived),
            ("shortened", self.shortened),
            ("expanded", self.expanded),
            ("rewrote", self.rewritten),
            ("pinned", self.pinned),
            ("focused on", self.focused),
        ];
        let deeds = deeds.into_iter().filter(|(_, blocks)| *blocks > 0).enumerate();
        let deeds: Vec<String> = deeds
            .map(|(place, (verb, blocks))| match place {
                0 => format!("{verb} {}", plural(blocks, "block")),
                _ => format!("{verb} {blocks}"),
            })
            .collect();
        let (last, first) = deeds.split_last()?;
        let all = if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) };
        Some(format!("{agent} {all}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockChange, Key, LoggedEdit, OperationId, OperationKind, RowAddress, Slot};

    fn operation(id: OperationId, actor: Actor, levels: &[(BlockNumber, Level, Level)]) -> Operation {
        let edit = |(number, level_before, level_after): &(BlockNumber, Level, Level)| LoggedEdit {
            row: RowAddress { id: Key(u128::from(*number)), occurrence: 0 },
            slot: Slot::Content(0),
            before: None,
            after: None,
            change: Some(BlockChange {
                number: *number,
                level_before: *level_before,
                level_after: *level_after,
                ..BlockChange::default()
            }),
        };
        Operation {
            actor,
            time: i64::from(id) * 10,
            edits: levels.iter().map(edit).collect(),
            ..Operation::example(id, OperationKind::Change)
        }
    }

    #[test]
    fn the_blocks_of_the_last_turn_are_counted() {
        use Level::{Archived, Original, Summarized};
        let mut history = History {
            operations: vec![
                operation(1, Actor::Model, &[(9, Original, Archived)]),
                operation(2, Actor::Model, &[(1, Original, Archived), (2, Original, Archived), (3, Summarized, Archived)]),
                operation(3, Actor::User, &[(4, Original, Archived)]),
                operation(4, Actor::Model, &[(5, Archived, Original)]),
                operation(5, Actor::Model, &[(6, Original, Summarized)]),
            ],
            ..History::default()
        };
        let sentence = |history: &History| ModelActivity::since(history, 20).sentence("Claude");
        assert_eq!(sentence(&history).as_deref(), Some("Claude archived 3 blocks, shortened 1 and expanded 1"));
        let undo = Operation { inverts: Some(5), time: 60, ..Operation::example(6, OperationKind::Undo) };
        history.operations.push(undo);
        assert_eq!(sentence(&history).as_deref(), Some("Claude archived 3 blocks and expanded 1"));
        assert_eq!(ModelActivity::since(&history, 50).sentence("Claude"), None);
    }
}
