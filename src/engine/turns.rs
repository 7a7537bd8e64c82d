//! Turns and steps: which prompt and which response of the model a row belongs to.

use crate::model::{BlockNumber, Key, Role, RowKind, Session, Turn};

/// Writes turn and step into every block and returns the turns, and the last turn and step.
///
/// A *turn* begins with a prompt. A *step* is one response of the model; what the user side says belongs to the step that
/// it is first sent with, so a tool result has the step after that of its tool use. Rows of subagents belong to the turn
/// and step around them.
pub fn number(session: &mut Session) -> (Vec<Turn>, u32) {
    let mut turns: Vec<Turn> = Vec::new();
    let mut step = 0;
    let mut message: Option<Key> = None;
    let mut next = 0usize;
    for row in &session.rows {
        let blocks = next..next + row.blocks as usize;
        next = blocks.end;
        if row.prompt && !row.sidechain {
            turns.push(Turn { number: turns.len() as u32 + 1, timestamp: row.timestamp, ..Turn::default() });
        }
        let assistant = row.kind == RowKind::Assistant && !row.sidechain;
        if assistant && (row.message.is_none() || row.message != message) {
            message = row.message;
            step += 1;
            if let Some(turn) = turns.last_mut() {
                turn.steps += 1;
            }
        }
        for block in &mut session.blocks[blocks] {
            block.position.turn = turns.len() as u32;
            block.position.step = if assistant { step } else { step + 1 };
            if row.sidechain {
                continue;
            }
            if let Some(turn) = turns.last_mut() {
                if row.prompt && turn.prompt.is_empty() && block.role == Role::User {
                    turn.prompt = block.preview.to_string();
                }
                turn.blocks.push(block.number as BlockNumber);
            }
        }
    }
    (turns, step)
}
