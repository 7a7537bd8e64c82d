//! Later successes: the one answer to whether a call that failed succeeded afterwards.

use crate::model::{Block, Tool, ToolVerb};
use crate::text::command_heads::{head, is_trivial, purpose_of, without_wrappers};
use crate::text::names::last_components;
use crate::text::shell::{SimpleCommand, Word, proven_commands, simple_commands};
use rustc_hash::FxHashMap;

/// Purposes of commands whose last result tells the state of a project, whatever form the command has.
const CHECKS: &[&str] = &["Build", "Test", "Format and lint"];

/// Results that succeeded, by what their success proves.
#[derive(Default)]
pub struct Successes<'a>(FxHashMap<(ToolVerb, String), Vec<&'a Block>>);

impl<'a> Successes<'a> {
    /// Adds a result of a tool that ended and did not fail. `target` is the target of its call, before any change.
    pub fn add(&mut self, result: &'a Block, target: &str) {
        let Some(tool) = result.tool.as_deref().filter(|_| !result.error && result.program.is_empty()) else { return };
        let proven = match tool.verb {
            ToolVerb::Run => proven_commands(target).iter().map(|simple| simple.line()).collect(),
            _ => vec![subject(tool, target)],
        };
        for part in proven {
            self.0.entry((tool.verb, part)).or_default().push(result);
        }
    }

    /// Returns the first result by which all parts of a failed call have succeeded since: the same file, the same call, or of a command
    /// all of its simple commands with their arguments. A change of the directory is not a part, nor is a reader of another command's
    /// output.
    pub fn after(&self, failed: &Block, target: &str) -> Option<&'a Block> {
        let tool = failed.tool.as_deref()?;
        let parts: Vec<String> = match tool.verb {
            ToolVerb::Run => {
                let commands = simple_commands(target).into_iter().filter(|simple| !simple.is_piped);
                let steps = commands.filter(|simple| simple.words.first().is_none_or(|first| first.text != "cd"));
                steps.map(|simple| simple.line()).collect()
            }
            _ => vec![subject(tool, target)],
        };
        let first = |part: String| {
            let results = self.0.get(&(tool.verb, part))?.iter().copied();
            results.filter(|result| result.number > failed.number).min_by_key(|result| result.number)
        };
        let found: Option<Vec<&Block>> = parts.into_iter().map(first).collect();
        found?.into_iter().max_by_key(|result| result.number)
    }
}

/// The action of a command, in whatever words: the purpose of a build or a check of the project; else the program with its subcommand,
/// and its targets, which are its words without texts, options and their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    action: String,
    targets: Vec<String>,
}

impl Step {
    /// Returns the steps of a command, without those that say nothing about a project; `None` for one of a program that has no subcommand.
    pub fn of(command: &str) -> Vec<Option<Step>> {
        let simple = simple_commands(command);
        let heads = simple.iter().filter(|simple| !simple.is_piped).filter_map(|simple| Some((simple, head(simple)?)));
        let step = |(simple, head): (&SimpleCommand, String)| {
            if let Some(purpose) = purpose_of(&head).filter(|purpose| CHECKS.contains(purpose)) {
                return Some(Step { action: purpose.to_owned(), targets: Vec::new() });
            }
            let is_option = |word: &Word| word.text.starts_with('-');
            // A word behind an option can be its value.
            let words = without_wrappers(&simple.words).windows(2).filter(|pair| !pair.iter().any(is_option));
            let words = words.map(|pair| &pair[1]).filter(|word| !word.is_text && !head.split(' ').any(|part| part == word.text));
            let targets = words.map(|word| word.text.clone()).collect();
            head.contains(' ').then_some(Step { action: head, targets })
        };
        heads.filter(|(_, head)| !is_trivial(head)).map(step).collect()
    }

    /// Returns true if another command does the same: one of both can name fewer targets.
    pub fn is_repeated_by(&self, other: &Step) -> bool {
        let has_all = |one: &Step, other: &Step| other.targets.iter().all(|target| one.targets.contains(target));
        self.action == other.action && (has_all(self, other) || has_all(other, self))
    }
}

