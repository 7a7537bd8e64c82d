//! Generated files and documentation match the program: man pages, completions, the command reference, the command lines and paths
//! in documents and help texts. `UPDATE_EXPECT=1 cargo test` updates the generated files.

use crate::sandbox::{Sandbox, repository, skipped};
use aperture::commands::{CommandLine, Request, completions, definition, help::help_topic, with_globals_in_a_line};
use clap::error::ErrorKind;
use clap::{Command, ValueEnum};
use clap_complete::{Generator, Shell};
use std::collections::BTreeSet;
use std::fs;

/// Documents whose command lines must parse and whose paths must exist.
const DOCUMENTS: &[&str] = &[
    "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "SHORTCOMINGS.md", "CHANGELOG.md", "docs/concepts.md",
    "docs/guide.md", "docs/guide/ci.md", "docs/guide/find.md", "docs/guide/live.md", "docs/guide/look.md",
    "docs/guide/make-room.md", "docs/guide/remember.md", "docs/guide/settings.md", "docs/guide/share.md", "docs/internals.md",
    "docs/jobs.md", "docs/limits.md",
];

/// Examples of help texts that cannot be run as yet; each must go from here when it can.
const KNOWN: &[&str] = &[];

/// The definition with everything that clap derives from it, at a fixed width, and with `aperture help` as it is; and the same with
/// the commands as their help shows them.
fn built() -> [Command; 2] {
    [definition(), with_globals_in_a_line(definition())].map(|definition| {
        let mut command = definition.term_width(80);
        command.build();
        command
    })
}

/// The commands that a user sees.
fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Compares the files of a folder with the generated ones, or writes them if `UPDATE_EXPECT` is set. A folder with only generated
/// files (`whole`) must not contain others.
pub fn check(folder: &str, whole: bool, generated: Vec<(String, Vec<u8>)>) {
    let directory = repository().join(folder);
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let names: BTreeSet<String> = generated.iter().map(|(name, _)| name.clone()).collect();
    for (name, content) in generated {
        let path = directory.join(&name);
        if fs::read(&path).is_ok_and(|found| normal(&found) == normal(&content)) {
            continue;
        }
        assert!(update, "{folder}/{name} is not what is generated: run UPDATE_EXPECT=1 cargo test");
        fs::create_dir_all(&directory).unwrap();
        fs::write(path, content).unwrap();
    }
    for entry in fs::read_dir(&directory).unwrap().filter(|_| whole) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !names.contains(&name) {
            assert!(update, "{folder}/{name} is not generated any more: run UPDATE_EXPECT=1 cargo test");
            fs::remove_file(path).unwrap();
        }
    }
}

/// Text whose lines end as git writes them on any platform.
fn normal(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != b'\r').collect()
}

