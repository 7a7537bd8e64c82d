//! Which tool results no longer say how things are, because a later one says it.

use crate::model::{Block, BlockKind, BlockNumber, Outdated, Session, ToolVerb, Window};
use rustc_hash::FxHashMap;

/// Shortest result that can be a duplicate, in bytes: short ones (`ok`) repeat by chance.
const DUPLICATE_BYTES: u64 = 200;
/// Steps within which a success makes up for a failure.
const RETRY_STEPS: u32 = 10;

/// Writes into each tool result of the window why it is outdated, and which block made it so.
///
/// Looks from the end of the window to its beginning, so that each result knows what comes after it.
pub fn mark(session: &mut Session, window: &Window) {
    let mut contents = FxHashMap::default();
    let mut reads: FxHashMap<String, Vec<(u64, bool, BlockNumber)>> = FxHashMap::default();
    let mut edits: FxHashMap<String, BlockNumber> = FxHashMap::default();
    let mut runs: FxHashMap<(ToolVerb, u64), BlockNumber> = FxHashMap::default();
    let mut plan: Option<BlockNumber> = None;
    let mut successes: FxHashMap<(ToolVerb, String), Vec<(u32, BlockNumber)>> = FxHashMap::default();
    for &number in window.blocks.iter().rev() {
        let block = &session.blocks[number as usize - 1];
        if block.kind != BlockKind::ToolResult {
            continue;
        }
        let mut found: Vec<(Outdated, BlockNumber)> = Vec::new();
        if block.bytes >= DUPLICATE_BYTES
            && let Some(later) = contents.insert(block.hash, number)
        {
            found.push((Outdated::Duplicate, later));
        }
        if let Some(tool) = block.tool.as_deref() {
            let file = short_path(&tool.target);
            match tool.verb {
                ToolVerb::Read => {
                    let later = reads.entry(file.clone()).or_default();
                    let covering = later.iter().find(|(scope, whole, _)| *whole || *scope == tool.scope);
                    if !block.error
                        && let Some((_, _, reader)) = covering
                    {
                        found.push((Outdated::ReadAgain, *reader));
                    }
                    if !block.error
                        && let Some(editor) = edits.get(&file)
                    {
                        found.push((Outdated::EditedLater, *editor));
                    }
                    if !block.error {
                        later.push((tool.scope, tool.whole, number));
                    }
                }
                ToolVerb::Edit if !block.error => {
                    edits.insert(file, number);
                }
                ToolVerb::Run | ToolVerb::Search => {
                    if let Some(later) = runs.insert((tool.verb, tool.scope), number) {
                        found.push((Outdated::RunAgain, later));
                    }
                }
                // A call that failed replaces nothing.
                ToolVerb::Plan if block.error => {}
                ToolVerb::Plan => {
                    if let Some(later) = plan {
                        found.push((Outdated::Replaced, later));
                    }
                    plan = plan.or(Some(number));
                }
                ToolVerb::Edit | ToolVerb::Other => {}
            }
            let attempts = successes.entry(attempt(block, tool.verb)).or_default();
            if !block.error {
                attempts.push((block.position.step, number));
            } else if let Some((_, success)) =
                attempts.iter().find(|(step, _)| step.saturating_sub(block.position.step) <= RETRY_STEPS)
            {
                found.push((Outdated::Succeeded, *success));
            }
        }
        let best = found.into_iter().min_by_key(|(reason, _)| rank(*reason));
        session.blocks[number as usize - 1].usefulness.outdated = best;
    }
}

/// The most telling reason first.
fn rank(reason: Outdated) -> u8 {
    match reason {
        Outdated::Duplicate => 0,
        Outdated::ReadAgain => 1,
        Outdated::RunAgain => 2,
        Outdated::Replaced => 3,
        Outdated::Succeeded => 4,
        Outdated::EditedLater => 5,
    }
}

/// The last two parts of a path: the same file seen from different directories.
fn short_path(path: &str) -> String {
    let parts: Vec<&str> = path.rsplitn(3, ['/', '\\']).take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// What two attempts at the same thing share: the file, or the first two words of a command.
fn attempt(block: &Block, verb: ToolVerb) -> (ToolVerb, String) {
    let target = block.target();
    let same = match verb {
        ToolVerb::Read | ToolVerb::Edit => short_path(target),
        _ => target.split_whitespace().take(2).collect::<Vec<_>>().join(" "),
    };
    (verb, same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_last_two_parts() {
        for (path, short) in [("/a/b/c.rs", "b/c.rs"), ("c.rs", "c.rs"), ("C:\\x\\y.rs", "x/y.rs"), ("", "")] {
            assert_eq!(short_path(path), short);
        }
    }
}
