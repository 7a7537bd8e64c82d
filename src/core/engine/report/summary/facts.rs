//! Facts of a turn: edits, tests, commits, errors, interruptions.

use super::cleaning::{unshortened, without_tags};
use super::{Contents, Part, is_reply};
use crate::engine::analysis::Successes;
use crate::engine::memory::{Subject, call_error, lost_failure};
use crate::engine::reduce::{commit, failed_test, passed_and_failed};
use crate::engine::{Analysis, plural};
use crate::model::{
    Block, BlockKind, BlockNumber, Conventions, Event, Flags, Key, Outdated, Role, RowKind, Tool, ToolVerb, Turn, starts_with_any,
};
use crate::text::command_heads::{head, heads, is_lookup};
use crate::text::shell::{SimpleCommand, first_line_of_document, simple_commands};
use rustc_hash::FxHashMap;

/// The outcome of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The user interrupted the turn.
    Interrupted,
    /// Tests ran.
    Tests { passed: u64, failed: u64 },
    /// Commits were made.
    Committed { commits: u32 },
    /// Errors were resolved.
    Fixed { errors: u32 },
    /// Files were edited.
    Edited { files: u32 },
    /// Errors remain.
    Errors { errors: u32 },
    /// The last message is a question.
    Asks,
    /// The assistant answered.
    Answered,
    /// There is no answer yet.
    Open,
}

impl Outcome {
    /// Returns true if the turn did not reach what it did last.
    pub fn is_failure(self) -> bool {
        matches!(self, Outcome::Interrupted | Outcome::Errors { .. } | Outcome::Tests { failed: 1.., .. })
    }

