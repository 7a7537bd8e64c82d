//! Cuts a text into the spans that tokens do not reach across, as this expression of o200k does:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |\p{N}{1,3}
//! | ?[^\s\p{L}\p{N}]+[\r\n/]*
//! |\s*[\r\n]+
//! |\s+(?!\S)
//! |\s+
//! ```
//!
//! Source: `o200k_base` in openai/tiktoken, `tiktoken_ext/openai_public.py`. An engine of expressions takes several times as long
//! as the counting itself.

use super::class::{CASELESS, LOWER, MARK, NEWLINE, NUMBER, OTHER, PAGE_CHARACTERS, SPACE, UPPER};

/// Page of [`CLASSES`] that holds a character, by its number divided by [`PAGE_CHARACTERS`].
static PAGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pages"));
/// The classes of the characters of each page.
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes"));
/// The classes of ASCII bytes; other bytes have no class.
static ASCII: [u8; 256] = ascii();

/// Character classes that begin a word, and those that continue it.
const HEAD: u8 = UPPER | CASELESS | MARK;
const TAIL: u8 = LOWER | CASELESS | MARK;

const fn ascii() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => NEWLINE,
            b' ' | b'\t' | 0x0b | 0x0c => SPACE,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
}

/// Returns the end of the span that starts at an offset, which must not be the end of the text.
pub(super) fn end(text: &str, start: usize) -> usize {
    let text = Text(text);
    let (class, width) = text.at(start);
    let second = start + width;
    match class {
        UPPER | LOWER | CASELESS | MARK => text.word(start).unwrap_or(second),
        // A character that is not a letter, number or line end may precede a word.
        OTHER => text.word(second).unwrap_or_else(|| text.others(second)),
        SPACE => match text.word(second) {
            Some(end) => end,
            None if text.byte(start) == Some(b' ') && text.at(second).0 == OTHER => text.others(second),
            None => text.spaces(start),
        },
        NUMBER => text.numbers(start),
        _ => text.spaces(start),
    }
}

struct Text<'t>(&'t str);

