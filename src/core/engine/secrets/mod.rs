//! Detection of credentials in text by their shape. They are not printed in reports, not stored in indexes, and removed by
//! `redact`.
//!
//! One pass finds candidate positions; a few comparisons at each position decide. Raw JSON and plain text are both
//! supported: a line feed may be `\n`, a quote may be `\"`.

mod calls;
mod colors;
mod examples;
pub mod known;
mod names;
mod passwords;
mod sentence;
mod shapes;
#[cfg(test)]
mod table;
mod values;

pub use examples::examples;

use base64::Engine as _;
use names::{KEY_WORDS, Name, names};
use passwords::{Finder, PLACES, PROGRAMS, SERVICES, Space};
use rustc_hash::FxHashMap;
use shapes::{Alphabet, INFIXES, Infix, LONGEST, SHAPES, Shape};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;
use values::{changes, is_generated, is_mixed, is_random};

/// A credential in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    pub range: Range<usize>,
    /// Kind, such as `github-token`.
    pub kind: &'static str,
}

pub(super) const PRIVATE_KEY_KIND: &str = "private-key";

/// Prefix of an object in a web token, and, after a dot, of its second part.
const OBJECT: &[u8] = b"eyJ";
const WEB_TOKEN: &str = ".eyJ";
pub(super) const PRIVATE_KEY: &str = "-----BEGIN ";
const ADDRESS: &str = "://";

/// Maximum distance of a value from its name, in bytes, unless it is in another row of a table.
const NEAR: usize = 128;
/// Maximum length of a private key, in bytes.
const LONGEST_PRIVATE_KEY: usize = 16 << 10;

/// Kind of candidate at a position where a text is.
enum Anchor {
    Shape(&'static Shape),
    Infix(&'static Infix),
    Name(&'static str),
    Key,
    WebToken,
    PrivateKey,
    Address,
    /// A program with a password argument.
    Program(&'static [&'static str], Space),
    Service,
    Place(Finder),
    Discord,
}

/// Returns the prefixes of Discord bot tokens: two digits in base64.
fn discord_starts() -> Vec<String> {
    let encode = |number: u32| base64::engine::general_purpose::STANDARD_NO_PAD.encode(format!("{number}0"));
    (10..100).map(|number| encode(number)[..3].to_owned()).collect()
}

/// Longest start of a mask before the name in its kind, in bytes.
const MASK_BYTES: usize = 32;
/// Length of the bytes by which the texts at a place are looked up.
const START_BYTES: usize = 3;

/// The texts that can lead to a credential.
///
/// Each command would build an automaton again, in more time than most of them need.
struct Anchors {
    texts: Vec<(String, Anchor)>,
    /// The places in the list of those that can begin with some bytes.
    groups: FxHashMap<[u8; START_BYTES], Vec<u16>>,
    /// A bit for each start, by its hash. Nearly all places in a text are passed by it.
    bits: Box<[u64; 1 << 10]>,
}

impl Anchors {
    fn new(texts: Vec<(String, Anchor)>) -> Anchors {
        let mut anchors = Anchors { texts: Vec::new(), groups: FxHashMap::default(), bits: Box::new([0; 1 << 10]) };
        for (place, (text, _)) in texts.iter().enumerate() {
            let starts: Vec<[u8; START_BYTES]> = match text.as_bytes() {
                [a, b] => (0..=u8::MAX).map(|c| [*a, *b, c]).collect(),
                longer => longer.first_chunk().copied().into_iter().collect(),
            };
            for start in starts {
                let (word, bit) = Anchors::bit(start.iter().fold(0, |start, byte| start << 8 | u32::from(*byte)));
                anchors.bits[word] |= bit;
                anchors.groups.entry(start).or_default().push(place as u16);
            }
        }
        Anchors { texts, ..anchors }
    }

    /// Returns the word and the bit of a start, which is in the lowest bytes of a number.
    #[inline(always)]
    fn bit(start: u32) -> (usize, u64) {
        let hash = (start << 8).wrapping_mul(0x9E37_79B1) >> 16;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }

    /// Returns the next place, from an offset on, at which a text can be. Behind the last places there are too few bytes for a value.
    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        // A plain loop: this is the inner loop of every command, also without optimization.
        let (mut start, mut place) = (0, from);
        while place < text.len() {
            start = start << 8 | u32::from(text[place]);
            place += 1;
            let (word, bit) = Anchors::bit(start);
            if self.bits[word] & bit != 0 && place >= from + START_BYTES {
                return Some(place - START_BYTES);
            }
        }
        None
    }

    /// Returns the texts that some bytes begin with, longest first.
    fn at<'a>(&'a self, rest: &'a [u8]) -> impl Iterator<Item = &'a (String, Anchor)> {
        let group = rest.first_chunk().and_then(|start| self.groups.get(start));
        let texts = group.into_iter().flatten().map(|place| &self.texts[usize::from(*place)]);
        texts.filter(|(text, _)| rest.starts_with(text.as_bytes()))
    }
}

static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let mut patterns: Vec<(String, Anchor)> = Vec::new();
    let exact = |text: &str| [text.to_owned()].into_iter().collect::<BTreeSet<String>>();
    let mut add =
        |texts: BTreeSet<String>, anchor: fn() -> Anchor| patterns.extend(texts.into_iter().map(|text| (text, anchor())));
    add(exact(WEB_TOKEN), || Anchor::WebToken);
    add(exact(PRIVATE_KEY), || Anchor::PrivateKey);
    add(exact(ADDRESS), || Anchor::Address);
    add(discord_starts().into_iter().collect(), || Anchor::Discord);
    add(KEY_WORDS.map(str::to_owned).into(), || Anchor::Key);
    patterns.extend(SHAPES.iter().map(|shape| (shape.prefix.to_owned(), Anchor::Shape(shape))));
    patterns.extend(INFIXES.iter().map(|infix| (infix.mark.to_owned(), Anchor::Infix(infix))));
    for (names, flags, space) in PROGRAMS {
        patterns.extend(names.split('¦').map(|name| (name.to_owned(), Anchor::Program(flags, *space))));
    }
    for (name, kind) in names() {
        patterns.extend(spellings(name).into_iter().map(|text| (text, Anchor::Name(kind))));
    }
    for (name, finder) in PLACES.iter().flat_map(|(names, finder)| names.split('¦').map(move |name| (name, finder))) {
        patterns.extend(spellings(name).into_iter().map(|text| (text, Anchor::Place(*finder))));
    }
    for name in SERVICES.iter() {
        patterns.extend(spellings(name).into_iter().map(|text| (text, Anchor::Service)));
    }
    patterns.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    Anchors::new(patterns)
});

