//! Every command that a command prints can be run as printed, in the state and in the directory in which it was printed.

use crate::sandbox::{Outcome, Sandbox, all_or, repository, sample, words};
use aperture::commands::{CommandLine, definition};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The number of states.
const STATES: usize = 11;

/// Command lines with the commands that all states can be asked for; `{s}` is the option that names the session, or nothing.
const LINES: &[&str] = &[
    "{s}",
    "status {s}",
    "manifest {s}",
    "manifest --tier full {s}",
    "sessions",
    "sessions nosuch",
    "sessions --limit 1",
    "search nosuchword",
    "search the",
    "search echo --project /nowhere",
    "search echo --limit 1",
    "search --literal nosuchtext",
    "topics",
    "topics nosuchword",
    "topics --project /nowhere",
    "topics --limit 1",
    "convert -n",
    "convert --to claude-code",
    "convert --to codex",
    "doctor",
    "export --format markdown -o out.md",
    "export --format atif --all -o out",
    "config",
    "config get preset",
    "config get nosuch",
    "config set nosuch 1",
    "config set preset nosuch",
    "config unset preset",
    "timeline",
    "timeline {s} --limit 1",
    "timeline nosuch",
    "report --html r.html",
    "report nosuch --html r.html",
    "report --project --html u.html",
    "summary {s}",
    "summary --turns 99 {s}",
    "pack --budget 4k {s}",
    "pack --budget 1 {s}",
    "pack --budget 2k --query the {s}",
    "blocks {s}",
    "blocks --tree {s}",
    "blocks nosuch {s}",
    "blocks 'tool(Raed)' {s}",
    "show 14 {s}",
    "show 9999 {s}",
    "show Read {s}",
    "show 'turn(99)' {s}",
    "explain 14 {s}",
    "explain 14..20 {s}",
    "transcript {s}",
    "recall nosuchword {s}",
    "recall no_such_word {s}",
    "recall the {s}",
    "recall '' {s}",
    "recall '???' {s}",
    "recall nosuchword --all {s}",
    "recall echo --all {s}",
    "recall the --project {s}",
    "recall --restore nosuchword {s}",
    "recall --turns 1.. {s}",
    "recall --turns 900 {s}",
    "recall --turns 1 --max-tokens 9 {s}",
    "blame nosuch.rs",
    "blame .",
    "usage",
    "usage --by nothing",
    "compress --stale {s}",
    "compress --stale --dry-run {s}",
    "compress 14 --level tiny {s}",
    "compress 16 {s}",
    "compress --budget 1k {s}",
    "compress {s}",
    "compress --stale --all",
    "expand 14 {s}",
    "expand 16 {s}",
    "archive 17 {s}",
    "archive 19 20 --dry-run {s}",
    "archive 9999 {s}",
    "archive larger(10) --all",
    "pin {s}",
    "pin 16 {s}",
    "pin 14 {s}",
    "unpin 16 {s}",
    "focus 16 {s}",
    "unfocus {s}",
    "update 16 {s}",
    "update 16 changed {s}",
    "create 'a note' {s}",
    "housekeeping {} {s}",
    "housekeeping --turn 99 {\"response_header\":\"x\"} {s}",
    "housekeeping {\"response_header\":\"x\"} {s}",
    "redact --whole-file {s}",
    "redact 16 {s}",
    "compact 1 {s}",
    "compact --before 1 {s}",
    "compact 99 {s}",
    "uncompact {s}",
    "preset {s}",
    "preset show nosuch {s}",
    "preset nosuch {s}",
    "undo {s}",
    "undo 1 {s}",
    "undo 99 {s}",
    "undo --all",
    "redo {s}",
    "log {s}",
    "diff {s}",
    "diff 1 99 {s}",
    "diff --stat {s}",
    "snapshot save tidy {s}",
    "snapshot list {s}",
    "restore nowhere {s}",
    "restore original {s}",
    "fork --at 16 {s}",
    "fork --at 'turn(99)' {s}",
    "obey {s}",
    "obey --dry-run {s}",
    "inbox {s}",
    "inbox --all",
    "approve 1 {s}",
    "approve 99 {s}",
    "deny 1 {s}",
    "deny 99 {s}",
    "stage 'a text' {s}",
    "sidecar",
    "sidecar queue",
    "sidecar drain",
    "sidecar eval",
    "sidecar clear",
    "check {s}",
    "check --max-percent 1 --max-stale 1 {s}",
    "check --all",
    "repair {s}",
    "repair --dry-run {s}",
    "repair --all",
    "shrink {s}",
    "shrink --dry-run {s}",
    "verify {s}",
    "verify --all",
    "keep {s}",
    "keep --all",
    "keep --dry-run {s}",
    "keep status",
    "keep list",
    "keep restore nosuch",
    "keep forget nosuch",
    "gc",
    "store",
    "store decrypt",
    "store encrypt --dry-run",
    "store rekey",
    "export {s}",
    "export -o {home}/new.aperture {s}",
    "import {home}/saved.aperture",
    "import nosuch.aperture",
    "help compres",
    "proxy requests",
    "proxy status",
    "proxy explain 1",
    "install claude-code --dry-run",
    "install codex --dry-run",
    "install git-hook --dry-run",
    "install nosuch",
    "uninstall claude-code",
    "statusline",
    "completions nosuch",
    "status -s nosuch",
    "status nosuch.jsonl",
    "mcp --nosuch",
    "run -- nosuch",
    "watch --nosuch",
    "tui {s}",
    "serve nosuch",
    "serve --listen 0.0.0.0:0",
    "hook Nosuch",
    "memory",
    "memory list",
    "memory list --retired",
    "memory list --file nosuch",
    "memory show 1",
    "memory show 99",
    "memory search the",
    "memory search nosuchword",
    "memory add 'Use pnpm, not npm.' --kind preference",
    "memory add 'Answer in English.' --user",
    "memory forget 4",
    "memory forget 99",
    "memory why 4",
    "memory why 99",
    "memory learn",
    "memory learn --dry-run",
    "memory learn --all",
    "memory compose",
    "memory review",
    "memory review --accept 5",
    "memory stats",
    "memory export",
    "memory init",
    "memory log",
    "memory diff",
    "memory diff 99",
    "memory undo",
    "memory undo 99",
    "complete-this",
    "search words",
    "grep words",
    "find words",
    "ls",
    "list",
    "cost",
    "context",
    "top",
];