/// Returns what a call is about that runs no command: its file, or the tool and its target.
fn subject(tool: &Tool, target: &str) -> String {
    if tool.verb.names_file() { short_path(target) } else { format!("{} {target}", tool.name) }
}

/// The last two parts of a path: the same file seen from different directories.
pub(super) fn short_path(path: &str) -> String {
    last_components(path, 2).replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKind, BlockNumber, Role};

    fn result(number: BlockNumber, verb: ToolVerb, target: &str) -> Block {
        let mut block = Block { number, ..Block::new(BlockKind::ToolResult, Role::ToolResult) };
        block.tool = Some(Box::new(Tool::new("T", verb, target)));
        block
    }

    #[test]
    fn a_failed_command_succeeded_later_if_its_parts_did() {
        let succeeded = [
            result(8, ToolVerb::Run, "make lint"),
            result(9, ToolVerb::Run, "cd a && make fmt && make lint"),
            result(9, ToolVerb::Run, "make test | tail"),
            result(9, ToolVerb::Run, "cargo test b"),
        ];
        let mut successes = Successes::default();
        succeeded.iter().for_each(|block| successes.add(block, block.target()));
        for (number, failed, expected) in [
            (5, "make lint 2>&1 | tail -3", Some(8)),
            (5, "cd a && make lint && make fmt", Some(9)),
            (5, "make fmt && make test", None),
            (10, "make lint", None),
            (5, "cd a", None),
            (5, "cargo test a", None),
        ] {
            let found = successes.after(&result(number, ToolVerb::Run, failed), failed);
            assert_eq!(found.map(|block| block.number), expected, "{failed}");
        }
    }

    #[test]
    fn a_call_of_a_tool_succeeded_later_on_the_same_file_or_target() {
        let succeeded = [result(3, ToolVerb::Edit, "/w/src/a.rs"), result(4, ToolVerb::Other, "https://a.org/x")];
        let mut successes = Successes::default();
        succeeded.iter().for_each(|block| successes.add(block, block.target()));
        for (verb, failed, expected) in [
            (ToolVerb::Edit, "src/a.rs", true),
            (ToolVerb::Read, "src/a.rs", false),
            (ToolVerb::Edit, "src/b.rs", false),
            (ToolVerb::Other, "https://a.org/x", true),
            (ToolVerb::Other, "https://a.org/y", false),
        ] {
            assert_eq!(successes.after(&result(1, verb, failed), failed).is_some(), expected, "{failed}");
        }
    }

    #[test]
    fn a_command_is_repeated_in_other_words() {
        for (failed, later, expected) in [
            ("go test -run TestTill ./till", "cd shop && mise run test:ci 2>&1 | tail", true),
            ("gh run view 12 --json runs", "gh run view 12 --json attempt --repo me/shop", true),
            ("gh run view 12", "gh run view 13", false),
            ("git commit -m 'Round once'", "git commit -q -m 'Round the tax' && git push", true),
            ("git rebase origin/main", "git rebase --continue", true),
            ("git push", "git pull", false),
            ("go build ./... && go test ./...", "go test ./...", false),
            ("python3 till.py", "python3 tax.py", false),
            ("ls till", "ls", false),
        ] {
            let later: Vec<Step> = Step::of(later).into_iter().flatten().collect();
            let is_repeated =
                |step: &Option<Step>| step.as_ref().is_some_and(|step| later.iter().any(|other| step.is_repeated_by(other)));
            let steps = Step::of(failed);
            assert_eq!(!steps.is_empty() && steps.iter().all(is_repeated), expected, "{failed}");
        }
    }

    #[test]
    fn a_file_is_known_by_its_last_two_parts() {
        for (path, short) in [("/a/b/c.rs", "b/c.rs"), ("c.rs", "c.rs"), ("C:\\x\\y.rs", "x/y.rs"), ("", "")] {
            assert_eq!(short_path(path), short);
        }
    }
}