/// Returns the spellings of a word: as it is, with a first capital, in capitals. A search that ignores the case would stop at
/// the prefixes of keys in ordinary words.
fn spellings(word: &str) -> BTreeSet<String> {
    let mut letters = word.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    [word.to_owned(), first + letters.as_str(), word.to_uppercase()].into()
}

/// Returns the credentials in a text, in order and without overlaps.
///
/// Detects the keys of large services, JSON web tokens, private keys, passwords in URLs, and random-looking values after a name
/// such as `password=`. A credential without a known shape is not detected.
pub fn find(text: &[u8]) -> Vec<Secret> {
    colors::through_colors(text, find_plain)
}

fn find_plain(text: &[u8]) -> Vec<Secret> {
    let (mut found, mut far) = (Vec::<Secret>::new(), Vec::new());
    let (mut at, mut unbroken) = (0, 0);
    while let Some(start) = ANCHORS.next(text, at) {
        let free = found.last().map_or(0, |last| last.range.end);
        let anchors = &mut ANCHORS.at(&text[start..]);
        let secret = anchors.find_map(|(name, anchor)| {
            let place = start..start + name.len();
            let is_name = matches!(anchor, Anchor::Name(_) | Anchor::Key);
            let is_before_none = is_name && has_no_value(text, place.end, &mut unbroken);
            if is_before_none { None } else { at_anchor(text, anchor, place, free, &mut far) }
        });
        match secret {
            Some(secret) => {
                at = secret.range.end;
                found.push(secret);
            }
            None => at = start + 1,
        }
    }
    if far.is_empty() {
        return found;
    }
    found.append(&mut far);
    apart(found)
}

