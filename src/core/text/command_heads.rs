//! Heads of shell commands: the program and its subcommand, without arguments.

use crate::text::lists::word_lists;
use crate::text::names::file_name;
use crate::text::shell::{SimpleCommand, Word, simple_commands};

word_lists! {
    "command_heads.txt":
    WITH_SUBCOMMAND, WITH_GROUPS, RUNNERS, VALUE_OPTIONS, WRAPPERS, SHELL_STATE, LOOKUPS, TRIVIAL, COMMON, RUNS_TARGETS, RUNS_SCRIPTS,
    PUBLISHING, GROUPS, LEAVES, WRAPPER_VALUES, SHOWS_TEXTS,
}

/// Words in the head of a command that tell what it is for, and the purpose.
pub const PURPOSES: &[(&str, &[&str])] = &[
    ("Build", &["build", "compile", "tsc"]),
    ("Test", &["bats", "jest", "nextest", "playwright", "pytest", "spec", "test", "tests", "vitest"]),
    (
        "Format and lint",
        &[
            "biome", "clippy", "eslint", "fmt", "format", "gofmt", "golangci-lint", "lint", "prettier", "ruff", "shellcheck",
            "typecheck", "vet",
        ],
    ),
    ("Run", &["dev", "serve", "start", "up"]),
    ("Debug", &["debug", "dlv", "gdb", "lldb", "trace"]),
    ("Release", &["deploy", "publish", "release"]),
];

/// Returns the purpose of a command by its head: the first one that a word of it names.
pub fn purpose_of(head: &str) -> Option<&'static str> {
    let words = || head.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    let program = words().next().unwrap_or_default();
    let is_named = |(_, names): &&(&str, &[&str])| words().any(|word| names.contains(&word));
    let is_other = matches!(program, "gh" | "git" | "glab") || is_trivial(head);
    PURPOSES.iter().find(is_named).map(|(purpose, _)| *purpose).filter(|_| !is_other)
}

/// Returns true for the head of a command that publishes the work of a session.
pub fn is_publishing(head: &str) -> bool {
    PUBLISHING.contains(&head)
}

/// Returns the heads of a shell command in order, as `git commit`, `gh pr view` or `mise run test`. Filters behind a pipe,
/// changes of the directory, assignments and wrappers such as `sudo` are skipped.
pub fn heads(command: &str) -> Vec<String> {
    simple_commands(command).iter().filter(|simple| !simple.is_piped).filter_map(head).collect()
}

/// Returns the head of a simple command; `None` if it runs no program.
pub fn head(simple: &SimpleCommand) -> Option<String> {
    let words = without_wrappers(&simple.words);
    let program = program(words)?;
    if SHELL_STATE.contains(&&*program) {
        return None;
    }
    let mut head = vec![program.as_str()];
    let rest = words.get(1..).unwrap_or_default();
    let script = script(&program, rest);
    if let Some(script) = &script {
        head.push(script);
    } else if WITH_SUBCOMMAND.contains(&&*program) {
        head.extend(subcommands(&program, rest));
    }
    Some(head.join(" "))
}

/// Returns true for a word before a program: a keyword of the shell or a program that runs its arguments.
pub fn is_wrapper(word: &str) -> bool {
    WRAPPERS.contains(&word)
}

/// Returns true if a program only looks for something.
pub fn is_lookup(program: &str) -> bool {
    LOOKUPS.contains(&program)
}

/// Returns true if a head says nothing about a project, as `ls`.
pub fn is_trivial(head: &str) -> bool {
    TRIVIAL.contains(&head.split(' ').next().unwrap_or_default())
}

/// Returns true if the output of a command with this head can be a text of others: a file, a log, a page.
pub fn shows_texts(head: &str) -> bool {
    is_trivial(head)
        || SHOWS_TEXTS.iter().any(|known| head.strip_prefix(known).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
}

/// Returns true if a head names something that the project defines: a target, a task, a script, a program of its own. A model knows others.
pub fn is_specific(head: &str) -> bool {
    let mut words = head.split(' ');
    let (program, second, third) = (words.next().unwrap_or_default(), words.next(), words.next());
    if RUNS_TARGETS.contains(&program) || program == "mise" {
        return second.is_some() && (program != "mise" || second == Some("run") && third.is_some());
    }
    let runs = |third: &str| RUNS_SCRIPTS.contains(&program) || program == "go" && third.starts_with("./");
    let names_target = second == Some("run") && third.is_some_and(runs);
    let runs_script = second.is_some_and(|script| script.contains('.') && !script.starts_with('-'));
    let is_generic = is_trivial(head) || COMMON.contains(&program);
    names_target || runs_script && RUNNERS.contains(&program) || !is_generic
}

/// Returns the words from the program on: without assignments, keywords and programs that run their arguments.
pub fn without_wrappers(words: &[Word]) -> &[Word] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let text = first.text.as_str();
        if is_assignment(text) {
            rest = after;
        } else if is_wrapper(text) {
            let mut skipped = 0;
            while let Some(option) = after.get(skipped).map(|word| word.text.as_str()).filter(|word| word.starts_with('-')) {
                skipped += 1 + usize::from(has_pair(&WRAPPER_VALUES, text, option));
            }
            // The first argument of `timeout` is a duration.
            let duration = usize::from(text == "timeout");
            rest = after.get(skipped + duration..).unwrap_or_default();
        } else {
            break;
        }
    }
    rest
}

