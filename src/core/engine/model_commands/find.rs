//! Finds commands in a text, except in code, in quotations and in similar text.

use super::arguments::{Bounds, interpret, split};
use super::talk::is_talk;
use super::{Malformed, ModelCommand, housekeeping};
use crate::model::Verb;
use std::ops::Range;

/// Bytes that are searched for the end of a quotation or of code. A mark without an end is ignored.
const LONGEST_QUOTATION: usize = 2_000;
/// The maximum number of shown characters of a text that is not a command.
const SHOWN_CHARACTERS: usize = 40;
/// Minimum number of letters of a name that is accepted as a misspelled command.
const SLIP_LETTERS: usize = 5;

/// A command, verbatim.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCommand {
    pub place: Range<usize>,
    pub command: Result<ModelCommand, Malformed>,
}

impl FoundCommand {
    /// Returns the command with its place behind some bytes.
    fn behind(self, bytes: usize) -> FoundCommand {
        FoundCommand { place: self.place.start + bytes..self.place.end + bytes, ..self }
    }
}

/// Returns the commands in a text of the model, in order: `@commands`, and those in fenced blocks `aperture`.
///
/// Text in a code block, in code or quotation marks, in a quoted line, a heading or a table, in parentheses or brackets (as in a
/// link, or the marker line of a shortened block), struck out, inside a word or after a backslash only mentions a command. So does
/// a command with placeholder arguments, such as `@archive()` or `@update(…, "…")`, and one in a sentence that negates it.
pub fn find(text: &str) -> Vec<FoundCommand> {
    let mut said = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if at == 0 || text.as_bytes()[at - 1] == b'\n' {
            let first = text[at..].lines().next().unwrap_or_default();
            if housekeeping::is_fence(first) {
                let (length, commands) = housekeeping::block(&text[at..]);
                said.extend(commands.into_iter().map(|found| found.behind(at)));
                at += length;
                continue;
            }
            let line = line(text, at);
            if line.skipped > 0 {
                at += line.skipped;
                continue;
            }
        }
        let (next, found) = inline(text, at);
        said.extend(found);
        at = next;
    }
    said
}

/// Parses a text that is a command, found or created before. Accepts any length, and commands that `find` would treat as a mention.
pub fn read(text: &str) -> Option<ModelCommand> {
    if !text.starts_with('@') {
        return housekeeping::read(text);
    }
    let (name, rest) = text.strip_prefix('@')?.split_once('(')?;
    let pieces = split(rest, Bounds::NONE).ok().filter(|pieces| pieces.length == rest.len())?;
    interpret(Verb::from_name(name)?, &pieces).ok()
}

/// Returns the commands in a text of commands alone, such as the input of a tool call. The `@` may be left out.
pub fn read_all(text: &str) -> Vec<FoundCommand> {
    let mut commands = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches(|c: char| c.is_whitespace() || c == ';').len();
        let rest = &text[at..];
        if rest.is_empty() {
            return commands;
        }
        if housekeeping::is_fence(rest.lines().next().unwrap_or_default()) {
            let (length, found) = housekeeping::block(rest);
            commands.extend(found.into_iter().map(|found| found.behind(at)));
            at += length;
            continue;
        }
        let (length, command) = first_command(rest);
        commands.push(FoundCommand { place: at..at + length, command });
        at += length;
    }
}

/// Parses the command at the start of a text; returns its length too, or that of the line if it is none.
fn first_command(text: &str) -> (usize, Result<ModelCommand, Malformed>) {
    let bare = text.strip_prefix('@').unwrap_or(text);
    let letters = bare.bytes().take_while(u8::is_ascii_lowercase).count();
    let (name, rest) = bare.split_at(letters);
    let line = text.lines().next().unwrap_or_default();
    let other = || (line.len(), Err(Malformed::NotACommand { text: line.chars().take(SHOWN_CHARACTERS).collect() }));
    let Some(rest) = rest.strip_prefix('(') else { return other() };
    let pieces = match split(rest, Bounds::NONE) {
        Ok(pieces) => pieces,
        Err(malformed) => return (text.len(), Err(malformed)),
    };
    let length = text.len() - rest.len() + pieces.length;
    match (Verb::from_name(name), slip(name)) {
        (Some(verb), _) => (length, interpret(verb, &pieces)),
        (None, Some(nearest)) => (length, Err(Malformed::UnknownVerb { name: name.to_owned(), nearest })),
        (None, None) => other(),
    }
}

/// Kind of a line, by its first characters.
struct Line {
    /// Bytes of the line, and of the lines that belong to it, that are not the model's own text.
    skipped: usize,
}