/// Returns true if what follows a name is longer than any value. `unbroken` is the end of the last such text that was examined: each
/// byte is examined once.
fn has_no_value(text: &[u8], end: usize, unbroken: &mut usize) -> bool {
    if end >= *unbroken {
        *unbroken = end + run(text, end, usize::MAX, |byte| !names::ends_value(byte) && byte != b'&');
    }
    *unbroken - end > names::LONGEST_VALUE + NEAR
}

/// Finds a service key of any shape.
fn shaped_at(text: &[u8], at: usize) -> Option<Secret> {
    ANCHORS.at(text.get(at..)?).find_map(|(_, anchor)| match anchor {
        Anchor::Shape(shape) => shaped(text, at, shape),
        _ => None,
    })
}

/// Returns true if a place is in a mask, whose words name a credential: `[secret:private-key]`.
fn is_in_mask(text: &[u8], at: usize) -> bool {
    let open = text[..at].iter().rev().take(MASK_BYTES).position(|byte| *byte == b'[');
    open.is_some_and(|open| text[at - open - 1..].starts_with(b"[secret:"))
}

/// Returns the credential at a text that can lead to one; those that are not next to it are appended to `far`. Nothing before
/// `free` belongs to it.
fn at_anchor(text: &[u8], anchor: &Anchor, place: Range<usize>, free: usize, far: &mut Vec<Secret>) -> Option<Secret> {
    let Range { start, end } = place;
    match anchor {
        Anchor::Shape(shape) => shaped(text, start, shape),
        Anchor::Infix(infix) => around(text, start, infix).filter(|secret| secret.range.start >= free),
        Anchor::WebToken => web_token_at(text, free, start),
        Anchor::PrivateKey => private_key(text, start),
        Anchor::Address => password_in_address(text, end),
        Anchor::Service => passwords::service(text, end),
        Anchor::Discord => passwords::discord(text, start),
        Anchor::Name(_) | Anchor::Key if is_in_mask(text, start) => None,
        Anchor::Name(kind) => near(names::match_name(text, Name { start, end, kind }), end, far),
        Anchor::Key => near(names::match_key(text, start, end), end, far),
        // Other credentials can be between a program or a place and its password.
        Anchor::Program(flags, space) => {
            far.extend(passwords::argument(text, end, flags, *space));
            None
        }
        Anchor::Place(finder) => {
            far.extend(finder(text, start, end));
            None
        }
    }
}

/// Returns the value that directly follows its name, and appends those in other rows of a table to `far`.
fn near(mut values: Vec<Secret>, end: usize, far: &mut Vec<Secret>) -> Option<Secret> {
    match &values[..] {
        [value] if (end..end + NEAR).contains(&value.range.start) => values.pop(),
        _ => {
            far.append(&mut values);
            None
        }
    }
}

/// Sorts the credentials by position and merges overlapping ones.
pub(super) fn apart(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end)));
    let mut apart: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut() {
            Some(last) if secret.range.start < last.range.end => last.range.end = last.range.end.max(secret.range.end),
            _ => apart.push(secret),
        }
    }
    apart
}

/// Replaces each credential in a text with `[secret:KIND]`.
pub fn mask(text: &str) -> Cow<'_, str> {
    with_placeholders(text, &find(text.as_bytes()))
}

fn with_placeholders<'a>(text: &'a str, found: &[Secret]) -> Cow<'a, str> {
    // Credentials are ASCII, and so are their placeholders.
    let masked = masked(text.as_bytes(), found).and_then(|masked| String::from_utf8(masked).ok());
    masked.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// As [`mask`], for the start of a longer text: its last word is removed, because it can be a part of a credential.
pub fn mask_cut(text: &str) -> String {
    let whole = text.trim_end_matches('…').rsplit_once(char::is_whitespace).map_or(text, |(whole, _)| whole);
    let ending = if whole.len() < text.len() { "…" } else { "" };
    format!("{}{ending}", mask(whole))
}