/// Commands of other programs.
const FOREIGN: [&str; 8] = ["search", "grep", "find", "ls", "list", "cost", "context", "top"];

/// Commands that run until they are stopped: they are only parsed.
const SERVERS: [&str; 4] = ["mcp", "proxy", "run", "watch"];

/// Answers that are the result of a command and not a failure to run it.
const REFUSALS: [&str; 9] = [
    "no match for ",
    "no sessions were found in",
    "cannot import",
    "a budget of ",
    " found\n",
    "of its log is missing from",
    "not a git repository",
    "is not in removed content",
    "no archived, shortened or compacted content matches",
];

/// Words of a printed command in the place of something that only the user knows, with a value for each.
fn placeholders(sandbox: &Sandbox) -> [(&'static str, String); 7] {
    let saved = sandbox.home.join("saved.aperture").display().to_string();
    let session = repository().join("tests/it/rows.jsonl").display().to_string();
    [
        ("FILE", saved),
        ("FILE.jsonl", session),
        ("WORDS", "the".to_owned()),
        ("DIRECTORY", "DIRECTORY".to_owned()),
        ("NAME", "a-name".to_owned()),
        ("TEXT", "'a text'".to_owned()),
        ("N", "2".to_owned()),
    ]
}

/// A prepared home, its copy, and how commands are run in it.
struct State {
    sandbox: Sandbox,
    copy: tempfile::TempDir,
    /// The option that names the session, or nothing.
    session: &'static str,
    /// The first of the command lines that are run by default; together, the states run each line.
    share: usize,
    directory: PathBuf,
    before: Prints,
}

type Prints = BTreeMap<PathBuf, (u64, SystemTime)>;

impl State {
    fn new(sandbox: Sandbox, session: &'static str, share: usize) -> State {
        let copy = tempfile::TempDir::new().unwrap();
        let directory = if session.is_empty() { sandbox.project.clone() } else { sandbox.home.join("elsewhere") };
        fs::create_dir_all(&directory).unwrap();
        fs::create_dir_all(sandbox.home.join("DIRECTORY")).unwrap();
        let mut state = State { sandbox, copy, session, share, directory, before: Prints::new() };
        state.save();
        state
    }

    fn roots(&self) -> [(&Path, PathBuf); 2] {
        [(&*self.sandbox.home, self.copy.path().join("home")), (&*self.sandbox.project, self.copy.path().join("project"))]
    }

    fn save(&mut self) {
        for (root, copy) in self.roots() {
            replace(&copy, root);
        }
        self.before = self.prints();
    }

    fn prints(&self) -> Prints {
        let mut found = Prints::new();
        self.roots().iter().for_each(|(root, _)| prints(root, &mut found));
        found
    }

    /// Restores the prepared state, if a command changed it.
    fn restore(&self) {
        if self.prints() != self.before {
            for (root, copy) in self.roots() {
                replace(root, &copy);
            }
        }
    }

    fn run(&self, line: &str) -> Outcome {
        let words = words(line);
        let mut command = self.sandbox.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        // The user enters it.
        command.current_dir(&self.directory).env("APERTURE_PASSPHRASE", "a passphrase").output().unwrap().into()
    }

    /// Returns the command lines of this state.
    fn lines(&self) -> Vec<String> {
        let home = self.sandbox.home.display().to_string();
        // A name that is not a command names no session either.
        let is_asked = |line: &&&str| self.session.is_empty() || !FOREIGN.contains(&line.split(' ').next().unwrap_or_default());
        sample(LINES.iter().skip(all_or(0, self.share)), STATES)
            .filter(is_asked)
            .map(|line| line.replace("{s}", self.session).replace("{home}", &home).trim().to_owned())
            .collect()
    }
}

fn prints(root: &Path, found: &mut Prints) {
    for entry in fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        let (path, data) = (entry.path(), entry.metadata().unwrap());
        match data.is_dir() {
            true if path.ends_with(".aperture/cache") => {}
            true => prints(&path, found),
            false => drop(found.insert(path, (data.len(), data.modified().unwrap()))),
        }
    }
}

