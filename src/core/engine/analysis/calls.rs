//! Tool calls: each use and the results that answer it.

use crate::model::{BlockKind, BlockNumber, Fault, Key, Session, Tool, ToolVerb};
use rustc_hash::FxHashMap;

/// Gives every tool result the tool of its use, and notes uses without a result and results without a use. A use that gets the next
/// output of a running program has the verb and the target of the use that started it.
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
    let mut started: FxHashMap<Box<str>, (ToolVerb, Box<str>)> = FxHashMap::default();
    for index in 0..session.blocks.len() {
        let block = &mut session.blocks[index];
        let of_start = started.get(&block.program).filter(|_| block.kind == BlockKind::ToolUse && !block.program.is_empty());
        if let (Some(tool), Some((verb, target))) = (block.tool.as_deref_mut(), of_start) {
            // Each output is new: it does not repeat an earlier call.
            let scope = block.call.map_or(0, |call| call.0 as u64);
            *tool = Tool { name: tool.name.clone(), verb: *verb, target: target.clone(), scope, ..tool.clone() };
        }
        let block = &session.blocks[index];
        let sidechain = session.rows[block.row as usize].sidechain;
        let pair = block.call.and_then(|call| calls.get(&call)).copied().unwrap_or_default();
        match block.kind {
            // A use without an id cannot be matched with a result.
            BlockKind::ToolUse if pair.1 == 0 && !sidechain && block.call.is_some() => session.note(Fault::UnansweredUse),
            BlockKind::ToolResult if pair.0 == 0 && !sidechain => session.note(Fault::OrphanResult),
            BlockKind::ToolResult if pair.0 != 0 => {
                let tool = session.blocks[pair.0 as usize - 1].tool.clone();
                let block = &mut session.blocks[index];
                if let Some(tool) = tool.as_deref().filter(|_| !block.program.is_empty()) {
                    started.insert(block.program.clone(), (tool.verb, tool.target.clone()));
                }
                block.tool = tool;
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