/// Replaces each found credential in some bytes with `[secret:KIND]`; `None` if there is none.
pub fn masked(text: &[u8], found: &[Secret]) -> Option<Vec<u8>> {
    if found.is_empty() {
        return None;
    }
    let mut masked = Vec::with_capacity(text.len());
    let mut copied = 0;
    for secret in found {
        masked.extend_from_slice(&text[copied..secret.range.start]);
        masked.extend_from_slice(format!("[secret:{}]", secret.kind).as_bytes());
        copied = secret.range.end;
    }
    masked.extend_from_slice(&text[copied..]);
    Some(masked)
}

/// Returns the number of bytes from `at` that pass a test. At most `most` bytes are examined, so that the time for a text with many
/// prefixes is linear in its length.
fn run(text: &[u8], at: usize, most: usize, test: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let rest = &rest[..rest.len().min(most)];
    let length = rest.iter().position(|byte| !test(*byte)).unwrap_or(rest.len());
    looked_at(length);
    length
}

#[cfg(test)]
thread_local! {
    static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts the examined bytes, for the tests.
fn looked_at(_bytes: usize) {
    #[cfg(test)]
    LOOKED_AT.with(|count| count.set(count.get() + _bytes));
}

/// Returns true if a word can start at an offset. The letters of `\n` and `\u001b` in JSON do not belong to the following word.
pub(super) fn begins(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(u8::is_ascii_hexdigit) => true,
        [.., byte] => !byte.is_ascii_alphanumeric() && byte != b'_',
        [] => true,
    }
}

/// Finds a service key.
fn shaped(text: &[u8], at: usize, shape: &Shape) -> Option<Secret> {
    let prefix = shape.prefix.as_bytes();
    // A URL is not a key by itself; the path after it is, and a scheme or a host precedes it.
    let is_address = shape.is_address();
    if !text[at..].starts_with(prefix) || !(begins(text, at) || is_address) {
        return None;
    }
    let from = at + prefix.len();
    let (least, most) = shape.length;
    let run = run(text, from, most + 2, |byte| shape.alphabet.has(byte));
    // A trailing dot ends a sentence, and a bracket a remark.
    let points = text[from..from + run].iter().rev().take_while(|byte| matches!(byte, b'.' | b')')).count();
    let length = run - points;
    let fixed = least == most;
    let next = text.get(from + length);
    if !(least..=most).contains(&length) || fixed && next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return None;
    }
    let key = &text[from..from + length];
    let start = if is_address { from } else { at };
    let mixed = match shape.alphabet {
        Alphabet::Dotted => changes(key) > 1 || is_generated(key),
        _ => fixed || is_mixed(key),
    };
    (mixed && is_random(key, 8)).then(|| Secret { range: start..from + length, kind: shape.kind })
}

/// Finds a key with a fixed part inside, from the offset of this part.
fn around(text: &[u8], at: usize, infix: &Infix) -> Option<Secret> {
    let (alphabet, least, most) = infix.before;
    let before = text[..at].iter().rev().take(most + 1).take_while(|byte| alphabet.has(**byte)).count();
    // The alphabet can contain the byte in front of a key of fixed length.
    let before = if before > most && least == most { least } else { before };
    let start = at - before;
    let (alphabet, after_least, after_most) = infix.after;
    let from = at + infix.mark.len();
    let after = run(text, from, after_most + 2, |byte| alphabet.has(byte));
    let is_whole = text[at..].starts_with(infix.mark.as_bytes())
        && (least..=most).contains(&before)
        && (after_least..=after_most).contains(&after)
        && (begins(text, start) || text[..start].ends_with(b"bot"));
    let range = start..from + after;
    (is_whole && is_random(&text[range.clone()], 12)).then_some(Secret { range, kind: infix.kind })
}

/// Finds a JSON web token: three parts, of which the first two are objects.
fn web_token(text: &[u8], at: usize) -> Option<Secret> {
    let part = |at| &text[at..at + run(text, at, usize::MAX, |byte| Alphabet::Url.has(byte))];
    let object = |at| Some(part(at)).filter(|part| part.len() >= 12 && part.starts_with(OBJECT));
    let point = |at| (text.get(at) == Some(&b'.')).then_some(at + 1);
    let payload = point(at + object(at)?.len())?;
    let signature = point(payload + object(payload)?.len())?;
    let bytes = part(signature);
    let end = signature + bytes.len();
    (begins(text, at) && bytes.len() >= 16 && is_random(bytes, 8)).then_some(Secret { range: at..end, kind: "web-token" })
}

