//! Lenient parsing of JSON text: values stay verbatim, the last of equal keys wins, and every string decodes.

use crate::model::{Fault, Key};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;
use twox_hash::XxHash3_64;

/// The text of a JSON value.
pub trait Verbatim<'a>: Copy {
    fn verbatim(self) -> &'a str;
}

impl<'a> Verbatim<'a> for &'a RawValue {
    fn verbatim(self) -> &'a str {
        self.get()
    }
}

impl<'a> Verbatim<'a> for &'a str {
    fn verbatim(self) -> &'a str {
        self
    }
}

/// Decodes a JSON string; a lone surrogate becomes U+FFFD. `None` if the value is not a string.
pub fn text<'a>(value: impl Verbatim<'a>) -> Option<Cow<'a, str>> {
    let value = value.verbatim();
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    if let Ok(text) = serde_json::from_str::<String>(value) {
        return Some(Cow::Owned(text));
    }
    // serde_json decodes a lone surrogate only into bytes (as WTF-8).
    let Bytes(bytes) = serde_json::from_str::<Bytes>(value).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

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

/// Returns the JSON object that the bytes are; `None` if they are anything else.
pub fn document(bytes: &[u8]) -> Option<&RawValue> {
    serde_json::from_slice::<&RawValue>(bytes).ok().filter(|value| value.get().starts_with('{'))
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

/// Returns the elements of an array, verbatim; empty for any other value.
pub fn elements<'a>(value: impl Verbatim<'a>) -> Vec<&'a RawValue> {
    // An error would hold the whole text of a string.
    let list = Some(value.verbatim()).filter(|value| value.starts_with('['));
    list.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default()
}

/// Returns the members of an object in file order, verbatim; empty for any other value.
pub fn members<'a>(value: impl Verbatim<'a>) -> Vec<(Cow<'a, str>, &'a RawValue)> {
    let whole = value.verbatim();
    let member = |scanner: &mut Scanner<'a>| {
        let name = scanner.name()?;
        let value = scanner.value()?;
        Some((text(&whole[name]).unwrap_or_default(), serde_json::from_str(&whole[value]).ok()?))
    };
    Scanner::new(whole.as_bytes()).list([b'{', b'}'], member).unwrap_or_default()
}

/// A member of a large object.
pub struct Member<'a> {
    pub name: Cow<'a, str>,
    pub value: Range<usize>,
    /// The bytes of each element of the value; `None` if that is not an array.
    pub elements: Option<Vec<Range<usize>>>,
}

/// Returns the members of the large object that the bytes are; `None` if they are anything else. Where the elements of an array begin and
/// end is found by their quotes and brackets: each is valid JSON only if it can be parsed.
pub fn document_members(bytes: &[u8]) -> Option<Vec<Member<'_>>> {
    let mut scanner = Scanner::new(bytes);
    let members = scanner.list([b'{', b'}'], Scanner::member)?;
    scanner.next().is_none().then_some(members)
}

/// Finds the ends of values. Most bytes of a large document are strings, of which only the quotes are looked at.
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Named values of an object, which [`skimmed`] declares.
pub trait Skim<'a>: Sized {
    /// Reads the values of the next object; `None` if the bytes are anything else.
    fn skim(scanner: &mut Scanner<'a>) -> Option<Self>;
}

/// Parses an object, of which only the named values are read. The others are passed as in [`document_members`].
pub fn skim<'a, T: Skim<'a>>(bytes: &'a [u8]) -> Option<T> {
    skim_first(bytes).filter(|(_, length)| bytes[*length..].trim_ascii().is_empty()).map(|(object, _)| object)
}

/// Parses the object that some bytes begin with, as [`skim`] does; also returns its length.
pub fn skim_first<'a, T: Skim<'a>>(bytes: &'a [u8]) -> Option<(T, usize)> {
    let mut scanner = Scanner::new(bytes);
    let object = T::skim(&mut scanner)?;
    let passed = &bytes[..scanner.at];
    // All bytes are looked at, so that several are compared at once. No string can have one of these.
    let has_control = passed.iter().fold(false, |found, byte| found | (*byte < b' '));
    let is_valid = !has_control || serde_json::from_slice::<IgnoredAny>(passed).is_ok();
    is_valid.then_some((object, scanner.at))
}

