//! Extracts prose: removes tags of clients, code, tables and logs.

use crate::engine::marker;
use crate::model::{Block, Conventions, Level, starts_with_any};
use crate::text::sentence::heading;
use std::borrow::Cow;

/// Prefix of a trailer that commit messages end with.
const TRAILER: &str = "Co-Authored-By:";

/// Removes the client tags and their content from a text.
pub(super) fn without_tags<'a>(text: &'a str, conventions: &Conventions) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for tag in &conventions.inserted_tags {
        let (open, close) = (format!("<{tag}"), format!("</{}>", tag.split(' ').next().unwrap_or(tag)));
        let close = if tag.contains(' ') { format!("</{tag}>") } else { close };
        let mut from = 0;
        while let Some(start) = text[from..].find(&open).map(|at| from + at) {
            let after = &text[start + open.len()..];
            if !after.starts_with(['>', ' ']) {
                from = start + open.len();
                continue;
            }
            // A tag without an end tag is a word in a sentence.
            let Some(length) = after.find(&close) else { break };
            let end = start + open.len() + length + close.len();
            text = Cow::Owned(format!("{}\n\n{}", &text[..start], &text[end..]));
            from = start;
        }
    }
    text
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Plain(&'a str),
    /// A plain line with spaces before it, which continues an item before it.
    Indented(&'a str),
    /// An item of a list, without its marker.
    Item(&'a str),
    Heading(&'a str),
    /// An empty line: the end of a paragraph.
    Break,
}

/// Returns the prose lines of a text, without code and tables.
pub(super) fn lines<'a>(text: &'a str, conventions: &Conventions) -> Vec<Line<'a>> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => continue,
            (None, None) => {
                found.push(read(line, conventions));
                continue;
            }
        }
        found.push(Line::Break);
    }
    found
}

fn read<'a>(line: &'a str, conventions: &Conventions) -> Line<'a> {
    let trimmed = line.trim().trim_start_matches("> ");
    if let Some(heading) = heading(trimmed).filter(|_| !starts_with_any(trimmed, &conventions.inserted_headings)) {
        return Line::Heading(heading.trim());
    }
    if is_noise(line, trimmed, conventions) {
        return Line::Break;
    }
    match item(trimmed) {
        Some(text) if is_noise(text, text, conventions) => Line::Break,
        Some(text) => Line::Item(text),
        None if line.starts_with([' ', '\t']) => Line::Indented(trimmed),
        None => Line::Plain(trimmed),
    }
}

/// Returns the text of a list item without its marker: `- x`, `2. x`, `- [ ] x`.
fn item(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "• ", "+ ", "⏺ ", "● "].iter().find_map(|mark| line.strip_prefix(mark));
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = || line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") ")).filter(|_| digits > 0);
    let text = bullet.or_else(numbered)?.trim_start();
    // `• 1. x`: an item of a list in a list.
    let text = item(text).filter(|_| bullet.is_some()).unwrap_or(text);
    let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| text.strip_prefix(mark));
    Some(boxed.unwrap_or(text).trim())
}

/// Removes the marker lines that aperture inserted from the content of a block. Only shortened blocks have them; in other blocks,
/// similar lines are original text.
pub(super) fn unshortened<'a>(block: &Block, content: &'a str, conventions: &Conventions) -> Cow<'a, str> {
    if block.level == Level::Original {
        return Cow::Borrowed(content);
    }
    let rest = marker::parse(&content[marker::client_tag(content, conventions).len()..]).map_or(content, |(_, rest)| rest);
    let gap = |line: &&str| !line.trim_start().starts_with("[…");
    Cow::Owned(rest.split_inclusive('\n').filter(gap).collect())
}

/// Returns true if a line is code, a table row, program output, or text inserted by a client.
fn is_noise(line: &str, trimmed: &str, conventions: &Conventions) -> bool {
    let letters = trimmed.chars().filter(|c| c.is_alphabetic()).count();
    let solid = trimmed.chars().filter(|c| !c.is_whitespace()).count();
    let tag = trimmed.starts_with('<') && trimmed.ends_with('>');
    let note = trimmed.starts_with("[#") && trimmed.ends_with(")]");
    letters == 0
        // Names, numbers and symbols outweigh words.
        || letters * 100 < solid * 55
        || tag
        || note
        || trimmed.contains('\u{1b}')
        || trimmed.starts_with(TRAILER)
        || starts_with_any(trimmed, &conventions.inserted_lines)
        || is_code(line, trimmed)
        || trimmed.split_whitespace().any(|word| word.len() > 120 && word.is_ascii())
}

