//! Lenient parsing of the rows of sessions and of requests.

use crate::model::{Fault, Key};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;
use twox_hash::XxHash3_64;

use crate::text::json::string_end;
pub use crate::text::json::{
    Member, Scanner, Skim, Verbatim, document, document_members, elements, member, members, range_in, skim, skim_first, text,
};

/// Parses JSON; a lone surrogate is decoded as by `text`.
/// Errors: it is not JSON, or not of the type.
pub fn parsed<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(json).or_else(|error| serde_json::from_slice(&with_decoded_strings(json)).map_err(|_| error))
}

/// Deserializes a value; one of another type is the default.
pub fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(T::deserialize(Value::deserialize(deserializer)?).unwrap_or_default())
}

/// Returns JSON with its strings as `text` decodes them.
fn with_decoded_strings(json: &str) -> Vec<u8> {
    let decoded = |range: Range<usize>| Some((range.clone(), serde_json::to_vec(&text(&json[range])?).ok()?));
    with_values(json.as_bytes(), strings(json.as_bytes()).into_iter().filter_map(|(_, range)| decoded(range)).collect())
}

/// Decodes an optional JSON string. See [`text`].
pub fn text_of<'a>(value: Option<impl Verbatim<'a>>) -> Option<Cow<'a, str>> {
    value.and_then(text)
}

/// Returns the text of a JSON string, and any other value verbatim.
pub fn shown(value: &RawValue) -> Cow<'_, str> {
    text(value).unwrap_or(Cow::Borrowed(value.get()))
}

/// Returns the key of an id that is a JSON string.
pub fn key_of<'a>(value: Option<impl Verbatim<'a>>) -> Option<Key> {
    text_of(value).map(|text| Key::from_text(&text))
}

/// Returns true if the value is the JSON string of a text.
pub fn equals<'a>(value: Option<impl Verbatim<'a>>, text: &str) -> bool {
    text_of(value).is_some_and(|value| value == text)
}

/// Parses a time in RFC 3339 to milliseconds since 1970, UTC.
pub fn time_of<'a>(value: Option<impl Verbatim<'a>>) -> Option<i64> {
    Some(text_of(value)?.parse::<jiff::Timestamp>().ok()?.as_millisecond())
}

/// Returns true if the value is `true`.
pub fn is_true<'a>(value: Option<impl Verbatim<'a>>) -> bool {
    value.is_some_and(|value| value.verbatim() == "true")
}

/// Parses a nonnegative integer; `None` for any other value and for numbers from 2^40 on, which no token count reaches.
pub fn number<'a>(value: Option<impl Verbatim<'a>>) -> Option<u64> {
    value?.verbatim().parse().ok().filter(|number| *number < 1 << 40)
}

/// Returns true if the text that begins at a place is the value of a member `type`, as far as the bytes before it tell: another
/// program may have written the row, with spaces.
pub fn is_type(row: &[u8], place: usize) -> bool {
    row[..place].trim_ascii_end().strip_suffix(b":").is_some_and(|key| key.trim_ascii_end().ends_with(b"\"type\""))
}

/// Returns true if a text is a JSON object.
pub fn is_object(text: &str) -> bool {
    document(text.as_bytes()).is_some()
}

/// Returns a text as a JSON string.
pub fn quoted(text: &str) -> Option<String> {
    serde_json::to_string(text).ok()
}

/// Joins the texts of a list by line feeds.
pub fn joined(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    if texts.len() == 1 { texts.remove(0) } else { Cow::Owned(texts.join("\n")) }
}

