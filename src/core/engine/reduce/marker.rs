//! Marker line of a shortened content: the number that restores it, its level and its size.
//!
//! `[@412 | archived from 3.2k | Read src/auth.rs | done with auth | 120 lines]`
//!
//! It is in-band: the model reads it as part of the content. The rest of the content follows it.

use crate::engine::report::numbers::amount;
use crate::model::{BlockNumber, Conventions, Level, Marker};
use crate::text::cut::cut_name;
use serde_json::Deserializer;
use std::borrow::Cow;

/// Maximum characters of the label of a block, within [`HINT_CHARACTERS`].
pub const LABEL_CHARACTERS: usize = 24;
/// Maximum characters of a hint that tells a failure or an answer, beside the label.
pub const OUTCOME_CHARACTERS: usize = 64;
/// Maximum characters of label and hint together; at this limit, half of all marker lines have less than 25 tokens.
pub const HINT_CHARACTERS: usize = 40;
const REASON_CHARACTERS: usize = 60;

/// Fields of a marker line, without the level; empty parts are omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line<'a> {
    pub number: BlockNumber,
    pub tokens: f64,
    /// Label of the block: the tool and its target.
    pub label: &'a str,
    pub reason: &'a str,
    pub hint: &'a str,
}

/// Returns the marker line of a block at a level. `label` and `hint` are only used if no content is kept.
pub fn line(level: Level, line: &Line<'_>) -> String {
    let size = amount(line.tokens.max(0.0).round() as u64);
    let mut text = format!("[@{} | {} from {size}", line.number, level.name());
    for (part, limit) in [(line.label, LABEL_CHARACTERS), (line.reason, REASON_CHARACTERS), (line.hint, OUTCOME_CHARACTERS)] {
        let part = part_of(part, limit);
        if !part.is_empty() {
            text.push_str(" | ");
            text.push_str(&part);
        }
    }
    text.push(']');
    text
}

/// Returns a marker line that also says what was in its place.
pub(super) fn telling(marker: &str, told: &str) -> String {
    marker.strip_suffix(']').map_or_else(|| marker.to_owned(), |start| format!("{start} | {}]", part_of(told, HINT_CHARACTERS)))
}

/// Returns the mark of a text of which nothing is left.
pub(super) fn gap(told: &str) -> String {
    format!("[… {}]", part_of(told, HINT_CHARACTERS))
}

/// Returns the opening tag of a client insertion at the start of a content; empty if there is none. The marker line follows it.
pub fn client_tag(content: &str, conventions: &Conventions) -> &'static str {
    conventions.opening_tags.iter().find(|tag| content.starts_with(**tag)).copied().unwrap_or_default()
}

/// Parses the marker line at the start of a content, after its client tag; returns it with the rest, or `None` if there is no marker line.
///
/// A quoted marker line of another block is parsed as well. It is valid for a block only if it contains the block's own number
/// ([`crate::engine::outline`]): the author of a text cannot know its number.
pub fn parse(content: &str) -> Option<(Marker, &str)> {
    let (first, rest) = content.split_once('\n').unwrap_or((content, ""));
    let inner = first.strip_prefix("[@")?.strip_suffix(']')?;
    let mut parts = inner.split(" | ");
    let number = parts.next().filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))?;
    let number = number.parse().ok().filter(|number| *number > 0)?;
    let (level, size) = parts.next()?.split_once(" from ")?;
    let level = Level::from_name(level).filter(|level| *level != Level::Original)?;
    let tokens = crate::engine::selector::amount(size)?;
    Some((Marker { number, level, tokens }, rest))
}

/// Returns what is left of a shortened content without the lines that aperture wrote: the marker line, after the client tag, and marks
/// of omitted lines. Any other content is returned as it is.
pub fn without_marks<'a>(content: &'a str, conventions: &Conventions) -> Cow<'a, str> {
    let Some((_, rest)) = parse(&content[client_tag(content, conventions).len()..]) else { return content.into() };
    let own = |line: &'a str| {
        let gap = line.trim_start().strip_prefix("[…").and_then(|gap| gap.split_once(']'));
        gap.map_or(line, |(_, kept)| kept)
    };
    rest.split_inclusive('\n').map(own).collect::<String>().into()
}

