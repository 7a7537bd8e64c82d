//! The changes by the model to its own context in the last turn.

use crate::engine::plural;
use crate::model::{Actor, BlockNumber, History, Level, MarkKind, Operation};
use std::collections::BTreeSet;

const DEEDS: [&str; 6] = ["archived", "shortened", "expanded", "rewrote", "pinned", "focused on"];

/// Returns a sentence about the blocks that the commands of an agent changed since a moment, without what was undone, such as `Claude
/// archived 3 blocks and expanded 1`; `None` if it did nothing.
pub fn model_activity(history: &History, since: i64, agent: &str) -> Option<String> {
    let of_model = |operation: &&Operation| operation.actor == Actor::Model && operation.time >= since;
    let in_force = |operation: &&Operation| history.undone_by(operation.id).is_none();
    let mut blocks: [BTreeSet<BlockNumber>; DEEDS.len()] = Default::default();
    for operation in history.operations.iter().filter(of_model).filter(in_force) {
        for change in operation.edits.iter().filter_map(|edit| edit.change.as_ref()) {
            let deed = match (change.level_before, change.level_after) {
                (before, after) if after < before => 2,
                (_, Level::Archived) => 0,
                (before, after) if after > before => 1,
                _ => 3,
            };
            blocks[deed].insert(change.number);
        }
        for mark in &operation.marks {
            let deed = match mark.kind {
                MarkKind::Pin => 4,
                MarkKind::Focus => 5,
                MarkKind::Housekeeping => continue,
            };
            match mark.after {
                Some(_) => blocks[deed].insert(mark.number),
                None => blocks[deed].remove(&mark.number),
            };
        }
    }
    let deeds = DEEDS.iter().zip(blocks).filter(|(_, blocks)| !blocks.is_empty()).enumerate();
    let deeds: Vec<String> = deeds
        .map(|(place, (deed, blocks))| match place {
            0 => format!("{deed} {}", plural(blocks.len(), "block")),
            _ => format!("{deed} {}", blocks.len()),
        })
        .collect();
    let (last, first) = deeds.split_last()?;
    let all = if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) };
    Some(format!("{agent} {all}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockChange, Key, LoggedEdit, Mark, MarkAddress, OperationId, OperationKind, RowAddress, Slot};

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
        let sentence = |history: &History| model_activity(history, 20, "Claude");
        assert_eq!(sentence(&history).as_deref(), Some("Claude archived 3 blocks, shortened 1 and expanded 1"));
        let undo = Operation { inverts: Some(5), time: 60, ..Operation::example(6, OperationKind::Undo) };
        history.operations.push(undo);
        assert_eq!(sentence(&history).as_deref(), Some("Claude archived 3 blocks and expanded 1"));
        assert_eq!(model_activity(&history, 50, "Claude"), None);
    }

    #[test]
    fn a_mark_that_the_model_took_back_is_no_deed() {
        let mark = |id, after: Option<&str>| {
            let address = MarkAddress { row: RowAddress { id: Key(3), occurrence: 0 }, index: 0, content: Key(0) };
            let mark = Mark { address, kind: MarkKind::Focus, before: None, after: after.map(str::to_owned), number: 3 };
            Operation { actor: Actor::Model, time: 1, marks: vec![mark], ..Operation::example(id, OperationKind::Change) }
        };
        let sentence = |operations| model_activity(&History { operations, ..History::default() }, 0, "Claude");
        assert_eq!(sentence(vec![mark(1, Some(""))]).as_deref(), Some("Claude focused on 1 block"));
        assert_eq!(sentence(vec![mark(1, Some("")), mark(2, None)]), None);
    }
}
