//! Output of commands: builds, tests, logs, stack traces. Lines that only repeat a form count once, frames of libraries little.

use super::cause::Causes;
use super::lines::{lines, visible, without_number};
use super::nesting::nest;
use super::outcome::failed_test;
use super::piece::pieces_of_line;
#[cfg(test)]
use super::piece::salience;
use super::salience::Style;
use super::{Piece, Reducible, json};
use crate::engine::summary::looks_up;
use crate::model::{BlockKind, ToolVerb, starts_with_any};
use crate::text::errors::is_end_of_program;
use rustc_hash::FxHashSet;
use serde_json::Value;
use std::borrow::Cow;

/// Parts of the paths of code that is not the user's own.
const LIBRARIES: &[&str] = &[
    "node_modules/", "site-packages/", "/rustc/", ".cargo/registry", "/usr/lib/", "/usr/lib64/", "/lib/python3", "node:internal",
    "java.base/", "go/pkg/mod/",
];
const FRAMES: &[&str] = &["at ", "File \"", "in ", "from "];
/// Prefixes of lines with which tools report progress or name their own help, and suffixes of those that report a success among many,
/// or that a package has no tests.
const PROGRESS: &[&str] = &[
    "=== RUN ", "=== PAUSE ", "=== CONT ", "--- PASS: ", "Compiling ", "Checking ", "Downloading ", "Downloaded ", "Unpacking ",
    "Fetching ", "Installing ", "Collecting ", "Using cached ", "Get:", "Preparing to unpack ", "Selecting previously ",
    "Finished ", "[command]", "##[endgroup]", "Download action ", "go: downloading ", "note: run with `RUST_",
    "For more information ",
];
const SUCCESS: &[&str] = &[" ... ok", " ... ignored", "[no test files]"];
const PASSED_PACKAGE: &str = "ok  \t";
/// Salience of the first line that says why a program ended.
const FIRST_FAILURE: f32 = 0.03;
/// Salience of the cause of a failure, and of an address as the last line.
const CAUSE: f32 = 0.005;
const RESULT: f32 = 0.003;
/// Bytes of a line from which on JSON in it is taken apart.
const JSON_BYTES: usize = 400;

/// Returns true for the output of a program.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    input.kind == BlockKind::ToolResult && Style::detect(input) == Style::Output
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut forms: FxHashSet<String> = FxHashSet::default();
    let mut step: Option<(String, usize)> = None;
    let mut has_failed = false;
    let all: Vec<(Option<String>, Cow<'a, str>)> = lines(input.content).into_iter().map(apart).collect();
    let of_libraries = of_libraries(&all);
    let is_log = all.iter().any(|(step, _)| step.is_some());
    let mut is_setup = false;
    let mut causes =
        (is_log || is_of_program(input)).then(|| Causes::new(all.iter().any(|(_, line)| failed_test(line).is_some())));
    for ((name, line), of_library) in all.into_iter().zip(of_libraries) {
        if name.is_none() || name.as_ref() != step.as_ref().map(|(known, _)| known) {
            step = name.map(|name| (name, pieces.len()));
            pieces.extend(step.iter().map(|(name, _)| Piece { lines: 0, ..Piece::line(Cow::Owned(name.clone())) }));
        }
        if let Some((before, value)) = value_in(&line) {
            let heading = (!before.is_empty()).then_some(pieces.len());
            pieces.extend(heading.map(|_| Piece::line(Cow::Owned(before.to_owned()))));
            let mut values = json::Values { input, pieces };
            values.collect(&value, "", heading, 1, false);
            pieces = values.pieces;
            continue;
        }
        let text = line.trim();
        let again = of_library || !forms.insert(form(text));
        // The runner of a log prints its own settings in groups.
        is_setup = is_log && !text.starts_with("##[endgroup]") && (is_setup || text.starts_with("##[group]"));
        let is_success = own_text(text).starts_with(PASSED_PACKAGE) || SUCCESS.iter().any(|end| text.ends_with(end));
        let is_progress = is_setup || is_success || is_progress(text);
        let nameless = of_library || is_progress;
        let is_failure = !again && is_end_of_program(text) && !std::mem::replace(&mut has_failed, true);
        causes.iter_mut().filter(|_| starts_with_any(text, FRAMES)).for_each(Causes::close);
        let is_cause = !again && !is_progress && causes.as_mut().is_some_and(|causes| causes.take(&line));
        pieces.extend(pieces_of_line(line, Style::Output).into_iter().map(|piece| Piece {
            salience: match () {
                () if is_failure => FIRST_FAILURE,
                () if is_cause => CAUSE,
                () if again => piece.salience / 4.0,
                () => piece.salience,
            },
            again,
            nameless,
            under: step.as_ref().map(|(_, place)| *place),
            ..piece
        }));
    }
    nest(&mut pieces);
    let last = pieces.iter_mut().rfind(|piece| !piece.text.trim().is_empty());
    if let Some(last) = last.filter(|last| causes.is_some() && is_address(last.text.trim())) {
        last.salience = RESULT;
    }
    pieces
}

