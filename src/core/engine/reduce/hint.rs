//! Describes a content in one line, for placeholders.

use super::lines::{count_lines, lines, without_number};
use super::output::is_envelope;
use super::paths::is_path;
use super::salience::{LineKind, Style, declaration, exit_code, heading, line_kind, outcomes};
use super::search::hit;
use super::{Reducible, input, media};
use crate::engine::report::numbers::count;
use crate::engine::{mask, without_data};
use crate::model::{BlockKind, starts_with_any};
use crate::text::cut::one_line;
use crate::text::errors::is_exit_code;
use crate::text::names::file_name;
use rustc_hash::FxHashSet;

const WORDS: usize = 8;
/// Paths or hits worth the name, and the share of the lines that they must be, in percent.
const LISTED: usize = 3;
const LISTED_PERCENT: usize = 60;
/// Lines at the beginning of which one must be a path or a hit in a list of them.
const BEGINNING_LINES: usize = 20;
/// Names that a line is made of at most.
const ITEMS: usize = 12;
/// Bytes that are too little of a text: rather a word is cut.
const LEAST_CUT: usize = 8;
/// Characters that must be left for an item to be cut.
const LEAST_ROOM: usize = 12;
/// Maximum characters of a name or a text that are examined.
const ITEM_CHARACTERS: usize = 400;

/// Returns a short hint about a content, for placeholders: `120 lines: fn login, fn logout`, `image 800×600`.
///
/// At most `characters` characters and eight words on one line, without brackets.
pub fn hint(input: &Reducible<'_>, characters: usize) -> String {
    let Parts { before, items } = Parts::split(input);
    joined(&before, &items, (characters, WORDS))
}

/// Parts of a hint: a prefix such as `120 lines`, and the names or texts that follow, the most salient first.
#[derive(Default)]
struct Parts {
    before: String,
    items: Vec<String>,
}

impl Parts {
    fn split(input: &Reducible<'_>) -> Parts {
        if input.kind == BlockKind::ToolUse {
            // The target of the tool remains in the input.
            let longest = input::longest_text(input.content, &input.conventions.inputs);
            let (text, style) = longest.unwrap_or_else(|| (input.content.to_owned(), Style::Code));
            return Parts::of_text(&without_data(&text), style, &Reducible { error: false, ..*input }, "");
        }
        if input.kind == BlockKind::Thinking && input.content.is_empty() {
            return Parts { before: "withheld".to_owned(), ..Parts::default() };
        }
        let style = Style::detect(input);
        if media::fits(input) {
            let before = media::described(input.kind, input.media);
            return match media::text(input) {
                Some(text) => Parts::of_text(&text, style, input, &format!("{before}, ")),
                None => Parts { before, ..Parts::default() },
            };
        }
        Parts::of_text(&without_data(input.content), style, input, "")
    }

    fn of_text(text: &str, style: Style, input: &Reducible<'_>, before: &str) -> Parts {
        let all_lines = lines(text);
        let lines: Vec<&str> = all_lines.iter().map(|line| &**line).filter(|line| !line.trim().is_empty()).collect();
        if style == Style::Output
            && let Some((what, items)) = listed(&lines)
        {
            return Parts { before: format!("{before}{what}"), items };
        }
        let conventions = input.conventions;
        let is_content = |(place, line): &(usize, &&str)| {
            !is_envelope(*place, line, conventions) && !starts_with_any(line, &conventions.running_lines)
        };
        let inner: Vec<&str> = lines.iter().enumerate().filter(is_content).map(|(_, line)| *line).collect();
        let (lines, all) = match inner.is_empty() {
            true => (lines.as_slice(), all_lines.len()),
            false => (inner.as_slice(), all_lines.len() - (lines.len() - inner.len())),
        };
        let Some(first) = lines.iter().find(|line| without_number(line).contains(char::is_alphabetic)).or(lines.first()) else {
            let before = format!("{before}{}", if text.is_empty() { "empty" } else { "blank" });
            return Parts { before, ..Parts::default() };
        };
        let mut items = if style == Style::Output { results(lines, input.error) } else { Vec::new() };
        if items.is_empty() && style != Style::Prose {
            items.extend(lines.iter().filter_map(|line| declaration(without_number(line))).take(ITEMS));
        }
        if items.is_empty() && style != Style::Code {
            items.extend(lines.iter().filter_map(|line| heading(line)).take(ITEMS).map(str::to_owned));
        }
        if items.is_empty() {
            items.push((*first).to_owned());
        }
        let items: Vec<String> = items.iter().map(|item| tidy(item)).filter(|item| !item.is_empty()).collect();
        let lines = if all > 1 { count_lines(all) } else { String::new() };
        Parts { before: format!("{before}{lines}"), items }
    }
}

