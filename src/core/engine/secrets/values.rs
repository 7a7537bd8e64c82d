//! Judges values in the position of a credential: generated, chosen by a person, or none at all.
//!
//! A placeholder, an example word, a reference to another place, a path and a date are not credentials, whatever precedes them.

use super::looked_at;
use crate::text::lists::{word_lists, word_sets};
use crate::text::stop_words::is_function_word;

/// Lengths of a value after a name, in bytes.
const NAMED_BYTES: std::ops::RangeInclusive<usize> = 8..=2048;
const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 6..=128;
/// Minimum number of changes between letters and digits in a generated value: words with a number have one or two.
const CHANGES: usize = 3;
word_sets! { "values.txt": EXAMPLES }
word_lists! { "values.txt": TECHNICAL }

/// Returns true if a key is not a placeholder: it has enough different characters and contains no example word.
pub(super) fn is_random(key: &[u8], different: usize) -> bool {
    looked_at(key.len());
    let mut seen = [false; 256];
    let count = key.iter().filter(|byte| !std::mem::replace(&mut seen[usize::from(**byte)], true)).count();
    count >= different && !is_placeholder(key)
}

/// Returns true if a value marks a place that a person or a program fills in.
fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&str; 16] = [
        "example", ".*", "xxxx", "your", "placeholder", "redacted", "dummy", "changeme", "change-me", "change_me", "replace",
        "[secret:", "...", "***", "${", "{{",
    ];
    let lower = value.to_ascii_lowercase();
    let names_a_variable = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_variable = match value {
        [b'$', b'A'..=b'Z' | b'a'..=b'z' | b'_', rest @ ..] => {
            names_a_variable(rest) || rest.iter().any(|byte| b"{[:>.".contains(byte))
        }
        [b'$', b'(' | b'{', ..] | [b'#', b'{', ..] | [b'<', .., b'>'] | [b'{', .., b'}'] | [b'[', .., b']'] => true,
        [b'%', name @ .., b'%'] => names_a_variable(name),
        _ => false,
    };
    is_variable || WORDS.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// Returns true if a value consists of example words and numbers: `test-token-1`, `MyPassword123`, `s3cret`.
fn is_example(value: &[u8]) -> bool {
    if value.len() > 64 {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let of_words = |text: &[u8]| {
        let mut words = text.split(|byte| !byte.is_ascii_lowercase()).filter(|word| !word.is_empty()).peekable();
        words.peek().is_some() && words.all(|word| is_example_word(word, 4))
    };
    // Digits and symbols that are written for letters, before a number that counts.
    let tail = lower.iter().rev().take_while(|byte| matches!(byte, b'1'..=b'4' | b'!')).count();
    let letter = |byte: &u8| match byte {
        b'0' => b'o',
        b'1' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        other => *other,
    };
    of_words(&lower)
        || is_example_word(&lower[..lower.len() - tail].iter().map(letter).collect::<Vec<u8>>(), 2) && lower.len() > tail
}

/// Returns true if a word is made of at most `most` example words.
fn is_example_word(word: &[u8], most: usize) -> bool {
    let is_example = |start: &[u8]| std::str::from_utf8(start).is_ok_and(|start| EXAMPLES.contains(start));
    let splits = |at: usize| is_example(&word[..at]) && is_example_word(&word[at..], most - 1);
    word.is_empty() || most > 0 && (1..=word.len()).any(splits)
}

/// Returns true if a value is a technical term with a number: `sha256`, `utf-8`, `step12`.
fn is_technical(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let term = value[..letters].to_ascii_lowercase();
    let tail = value[letters..].iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    tail <= 2 && TECHNICAL.iter().any(|known| known.as_bytes() == term)
}

/// Returns true if a value says where the credential is: a path, an address, a variable of a program, a date or a version.
fn is_reference(value: &[u8]) -> bool {
    let schemes = ["http:", "https:", "file:", "arn:", "op:", "vault:", "ref:", "env:", "ssm:", "projects/", "secretsmanager:"];
    if schemes.iter().any(|scheme| value.starts_with(scheme.as_bytes())) || is_date(value) {
        return true;
    }
    if matches!(value, [b'/' | b'~', b'/', ..] | [b'.', b'/' | b'.', ..] | [b'/', ..]) && !is_generated(value) {
        return true;
    }
    let word = |part: &[u8]| {
        !part.is_empty()
            && (part[0].is_ascii_alphabetic() || matches!(part[0], b'_' | b'$'))
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            && changes(part) < CHANGES
            && !is_camel_noise(part)
    };
    // `config.password1`, `src/auth/token2`, `Crate::value`.
    [b'.', b'/', b':'].iter().any(|sign| {
        let mut parts = value.split(|byte| byte == sign).filter(|part| !part.is_empty());
        value.contains(sign) && parts.all(word)
    })
}

/// Returns true if a value starts with a date or a version: `2026-01-31T…`, `v1.2.3@…`.
fn is_date(value: &[u8]) -> bool {
    ["0000-00-00", "v0.0."].iter().any(|form| {
        value.len() >= form.len()
            && value.iter().zip(form.bytes()).all(|(byte, form)| if form == b'0' { byte.is_ascii_digit() } else { *byte == form })
    })
}

/// Counts the changes between letters and digits in a text.
pub(super) fn changes(text: &[u8]) -> usize {
    let differ = |pair: &&[u8]| {
        pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic() || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
    };
    text.windows(2).filter(differ).count()
}

/// Returns true if a key contains digits, or letters of both cases.
pub(super) fn is_mixed(key: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| key.iter().any(test);
    has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Returns true if the words of a value are too short for words of a language: an identifier such as `getUserById` has words of
/// three or more letters on average, random letters of both cases have fewer than three.
fn is_camel_noise(value: &[u8]) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let (mut letters, mut words, mut lower, mut upper) = (0, 0, false, false);
    // Words have a vowel after a few letters.
    let vowels = |byte: &u8| !byte.is_ascii_alphabetic() || b"aeiouyAEIOUY".contains(byte);
    let longest = value.split(vowels).map(<[u8]>::len).max().unwrap_or_default();
    for (place, byte) in value.iter().enumerate() {
        let kind = class(*byte);
        if kind == 3 {
            continue;
        }
        letters += 1;
        lower |= kind == 0;
        upper |= kind == 1;
        let before = place.checked_sub(1).map_or(3, |before| class(value[before]));
        let after = value.get(place + 1).map_or(3, |after| class(*after));
        // A capital letter starts a word, unless it is inside a run of capitals.
        words += usize::from(match kind {
            0 => before > 1,
            1 => before != 1 || after == 0,
            _ => before != 2,
        });
    }
    lower && upper && (letters >= 16 && letters * 10 < words * 28 || letters >= 12 && longest > 5)
}

/// Returns true if a value looks generated: letters and digits change often, or letters of both cases do.
pub(super) fn is_generated(value: &[u8]) -> bool {
    changes(value) >= CHANGES || is_camel_noise(value)
}

/// Returns true if a value after the name of a key or a token is one. A name that is `surely` that of a credential needs a less
/// random one.
pub(super) fn is_key(value: &[u8], surely: bool) -> bool {
    // Small letters and signs are none, however many: most texts in the place of a key.
    if !NAMED_BYTES.contains(&value.len()) || !value.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) {
        return false;
    }
    let looks = is_generated(value) || surely && is_mixed(value) || value.len() >= 20 && is_rich(value);
    let digits_only = value.iter().all(|byte| !byte.is_ascii_alphabetic());
    looks && !digits_only && is_random(value, 6) && !is_example(value) && !is_reference(value) && !is_path(value)
}