/// Finds the token whose second part follows this dot. The search starts at the dot because no part contains a dot, so each part is
/// examined a constant number of times.
fn web_token_at(text: &[u8], from: usize, point: usize) -> Option<Secret> {
    let before = &text[from..point];
    let header = before.iter().rev().take_while(|byte| Alphabet::Url.has(**byte)).count();
    looked_at(header);
    let header = point - header;
    let start = memchr::memmem::find_iter(&text[header..point], OBJECT).map(|place| header + place);
    web_token(text, start.into_iter().find(|start| begins(text, *start))?)
}

/// Finds an armoured private key. A truncated key ends at the end of its lines.
fn private_key(text: &[u8], at: usize) -> Option<Secret> {
    const END: &[u8] = b"-----END ";
    let title = at + PRIVATE_KEY.len();
    let words = run(text, title, LONGEST, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let name = &text[title..title + words];
    let body = title + words + 5;
    let armour = text[at..].starts_with(PRIVATE_KEY.as_bytes()) && text.get(title + words..body)? == b"-----";
    if !armour || memchr::memmem::find(name, b"PRIVATE KEY").is_none() {
        return None;
    }
    let rest = &text[body..text.len().min(body + LONGEST_PRIVATE_KEY)];
    // It contains no other key, and does not extend beyond the enclosing string.
    let rest = &rest[..memchr::memmem::find(rest, PRIVATE_KEY.as_bytes()).unwrap_or(rest.len())];
    let quote = memchr::memchr_iter(b'"', rest).find(|place| !rest[..*place].ends_with(b"\\"));
    let rest = &rest[..quote.unwrap_or(rest.len())];
    let (length, lines) = match memchr::memmem::find(rest, END) {
        Some(end) => (end + END.len() + name.len() + 5, &rest[..end]),
        None => {
            let length = cut_key(rest);
            (length, &rest[..length])
        }
    };
    let kept = lines.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let end = (body + length).min(body + rest.len());
    (kept >= 40 && is_random(lines, 16)).then_some(Secret { range: at..end, kind: PRIVATE_KEY_KIND })
}

/// Returns the length of the lines of a key without an end marker.
pub(super) fn cut_key(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += run(text, at, usize::MAX, |byte| Alphabet::Base64.has(byte) || byte.is_ascii_whitespace());
        match text.get(at..at + 2) {
            Some([b'\\', b'n' | b'r' | b't']) => at += 2,
            _ => return at,
        }
    }
}

/// Finds the password in `scheme://user:password@host`.
fn password_in_address(text: &[u8], at: usize) -> Option<Secret> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"/@:\"'\\`<>{}[](),;|".contains(&byte);
    let user = run(text, at, usize::MAX, plain);
    let from = at + user + 1;
    let mut length = run(text, from, usize::MAX, plain);
    // A password with the sign that ends it.
    let more = 1 + run(text, from + length + 1, usize::MAX, plain);
    if text.get(from + length) == Some(&b'@') && text.get(from + length + more) == Some(&b'@') {
        length += more;
    }
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b'_');
    if text.get(from - 1)? != &b':' || text.get(from + length)? != &b'@' || !text.get(from + length + 1).is_some_and(is_host) {
        return None;
    }
    let (user, password) = (&text[at..at + user], &text[from..from + length]);
    const COMMON: [&[u8]; 9] =
        [b"password", b"passwd", b"secret", b"postgres", b"guest", b"admin", b"mysecretpassword", b"password123", b"token"];
    let common = password == user || COMMON.iter().any(|word| password.eq_ignore_ascii_case(word));
    let random = length >= 6 && !common && is_random(password, 4);
    random.then_some(Secret { range: from..from + length, kind: "password-in-address" })
}

