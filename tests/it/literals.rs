//! The formats of clients are known in `src/core/provider` alone: no other folder holds a literal of one.

use crate::sandbox::{files_ending, repository};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;

/// Parts of literals that belong to the format of a client, whatever the case of their letters.
const FORMATS: &[(&str, &str)] = &[
    ("chunk id", "status line of a Codex result"),
    ("wall time", "status line of a Codex result"),
    ("process exited", "status line of a Codex result"),
    ("process running", "status line of a Codex result"),
    ("exit code: ", "status line of a Codex result"),
    ("system-reminder", "tag of Claude Code"),
    ("tool_use_error", "tag of Claude Code"),
    ("<command-", "tag of Claude Code"),
    ("local-command-", "tag of Claude Code"),
    ("bash-std", "tag of Claude Code"),
    ("ide_selection", "tag of Claude Code"),
    ("environment_context", "tag of Codex"),
    ("user_instructions", "tag of Codex"),
    ("request interrupted", "message of Claude Code"),
    ("doesn't want to", "message of Claude Code"),
    ("parentuuid", "key of a Claude Code row"),
    ("sessionid", "key of a Claude Code row"),
    ("tooluseresult", "key of a Claude Code row"),
    ("ismeta", "key of a Claude Code row"),
    ("compact_boundary", "kind of a Claude Code row"),
    ("hook_success", "kind of a Claude Code row"),
    ("session_meta", "kind of a Codex row"),
    ("turn_context", "kind of a Codex row"),
    ("response_item", "kind of a Codex row"),
    ("event_msg", "kind of a Codex row"),
    ("old_string", "input of a Claude Code tool"),
    ("new_string", "input of a Claude Code tool"),
    ("old_str", "input of a Claude Code tool"),
    ("file_path", "input of a Claude Code tool"),
    ("notebook_path", "input of a Claude Code tool"),
    ("taskid", "input of a Claude Code tool"),
    ("todos", "input of a Claude Code tool"),
    ("askuserquestion", "tool of Claude Code"),
    ("todowrite", "tool of Claude Code"),
    ("mcp__", "tool of Claude Code"),
    ("exec_command", "tool of Codex"),
    ("apply_patch", "tool of Codex"),
    ("write_stdin", "tool of Codex"),
    ("update_plan", "tool of Codex"),
    ("*** begin patch", "patch of Codex"),
    ("*** update file", "patch of Codex"),
    ("agent-", "id of a Claude Code subagent"),
    ("rollout-", "file name of Codex"),
    (".claude", "directory of Claude Code"),
    (".codex", "directory of Codex"),
    ("claude.md", "instruction file of Claude Code"),
    ("agents.md", "instruction file of Codex"),
    ("claude_", "variable of Claude Code"),
    ("codex_", "variable of Codex"),
    ("session_context", "tag of Gemini CLI"),
    ("projecthash", "key of a Gemini CLI session"),
    ("functionresponse", "key of a Gemini CLI message"),
    (".gemini", "directory of Gemini CLI"),
    ("opencode.db", "database of OpenCode"),
    ("step-finish", "part of an OpenCode message"),
    ("anthropic.com", "address of an API"),
    ("openai.com", "address of an API"),
];

/// Whole literals that name a tool, a command, a key or a provider.
const NAMES: &[&str] = &[
    "Read", "Edit", "Write", "Bash", "Grep", "Glob", "MultiEdit", "NotebookEdit", "Task", "WebFetch", "WebSearch", "shell",
    "/clear", "/compact", "/exit", "/login", "/mcp", "/resume", "uuid", "isSidechain", "gitBranch", "stdout", "cmd",
    "claude-code", "codex",
];

/// Files that may hold such a literal, the literal in lower case, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("core/model/session_id.rs", "agent-", "the form of an id, which people read and type"),
    (
        "core/engine/analysis/never_stale.rs",
        "claude.md",
        "instruction files of many agents, most of which aperture does not read",
    ),
    (
        "core/engine/analysis/never_stale.rs",
        "agents.md",
        "instruction files of many agents, most of which aperture does not read",
    ),
    ("core/engine/analysis/never_stale.rs", ".claude", "instruction files of many agents, most of which aperture does not read"),
    ("core/engine/selector/mod.rs", "mcp__", "an example in the help on selectors"),
    ("commands/install/claude_code.rs", "claude-code", "the name of the command's target"),
    ("commands/install/claude_code.rs", ".claude", "the files into which the command installs"),
];

