//! Inputs of tools: JSON objects in which only long texts are replaced; every other byte stays as it is.

use super::nesting::nest;
use super::piece::line_pieces;
use super::salience::Style;
use super::{ALWAYS, Outline, Part, Piece, marker};
use crate::model::{InputNames, PlanList, starts_with_any};
use crate::text::json::{document, elements, members, range_in};
use serde_json::value::RawValue;
use std::ops::Range;

/// Bytes from which on a text can get shorter.
const LONG_BYTES: usize = 160;
/// Bytes that a text must get shorter by.
const SAVED_BYTES: usize = 40;
const COMMAND_BYTES: usize = 200;
/// Maximum depth at which texts are searched in objects and lists.
const DEPTH: usize = 8;
/// Suffixes of member names that are kept whole: they contain the target of the tool.
const WHOLE: &[&str] =
    &["path", "pattern", "glob", "file", "directory", "cwd", "url", "uri", "id", "name", "type", "query", "description"];
/// Name of members that hold code which is not the text of a file.
const CODE: &str = "code";

/// Splits the long texts in the input of a tool into pieces; `None` if there is no long text.
///
/// Paths, patterns and similar values are kept, and so are the first 200 characters of a command.
/// The list of a `plan` is one piece: lists keep their entries, or go.
pub fn outline<'a>(content: &str, names: &InputNames, plan: Option<PlanList<'_>>) -> Option<Outline<'a>> {
    let of_plan = plan.map(|plan| (range_in(content.as_bytes(), plan.json), plan));
    let is_apart =
        |text: &Text<'_>| of_plan.as_ref().is_none_or(|(list, _)| !list.contains(&range_in(content.as_bytes(), text.json).start));
    let texts = texts(content)?;
    let mut parts: Vec<Part<'a>> =
        texts.iter().filter(|text| is_apart(text)).filter_map(|text| part(text, content, names)).collect();
    if let Some((place, plan)) = of_plan {
        let piece = Piece { lines: plan.texts.len(), ..Piece::line(plan.texts.join("\n").into()) };
        let entry = Some(plan.entry.map(str::to_owned));
        parts.push(Part { pieces: vec![piece], place: Some(place), style: Style::Prose, entry });
        parts.sort_by_key(|part| part.place.as_ref().map(|place| place.start));
    }
    (!parts.is_empty()).then_some(Outline { parts })
}

/// The pieces of the input of a tool that is a text: a patch or a script. Of a patch the lines stay that name its files.
pub fn text_outline<'a>(content: &'a str, names: &InputNames) -> Option<Outline<'a>> {
    if texts(content).is_some() {
        return None;
    }
    let mut pieces = line_pieces(content, Style::Code);
    let mut file = None;
    for (place, piece) in pieces.iter_mut().enumerate() {
        if starts_with_any(&piece.text, &names.patch_files) {
            piece.salience = ALWAYS;
            file = Some(place);
        } else {
            piece.under = file;
        }
    }
    nest(&mut pieces);
    Some(Outline { parts: vec![Part { pieces, place: None, style: Style::Code, entry: None }] })
}

fn part<'a>(text: &Text<'_>, content: &str, names: &InputNames) -> Option<Part<'a>> {
    let name = text.name.to_ascii_lowercase();
    if text.json.len() < LONG_BYTES || WHOLE.iter().any(|end| name.ends_with(end)) {
        return None;
    }
    let whole = decoded(text)?;
    let style = text.style(names);
    let mut pieces: Vec<Piece<'a>> = line_pieces(&whole, style).into_iter().map(Piece::into_owned).collect();
    if style == Style::Code {
        nest(&mut pieces);
    }
    if names.commands.contains(&&*name) {
        let mut bytes = 0;
        for piece in pieces.iter_mut().take_while(|piece| {
            let first = bytes < COMMAND_BYTES;
            bytes += piece.text.len();
            first
        }) {
            piece.salience = ALWAYS;
        }
    }
    Some(Part { pieces, place: Some(range_in(content.as_bytes(), text.json)), style, entry: None })
}

/// The rest of a text in an input.
pub enum Rest {
    Some(String),
    /// Nothing is left: it says what the text was.
    Told(String),
}

