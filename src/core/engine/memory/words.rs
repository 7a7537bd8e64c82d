//! Texts of memories: their normal form, their keys and their days.

use crate::engine::{find_secrets, named_in};
use crate::model::Key;
use crate::model::limits::DAY_MILLISECONDS;
use crate::text::stop_words::is_stop_word;
use crate::text::words::spaced;

/// Returns a text as a memory file can hold it: without control characters, blanks at the ends of lines, repeated empty lines, and
/// comments that would be read as metadata.
pub fn normalized(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.replace("\r\n", "\n").split('\n') {
        let line: String = line.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect();
        let line = line.trim_end().replace("<!--", "&lt;!--");
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if let Some(first) = lines.first_mut() {
        *first = first.trim_start().to_owned();
    }
    lines.join("\n")
}

/// Returns true if a text holds a credential, or names a value as one: it is not kept.
pub fn holds_secret(text: &str) -> bool {
    !find_secrets(text.as_bytes()).is_empty() || !named_in(text).is_empty()
}

/// Returns the first line of a text.
pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns the checksum by which a text that a person changed is detected, without regard to the blanks that formatters change.
pub fn checksum(text: &str) -> u32 {
    let words: Vec<&str> = text.split_whitespace().collect();
    Key::from_bytes(words.join(" ").as_bytes()).0 as u32
}

/// Returns the key of a text that has no other topic: equal for texts with equal words.
pub fn key_of(text: &str) -> u64 {
    let words: Vec<String> = plain_words(text).collect();
    Key::from_bytes(words.join(" ").as_bytes()).0 as u64
}

/// Returns the words of a text, in lower case, without punctuation around them.
pub fn plain_words(text: &str) -> impl Iterator<Item = String> {
    spaced(text).map(|(_, word)| text[word].to_lowercase()).filter(|word| !word.is_empty())
}

/// Returns the words of a text that say something about its topic; all words if there are only others.
pub fn content_words(text: &str) -> Vec<String> {
    let (content, others): (Vec<String>, Vec<String>) = plain_words(text).partition(|word| !is_stop_word(word));
    if content.is_empty() { others } else { content }
}

/// Returns the beginning of the day of a moment, in milliseconds since 1970, UTC.
pub fn day_of(time: i64) -> i64 {
    time.div_euclid(DAY_MILLISECONDS) * DAY_MILLISECONDS
}

/// Formats a day: `2026-11-02`.
pub fn date(time: i64) -> String {
    let nearest = if time < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    let time = jiff::Timestamp::from_millisecond(time).unwrap_or(nearest);
    time.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

/// Parses a day.
pub fn parse_date(text: &str) -> Option<i64> {
    let date: jiff::civil::Date = text.parse().ok()?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_a_normal_form() {
        for (text, normal) in [
            ("  a  \r\n\r\n\n b \n\n", "a\n\n b"),
            ("a\u{1b}[31m\rb", "a [31m b"),
            ("a <!-- memory-1 active --> b", "a &lt;!-- memory-1 active --> b"),
            ("\n\t", ""),
        ] {
            assert_eq!(normalized(text), normal, "{text:?}");
            assert_eq!(normalized(normal), normal);
        }
    }

    #[test]
    fn checksums_ignore_line_breaks_and_keys_punctuation() {
        assert_eq!(checksum("use  `pnpm`,\n  always"), checksum("use `pnpm`, always"));
        assert_ne!(checksum("use `pnpm`"), checksum("use `npm`"));
        assert_eq!(key_of("Use `pnpm`, always."), key_of("use pnpm always"));
    }

    #[test]
    fn days_have_short_names() {
        assert_eq!(date(day_of(1_795_298_400_123)), "2026-11-21");
        assert_eq!(parse_date("2026-11-21"), Some(day_of(1_795_298_400_123)));
        assert_eq!((parse_date("2026-13-01"), parse_date("")), (None, None));
    }
}