/// The same at the start of any text of a tool input, a JSON value, however deep it is nested.
pub fn find_in_input(input: &str) -> Option<Marker> {
    input.match_indices("\"[@").filter(|(at, _)| !input[..*at].ends_with('\\')).find_map(|(at, _)| {
        let text = Deserializer::from_str(&input[at..]).into_iter::<String>().next()?.ok()?;
        Some(parse(&text)?.0)
    })
}

/// Returns a part on one line, without the characters of the grammar, truncated with `…`, between words if that does not lose much.
pub fn part_of(text: &str, limit: usize) -> String {
    let text = crate::engine::mask(text);
    let clean: String = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty() && *word != "|")
        .flat_map(|word| [" ", word])
        .skip(1)
        .map(|word| word.replace(['[', ']'], ""))
        .collect();
    cut_name(&clean, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parsed_back() {
        for level in [Level::Trimmed, Level::Summarized, Level::Minimal, Level::Archived] {
            let fields = Line { number: 412, tokens: 3_240.0, label: "Read src/[a].rs", reason: "a | b\n] c", hint: "120 lines" };
            let written = line(level, &fields);
            let content = format!("{written}\nrest");
            let (marker, rest) = parse(&content).unwrap();
            assert_eq!((marker.number, marker.level, marker.tokens, rest), (412, level, 3_200.0, "rest"), "{written}");
        }
    }

    #[test]
    fn a_line_says_what_it_was_and_how_to_get_it_back() {
        let fields = Line { number: 7, tokens: 812.0, label: "Bash cargo test", reason: "done", hint: "2 errors" };
        assert_eq!(line(Level::Archived, &fields), "[@7 | archived from 812 | Bash cargo test | done | 2 errors]");
        let fields = Line { label: "", hint: "", ..fields };
        assert_eq!(line(Level::Trimmed, &fields), "[@7 | trimmed from 812 | done]");
    }

    #[test]
    fn the_lines_of_aperture_are_not_those_of_the_content() {
        let check = |content: &str, expected: &str| {
            assert_eq!(without_marks(content, &Conventions::default()), expected, "{content}");
        };
        check("[@7 | trimmed from 1.8k]\nThe login\n[… 9 lines] waits.\n[…]\n", "The login\n waits.\n\n");
        check("[@7 | archived from 199 | 3 lines]", "");
        check("[… 9 lines] waits", "[… 9 lines] waits");
    }

    #[test]
    fn other_lines_are_not_markers() {
        for text in [
            "",
            "[@7]",
            "[@7 | original from 3]",
            "[@expand(7) | trimmed from 3]",
            "[@+7 | trimmed from 3]",
            "[@0 | trimmed from 3]",
            "text",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        for input in [
            r#"{"path":"a","content":"[@7 | minimal from 3]\nx\n"}"#,
            r#"{"todos":[{"content":"[@7 | minimal from 3]\nx","status":"pending"}]}"#,
            r#"{"path":"[@a","text":"\"[@8 | minimal from 3]","list":[["[@7 | minimal from 3]"]]}"#,
        ] {
            assert_eq!(find_in_input(input).map(|marker| marker.number), Some(7), "{input}");
        }
        assert_eq!(find_in_input(r#"{"command":"echo '[@7 | minimal from 3]'"}"#), None);
    }

    proptest::proptest! {
        #[test]
        fn any_part_is_parsed_back(label in "\\PC{0,80}", reason in "[\\PC\n]{0,80}", number in 1u32..9999, tokens in 0f64..2e6) {
            let written = line(Level::Archived, &Line { number, tokens, label: &label, reason: &reason, hint: &reason });
            let (marker, rest) = parse(&written).unwrap();
            proptest::prop_assert_eq!((marker.number, marker.level, rest), (number, Level::Archived, ""));
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(text in "\\PC{0,80}") {
            parse(&text);
            find_in_input(&text);
        }
    }
}