/// Returns true if a line of an output only reports progress.
pub fn is_progress(line: &str) -> bool {
    starts_with_any(own_text(line.trim()), PROGRESS)
}

/// True for the output of a command that does not only look something up.
pub(super) fn is_of_program(input: &Reducible<'_>) -> bool {
    input.tool.is_some_and(|tool| tool.verb == ToolVerb::Run && !looks_up(tool, &tool.target))
}

/// True for a line that is only the address of something, such as the page of what a program made.
fn is_address(line: &str) -> bool {
    line.starts_with("https://") && !line.contains(char::is_whitespace)
}

/// Returns a line without the name of its task, which a runner of tasks puts before each line of an output.
pub fn own_text(line: &str) -> &str {
    line.strip_prefix('[').and_then(|rest| Some(rest.split_once("] ")?.1.trim_start())).unwrap_or(line)
}

/// Returns the step of a line in a log and the rest of the line; no step for any other line.
fn apart(line: Cow<'_, str>) -> (Option<String>, Cow<'_, str>) {
    let logged = logged(&line).map(|(step, text)| (step.to_owned(), visible(&text.replace("^[", "\u{1b}")).into_owned()));
    logged.map_or((None, line), |(name, text)| (Some(name), Cow::Owned(text)))
}

/// Returns which lines are frames of libraries: the frame with its place, its number and name before it, and its source behind it.
fn of_libraries(lines: &[(Option<String>, Cow<'_, str>)]) -> Vec<bool> {
    let mut found: Vec<bool> = Vec::with_capacity(lines.len());
    let mut before = false;
    for (place, (_, line)) in lines.iter().enumerate() {
        let text = line.trim();
        let is_frame = starts_with_any(text, FRAMES);
        let is_source = before && !is_frame && line.starts_with("    ");
        before = is_frame && LIBRARIES.iter().any(|part| text.contains(part));
        found.push(before || is_source);
        let is_name = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if before && place > 0 && is_name(&lines[place - 1].1) {
            found[place - 1] = true;
        }
    }
    found
}

/// Returns the job with its step and the text of a line in the log of a CI run, which separates them by tabs and a time.
fn logged(line: &str) -> Option<(&str, &str)> {
    let (at, _) = line.match_indices('\t').nth(1)?;
    let rest = line[at + 1..].trim_start_matches('\u{feff}');
    let (time, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_time = time.ends_with('Z') && time.as_bytes().get(10) == Some(&b'T') && time.starts_with(|c: char| c.is_ascii_digit());
    is_time.then_some((&line[..at], text))
}

/// Returns the object or the list at the end of a long line, and the text before it.
fn value_in(line: &str) -> Option<(&str, Value)> {
    let start = line.find(['{', '[']).filter(|_| line.len() >= JSON_BYTES && line.ends_with(['}', ']']))?;
    let value: Value = serde_json::from_str(&line[start..]).ok()?;
    (value.is_object() || value.is_array()).then(|| (line[..start].trim(), value))
}

/// Marks the pieces that only repeat the form of an earlier one, such as the lines of a log that was read as a file.
pub(super) fn mark_repeated(pieces: &mut [Piece<'_>]) {
    let mut forms: FxHashSet<String> = FxHashSet::default();
    for piece in pieces {
        let text = without_number(&piece.text).trim();
        piece.again = text.bytes().any(|byte| byte.is_ascii_digit()) && !forms.insert(form(text));
    }
}

/// Returns a line without the parts that differ between lines of one form: its numbers, and the digits of its hashes.
fn form(line: &str) -> String {
    let mut form = String::with_capacity(line.len());
    for c in line.chars() {
        match c.is_ascii_digit() {
            true if form.ends_with('0') => {}
            true => form.push('0'),
            false => form.push(c),
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::reduce::{KeptPieces, outline};
    use crate::model::{Conventions, Tool};

    #[test]
    fn lines_of_one_form_count_once() {
        let tool = Tool::new("Bash", ToolVerb::Run, "cargo test");
        let content = "step 1 of 20\nstep 12 of 20\nerror: no\n    at main (/a/node_modules/x.js:1:2)\nstep by step";
        let input = Reducible { tool: Some(&tool), ..input(content) };
        let again: Vec<bool> = pieces(&input).iter().map(|piece| piece.again).collect();
        assert_eq!(again, [false, true, false, true, false]);
        let saliences: Vec<f32> = pieces(&self::input("error: no\nerror: none")).iter().map(|piece| piece.salience).collect();
        assert_eq!(saliences, [FIRST_FAILURE, salience("error: none", Style::Output)]);
    }

    fn input(content: &str) -> Reducible<'_> {
        Reducible::plain(BlockKind::ToolResult, content)
    }

    #[test]
    fn the_log_of_a_run_has_its_cause_and_no_settings_of_its_runner() {
        let line = |text: &str| format!("build\tRun make\t2026-01-02T10:00:00.000Z {text}\n");
        let texts = ["##[group]Runner", "Secret source: shop", "##[endgroup]", "failures:", "    till::tax"];
        let content: String = texts.into_iter().map(line).collect();
        let tool = Tool::new("Bash", ToolVerb::Run, "gh run view 7 --log-failed");
        let input = Reducible { tool: Some(&tool), ..Reducible::plain(BlockKind::ToolResult, &content) };
        let found = pieces(&input);
        let of = |text: &str| found.iter().find(|piece| piece.text.contains(text)).unwrap();
        assert!(of("Secret source").nameless && of("##[group]").nameless && !of("till::tax").nameless);
        assert_eq!(of("till::tax").salience, CAUSE);
    }

    #[test]
    fn lines_of_the_log_of_a_run_are_under_their_step() {
        let log = "job\tBuild it\t2026-07-07T12:52:16.90Z make all\njob\tBuild it\t2026-07-07T12:52:17.10Z \n\
            job\tTest\t\u{feff}2026-07-07T12:53:17.10Z ^[[31merror:^[[0m no such test\nend\ta\tb";
        let pieces = pieces(&input(log));
        let read: Vec<(&str, Option<usize>)> = pieces.iter().map(|piece| (&*piece.text, piece.under)).collect();
        let expected = [
            ("job\tBuild it", None),
            ("make all", Some(0)),
            ("", Some(0)),
            ("job\tTest", None),
            ("error: no such test", Some(3)),
            ("end\ta\tb", None),
        ];
        assert_eq!(read, expected);
        assert_eq!(pieces[4].salience, FIRST_FAILURE);
    }

    #[test]
    fn lines_of_progress_have_no_names() {
        let content = "Chunk ID: a1b2c3\nWall time: 0.2 seconds\nProcess exited with code 1\nOutput:\n   Compiling a_b v1.0.0\n[lint]    Checking a_b v1\ntest a_b ... ok\nab_cd";
        let conventions = Conventions {
            envelope_lines: vec!["Chunk ID: ", "Wall time: ", "Process exited with code 0"],
            envelope_titles: vec!["Output:"],
            ..Conventions::default()
        };
        let input = Reducible { conventions: &conventions, ..input(content) };
        let outline = outline(&input).unwrap();
        let nameless: Vec<bool> = outline.texts().flatten().map(|piece| piece.nameless).collect();
        assert_eq!(nameless, [true, true, false, true, true, true, true, false]);
    }

    #[test]
    fn the_exit_code_of_a_failed_call_stays_with_its_lines() {
        let conventions = Conventions {
            envelope_lines: vec!["Chunk ID: ", "Process exited with code 0"],
            envelope_titles: vec!["Output:"],
            ..Conventions::default()
        };
        let long = "a line that is left out, of some length, and longer than the mark that is in its place";
        for (content, expected) in [
            ("Exit code 2\nLONG\nerror: no", "Exit code 2\n…\nerror: no"),
            ("Chunk ID: 1\nProcess exited with code 2\nOutput:\nerror: no", "Process exited with code 2\nerror: no"),
            ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nall is well", "all is well"),
            ("LONG\nExit code 0\nerror: no", "…\nerror: no"),
            ("Exit code 2\n   Compiling a_b v1\nerror: no", "Exit code 2\n…\nerror: no"),
        ] {
            let content = content.replace("LONG", long);
            let outline = outline(&Reducible { conventions: &conventions, ..input(&content) }).unwrap();
            let mut kept = KeptPieces::none(outline.texts().flatten().count());
            *kept.pieces.last_mut().unwrap() = true;
            assert_eq!(outline.rendered(&content, &[kept], "").unwrap(), expected);
        }
    }

    #[test]
    fn the_cause_of_a_failure_and_the_result_of_a_program_weigh_more() {
        let tool = Tool::new("Bash", ToolVerb::Run, "make all");
        let lookup = Tool::new("Bash", ToolVerb::Run, "cat log.txt");
        let content = "--- FAIL: TestTill (0.01s)\n    till_test.go:7: price = 2, want 3\nFAIL\nhttps://a.b/c/7";
        let weights = |tool| -> Vec<f32> {
            let input = Reducible { tool: Some(tool), ..input(content) };
            pieces(&input).iter().map(|piece| piece.salience).collect()
        };
        let error = salience("error: none", Style::Output);
        assert_eq!(weights(&tool), [error, CAUSE, error, RESULT]);
        assert_eq!(weights(&lookup), [error, 0.0, error, 0.0]);
    }

    #[test]
    fn frames_of_libraries_have_no_names() {
        let content = "stack backtrace:\n   0: core::panicking::panic\n             at /rustc/a1/library/core/src/panicking.rs:9:5\n   1: till::price\n             at ./src/till.rs:4:9";
        let nameless: Vec<bool> = pieces(&input(content)).iter().map(|piece| piece.nameless).collect();
        assert_eq!(nameless, [false, true, true, false, false]);
    }

    #[test]
    fn the_source_of_a_frame_of_a_library_goes_with_it() {
        let content = "  File \"/usr/lib64/python3/a.py\", line 3, in load\n    return parse(x)\n  File \"b.py\", line 1, in <module>\n    main()";
        let again: Vec<bool> = pieces(&input(content)).iter().map(|piece| piece.again).collect();
        assert_eq!(again, [true, true, false, false]);
    }

    #[test]
    fn json_in_a_long_line_is_taken_apart() {
        let link = |name: &str| format!(r#"{{"title":"{name}","url":"https://a.b/{}"}}"#, name.repeat(30));
        let content = format!("found\nLinks: [{},{},{}]\nthe end", link("aaaaa"), link("bbbbb"), link("ccccc"));
        let pieces = pieces(&input(&content));
        assert_eq!((pieces.len(), &*pieces[1].text, pieces[3].under), (7, "Links:", Some(2)));
        assert!(pieces[3].text.trim().starts_with("- title: aaaaa, url: https://a.b/aaaaa"), "{}", pieces[3].text);
    }
}