fn ends_with_name(text: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| text.len() >= name.len() && text[text.len() - name.len()..].eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(mask(text), expected);
        // Masking is idempotent.
        assert_eq!(mask(expected), expected);
    }

    /// Returns a key of a shape. It is generated, so that no scanner reports this file as a leak.
    fn key(shape: &Shape) -> String {
        let letters = match shape.alphabet {
            Alphabet::Hex | Alphabet::Guid => "7f3a9c2e1b8d4056",
            Alphabet::Capital => "Q7RZ2MWK9TXB4LNV",
            _ => "q7Rz2mWk9TxB4lNvC8dF",
        };
        let (least, most) = shape.length;
        format!("{}{}", shape.prefix, letters.chars().cycle().take(least.max(24).min(most)).collect::<String>())
    }

    #[test]
    fn the_words_of_a_mask_name_no_credential() {
        for masked in ["[secret:private-key]<\na1b2c3://u:", "password=\\n[secret:password]\\n0A0a0AaAAaA0a0A0Ab12"] {
            assert_eq!(mask(masked), masked);
        }
    }

    #[test]
    fn a_key_of_each_shape_is_found_at_any_place() {
        for shape in SHAPES.iter() {
            let key = key(shape);
            let value = if shape.is_address() { &key[shape.prefix.len()..] } else { &key };
            for (before, after) in [
                ("", ""),
                ("use ", " now"),
                ("\\n", "\\n"),
                ("\"", "\""),
                ("KEY=", ";"),
                ("(", ")."),
                ("é", "é"),
                ("token: '", "'"),
            ] {
                let text = format!("{before}{key}{after}");
                let found: Vec<(&str, &str)> =
                    find(text.as_bytes()).iter().map(|secret| (&text[secret.range.clone()], secret.kind)).collect();
                assert_eq!(found, [(value, shape.kind)], "{text}");
            }
            // The same letters inside a longer word are not a key.
            let inside = format!("a{key}");
            assert!(shape.is_address() || find(inside.as_bytes()).is_empty(), "{inside}");
        }
    }

    #[test]
    fn shorter_ones_and_placeholders_are_none() {
        for shape in SHAPES.iter() {
            let cut = &key(shape)[..shape.prefix.len() + shape.length.0 - 1];
            assert!(find(cut.as_bytes()).is_empty(), "{cut}");
            let same = format!("{}{}", shape.prefix, "x".repeat(shape.length.0));
            assert!(find(same.as_bytes()).is_empty(), "{same}");
        }
    }

    #[test]
    fn keys_of_services_are_masked() {
        check("use sk-ant-api03-abcdefghijklmnop now", "use [secret:anthropic-key] now");
        check("GH=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "GH=[secret:github-token]");
    }

    #[test]
    fn named_values_are_masked() {
        check("password=hunter2hunter2", "password=[secret:password]");
        check(r#""api_key": "a1b2c3d4e5""#, r#""api_key": "[secret:named-key]""#);
        check(r#"{\"api_key\": \"a1b2c3d4e5\"}"#, r#"{\"api_key\": \"[secret:named-key]\"}"#);
        check("Authorization: Bearer abc123def456", "Authorization: Bearer [secret:named-token]");
        check("DB_PASSWORD: 'a1b2c3d4!e5'", "DB_PASSWORD: '[secret:password]'");
        check("AWS_SECRET_ACCESS_KEY=q7Rz2mWk9TxB4lNvC8dF", "AWS_SECRET_ACCESS_KEY=[secret:named-key]");
        check("curl -H 'Authorization: Basic dXNlcjpwNHNzdzByZA=='", "curl -H 'Authorization: Basic [secret:named-token]'");
    }

    #[test]
    fn passwords_in_addresses_are_masked() {
        check("postgres://app:s3cr3tpw@db.internal:5432/x", "postgres://app:[secret:password-in-address]@db.internal:5432/x");
        for text in [
            "postgres://postgres:postgres@localhost/x",
            "https://example.com:8080/a@b",
            "redis://:$PASSWORD@host",
            "https://user:<password>@host",
            "see https://a.b/c: d@e",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn tokens_and_private_keys_are_masked() {
        let token = format!("eyJ{}.eyJ{}.{}", "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0NTY3ODkwIn0", "q7Rz2mWk9TxB4lNvC8dF");
        check(&format!("a {token} b"), "a [secret:web-token] b");
        let lines = "MIIEvq7Rz2mWk9TxB4lNvC8dFhGjPsYuEoIaDcXbZ1234567890+/".to_owned();
        for feed in ["\n", "\\n", "\r\n", "\\r\\n"] {
            let key = format!("-----BEGIN RSA PRIVATE KEY-----{feed}{lines}{feed}{lines}{feed}");
            check(&format!("k {key}-----END RSA PRIVATE KEY-----{feed}z"), &format!("k [secret:private-key]{feed}z"));
            check(&format!("{key}… cut"), "[secret:private-key]… cut");
            check(&format!("\"{key}\",\"b\":1"), "\"[secret:private-key]\",\"b\":1");
        }
        let public = format!("-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----");
        check(&public, &public);
        check(
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        );
    }

    #[test]
    fn the_end_of_what_was_cut_is_not_shown() {
        for (text, expected) in [("use ghp_q7Rz2mWk…", "use…"), ("use this and", "use this…"), ("oneword", "oneword"), ("", "")]
        {
            assert_eq!(mask_cut(text), expected);
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "",
            "the token is invalid",
            "sk-short",
            "src/auth/password.rs:12",
            "é password",
            "secret: see below",
            r#""input_tokens":12345678,"cache":1"#,
            "token = getToken2(store3, a1)",
            "password: process.env.DB_PASSWORD",
            "password=$DB_PASSWORD1",
            "secretName: prod-db-secret-1",
            "task-1234567890abcdef1234567890abcdef1234",
            "AKIAIOSFODNN7EXAMPLE",
            "toolu_01A2b3C4d5E6f7G8h9J0k1L2",
            "550e8400-e29b-41d4-a716-446655440000",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn the_work_grows_with_the_text_and_no_faster() {
        let patterns = SHAPES.iter().map(|shape| shape.prefix).chain(names().map(|(name, _)| name));
        let patterns =
            patterns.chain(INFIXES.iter().map(|infix| infix.mark)).chain(PLACES.iter().flat_map(|(texts, _)| texts.split('¦')));
        let patterns = patterns.chain([
            "eyJ", "api_key", "password,", "|password|\n|--|\n", "eyJaaaaaaaaa.", PRIVATE_KEY, "-----BEGIN PRIVATE KEY-----",
            ADDRESS,
        ]);
        // All of them take a minute without optimization.
        for pattern in crate::testing::sample(patterns, 40) {
            // A key of a shape follows its prefix: signs of names between them only end it.
            let is_shape = SHAPES.iter().any(|shape| shape.prefix == pattern);
            let between = ["", "-", ".", "=", ":", ": ", "=x1x2x3", "\\n"];
            for between in &between[..if is_shape { 2 } else { between.len() }] {
                let unit = format!("{pattern}{between}");
                let work = |bytes: usize| {
                    LOOKED_AT.set(0);
                    find(unit.repeat(bytes / unit.len()).as_bytes());
                    LOOKED_AT.get()
                };
                let (once, twice) = (work(8 << 10), work(16 << 10));
                assert!(twice <= once * 5 / 2 + LONGEST_PRIVATE_KEY, "{unit}: {once} bytes are looked at, then {twice}");
            }
        }
    }

    #[test]
    fn a_text_longer_than_a_value_is_passed_by_and_the_value_behind_it_is_found() {
        for name in ["token=", "password=", "api_key:", "token=passwd="] {
            let names = name.repeat((256 << 10) / name.len());
            LOOKED_AT.set(0);
            // The end of it is as long as a password.
            assert!(find(names.as_bytes()).len() <= 1, "{name}");
            assert!(LOOKED_AT.get() < 10 * names.len(), "{name}: {} of {} bytes", LOOKED_AT.get(), names.len());
            let value = "q7Rz2mWk9TxB4lNv";
            for text in [format!("{names}{value}"), format!("{names}&{name}{value}"), format!("{names};{name} \"{value}\"")] {
                assert!(!mask(&text).contains(value), "{name}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_masked_once(text in "(\\PC|password=|\"token\": \"|://u:|@h|sk-ant-|eyJ|-----BEGIN PRIVATE KEY-----|\\\\n|a1b2c3|[a-zA-Z0-9]{20}){0,12}") {
            let once = mask(&text).into_owned();
            proptest::prop_assert_eq!(mask(&once), once.as_str());
            let found = find(text.as_bytes());
            proptest::prop_assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        }
    }
}
