//! Inputs of tools: JSON objects in which only long texts are replaced; every other byte stays as it is.

use super::lines::cut;
use super::telling::Style;
use super::{extract, hint, is_shorter, trim};
use crate::model::Level;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Lines, and characters, from which on a text is trimmed.
const LONG_LINES: usize = 40;
const LONG_CHARACTERS: usize = 2000;
/// How a patch begins, and how the lines begin that name its files.
const PATCH: &str = "*** Begin Patch";
const FILES: &str = "*** ";
/// Characters of a command that stay at every level.
const COMMAND_CHARACTERS: usize = 200;
/// Characters of a trimmed command that stay, at its beginning and at its end.
const TRIMMED_COMMAND: (usize, usize) = (1200, 400);
/// How deep texts are looked for in objects and lists.
const DEPTH: usize = 8;
/// Ends of the names of members that stay whole: they say what the tool was pointed at.
const WHOLE: &[&str] =
    &["path", "pattern", "glob", "file", "directory", "cwd", "url", "uri", "id", "name", "type", "query", "description"];
/// Names of members that hold code.
const CODE: &[&str] = &["content", "old_string", "new_string", "old_str", "new_str", "new_source", "file_text", "code"];

/// The input of a tool use at a shorter level: a JSON object with the same keys in the same order, with its long texts shortened.
///
/// `marker` is put before the first text that was shortened, on a line of its own. Paths, patterns and the like stay, and so
/// do the first 200 characters of a command. `None` when the content is no object or nothing would get shorter.
pub fn tool_input(content: &str, level: Level, marker: &str) -> Option<String> {
    if matches!(level, Level::Original | Level::Archived) {
        return None;
    }
    let mut shortened = String::new();
    let mut copied = 0;
    for text in texts(content)? {
        let Some(short) = shorten(&text, level) else { continue };
        let short = if copied == 0 && !marker.is_empty() { format!("{marker}\n{short}") } else { short };
        // The text is a part of the content, so that the difference of their addresses is its place.
        let start = text.json.as_ptr() as usize - content.as_ptr() as usize;
        shortened.push_str(content.get(copied..start)?);
        shortened.push_str(&escaped(&short)?);
        copied = start + text.json.len();
    }
    if copied == 0 {
        return None;
    }
    shortened.push_str(&content[copied..]);
    is_shorter(&shortened, content).then_some(shortened)
}

/// The input of a tool use that is a text, a patch or a script, at a shorter level, behind `marker` on a line of its own.
/// `None` for an object, which is [`tool_input`]'s, or when nothing would get shorter.
pub fn text_input(content: &str, level: Level, marker: &str) -> Option<String> {
    if matches!(level, Level::Original | Level::Archived) || texts(content).is_some() {
        return None;
    }
    let forms = [Level::Trimmed, Level::Summarized, Level::Minimal].into_iter().filter(|milder| *milder <= level);
    let patch = content.lines().any(|line| line == PATCH);
    let shortest = forms.filter_map(|level| match level {
        Level::Trimmed => form(content, "input", Style::Code, level),
        _ if patch => Some(without_hunks(content)),
        _ => form(content, "command", Style::Code, level),
    });
    let shortest = shortest.min_by_key(String::len)?;
    let shortened = format!("{marker}\n{shortest}");
    is_shorter(&shortened, content).then_some(shortened)
}

/// A patch without its hunks: the files that it changes.
fn without_hunks(patch: &str) -> String {
    let (mut kept, mut left) = (String::new(), 0);
    for line in patch.lines() {
        if line.starts_with(FILES) {
            kept.push_str(line);
            kept.push('\n');
        } else {
            left += 1;
        }
    }
    format!("{kept}[… {left} lines omitted]")
}

/// The longest text in an input, one of several lines if there is any, and how it is to be read.
pub fn longest_text(content: &str) -> Option<(String, Style)> {
    let texts = texts(content)?;
    // Of equal texts the first one.
    let longest = texts.iter().rev().max_by_key(|text| (text.json.contains("\\n"), text.json.len()))?;
    Some((decoded(longest)?, longest.style()))
}

/// A string in an input.
struct Text<'a> {
    /// The name of the member that it is, or is an element of.
    name: String,
    /// It as it is written, with its quotes.
    json: &'a str,
}

impl Text<'_> {
    fn style(&self) -> Style {
        if CODE.contains(&&*self.name) { Style::Code } else { Style::Prose }
    }
}

/// The shortest form of a text that a level allows, if it is worth it. The written forms are compared: escapes have a length.
fn shorten(text: &Text<'_>, level: Level) -> Option<String> {
    let name = text.name.to_ascii_lowercase();
    if text.json.len() < LONG_LINES || WHOLE.iter().any(|end| name.ends_with(end)) {
        return None;
    }
    let whole = decoded(text)?;
    let forms = [Level::Trimmed, Level::Summarized, Level::Minimal].into_iter().filter(|milder| *milder <= level);
    let forms = forms.filter_map(|level| form(&whole, &name, text.style(), level));
    let forms = forms.filter_map(|form| Some((escaped(&form)?.len(), form)));
    let (_, shortest) = forms.min_by_key(|(length, _)| *length)?;
    is_shorter(&escaped(&shortest)?, text.json).then_some(shortest)
}