/// Of a list of paths or of hits how many there are, and the names of their files.
fn listed(lines: &[&str]) -> Option<(String, Vec<String>)> {
    let most = |found: usize| found >= LISTED && found * 100 >= lines.len() * LISTED_PERCENT;
    // A list is one from its beginning on.
    if !lines.iter().take(BEGINNING_LINES).any(|line| is_path(line) || hit(line).is_some()) {
        return None;
    }
    let mut known: FxHashSet<&str> = FxHashSet::default();
    let mut files: Vec<&str> = Vec::new();
    let mut hits = 0;
    for (path, ..) in lines.iter().filter_map(|line| hit(line)) {
        hits += 1;
        if known.insert(path) {
            files.push(path);
        }
    }
    let what = if most(hits) {
        let hits = count(hits as u64);
        format!("{hits} hits in {} file{}", count(files.len() as u64), if files.len() == 1 { "" } else { "s" })
    } else {
        files.clear();
        files.extend(lines.iter().copied().filter(|line| is_path(line)));
        if !most(files.len()) {
            return None;
        }
        format!("{} paths", count(files.len() as u64))
    };
    // Before anything is cut: half a credential is not known as one.
    let name = |path: &&str| tidy(file_name(&mask(path)));
    let names = files.iter().take(ITEMS).map(name);
    Some((what, names.filter(|name| !name.is_empty()).collect()))
}

/// Returns the results that a program reports: totals, failures, the exit code, the first failure.
fn results(lines: &[&str], error: bool) -> Vec<String> {
    let mut items: Vec<String> = totals(lines).into_iter().map(|(number, word)| format!("{} {word}", count(number))).collect();
    let is_error = |line: &&&str| line_kind(line, Style::Output) == Some(LineKind::Error) && !is_exit_code(line);
    let errors: Vec<&&str> = lines.iter().filter(is_error).collect();
    let first = errors.first();
    match errors.len() {
        errors @ 2.. if items.is_empty() => items.push(format!("{} error lines", count(errors as u64))),
        _ => {}
    }
    match exit_code(lines.iter().copied()) {
        Some(code) => items.push(format!("exit code {code}")),
        None if error && items.is_empty() && first.is_none() => items.push("error".to_owned()),
        None => {}
    }
    items.extend(first.map(|line| (**line).to_owned()));
    if first.is_none() && error {
        let others = lines.iter().find(|line| line.contains(char::is_alphanumeric) && !is_exit_code(line));
        items.extend(others.map(|line| (*line).to_owned()));
    }
    items
}

/// Counts the lines that report the success or the failure of a test or a package, as those of Go and of TAP do.
fn verdicts(lines: &[&str]) -> Vec<(u64, &'static str)> {
    let starting =
        |starts: &[&str]| lines.iter().filter(|line| starts.iter().any(|start| line.starts_with(start))).count() as u64;
    let (ok, failed) = (starting(&["ok "]), starting(&["FAIL\t", "not ok "]));
    let verdicts = [(ok, "ok"), (failed, "failed")];
    if ok + failed > 1 { verdicts.into_iter().filter(|(number, _)| *number > 0).collect() } else { Vec::new() }
}

