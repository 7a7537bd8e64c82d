//! Formats numbers, times and text from sessions for people.

use super::{Style, amount, plural};
use crate::engine::mask;
use crate::model::{Basis, Hidden, TokenCount, split_id};
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Formats a number of tokens: `600`, `3.2k`, `142k`, `1.2M`; an estimate has the prefix `~`.
pub fn tokens(count: TokenCount) -> String {
    format!("{}{}", if count.basis == Basis::Estimated { "~" } else { "" }, amount(count.round()))
}

/// Lists the numbers of at most `most` blocks: `#3, #4 and 5 more`.
pub fn numbered(blocks: &[u32], most: usize) -> String {
    let names = blocks.iter().take(most).map(|number| format!("#{number}"));
    let names = names.collect::<Vec<_>>().join(", ");
    match blocks.len().saturating_sub(most) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// Adds a line to a text.
pub fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Pads a text with spaces to `width` columns.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Formats a share as a percentage, without decimals from 10 % on.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value >= 9.95 || value == 0.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// Formats the time since a moment: `now`, `5 min`, `3 h`, `2 d`.
pub fn age(now: jiff::Timestamp, milliseconds: i64) -> String {
    let seconds = (now.as_millisecond() - milliseconds) / 1000;
    match seconds {
        ..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        172_800..5_184_000 => format!("{} d", seconds / 86_400),
        _ => format!("{} mo", seconds / 2_592_000),
    }
}

/// Formats the time since a moment as `5 min ago`, or as `just` if it is less than a minute.
pub fn ago(now: jiff::Timestamp, milliseconds: i64, just: &str) -> String {
    match age(now, milliseconds).as_str() {
        "now" => just.to_owned(),
        age => format!("{age} ago"),
    }
}

/// Formats a time in the user's time zone: `2026-11-21 14:03:07`.
pub fn time(style: &Style, milliseconds: i64) -> String {
    times(style, "%Y-%m-%d %H:%M:%S")(milliseconds)
}

/// Returns a function that formats a time as the time of day in the user's time zone: `14:03`.
pub fn times_of_day(style: &Style) -> impl Fn(i64) -> String + use<> {
    times(style, "%H:%M")
}

/// Formats a time as the time of day in the user's time zone: `14:03:07`.
pub fn clock_time(style: &Style, milliseconds: i64) -> String {
    times(style, "%H:%M:%S")(milliseconds)
}

/// Returns a function that formats the day of a Unix time in milliseconds: `2026-11-22`.
pub fn days(style: &Style) -> impl Fn(i64) -> String + use<> {
    times(style, "%Y-%m-%d")
}

fn times(style: &Style, format: &'static str) -> impl Fn(i64) -> String + use<> {
    let zone = (style.zone)();
    move |milliseconds| {
        let time = jiff::Timestamp::from_millisecond(milliseconds).map(|time| time.to_zoned(zone.clone()));
        time.map(|time| time.strftime(format).to_string()).unwrap_or_default()
    }
}

/// Lists the locations of blocks outside the window: `15 blocks: 12 before a compaction, 3 of subagents`, or `12 blocks before a
/// compaction`; empty if there are none.
pub fn hidden(hidden: &Hidden) -> String {
    let reasons = [
        (hidden.compacted, "before a compaction"),
        (hidden.branched, "on branches that were left"),
        (hidden.cut, "cut off by a missing row"),
        (hidden.sidechain, "of subagents"),
        (hidden.dropped, "no longer sent"),
    ];
    let blocks = plural(hidden.total() as usize, "block");
    let places: Vec<_> = reasons.into_iter().filter(|(count, _)| *count > 0).collect();
    match places[..] {
        [] => String::new(),
        [(_, place)] => format!("{blocks} {place}"),
        _ => {
            let places: Vec<String> = places.iter().map(|(count, place)| format!("{count} {place}")).collect();
            format!("{blocks}: {}", places.join(", "))
        }
    }
}

/// Escapes a text for a terminal: control characters and characters that reorder text are replaced by symbols. Credentials are
/// masked as well, before the text is truncated: a truncated credential could no longer be detected.
pub fn printable(text: &str) -> Cow<'_, str> {
    let masked = mask(text);
    if !masked.contains(is_harmful) {
        return masked;
    }
    Cow::Owned(masked.chars().map(|c| if is_harmful(c) { symbol(c) } else { c }).collect())
}

