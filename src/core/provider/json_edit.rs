//! Edits JSON documents written by people, by splicing: text that is not added or removed keeps its bytes, order and spacing.
//!
//! Removing is the exact inverse of adding. No record of the earlier document is needed, because the text shows it: a container
//! created by [`add`] begins with a line feed; one that existed and was empty gets its first member directly after its bracket.

use super::json::{Scanner, range_in};
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use std::ops::Range;

/// Reason for not editing a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("line {line}, column {column}: {why}")]
    NotJson { line: usize, column: usize, why: String },
    #[error("it has comments, and such a file is not changed")]
    Commented,
    #[error("'{0}' has an unexpected type")]
    Unexpected(String),
    #[error("it is not TOML: {0}")]
    NotToml(String),
    #[error("'{0}' takes no table with a header of its own")]
    NoTable(&'static str),
}

/// A member of an object or an element of an array, by its position in the text.
struct Member {
    /// Its name; empty for an element.
    name: String,
    /// Byte offset of its name, or for an element of its value.
    start: usize,
    value: Range<usize>,
}

/// Adds a value at the end of a container: after the other elements of an array, or under `name` in an object.
///
/// `path` names the container from the root; its missing parts are created, in a blank document also the root.
/// Errors: the document is not valid JSON, or a value on the path is not a container of the right type.
pub fn add(text: &str, path: &[&str], name: Option<&str>, value: &Value) -> Result<String, EditError> {
    if is_blank(text) {
        return Ok(format!("{}{text}", pretty(&wrapped(path, name, value), "  ", 0)));
    }
    let root = root(text)?;
    let unit = indentation(text, &root);
    let (mut container, mut depth) = (root, 0);
    expect(text, &container, b'{', "the document")?;
    for (place, step) in path.iter().enumerate() {
        let Some(next) = find(text, &container, step) else {
            let made = wrapped(&path[place + 1..], name, value);
            return Ok(insert(text, &container, Some(step), &made, &unit, depth));
        };
        let last = place + 1 == path.len();
        expect(text, &next, if last && name.is_none() { b'[' } else { b'{' }, step)?;
        (container, depth) = (next, depth + 1);
    }
    Ok(insert(text, &container, name, value, &unit, depth))
}

/// Removes the members of a container that are `ours`, and the containers that [`add`] created to hold them.
/// Errors: the document is not valid JSON. A container that is missing or of another type is not an error.
pub fn remove(text: &str, path: &[&str], ours: &dyn Fn(&str, &Value) -> bool) -> Result<String, EditError> {
    let mut text = text.to_owned();
    if is_blank(&text) {
        return Ok(text);
    }
    'again: loop {
        // Every container on the path, with the index of the next one in it.
        let mut container = root(&text)?;
        let mut way: Vec<(Range<usize>, usize)> = Vec::new();
        for step in path {
            let members = members(&text, &container);
            let Some(place) = members.iter().rposition(|member| member.name == *step) else { return Ok(text) };
            way.push((container, place));
            container = members[place].value.clone();
        }
        for (place, member) in members(&text, &container).iter().enumerate().rev() {
            let value = serde_json::from_str(&text[member.value.clone()]).unwrap_or_default();
            if ours(&member.name, &value) {
                way.push((container, place));
                text = without(&text, way);
                if is_blank(&text) {
                    return Ok(text);
                }
                continue 'again;
            }
        }
        return Ok(text);
    }
}

/// Returns the member names of an object in the document; empty if there is no such object.
pub fn names(text: &str, path: &[&str]) -> Vec<String> {
    let container = root(text).ok().and_then(|root| path.iter().try_fold(root, |container, step| find(text, &container, step)));
    container.map(|container| members(text, &container).into_iter().map(|member| member.name).collect()).unwrap_or_default()
}

/// Removes the last member of `way`, and then each container that was created for the removed value.
fn without(text: &str, mut way: Vec<(Range<usize>, usize)>) -> String {
    while let Some((container, place)) = way.pop() {
        let members = members(text, &container);
        let member = &members[place];
        let gone = match (place.checked_sub(1).map(|before| &members[before]), members.get(place + 1)) {
            (Some(before), _) => before.value.end..member.value.end,
            (None, Some(after)) => member.start..after.start,
            (None, None) if member.start == container.start + 1 => member.start..member.value.end,
            (None, None) => continue,
        };
        return format!("{}{}", &text[..gone.start], &text[gone.end..]);
    }
    // The root was created before the blank text of the document.
    text[text.trim_ascii_end().len()..].to_owned()
}

fn is_blank(text: &str) -> bool {
    text.trim_ascii().is_empty()
}

/// Wraps a value in the objects of a path and in an object under `name`, or without a name in an array.
fn wrapped(path: &[&str], name: Option<&str>, value: &Value) -> Value {
    let object = |name: &str, value: Value| Value::Object([(name.to_owned(), value)].into_iter().collect());
    let inner = name.map_or_else(|| Value::Array(vec![value.clone()]), |name| object(name, value.clone()));
    path.iter().rev().fold(inner, |inner, step| object(step, inner))
}

fn insert(text: &str, container: &Range<usize>, name: Option<&str>, value: &Value, unit: &str, depth: usize) -> String {
    let name = name.map(|name| format!("{}: ", Value::from(name))).unwrap_or_default();
    let value = pretty(value, unit, depth + 1);
    let (at, before) = match members(text, container).last() {
        Some(last) => (last.value.end, format!(",\n{}", unit.repeat(depth + 1))),
        None => (container.start + 1, String::new()),
    };
    format!("{}{before}{name}{value}{}", &text[..at], &text[at..])
}

