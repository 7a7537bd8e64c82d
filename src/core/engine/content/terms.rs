//! The terms of a text, to which later messages of the agent can refer.
//!
//! Terms are code identifiers (`snake_case`, `camelCase`, with digits), file names, paths that do not end in one, quoted strings,
//! and whole lines of a minimum length. Plain words are not terms, because they are too common. A term is stored as 32 bits of its
//! XXH3 hash; with 100,000 distinct terms in a session a given one collides in 1 of 40,000 cases.

use crate::model::limits::TERMS_PER_BLOCK;
use crate::text::names::{is_file_name, is_hash, is_identifier, is_name_byte, path_runs};
use rustc_hash::{FxHashMap, FxHashSet};
use twox_hash::XxHash3_64;

/// Shortest identifier, quoted string and line that count, in bytes.
const IDENTIFIER_BYTES: usize = 5;
const QUOTED_BYTES: std::ops::RangeInclusive<usize> = 8..=80;
const LINE_BYTES: std::ops::RangeInclusive<usize> = 16..=400;

/// The hashes of the distinct terms of a text, in order of appearance; at most [`TERMS_PER_BLOCK`].
pub fn terms(text: &str) -> Vec<u32> {
    let (mut seen, mut terms) = (FxHashSet::default(), Vec::new());
    for line in text.lines() {
        if terms.len() >= TERMS_PER_BLOCK {
            break;
        }
        in_line(line, |term| terms.extend(Some(hash(term)).filter(|hash| seen.insert(*hash))));
    }
    terms.truncate(TERMS_PER_BLOCK);
    // They are kept for as long as the session is.
    terms.shrink_to_fit();
    terms
}

/// The terms of a text by their hashes, as they are spelled; of a line that is a term the line.
pub fn spelled(text: &str) -> FxHashMap<u32, &str> {
    let mut found = FxHashMap::default();
    text.lines().for_each(|line| in_line(line, |term| _ = found.entry(hash(term)).or_insert(term)));
    found
}

/// Calls `found` for the terms in a line: the line itself, its names, and its quotations.
fn in_line<'a>(line: &'a str, mut found: impl FnMut(&'a str)) {
    let content = without_line_number(line).trim();
    if is_quotable(content) {
        found(content);
    }
    names(content, &mut found);
    for mark in [b'"', b'`'] {
        quoted(content, mark, &mut found);
    }
}

/// True if a trimmed line is a term itself: an agent that edits a file quotes its lines.
pub fn is_quotable(line: &str) -> bool {
    LINE_BYTES.contains(&line.len()) && line.bytes().filter(u8::is_ascii_alphabetic).take(3).count() == 3
}

/// The hash under which a term is known.
pub fn hash(term: &str) -> u32 {
    XxHash3_64::oneshot(term.as_bytes()) as u32
}

/// Returns a line without the line number added by a read or a search: `   12→`, `12:`, `12\t`, `12-`.
pub fn without_line_number(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return line;
    }
    let rest = &rest[digits..];
    ["→", "\t", ":", "-"].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(line)
}

/// Calls `found` for the identifiers and file names in a line, in order; a path to a file is reduced to its last component, any
/// other path is passed whole.
pub fn names<'a>(line: &'a str, mut found: impl FnMut(&'a str)) {
    for run in path_runs(line) {
        let run = run.trim_matches(['.', '-', '+', '@', '~']);
        let slash = run.as_bytes().iter().rposition(|byte| *byte == b'/');
        let name = slash.map_or(run, |slash| &run[slash + 1..]);
        if is_file_name(name) {
            found(name);
        } else if slash.is_some() {
            let path = run.trim_matches(['.', '/']);
            if path.len() >= IDENTIFIER_BYTES && path.contains('/') {
                found(path);
            }
        }
        let mut rest = run;
        while !rest.is_empty() {
            let end = rest.bytes().position(|byte| !is_name_byte(byte)).unwrap_or(rest.len());
            let word = &rest[..end];
            if word.len() >= IDENTIFIER_BYTES && (is_identifier(word) || is_hash(word)) {
                found(word);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
}

/// Calls `found` for the trimmed text between two marks in a line, if it has the length of a term.
pub fn quoted<'a>(line: &'a str, mark: u8, mut found: impl FnMut(&'a str)) {
    let mut places = memchr::memchr_iter(mark, line.as_bytes());
    while let (Some(open), Some(close)) = (places.next(), places.next()) {
        let inner = line[open + 1..close].trim();
        if QUOTED_BYTES.contains(&inner.len()) {
            found(inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let expected: Vec<u32> = expected.iter().map(|term| hash(term)).collect();
        assert_eq!(terms(text), expected, "{text}");
    }

    #[test]
    fn terms_are_names_paths_and_quotations() {
        // Plain words do not count as terms.
        check("the answer is simple", &["the answer is simple"]);
        check("short words", &[]);
        // Identifiers are terms.
        check("parse_row x", &["parse_row"]);
        check("fooBar(12)", &["fooBar"]);
        check("E0599 a1b2c3d", &["E0599", "a1b2c3d"]);
        // A path counts by its file name.
        check("/a/b/main.rs", &["main.rs"]);
        check("./x/lib.rs.", &["lib.rs"]);
        check("ls ~/src/engine/", &["ls ~/src/engine/", "src/engine"]);
        // Quoted strings are terms.
        check(r#"`go run it`"#, &["go run it"]);
        check(r#""tiny""#, &[]);
    }

    #[test]
    fn line_numbers_do_not_matter() {
        for line in
            ["    let total = sum();", "  12→    let total = sum();", "12:    let total = sum();", "12\t    let total = sum();"]
        {
            check(line, &["let total = sum();"]);
        }
        assert_eq!(without_line_number("2024 was fine"), "2024 was fine");
    }

    #[test]
    fn every_term_can_be_spelled() {
        let text = "  12→    let total = sum(a_b_c);\nsee `go run it` in /x/lib.rs";
        let spelled = spelled(text);
        for term in terms(text) {
            assert_eq!(spelled.get(&term).map(|name| hash(name)), Some(term));
        }
    }

    #[test]
    fn terms_are_distinct_and_bounded() {
        check("foo_bar foo_bar", &["foo_bar"]);
        let many: String = (0..10_000).map(|n| format!("name_{n}\n")).collect();
        assert_eq!(terms(&many).len(), TERMS_PER_BLOCK);
    }
}
