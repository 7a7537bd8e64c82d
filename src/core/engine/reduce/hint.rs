//! Describes a content in one line, for placeholders.

use super::cause::is_message;
use super::lines::{count_lines, lines, without_number};
use super::marker::{HINT_CHARACTERS, OUTCOME_CHARACTERS};
use super::outcome::{Results, results, verdicts};
use super::output::is_of_program;
use super::paths::is_path;
use super::salience::{Style, declaration, heading};
use super::search::hit;
use super::{KeptPieces, Piece, Reducible, input, json, media, rendered};
use crate::engine::report::numbers::count;
use crate::engine::summary::error_line;
use crate::engine::{mask, without_data};
use crate::model::{BlockKind, ToolVerb, starts_with_any};
use crate::text::cut::{cut_name, one_line, with_ellipsis};
use crate::text::names::file_name;
use crate::text::sentence::sentences;
use rustc_hash::FxHashSet;

const WORDS: usize = 8;
/// Words of a hint that tells a failure or an answer, and of a sentence worth the name.
const OUTCOME_WORDS: usize = 14;
const SENTENCE_WORDS: usize = 4;
const SENTENCE_BYTES: usize = 24;
/// Paths or hits worth the name, and the share of the lines that they must be, in percent.
const LISTED: usize = 3;
const LISTED_PERCENT: usize = 60;
/// Lines at the beginning of which one must be a path or a hit in a list of them.
const BEGINNING_LINES: usize = 20;
/// Names that a line is made of at most.
const ITEMS: usize = 12;
/// Characters that must be left for an item to be cut.
const LEAST_ROOM: usize = 20;
/// Maximum characters of a name or a text that are examined.
const ITEM_CHARACTERS: usize = 400;

/// Returns a short hint about a content, for placeholders: `120 lines: fn login, fn logout`, `image 800×600`. It is empty for an input
/// of texts, each of which tells its own (`told`).
///
/// At most `characters` characters and eight words on one line, without brackets; more of both for a failure and an answer.
pub fn hint(input: &Reducible<'_>, characters: usize) -> String {
    if input.kind == BlockKind::ToolUse && input::has_texts(input.content) {
        return String::new();
    }
    let parts = Parts::split(input);
    let limits = if parts.is_outcome { (OUTCOME_CHARACTERS, OUTCOME_WORDS) } else { (characters, WORDS) };
    joined(&parts.before, &parts.items, limits)
}