/// Makes a directory equal to another one, with the times of its files.
fn replace(target: &Path, source: &Path) {
    if target.exists() {
        fs::remove_dir_all(target).unwrap();
    }
    fs::create_dir_all(target).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let from = entry.unwrap().path();
        let to = target.join(from.file_name().unwrap());
        if from.is_dir() {
            replace(&to, &from);
        } else {
            fs::copy(&from, &to).unwrap();
            let modified = fs::metadata(&from).unwrap().modified().unwrap();
            File::options().write(true).open(&to).unwrap().set_modified(modified).unwrap();
        }
    }
}

/// Returns the commands in a text: after the name of the program follows the name of a command, and it ends at the end of the line, at
/// a semicolon or a comma, or with the backtick or the parenthesis that it is in.
fn commands(text: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // Examples of a help text are for no state.
    let text = text.split("Examples:").next().unwrap_or_default();
    for line in text.lines().filter(|line| !line.starts_with("Usage: ")) {
        for (start, _) in line.match_indices("aperture ") {
            let before = line[..start].chars().next_back();
            if before.is_some_and(|before| !matches!(before, ' ' | '(' | '`' | '"')) {
                continue;
            }
            let rest = &line[start + "aperture ".len()..];
            let first: String = rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '-').collect();
            if !names.contains(&first) {
                continue;
            }
            let (mut quoted, mut open, mut end) = (false, 0, rest.len());
            for (place, letter) in rest.char_indices() {
                let follows = rest[place + letter.len_utf8()..].chars().next();
                match letter {
                    '\'' => quoted = !quoted,
                    _ if quoted => {}
                    '(' => open += 1,
                    ')' if open > 0 => open -= 1,
                    ';' | '`' | ')' | '"' | '…' => end = place,
                    ',' | ':' | '.' if follows.is_none_or(|next| next == ' ') => end = place,
                    ' ' if follows.is_some_and(|next| matches!(next, ' ' | '(' | '—')) => end = place,
                    _ => {}
                }
                if end < rest.len() {
                    break;
                }
            }
            found.insert(rest[..end].trim().to_owned());
        }
    }
    found
}

/// Runs every command that the command lines of a state print, and returns those that fail.
fn failing(state: &State) -> Vec<String> {
    let definition = definition();
    let names: BTreeSet<String> = definition.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let (mut known, mut failures) = (BTreeSet::new(), Vec::new());
    for line in state.lines() {
        state.restore();
        let outcome = state.run(&line);
        let after = state.prints();
        let is_change = after != state.before;
        let printed = commands(&format!("{}\n{}", outcome.stdout, outcome.stderr), &names);
        for command in printed {
            if !is_change && !known.insert(command.clone()) {
                continue;
            }
            let output = format!("-o {}", state.sandbox.home.join("other.aperture").display());
            let filled =
                placeholders(&state.sandbox).iter().fold(command.replace("-o FILE", &output), |command, (word, value)| {
                    let words = command.split(' ').map(|part| if part == *word { value.clone() } else { part.to_owned() });
                    words.collect::<Vec<_>>().join(" ")
                });
            if state.prints() != after {
                state.restore();
                state.run(&line);
            }
            let first = filled.split(' ').next().unwrap_or_default();
            let problem = if SERVERS.contains(&first) {
                let line = words(&format!("aperture {filled}"));
                CommandLine::try_parse_from(line).err().filter(clap::Error::use_stderr).map(|error| error.to_string())
            } else {
                let run = state.run(&filled);
                let is_refused = |reason: &&str| run.stderr.contains(*reason);
                let is_done =
                    run.code == 0 || (run.code == 1 && (!run.stderr.contains("error: ") || REFUSALS.iter().any(is_refused)));
                (!is_done).then(|| run.all())
            };
            if let Some(problem) = problem {
                failures
                    .push(format!("$ aperture {line}\n  aperture {command}\n    {}", problem.trim_end().replace('\n', "\n    ")));
            }
        }
    }
    failures
}