/// Returns the program before the command that an error line names first, as `sudo` does when it asks for a password.
pub fn wrapper<'a>(simple: &'a SimpleCommand, line: &str) -> Option<&'a str> {
    let wrappers = simple.words.len() - without_wrappers(&simple.words).len();
    let names = simple.words.iter().take(wrappers).map(|word| word.text.as_str());
    names.filter(|name| is_wrapper(name)).find(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
}

/// Returns the name of the program: the last part of its path, or a path that starts with `./`.
fn program(words: &[Word]) -> Option<String> {
    let text = words.first()?.text.as_str();
    let name = if text.starts_with("./") { text } else { file_name(text) };
    let is_name = name.starts_with(|first: char| first.is_alphanumeric() || matches!(first, '.' | '_' | '[' | ']' | '}'))
        && name.chars().all(|character| is_name_character(character) || matches!(character, '[' | ']' | '}'));
    is_name.then(|| name.to_owned())
}

/// Returns the script or the module (`-m name`) that an interpreter runs.
fn script(program: &str, rest: &[Word]) -> Option<String> {
    if !RUNNERS.contains(&program) {
        return None;
    }
    let at = rest.iter().position(|word| word.text == "-m" || !word.text.starts_with('-'))?;
    // A script given as an argument (`-c`, `-e`) is a text.
    if rest[..at].iter().any(|word| matches!(word.text.as_str(), "-c" | "-e" | "-lc" | "--eval")) {
        return None;
    }
    let word = &rest[at];
    if word.text == "-m" {
        return rest.get(at + 1).map(|module| format!("-m {}", module.text));
    }
    let name = file_name(&word.text);
    (!word.is_text && is_name(name) && name.contains('.')).then(|| name.to_owned())
}

fn subcommands<'a>(program: &str, rest: &'a [Word]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if text == "--" {
            break;
        }
        if text.starts_with('-') {
            if found.is_empty() && VALUE_OPTIONS.contains(&text) {
                words.next();
            }
            continue;
        }
        if word.is_text || !is_name(text) {
            break;
        }
        found.push(text);
        let is_group = found.len() == 1
            && (has_pair(&GROUPS, program, text) || WITH_GROUPS.contains(&program) && !has_pair(&LEAVES, program, text));
        if !is_group {
            break;
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || matches!(first, '.' | '@' | '_'))
        && text.chars().all(is_name_character)
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '+' | '@' | ':' | '/')
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn has_pair(list: &[&str], first: &str, second: &str) -> bool {
    list.iter().any(|pair| pair.split_once(' ') == Some((first, second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_loop_are_no_commands() {
        let heads = heads("for f in a b; do [[ -f $f ]] || continue; make $f; break; done");
        let heads: Vec<&str> = heads.iter().map(String::as_str).filter(|head| !is_trivial(head)).collect();
        assert_eq!(heads, ["make"]);
    }

    #[test]
    fn heads_are_programs_and_subcommands() {
        let check = |command: &str, expected: &[&str]| assert_eq!(heads(command), expected, "{command}");
        check("cd /src/demo && mise run test:unit 2>&1 | tail -5", &["mise run test:unit"]);
        check("git -C ../other status; git commit -m 'two words'", &["git status", "git commit"]);
        check("gh pr view 12 --json title", &["gh pr view"]);
        check("gh api repos/a/b", &["gh api"]);
        check("RUST_LOG=debug sudo -E timeout 60 cargo test -q name", &["cargo test"]);
        check("env -u TERM -i A=b nice -n 5 cargo test; sudo -u me -n make all", &["cargo test", "make all"]);
        check("npm run build -- --watch", &["npm run build"]);
        check("npx tsc --noEmit", &["npx tsc"]);
        check("python3 -m pytest tests", &["python3 -m pytest"]);
        check("python3 tools/check.py a", &["python3 check.py"]);
        check("python3 -c 'print(1)'", &["python3"]);
        check("./scripts/run.sh x && target/debug/demo --help", &["./scripts/run.sh", "demo"]);
        check("for f in a b; do wc -l $f; done", &["wc"]);
        check("if make check; then echo ok; fi", &["make check", "echo"]);
        check("X=1", &[]);
        check("go run ./cmd/demo && go mod tidy", &["go run ./cmd/demo", "go mod tidy"]);
        check("docker compose up -d", &["docker compose up"]);
        check("$TOOL run", &[]);
        check("pnpm --filter web test", &["pnpm test"]);
    }

    #[test]
    fn a_wrapper_can_fail_itself() {
        let check = |command: &str, line: &str, expected: Option<&str>| {
            assert_eq!(wrapper(&simple_commands(command)[0], line), expected, "{command}");
        };
        check("sudo -n cat x", "sudo: a password is required", Some("sudo"));
        check("sudo cat x", "cat: x: denied", None);
        check("cat sudo", "sudo: a password is required", None);
    }

    #[test]
    fn trivial_heads_are_known() {
        assert!(is_trivial("ls") && is_trivial("sed"));
        assert!(!is_trivial("git push"));
        for head in
            ["mise run test", "make check", "python3 check.py", "./x.sh", "npm run build", "openspec validate", "go run ./cmd/a"]
        {
            assert!(is_specific(head), "{head}");
        }
        for head in [
            "gh run list", "docker run a", "git push", "gh pr view", "cargo test", "ls", "mise ls", "make", "python3", "curl",
            "whoami",
        ] {
            assert!(!is_specific(head), "{head}");
        }
    }
}