/// Returns what a text in the input of a tool was: the number of its lines and, of one that is `named` or a line, its first names.
pub(super) fn told(pieces: &[Piece<'_>], style: Style, named: bool) -> String {
    let whole = KeptPieces { pieces: vec![true; pieces.len()], ..KeptPieces::default() };
    let items = Parts::of_text(&without_data(&rendered(pieces, &whole)), style, "").items;
    let lines = pieces.iter().map(|piece| piece.lines).sum();
    let before = if lines > 1 { count_lines(lines) } else { String::new() };
    if named || before.is_empty() { joined(&before, &items, (HINT_CHARACTERS, WORDS)) } else { before }
}

/// Parts of a hint: a prefix such as `120 lines`, and the names or texts that follow, the most salient first.
#[derive(Default)]
struct Parts {
    before: String,
    items: Vec<String>,
    /// True if they tell a failure or an answer.
    is_outcome: bool,
}

impl Parts {
    fn split(input: &Reducible<'_>) -> Parts {
        if input.kind == BlockKind::ToolUse {
            return Parts::of_text(&without_data(input.content), Style::Code, "");
        }
        if input.kind == BlockKind::Thinking && input.content.is_empty() {
            return Parts::said("withheld");
        }
        let style = Style::detect(input);
        if media::fits(input) {
            let before = media::described(input.kind, input.media);
            return match media::text(input) {
                Some(text) => Parts::of_text(&text, style, &format!("{before}, ")),
                None => Parts::said(&before),
            };
        }
        let text = without_data(input.content);
        if let Some(word) = client_word(&text, input) {
            return Parts::said(word);
        }
        if let Some(text) = json::longest_text(input).filter(|_| !input.error) {
            return Parts::of_text(&text, Style::Prose, "");
        }
        let (all, conventions) = (lines(&text), input.conventions);
        let is_running = |line: &str| starts_with_any(line, &conventions.running_lines);
        let is_content = |(place, line): &(usize, &str)| !conventions.is_envelope(*place, line) && !is_running(line);
        let own: Vec<&str> = all.iter().map(|line| &**line).enumerate().filter(is_content).map(|(_, line)| line).collect();
        let is_blank = |lines: &[&str]| lines.iter().all(|line| line.trim().is_empty());
        match () {
            () if own.len() < all.len() && is_blank(&own) => {
                Parts::said(if all.iter().any(|line| is_running(line)) { "running" } else { "no output" })
            }
            () if is_blank(&own) => Parts::of_text(&text, style, ""),
            () if style == Style::Output => Parts::of_output(&own, &text, input),
            () => Parts::of_text(&own.join("\n"), style, ""),
        }
    }

    fn said(before: &str) -> Parts {
        Parts { before: before.to_owned(), ..Parts::default() }
    }

    /// The outcome of a call where it has one, otherwise what its result is: `own` lines of a text.
    fn of_output(own: &[&str], text: &str, input: &Reducible<'_>) -> Parts {
        let lines: Vec<&str> = own.iter().copied().filter(|line| !line.trim().is_empty()).collect();
        let tool = input.tool.filter(|_| input.error);
        let error = tool.and_then(|tool| error_line(text, tool, &tool.target, input.conventions));
        if error.is_none()
            && verdicts(lines.iter().copied()).is_empty()
            && let Some((before, items)) = count_of_list(&lines)
        {
            let is_program = is_of_program(input);
            let first = lines.iter().find(|line| is_program && is_message(line, false));
            return match first {
                Some(first) => Parts { before: before.replacen("hit", "message", 1), items: vec![tidy(first)], is_outcome: true },
                None => Parts { before, items, is_outcome: false },
            };
        }
        // The output of a program that runs has lines of the client before it.
        let is_program = own.len() < text.lines().count() || text.starts_with('<');
        let is_answer = !input.error && !is_program && input.tool.is_some_and(|tool| tool.verb == ToolVerb::Other);
        if let Some(answer) = answer(&lines).filter(|_| is_answer) {
            return Parts { items: vec![tidy(&answer)], is_outcome: true, ..Parts::default() };
        }
        let Results { items, has_failed, has_totals, has_commits } = results(&lines, input.error, error);
        let (items, rest) = (tidied(&items), Parts::of_text(&own.join("\n"), Style::Output, ""));
        match () {
            () if items.is_empty() => rest,
            () if has_failed || has_totals || has_commits => {
                Parts { items, is_outcome: has_failed || has_commits, ..Parts::default() }
            }
            // An output that names an error.
            () => Parts { items, ..rest },
        }
    }

    /// The number of lines of a text, and its names.
    fn of_text(text: &str, style: Style, before: &str) -> Parts {
        let all = lines(text);
        let lines: Vec<&str> = all.iter().map(|line| &**line).filter(|line| !line.trim().is_empty()).collect();
        let Some(first) = lines.iter().find(|line| without_number(line).contains(char::is_alphabetic)).or(lines.first()) else {
            return Parts::said(&format!("{before}{}", if text.is_empty() { "empty" } else { "blank" }));
        };
        let mut items = Vec::new();
        if style != Style::Prose {
            items.extend(lines.iter().filter_map(|line| declaration(without_number(line))).take(ITEMS));
        }
        if items.is_empty() && style != Style::Code {
            items.extend(lines.iter().filter_map(|line| heading(line)).take(ITEMS).map(str::to_owned));
        }
        if items.is_empty() {
            items.push((*first).to_owned());
        }
        let items = tidied(&items);
        let lines = if all.len() > 1 { count_lines(all.len()) } else { String::new() };
        Parts { before: format!("{before}{lines}"), items, is_outcome: false }
    }
}

/// A word for a result that only says in the words of the client that a call was declined, or that it changed the file that it names.
fn client_word(text: &str, input: &Reducible<'_>) -> Option<&'static str> {
    let (text, conventions) = (text.trim_start(), input.conventions);
    let first = text.lines().next().unwrap_or_default();
    let is_edit = !input.error && input.tool.is_some_and(|tool| tool.verb == ToolVerb::Edit);
    match () {
        () if starts_with_any(text, &conventions.declined) => Some("declined"),
        () if is_edit && starts_with_any(text, &conventions.created_files) => Some("created"),
        () if is_edit && conventions.changed_files.iter().any(|words| first.contains(words)) => Some("updated"),
        () => None,
    }
}

/// The first sentences of an answer, of some length.
fn answer(lines: &[&str]) -> Option<String> {
    let is_end = |text: &str| text.trim_end_matches(['"', '*', ')', '`']).ends_with(['.', '!', '?']);
    lines.iter().find_map(|line| {
        let line = line.trim().trim_start_matches(['-', '*', '•', ' ']).replace("**", "");
        let mut ends = sentences(&line).map(|sentence| sentence.end);
        let end = ends.find(|end| *end >= SENTENCE_BYTES && is_end(&line[..*end]))?;
        let words = line[..end].split(' ').filter(|word| word.contains(char::is_alphabetic)).count();
        (line.starts_with(char::is_alphanumeric) && words >= SENTENCE_WORDS).then(|| line[..end].to_owned())
    })
}

fn tidied(items: &[String]) -> Vec<String> {
    items.iter().map(|item| tidy(item)).filter(|item| !item.is_empty()).collect()
}

/// Of a list of paths or of hits how many there are, and the names of their files.
fn count_of_list(lines: &[&str]) -> Option<(String, Vec<String>)> {
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
            let room = characters.saturating_sub(used);
            // An item of which little would be seen is left out, unless there is nothing else.
            if text.is_empty() || room >= LEAST_ROOM {
                let words_left = words.saturating_sub(text.split_whitespace().count());
                let cut = cut_words(item, room, words_left);
                text = if cut.is_empty() || cut == "…" { text } else { format!("{start}{cut}") };
            }
            break;
        }
    }
    if text.is_empty() { "no words".to_owned() } else { text.trim_end_matches([' ', ',']).to_owned() }
}

