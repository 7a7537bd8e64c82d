//! Describes for the model the blocks that the user highlighted since the last turn.

use crate::engine::{Analysis, label};
use crate::model::{MarkKind, Role};
use crate::workspace::Workspace;

/// Returns the highlighted blocks, if the user changed them since the last turn.
pub fn since_last_turn(workspace: &Workspace<'_>) -> Option<String> {
    let reading = &workspace.reading;
    let since = last_turn(reading)?;
    let new = workspace.history.operations.iter().filter(|operation| operation.time > since);
    new.flat_map(|operation| &operation.marks).find(|mark| mark.kind == MarkKind::Focus)?;
    let selected = reading.in_window().filter(|block| block.focused);
    let selected: Vec<String> = selected.map(|block| format!("#{} ({})", block.number, label(block))).collect();
    Some(match selected.is_empty() {
        true => "The user cleared the highlighted blocks.".to_owned(),
        false => format!("User has highlighted the following blocks as relevant: {}", selected.join(", ")),
    })
}

/// Returns the time of the last prompt that the model answered: it does not know about later changes.
pub fn last_turn(reading: &Analysis) -> Option<i64> {
    let mut answered =
        reading.session.blocks.iter().rev().filter(|block| block.role == Role::Assistant || block.role == Role::ToolUse);
    let turn = answered.next()?.position.turn;
    reading.turns.iter().find(|one| one.number == turn)?.timestamp
}
