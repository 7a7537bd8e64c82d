//! The names of a text that a reader can look up: code identifiers and files.

use crate::text::names::{is_file_name, is_identifier, path_runs};

/// Shortest name that is kept, in bytes: shorter ones are found by chance.
const SHORTEST: usize = 5;
/// Longest name that is kept, in bytes: longer ones are generated, or take the room of several others in a digest.
const LONGEST: usize = 60;
/// Largest share of digits, in percent: names with more are dates, sizes and identifiers of runs.
const DIGITS_PERCENT: usize = 40;
/// Shortest word that can be seen to be random, in bytes, and the share of its bytes that are of another class than the one
/// before, in percent: half in base64, a third in camelCase.
const RANDOM_BYTES: usize = 12;
const RANDOM_PERCENT: usize = 50;

/// Returns the identifiers of several parts (`snake_case`, `camelCase`, letters with digits) and the file names in a text, each once,
/// sorted. A path is reduced to its last component. Hashes, numbers and generated names are omitted.
pub(super) fn names_of(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for component in path_runs(text).flat_map(|run| run.split(['/', '~', '@'])) {
        let component = component.trim_matches(['.', '-', '+']);
        let identifiers = component.split(['.', '-', '+']).filter(|word| is_identifier(word));
        let file = Some(component).filter(|component| is_file_name(component));
        found.extend(file.into_iter().chain(identifiers).filter(|name| is_useful(name)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn is_useful(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    (SHORTEST..=LONGEST).contains(&name.len())
        && digits * 100 <= name.len() * DIGITS_PERCENT
        && !is_run_id(name)
        && !is_random(name.as_bytes())
}

/// True if a word changes between capitals, small letters and digits as often as random ones do: base64, identifiers of requests.
fn is_random(word: &[u8]) -> bool {
    let class = |byte: u8| (byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let changes = word.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    word.len() >= RANDOM_BYTES && changes * 100 >= word.len() * RANDOM_PERCENT
}

/// True for a hash or a UUID, with or without an extension.
fn is_run_id(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    stem.len() >= 7
        && stem.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && stem.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(names_of(text), expected, "{text}");
    }

    #[test]
    fn identifiers_and_files_are_names_and_other_words_are_not() {
        // Identifiers and files are names.
        check("call parse_rows(lineCount) in src/heat.rs:12", &["heat.rs", "lineCount", "parse_rows"]);
        check("see ./docs/flow-chart.md.", &["flow-chart.md"]);
        check(r"\nnewName\tC:\temp\readMe.txt", &["eadMe", "eadMe.txt", "newName"]);
        check("HttpServer, utf8mb4, __init__.py", &["HttpServer", "__init__", "__init__.py", "utf8mb4"]);
        // Plain words numbers and hashes are not.
        check("the parser of v1.2 costs 3.50 e.g. 2026-01-31", &[]);
        check("commit 4f3a9b21c7 id 01234567-89ab-cdef-0123-456789abcdef", &[]);
        check("x_1234567890", &[]);
        check("key aB3xK9mQ2pL7vR4t and TestHttp2ServerShutdown", &["TestHttp2ServerShutdown"]);
    }
}
