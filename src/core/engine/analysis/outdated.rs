//! Marks tool results that are outdated because a later result supersedes them.

use super::successes::{Successes, short_path};
use crate::model::paths::is_absolute;
use crate::model::{Block, BlockKind, BlockNumber, Key, Outdated, Session, Tool, ToolVerb, Window};
use rustc_hash::FxHashMap;
use std::cell::LazyCell;

/// Shortest result that can be a duplicate, in bytes: short ones (`ok`) repeat by chance.
const DUPLICATE_BYTES: u64 = 200;
/// Steps within which a success makes up for a failure.
const RETRY_STEPS: u32 = 10;

/// A tool result, with the file that its path means.
struct ToolResult<'a> {
    block: &'a Block,
    /// The tool, with the file or command that its target means.
    tool: Option<(&'a Tool, String)>,
}

impl ToolResult<'_> {
    fn file(&self, verb: ToolVerb) -> Option<(&Tool, &String)> {
        self.tool.as_ref().filter(|(tool, _)| tool.verb == verb && !self.block.error).map(|(tool, file)| (*tool, file))
    }

    /// Returns the key of a command or search that can be run again.
    fn run(&self) -> Option<(ToolVerb, u64)> {
        let (tool, _) = self.tool.as_ref()?;
        matches!(tool.verb, ToolVerb::Run | ToolVerb::Search).then_some((tool.verb, tool.scope))
    }
}

/// Later results in the window than the examined one.
#[derive(Default)]
struct Later<'a> {
    contents: FxHashMap<Key, BlockNumber>,
    reads: FxHashMap<String, Vec<(u64, bool, BlockNumber)>>,
    edits: FxHashMap<String, BlockNumber>,
    runs: FxHashMap<(ToolVerb, u64), BlockNumber>,
    plan: Option<BlockNumber>,
    successes: Successes<'a>,
}

impl<'a> Later<'a> {
    fn record(&mut self, result: &ToolResult<'a>) {
        let (block, number) = (result.block, result.block.number);
        // Of several equal results the last one is named: each of the others may be removed itself.
        if block.bytes >= DUPLICATE_BYTES {
            self.contents.entry(block.hash).or_insert(number);
        }
        if let Some((tool, file)) = result.file(ToolVerb::Read) {
            self.reads.entry(file.clone()).or_default().push((tool.scope, tool.whole, number));
        }
        if let Some((_, file)) = result.file(ToolVerb::Edit) {
            self.edits.insert(file.clone(), number);
        }
        // A failed search has no result, so it outdates nothing; a failed command shows the current state.
        if let Some(run) = result.run().filter(|(verb, _)| *verb == ToolVerb::Run || !block.error) {
            self.runs.insert(run, number);
        }
        // A failed call replaces nothing.
        if result.file(ToolVerb::Plan).is_some() {
            self.plan = self.plan.or(Some(number));
        }
        self.successes.add(block, block.target());
    }
}

/// A reason why a result is outdated, and the lookup of the later result that outdates it.
struct Rule {
    reason: Outdated,
    find: fn(&ToolResult<'_>, &Later<'_>) -> Option<BlockNumber>,
}

/// All rules, the most important reason first. A result has every reason whose rule applies.
static RULES: &[Rule] = &[
    Rule {
        reason: Outdated::Duplicate,
        find: |result, later| {
            let block = Some(result.block).filter(|block| block.bytes >= DUPLICATE_BYTES)?;
            later.contents.get(&block.hash).copied()
        },
    },
    Rule {
        reason: Outdated::ReadAgain,
        find: |result, later| {
            let (tool, file) = result.file(ToolVerb::Read)?;
            let covering = later.reads.get(file)?.iter().find(|(scope, whole, _)| *whole || *scope == tool.scope)?;
            Some(covering.2)
        },
    },
    Rule { reason: Outdated::RunAgain, find: |result, later| later.runs.get(&result.run()?).copied() },
    Rule { reason: Outdated::Replaced, find: |result, later| result.file(ToolVerb::Plan).and(later.plan) },
    Rule {
        reason: Outdated::Succeeded,
        find: |result, later| {
            let failed = Some(result.block).filter(|block| block.error)?;
            let success = later.successes.after(failed, failed.target())?;
            let is_soon = success.position.step.saturating_sub(failed.position.step) <= RETRY_STEPS;
            is_soon.then_some(success.number)
        },
    },
    Rule { reason: Outdated::EditedLater, find: |result, later| later.edits.get(result.file(ToolVerb::Read)?.1).copied() },
];