    /// Returns the outcome in two or three words.
    pub fn words(self) -> String {
        match self {
            Outcome::Interrupted => "interrupted".to_owned(),
            Outcome::Tests { passed: 0, failed } => format!("{failed} failed"),
            Outcome::Tests { passed, failed: 0 } => format!("{passed} passed"),
            Outcome::Tests { passed, failed } => format!("{failed} failed of {}", passed.saturating_add(failed)),
            Outcome::Committed { commits: 1 } => "committed".to_owned(),
            Outcome::Committed { commits } => format!("{commits} commits"),
            Outcome::Fixed { errors } => format!("{} fixed", plural(errors, "error")),
            Outcome::Edited { files } => format!("edited {}", plural(files, "file")),
            Outcome::Errors { errors } => plural(errors, "error"),
            Outcome::Asks => "asks".to_owned(),
            Outcome::Answered => "answered".to_owned(),
            Outcome::Open => "open".to_owned(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The edited files, the number of edits, and the block of the last edit; in the order of the first edit.
    pub edited: Vec<(String, u32, BlockNumber)>,
    /// Number of passed and failed tests in the last run, and its block.
    pub tests: Option<(u64, u64, BlockNumber)>,
    pub commits: Vec<Part>,
    /// True if the first of them amends a commit of a turn before.
    pub amends: bool,
    pub fixed: Vec<Part>,
    pub errors: Vec<Part>,
    pub interrupted: bool,
}

pub(super) fn facts(reading: &Analysis, contents: &Contents, turn: &Turn) -> Facts {
    let conventions = reading.session.conventions;
    let mut facts = Facts::default();
    let blocks: Vec<&Block> = turn.blocks.iter().filter_map(|number| reading.block(*number)).collect();
    let mut successes = Successes::default();
    blocks.iter().filter(|block| block.kind == BlockKind::ToolResult).for_each(|block| successes.add(block, block.target()));
    let continued = blocks.iter().rposition(|block| matches!(block.role, Role::Assistant | Role::ToolUse)).unwrap_or_default();
    let settled = settled(&blocks, contents);
    // A target is the command on one line.
    let calls = blocks.iter().filter(|block| is_commit(block) && contents.contains_key(&block.number));
    let command = |block: &&Block| Some((block.call?, conventions.inputs.written_texts(contents.get(&block.number)?)));
    let commands: FxHashMap<Key, String> = calls.copied().filter_map(|block| command(&block)).collect();
    let mut edited: FxHashMap<&str, usize> = FxHashMap::default();
    for (place, block) in blocks.iter().enumerate() {
        let row = &reading.session.rows[block.row as usize];
        facts.interrupted |= row.flags.any(Flags::INTERRUPTION);
        let Some(tool) = block.tool.as_deref().filter(|_| block.kind == BlockKind::ToolResult) else { continue };
        let content = contents.get(&block.number).map_or("", String::as_str);
        if block.error {
            // The user declined a call with words of their own; the agent made a call in a wrong form; or it looked for something
            // that is not there, and continued.
            let is_misuse = starts_with_any(content.trim_start(), &conventions.error_tags);
            if is_reply(block) || is_misuse || place < continued && looks_up(tool, &tool.target) {
                continue;
            }
            if let Some(text) = error_line(&unshortened(block, content, conventions), tool, &tool.target, conventions) {
                let error = Part::new(&text, block.number);
                // The error is resolved if the analysis reports it, or if the same call succeeded later in the same turn.
                let made_good = matches!(block.usefulness.outdated, Some((Outdated::Succeeded, _)))
                    || successes.after(block, &tool.target).is_some();
                if made_good {
                    facts.fixed.push(error);
                } else if place >= settled {
                    facts.errors.retain(|known| known.text != error.text);
                    facts.errors.push(error);
                }
            }
        } else if tool.verb == ToolVerb::Edit && !tool.target.is_empty() {
            let place = *edited.entry(&tool.target).or_insert(facts.edited.len());
            match facts.edited.get_mut(place) {
                Some((_, count, last)) => (*count, *last) = (*count + 1, block.number),
                None => facts.edited.push((tool.target.to_string(), 1, block.number)),
            }
        }
        if tool.verb == ToolVerb::Run {
            if runs_tests(&tool.target)
                && let Some((passed, failed)) = passed_and_failed(content)
            {
                facts.tests = Some((passed, failed, block.number));
            }
            if commits(tool) {
                let shown: Vec<String> = content.lines().filter_map(commit).map(|(_, subject)| subject.to_owned()).collect();
                // A quiet commit prints nothing.
                let is_quiet = shown.is_empty() && lost_failure(&tool.target, content).is_none();
                let command = block.call.and_then(|call| commands.get(&call)).map_or(&*tool.target, String::as_str);
                let subjects = if is_quiet { quiet_commits(command) } else { shown };
                if !subjects.is_empty() && command.split_whitespace().any(|word| word == "--amend") {
                    facts.amends |= facts.commits.pop().is_none();
                }
                facts.commits.extend(subjects.iter().map(|text| Part::new(text, block.number)));
            }
        }
    }
    facts
}

/// Returns the place from which on an error of a turn is open: before it, the agent continued with a call that works on something and
/// did not fail, or that has no result yet.
fn settled(blocks: &[&Block], contents: &Contents) -> usize {
    let continues = |block: &&Block| {
        let content = contents.get(&block.number).map_or("", String::as_str);
        let works = |tool: &Tool| !looks_up(tool, &tool.target) && lost_failure(&tool.target, content).is_none();
        block.kind == BlockKind::ToolResult && !block.error && block.tool.as_deref().is_some_and(works)
    };
    let is_running = blocks.last().is_some_and(|block| block.kind == BlockKind::ToolUse);
    if is_running { blocks.len() } else { blocks.iter().rposition(continues).unwrap_or_default() }
}

/// Returns true if a call only looks for something: a read, a search, or a command of such programs. `target` is the target of the
/// call, before any change.
pub fn looks_up(tool: &Tool, target: &str) -> bool {
    let only_looks = |command: &SimpleCommand| {
        let words: Vec<&str> = command.words.iter().map(|word| &*word.text).collect();
        words.first().is_none_or(|program| is_lookup(program))
            && !words.iter().any(|word| word.starts_with("-i") && words[0] == "sed")
    };
    match tool.verb {
        ToolVerb::Read | ToolVerb::Search => true,
        ToolVerb::Run => simple_commands(target).iter().all(only_looks),
        _ => false,
    }
}

/// Returns the line with the error message; `None` if the user declined the call, or if no line of a command tells its failure: there is
/// only an exit code, or only what a lookup found. `target` is the target of the call, before any change.
pub fn error_line(content: &str, tool: &Tool, target: &str, conventions: &Conventions) -> Option<String> {
    let content = without_tags(content, conventions);
    if conventions.declines(&content) {
        return None;
    }
    // Lines are quoted as they are, so one with control sequences is not.
    let plain: Vec<&str> = content.lines().filter(|line| !line.contains('\u{1b}')).collect();
    let is_command = tool.verb == ToolVerb::Run;
    let heads = if is_command { heads(target) } else { Vec::new() };
    // Lines about errors are what the tests print; `FAIL shop/till [build failed]` names a package.
    if let Some(test) = plain.iter().find(|line| is_command && failed_test(line).is_some() && !line.ends_with("failed]")) {
        return Some(test.trim().to_owned());
    }
    let programs: Vec<&str> = heads.iter().filter_map(|head| head.split(' ').next()).collect();
    let error = call_error(&plain.join("\n"), &programs, conventions)?;
    let is_about_call = matches!(error.subject, Subject::Environment | Subject::Usage | Subject::MissingName);
    (!is_command || is_about_call || error.is_clear && !looks_up(tool, target)).then_some(error.line)
}

/// Returns true if a command runs tests, and does not only print a file about them.
fn runs_tests(command: &str) -> bool {
    const PRINTS: &[&str] = &["cat ", "grep ", "rg ", "echo ", "sed ", "head ", "tail ", "ls ", "git ", "gh "];
    let last = command.rsplit("&&").next().unwrap_or_default().trim_start();
    let words = ["test", "spec", "jest", "check", "tox", "rspec", "verify", "mise run", "make", "task "];
    words.iter().any(|word| command.contains(word)) && !PRINTS.iter().any(|start| last.starts_with(start))
}

/// Returns true if a command can make a commit, unless it is in a repository that it makes for a trial.
fn commits(tool: &Tool) -> bool {
    let heads = heads(&tool.target);
    let has = |wanted: &str| heads.iter().any(|head| head == wanted);
    let is_trial = has("git init") && ["/tmp", "mktemp"].iter().any(|place| tool.target.contains(place));
    (has("git commit") || has("git merge")) && !is_trial
}

/// Returns true for a call that can make a commit.
pub(super) fn is_commit(block: &Block) -> bool {
    block.kind == BlockKind::ToolUse && block.tool.as_deref().is_some_and(|tool| tool.verb == ToolVerb::Run && commits(tool))
}

/// Returns the subjects of the commits of a command of which git prints nothing.
fn quiet_commits(command: &str) -> Vec<String> {
    let commands = simple_commands(command);
    let commits = commands.iter().filter(|command| head(command).is_some_and(|head| head == "git commit"));
    let subjects = commits.filter_map(|commit| {
        let words: Vec<&str> = commit.words.iter().map(|word| word.text.as_str()).collect();
        // Short options can be one word, with the value of the last: `-qam`, `-mtext`.
        let of_option = |word: &'_ str, long: &str, short: char| match word.strip_prefix(long) {
            Some(value) => Some(value.trim_start_matches('=').to_owned()),
            None if word.starts_with("--") => None,
            None => Some(word.strip_prefix('-')?.split_once(short)?.1.to_owned()),
        };
        let is_quiet = words.iter().any(|word| of_option(word, "--quiet", 'q').is_some());
        let message = words.iter().zip(words.iter().skip(1).chain([&""])).find_map(|(word, next)| {
            of_option(word, "--message", 'm').map(|value| if value.is_empty() { (*next).to_owned() } else { value })
        });
        let stated =
            message.as_deref().and_then(|message| message.trim_start().lines().next()).filter(|line| !line.contains("$("));
        let subject = stated.map(|line| line.trim().to_owned()).or_else(|| first_line_of_document(command, "git commit"));
        is_quiet.then(|| subject.unwrap_or_else(|| "a commit".to_owned()))
    });
    subjects.collect()
}

/// Returns the outcomes of a turn, the most important first.
pub(super) fn outcomes_of(facts: &Facts, asks: bool, answered: bool) -> Vec<Outcome> {
    let number = |count: usize| count.min(u32::MAX as usize) as u32;
    let (passed, failed) = facts.tests.map_or((0, 0), |(passed, failed, _)| (passed, failed));
    let tests = Outcome::Tests { passed, failed };
    // A call that was repeated in another form, while the agent only looked, tells nothing.
    let is_changed = !facts.edited.is_empty() || !facts.commits.is_empty();
    let possible = [
        (facts.interrupted, Outcome::Interrupted),
        (!answered && !facts.interrupted, Outcome::Open),
        (failed > 0, tests),
        (!facts.commits.is_empty(), Outcome::Committed { commits: number(facts.commits.len()) }),
        (facts.tests.is_some() && failed == 0, tests),
        (asks, Outcome::Asks),
        (!facts.edited.is_empty(), Outcome::Edited { files: number(facts.edited.len()) }),
        (is_changed && !facts.fixed.is_empty(), Outcome::Fixed { errors: number(facts.fixed.len()) }),
        (!facts.errors.is_empty(), Outcome::Errors { errors: number(facts.errors.len()) }),
    ];
    let found: Vec<Outcome> = possible.into_iter().filter(|(holds, _)| *holds).map(|(_, outcome)| outcome).collect();
    if found.is_empty() { vec![Outcome::Answered] } else { found }
}

/// Returns true if the last message of a turn is from the model, or if only the client had something to answer: a command of its own, or
/// one with an output.
pub(super) fn answered(reading: &Analysis, turn: &Turn) -> bool {
    last_message(reading, turn).is_none_or(|block| block.role == Role::Assistant)
}

/// Returns the last block of a turn that the user, the model or a tool has said: no thinking, no text of the client, no command that only
/// the client answered.
pub fn last_message<'a>(reading: &'a Analysis, turn: &Turn) -> Option<&'a Block> {
    let mut is_printed = false;
    turn.blocks.iter().rev().filter_map(|number| reading.block(*number)).find(|block| {
        let row = &reading.session.rows[block.row as usize];
        is_printed |= row.flags.any(Flags::COMMAND_OUTPUT);
        let is_silent = matches!(block.role, Role::System | Role::Thinking) || block.kind == BlockKind::Attachment;
        let is_of_client_alone = reading.session.conventions.is_client_command(&block.preview);
        let is_command = row.flags.any(Flags::COMMAND_NAME) && is_printed
            || row.flags.any(Flags::COMMAND_NAME | Flags::TYPED_COMMAND) && is_of_client_alone;
        // A compaction repeats messages.
        let is_repeated = row.kind == RowKind::Boundary || matches!(row.event.as_deref(), Some(Event::CompactSummary));
        !is_silent && !is_command && !is_repeated && !is_of_client(reading, block)
    })
}