impl<'a> Scanner<'a> {
    pub fn new(bytes: &'a [u8]) -> Scanner<'a> {
        Scanner { bytes, at: 0 }
    }

    /// Returns the next byte after white space, without passing it.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.next() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn list<T>(&mut self, [open, close]: [u8; 2], item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if !self.takes(open) {
            return None;
        }
        if self.takes(close) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.takes(close) {
                return Some(items);
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    /// Calls a function with the name of each member of the next object; it must pass the value.
    #[inline]
    pub fn members(&mut self, mut take: impl FnMut(&mut Self, &[u8]) -> Option<()>) -> Option<()> {
        let mut is_first = true;
        if !self.takes(b'{') {
            return None;
        }
        while !self.takes(b'}') {
            let follows = std::mem::take(&mut is_first) || self.takes(b',');
            if !follows || self.next()? != b'"' {
                return None;
            }
            let start = self.at;
            self.at = string_end(self.bytes, start)?;
            let quoted = &self.bytes[start..self.at];
            if !self.takes(b':') {
                return None;
            }
            let name = &quoted[1..quoted.len() - 1];
            match name.contains(&b'\\') {
                true => take(self, text(serde_json::from_slice::<&RawValue>(quoted).ok()?)?.as_bytes())?,
                false => take(self, name)?,
            }
        }
        Some(())
    }

    /// Reads the next value, which may have any type.
    #[inline]
    pub fn raw(&mut self) -> Option<&'a str> {
        let value = self.value()?;
        std::str::from_utf8(&self.bytes[value]).ok()
    }

    #[inline]
    pub fn pass(&mut self) -> Option<()> {
        self.value().map(|_| ())
    }

    /// Reads the next value if it is an object, and passes any other.
    #[inline]
    pub fn object<T: Skim<'a>>(&mut self) -> Option<Option<T>> {
        match self.next()? {
            b'{' => T::skim(self).map(Some),
            _ => self.pass().map(|()| None),
        }
    }

    /// Passes the name of the next member.
    pub fn name(&mut self) -> Option<Range<usize>> {
        self.next().filter(|first| *first == b'"')?;
        self.value().filter(|_| self.takes(b':'))
    }

    fn member(&mut self) -> Option<Member<'a>> {
        let name = self.name()?;
        let name = text(serde_json::from_slice::<&RawValue>(&self.bytes[name]).ok()?)?;
        if self.next()? == b'[' {
            let start = self.at;
            let elements = self.list([b'[', b']'], Scanner::value)?;
            return Some(Member { name, value: start..self.at, elements: Some(elements) });
        }
        let value = self.value()?;
        serde_json::from_slice::<IgnoredAny>(&self.bytes[value.clone()]).ok()?;
        Some(Member { name, value, elements: None })
    }

    #[inline]
    pub fn value(&mut self) -> Option<Range<usize>> {
        let first = self.next()?;
        let start = self.at;
        self.at = match first {
            b'"' => string_end(self.bytes, start)?,
            b'{' | b'[' => container_end(self.bytes, start)?,
            _ => {
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                start + self.bytes[start..].iter().position(is_end).filter(|length| *length > 0)?
            }
        };
        Some(start..self.at)
    }
}

/// Returns the offset after the closing bracket of the object or array that begins at `start`; `None` if there is none.
fn container_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0);
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            // Only in a string: a row that was written after the start of another one, whose quotes are exchanged.
            b'\\' => return None,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the member `name` of an object; of equal names the last one, as in JavaScript.
pub fn member<'a>(value: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    let mut found = None;
    let mut scanner = Scanner::new(value.get().as_bytes());
    scanner.members(|scanner, key| {
        let value = scanner.value()?;
        if key == name.as_bytes() {
            found = Some(value);
        }
        Some(())
    })?;
    serde_json::from_str(&value.get()[found?]).ok()
}