fn line(text: &str, at: usize) -> Line {
    let rest = &text[at..];
    let whole = rest.split_inclusive('\n').next().unwrap_or_default();
    let skipped = |bytes| Line { skipped: bytes };
    let bare = without_list_marks(whole.trim_start());
    let unmarked = bare.trim_start_matches('#');
    let heading = bare.len() - unmarked.len();
    let is_heading = (1..=6).contains(&heading) && unmarked.starts_with([' ', '\t']);
    let is_reference = bare.starts_with('[') && bare.split_once(']').is_some_and(|(_, rest)| rest.starts_with(':'));
    if bare.starts_with(['>', '|']) || is_heading || is_reference || is_table_row(text, at, whole) {
        return skipped(whole.len());
    }
    for mark in ['`', '~'] {
        let width = bare.len() - bare.trim_start_matches(mark).len();
        // With a backtick after it, it is inline code.
        if width >= 3 && !(mark == '`' && bare[width..].contains('`')) {
            return skipped(whole.len() + fenced(&rest[whole.len()..], mark, width));
        }
    }
    // An indented code block cannot directly follow a paragraph line.
    let after_blank = text[..at].trim_end_matches([' ', '\t', '\r']).ends_with("\n\n") || text[..at].trim().is_empty();
    let after_code = text[..at].lines().next_back().is_some_and(is_indented);
    skipped(if is_indented(whole) && (after_blank || after_code) { whole.len() } else { 0 })
}