/// Returns the strings of a row, member names included: the path and the byte range of each, quotes included. Empty if the row
/// is not valid JSON. A path is a hash of the positions from the root to the string, each counted within its container.
pub fn strings(row: &[u8]) -> Vec<(u64, Range<usize>)> {
    if serde_json::from_slice::<IgnoredAny>(row).is_err() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // The enclosing containers: the path of each, and its number of positions so far.
    let mut holders: Vec<(u64, u64)> = vec![(0, 0)];
    let mut at = 0;
    while let Some(byte) = row.get(at) {
        match byte {
            b'{' | b'[' => {
                let path = next_path(&mut holders);
                holders.push((path, 0));
            }
            b'}' | b']' => {
                holders.pop();
            }
            b'"' => {
                let end = string_end(row, at).unwrap_or(row.len());
                found.push((next_path(&mut holders), at..end));
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the byte range of the string with this path in a row, quotes included.
pub fn string_at(row: &[u8], path: u64) -> Option<Range<usize>> {
    strings(row).into_iter().find(|(found, _)| *found == path).map(|(_, range)| range)
}

/// Returns the path of the next position in the innermost container.
fn next_path(holders: &mut [(u64, u64)]) -> u64 {
    let Some((path, places)) = holders.last_mut() else { return 0 };
    *places += 1;
    XxHash3_64::oneshot_with_seed(*path, &places.to_le_bytes())
}

/// Replaces the given byte ranges, which must not overlap, by numbers; every other byte is unchanged.
pub fn with_figures(whole: &[u8], figures: Vec<(Range<usize>, u64)>) -> Vec<u8> {
    with_values(whole, figures.into_iter().map(|(range, figure)| (range, figure.to_string().into_bytes())).collect())
}

/// Replaces the given byte ranges, which must not overlap, by other bytes; every other byte is unchanged.
pub fn with_values(whole: &[u8], mut edits: Vec<(Range<usize>, Vec<u8>)>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut written = Vec::with_capacity(whole.len() + 128);
    let mut at = 0;
    for (range, value) in edits {
        written.extend_from_slice(&whole[at..range.start]);
        written.extend_from_slice(&value);
        at = range.end;
    }
    written.extend_from_slice(&whole[at..]);
    written
}

/// Returns the first value of some bytes, whatever follows it; `None` if they do not begin with such a value.
pub fn first<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let whole = serde_json::from_slice(bytes).ok();
    whole.or_else(|| serde_json::Deserializer::from_slice(bytes).into_iter::<T>().next()?.ok())
}

/// Returns the length of the first value of some bytes; `None` if they do not begin with an object.
pub fn first_length(bytes: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    let is_object = bytes.trim_ascii_start().first() == Some(&b'{');
    (is_object && values.next()?.is_ok()).then(|| values.byte_offset())
}

/// Returns the offsets at which whole rows begin in a line, from an offset on. A row ends the line, or another row or zero bytes follow it:
/// an object inside a row is followed by the rest of that row.
pub fn rows_from(line: &[u8], from: usize, is_row: impl Fn(&[u8]) -> bool) -> Vec<usize> {
    // A long line that is broken has many objects.
    const ATTEMPTS: usize = 10_000;
    let mut found = Vec::new();
    let (mut end, mut at) = (from, from);
    for _ in 0..ATTEMPTS {
        let Some(place) = memchr::memmem::find(&line[at..], b"{\"") else { break };
        let start = at + place;
        at = start + 2;
        let gap = &line[end..start];
        let follows = end > 0 && gap.iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, 0 | b','));
        // The value of a member, or an element of a list.
        let is_inside = matches!(line[..start].trim_ascii_end().last(), Some(b':' | b',' | b'['));
        if start == 0 || is_inside && !follows {
            continue;
        }
        let Some(length) = first_length(&line[start..]) else { continue };
        let rest = line[start + length..].trim_ascii_start();
        if rest.first().is_none_or(|byte| matches!(byte, 0 | b'{' | b',')) && is_row(&line[start..start + length]) {
            found.push(start);
            (end, at) = (start + length, start + length);
        }
    }
    found
}

/// Classifies the fault of a line that is not a JSON object.
pub fn fault(line: &str) -> Fault {
    let mut values = serde_json::Deserializer::from_str(line).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(first)) if !first.get().starts_with('{') => Fault::NotAnObject,
        Some(Ok(_)) if matches!(values.next(), Some(Ok(_))) => Fault::Glued,
        _ => Fault::NotJson,
    }
}

/// Classifies the fault of a line that may be no text.
pub fn line_fault(line: &[u8]) -> Fault {
    std::str::from_utf8(line).map_or(Fault::NotJson, fault)
}

