//! The messages of a request: the conversation in file order, with calls and results paired as the client does it.

use crate::model::{Block, BlockKind, Key, Role, RowKind, Session, Window};
use crate::provider::{Message, Part, Source};
use rustc_hash::FxHashSet;

/// The client's placeholder for the result of a call without one.
const ABORTED: &str = "aborted";

pub(in crate::provider) fn messages(session: &Session, window: &Window) -> Vec<Message> {
    let blocks = |row: u32| {
        let first = session.blocks.partition_point(|block| block.row < row);
        &session.blocks[first..first + session.rows[row as usize].blocks as usize]
    };
    let calls = |kind: BlockKind| -> FxHashSet<Key> {
        let all = window.rows.iter().flat_map(|row| blocks(*row));
        all.filter(|block| block.kind == kind).filter_map(|block| block.call).collect()
    };
    let (uses, results) = (calls(BlockKind::ToolUse), calls(BlockKind::ToolResult));
    let orphan = |block: &Block| block.kind == BlockKind::ToolResult && block.call.is_none_or(|call| !uses.contains(&call));
    let open = |block: &Block| block.kind == BlockKind::ToolUse && block.call.is_some_and(|call| !results.contains(&call));
    let mut messages: Vec<Message> = Vec::new();
    let mut unanswered: Vec<Part> = Vec::new();
    for row in &window.rows {
        for block in blocks(*row).iter().filter(|block| !orphan(block)) {
            let role = role(session.rows[*row as usize].kind, block);
            if role != "assistant" && !unanswered.is_empty() {
                push(&mut messages, "user", std::mem::take(&mut unanswered));
            }
            push(&mut messages, role, vec![Part::new(Source::Block(block.number))]);
            if open(block) {
                unanswered.push(Part::new(Source::Result { of: block.number, text: ABORTED }));
            }
        }
    }
    if !unanswered.is_empty() {
        push(&mut messages, "user", unanswered);
    }
    messages
}

fn push(messages: &mut Vec<Message>, role: &'static str, parts: Vec<Part>) {
    match messages.last_mut().filter(|last| last.role == role) {
        Some(last) => last.parts.extend(parts),
        None => messages.push(Message { role, parts }),
    }
}

fn role(kind: RowKind, block: &Block) -> &'static str {
    match (kind, block.role) {
        (_, Role::System) if kind != RowKind::Assistant => Role::System.name(),
        (RowKind::Assistant, _) | (_, Role::Assistant | Role::Thinking | Role::ToolUse) => Role::Assistant.name(),
        _ => Role::User.name(),
    }
}
