//! The texts of JSON values as they are written: the last of equal keys wins, and every string decodes.

use serde::de::{Deserialize, Deserializer, IgnoredAny, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

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

/// Returns the JSON object that the bytes are; `None` if they are anything else.
pub fn document(bytes: &[u8]) -> Option<&RawValue> {
    serde_json::from_slice::<&RawValue>(bytes).ok().filter(|value| value.get().starts_with('{'))
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

/// Named values of an object, which `skimmed!` declares.
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

/// Returns the byte range of a value or a text in the bytes that it is a part of.
pub fn range_in<'a>(whole: &[u8], part: impl Verbatim<'a>) -> Range<usize> {
    let start = part.verbatim().as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.verbatim().len()
}

/// Returns the offset after the closing quote of the string that begins at `start`; `None` if there is none.
pub fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::raw;
    use serde_json::Value;

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
    fn other_values_than_containers_are_empty() {
        assert!(elements(raw("3")).is_empty());
        assert!(members(raw("[]")).is_empty());
    }
}