/// Declares a struct of optional verbatim values, one for each named key of an object.
///
/// Deserialization is lenient: unknown keys are skipped, of equal keys the last one wins, and a value may have any type. A field
/// declared with another such struct is parsed in the same pass, and must be an object or `null`.
macro_rules! fields {
    (@value $life:lifetime) => { &$life serde_json::value::RawValue };
    (@value $life:lifetime $inner:ident) => { $inner<$life> };
    (@next $map:ident) => { Some($map.next_value()?) };
    (@next $map:ident $inner:ident) => { $map.next_value::<Option<$inner<'de>>>()? };
    ($(#[$doc:meta])* $name:ident { $($field:ident $(: $inner:ident)? = $key:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name<'a> {
            $(pub $field: Option<fields!(@value 'a $($inner)?)>,)*
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Collect;
                impl<'de> serde::de::Visitor<'de> for Collect {
                    type Value = $name<'de>;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut fields = $name::default();
                        // Verbatim, so that a key with a lone surrogate is not an error.
                        while let Some(key) = map.next_key::<&serde_json::value::RawValue>()? {
                            match crate::provider::json::text(key).as_deref() {
                                $(Some($key) => fields.$field = fields!(@next map $($inner)?),)*
                                _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                            }
                        }
                        Ok(fields)
                    }
                }
                deserializer.deserialize_map(Collect)
            }
        }
    };
}
pub(crate) use fields;

/// Declares a struct of optional verbatim values, as [`fields`] does, that [`skim`] reads. A field declared with another such struct has no
/// value if that is not an object.
macro_rules! skimmed {
    (@value $life:lifetime) => { &$life str };
    (@value $life:lifetime $inner:ident) => { $inner<$life> };
    (@skim $scanner:ident) => { Some($scanner.raw()?) };
    (@skim $scanner:ident $inner:ident) => { $scanner.object::<$inner<'a>>()? };
    ($(#[$doc:meta])* $name:ident { $($field:ident $(: $inner:ident)? = $key:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name<'a> {
            $(pub $field: Option<skimmed!(@value 'a $($inner)?)>,)*
        }

        impl<'a> crate::provider::json::Skim<'a> for $name<'a> {
            fn skim(scanner: &mut crate::provider::json::Scanner<'a>) -> Option<Self> {
                let mut fields = $name::default();
                scanner.members(|scanner, name| {
                    match name {
                        $(name if name == $key.as_bytes() => fields.$field = skimmed!(@skim scanner $($inner)?),)*
                        _ => scanner.pass()?,
                    }
                    Some(())
                })?;
                Some(fields)
            }
        }
    };
}
pub(crate) use skimmed;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::raw;

    #[test]
    fn text_decodes_escapes_and_replaces_a_lone_surrogate() {
        assert_eq!(text(raw(r#""a\nb""#)).unwrap(), "a\nb");
        assert_eq!(text(raw(r#""plain""#)).unwrap(), "plain");
        assert_eq!(text(raw("7")), None);
        assert!(text(raw(r#""cut \ud83d""#)).unwrap().starts_with("cut \u{fffd}"));
        for row in [
            r#""\ud83d""#,
            r#""a\ud83d\ud83d\ude00b\n""#,
            r#""\\\ud83d\\ud83d \ude00\ud83d\u0041\ud83dé""#,
            r#""\uD83D\uDE00 \"\uDBFF""#,
        ] {
            assert_eq!(parsed::<String>(row).unwrap(), text(raw(row)).unwrap(), "{row}");
        }
        assert!(parsed::<String>(r#""\ud83d"#).is_err() && parsed::<String>(r#""\é\ud83d""#).is_err());
    }

    #[test]
    fn the_last_of_equal_keys_wins() {
        assert_eq!(member(raw(r#"{"a":1,"a":2}"#), "a").unwrap().get(), "2");
        fields!(Pair { a = "a", });
        let pair: Pair<'_> = serde_json::from_str(r#"{"a":1,"b":[{}],"a":2}"#).unwrap();
        assert_eq!(pair.a.unwrap().get(), "2");
    }

    #[test]
    fn named_values_are_read_without_the_others() {
        skimmed!(Inner { value = "v", });
        skimmed!(Outer { a = "a", inner: Inner = "i", });
        let read = |bytes: &[u8]| {
            let (outer, length) = skim_first::<Outer<'_>>(bytes)?;
            let inner = outer.inner.map(|inner| inner.value.unwrap_or_default().to_owned());
            Some((outer.a.unwrap_or_default().to_owned(), inner, bytes.len() - length))
        };
        let found = |a: &str, inner: Option<&str>, rest: usize| Some((a.to_owned(), inner.map(str::to_owned), rest));
        let row = br#"{"x":[{"a":"\\\"]}"}],"a":1,"i":{"v":"\ud83d"},"a":[2]}"#;
        assert_eq!(read(row), found("[2]", Some(r#""\ud83d""#), 0), "the last of equal names, and a lone surrogate");
        assert_eq!(read(br#" { "\u0061" : true , "i" : 3 }"#), found("true", None, 0), "a name with an escape");
        assert_eq!(read(b"{\"a\":\t1}\0\0"), found("1", None, 2), "zero bytes after a row");
        assert_eq!(read(br#"{"a":1}{"a":2}"#), found("1", None, 7));
        let broken =
            [&b"{\"a\":\"\t\"}"[..], b"{\"a\":\"\xff\"}", b"{\"a\":1", b"{\"x\":\"{\"a\":1}", b"{\"a\":}", b"[]", b"", b"\0"];
        assert!(broken.iter().all(|broken| read(broken).is_none()));
        assert!(skim::<Inner<'_>>(b"{}\r").is_some() && skim::<Inner<'_>>(b"{}{}").is_none());
    }

    #[test]
    fn every_string_has_a_path_of_its_own() {
        let row = br#"{"a":"x","b":["y",{"c":"z\\\""},1,"\u0041"],"a":"x"}"#;
        let found = strings(row);
        let texts: Vec<&str> = found.iter().map(|(_, range)| std::str::from_utf8(&row[range.clone()]).unwrap()).collect();
        assert_eq!(texts, [r#""a""#, r#""x""#, r#""b""#, r#""y""#, r#""c""#, r#""z\\\"""#, r#""\u0041""#, r#""a""#, r#""x""#]);
        for (path, range) in &found {
            assert_eq!(string_at(row, *path).as_ref(), Some(range));
        }
        // A change of another string does not affect any path.
        let longer = br#"{"a":"longer","b":["y",{"c":"z\\\""},1,"\u0041"],"a":"x"}"#;
        assert!(strings(longer).iter().map(|(path, _)| path).eq(found.iter().map(|(path, _)| path)));
        assert!(strings(br#"{"a":"x""#).is_empty());
    }
}