/// Returns true if a line with cells belongs to a table: a delimiter row is after it, or anywhere before it in its paragraph.
fn is_table_row(text: &str, at: usize, line: &str) -> bool {
    let mut depth = 0usize;
    let has_cells = line.chars().any(|next| {
        match next {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        next == '|' && depth == 0
    });
    let rules = |line: &str| line.contains('-') && line.contains('|') && line.trim().chars().all(|c| "|:- \t".contains(c));
    let before = || &text[text.floor_char_boundary(at.saturating_sub(LONGEST_QUOTATION))..at];
    has_cells
        && (paragraph(&text[at + line.len()..]).lines().next().is_some_and(rules)
            || before().lines().rev().take_while(|line| !line.trim().is_empty()).any(rules))
}

fn is_indented(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with('\t')
}

pub(super) fn without_list_marks(mut line: &str) -> &str {
    loop {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = if digits.len() < line.len() { digits.strip_prefix(['.', ')']) } else { None };
        match line.strip_prefix(['-', '*', '+']).or(numbered).filter(|rest| rest.starts_with([' ', '\t'])) {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

/// Returns the number of bytes up to the line that closes a fence, inclusive, or of the whole rest.
fn fenced(rest: &str, mark: char, width: usize) -> usize {
    let mut bytes = 0;
    for line in rest.split_inclusive('\n') {
        bytes += line.len();
        let line = line.trim();
        if line.len() >= width && line.chars().all(|c| c == mark) {
            break;
        }
    }
    bytes
}

/// Parses at an offset within a line; returns the offset to continue at, and the command, if there is one.
fn inline(text: &str, at: usize) -> (usize, Option<FoundCommand>) {
    let rest = &text[at..];
    let before = text[..at].chars().next_back();
    let Some(first) = rest.chars().next() else { return (text.len(), None) };
    let over = |bytes: Option<usize>| (at + bytes.unwrap_or(first.len_utf8()), None);
    match first {
        '\\' => {
            let escaped = rest[1..].chars().next().filter(char::is_ascii_punctuation);
            over(Some(1 + escaped.map_or(0, char::len_utf8)))
        }
        '`' => {
            let width = rest.len() - rest.trim_start_matches('`').len();
            over(Some(code(rest, width).unwrap_or(width)))
        }
        '"' if before.is_none_or(opens) => over(quotation(rest, '"', '"')),
        '“' | '„' => over(quotation(rest, '“', '”').or_else(|| quotation(rest, '„', '“'))),
        '\'' if before.is_none_or(opens) => {
            let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
            over(quotation(line, '\'', '\''))
        }
        '«' => over(quotation(rest, '«', '»')),
        '‘' => over(quotation(rest, '‘', '’')),
        '「' => over(quotation(rest, '「', '」')),
        '『' => over(quotation(rest, '『', '』')),
        '[' => over(enclosed(rest, '[', ']').or_else(|| {
            // The marker line of a shortened block may contain any text.
            let line = paragraph(rest).lines().next().filter(|line| line.starts_with("[@"));
            line.and_then(|line| line.find(']')).map(|end| end + 1)
        })),
        '(' => over(enclosed(rest, '(', ')')),
        '（' => over(enclosed(rest, '（', '）')),
        '~' if rest.starts_with("~~") => over(paragraph(&rest[2..]).find("~~").map(|end| 2 + end + 2)),
        '<' => over(["!--", "code", "pre"].iter().zip(["-->", "</code>", "</pre>"]).find_map(|(open, close)| {
            rest[1..].starts_with(open).then(|| rest.find(close).map_or(rest.len(), |end| end + close.len()))
        })),
        '@' if before.is_none_or(may_precede) => command(text, at).unwrap_or((at + 1, None)),
        _ => over(None),
    }
}

/// Returns true if a quotation mark after this character opens a quotation.
fn opens(before: char) -> bool {
    before.is_whitespace() || "([{—–-:".contains(before)
}

/// Returns true if a command can follow this character: not inside a word, a path, a URL, brackets or parentheses.
fn may_precede(before: char) -> bool {
    before.is_whitespace() || ")*—–:;,：，、。）".contains(before)
}

/// Returns the number of bytes in parentheses or brackets, including them, if they are closed in their paragraph.
fn enclosed(rest: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    paragraph(rest).char_indices().find_map(|(at, next)| {
        depth += usize::from(next == open);
        depth -= usize::from(next == close);
        (depth == 0).then_some(at + next.len_utf8())
    })
}

/// Returns the number of bytes of inline code between `width` backticks, if it is closed in its paragraph.
fn code(rest: &str, width: usize) -> Option<usize> {
    let mut at = width;
    let paragraph = paragraph(rest);
    loop {
        at += paragraph[at..].find('`')?;
        let run = paragraph[at..].len() - paragraph[at..].trim_start_matches('`').len();
        at += run;
        if run == width {
            return Some(at);
        }
    }
}

/// Returns the number of bytes of a quotation, if it is closed in its paragraph.
fn quotation(rest: &str, open: char, close: char) -> Option<usize> {
    let inner = paragraph(rest.strip_prefix(open)?);
    if inner.starts_with(char::is_whitespace) {
        return None;
    }
    inner.match_indices(close).find_map(|(at, mark)| {
        let end = at + mark.len();
        let ends = !inner[end..].starts_with(char::is_alphanumeric) && !inner[..at].ends_with([' ', '(', ',']);
        (ends || open != close).then_some(open.len_utf8() + end)
    })
}

/// Returns the text up to the next blank line, limited to the searched length.
fn paragraph(rest: &str) -> &str {
    let rest = &rest[..rest.floor_char_boundary(LONGEST_QUOTATION)];
    rest.find("\n\n").map_or(rest, |end| &rest[..end])
}

/// Parses a command at an `@`; returns it, if there is one, and the offset to continue at.
fn command(text: &str, at: usize) -> Option<(usize, Option<FoundCommand>)> {
    let rest = &text[at + 1..];
    let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
    let (name, rest) = (&rest[..letters], rest[letters..].strip_prefix('(')?);
    let inside = at + 1 + letters + 1;
    let verb = Verb::from_name(name);
    if verb.is_none() && slip(name).is_none() {
        return None;
    }
    let said = |end: usize, command| Some((end, Some(FoundCommand { place: at..end, command })));
    let pieces = match split(rest, Bounds::SAID) {
        Ok(pieces) => pieces,
        Err(_) if is_talk(text, &(at..inside)) => return Some((inside, None)),
        // The following text may belong to the unclosed argument.
        Err(Malformed::UnclosedText) => return said(text.len(), Err(Malformed::UnclosedText)),
        Err(malformed) => return said(inside, Err(malformed)),
    };
    let end = inside + pieces.length;
    let behind = &text[end..];
    let goes_on = behind.starts_with(|c: char| c.is_alphanumeric() || "_([{".contains(c))
        || behind.strip_prefix('.').is_some_and(|more| more.starts_with(char::is_alphanumeric));
    if goes_on || pieces.is_mention() || is_talk(text, &(at..end)) {
        return Some((end, None));
    }
    match (verb, slip(name)) {
        (Some(verb), _) => said(end, interpret(verb, &pieces)),
        (None, Some(nearest)) => said(end, Err(Malformed::UnknownVerb { name: name.to_owned(), nearest })),
        (None, None) => None,
    }
}

/// Returns the verb whose name differs by one typing error.
fn slip(name: &str) -> Option<Verb> {
    Verb::ALL.into_iter().find(|verb| verb.name().len() >= SLIP_LETTERS && strsim::osa_distance(name, verb.name()) == 1)
}
