//! Finds the commands in a text: on lines of their own, outside of code, quotations and elements.

use super::arguments::{Bounds, interpret, split};
use super::{Malformed, ModelCommand, housekeeping};
use crate::model::Verb;
use std::ops::Range;

/// Bytes that are searched for the end of inline code. A mark without an end is ignored.
const LONGEST_CODE: usize = 2_000;
/// The maximum number of quotations and elements around a place.
const DEEPEST: usize = 1_000;
/// The lines before and after a line in which signs of a diff are searched for.
const DIFF_LINES: usize = 100;
/// The marks around a quotation of any length: one opens it, the other closes it.
const QUOTATIONS: &[(char, char)] = &[
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('«', '»'),
    ('»', '«'),
    ('‹', '›'),
    ('›', '‹'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
];
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
/// A command counts on a line of its own: before it there may be blanks, a hyphen or the number of an item, and after it blanks and
/// other commands. Everywhere else it is only mentioned. So are commands in code, in a quotation with the lines that continue it,
/// between quotation marks or tags, in a diff, and with placeholder arguments, such as `@archive()` or `@update(…, "…")`.
pub fn find(text: &str) -> Vec<FoundCommand> {
    let mut said = Vec::new();
    let mut around = Vec::new();
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
            let others = lines_of_others(text, at);
            if others > 0 {
                at += others;
                continue;
            }
            if let Some((end, commands)) = own_line(text, at) {
                said.extend(commands);
                at = end;
                continue;
            }
        }
        at = inline(text, at, &mut around, &mut said);
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

/// Returns the number of bytes of the lines at an offset that are not the model's own text: a quotation with the lines that continue
/// it, or code.
fn lines_of_others(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let whole = rest.split_inclusive('\n').next().unwrap_or_default();
    let bare = without_list_marks(whole.trim_start());
    if bare.starts_with('>') {
        return rest.split_inclusive('\n').take_while(|line| !line.trim().is_empty()).map(str::len).sum();
    }
    for mark in ['`', '~'] {
        let width = bare.len() - bare.trim_start_matches(mark).len();
        // With a backtick after it, it is inline code.
        if width >= 3 && !(mark == '`' && bare[width..].contains('`')) {
            return whole.len() + fenced(&rest[whole.len()..], mark, width, whole.len() - bare.len());
        }
    }
    // An indented code block cannot directly follow a paragraph line.
    let after_blank = text[..at].trim_end_matches([' ', '\t', '\r']).ends_with("\n\n") || text[..at].trim().is_empty();
    let after_code = text[..at].lines().next_back().is_some_and(is_indented);
    if is_indented(whole) && (after_blank || after_code) { whole.len() } else { 0 }
}

/// Returns the commands of the line at an offset, and the offset behind them; `None` if it is not a line of commands alone.
fn own_line(text: &str, at: usize) -> Option<(usize, Vec<FoundCommand>)> {
    let line = text[at..].split_inclusive('\n').next().unwrap_or_default();
    let bare = without_list_marks(line.trim_start());
    let marks = &line[..line.len() - bare.len()];
    if !bare.starts_with('@') || marks.contains(['*', '+']) || marks.contains('-') && is_in_diff(text, at) {
        return None;
    }
    let mut commands = Vec::new();
    let mut next = at + marks.len();
    loop {
        let command = command(text, next)?;
        let rest = &text[command.place.end..];
        let behind = rest.trim_start_matches([' ', '\t', '\r', ',', ';']);
        next = text.len() - behind.len();
        commands.push(command);
        if behind.is_empty() || behind.starts_with('\n') {
            return Some((next, commands));
        }
    }
}

/// Returns true if a line is in a paragraph with added lines or the place of a diff.
fn is_in_diff(text: &str, at: usize) -> bool {
    let has_text = |line: &&str| !line.trim().is_empty();
    let before = text[..at].lines().rev().take_while(has_text).take(DIFF_LINES);
    let behind = text[at..].lines().take_while(has_text).take(DIFF_LINES);
    before.chain(behind).any(|line| line.starts_with('+') || line.starts_with("@@ "))
}

fn is_indented(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with('\t')
}

fn without_list_marks(mut line: &str) -> &str {
    loop {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = if digits.len() < line.len() { digits.strip_prefix(['.', ')']) } else { None };
        match line.strip_prefix(['-', '*', '+']).or(numbered).filter(|rest| rest.starts_with([' ', '\t'])) {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

/// Returns the number of bytes up to the line that closes a fence, inclusive, or of the whole rest. A line that is indented by four more
/// than `indent` is code.
fn fenced(rest: &str, mark: char, width: usize, indent: usize) -> usize {
    let mut bytes = 0;
    for line in rest.split_inclusive('\n') {
        bytes += line.len();
        let closing = line.trim();
        let is_code = line.len() - line.trim_start().len() > indent + 3;
        if closing.len() >= width && closing.chars().all(|c| c == mark) && !is_code {
            break;
        }
    }
    bytes
}

/// A quotation or an element that is open.
struct Around<'a> {
    mark: Mark<'a>,
    /// The number of commands before it.
    commands: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark<'a> {
    Quotation(char),
    Element(&'a str),
}

/// Reads at an offset, and returns the offset to continue at. Drops the commands within a quotation or an element that ends there.
fn inline<'a>(text: &'a str, at: usize, around: &mut Vec<Around<'a>>, said: &mut Vec<FoundCommand>) -> usize {
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else { return text.len() };
    let behind = &rest[first.len_utf8()..];
    let mut next = at + first.len_utf8();
    let (mark, begins, ends) = match first {
        '\\' => return next + behind.chars().next().filter(char::is_ascii_punctuation).map_or(0, char::len_utf8),
        '`' => {
            let width = rest.len() - rest.trim_start_matches('`').len();
            return at + code(rest, width).unwrap_or(width);
        }
        '<' if behind.starts_with("!--") => return rest.find("-->").map_or(text.len(), |end| at + end + 3),
        '<' => {
            let inner = behind.strip_prefix('/').unwrap_or(behind);
            let length = inner.find(|c: char| !(c.is_alphanumeric() || "-_:".contains(c))).unwrap_or(inner.len());
            next = text.len() - inner.len() + length;
            (Mark::Element(&inner[..length]), inner.len() == behind.len(), inner.len() < behind.len())
        }
        '"' => {
            let begins = text[..at].chars().next_back().is_none_or(opens) && !behind.starts_with(char::is_whitespace);
            (Mark::Quotation('"'), begins, !begins && !behind.starts_with(char::is_alphanumeric))
        }
        _ if first.is_ascii() => return next,
        _ => {
            let is_one = |begins: bool| QUOTATIONS.iter().any(|(open, close)| first == if begins { *open } else { *close });
            (Mark::Quotation(first), is_one(true), is_one(false))
        }
    };
    let is_its_end = |open: Mark<'_>| match (open, mark) {
        (Mark::Quotation(open), Mark::Quotation(close)) if open != '"' => QUOTATIONS.contains(&(open, close)),
        _ => open == mark,
    };
    if let Some(place) = around.iter().rposition(|around| ends && is_its_end(around.mark)) {
        said.truncate(around[place].commands);
        around.truncate(place);
    } else if begins && around.len() < DEEPEST {
        around.push(Around { mark, commands: said.len() });
    }
    next
}

/// Returns true if a quotation mark after this character opens a quotation.
fn opens(before: char) -> bool {
    before.is_whitespace() || "([{—–-:=".contains(before)
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

/// Returns the text up to the next blank line, limited to the searched length.
fn paragraph(rest: &str) -> &str {
    let rest = &rest[..rest.floor_char_boundary(LONGEST_CODE)];
    rest.find("\n\n").map_or(rest, |end| &rest[..end])
}

/// Parses the command at an offset; `None` if there is none, or if it is only mentioned.
fn command(text: &str, at: usize) -> Option<FoundCommand> {
    let rest = text[at..].strip_prefix('@')?;
    let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
    let (name, rest) = (&rest[..letters], rest[letters..].strip_prefix('(')?);
    let (verb, nearest) = (Verb::from_name(name), slip(name));
    if verb.is_none() && nearest.is_none() {
        return None;
    }
    let said = |end: usize, command| Some(FoundCommand { place: at..end, command });
    let inside = text.len() - rest.len();
    let pieces = match split(rest, Bounds::SAID) {
        Ok(pieces) if pieces.is_mention() => return None,
        Ok(pieces) => pieces,
        // The following text may belong to the unclosed argument.
        Err(Malformed::UnclosedText) => return said(text.len(), Err(Malformed::UnclosedText)),
        Err(malformed) => return said(inside + rest.lines().next().map_or(0, str::len), Err(malformed)),
    };
    said(
        inside + pieces.length,
        match (verb, nearest) {
            (Some(verb), _) => interpret(verb, &pieces),
            (None, nearest) => Err(Malformed::UnknownVerb { name: name.to_owned(), nearest: nearest? }),
        },
    )
}

/// Returns the verb whose name differs by one typing error.
fn slip(name: &str) -> Option<Verb> {
    Verb::ALL.into_iter().find(|verb| verb.name().len() >= SLIP_LETTERS && strsim::osa_distance(name, verb.name()) == 1)
}