/// The last totals of an output, or the sum of those of several test programs; counts of nothing only when all are.
fn totals(lines: &[&str]) -> Vec<(u64, &'static str)> {
    let mut totals: Vec<(u64, &'static str)> = Vec::new();
    for line in lines.iter().filter(|line| line.trim_start().starts_with("test result: ")) {
        for (number, word) in outcomes(line) {
            match totals.iter_mut().find(|(_, known)| *known == word) {
                Some((sum, _)) => *sum = sum.saturating_add(number),
                None => totals.push((number, word)),
            }
        }
    }
    if totals.is_empty() {
        totals = verdicts(lines);
    }
    if totals.is_empty() {
        totals = lines.iter().rev().map(|line| outcomes(line)).find(|outcomes| !outcomes.is_empty()).unwrap_or_default();
    }
    if totals.iter().any(|(number, _)| *number > 0) {
        totals.retain(|(number, _)| *number > 0);
    }
    totals
}

/// The beginning of a text on one line, without brackets and control characters.
pub(super) fn tidy(text: &str) -> String {
    // Before anything is cut: half a credential is not known as one.
    let spaced: String = mask(without_number(text))
        .chars()
        .take(ITEM_CHARACTERS)
        .filter_map(|c| match c {
            '[' | '(' | '{' | '<' => Some(' '),
            ']' | ')' | '}' | '>' => None,
            c if c.is_control() || c.is_whitespace() => Some(' '),
            c => Some(c),
        })
        .collect();
    one_line(&spaced)
}

/// Formats `before: first, second`, with as many items as the limits allow; the first is truncated rather than omitted.
fn joined(before: &str, items: &[String], (characters, words): (usize, usize)) -> String {
    let mut text = before.to_owned();
    for (place, item) in items.iter().enumerate() {
        let mark = match (place, before) {
            (0, "") => "",
            (0, before) if before.ends_with(' ') => "",
            (0, _) => ": ",
            _ => ", ",
        };
        let longer = format!("{text}{mark}{item}");
        if longer.chars().count() <= characters && longer.split(' ').count() <= words {
            text = longer;
        } else {
            let start = format!("{text}{mark}");
            let used = start.chars().count();
            let room = characters.saturating_sub(used + 1);
            // An item of which little would be seen is left out, unless there is nothing else.
            if text.is_empty() || room >= LEAST_ROOM {
                let words_left = words.saturating_sub(text.split_whitespace().count());
                let cut = cut_words(item, room, words_left);
                text = if cut.is_empty() { text } else { format!("{start}{cut}…") };
            }
            break;
        }
    }
    if text.is_empty() { "no words".to_owned() } else { text.trim_end_matches([' ', ',']).to_owned() }
}

/// The first words of a text; within a word only where little would be left before it.
fn cut_words(text: &str, characters: usize, words: usize) -> &str {
    let mut end = 0;
    for (place, word) in text.split(' ').enumerate().take(words) {
        let next = if place == 0 { word.len() } else { end + 1 + word.len() };
        if text[..next].chars().count() > characters {
            if end * 2 < characters {
                end = text.char_indices().nth(characters).map_or(text.len(), |(place, _)| place);
            }
            break;
        }
        end = next;
    }
    if end < LEAST_CUT && words > 1 || end == 0 && words > 0 {
        let words = text.match_indices(' ').nth(1).map_or(text, |(second, _)| &text[..second]);
        end = words.char_indices().nth(characters).map_or(words.len(), |(place, _)| place);
    }
    text[..end].trim_end_matches([' ', ',', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Conventions, Image, InputNames, Media, Tool, ToolVerb};

    fn input(content: &str) -> Reducible<'_> {
        Reducible::plain(BlockKind::ToolResult, content)
    }

    #[test]
    fn a_hint_says_what_a_result_holds() {
        let code = format!("     1→use x;\n     2→pub fn login() {{\n{}     4→fn logout() {{}}", "     3→\n".repeat(9));
        for (content, expected) in [
            (&*code, "12 lines: fn login, fn logout"),
            ("# Title\ntext\n## Usage\nmore", "4 lines: Title, Usage"),
            ("one line of plain words", "one line of plain words"),
            ("", "empty"),
            (" \n", "blank"),
            ("---\n---", "2 lines: ---"),
            (
                "running\ntest result: ok. 12 passed; 0 failed\ntest result: FAILED. 3 passed; 1 failed; 0 ignored",
                "3 lines: 15 passed, 1 failed",
            ),
            ("ok  \ta/b\t0.1s\nok  \ta/c\t0.2s\nFAIL\ta/d [build failed]", "3 lines: 2 ok, 1 failed, FAIL a/d…"),
            ("Exit code 1\nerror: no such thing\nerror: other", "3 lines: 2 error lines, exit code 1"),
            ("I use sk-ant-api03-27Rz2mWk9TxB4lNvC8dFq7Rz2mWk9TxB4lNv", "I use secret:anthropic-key"),
            ("The setupShellCompletionNonInteractiveMode is unused", "The setupShellCompletionNonInteractiv…"),
            ("src/a.rs:1:x\nsrc/a.rs:2:y\nsrc/b.rs:7:z", "3 hits in 2 files: a.rs, b.rs"),
            ("/home/me/a.rs\n/home/me/b.rs\n/home/me/c.rs", "3 paths: a.rs, b.rs, c.rs"),
            ("a\tb\u{1b}[31m [x] <y>", "a b x y"),
            ("a very long line of words that goes on and on without any end in sight", "a very long line of words that goes…"),
        ] {
            assert_eq!(hint(&input(content), 38), expected, "{content}");
        }
    }

    #[test]
    fn lines_about_the_call_are_not_part_of_a_result() {
        let conventions = Conventions {
            envelope_lines: vec!["Chunk ID: ", "Wall time: "],
            envelope_titles: vec!["Output:"],
            running_lines: vec!["Process running with session ID "],
            ..Conventions::default()
        };
        for content in [
            "Chunk ID: a1b2c3\nWall time: 0.1 seconds\nOutput:\n3 files",
            "Wall time: 30 seconds\nProcess running with session ID 7748\nOutput:\n3 files",
        ] {
            assert_eq!(hint(&Reducible { conventions: &conventions, ..input(content) }, 38), "3 files", "{content}");
        }
    }

    #[test]
    fn a_failure_is_named() {
        for (content, expected) in [
            ("Permission was not given", "error, Permission was not given"),
            ("Exit code 2\nls: no access", "2 lines: exit code 2, ls: no access"),
        ] {
            assert_eq!(hint(&Reducible { error: true, ..input(content) }, 38), expected);
        }
    }

    #[test]
    fn images_come_first() {
        let media = Media { images: vec![Image { width: 800, height: 600, bytes: 0, fault: None }], ..Media::default() };
        assert_eq!(hint(&Reducible { media: &media, ..input("[image]") }, 38), "image 800×600");
        assert_eq!(hint(&Reducible { media: &media, ..input("a plot\n[image]") }, 38), "image 800×600, a plot");
        let narrow = Reducible { media: &media, ..input("a plot\n[image]") };
        assert_eq!(hint(&narrow, 14), "image 800×600");
    }

    #[test]
    fn a_tool_use_is_known_by_its_text() {
        let inputs = InputNames { written: vec!["content"], ..InputNames::default() };
        let conventions = Conventions { inputs, ..Conventions::default() };
        let tool = Tool::new("Write", ToolVerb::Edit, "/home/me/shop/src/a.rs");
        for (content, expected) in [
            (r#"{"file_path":"/home/me/shop/src/a.rs","content":"fn a() {\n}\nfn b() {}"}"#, "3 lines: fn a, fn b"),
            (r#"{"url":"https://a.b","prompt":"What does it say?"}"#, "What does it say?"),
            ("fn a();\nb()", "2 lines: fn a"),
        ] {
            let input = Reducible { kind: BlockKind::ToolUse, tool: Some(&tool), conventions: &conventions, ..input(content) };
            assert_eq!(hint(&input, 38), expected);
        }
    }
}