/// Formats a value, with its inner lines indented one level deeper than `depth`.
fn pretty(value: &Value, unit: &str, depth: usize) -> String {
    let (inner, outer) = (unit.repeat(depth + 1), unit.repeat(depth));
    let lines = |brackets: [char; 2], lines: Vec<String>| {
        format!("{}\n{inner}{}\n{outer}{}", brackets[0], lines.join(&format!(",\n{inner}")), brackets[1])
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            let line = |(name, value): (&String, &Value)| format!("{}: {}", Value::from(&**name), pretty(value, unit, depth + 1));
            lines(['{', '}'], members.iter().map(line).collect())
        }
        Value::Array(elements) if elements.iter().any(|element| element.is_object() || element.is_array()) => {
            lines(['[', ']'], elements.iter().map(|element| pretty(element, unit, depth + 1)).collect())
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
        _ => value.to_string(),
    }
}

/// Returns the byte range of the root value, or an error if the document is not valid JSON.
fn root(text: &str) -> Result<Range<usize>, EditError> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let parsed = serde_json::from_str::<&RawValue>(&text[mark..]);
    let is_commented = || without_comments(&text[mark..]).is_some_and(|plain| serde_json::from_str::<IgnoredAny>(&plain).is_ok());
    let broken = |error: serde_json::Error| match is_commented() {
        true => EditError::Commented,
        false => EditError::NotJson { line: error.line(), column: error.column(), why: cause(&error) },
    };
    Ok(range_in(text.as_bytes(), parsed.map_err(broken)?))
}

/// Returns JSON with comments, and perhaps trailing commas, as some programs read it, without these; `None` if it has no comment.
fn without_comments(text: &str) -> Option<String> {
    let (mut plain, mut rest, mut has_comment) = (String::new(), text, false);
    while let Some(first) = rest.chars().next() {
        let end = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            [b'"', ..] => {
                let mut escaped = true;
                let is_end = |c: char| {
                    let was = std::mem::replace(&mut escaped, false);
                    escaped = c == '\\' && !was;
                    c == '"' && !was
                };
                rest.find(is_end).map_or(rest.len(), |end| end + 1)
            }
            _ => first.len_utf8(),
        };
        if matches!(first, ']' | '}') {
            plain.truncate(plain.trim_end().trim_end_matches(',').len());
        }
        has_comment |= first == '/';
        plain.push_str(if first == '/' { "" } else { &rest[..end] });
        rest = &rest[end..];
    }
    has_comment.then_some(plain)
}

fn cause(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(cause, _)| cause.to_owned())
}

fn expect(text: &str, value: &Range<usize>, bracket: u8, name: &str) -> Result<(), EditError> {
    if text.as_bytes()[value.start] == bracket { Ok(()) } else { Err(EditError::Unexpected(name.to_owned())) }
}

/// Returns the byte range of the value of a member; of equal names the last one, as the client reads it.
fn find(text: &str, container: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let mut members = members(text, container);
    members.iter().rposition(|member| member.name == name).map(|place| members.swap_remove(place).value)
}

/// Returns the members of an object or the elements of an array; empty for other values. The text must be valid JSON.
fn members(text: &str, container: &Range<usize>) -> Vec<Member> {
    let inside = &text.as_bytes()[container.clone()];
    let moved = |place: Range<usize>| container.start + place.start..container.start + place.end;
    let member = |scanner: &mut Scanner<'_>, name: Option<Range<usize>>| {
        let value = moved(scanner.value()?);
        let start = name.clone().map_or(value.start, |name| moved(name).start);
        let name = name.and_then(|name| serde_json::from_slice(&inside[name]).ok()).unwrap_or_default();
        Some(Member { name, start, value })
    };
    let mut scanner = Scanner::new(inside);
    let members = match inside[0] {
        b'{' => scanner.list([b'{', b'}'], |scanner| {
            let name = scanner.name()?;
            member(scanner, Some(name))
        }),
        _ => scanner.list([b'[', b']'], |scanner| member(scanner, None)),
    };
    members.unwrap_or_default()
}

/// Returns the indentation of one level: that of the document's first inner line, or two spaces.
fn indentation(text: &str, root: &Range<usize>) -> String {
    let inside = &text[root.start + 1..root.end];
    let line = inside.split_once('\n').map(|(_, rest)| rest).filter(|_| inside.trim_start().len() > 1);
    let indent = line.map(|line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect::<String>());
    indent.filter(|indent| !indent.is_empty()).unwrap_or_else(|| "  ".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_comments_is_not_called_broken() {
        let is_commented = |text: &str| matches!(add(text, &["a"], Some("b"), &Value::Null), Err(EditError::Commented));
        for text in ["{\n  // the \"servers\"\n  \"a\": {},\n}", "/* } */ {\"a\": {\"c\": \"// \\\" /*\", }}"] {
            assert!(is_commented(text), "{text}");
        }
        for text in ["{\"a\": // x\n", "{\"a\": {},}", "{\"a\": \"// x}", "{\"a\": {}}}", "{\"a\": {}}"] {
            assert!(!is_commented(text), "{text}");
        }
    }
}
