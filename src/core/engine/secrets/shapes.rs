//! The shapes of service keys.

use crate::model::words;
use std::sync::LazyLock;

/// The shape of a service key: its prefix and the following bytes.
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) prefix: &'static str,
    pub(super) alphabet: Alphabet,
    /// Minimum and maximum number of bytes after the prefix.
    pub(super) length: (usize, usize),
}

impl Shape {
    /// Returns true if the prefix is the start of a URL: it is public, unlike the path that follows.
    pub(super) fn is_address(&self) -> bool {
        self.prefix.contains(".com/")
    }
}

words! {
    /// The bytes of a key.
    pub enum Alphabet {
        /// Letters and digits.
        Plain = "plain",
        /// Letters, digits, `-` and `_`.
        Url = "url",
        /// The same and `.`.
        Dotted = "dotted",
        /// The same, `/`, `+` and `=`.
        Base64 = "base64",
        /// Hexadecimal digits.
        Hex = "hex",
        /// The same and `-`.
        Guid = "guid",
        Capital = "capital",
        /// The characters of a URL after its host.
        Address = "address",
        Digit = "digit",
        /// Letters, digits, `-`, `_`, `.` and `~`.
        Tilde = "tilde",
        /// Letters, digits and the symbols of generated passwords.
        Symbols = "symbols",
    }
}

impl Alphabet {
    /// Returns true if a key of this alphabet can contain a byte.
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Plain => byte.is_ascii_alphanumeric(),
            Alphabet::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Alphabet::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Alphabet::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'+' | b'='),
            Alphabet::Hex => byte.is_ascii_hexdigit(),
            Alphabet::Guid => byte.is_ascii_hexdigit() || byte == b'-',
            Alphabet::Address => byte.is_ascii_alphanumeric() || b"-_./@%".contains(&byte),
            Alphabet::Tilde => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~'),
            Alphabet::Symbols => byte.is_ascii_alphanumeric() || b"!@#$%^&*(-_=+)".contains(&byte),
            Alphabet::Digit => byte.is_ascii_digit(),
            Alphabet::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// Maximum length of a key, in bytes.
pub(super) const LONGEST: usize = 2048;

pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let forms = include_str!("shapes.txt").lines().filter(|line| !line.starts_with('#'));
    forms.filter_map(shapes).flatten().collect()
});

/// Parses the shapes of a line: `KIND ALPHABET LEAST MOST PREFIX…`; `None` if it is invalid.
fn shapes(line: &'static str) -> Option<impl Iterator<Item = Shape>> {
    let mut words = line.split(' ');
    let (kind, alphabet) = (words.next()?, Alphabet::from_name(words.next()?)?);
    let length = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(words.map(move |prefix| Shape { kind, prefix, alphabet, length }))
}

/// A shape with a fixed part inside: the bytes before and after it.
pub(super) struct Infix {
    pub(super) kind: &'static str,
    pub(super) mark: &'static str,
    pub(super) before: (Alphabet, usize, usize),
    pub(super) after: (Alphabet, usize, usize),
}

/// The known shapes with a fixed part inside.
pub(super) static INFIXES: &[Infix] = &[
    Infix { kind: "telegram-token", mark: ":AA", before: (Alphabet::Digit, 7, 11), after: (Alphabet::Url, 33, 33) },
    Infix { kind: "azure-secret", mark: "Q~", before: (Alphabet::Dotted, 4, 4), after: (Alphabet::Tilde, 31, 34) },
    Infix { kind: "azure-devops-token", mark: "AZDO", before: (Alphabet::Plain, 76, 80), after: (Alphabet::Plain, 4, 4) },
    Infix { kind: "azure-openai-key", mark: "JQQJ99", before: (Alphabet::Plain, 52, 52), after: (Alphabet::Plain, 26, 26) },
    Infix { kind: "terraform-token", mark: ".atlasv1.", before: (Alphabet::Plain, 14, 14), after: (Alphabet::Url, 60, 70) },
    Infix { kind: "firebase-key", mark: ":APA91b", before: (Alphabet::Url, 11, 22), after: (Alphabet::Url, 100, 200) },
    Infix { kind: "mailchimp-key", mark: "-us", before: (Alphabet::Hex, 32, 32), after: (Alphabet::Digit, 1, 2) },
    Infix { kind: "braintree-token", mark: "$production$", before: (Alphabet::Url, 12, 12), after: (Alphabet::Dotted, 40, 60) },
];

#[test]
fn each_line_of_the_table_is_valid() {
    for line in include_str!("shapes.txt").lines().filter(|line| !line.starts_with('#')) {
        assert!(shapes(line).is_some_and(|shapes| shapes.count() > 0), "{line}");
    }
}
