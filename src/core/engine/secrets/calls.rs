//! Credentials among the arguments of a call in a program.

use super::Secret;
use super::passwords::{found, line, value};
use super::values::{is_key, is_password};
use std::ops::Range;

/// Bytes before the answer of a script in which the question is.
const QUESTION_BYTES: usize = 200;

/// Returns the literals of a call, from the offset after its bracket.
fn literals(text: &[u8], at: usize) -> Vec<Range<usize>> {
    let line = line(text, at);
    let rest = &text[line.clone()];
    let rest = &rest[..memchr::memchr(b')', rest).unwrap_or(rest.len())];
    let quotes: Vec<usize> = memchr::memchr2_iter(b'"', b'\'', rest).collect();
    let literal = |pair: &[usize]| {
        let range = line.start + pair[0] + 1..line.start + pair[1];
        // In JSON, a backslash precedes the quote.
        range.start..range.end - usize::from(text[range].ends_with(b"\\"))
    };
    quotes.chunks_exact(2).map(literal).collect()
}

fn password(text: &[u8], range: Option<&Range<usize>>) -> Vec<Secret> {
    let range = range.filter(|range| is_password(&text[(*range).clone()], false)).cloned();
    range.map(|range| Secret { range, kind: "password" }).into_iter().collect()
}

/// Finds the password in the second literal of a call.
pub(super) fn user_and_password(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    password(text, literals(text, end).get(1))
}

/// Finds the password among the literals of a call: the one behind the name of the user, which can follow an address.
pub(super) fn connection(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let literals = literals(text, end);
    password(text, literals.get(2).or(literals.get(1)))
}

/// Finds a generated key among the literals of a call.
pub(super) fn key(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let is_value = |range: &Range<usize>| range.len() >= 16 && is_key(&text[range.clone()], false);
    literals(text, end).into_iter().find(is_value).map(|range| Secret { range, kind: "named-key" }).into_iter().collect()
}

pub(super) fn first_literal(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let quote = memchr::memchr2(b'"', b'\'', &text[line.clone()]);
    quote.map_or_else(Vec::new, |quote| password(text, Some(&value(text, line.start + quote, line.end))))
}

/// Finds the password that a script types, with the key that ends it: `send "…\\r"`.
pub(super) fn typed(text: &[u8], start: usize, end: usize) -> Vec<Secret> {
    let range = value(text, end, line_with_keys(text, end));
    let before = &text[start.saturating_sub(QUESTION_BYTES)..start];
    let is_asked = memchr::memmem::find(before, b"assword").is_some();
    let is_line = text[range.end..].starts_with(b"\\") || text[start..end].ends_with(b"(");
    let is_value = is_line && range.len() >= 8 && is_password(&text[range.clone()], !is_asked);
    if is_value { found(text, range, is_asked) } else { Vec::new() }
}

/// Returns the end of a line in which line feeds are written as escapes.
fn line_with_keys(text: &[u8], at: usize) -> usize {
    let end = text.len().min(at + QUESTION_BYTES);
    memchr::memchr(b'\n', &text[at..end]).map_or(end, |length| at + length)
}

/// Finds the password in the row that a statement inserts, from the place of its name among the columns:
/// `(name, password) VALUES ('a', '…')`.
pub(super) fn inserted(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let before = &text[start.saturating_sub(200)..start];
    let columns = &before[memchr::memrchr(b'(', before)? + 1..];
    let place = columns.iter().filter(|byte| **byte == b',').count();
    let rest = &text[end..text.len().min(end + 400)];
    let close = memchr::memchr(b')', rest)
        .filter(|close| rest[..*close].iter().all(|byte| byte.is_ascii_alphanumeric() || b"_, \"`\\".contains(byte)))?;
    let values = close + 1 + rest[close + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let open = rest
        .get(values..values + 6)
        .filter(|word| word.eq_ignore_ascii_case(b"values"))
        .and_then(|_| memchr::memchr(b'(', &rest[values..]))?;
    let from = end + values + open + 1;
    let row = &text[from..line_with_keys(text, from)];
    let offset: usize = row.split(|byte| *byte == b',').take(place).map(|cell| cell.len() + 1).sum();
    let space = row.get(offset..)?.iter().take_while(|byte| **byte == b' ').count();
    let range = value(text, from + offset + space, from + row.len());
    let is_literal = text[..range.start].ends_with(b"'") || text[..range.start].ends_with(b"\"");
    if is_literal { password(text, Some(&range)).pop() } else { None }
}
