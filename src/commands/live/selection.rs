//! Describes for the model the blocks that the user highlighted since the last turn.

use crate::engine::{Analysis, label};
use crate::model::{Actor, Mark, MarkKind, Operation, Role};
use crate::store::Insertion;
use crate::workspace::Workspace;

/// The starts of the two statements.
const SELECTED: &str = "User has highlighted the following blocks as relevant: ";
const CLEARED: &str = "The user cleared the highlighted blocks.";

/// Returns the highlighted blocks, if the user changed them since the last turn.
pub fn since_last_turn(workspace: &Workspace<'_>) -> Option<String> {
    let since = last_turn(&workspace.reading)?;
    newest_change(workspace).filter(|(operation, _)| operation.time > since)?;
    Some(statement(workspace))
}

/// Returns the highlighted blocks of a session without times, if the user changed them and the model does not know: `texts` are those
/// that its requests contain, oldest first.
pub fn since_texts(workspace: &Workspace<'_>, texts: &[Insertion]) -> Option<String> {
    let lines = texts.iter().rev().flat_map(|insertion| insertion.text.lines().rev());
    let known = lines.into_iter().find(|line| line.starts_with(SELECTED) || *line == CLEARED);
    let (_, newest) = newest_change(workspace)?;
    // A selection also ends by itself.
    let now = Some(statement(workspace)).filter(|now| now != CLEARED || newest.after.is_none())?;
    (known.unwrap_or(CLEARED) != now).then_some(now)
}

/// Returns the newest change of the highlighted blocks, if the user made it.
fn newest_change<'a>(workspace: &'a Workspace<'_>) -> Option<(&'a Operation, &'a Mark)> {
    let operations = workspace.history.operations.iter().rev();
    let mut marks = operations.flat_map(|operation| operation.marks.iter().rev().map(move |mark| (operation, mark)));
    marks.find(|(_, mark)| mark.kind == MarkKind::Focus).filter(|(operation, _)| operation.actor != Actor::Model)
}

fn statement(workspace: &Workspace<'_>) -> String {
    let reading = &workspace.reading;
    let selected = reading.in_window().filter(|block| block.focused);
    let selected: Vec<String> = selected.map(|block| format!("#{} ({})", block.number, label(block))).collect();
    if selected.is_empty() { CLEARED.to_owned() } else { format!("{SELECTED}{}", selected.join(", ")) }
}

/// Returns the time of the last prompt that the model answered: it does not know about later changes.
pub fn last_turn(reading: &Analysis) -> Option<i64> {
    let mut answered =
        reading.session.blocks.iter().rev().filter(|block| block.role == Role::Assistant || block.role == Role::ToolUse);
    let turn = answered.next()?.position.turn;
    reading.turns.iter().find(|one| one.number == turn)?.timestamp
}