/// Returns true if a character controls a terminal: a control character, or a character that reorders text.
pub fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || is_reordering(c)
}

/// Returns the character that is printed in place of a harmful one.
pub fn symbol(c: char) -> char {
    match c {
        '\u{7f}' => '\u{2421}',
        c if c.is_ascii_control() => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        _ => '\u{fffd}',
    }
}

fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}' | '\u{2029}')
}

/// Truncates a text to `width` columns, with `…` at its end.
pub fn clip(text: &str, width: usize) -> String {
    let text = printable(text).replace(['\n', '\t'], " ");
    if text.width() <= width {
        return text;
    }
    let mut clipped = String::new();
    let mut columns = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if columns + wide + 1 > width {
            break;
        }
        columns += wide;
        clipped.push(character);
    }
    if width > 0 {
        clipped.push('…');
    }
    clipped
}

/// Returns the end of a text in at most `width` columns, with `…` at its start if it is truncated.
pub fn clip_start(text: &str, width: usize) -> String {
    let text = clip(text, usize::MAX);
    let mut left = text.width();
    if left <= width {
        return text;
    }
    let room = width.saturating_sub(1);
    let end = text.trim_start_matches(|c: char| {
        let goes = left > room;
        left -= if goes { c.width().unwrap_or(0) } else { 0 };
        goes
    });
    if width > 0 { format!("…{end}") } else { String::new() }
}

/// Wraps a text into lines of at most `width` columns, between words. All lines but the first are indented by `indent` spaces. A
/// word that is longer than a line, such as a sentence in a script without spaces, continues on the next line.
pub fn wrap(text: &str, indent: usize, width: usize) -> Vec<String> {
    let text = clip(text, usize::MAX);
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive(' ') {
        let mut full = used + word.trim_end().width() > width;
        for c in word.chars() {
            let columns = c.width().unwrap_or(0);
            full |= c != ' ' && used + columns > width;
            if full && used > indent {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
                used = indent;
            }
            full = false;
            line.push(c);
            used += columns;
        }
    }
    lines.push(line);
    lines.iter().map(|line| clip(line.trim_end(), width)).collect()
}

/// Returns the first eight characters of an id, after the word in front of it if there is one.
pub fn short_id(id: &str) -> String {
    let (word, rest) = split_id(id);
    let short: String = rest.chars().take(8).collect();
    format!("{word}{short}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_is_kept_by_columns() {
        for (text, width, clipped) in [("hello", 5, "hello"), ("hello", 4, "…llo"), ("日本語", 5, "…本語"), ("x", 0, "")]
        {
            assert_eq!(clip_start(text, width), clipped);
        }
    }

    #[test]
    fn texts_and_figures_are_formatted() {
        // Text is wrapped between words.
        assert_eq!(wrap("file  one two three", 6, 13), ["file  one two", "      three"]);
        assert_eq!(wrap("file  longer-than-that", 6, 13), ["file  longer-", "      than-th", "      at"]);
        assert_eq!(wrap("日本語", 0, 4), ["日本", "語"]);
        assert_eq!(wrap("a\tb\nc", 0, 80), ["a b c"]);
        assert_eq!(wrap("one two", 0, 80), ["one two"]);
        assert_eq!(wrap("", 0, 80), [""]);
        // Estimates are marked.
        assert_eq!(tokens(TokenCount::estimated(31_200.0)), "~31k");
        assert_eq!(tokens(TokenCount::measured(31_200)), "31k");
        // Control characters are harmless.
        assert_eq!(printable("a\u{1b}[31m\u{202e}b\n"), "a␛[31m\u{fffd}b\n");
    }

    #[test]
    fn text_is_clipped_by_columns() {
        for (text, width, clipped) in [("hello", 5, "hello"), ("hello", 4, "hel…"), ("日本語", 5, "日本…"), ("x", 0, "")]
        {
            assert_eq!(clip(text, width), clipped);
        }
    }

    #[test]
    fn ages_are_short() {
        let now = jiff::Timestamp::from_second(1_000_000).unwrap();
        for (before, text) in [(0, "now"), (120, "2 min"), (7_200, "2 h"), (200_000, "2 d")] {
            assert_eq!(age(now, (1_000_000 - before) * 1000), text);
        }
    }
}
