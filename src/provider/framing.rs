//! Framing: which bytes of a session are its rows.

use super::json;
use serde_json::value::RawValue;
use std::ops::Range;

/// The division of the bytes of a session into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Each line that is not blank is a row.
    Lines,
    /// The bytes are one JSON object. Each element of the arrays in these members is a row; any other value of such a member is
    /// one row, except `null`.
    Elements(&'static [&'static str]),
}

impl Framing {
    /// Returns the byte range of each row, in ascending order. Bytes that are not a JSON object are a single row of
    /// [`Framing::Elements`], so that they are reported as broken.
    pub fn rows(self, bytes: &[u8]) -> Vec<Range<usize>> {
        match self {
            Framing::Lines => lines(bytes),
            Framing::Elements(names) => elements(bytes, names),
        }
    }
}

fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        if !bytes[start..end].trim_ascii().is_empty() {
            rows.push(start..end);
        }
        start = end + 1;
    }
    rows
}

fn elements(bytes: &[u8], names: &[&str]) -> Vec<Range<usize>> {
    let Some(document) = document(bytes) else {
        let all = 0..bytes.len();
        return if bytes.trim_ascii().is_empty() { Vec::new() } else { vec![all] };
    };
    let mut rows = Vec::new();
    for name in names {
        // Of equal names the last one counts.
        let Some(value) = json::member(document, name).filter(|value| value.get() != "null") else { continue };
        match value.get().starts_with('[') {
            true => rows.extend(json::elements(value).into_iter().map(|element| json::range_in(bytes, element))),
            false => rows.push(json::range_in(bytes, value)),
        }
    }
    rows.sort_unstable_by_key(|row| row.start);
    rows
}

/// Returns the JSON object that the bytes are; `None` if they are anything else.
pub(super) fn document(bytes: &[u8]) -> Option<&RawValue> {
    serde_json::from_slice::<&RawValue>(bytes).ok().filter(|value| value.get().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(framing: Framing, bytes: &str, expected: &[&str]) {
        let rows = framing.rows(bytes.as_bytes());
        assert_eq!(rows.into_iter().map(|row| &bytes[row]).collect::<Vec<_>>(), expected, "{bytes}");
    }

    #[test]
    fn a_line_that_is_not_blank_is_a_row() {
        check(Framing::Lines, "", &[]);
        check(Framing::Lines, "a", &["a"]);
        check(Framing::Lines, "a\n\n \nb\r\n", &["a", "b\r"]);
    }

    #[test]
    fn the_elements_of_the_named_members_are_rows_in_the_order_of_the_document() {
        let framing = Framing::Elements(&["system", "messages"]);
        check(framing, r#"{"messages":[ {"a":[1]} ,2],"x":[3],"system":"s"}"#, &[r#"{"a":[1]}"#, "2", r#""s""#]);
        check(framing, "{\n \"system\" : [\"s\"],\"messages\":[]}", &[r#""s""#]);
        check(framing, r#"{"system":null}"#, &[]);
        check(framing, r#"{"system":["old"],"system":["new"]}"#, &[r#""new""#]);
    }

    #[test]
    fn bytes_that_are_not_an_object_are_one_row() {
        let framing = Framing::Elements(&["messages"]);
        for broken in ["{\"messages\":[", "[1]", "\"text\"", "{} {}"] {
            check(framing, broken, &[broken]);
        }
        check(framing, " \n", &[]);
        assert_eq!(framing.rows(b"{\"messages\":[\"\xff\"]}"), [Range { start: 0, end: 18 }]);
    }
}