/// Returns true if the client wrote a message without a model: an answer to a command, or a notice in place of a response.
pub fn is_of_client(reading: &Analysis, block: &Block) -> bool {
    let flags = reading.session.rows[block.row as usize].flags;
    flags.any(Flags::COMMAND | Flags::COMMAND_OUTPUT | Flags::CAVEAT | Flags::SYNTHETIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_commit_has_the_first_line_of_its_message() {
        for (command, expected) in [
            ("git commit -q -m 'ci: move (all)\n\nBecause.\n\nCo-Authored-By: A' && git push -q", &["ci: move (all)"] as &[&str]),
            ("git commit -q -F - <<'EOF' && git push\nAdd a (b)\n\nc\nEOF", &["Add a (b)"]),
            ("git commit -qm \"$(cat <<'EOF'\n\nFix it\n\nc\nEOF\n)\"", &["Fix it"]),
            ("git commit -qam one; git commit -q -mtwo", &["one", "two"]),
            ("git commit --quiet --message=one", &["one"]),
            ("git commit -q --amend --no-edit", &["a commit"]),
            ("git commit -m one", &[]),
        ] {
            assert_eq!(quiet_commits(command), expected, "{command}");
        }
    }

    #[test]
    fn a_command_that_runs_tests_is_known() {
        assert!(runs_tests("cd x && cargo test -q") && !runs_tests("cat test.log"));
    }

    #[test]
    fn an_error_is_detected_by_its_line() {
        let conventions = Conventions {
            status_lines: vec!["exit code", "chunk id:", "process exited with", "output:"],
            error_tags: vec!["<tool_use_error>", "</tool_use_error>"],
            declined: vec!["The user doesn't want to"],
            ..Conventions::default()
        };
        for (content, expected) in [
            ("Exit code 1\nchecking\nerror: no such thing", Some("error: no such thing")),
            ("<tool_use_error>File has not been read yet.</tool_use_error>", Some("File has not been read yet.")),
            ("The user doesn't want to proceed", None),
            ("Exit code 2", None),
            ("Chunk ID: 1a\nProcess exited with code 1\nOutput:\nno such thing", Some("no such thing")),
            ("", None),
        ] {
            let tool = Tool::new("Bash", ToolVerb::Run, "make");
            assert_eq!(error_line(content, &tool, &tool.target, &conventions).as_deref(), expected, "{content}");
        }
        let printed = "Exit code 1\n--- FAIL: TestTill (0.1s)\nerror: deadline of another test";
        let tool = Tool::new("Bash", ToolVerb::Run, "go test ./...");
        assert_eq!(error_line(printed, &tool, &tool.target, &conventions).as_deref(), printed.lines().nth(1));
        let hits = "Exit code 1\nsrc/a.rs:12: return the error to the caller";
        for (command, expected) in [("grep -rn error src; ls x", None), ("make", hits.lines().nth(1))] {
            let tool = Tool::new("Bash", ToolVerb::Run, command);
            assert_eq!(error_line(hits, &tool, command, &conventions).as_deref(), expected, "{command}");
        }
    }
}