/// Writes into each tool result of the window every reason why it is outdated, and the block that made it so.
///
/// Goes backwards through the window, so that all later results are recorded before a result is judged.
pub fn mark(session: &mut Session, window: &Window) {
    // Only a relative path needs the names of all files.
    let files = LazyCell::new(|| Files::new(session));
    let mut outdated = Vec::with_capacity(window.blocks.len());
    let mut later = Later::default();
    for &number in window.blocks.iter().rev() {
        let block = &session.blocks[number as usize - 1];
        if block.kind != BlockKind::ToolResult {
            continue;
        }
        let tool = block.tool.as_deref().map(|tool| {
            let exact = !tool.verb.names_file() || is_absolute(&tool.target);
            (tool, if exact { tool.target.to_string() } else { files.name(&tool.target) })
        });
        let result = ToolResult { block, tool };
        let reasons = RULES.iter().filter_map(|rule| Some((rule.reason, (rule.find)(&result, &later)?)));
        outdated.push((number, reasons.collect::<Vec<_>>()));
        later.record(&result);
    }
    for (number, reasons) in outdated {
        let usefulness = &mut session.blocks[number as usize - 1].usefulness;
        usefulness.outdated = reasons.first().copied();
        usefulness.reasons = reasons;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Role, Row, RowKind};

    fn result() -> Block {
        Block::new(BlockKind::ToolResult, Role::ToolResult)
    }

    fn add(session: &mut Session, block: Block) {
        session.add(Row::new(RowKind::User), [block]);
    }

    fn mark_all(session: &mut Session) {
        let window = Window { blocks: (1..=session.blocks.len() as u32).collect(), ..Window::default() };
        mark(session, &window);
    }

    /// Results of tools in order, each with its target, scope and whether it failed; and which of them are outdated, and why.
    fn check(verb: ToolVerb, results: &[(&str, u64, bool)], expected: &[Option<Outdated>]) {
        let mut session = Session::default();
        for (target, scope, error) in results {
            let tool = Tool { scope: *scope, whole: *scope == 0, ..Tool::new("T", verb, target) };
            add(&mut session, Block { error: *error, tool: Some(Box::new(tool)), ..result() });
        }
        mark_all(&mut session);
        let outdated: Vec<Option<Outdated>> =
            session.blocks.iter().map(|block| block.usefulness.outdated.map(|(reason, _)| reason)).collect();
        assert_eq!(outdated, expected, "{results:?}");
        for usefulness in session.blocks.iter().map(|block| &block.usefulness) {
            assert_eq!(usefulness.outdated, usefulness.reasons.first().copied(), "{results:?}");
        }
    }

    #[test]
    fn reads_of_the_same_file_and_calls_that_ran_again_are_outdated() {
        // A whole read outdates earlier reads of the same file.
        check(ToolVerb::Read, &[("/a/x/lib.rs", 7, false), ("/a/x/lib.rs", 0, false)], &[Some(Outdated::ReadAgain), None]);
        check(ToolVerb::Read, &[("/a/x/lib.rs", 0, false), ("/a/x/lib.rs", 7, false)], &[None, None]);
        // Files that end alike are different files.
        check(ToolVerb::Read, &[("/w/a/src/lib.rs", 0, false), ("/w/b/src/lib.rs", 0, false)], &[None, None]);
        // A relative path means the file that ends like it.
        check(ToolVerb::Read, &[("/w/src/lib.rs", 0, false), ("src/lib.rs", 0, false)], &[Some(Outdated::ReadAgain), None]);
        // A search that failed outdates nothing.
        check(ToolVerb::Search, &[("x", 1, false), ("x", 1, true)], &[None, None]);
        check(ToolVerb::Search, &[("x", 1, false), ("x", 1, false)], &[Some(Outdated::RunAgain), None]);
        check(ToolVerb::Search, &[("x", 1, true), ("x", 1, false)], &[Some(Outdated::RunAgain), None]);
        check(ToolVerb::Search, &[("x", 1, true), ("x", 1, true)], &[None, None]);
        // A command that ran again outdates the one before however it ended.
        check(ToolVerb::Run, &[("cargo test", 1, false), ("cargo test", 1, true)], &[Some(Outdated::RunAgain), None]);
        // A failure that was made good is outdated.
        check(ToolVerb::Edit, &[("/a/b.rs", 0, true), ("/a/b.rs", 0, false)], &[Some(Outdated::Succeeded), None]);
        check(ToolVerb::Run, &[("cd a && cargo test", 1, true), ("cargo test", 2, false)], &[Some(Outdated::Succeeded), None]);
        check(ToolVerb::Run, &[("cargo test a", 1, true), ("cargo test b", 2, false)], &[None, None]);
        // A plan is replaced by the next one that worked.
        check(ToolVerb::Plan, &[("", 0, false), ("", 0, false), ("", 0, true)], &[Some(Outdated::Replaced), None, None]);
    }

    #[test]
    fn repetitions_refer_to_the_last_result() {
        let mut session = Session::default();
        (0..3).for_each(|_| add(&mut session, Block { bytes: DUPLICATE_BYTES, ..result() }));
        mark_all(&mut session);
        let by = session.blocks.iter().map(|block| block.usefulness.outdated).collect::<Vec<_>>();
        assert_eq!(by, [Some((Outdated::Duplicate, 3)), Some((Outdated::Duplicate, 3)), None]);
    }

    /// Returns the smallest session in which a rule is the reason: verb and failure of an earlier and of a later result.
    fn smallest(reason: Outdated) -> [(ToolVerb, bool); 2] {
        match reason {
            Outdated::Duplicate => [(ToolVerb::Other, false); 2],
            Outdated::ReadAgain => [(ToolVerb::Read, false); 2],
            Outdated::RunAgain => [(ToolVerb::Run, false); 2],
            Outdated::Replaced => [(ToolVerb::Plan, false); 2],
            Outdated::Succeeded => [(ToolVerb::Edit, true), (ToolVerb::Edit, false)],
            Outdated::EditedLater => [(ToolVerb::Read, false), (ToolVerb::Edit, false)],
        }
    }

    #[test]
    fn every_rule_is_reached_and_none_is_shadowed() {
        for (place, rule) in RULES.iter().enumerate() {
            assert!(RULES[..place].iter().all(|other| other.reason != rule.reason), "{:?} twice", rule.reason);
            let mut session = Session::default();
            for (verb, error) in smallest(rule.reason) {
                let bytes = if rule.reason == Outdated::Duplicate { DUPLICATE_BYTES } else { 1 };
                let tool = Some(Box::new(Tool::new("T", verb, "/a/b.rs")));
                add(&mut session, Block { bytes, error, tool, ..result() });
            }
            mark_all(&mut session);
            assert_eq!(session.blocks[0].usefulness.reasons, [(rule.reason, 2)]);
            assert!(session.blocks[1].usefulness.reasons.is_empty(), "{:?}", rule.reason);
        }
        assert_eq!(RULES.len(), 6, "a reason without a rule");
    }

    #[test]
    fn all_reasons_of_a_result_are_kept_in_the_order_of_the_table() {
        let mut session = Session::default();
        for verb in [ToolVerb::Read, ToolVerb::Edit, ToolVerb::Read] {
            let tool = Some(Box::new(Tool::new("T", verb, "/a/b.rs")));
            add(&mut session, Block { bytes: DUPLICATE_BYTES, tool, ..result() });
        }
        mark_all(&mut session);
        let expected = [(Outdated::Duplicate, 3), (Outdated::ReadAgain, 3), (Outdated::EditedLater, 2)];
        assert_eq!(session.blocks[0].usefulness.reasons, expected);
    }
}