impl Rest {
    /// Returns the text after a marker line, if there is one.
    fn marked(self, marker: Option<&str>) -> String {
        match (self, marker) {
            (Rest::Some(text), None) => text,
            (Rest::Some(text), Some(marker)) => format!("{marker}\n{text}"),
            (Rest::Told(told), None) => marker::gap(&told),
            (Rest::Told(told), Some(marker)) => marker::telling(marker, &told),
        }
    }
}

/// Replaces texts in the input of a tool use: returns a JSON object with the same keys in the same order.
///
/// `marker` is inserted before the first text that gets shorter, on its own line. `None` if nothing would get shorter.
pub fn assembled<'a>(
    content: &str,
    marker: &str,
    texts: impl Iterator<Item = (Range<usize>, Option<&'a [String; 2]>, Rest)>,
) -> Option<String> {
    let mut assembled = String::new();
    let mut copied = 0;
    for (place, entry, rest) in texts {
        let short = rest.marked(Some(marker).filter(|marker| copied == 0 && !marker.is_empty()));
        let mut written = serde_json::to_string(&short).ok()?;
        if let Some([before, after]) = entry {
            written = format!("[{before}{written}{after}]");
        }
        if written.len() + SAVED_BYTES > place.len() {
            continue;
        }
        assembled.push_str(content.get(copied..place.start)?);
        assembled.push_str(&written);
        copied = place.end;
    }
    if copied == 0 {
        return None;
    }
    assembled.push_str(&content[copied..]);
    Some(assembled)
}

/// True if an input is a JSON object with texts, and not a text.
pub fn has_texts(content: &str) -> bool {
    texts(content).is_some_and(|texts| !texts.is_empty())
}

struct Text<'a> {
    /// The name of the member that it is, or is an element of.
    name: String,
    /// It as it is written, with its quotes.
    json: &'a str,
}

impl Text<'_> {
    fn style(&self, names: &InputNames) -> Style {
        let name = &*self.name;
        let code = name == CODE || names.replaced.contains(&name) || names.written.contains(&name);
        if code { Style::Code } else { Style::Prose }
    }
}

/// Decodes a string; `None` if it is not text (it has half a surrogate pair).
fn decoded(text: &Text<'_>) -> Option<String> {
    serde_json::from_str(text.json).ok()
}

/// All strings in a JSON object, in its order; `None` for anything else.
fn texts(content: &str) -> Option<Vec<Text<'_>>> {
    let mut found = Vec::new();
    collect(document(content.as_bytes())?, "", DEPTH, &mut found);
    Some(found)
}

fn collect<'a>(value: &'a RawValue, name: &str, depth: usize, found: &mut Vec<Text<'a>>) {
    let json = value.get();
    match json.as_bytes().first() {
        Some(b'"') => found.push(Text { name: name.to_owned(), json }),
        Some(b'{') if depth > 0 => {
            for (name, value) in members(value) {
                collect(value, &name, depth - 1, found);
            }
        }
        Some(b'[') if depth > 0 => {
            for element in elements(value) {
                collect(element, name, depth - 1, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_patch_stand_under_their_file() {
        let names = InputNames { patch_files: vec!["*** Update File: "], ..InputNames::default() };
        let outline = text_outline("*** Begin Patch\n*** Update File: a.rs\n-a\n+b\n*** End Patch", &names).unwrap();
        let pieces = outline.texts().next().unwrap();
        let found: Vec<_> = pieces.iter().map(|piece| (piece.salience >= ALWAYS, piece.under)).collect();
        assert_eq!(found[..4], [(false, None), (true, None), (false, Some(1)), (false, Some(1))]);
    }

    /// JSON allows two members of one name; the client reads the last, and an undo needs both.
    #[test]
    fn members_of_one_name_keep_their_places() {
        let long = "a line of the file\\n".repeat(20);
        let content = format!(r#"{{"content":"{long}","z":1,"content":"{long}{long}","a":"{long}"}}"#);
        let outline = outline(&content, &InputNames { written: vec!["content"], ..InputNames::default() }, None).unwrap();
        let places: Vec<Range<usize>> = outline.parts.iter().filter_map(|part| part.place.clone()).collect();
        assert_eq!(places.len(), 3);
        let shortened = assembled(
            &content,
            "",
            places.into_iter().zip(["first", "second", "third"]).map(|(place, text)| (place, None, Rest::Some(text.to_owned()))),
        );
        assert_eq!(shortened.unwrap(), r#"{"content":"first","z":1,"content":"second","a":"third"}"#);
    }
}
