//! JSON: its shape and its values as indented lines, without quotes and brackets.

use super::piece::{LINE_END, parts_of_line};
use super::{Piece, Reducible, reducer};
use crate::model::BlockKind;
use serde_json::Value;
use std::borrow::Cow;

/// Bytes from which on a value is worth taking apart.
const LEAST_BYTES: usize = 300;
/// Elements of a list from which on the others count as more of the same.
const ELEMENTS: usize = 3;
/// Maximum depth at which values are split.
const DEPTH: usize = 16;
/// Words of a text that is worth a hint.
const SENTENCE_WORDS: usize = 4;
/// Bytes of an object that is written in one line.
const OBJECT_BYTES: usize = 200;

/// Returns true for a JSON object or list.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    let text = input.content.trim();
    let encloses = |open, close| text.starts_with(open) && text.ends_with(close);
    matches!(input.kind, BlockKind::ToolResult | BlockKind::Attachment)
        && text.len() >= LEAST_BYTES
        && (encloses('{', '}') || encloses('[', ']'))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut values = Values { input, pieces: Vec::new() };
    if let Ok(value) = serde_json::from_str::<Value>(input.content.trim()) {
        values.collect(&value, "", None, 0, false);
    }
    values.pieces
}

/// Returns the longest text in a JSON content; `None` if no value is a sentence.
pub(super) fn longest_text(input: &Reducible<'_>) -> Option<String> {
    let value = fits(input).then(|| serde_json::from_str::<Value>(input.content.trim()).ok())??;
    let (mut values, mut longest) = (vec![&value], "");
    while let Some(value) = values.pop() {
        match value {
            Value::Object(members) => values.extend(members.values()),
            Value::Array(elements) => values.extend(elements),
            Value::String(text) if text.len() > longest.len() => longest = text,
            _ => {}
        }
    }
    (longest.split_whitespace().nth(SENTENCE_WORDS - 1).is_some()).then(|| longest.to_owned())
}

/// The pieces of values, behind those that a content has before them.
pub(super) struct Values<'i, 'a> {
    pub input: &'i Reducible<'i>,
    pub pieces: Vec<Piece<'a>>,
}

impl Values<'_, '_> {
    /// Adds the pieces of a value with its name, under a piece, at a depth.
    pub fn collect(&mut self, value: &Value, name: &str, under: Option<usize>, depth: usize, again: bool) {
        let indent = " ".repeat(depth.saturating_sub(1));
        match value {
            Value::Object(members) if depth > 0 && is_short(members) => {
                let members: Vec<String> = members.iter().map(|(name, value)| format!("{name}: {}", plain(value))).collect();
                self.push(format!("{indent}- {}", members.join(", ")), under, again);
            }
            Value::Object(members) if depth < DEPTH && !members.is_empty() => {
                let heading = if name.is_empty() { under } else { Some(self.push(format!("{indent}{name}"), under, again)) };
                for (name, value) in members {
                    self.collect(value, name, heading, depth + 1, again);
                }
            }
            Value::Array(elements)
                if depth < DEPTH && elements.iter().any(|element| element.is_object() || element.is_array()) =>
            {
                let heading = self.push(format!("{indent}{name}[{}]", elements.len()), under, again);
                for (place, element) in elements.iter().enumerate() {
                    self.collect(element, &place.to_string(), Some(heading), depth + 1, again || place >= ELEMENTS);
                }
            }
            Value::String(text) if text.len() >= LEAST_BYTES && text.trim_end().contains('\n') => {
                let heading = self.push(format!("{indent}{name}:"), under, again);
                self.collect_lines(text, heading, again);
            }
            Value::String(text) => {
                let text = text.replace('\n', LINE_END);
                let mut parts = parts_of_line(&text).into_iter();
                self.push(format!("{indent}{name}: {}", &text[parts.next().unwrap_or_default()]), under, again);
                for part in parts {
                    let text = Cow::Owned(text[part].to_owned());
                    self.pieces.push(Piece { under, again, lines: 0, inline: true, ..Piece::line(text) });
                }
            }
            other => {
                self.push(format!("{indent}{name}: {other}"), under, again);
            }
        }
    }

    fn push(&mut self, text: String, under: Option<usize>, again: bool) -> usize {
        self.pieces.push(Piece { under, again, ..Piece::line(Cow::Owned(text)) });
        self.pieces.len() - 1
    }

    /// Adds the lines of a text as a content of their own, under the name of the value.
    fn collect_lines(&mut self, text: &str, heading: usize, again: bool) {
        let first = self.pieces.len();
        let part = Reducible { content: text, held: &[], ..*self.input };
        let pieces = reducer(&part).map(|reducer| (reducer.pieces)(&part)).unwrap_or_default();
        self.pieces.extend(pieces.into_iter().map(|piece| {
            let under = piece.under.map_or(heading, |under| under + first);
            Piece { under: Some(under), again: again || piece.again, ..piece.into_owned() }
        }));
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

#[cfg(test)]
mod tests {
    use super::super::check_pieces;
    use super::*;
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

    #[test]
    fn a_long_text_is_its_lines_under_its_key() {
        let lines = "The first finding.\n\n- src/a.rs reads twice\n".repeat(8);
        let content = serde_json::json!({"agent": "a1", "status": {"completed": lines}}).to_string();
        let expected = format!("agent: a1\nstatus\n completed:\n{}", lines.trim_end());
        check_pieces("json", ToolVerb::Other, &content, &expected);
        let input = Reducible::plain(BlockKind::ToolResult, &content);
        let pieces = pieces(&input);
        assert!(pieces[3..].iter().all(|piece| piece.under.is_some_and(|under| under >= 2)), "{pieces:?}");
        assert_eq!(super::super::hint(&input, 60), "24 lines: The first finding.");
    }
}