fn is_code(line: &str, trimmed: &str) -> bool {
    const STARTS: &[&str] = &[
        "|", "$ ", "❯ ", "➜ ", "at ", "File \"", "diff --git", "@@ ", "+++ ", "import ", "from .", "const ", "let ", "var ",
        "def ", "fn ", "func ", "return ", "#include", "//", "/*", "└", "├", "│", "╭", "╰", "⎿", "{", "}", "\"",
    ];
    const ENDS: &[&str] = &[";", "{", "}", "};", "=>", "\\", "|", "},", "],", "()", "\",", "',"];
    const WITHIN: &[&str] = &[" := ", " => ", " == ", " && ", "::<", "</"];
    // A quotation is prose, a line of JSON is not.
    let starts = STARTS.iter().any(|start| trimmed.starts_with(start) && (*start != "\"" || trimmed.contains("\":")));
    let ends = ENDS.iter().any(|end| trimmed.ends_with(end)) && !trimmed.ends_with(" …");
    let deep = line.starts_with("        ") && !trimmed.ends_with(['.', '?', '!']) && item(trimmed).is_none();
    // The prompt of a shell, `user@host directory % command`.
    let typed = trimmed.split_once(' ').filter(|(place, _)| place.find('@').is_some_and(|at| at > 0));
    let typed = typed.is_some_and(|(_, rest)| ["% ", "$ ", "# "].iter().any(|mark| rest.contains(mark)));
    typed || starts || ends || deep || WITHIN.iter().any(|part| trimmed.contains(part) && !trimmed.contains('`'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKind, Role};

    #[test]
    fn tags_of_clients_go_with_their_content() {
        let inserted_tags = vec!["system-reminder", "command-message", "permissions instructions", "skill"];
        let conventions = Conventions { inserted_tags, ..Conventions::default() };
        for (text, left) in [
            ("a<system-reminder>b</system-reminder>c", "a\n\nc"),
            ("<command-message>x</command-message>go", "\n\ngo"),
            ("the <system-reminder> tag", "the <system-reminder> tag"),
            ("<skills> stay", "<skills> stay"),
            ("<permissions instructions>no</permissions instructions>", "\n\n"),
        ] {
            assert_eq!(without_tags(text, &conventions), left);
        }
    }

    #[test]
    fn marks_of_aperture_go_where_it_put_them() {
        let text = "[@7 | trimmed from 199]\n[… 4 lines: GoodCloud]\nThe cloud is gone.\n";
        let mut block = Block::new(BlockKind::Text, Role::User);
        assert_eq!(unshortened(&block, text, Default::default()), text);
        block.level = Level::Trimmed;
        assert_eq!(unshortened(&block, text, Default::default()), "The cloud is gone.\n");
        assert_eq!(unshortened(&block, "a\nb", Default::default()), "a\nb");
    }

    #[test]
    fn code_and_output_do_not_count_as_prose() {
        let noise = [
            "let x = 3;",
            "| a | b |",
            "----------",
            "    at Object.<anonymous> (a.js:1:2)",
            "[Image #1]",
            "{\"a\": 1}",
            "\"name\": \"x\",",
            "2026-11-22 10:00:01 12",
            "if a == b",
            "ann@host shop % tail -f build.log",
        ];
        let conventions = Conventions { inserted_lines: vec!["[Image"], ..Conventions::default() };
        for line in noise {
            assert_eq!(lines(line, &conventions), [Line::Break], "{line}");
        }
        assert_eq!(
            lines("```rust\nlet x = plain words\n```\nafter it", &conventions),
            [Line::Break, Line::Break, Line::Plain("after it")]
        );
    }

    #[test]
    fn lists_and_headings_lose_their_marks() {
        let text = "## The plan\n- [ ] write it\n2. run it\nPlain words.";
        let expected = [Line::Heading("The plan"), Line::Item("write it"), Line::Item("run it"), Line::Plain("Plain words.")];
        assert_eq!(lines(text, Default::default()), expected);
    }
}
