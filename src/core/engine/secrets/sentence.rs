//! Credentials in sentences: `the password for the shop is …`, `enter … when asked for the password`.

use super::Secret;
use super::values::{is_generated, is_password};
use crate::text::lists::word_lists;

/// Bytes of a sentence that are examined on one side of a name.
const SENTENCE_BYTES: usize = 80;
word_lists! { "sentence.txt": VALUE_LINKS, RELATIONS, PARTICLES, ORDERS, NAME_LINKS }

/// Returns the start of the value after a name of a kind, from the offset after the spaces behind the name.
pub(super) fn after(text: &[u8], at: usize, kind: &str) -> Option<usize> {
    let line = line(&text[at..text.len().min(at + SENTENCE_BYTES)]);
    for particle in PARTICLES.iter() {
        if let Some(rest) = line.strip_prefix(particle.as_bytes()) {
            return Some(at + particle.len() + rest.len() - rest.trim_ascii_start().len());
        }
    }
    let is_next = text[..at].ends_with(b" ");
    let is_aside = kind == "password" && (line.starts_with(b", ") || line.starts_with(b"prompt"));
    if !is_next && !is_aside {
        return None;
    }
    let first = &line[..memchr::memchr(b' ', line).unwrap_or(line.len())];
    if !is_aside && first.len() > 1 && ![&VALUE_LINKS, &RELATIONS].iter().any(|list| is_one_of(first, list)) {
        return Some(at);
    }
    let words = words(line);
    let is = |place: usize, list: &[&str]| words.get(place).is_some_and(|(_, word)| is_one_of(word, list));
    let mut place = 0;
    if is_aside {
        place = (0..4).find(|place| is(*place, &ORDERS) || is(*place, &VALUE_LINKS))?;
        place += usize::from(is(place, &ORDERS));
    } else if is(0, &RELATIONS) {
        place = (1..6)
            .find(|place| is(*place, &VALUE_LINKS) || words.get(place - 1).is_some_and(|(_, word)| word.ends_with(b":")))?;
    }
    while is(place, &VALUE_LINKS) {
        place += 1;
    }
    // The kind of encryption in the configuration of a router.
    place += usize::from(place == 0 && words.first().is_some_and(|(_, word)| matches!(word, [b'0'..=b'9'])));
    words.get(place).map(|(start, _)| at + start)
}

/// Finds the password before its name, in a sentence that ends with the name: `X is the password`.
pub(super) fn before(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let ends = text.get(end..).unwrap_or_default();
    let plural = usize::from(ends.starts_with(b"s"));
    let is_end = matches!(ends[plural..], [] | [b'.' | b',' | b'!' | b')' | b'"' | b'\\' | b'\n', ..]);
    if !is_end || !text[..start].ends_with(b" ") {
        return None;
    }
    let from = start.saturating_sub(SENTENCE_BYTES);
    let window = &text[from..start];
    let feed = memchr::memrchr2(b'\n', b'"', window).max(memchr::memmem::rfind(window, b"\\n").map(|place| place + 1));
    let from = from + feed.map_or(0, |place| place + 1);
    let words = words(&text[from..start]);
    let place = words.iter().rposition(|(_, word)| !is_one_of(word, &NAME_LINKS))?;
    let reasons = &words[place + 1..];
    let is_stated = reasons.iter().any(|(_, word)| is_one_of(word, &["is", "are", "was"]));
    let is_ordered = reasons.iter().any(|(_, word)| is_one_of(word, &["as"]))
        || reasons.iter().any(|(_, word)| is_one_of(word, &["asked", "asks", "prompted"]))
            && words[..place].last().is_some_and(|(_, word)| is_one_of(word, &ORDERS));
    let (offset, word) = words[place];
    let lead = word.iter().take_while(|byte| b"\"'`*".contains(byte)).count();
    let tail = word.iter().rev().take_while(|byte| b"\"'`*,".contains(byte)).count();
    let value = word.get(lead..word.len() - tail)?;
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_value =
        (is_stated || is_ordered) && digits > 1 && value.len() >= 8 && (is_password(value, true) || is_generated(value));
    let from = from + offset + lead;
    is_value.then(|| Secret { range: from..from + value.len(), kind: "password" })
}

fn is_one_of(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|item| word.eq_ignore_ascii_case(item.as_bytes()))
}

fn line(text: &[u8]) -> &[u8] {
    let feed = memchr::memchr(b'\n', text).unwrap_or(text.len());
    &text[..memchr::memmem::find(&text[..feed], b"\\n").unwrap_or(feed)]
}

fn words(text: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut words, mut at) = (Vec::new(), 0);
    for word in text.split(|byte| *byte == b' ') {
        words.push((at, word));
        at += word.len() + 1;
    }
    words.retain(|(_, word)| !word.is_empty());
    words
}
