//! The words of a text: identifiers whole and in parts, and the stem that all forms of a word share.

use super::names::EXTENSION_BYTES;
use std::ops::Range;

/// From this character on, words are written without spaces: the index has pairs of their characters.
pub const FIRST_IDEOGRAPH: char = '\u{2e80}';

/// A word, verbatim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'a> {
    Part(&'a str),
    /// An identifier of several parts, a number, a name with an extension, a pair of ideographs.
    Whole(&'a str),
}

impl<'a> Word<'a> {
    pub fn text(self) -> &'a str {
        match self {
            Word::Part(text) | Word::Whole(text) => text,
        }
    }

    /// Appends the form that all spellings of the word share: lowercase, plain words without their ending.
    pub fn key(self, key: &mut String) {
        key.clear();
        key.push_str(self.text());
        if key.is_ascii() {
            key.make_ascii_lowercase();
        } else {
            *key = key.to_lowercase();
        }
        if matches!(self, Word::Part(_)) {
            let stem = stem(key).len();
            key.truncate(stem);
        }
    }
}

/// Calls `found` for each word of a text, in order: identifiers as a whole and in parts. Single ASCII characters are omitted.
pub fn words<'a>(text: &'a str, mut found: impl FnMut(Word<'a>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if !is_name(byte) {
            // An escape sequence in JSON and in source code is a space, not a letter: `\nfoo` contains `foo`.
            at += if byte == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b't' | b'r' | b'\\')) { 2 } else { 1 };
            continue;
        }
        let end = run(bytes, at);
        let word = &text[at..end];
        if word.is_ascii() {
            ascii(word, &mut found);
            if let Some(end) = extension(bytes, end) {
                found(Word::Whole(&text[at..end]));
            }
        } else {
            for word in word.split(|letter: char| letter != '_' && !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
                foreign(word, &mut found);
            }
        }
        at = end;
    }
}

/// Returns true if a byte belongs to a name, or to a character outside ASCII.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the end of the run of names that starts at `from`.
fn run(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| !is_name(*byte)).map_or(bytes.len(), |length| from + length)
}

/// Returns the end of an extension such as `.rs` at `from`, if there is one.
fn extension(bytes: &[u8], from: usize) -> Option<usize> {
    let end = run(bytes, from + usize::from(bytes.get(from) == Some(&b'.')));
    let letters = bytes.get(from + 1..end).filter(|letters| (1..=EXTENSION_BYTES).contains(&letters.len()))?;
    (letters[0].is_ascii_lowercase() && letters.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
        .then_some(end)
}

fn ascii<'a>(word: &'a str, found: &mut impl FnMut(Word<'a>)) {
    if word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) && word.as_bytes()[0].is_ascii_alphabetic() {
        if word.len() > 1 {
            found(Word::Part(word));
        }
        return;
    }
    several(word.trim_matches('_'), found);
}

fn several<'a>(word: &'a str, found: &mut impl FnMut(Word<'a>)) {
    let mut whole = word.len() < 2;
    parts(word, |part| {
        whole |= part.len() == word.len();
        if part.len() > 1 {
            found(Word::Part(&word[part]));
        }
    });
    if !whole {
        found(Word::Whole(word));
    }
}

fn foreign<'a>(word: &'a str, found: &mut impl FnMut(Word<'a>)) {
    let is_ideograph = |letter: char| letter >= FIRST_IDEOGRAPH;
    let Some(first) = word.chars().next() else { return };
    // Scripts that are mixed without spaces are separate words.
    let end = word.find(|letter| is_ideograph(letter) != is_ideograph(first)).unwrap_or(word.len());
    let (word, rest) = word.split_at(end);
    if is_ideograph(first) {
        pairs(word, found);
    } else if word.is_ascii() {
        ascii(word, found);
    } else {
        several(word.trim_matches('_'), found);
    }
    foreign(rest, found);
}

/// Finds each pair of neighbors in a run of ideographs; a single one is a word.
fn pairs<'a>(word: &'a str, found: &mut impl FnMut(Word<'a>)) {
    let mut before: Option<usize> = None;
    for (at, letter) in word.char_indices() {
        if let Some(before) = before {
            found(Word::Whole(&word[before..at + letter.len_utf8()]));
        } else if word.len() == letter.len_utf8() {
            found(Word::Whole(word));
        }
        before = Some(at);
    }
}

