//! Base64 data in texts: it is sent and billed, but it is not read, searched or summarized.

use crate::engine::report::numbers::bytes;
use std::borrow::Cow;
use std::ops::Range;

/// Minimum characters of data.
const LEAST: usize = 400;
/// Minimum characters of a line of data that continues in the next one: encoders break lines at 60, 64 or 76.
const LEAST_LINE: usize = 60;
/// Minimum letters of each case, and digits, in data: hexadecimal numbers and rulers are not.
const LEAST_OF_CLASS: usize = 4;

/// Returns the places of base64 data in a text, in order.
fn data_in(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut searched, mut at) = (0, LEAST - 1);
    // Data as long as the step contains one of these places.
    while at < bytes.len() {
        if !is_run(bytes[at]) {
            at += LEAST;
            continue;
        }
        let start = bytes[searched..at].iter().rposition(|byte| !is_run(*byte)).map_or(searched, |place| searched + place + 1);
        let end = bytes[at..].iter().position(|byte| !is_run(*byte)).map_or(bytes.len(), |place| at + place);
        groups(text, start..end, &mut found);
        searched = end;
        at = end + LEAST;
    }
    found
}

/// Returns a text with a short note in the place of base64 data.
pub fn without_data(text: &str) -> Cow<'_, str> {
    let found = data_in(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut left, mut end) = (String::new(), 0);
    for place in found {
        left.push_str(&text[end..place.start]);
        left.push_str(&format!("(base64, {})", bytes(place.len() as u64)));
        end = place.end;
    }
    left.push_str(&text[end..]);
    Cow::Owned(left)
}

fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r')
}

/// Adds the data in a run of its characters and line feeds: one long line, or lines of one length with a shorter last one.
fn groups(text: &str, run: Range<usize>, found: &mut Vec<Range<usize>>) {
    // The place of the lines so far, their length, and their number.
    let mut group: Option<(Range<usize>, usize, usize)> = None;
    let mut close = |group: &mut Option<(Range<usize>, usize, usize)>| {
        found.extend(group.take().map(|(place, ..)| place).filter(|place| is_data(&text[place.clone()])));
    };
    let is_line = |end: usize| end == text.len() || text[..end].ends_with('\n');
    let mut start = run.start;
    for line in text[run].split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let place = start..start + content.len();
        start += line.len();
        match &mut group {
            Some((whole, length, lines)) if content.len() == *length => (whole.end, *lines) = (place.end, *lines + 1),
            // The run can end within a line of words.
            Some((whole, length, 2..)) if content.len() < *length && !content.is_empty() && is_line(start) => {
                whole.end = place.end;
                close(&mut group);
            }
            _ => {
                close(&mut group);
                group = (content.len() >= LEAST_LINE).then_some((place, content.len(), 1));
            }
        }
    }
    close(&mut group);
}

fn is_data(text: &str) -> bool {
    let is_of = |class: fn(&u8) -> bool| text.as_bytes().iter().filter(|byte| class(byte)).take(LEAST_OF_CLASS).count();
    let classes = [u8::is_ascii_uppercase as fn(&u8) -> bool, u8::is_ascii_lowercase, u8::is_ascii_digit];
    text.len() >= LEAST && classes.into_iter().all(|class| is_of(class) >= LEAST_OF_CLASS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;

    /// Returns base64 data of a number of bytes.
    fn data(bytes: u32) -> String {
        let bytes: Vec<u8> = (0..bytes).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    fn wrapped(data: &str, columns: usize) -> String {
        data.as_bytes().chunks(columns).map(|line| String::from_utf8_lossy(line).into_owned() + "\n").collect()
    }

    #[test]
    fn data_is_replaced_by_a_note() {
        let data = data(3000);
        for (text, expected) in [
            (data.clone(), "(base64, 4 kB)".to_owned()),
            (format!("file:\n{data}\nend"), "file:\n(base64, 4 kB)\nend".to_owned()),
            (
                format!("{{\"png\": \"data:image/png;base64,{data}\"}}"),
                "{\"png\": \"data:image/png;base64,(base64, 4 kB)\"}".into(),
            ),
            (format!("$ base64 x\n{}$", wrapped(&data, 76)), "$ base64 x\n(base64, 4 kB)\n$".to_owned()),
            (format!("x\n{}done", wrapped(&data, 64)), "x\n(base64, 4 kB)\ndone".to_owned()),
            (format!("{data} and {data}"), "(base64, 4 kB) and (base64, 4 kB)".to_owned()),
        ] {
            assert_eq!(without_data(&text), expected);
        }
    }

    #[test]
    fn texts_stay() {
        let names: String = (0..100).map(|name| format!("ParsedRow{name}\nfile/Name{name}\n")).collect();
        for text in [
            data(200),
            "0123456789abcdef".repeat(200),
            "=".repeat(2000),
            "a/b/c/".repeat(300),
            "It was Done in 2024, and 3 more. ".repeat(200),
            names,
            format!("{}\n", "-".repeat(78)).repeat(20),
        ] {
            assert_eq!(without_data(&text), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_keeps_all_but_data(before in "[a-z ,.\n]{0,600}", after in "[ ,.][a-z ,.\n]{0,600}") {
            let data = data(900);
            assert_eq!(without_data(&format!("{before}.{data}{after}")), format!("{before}.(base64, 1 kB){after}"));
        }
    }
}