/// The first words of a text with `…`, cut within a name only where little would be left before it.
fn cut_words(text: &str, characters: usize, words: usize) -> String {
    let Some(last) = words.checked_sub(1) else { return String::new() };
    let start = text.match_indices(' ').nth(last).map_or(text, |(end, _)| &text[..end]);
    let is_whole = start.len() == text.len() || start.chars().count() >= characters;
    if is_whole { cut_name(start, characters) } else { with_ellipsis(start) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Conventions, Image, InputNames, Media, Tool};

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
                "1 failed, 15 passed",
            ),
            ("ok  \ta/b\t0.1s\nok  \ta/c\t0.2s\nFAIL\ta/d [build failed]", "1 failed, a/d, 2 ok"),
            ("Exit code 1\nerror: no such thing\nerror: other", "3 lines: error: no such thing"),
            ("I use sk-ant-api03-27Rz2mWk9TxB4lNvC8dFq7Rz2mWk9TxB4lNv", "I use secret:anthropic-key"),
            ("The setupShellCompletionNonInteractiveMode is unused", "The setupShellCompletionNon…"),
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
        let tool = Tool::new("Bash", ToolVerb::Read, "a.rs");
        let read = Reducible { conventions: &conventions, tool: Some(&tool), ..input("Wall time: 1\nOutput:\nfn a() {\n}") };
        assert_eq!(hint(&read, 38), "2 lines: fn a");
    }

    #[test]
    fn a_result_without_output_says_so() {
        let conventions = Conventions {
            envelope_lines: vec!["Wall time: "],
            envelope_titles: vec!["Output:"],
            running_lines: vec!["Process running with session ID "],
            ..Conventions::default()
        };
        for (content, expected) in [
            ("Wall time: 0.1 seconds\nOutput:\n", "no output"),
            ("Wall time: 30 seconds\nProcess running with session ID 7748\nOutput:", "running"),
        ] {
            assert_eq!(hint(&Reducible { conventions: &conventions, ..input(content) }, 38), expected, "{content}");
        }
    }

    #[test]
    fn a_failure_is_named() {
        let tool = Tool::new("Bash", ToolVerb::Run, "make");
        let agent = Tool::new("Task", ToolVerb::Other, "Plan the shop");
        let conventions = Conventions { declined: vec!["The user doesn't want"], ..Conventions::default() };
        let unknown = "Agent type 'tailor' not found. Available agents: cook, baker, smith, carpenter, miller, gardener";
        for (tool, content, expected) in [
            (&tool, "Permission was not given", "error, Permission was not given"),
            (&tool, "Exit code 2\nls: no access", "exit code 2, ls: no access"),
            (&tool, "Exit code 2\nerror: no such thing", "error: no such thing, exit code 2"),
            (
                &tool,
                "Exit code 1\nsrc/a.rs:1:2: undefined: x\nsrc/a.rs:7:2: undefined: y\nsrc/b.rs:1:2: undefined: x",
                "src/a.rs:1:2: undefined: x, exit code 1",
            ),
            (&agent, unknown, "Agent type 'tailor' not found. Available agents: cook, baker…"),
            (&agent, "The user doesn't want to proceed\nno, the other one", "declined"),
        ] {
            let input = Reducible { error: true, tool: Some(tool), conventions: &conventions, ..input(content) };
            assert_eq!(hint(&input, 16), expected);
        }
    }

    #[test]
    fn the_outcome_of_tests_is_told_in_little_room() {
        let verbose = "=== RUN   TestTill\n--- PASS: TestTill (0.01s)\n=== RUN   TestShop\n--- PASS: TestShop (0.00s)\nPASS\nok  \tshop\t0.2s";
        let failed = "--- FAIL: TestReceiptsOfTheShop (0.14s)\n    till_test.go:16: got 1\nFAIL\nFAIL\tshop/till\t0.7s\nFAIL";
        let broken =
            "till.go:1:2: undefined: x\ntill.go:7:2: undefined: y\ntill.go:9:2: undefined: z\nFAIL\tshop/till [build failed]";
        let cargo = format!("   Compiling till v0.1.0\n{}test result: ok. 20 passed; 0 failed", "test a_b ... ok\n".repeat(20));
        for (content, expected) in [
            (verbose, "2 passed"),
            (broken, "1 failed, shop/till"),
            (failed, "1 failed, TestReceiptsOfTheShop"),
            (&cargo, "20 passed"),
        ] {
            assert_eq!(hint(&input(content), 16), expected);
        }
        let built = "./till.go:1:2: undefined: x\n./till.go:7:2: undefined: y\n./shop.go:9:2: undefined: z";
        for (command, expected) in [
            ("go build ./... 2>&1 | head", "3 messages in 2 files: ./till.go:1:2: undefined: x"),
            ("rg --vimgrep undefined log.txt", "3 hits in 2 files"),
        ] {
            let tool = Tool::new("Bash", ToolVerb::Run, command);
            assert_eq!(hint(&Reducible { tool: Some(&tool), ..input(built) }, 16), expected);
        }
    }

    #[test]
    fn the_words_of_a_client_about_a_file_are_one_word() {
        let tool = Tool::new("Edit", ToolVerb::Edit, "/home/ann/shop/a.rs");
        let conventions =
            Conventions { created_files: vec!["Made"], changed_files: vec![" has been updated"], ..Conventions::default() };
        for (content, error, expected) in [
            ("The file /home/ann/shop/a.rs has been updated. See:\n1→use x;\n2→fn a() {}", false, "updated"),
            ("Made /home/ann/shop/a.rs", false, "created"),
            ("The file /home/ann/shop/a.rs has been updated since", true, "The file /home/ann/shop/a.rs has been updated since"),
        ] {
            let input = Reducible { error, tool: Some(&tool), conventions: &conventions, ..input(content) };
            assert_eq!(hint(&input, 16), expected);
        }
    }

    #[test]
    fn an_answer_is_its_first_sentence() {
        let tool = Tool::new("WebFetch", ToolVerb::Other, "https://shop.example/help");
        for (content, expected) in [
            (
                "# Help\n\nHere is what it says:\n\nBy default, **no limit** applies to orders. It can be set.\n",
                "By default, no limit applies to orders.",
            ),
            ("Yes. A till can have many drawers.", "Yes. A till can have many drawers."),
            ("{\"a\": [1,\n2]}", "2 lines: \"a\": 1"),
        ] {
            let found = hint(&Reducible { tool: Some(&tool), ..input(content) }, 16);
            assert_eq!(found, expected);
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
            (r#"{"file_path":"/home/me/shop/src/a.rs","content":"fn a() {\n}\nfn b() {}"}"#, ""),
            ("fn a();\nb()", "2 lines: fn a"),
        ] {
            let input = Reducible { kind: BlockKind::ToolUse, tool: Some(&tool), conventions: &conventions, ..input(content) };
            assert_eq!(hint(&input, 38), expected);
        }
    }
}