impl Text<'_> {
    fn byte(&self, place: usize) -> Option<u8> {
        self.0.as_bytes().get(place).copied()
    }

    /// The class of the character at a place and its bytes; nothing of both where the text ends.
    #[inline]
    fn at(&self, place: usize) -> (u8, usize) {
        match self.byte(place) {
            None => (0, 0),
            Some(byte) if byte.is_ascii() => (ASCII[usize::from(byte)], 1),
            Some(_) => self.0.get(place..).and_then(|rest| rest.chars().next()).map_or((0, 0), |character| {
                let number = character as usize;
                let page = usize::from(PAGES[number / PAGE_CHARACTERS]);
                (CLASSES[page * PAGE_CHARACTERS + number % PAGE_CHARACTERS], character.len_utf8())
            }),
        }
    }

    /// Returns the end of a run of characters of some classes.
    #[inline]
    fn run(&self, mut place: usize, classes: u8) -> usize {
        let bytes = self.0.as_bytes();
        loop {
            while place < bytes.len() && ASCII[usize::from(bytes[place])] & classes != 0 {
                place += 1;
            }
            let (class, width) = self.at(place);
            if class & classes == 0 {
                return place;
            }
            place += width;
        }
    }

    /// Returns the end of the word that starts at an offset. A character that is both head and tail, a caseless letter or a mark,
    /// ends a head without a following lowercase letter: in `日本AB` the capitals are a separate span.
    #[inline]
    fn word(&self, start: usize) -> Option<usize> {
        let mut end = start;
        let mut last_tail = None;
        loop {
            let (class, width) = self.at(end);
            if class & HEAD == 0 {
                let end = match last_tail {
                    _ if class == LOWER => self.run(end, TAIL),
                    Some(end) => end,
                    None if end > start => end,
                    None => return None,
                };
                return Some(end + self.contraction_bytes(end));
            }
            end += width;
            if class != UPPER {
                last_tail = Some(end);
            }
        }
    }

    /// Bytes of an English contraction at a place. `ſ` is an `s` to an expression that ignores case.
    fn contraction_bytes(&self, place: usize) -> usize {
        match &self.0.as_bytes()[place..] {
            [b'\'', b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
            [b'\'', b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'\'', b'l' | b'L', b'l' | b'L', ..] => 3,
            [b'\'', 0xc5, 0xbf, ..] => 3,
            _ => 0,
        }
    }

    /// Returns the end of up to three numbers.
    fn numbers(&self, start: usize) -> usize {
        (0..3).fold(start, |end, _| match self.at(end) {
            (NUMBER, width) => end + width,
            _ => end,
        })
    }

    /// Returns the end of punctuation and other characters, including the following line ends and slashes.
    fn others(&self, place: usize) -> usize {
        let mut end = self.run(place, OTHER | MARK);
        while let Some(b'\r' | b'\n' | b'/') = self.byte(end) {
            end += 1;
        }
        end
    }

    /// Returns the end of white space: after its last line end, else before its last character, which belongs to the following
    /// span.
    fn spaces(&self, start: usize) -> usize {
        let (mut last, mut end, mut line_end) = (start, start, None);
        loop {
            let (class, width) = self.at(end);
            if class & (SPACE | NEWLINE) == 0 {
                let goes_on = class != 0 && last > start;
                return line_end.unwrap_or(if goes_on { last } else { end });
            }
            last = end;
            end += width;
            if class == NEWLINE {
                line_end = Some(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    fn spans(text: &str) -> Vec<&str> {
        let mut spans = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = end(text, start);
            spans.push(&text[start..end]);
            start = end;
        }
        spans
    }

    #[test]
    fn text_is_cut_where_tokens_end() {
        for (text, expected) in [
            ("let x1 = getHTTPResponse(a);", vec!["let", " x", "1", " =", " get", "HTTPResponse", "(a", ");"]),
            ("  if\n\n    end \t\n", vec![" ", " if", "\n\n", "   ", " end", " \t\n"]),
            ("they're IT'S 'll", vec!["they're", " IT'S", " '", "ll"]),
            ("1234567", vec!["123", "456", "7"]),
            ("// a/b\n/c", vec!["//", " a", "/b", "\n", "/c"]),
            ("...\n/\nx", vec!["...\n/\n", "x"]),
            ("日本AB c", vec!["日本", "AB", " c"]),
            ("e\u{301}a \u{301}A", vec!["e\u{301}a", " \u{301}", "A"]),
            ("x   ", vec!["x", "   "]),
            ("\u{301}AB", vec!["\u{301}", "AB"]),
        ] {
            assert_eq!(spans(text), expected, "{text:?}");
        }
    }

    /// The expression in the head of this file.
    fn expression() -> &'static fancy_regex::Regex {
        static EXPRESSION: LazyLock<fancy_regex::Regex> = LazyLock::new(|| {
            let lines = include_str!("spans.rs").lines().filter_map(|line| line.strip_prefix("//! "));
            let lines = lines.skip_while(|line| *line != "```text").skip(1).take_while(|line| *line != "```");
            fancy_regex::Regex::new(&lines.collect::<String>()).unwrap()
        });
        &EXPRESSION
    }

    fn holds(text: &str) {
        let expected: Vec<&str> = expression().find_iter(text).map(|found| found.unwrap().as_str()).collect();
        assert_eq!(spans(text), expected, "{text:?}");
    }

    #[test]
    fn short_texts_are_cut_as_the_expression_cuts_them() {
        const CHARACTERS: [char; 13] = ['A', 'b', '中', '\u{301}', '7', ' ', '\t', '\n', '\'', 's', '/', '.', 'ǅ'];
        let mut texts = vec![String::new()];
        for _ in 0..3 {
            texts = texts.iter().flat_map(|text| CHARACTERS.map(|character| format!("{text}{character}"))).collect();
            texts.iter().for_each(|text| holds(text));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_cut_as_the_expression_cuts_it(text in crate::engine::vocabulary::tests::text()) {
            holds(&text);
        }
    }
}
