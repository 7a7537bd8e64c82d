//! Tool calls: each use and the results that answer it.

use crate::model::{BlockKind, BlockNumber, Fault, Key, Session, ToolVerb};
use rustc_hash::FxHashMap;

/// Gives every tool result the tool of its use, and notes uses without a result and results without a use.
///
/// Only rows of the main conversation are noted as damage: a session of subagents holds halves by design.
pub fn pair(session: &mut Session) {
    let mut calls: FxHashMap<Key, (BlockNumber, BlockNumber)> = FxHashMap::default();
    for block in &session.blocks {
        let Some(call) = block.call else { continue };
        let entry = calls.entry(call).or_default();
        match block.kind {
            BlockKind::ToolUse => entry.0 = block.number,
            // Of two results the client sends the first.
            BlockKind::ToolResult if entry.1 == 0 => entry.1 = block.number,
            _ => {}
        }
    }
    for index in 0..session.blocks.len() {
        let block = &session.blocks[index];
        let sidechain = session.rows[block.row as usize].sidechain;
        let pair = block.call.and_then(|call| calls.get(&call)).copied().unwrap_or_default();
        match block.kind {
            // A use without an id cannot be matched with a result.
            BlockKind::ToolUse if pair.1 == 0 && !sidechain && block.call.is_some() => session.note(Fault::UnansweredUse),
            BlockKind::ToolResult if pair.0 == 0 && !sidechain => session.note(Fault::OrphanResult),
            BlockKind::ToolResult if pair.0 != 0 => {
                session.blocks[index].tool = session.blocks[pair.0 as usize - 1].tool.clone();
            }
            _ => {}
        }
    }
    name_documents(session);
}

/// Gives a document without a name that of the file that the result before it reports: a client sends it in a message of its own.
fn name_documents(session: &mut Session) {
    for index in 1..session.blocks.len() {
        let [document] = &*session.blocks[index].media.documents else { continue };
        let before = &session.blocks[index - 1];
        let block = &session.blocks[index];
        let reader = if block.kind == BlockKind::ToolResult { block } else { before };
        let tool = reader.tool.as_deref().filter(|tool| reader.kind == BlockKind::ToolResult && tool.verb == ToolVerb::Read);
        if let Some(name) = tool.map(|tool| tool.target.clone()).filter(|_| document.name.is_empty()) {
            session.blocks[index].media.documents[0].name = name;
        }
    }
}