#[test]
fn man_pages_are_fresh() {
    let [root, commands] = built();
    let page = |command: &Command| {
        let man = clap_mangen::Man::new(command.clone());
        let mut page = Vec::new();
        man.render(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap().replacen(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n", 1);
        (man.get_filename(), page.replacen(".SH EXTRA\n", ".SH NOTES\n.nf\n", 1).into_bytes())
    };
    let mut all = vec![&root];
    let mut next: Vec<&Command> = visible(&commands).collect();
    while let Some(command) = next.pop() {
        all.push(command);
        next.extend(visible(command).filter(|command| command.get_name() != "help"));
    }
    check("man", true, all.into_iter().map(page).collect());
}

#[test]
fn completions_are_fresh() {
    let script = |shell: &Shell| (shell.file_name("aperture"), completions::script(*shell).into_bytes());
    check("completions", true, Shell::value_variants().iter().map(script).collect());
}

#[test]
fn the_command_reference_is_fresh() {
    let [mut root, commands] = built();
    let mut text = String::from(
        "# Commands\n\nGenerated from the program's own definitions; `aperture help COMMAND` prints the same.\n\n## aperture\n",
    );
    text.push_str(&fenced(&root.render_long_help().to_string()));
    for command in visible(&commands) {
        text.push_str(&format!("\n## aperture {}\n", command.get_name()));
        text.push_str(&fenced(&command.clone().render_long_help().to_string()));
    }
    for name in ["selectors", "lifecycle", "settings", "bulk", "clients"] {
        text.push_str(&format!("\n## aperture help {name}\n"));
        text.push_str(&fenced(&help_topic(name).unwrap()));
    }
    check("docs", false, vec![("commands.md".to_owned(), text.into_bytes())]);
}

fn fenced(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    format!("\n```text\n{}\n```\n", lines.join("\n"))
}

/// A command line split as a shell does, up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '|' | '<' | '>' | ';') => break,
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The program's own arguments in a line that runs it; `None` for any other line.
fn arguments(line: &str) -> Option<Vec<String>> {
    let words = words(line.trim().trim_start_matches("$ "));
    match words.first().map(String::as_str) {
        Some("aperture") => Some(words),
        Some("cargo") if words.get(1).is_some_and(|word| word == "run") => {
            let at = words.iter().position(|word| word == "--")?;
            Some(std::iter::once("aperture".to_owned()).chain(words[at + 1..].iter().cloned()).collect())
        }
        _ => None,
    }
}

/// Why a command line cannot be used, if so.
fn fault(words: &[String]) -> Option<String> {
    let error = match CommandLine::try_parse_from(words) {
        Ok(_) => return None,
        Err(error) if !error.use_stderr() => return None,
        // A command that is spoken of, not run.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument && words.len() == 2 => return None,
        Err(error) => error,
    };
    Some(format!("{}: {}", words.join(" "), error.to_string().lines().next().unwrap_or_default()))
}

/// The command lines of a document: in code blocks, and in spans of code that begin with the program's name.
fn command_lines(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut language: Option<&str> = None;
    for line in text.lines() {
        if let Some(fence) = line.trim().strip_prefix("```") {
            language = if language.is_some() { None } else { Some(fence) };
        } else if let Some(language) = language {
            // Program output may start with its name too: in a console block, only lines after a `$` are run.
            if language == "sh" || (language == "console" && line.starts_with("$ ")) {
                found.extend(arguments(line));
            }
        } else {
            found.extend(spans(line).iter().filter_map(|span| arguments(span)));
        }
    }
    found
}

/// The spans of code of a line.
fn spans(line: &str) -> Vec<String> {
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn documents_name_commands_that_exist() {
    let mut faults = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(repository().join(document)).unwrap();
        faults.extend(command_lines(&text).iter().filter_map(|words| fault(words)).map(|fault| format!("{document}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn examples_in_help_texts_can_be_run() {
    let mut root = CommandLine::command();
    root.build();
    let mut faults = Vec::new();
    let mut examples = 0;
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter(|line| line.starts_with("  aperture")) {
            // The explanation follows two spaces.
            let line = line.trim().split("  ").next().unwrap_or_default();
            examples += 1;
            faults.extend(fault(&words(line)));
        }
    }
    assert!(examples > 10);
    let known = |fault: &String| KNOWN.iter().any(|known| fault.starts_with(known));
    assert_eq!(faults.iter().filter(|fault| known(fault)).count(), KNOWN.len(), "KNOWN names an example that can be run");
    faults.retain(|fault| !known(fault));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Command lines with the arguments that no example has.
const OTHERS: &[&str] = &[
    "aperture sessions text --project /p --model opus --client codex --newer 12h --older 1w --larger 500k --fuller 80% --empty",
    "aperture sessions --subagents --limit 0 --sort full --reverse",
    "aperture compress 12 -n --stat",
    "aperture archive 12 --dry-run --full",
    "aperture usage --by day --since 20261101 --until 2026-11-30 --client codex --model opus",
    "aperture blocks --sort heat -- '--json | 3'",
    "aperture transcript 6666 --headers --client-texts",
    "aperture compress 12 --budget 12.5% --preset handoff --level trimmed --keep-from 9 --live --keep-thinking -n",
    "aperture compress --over-budget",
    "aperture pin 12 --bottom",
    "aperture update 12 --live -- --text",
    "aperture archive 3 --reason=-x",
    "aperture redact 12 --forget --yes",
    "aperture redact 'kind(text)' --project=/p --allow-empty",
    "aperture compress 12 --all",
    "aperture snapshot show a",
    "aperture stage 'a b'",
    "aperture stage --clear",
    "aperture snapshot delete -- -a",
    "aperture memory list --state pending --kind fact --file gotchas --json-lines --project /p",
    "aperture memory review --merge 4 5 --dry-run",
    "aperture memory review --accept 4 --accept 5",
    "aperture memory forget --everything --user",
    "aperture memory undo 3",
    "aperture preset show",
    "aperture diff a b --full",
    "aperture recall 'a \"b\"' --max-tokens 3k --project --inject",
    "aperture recall a --turns 3,7..9 --as full --priority specific",
    "aperture watch --apply-policy --live --for 1.5 --until-idle 2",
    "aperture check a b --max-tokens 1k --max-percent 12.5 --max-stale 0 --format junit",
    "aperture gc --older-than 5w --gone",
    "aperture git-hook pre-push origin url",
    "aperture job",
    "aperture complete -- blocks st",
    "aperture show 3 4..5 'stale & error'",
    "aperture util placeholders a b",
    "aperture uninstall git-hook --post-commit -n",
];

#[test]
fn requests_go_to_json_and_back() {
    let [root, _] = built();
    let helps: Vec<String> = root.get_subcommands().filter_map(|command| Some(command.get_after_help()?.to_string())).collect();
    let examples = helps.iter().flat_map(|help| help.lines()).filter(|line| line.starts_with("  aperture"));
    // The explanation follows two spaces.
    let examples = examples.map(|line| line.trim().split("  ").next().unwrap_or_default());
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for line in examples.chain(OTHERS.iter().copied()) {
        let Some(request) = CommandLine::try_parse_from(words(line)).unwrap().request else { continue };
        let json = serde_json::to_string(&request).unwrap();
        let back: Request = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{line}: {json}: {error}"));
        assert_eq!(back, request, "{line}: {json}");
        let typed = CommandLine::try_parse_from(words(&format!("aperture {}", request.line()))).unwrap().request;
        assert_eq!(typed, Some(request.clone()), "{line}: {}", request.line());
        names.insert(request.name());
    }
    let all: BTreeSet<&str> = root.get_subcommands().map(Command::get_name).collect();
    assert_eq!(names, all);
}

#[test]
fn json_of_requests_is_that_of_what_is_given() {
    let check = |line: &str, expected: serde_json::Value| {
        let request = CommandLine::try_parse_from(words(line)).unwrap().request.unwrap();
        assert_eq!(serde_json::to_value(&request).unwrap(), expected, "{line}");
    };
    use serde_json::json;
    check("aperture status", json!({"status": {}}));
    check("aperture blocks", json!({"blocks": {}}));
    check("aperture summary 6666 --turns 3..", json!({"summary": {"session": "6666", "turns": "3.."}}));
    check("aperture archive 3..9 -n", json!({"archive": {"selector": "3..9", "dry_run": true}}));
    check("aperture archive 3..9 12", json!({"archive": {"selector": ["3..9", "12"]}}));
    check("aperture compress --stale --preset light", json!({"compress": {"stale": true, "preset": "light"}}));
    check("aperture snapshot list", json!({"snapshot": {"action": "list"}}));
    check("aperture snapshot save a", json!({"snapshot": {"action": {"save": {"name": "a"}}}}));
    check("aperture install claude-code", json!({"install": {"action": {"claude-code": {}}}}));
    check("aperture check a b", json!({"check": {"sessions": ["a", "b"]}}));
    check("aperture approve 3 4", json!({"approve": {"numbers": [3, 4]}}));
}

#[test]
fn json_that_is_no_request_is_refused() {
    let check = |json: &str, expected: &str| {
        let error = serde_json::from_str::<Request>(json).unwrap_err().to_string();
        assert!(error.contains(expected), "{json}: {error}");
    };
    check("{}", "a request is one command");
    check(r#"{"status": {}, "blocks": {}}"#, "a request is one command");
    check(r#"{"statu": {}}"#, "there is no command 'statu'");
    check(r#"{"status": {"sesion": "1"}}"#, "there is no argument 'sesion'");
    check(r#"{"show": {}}"#, "the argument 'selector' is missing");
    check(r#"{"show": {"selector": "3", "raw": "yes"}}"#, "the argument 'raw' must be true or false");
    check(r#"{"show": {"selector": {"3": 4}}}"#, "the argument 'selector' must be a text or a number");
    check(r#"{"update": {"selector": ["3"], "text": "a"}}"#, "the argument 'selector' must be a text or a number");
    check(r#"{"diff": {"to": 2}}"#, "the argument 'to' needs 'from'");
    check(r#"{"compress": {}}"#, "say what to compress: --stale");
    check(r#"{"pin": {"selector": "3", "top": true, "bottom": true}}"#, "cannot be used with");
    check(r#"{"blocks": {"sort": "colour"}}"#, "invalid value 'colour'");
    check(r#"{"snapshot": {"action": "svae"}}"#, "there is no command 'svae'");
}

#[test]
fn documents_name_files_that_exist() {
    let folders = ["src/", "tests/", "fixtures/", "docs/", "man/", "completions/", "fuzz/", "benches/", ".ci/", "packaging/"];
    let mut faults = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(repository().join(document)).unwrap();
        let mut named: BTreeSet<String> = BTreeSet::new();
        for line in text.lines() {
            let spans = spans(line).into_iter().flat_map(|span| words(&span));
            named.extend(spans.filter(|word| folders.iter().any(|folder| word.starts_with(folder))));
            for link in line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                // Links are relative to the document.
                let folder = document.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
                named.extend((!link.is_empty() && !link.contains(':')).then(|| folder + link));
            }
            named.extend(words(line).into_iter().filter(|word| word.starts_with("fixtures/")));
        }
        // Patterns and placeholders for any name.
        named.retain(|path| !path.contains(['*', '<', '…', '{']));
        faults.extend(named.iter().filter(|path| !repository().join(path).exists()).map(|path| format!("{document}: {path}")));
    }
    assert!(faults.is_empty(), "these do not exist:\n{}", faults.join("\n"));
}

/// Returns a document with the current output of the program in its console blocks. `cp FROM TO` in a code block copies a file of
/// the repository into the working directory of the console blocks.
fn replayed(text: &str, sandbox: &Sandbox) -> String {
    let mut replayed = String::new();
    let mut language = None;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(name) => language = Some(name).filter(|_| language.is_none()),
            None if language == Some("console") && !line.starts_with("$ ") => continue,
            None => {}
        }
        replayed.push_str(line);
        replayed.push('\n');
        if let ["cp", from, to] = *line.split(' ').collect::<Vec<_>>() {
            sandbox.write(to, fs::read(repository().join(from)).unwrap());
        }
        if let Some(words) = arguments(line).filter(|_| language == Some("console")) {
            let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            replayed.push_str(&sandbox.columns_text(&words, 100));
        }
    }
    replayed
}

/// Checks the screens of a document, or replaces them if `UPDATE_EXPECT` is set.
fn check_screens(document: &str) {
    let path = repository().join(document);
    let text = fs::read_to_string(&path).unwrap().replace('\r', "");
    assert!(text.contains("\n```console\n$ aperture "), "{document} has no screens");
    let sandbox = Sandbox::new();
    let screens = replayed(&text, &sandbox);
    // Each command succeeds: a reader can run the examples again.
    replayed(&text, &sandbox);
    if text != screens && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, screens).unwrap();
    } else {
        assert!(text == screens, "{document} has outdated screens: run UPDATE_EXPECT=1 cargo test");
    }
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    check_screens("README.md");
}

#[test]
fn the_guide_shows_what_the_program_prints() {
    check_screens("docs/guide/look.md");
    check_screens("docs/guide/make-room.md");
}

/// The picture of the screen, for `docs/pictures.sh`.
#[test]
fn a_captured_screen_becomes_a_picture() {
    let Some(path) = std::env::var_os("APERTURE_SCREEN") else { return skipped("APERTURE_SCREEN is not set") };
    let picture = anstyle_svg::Term::new().render_svg(&fs::read_to_string(path).unwrap());
    fs::write(repository().join("docs/tui.svg"), picture).unwrap();
}

/// The picture in README.md: the output of `aperture status` with colours.
#[test]
fn the_picture_is_fresh() {
    let sandbox = Sandbox::new();
    sandbox.write("demo.jsonl", fs::read(repository().join("fixtures/score/one-place-for-numbers.jsonl")).unwrap());
    let screen = sandbox.columns_text(&["--color", "always", "status", "demo.jsonl"], 92);
    assert!(screen.contains('\u{1b}'), "no colours");
    let picture = anstyle_svg::Term::new().render_svg(&screen);
    check("docs", false, vec![("status.svg".to_owned(), picture.into_bytes())]);
}

#[test]
fn lines_are_split_as_a_shell_does() {
    let check = |line: &str, expected: &[&str]| assert_eq!(words(line), expected, "{line}");
    check(
        "aperture blocks 'stale & larger(2k)' --sort tokens # all",
        &["aperture", "blocks", "stale & larger(2k)", "--sort", "tokens"],
    );
    check("aperture show '#12 | #14' | head", &["aperture", "show", "#12 | #14"]);
    check("aperture show 12 --raw > a.txt", &["aperture", "show", "12", "--raw"]);
    assert_eq!(arguments("cargo run --release -- status a").unwrap(), ["aperture", "status", "a"]);
}