/// Returns the byte range of a value in the bytes from which it was parsed.
pub fn range_in(whole: &[u8], value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr() as usize - whole.as_ptr() as usize;
    start..start + value.get().len()
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

/// Returns the offset after the closing quote of the string that begins at `start`; `None` if there is none.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let quote = at + quote(bytes.get(at..)?)?;
        let text = &bytes[at..quote];
        at = quote + 1;
        if text.last() != Some(&b'\\') || text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0 {
            return Some(at);
        }
    }
}

#[inline]
fn quote(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Most strings are names and numbers, for which the search of a long one takes more time than a look at eight bytes at once.
    for (place, chunk) in bytes.as_chunks().0.iter().take(3).enumerate() {
        let others = u64::from_le_bytes(*chunk) ^ (ONES * u64::from(b'"'));
        let found = others.wrapping_sub(ONES) & !others & (ONES << 7);
        if found > 0 {
            return Some(place * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr(b'"', bytes)
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

struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl Visitor<'_> for Collect {
            type Value = Bytes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Collect)
    }
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
    fn the_members_of_a_document_are_found_by_quotes_and_brackets() {
        let found = |document: &str| {
            let members = document_members(document.as_bytes())?.into_iter().map(|member| {
                let elements = member.elements.unwrap_or_default().into_iter().map(|element| document[element].to_owned());
                (member.name.into_owned(), document[member.value].to_owned(), elements.collect::<Vec<_>>().join("|"))
            });
            Some(members.collect::<Vec<_>>())
        };
        let document = " {\"a\" : [ {\"x\":\"]}\\\"\\\\\"} , 1.5,\"\\\\\\\"[\",[] ,null\n],\"b\":{\"c\":[\"]\"]},\"\\u0061\":true , \"d\":[]} \n";
        let members = found(document).unwrap();
        let names: Vec<&str> = members.iter().map(|(name, ..)| &**name).collect();
        assert_eq!(names, ["a", "b", "a", "d"]);
        assert_eq!(members[0].2, r#"{"x":"]}\"\\"}|1.5|"\\\"["|[]|null"#);
        assert_eq!((&*members[1].1, &*members[2].1, &*members[3].1), (r#"{"c":["]"]}"#, "true", "[]"));
        for broken in [
            "", "[]", "{", r#"{"a"}"#, r#"{"a":}"#, r#"{"a":1"#, r#"{"a":1,}"#, r#"{"a":[1,]}"#, r#"{"a":[1 2]}"#, r#"{"a":[}"#,
            r#"{"a":nul}"#, r#"{a:1}"#, r#"{"a":"b}"#, r#"{"a":{"b"}}"#, r#"{"a":1} x"#, r#"{"a":1}{}"#, r#"{"a":[[1}"#,
            r#"{1:1}"#,
        ] {
            assert!(found(broken).is_none(), "{broken}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_valid_document_has_the_members_that_a_parser_finds(texts in proptest::collection::vec("[\"\\\\a\\[\\]{}:, \n\u{e9}]{0,9}", 0..5)) {
            let values: Vec<Value> = texts.iter().map(|text| serde_json::json!([text, {"k": [text, 1]}, null])).collect();
            let object: serde_json::Map<String, Value> = texts.iter().cloned().zip(values).collect();
            for document in [serde_json::to_string(&object).unwrap(), serde_json::to_string_pretty(&object).unwrap()] {
                let found = document_members(document.as_bytes()).unwrap();
                let parsed: std::collections::BTreeMap<String, &RawValue> = serde_json::from_str(&document).unwrap();
                proptest::prop_assert_eq!(found.len(), parsed.len());
                proptest::prop_assert!(members(&*document).iter().all(|(name, value)| parsed[&**name].get() == value.get()));
                for found in &found {
                    let value = parsed[&*found.name];
                    proptest::prop_assert_eq!(&document[found.value.clone()], value.get());
                    let of_parser: Vec<&str> = elements(value).into_iter().map(RawValue::get).collect();
                    let own: Vec<&str> = found.elements.iter().flatten().map(|element| &document[element.clone()]).collect();
                    proptest::prop_assert_eq!(own, of_parser);
                }
            }
        }
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

    #[test]
    fn other_values_than_containers_are_empty() {
        assert!(elements(raw("3")).is_empty());
        assert!(members(raw("[]")).is_empty());
    }
}
