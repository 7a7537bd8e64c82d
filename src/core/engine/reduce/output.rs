//! Output of commands: builds, tests, logs, stack traces. Lines that only repeat a form count once, frames of libraries little.

use super::lines::{lines, visible, without_number};
use super::nesting::nest;
use super::piece::pieces_of_line;
#[cfg(test)]
use super::piece::salience;
use super::salience::Style;
use super::{Piece, Reducible, json};
use crate::model::{BlockKind, Conventions, starts_with_any};
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
/// Lines at the beginning of a result among which are those that the client adds.
const ENVELOPE_LINES: usize = 6;
/// Prefixes of lines with which tools report progress, and suffixes of those that report a success among many,
/// or that a package has no tests.
const PROGRESS: &[&str] = &[
    "=== RUN ", "=== PAUSE ", "=== CONT ", "--- PASS: ", "ok  \t", "Compiling ", "Checking ", "Downloading ", "Downloaded ",
    "Unpacking ", "Fetching ", "Installing ", "Collecting ", "Using cached ", "Get:", "Preparing to unpack ",
    "Selecting previously ",
];
const SUCCESS: &[&str] = &[" ... ok", " ... ignored", "[no test files]"];
/// Salience of the first line that says why a program ended.
const FIRST_FAILURE: f32 = 0.03;
/// Bytes of a line from which on JSON in it is taken apart.
const JSON_BYTES: usize = 400;

/// Returns true for the output of a program.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    input.kind == BlockKind::ToolResult && Style::detect(input) == Style::Output
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut forms: FxHashSet<String> = FxHashSet::default();
    let mut library = false;
    let mut step: Option<(String, usize)> = None;
    let mut has_failed = false;
    for line in lines(input.content) {
        let logged = logged(&line).map(|(step, text)| (step.to_owned(), visible(&text.replace("^[", "\u{1b}")).into_owned()));
        let (name, line) = logged.map_or((None, line), |(name, text)| (Some(name), Cow::Owned(text)));
        if name.is_none() || name.as_ref() != step.as_ref().map(|(known, _)| known) {
            step = name.map(|name| (name, pieces.len()));
            pieces.extend(step.iter().map(|(name, _)| Piece { lines: 0, ..Piece::line(Cow::Owned(name.clone())) }));
        }
        if let Some((before, value)) = value_in(&line) {
            let heading = (!before.is_empty()).then_some(pieces.len());
            pieces.extend(heading.map(|_| Piece::line(Cow::Owned(before.to_owned()))));
            json::collect(&value, "", heading, 1, false, &mut pieces);
            continue;
        }
        let text = line.trim();
        let frame = FRAMES.iter().any(|start| text.starts_with(start));
        // The line of the source that a frame is at follows it.
        let source = library && !frame && line.starts_with("    ");
        library = frame && LIBRARIES.iter().any(|part| text.contains(part));
        let again = library || source || !forms.insert(form(text));
        let nameless = starts_with_any(own_text(text), PROGRESS) || SUCCESS.iter().any(|end| text.ends_with(end));
        let is_failure = !again && is_end_of_program(text) && !std::mem::replace(&mut has_failed, true);
        pieces.extend(pieces_of_line(line, Style::Output).into_iter().map(|piece| Piece {
            salience: match () {
                () if is_failure => FIRST_FAILURE,
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
    pieces
}

/// Returns a line without the name of its task, which a runner of tasks puts before each line of an output.
pub(super) fn own_text(line: &str) -> &str {
    line.strip_prefix('[').and_then(|rest| Some(rest.split_once("] ")?.1.trim_start())).unwrap_or(line)
}

/// Returns the job with its step and the text of a line in the log of a CI run, which separates them by tabs and a time.
fn logged(line: &str) -> Option<(&str, &str)> {
    let (at, _) = line.match_indices('\t').nth(1)?;
    let rest = line[at + 1..].trim_start_matches('\u{feff}');
    let (time, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_time = time.ends_with('Z') && time.as_bytes().get(10) == Some(&b'T') && time.starts_with(|c: char| c.is_ascii_digit());
    is_time.then_some((&line[..at], text))
}

/// Returns true if the line reports the status of a call, and not its result.
pub(super) fn is_envelope(place: usize, line: &str, conventions: &Conventions) -> bool {
    let (lines, titles) = (&conventions.envelope_lines, &conventions.envelope_titles);
    place < ENVELOPE_LINES && (starts_with_any(line, lines) || titles.contains(&line))
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
    use crate::engine::reduce::outline;
    use crate::model::{Tool, ToolVerb};

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