fn check(state: &State) {
    let failures = failing(state);
    assert!(failures.is_empty(), "{} printed commands fail:\n{}", failures.len(), failures.join("\n"));
}

/// A home with a session without changes in force, and an export of it.
fn plain() -> Sandbox {
    let sandbox = crate::obeying::sandbox();
    sandbox.done("archive 24");
    let saved = sandbox.home.join("saved.aperture").display().to_string();
    sandbox.text(&["export", "-o", &saved]);
    sandbox.done("undo");
    sandbox
}

fn changed() -> Sandbox {
    let sandbox = crate::obeying::sandbox();
    for line in ["compress 16 18", "archive 24", "pin 14", "snapshot save before"] {
        sandbox.done(line);
    }
    let saved = sandbox.home.join("saved.aperture").display().to_string();
    sandbox.run(&["export", "-o", &saved]);
    sandbox
}

#[test]
fn commands_printed_about_a_plain_session_run() {
    check(&State::new(plain(), "", 0));
}

#[test]
fn commands_printed_about_a_changed_session_run() {
    check(&State::new(changed(), "", 1));
}

#[test]
fn commands_printed_about_an_open_session_run() {
    let sandbox = changed();
    sandbox.open_in_client();
    check(&State::new(sandbox, "", 2));
}

#[test]
fn commands_printed_about_pending_commands_run() {
    let sandbox = crate::obeying::sandbox();
    crate::obeying::say(&sandbox, "@archive(16, reason: read) @compress(24, minimal) @pin(38)");
    sandbox.run(&["obey"]);
    check(&State::new(sandbox, "", 3));
}

#[test]
fn commands_printed_about_pending_commands_of_an_open_session_run() {
    let sandbox = crate::obeying::sandbox();
    crate::obeying::say(&sandbox, "@archive(16, reason: read) @compress(24, minimal) @pin(38)");
    sandbox.run(&["obey"]);
    sandbox.open_in_client();
    check(&State::new(sandbox, "", 4));
}

#[test]
fn commands_printed_about_a_damaged_session_run() {
    let sandbox = changed();
    let path = sandbox.first_session();
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("[aperture", "[apertura");
    fs::write(&path, &text[..text.len() - 40]).unwrap();
    check(&State::new(sandbox, "", 5));
}

#[test]
fn commands_printed_without_sessions_run() {
    let sandbox = Sandbox::new();
    check(&State::new(sandbox, "", 6));
}

#[test]
fn commands_printed_about_a_session_of_another_directory_run() {
    let sandbox = changed();
    sandbox.add("older-model");
    sandbox.add("codex-tools");
    check(&State::new(sandbox, "-s 11111111", 7));
}

#[test]
fn commands_printed_about_a_codex_session_run() {
    let sandbox = Sandbox::of("codex-tools");
    check(&State::new(sandbox, "", 8));
}

#[test]
fn commands_printed_about_many_sessions_run() {
    let sandbox = crate::obeying::sandbox();
    for fixture in ["older-model", "interactive-compact", "codex-tools", "codex-compaction", "codex-fork"] {
        sandbox.add(fixture);
    }
    check(&State::new(sandbox, "", 9));
}

#[test]
fn commands_printed_about_memories_run() {
    let sandbox = crate::memory::learned();
    sandbox.write(".aperture/memory/factual/gotchas.md", crate::memory::REFUTED);
    check(&State::new(sandbox, "", 10));
}

#[test]
fn every_command_is_asked_for_its_printed_commands() {
    let asked: BTreeSet<&str> = LINES.iter().filter_map(|line| line.split(' ').next()).collect();
    let missing: Vec<String> = definition()
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && !asked.contains(command.get_name()))
        .map(|command| command.get_name().to_owned())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