/// Returns true if a value has letters, digits and at least three symbols of passwords.
pub(super) fn is_rich(value: &[u8]) -> bool {
    let symbols = value.iter().filter(|byte| b"!@#$%^&*()+=?~".contains(byte)).count();
    symbols >= 3 && value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

fn is_path(value: &[u8]) -> bool {
    let slashes = value.iter().filter(|byte| **byte == b'/').count();
    let longest = value.split(|byte| *byte == b'/').map(<[u8]>::len).max().unwrap_or_default();
    slashes > 2 && longest < 16 && value.len() < 80 && !is_camel_noise(value)
}

/// Returns true if a value after the name of a password is one: letters with digits or symbols, or a number that is not a
/// sequence. A value in prose or without a sign in front of it needs letters and digits, and no other meaning.
pub(super) fn is_password(value: &[u8], in_prose: bool) -> bool {
    if !PASSWORD_BYTES.contains(&value.len()) {
        return false;
    }
    let letters = value.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let digits = value.iter().any(u8::is_ascii_digit);
    let symbols = value.iter().filter(|byte| b"!@#$%^&*+=?~;|".contains(byte)).count();
    let strong = letters && digits
        || letters && symbols > 0 && value.len() >= 8
        || digits && !letters && !is_sequence(value) && !value.contains(&b'.')
        || is_camel_noise(value)
        || is_letter_noise(value);
    let plain = !in_prose
        || letters
            && digits
            && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!@#$%^&*+?~_-".contains(byte))
            && (is_generated(value) || ends_with_number(value) || !value.iter().any(|byte| matches!(byte, b'-' | b'_')))
            && value.iter().any(u8::is_ascii_alphabetic)
            && !value.starts_with(b"-");
    strong && plain && is_random(value, 4) && !is_example(value) && !is_reference(value) && !is_technical(value)
}

/// Returns true if words in quotes after the name of a password are one: a word is a password by itself, and none is one of those that
/// only sentences have.
pub(super) fn is_passphrase(value: &[u8]) -> bool {
    let words = || value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let is_of_sentence = |word: &[u8]| std::str::from_utf8(word).is_ok_and(|word| is_function_word(&word.to_ascii_lowercase()));
    PASSWORD_BYTES.contains(&value.len()) && words().any(|word| is_password(word, true)) && !words().any(is_of_sentence)
}

/// Returns true for words with a number of three digits or more.
fn ends_with_number(value: &[u8]) -> bool {
    value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count() > 2
}

/// Returns true for small letters that are not a word: the passwords that mail services give to programs.
fn is_letter_noise(value: &[u8]) -> bool {
    let letters: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'-').collect();
    let vowels = |byte: &u8| b"aeiouy".contains(byte);
    let runs = |least: usize| letters.split(vowels).filter(|run| run.len() >= least).count();
    (16..=20).contains(&letters.len())
        && letters.iter().all(u8::is_ascii_lowercase)
        && (runs(5) > 0 || runs(4) > usize::from(letters.len() != 16))
}

/// Returns true if a number counts up or down, repeats one digit, or is too short: `123456`, `000000`.
fn is_sequence(value: &[u8]) -> bool {
    let steps: Vec<i16> = value.windows(2).map(|pair| i16::from(pair[1]) - i16::from(pair[0])).collect();
    let same = |step: i16| steps.iter().all(|other| *other == step);
    value.len() < 6 || value.iter().any(|byte| !byte.is_ascii_digit()) || same(0) || same(1) || same(-1)
}
