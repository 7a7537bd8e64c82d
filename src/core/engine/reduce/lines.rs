//! Lines as a person would see them, and how they are cut.

use crate::engine::report::numbers::{count, unit};
use std::borrow::Cow;

const ESCAPE: char = '\u{1b}';

/// The lines of a text as a terminal shows them: without escape sequences, of a progress bar its last state, without blanks
/// at their ends.
pub fn lines(text: &str) -> Vec<Cow<'_, str>> {
    // A text with carriage returns alone has them for line ends.
    if !text.contains('\n') && text.contains('\r') {
        return text.split('\r').map(visible).collect();
    }
    text.lines()
        .map(|line| {
            let states = line.contains('\r').then(|| line.rsplit('\r').find(|part| !part.trim().is_empty()));
            visible(states.map_or(line, Option::unwrap_or_default))
        })
        .collect()
}

/// Returns a text as a terminal shows it; one without control characters as it is.
pub fn shown(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(is_hidden) { Cow::Owned(lines(text).join("\n")) } else { Cow::Borrowed(text) }
}

/// A line without escape sequences and control characters, tabs apart, and without blanks at its end.
pub(super) fn visible(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    let is_hidden = |c: char| c.is_control() && c != '\t';
    // Beyond ASCII control characters begin with the byte C2.
    let may_hide = |byte: u8| byte.is_ascii_control() && byte != b'\t' || byte == 0xC2;
    if !line.bytes().any(may_hide) || !line.contains(is_hidden) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::new();
    let mut rest = line;
    while let Some(place) = rest.find(is_hidden) {
        shown.push_str(&rest[..place]);
        rest = after_control(&rest[place..]);
    }
    shown.push_str(rest);
    shown.truncate(shown.trim_end().len());
    Cow::Owned(shown)
}

/// Returns the text after the control character or escape sequence at its beginning (ECMA-48, and titles as xterm has them).
fn after_control(text: &str) -> &str {
    let mut characters = text.chars();
    let first = characters.next();
    let after = characters.as_str();
    if first != Some(ESCAPE) {
        return after;
    }
    let kind = characters.next();
    let body = characters.as_str();
    match kind {
        Some('[') => {
            let rest = body.trim_start_matches(|c| (' '..='?').contains(&c));
            rest.strip_prefix(|c| ('@'..='~').contains(&c)).unwrap_or(rest)
        }
        Some(']') => {
            let end = body.find(['\u{7}', ESCAPE]);
            end.map_or(after, |end| body[end + 1..].trim_start_matches('\\'))
        }
        Some('(' | ')') => body.strip_prefix(|c: char| c.is_ascii_alphanumeric()).unwrap_or(body),
        Some(' '..='~') => body,
        _ => after,
    }
}

/// Returns the number and the text of a line of a file as it was read: `   12→text`, or with a tab instead of the arrow.
pub fn numbered(line: &str) -> Option<(u64, &str)> {
    let rest = line.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let text = ['→', '\t'].iter().find_map(|mark| rest[digits..].strip_prefix(*mark))?;
    Some((rest[..digits].parse().ok()?, text))
}

/// A line of a file as it was read, without its number; any other line as it is.
pub fn without_number(line: &str) -> &str {
    numbered(line).map_or(line, |(_, text)| text)
}

/// True if a text is a file as it was read: its first lines are numbered in order.
pub fn is_numbered(text: &str) -> bool {
    let mut first = text.lines().take(2).map(|line| numbered(line).map(|(number, _)| number));
    match (first.next().flatten(), first.next()) {
        (Some(number), Some(next)) => next == number.checked_add(1),
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// True if `least` lines of a text pass a test, and that share of those that are not blank, in percent.
pub(super) fn are_most_lines(text: &str, test: impl Fn(&str) -> bool, least: usize, percent: usize) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let passed = lines().filter(|line| test(line)).count();
    passed >= least && passed * 100 >= lines().count() * percent
}

/// Formats a number of lines: `1 line`, `3,400 lines`.
pub fn count_lines(lines: usize) -> String {
    unit(&count(lines as u64), "line")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_a_terminal_shows() {
        for (text, expected) in [
            ("", &[][..]),
            ("a\r\nb  \r\n", &["a", "b"]),
            ("10 %\r50 %\r100 %\ndone", &["100 %", "done"]),
            ("10 %\r50 %\r\ndone", &["50 %", "done"]),
            ("old\rlines", &["old", "lines"]),
            ("\u{1b}[1;31mred\u{1b}[0m x", &["red x"]),
            ("\u{1b}]0;title\u{7}text", &["text"]),
            ("\u{1b}]8;;http://a\u{1b}\\link", &["link"]),
            ("\u{1b}]never ends", &["]never ends"]),
            ("\u{1b}(Bx\u{1b}", &["x"]),
            ("\u{1b}é\u{1b}[é\u{8}", &["éé"]),
            ("a\tb", &["a\tb"]),
        ] {
            assert_eq!(lines(text), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_of_lines_are_known() {
        for (line, expected) in
            [("    12→fn a()", "fn a()"), ("7\tx", "x"), ("  12 apples", "  12 apples"), ("12:34", "12:34"), ("", ""), ("→", "→")]
        {
            assert_eq!(without_number(line), expected);
        }
        for (text, expected) in [("1→a\n2→b", true), ("4\t./a\n8\t./b", false), ("1→a\nb", false), ("\n", false), ("1→a", true)]
        {
            assert_eq!(is_numbered(text), expected, "{text:?}");
        }
    }
}
