//! JSON: its shape and its values as indented lines, without quotes and brackets.

use super::piece::{LINE_END, parts_of_line};
use super::{Piece, Reducible};
use crate::model::BlockKind;
use serde_json::Value;
use std::borrow::Cow;

/// Bytes from which on a value is worth taking apart.
const LEAST_BYTES: usize = 300;
/// Elements of a list from which on the others count as more of the same.
const ELEMENTS: usize = 3;
/// Maximum depth at which values are split.
const DEPTH: usize = 16;
/// Bytes of an object that is written in one line.
const OBJECT_BYTES: usize = 200;

/// Returns true for a JSON object or list.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    let text = input.content.trim();
    let encloses = |open, close| text.starts_with(open) && text.ends_with(close);
    input.kind == BlockKind::ToolResult
        && text.len() >= LEAST_BYTES
        && (encloses('{', '}') || encloses('[', ']'))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(input.content.trim()) {
        collect(&value, "", None, 0, false, &mut pieces);
    }
    pieces
}

pub(super) fn collect(value: &Value, name: &str, under: Option<usize>, depth: usize, again: bool, pieces: &mut Vec<Piece<'_>>) {
    let indent = " ".repeat(depth.saturating_sub(1));
    let mut push = |text: String| pieces.push(Piece { under, again, ..Piece::line(Cow::Owned(format!("{indent}{text}"))) });
    match value {
        Value::Object(members) if depth > 0 && is_short(members) => {
            let members: Vec<String> = members.iter().map(|(name, value)| format!("{name}: {}", plain(value))).collect();
            push(format!("- {}", members.join(", ")));
        }
        Value::Object(members) if depth < DEPTH && !members.is_empty() => {
            let heading = heading(name, under, pieces, &indent, again);
            for (name, value) in members {
                collect(value, name, heading.or(under), depth + 1, again, pieces);
            }
        }
        Value::Array(elements) if depth < DEPTH && elements.iter().any(|element| element.is_object() || element.is_array()) => {
            let heading = heading(&format!("{name}[{}]", elements.len()), under, pieces, &indent, again);
            for (place, element) in elements.iter().enumerate() {
                collect(element, &place.to_string(), heading.or(under), depth + 1, again || place >= ELEMENTS, pieces);
            }
        }
        Value::String(text) => {
            let text = text.replace('\n', LINE_END);
            let mut parts = parts_of_line(&text).into_iter();
            push(format!("{name}: {}", &text[parts.next().unwrap_or_default()]));
            for part in parts {
                let text = Cow::Owned(text[part].to_owned());
                pieces.push(Piece { under, again, lines: 0, inline: true, ..Piece::line(text) });
            }
        }
        other => push(format!("{name}: {other}")),
    }
}

/// True if an object is so small that it reads best in one line.
fn is_short(members: &serde_json::Map<String, Value>) -> bool {
    let bytes: usize = members.iter().map(|(name, value)| name.len() + plain(value).len() + 4).sum();
    !members.is_empty() && bytes <= OBJECT_BYTES && members.values().all(|value| !value.is_object() && !value.is_array())
}

/// A value as a person would write it.
fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) if !text.contains('\n') => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn heading(name: &str, under: Option<usize>, pieces: &mut Vec<Piece<'_>>, indent: &str, again: bool) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    pieces.push(Piece { under, again, ..Piece::line(Cow::Owned(format!("{indent}{name}"))) });
    Some(pieces.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::super::check_pieces;
    use crate::model::ToolVerb;

    #[test]
    fn values_are_lines_under_their_keys() {
        let long = "x".repeat(300);
        check_pieces(
            "json",
            ToolVerb::Other,
            &format!(r#"{{"a":1,"items":[{{"name":"n","tags":["t"]}}],"text":"{long}"}}"#),
            &format!("a: 1\nitems[1]\n 0\n  name: n\n  tags: [\"t\"]\ntext: {long}"),
        );
    }
}
