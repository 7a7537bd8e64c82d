//! The names of code in a text: identifiers, files and their paths.

use super::lists::word_sets;

/// The separators of path components, of any system.
pub const SEPARATORS: [char; 2] = ['/', '\\'];

// Stems of files that many folders have: alone they do not identify a file.
word_sets! { "names.txt": GENERIC_STEMS }

/// Longest extension of a file, or name of a member after a dot, in bytes.
pub(super) const EXTENSION_BYTES: usize = 5;
/// Shortest hexadecimal word that is a hash, in bytes.
const HASH_BYTES: usize = 7;

/// Returns the names of a text with the paths that they are in, without plain words, in order. In an escape sequence of JSON and of
/// source code the letter is not a part of the name after it.
pub fn path_runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let runs = std::iter::from_fn(move || {
        let start = rest.bytes().position(is_path_byte)?;
        let is_escape = rest[..start].ends_with('\\') && rest[start..].starts_with(['n', 't', 'r']);
        rest = &rest[start + usize::from(is_escape)..];
        let (run, after) = rest.split_at(rest.bytes().position(|byte| !is_path_byte(byte)).unwrap_or(rest.len()));
        rest = after;
        Some(run)
    });
    // Most runs are plain words.
    runs.filter(|run| !run.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn is_path_byte(byte: u8) -> bool {
    is_name_byte(byte) || matches!(byte, b'.' | b'/' | b'@' | b'+' | b'~' | b'-')
}

/// Returns true for a byte of a name.
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the last component of a path.
pub fn file_name(path: &str) -> &str {
    last_components(path, 1)
}

/// Returns the end of a path with at most `count` components, without a separator at its end.
pub fn last_components(path: &str, count: usize) -> &str {
    let path = path.trim_end_matches(SEPARATORS);
    let start = path.rmatch_indices(SEPARATORS).nth(count - 1).map_or(0, |(at, _)| at + 1);
    path[start..].trim_start_matches(SEPARATORS)
}

/// Returns the name of a file, with its folder if many folders have a file of that name.
pub fn telling_name(path: &str) -> &str {
    last_components(path, if is_generic(path) { 2 } else { 1 })
}

/// Returns true if many folders have a file of the name of a path.
pub fn is_generic(path: &str) -> bool {
    let stem = file_name(path).split('.').next().unwrap_or_default().to_ascii_lowercase();
    GENERIC_STEMS.contains(&*stem)
}

/// Returns true if a name has a stem with a letter and a short extension of lowercase letters and digits: `main.rs`, not `1.2`.
pub fn is_file_name(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    stem.len() >= 2
        && (1..=EXTENSION_BYTES).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && extension.as_bytes()[0].is_ascii_lowercase()
        && stem.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns true if a word is written as only code is: with an inner underscore, a capital after a small letter, or a digit after a
/// letter.
pub fn is_identifier(word: &str) -> bool {
    let word = word.as_bytes();
    if word.iter().all(u8::is_ascii_lowercase) {
        return false;
    }
    let inner = word.len() > 2 && word[1..word.len() - 1].contains(&b'_');
    let is_border = |pair: &[u8]| {
        pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase() || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
    };
    word.iter().any(u8::is_ascii_alphabetic) && (inner || word.windows(2).any(is_border))
}

/// Returns true for a word of hexadecimal digits, of which some are digits and some letters.
pub fn is_hash(word: &str) -> bool {
    let word = word.as_bytes();
    word.len() >= HASH_BYTES
        && word.iter().all(u8::is_ascii_hexdigit)
        && word.iter().any(u8::is_ascii_alphabetic)
        && word.iter().any(u8::is_ascii_digit)
}

/// Returns the three numbers of a version such as `2.1.330`; 0 for those that are missing.
pub fn version_numbers(version: &str) -> [u32; 3] {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or_default());
    [(); 3].map(|()| parts.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_with_its_folder_if_its_name_is_common() {
        for (path, name) in
            [("/w/src/auth/mod.rs", "auth/mod.rs"), ("C:\\w\\tax.rs", "tax.rs"), ("lib.rs", "lib.rs"), ("docs/", "docs")]
        {
            assert_eq!(telling_name(path), name);
        }
        for (path, name) in [("/a", "a"), ("/", ""), ("", ""), ("a/b/c", "b/c")] {
            assert_eq!(last_components(path, 2), name);
        }
    }

    #[test]
    fn files_are_told_from_figures() {
        for (name, expected) in [
            ("main.rs", true),
            ("a.rs", false),
            ("1.2", false),
            ("v1.2b", false),
            ("song.mp3", true),
            ("e.g", false),
            (".env", false),
        ] {
            assert_eq!(is_file_name(name), expected, "{name}");
        }
    }

    #[test]
    fn identifiers_are_told_from_words_and_numbers() {
        for (word, expected) in [
            ("snake_case", true),
            ("camelCase", true),
            ("E0599", true),
            ("words", false),
            ("1_000", false),
            ("_x", false),
            ("HTTP", false),
        ] {
            assert_eq!(is_identifier(word), expected, "{word}");
        }
        assert!(is_hash("4f3a9b21c7") && !is_hash("1234567") && !is_hash("deadbeef"));
    }
}