/// Returns an English word in lowercase, without the endings of plurals, participles and past tenses.
///
/// After the S-stemmer of Harman (How effective is suffixing?, JASIS 42, 1991), and step 1b of Porter (An algorithm for suffix
/// stripping, Program 14, 1980) without its conditions on vowels. A final `e` is removed: `caches`, `caching`.
pub fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let mut stem = word;
    if stem.ends_with('s') && !stem.ends_with("ss") && !stem.ends_with("us") && !stem.ends_with("is") {
        stem = &stem[..stem.len() - 1];
    }
    let cut = ["ing", "ed"].iter().find_map(|ending| stem.strip_suffix(ending)).filter(|rest| rest.len() >= 3);
    if let Some(rest) = cut {
        stem = rest;
        let [.., before, last] = rest.as_bytes() else { return stem };
        if before == last && !matches!(last, b'l' | b's' | b'z') {
            stem = &rest[..rest.len() - 1];
        }
    }
    // `query` and `queries` become `quer`.
    for ending in ["ie", "e", "y"] {
        if let Some(rest) = stem.strip_suffix(ending).filter(|rest| rest.len() >= 3) {
            return rest;
        }
    }
    stem
}

/// Returns the words between spaces, each with the range of its part without the marks at its ends; an empty one if it has only marks.
pub fn spaced(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let is_mark = |c: char| !c.is_alphanumeric();
    text.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let inner = match word.as_bytes() {
            [first, .., last] if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() => 0..word.len(),
            _ => {
                let rest = word.trim_start_matches(is_mark);
                let from = word.len() - rest.len();
                from..from + rest.trim_end_matches(is_mark).len()
            }
        };
        (word, start + inner.start..start + inner.end)
    })
}

/// Returns the words of prose: runs of letters, digits, apostrophes, hyphens and underscores, without these marks at their ends. A `§`
/// counts as a letter: it is in the place of something.
pub fn prose_words(text: &str) -> impl Iterator<Item = &str> {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '_' | '§');
    let words = text.split(move |c: char| !is_inner(c)).map(|word| word.trim_matches(['\'', '-', '_']));
    words.filter(|word| !word.is_empty())
}

/// Passes on the stretches of letters of a text, names in camelCase taken apart; an empty one between two other characters.
pub fn parts(text: &str, mut found: impl FnMut(Range<usize>)) {
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut characters = text.char_indices().peekable();
    while let Some((at, here)) = characters.next() {
        if !here.is_alphabetic() {
            found(start..at);
            start = at + here.len_utf8();
            before = None;
            continue;
        }
        let after = characters.peek().map(|(_, after)| *after);
        let begins = here.is_uppercase()
            && before
                .is_some_and(|before| before.is_lowercase() || before.is_uppercase() && after.is_some_and(char::is_lowercase));
        if begins {
            found(start..at);
            start = at;
        }
        before = Some(here);
    }
    found(start..text.len());
}

#[cfg(test)]
fn keys(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    words(text, |word| {
        let mut key = String::new();
        word.key(&mut key);
        all.push(key);
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(keys(text).join(" "), expected, "{text}");
    }

    #[test]
    fn words_are_found_by_their_stems_and_parts() {
        check("cache caches cached caching", "cach cach cach cach");
        check("query queries querying", "quer quer quer");
        check("stop stopped stopping stops", "stop stop stop stop");
        check("class status this is", "class status this is");
        check("ring red used", "ring red used");
        check("parse_rows(x)", "pars row parse_rows");
        check("HttpServer __init__", "http server httpserver init");
        check("E0599 at 404", "e0599 at 404");
        check("src/heat.rs:12", "src heat heat.rs rs 12");
        // Escapes do not count as letters.
        check(r"a\nnew_name\tb", "new nam new_name");
        check(r"C:\\new", "new");
        // Other alphabets have words too.
        check("Größe der Äpfel", "größe der äpfel");
        check("“quoted”→next", "quot next");
        check("缓存失效", "缓存 存失 失效");
        check("中", "中");
        check("修复login测试a中b_c", "修复 login 测试 中 b_c");
    }

    #[test]
    fn words_of_prose_have_no_marks_at_their_ends() {
        let inner = |text: &'static str| spaced(text).map(|(_, range)| &text[range]).collect::<Vec<_>>();
        assert_eq!(inner("(see) src/a.rs, «größer» — end"), ["see", "src/a.rs", "größer", "", "end"]);
        assert_eq!(prose_words("-- don't: re-read §, 'x_y' a/b").collect::<Vec<_>>(), ["don't", "re-read", "§", "x_y", "a", "b"]);
    }
}
