//! Which tool results no longer say how things are, because a later one says it.

use crate::model::{Block, BlockKind, BlockNumber, Outdated, Session, ToolVerb, Window};
use rustc_hash::FxHashMap;
use std::cell::LazyCell;

/// Shortest result that can be a duplicate, in bytes: short ones (`ok`) repeat by chance.
const DUPLICATE_BYTES: u64 = 200;
/// Steps within which a success makes up for a failure.
const RETRY_STEPS: u32 = 10;

/// Writes into each tool result of the window every reason why it is outdated, and which block made it so.
///
/// Looks from the end of the window to its beginning, so that each result knows what comes after it.
pub fn mark(session: &mut Session, window: &Window) {
    // Only a relative path needs to know all the others.
    let files = LazyCell::new(|| Files::new(session));
    let mut outdated = Vec::with_capacity(window.blocks.len());
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
        // Of several that are equal the last one: each of the others may be gone itself.
        if block.bytes >= DUPLICATE_BYTES {
            let last = *contents.entry(block.hash).or_insert(number);
            if last != number {
                found.push((Outdated::Duplicate, last));
            }
        }
        if let Some(tool) = block.tool.as_deref() {
            let whole = !tool.verb.names_file() || is_absolute(&tool.target);
            let file = if whole { tool.target.to_string() } else { files.name(&tool.target) };
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
                // A search that failed says nothing, so that it outdates nothing; a command that failed says how things are.
                ToolVerb::Search if block.error => {
                    if let Some(later) = runs.get(&(tool.verb, tool.scope)) {
                        found.push((Outdated::RunAgain, *later));
                    }
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
        found.sort_by_key(|(reason, _)| rank(*reason));
        outdated.push((number, found));
    }
    for (number, reasons) in outdated {
        let usefulness = &mut session.blocks[number as usize - 1].usefulness;
        usefulness.outdated = reasons.first().copied();
        usefulness.reasons = reasons;
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

/// The files that tools named, by their last two parts: a relative path means the one absolute path that ends like it.
struct Files(FxHashMap<String, Option<String>>);

impl Files {
    fn new(session: &Session) -> Files {
        let mut files: FxHashMap<String, Option<String>> = FxHashMap::default();
        for tool in session.blocks.iter().filter_map(|block| block.tool.as_deref()) {
            if tool.verb.names_file() && is_absolute(&tool.target) {
                files
                    .entry(short_path(&tool.target))
                    .and_modify(|known| {
                        if known.as_deref().is_some_and(|known| *known != *tool.target) {
                            *known = None;
                        }
                    })
                    .or_insert_with(|| Some(tool.target.to_string()));
            }
        }
        Files(files)
    }

    /// The file that a relative path means.
    fn name(&self, target: &str) -> String {
        self.0.get(&short_path(target)).cloned().flatten().unwrap_or_else(|| target.to_owned())
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..3) == Some(":\\")
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
    use crate::model::{Role, Row, RowKind, Tool};

    /// Results of tools in order, each with its target, scope and whether it failed; and which of them are outdated, and why.
    fn check(verb: ToolVerb, results: &[(&str, u64, bool)], expected: &[Option<Outdated>]) {
        let mut session = Session::default();
        for (place, (target, scope, error)) in results.iter().enumerate() {
            session.rows.push(Row::new(RowKind::User));
            let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
            (block.number, block.error) = (place as u32 + 1, *error);
            let (name, target) = ("T".into(), (*target).into());
            block.tool = Some(Box::new(Tool { name, verb, target, scope: *scope, whole: *scope == 0, parameters: 1 }));
            session.blocks.push(block);
        }
        let window = Window { blocks: (1..=results.len() as u32).collect(), ..Window::default() };
        mark(&mut session, &window);
        let outdated: Vec<Option<Outdated>> =
            session.blocks.iter().map(|block| block.usefulness.outdated.map(|(reason, _)| reason)).collect();
        assert_eq!(outdated, expected, "{results:?}");
        for usefulness in session.blocks.iter().map(|block| &block.usefulness) {
            assert_eq!(usefulness.outdated, usefulness.reasons.first().copied(), "{results:?}");
        }
    }

    #[test]
    fn a_whole_read_outdates_earlier_reads_of_the_same_file() {
        check(ToolVerb::Read, &[("/a/x/lib.rs", 7, false), ("/a/x/lib.rs", 0, false)], &[Some(Outdated::ReadAgain), None]);
        check(ToolVerb::Read, &[("/a/x/lib.rs", 0, false), ("/a/x/lib.rs", 7, false)], &[None, None]);
    }

    #[test]
    fn files_that_end_alike_are_different_files() {
        check(ToolVerb::Read, &[("/w/a/src/lib.rs", 0, false), ("/w/b/src/lib.rs", 0, false)], &[None, None]);
    }

    #[test]
    fn a_relative_path_means_the_file_that_ends_like_it() {
        check(ToolVerb::Read, &[("/w/src/lib.rs", 0, false), ("src/lib.rs", 0, false)], &[Some(Outdated::ReadAgain), None]);
    }

    #[test]
    fn a_search_that_failed_outdates_nothing() {
        check(ToolVerb::Search, &[("x", 1, false), ("x", 1, true)], &[None, None]);
        check(ToolVerb::Search, &[("x", 1, false), ("x", 1, false)], &[Some(Outdated::RunAgain), None]);
        check(ToolVerb::Search, &[("x", 1, true), ("x", 1, false)], &[Some(Outdated::RunAgain), None]);
        check(ToolVerb::Search, &[("x", 1, true), ("x", 1, true)], &[None, None]);
    }

    #[test]
    fn a_command_that_ran_again_outdates_the_one_before_however_it_ended() {
        check(ToolVerb::Run, &[("cargo test", 1, false), ("cargo test", 1, true)], &[Some(Outdated::RunAgain), None]);
    }

    #[test]
    fn a_failure_that_was_made_good_is_outdated() {
        check(ToolVerb::Edit, &[("/a/b.rs", 0, true), ("/a/b.rs", 0, false)], &[Some(Outdated::Succeeded), None]);
    }

    #[test]
    fn a_plan_is_replaced_by_the_next_one_that_worked() {
        check(ToolVerb::Plan, &[("", 0, false), ("", 0, false), ("", 0, true)], &[Some(Outdated::Replaced), None, None]);
    }

    #[test]
    fn what_is_repeated_is_repeated_by_the_last_one() {
        let mut session = Session::default();
        for number in 1..=3 {
            session.rows.push(Row::new(RowKind::User));
            let block = Block::new(BlockKind::ToolResult, Role::ToolResult);
            session.blocks.push(Block { number, bytes: DUPLICATE_BYTES, ..block });
        }
        mark(&mut session, &Window { blocks: vec![1, 2, 3], ..Window::default() });
        let by = session.blocks.iter().map(|block| block.usefulness.outdated).collect::<Vec<_>>();
        assert_eq!(by, [Some((Outdated::Duplicate, 3)), Some((Outdated::Duplicate, 3)), None]);
    }

    #[test]
    fn a_file_is_known_by_its_last_two_parts() {
        for (path, short) in [("/a/b/c.rs", "b/c.rs"), ("c.rs", "c.rs"), ("C:\\x\\y.rs", "x/y.rs"), ("", "")] {
            assert_eq!(short_path(path), short);
        }
    }
}