/// The string literals of Rust code, without comments and unit tests.
fn literals(text: &str) -> Vec<String> {
    let is_tests = |(at, _): &(usize, &str)| {
        let mut lines = text[*at..].lines();
        lines.next().is_some_and(|line| line.contains("test"))
            && lines.find(|line| !line.starts_with("#[")).is_some_and(|line| line.starts_with("mod "))
    };
    let end = text.match_indices("#[cfg(").find(is_tests).map_or(text.len(), |(at, _)| at);
    let mut found = Vec::new();
    let mut rest = &text[..end];
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, here) = rest.split_at(at);
        rest = if here.starts_with("//") {
            here.split_once('\n').map_or("", |(_, rest)| rest)
        } else if here.starts_with('\'') {
            // A character, which can be a quotation mark; a lifetime has no end.
            let length =
                ["'\"'", "'\\\"'", "'\\''", "'/'"].iter().find(|literal| here.starts_with(**literal)).map_or(1, |it| it.len());
            &here[length..]
        } else if let Some(after) = here.strip_prefix('/') {
            after
        } else {
            let marks = before.len() - before.trim_end_matches('#').len();
            let raw = before[..before.len() - marks].ends_with('r');
            let end = if raw { format!("\"{}", "#".repeat(marks)) } else { "\"".to_owned() };
            let inner = &here[1..];
            let mut close = inner.find(&end).unwrap_or(inner.len());
            while !raw && inner[..close].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
                close = inner[close + 1..].find(&end).map_or(inner.len(), |at| close + 1 + at);
            }
            found.push(inner[..close].to_owned());
            inner.get(close + end.len()..).unwrap_or_default()
        };
    }
    found
}

/// The entries of the tables that a file breaks: the literal, and what it belongs to.
fn foreign(text: &str) -> BTreeSet<(&'static str, &'static str)> {
    let mut found = BTreeSet::new();
    for literal in literals(text) {
        let lower = literal.to_lowercase();
        found.extend(FORMATS.iter().filter(|(part, _)| lower.contains(part)).copied());
        found.extend(NAMES.iter().filter(|name| **name == literal).map(|name| (*name, "name in the format of a client")));
    }
    found
}

#[test]
fn formats_are_known_in_the_providers_alone() {
    let src = repository().join("src");
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    let is_test = |part: &OsStr| ["tests", "tests.rs", "testing", "testing.rs"].iter().any(|name| part == *name);
    for file in files_ending(&src, "rs").into_iter().filter(|file| !file.iter().skip(src.iter().count()).any(is_test)) {
        let name = file.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
        if name.starts_with("core/provider/") {
            continue;
        }
        for (literal, what) in foreign(&fs::read_to_string(&file).unwrap()) {
            match ALLOWED.iter().position(|(path, allowed, _)| *path == name && *allowed == literal) {
                Some(place) => drop(used.insert(place)),
                None => faults.push(format!("src/{name}: {literal:?} ({what}) belongs to src/core/provider")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let unused: Vec<_> =
        ALLOWED.iter().enumerate().filter(|(place, _)| !used.contains(place)).map(|(_, allowed)| allowed).collect();
    assert!(unused.is_empty(), "no longer needed: {unused:?}");
}

#[test]
fn literals_are_found_in_code() {
    let check = |code: &str, expected: &[&str]| assert_eq!(literals(code), expected, "{code}");
    check("f(\"a\", b\"b\") // \"c\"\n/// \"d\"\ng(\"e\")", &["a", "b", "e"]);
    check("r#\"a \"b\" c\"#; r\"d\\\"; \"e\"", &["a \"b\" c", "d\\", "e"]);
    check("\"a \\\" b\" 'x' '\"' \"c\\\\\" &'a str \"/ d\"", &["a \\\" b", "c\\\\", "/ d"]);
    check("\"a\"\n#[cfg(test)]\nmod tests { \"b\" }", &["a"]);
    assert_eq!(foreign("if line.starts_with(\"Chunk ID: \") || name == \"Bash\" {}").len(), 2);
}