fn form(text: &str, name: &str, style: Style, level: Level) -> Option<String> {
    let is_long = || text.lines().count() > LONG_LINES || text.chars().count() > LONG_CHARACTERS;
    match (level, name) {
        (Level::Trimmed, _) if !is_long() => None,
        (Level::Trimmed, "command" | "cmd") => Some(cut(text, TRIMMED_COMMAND.0, TRIMMED_COMMAND.1).into_owned()),
        (_, "command" | "cmd") => Some(cut(text, COMMAND_CHARACTERS, 0).into_owned()),
        (Level::Trimmed, _) => Some(trim::trim(text, style, &|_| false)).filter(|text| !text.trim().is_empty()),
        (Level::Summarized, _) => extract::extract(text, style, &|_| false),
        (Level::Minimal, _) => Some(hint::detail_of(text, style)),
        (Level::Original | Level::Archived, _) => None,
    }
}

fn escaped(text: &str) -> Option<String> {
    serde_json::to_string(text).ok()
}

/// What a string says; `None` when it is no text (it has half a surrogate pair).
fn decoded(text: &Text<'_>) -> Option<String> {
    serde_json::from_str(text.json).ok()
}

/// All strings in a JSON object, in its order; `None` for anything else.
fn texts(content: &str) -> Option<Vec<Text<'_>>> {
    let mut found = Vec::new();
    let value: &RawValue = serde_json::from_str(content).ok()?;
    if !value.get().starts_with('{') {
        return None;
    }
    collect(value, "", DEPTH, &mut found);
    Some(found)
}

fn collect<'a>(value: &'a RawValue, name: &str, depth: usize, found: &mut Vec<Text<'a>>) {
    let json = value.get();
    match json.as_bytes().first() {
        Some(b'"') => found.push(Text { name: name.to_owned(), json }),
        Some(b'{') if depth > 0 => {
            let Members(members) = serde_json::from_str(json).unwrap_or_default();
            for (name, value) in members {
                collect(value, &name, depth - 1, found);
            }
        }
        Some(b'[') if depth > 0 => {
            let elements: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
            for element in elements {
                collect(element, name, depth - 1, found);
            }
        }
        _ => {}
    }
}

/// The members of an object in their order, as they are written.
#[derive(Default)]
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(input: Value, level: Level, expected: Option<Value>) {
        let shortened = tool_input(&input.to_string(), level, "[marker]");
        let shortened: Option<Value> = shortened.map(|text| serde_json::from_str(&text).unwrap());
        assert_eq!(shortened, expected, "{level:?}");
    }

    #[test]
    fn long_texts_are_shortened_and_the_first_one_is_marked() {
        let lines = |lines: std::ops::RangeInclusive<u32>| lines.map(|line| format!("let v{line} = {line};")).collect::<Vec<_>>();
        let long = lines(1..=100).join("\n");
        let short = format!("{}\n[… 68 lines omitted]\n{}", lines(1..=20).join("\n"), lines(89..=100).join("\n"));
        check(
            json!({"file_path": "/a", "edits": [{"old_string": "x", "new_string": long}, {"new_string": long}], "n": 1.50}),
            Level::Trimmed,
            Some(json!({
                "file_path": "/a",
                "edits": [{"old_string": "x", "new_string": format!("[marker]\n{short}")}, {"new_string": short}],
                "n": 1.50,
            })),
        );
        check(
            json!({"file_path": "/a", "content": long}),
            Level::Minimal,
            Some(json!({"file_path": "/a", "content": "[marker]\n100 lines: let v1 = 1;"})),
        );
    }

    #[test]
    fn what_a_tool_was_pointed_at_stays() {
        let long = "word ".repeat(1000);
        check(json!({"file_path": long, "pattern": long, "subagent_type": long}), Level::Minimal, None);
        let command = format!("{}[… 4,800 characters]", &long[..200]);
        check(json!({"command": long}), Level::Minimal, Some(json!({"command": format!("[marker]\n{command}")})));
    }

    #[test]
    fn what_is_short_or_no_object_stays() {
        for input in [json!({"content": "x"}), json!({}), json!([1]), json!("x".repeat(5000)), json!({"n": 1})] {
            check(input, Level::Minimal, None);
        }
        for broken in ["", "{", "{\"content\":", "null"] {
            assert_eq!(tool_input(broken, Level::Minimal, ""), None, "{broken}");
        }
    }

    #[test]
    fn an_input_that_is_a_text_is_shortened_as_one() {
        let patch = format!("*** Begin Patch\n*** Update File: a.rs\n{}*** End Patch\n", "+let value = 1;\n".repeat(90));
        let short = text_input(&patch, Level::Minimal, "[m]").unwrap();
        assert_eq!(short, "[m]\n*** Begin Patch\n*** Update File: a.rs\n*** End Patch\n[… 90 lines omitted]");
        let script = format!("run({});\n", "x".repeat(3000));
        assert_eq!(
            text_input(&script, Level::Summarized, "[m]").unwrap().len(),
            "[m]\n".len() + 200 + "[… 2,807 characters]".len()
        );
        let trimmed = text_input(&patch, Level::Trimmed, "[m]").unwrap();
        assert!(trimmed.starts_with("[m]\n*** Begin Patch\n") && trimmed.len() > short.len(), "{trimmed}");
        assert_eq!(text_input("short", Level::Minimal, "[m]"), None);
        assert_eq!(text_input("{}", Level::Minimal, "[m]"), None);
    }

    #[test]
    fn every_other_byte_stays() {
        let content = format!(
            "{{ \"n\" : 12345678901234567890123 , \"content\":\"{}\",\"n\":1e400, \"u\":\"\\u00e9\\ud800\" }}",
            "a\\n".repeat(90)
        );
        let shortened = tool_input(&content, Level::Minimal, "[m]").unwrap();
        assert_eq!(
            shortened,
            "{ \"n\" : 12345678901234567890123 , \"content\":\"[m]\\n90 lines: a\",\"n\":1e400, \"u\":\"\\u00e9\\ud800\" }"
        );
    }
}
