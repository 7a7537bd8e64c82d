//! Lines that report a failure or a warning: the one table of their signs.

use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Starts of lines with which programs end, in any case.
const VERDICTS: &[&str] = &["err!", "error", "fatal", "npm err!", "usage error"];
/// Starts of other lines that report a failure: of compilers, test runners, shells. One with a capital is matched as it is.
const STARTS: &[&str] =
    &["caused by", "E   ", EXIT_CODE, "--- FAIL: ", "FAIL", "failed to ", "panic", "Traceback", "Uncaught", "✖", "✗", "✘"];
static PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let parts = [
        " error:", " error[", " ERROR ", "Error: ", "Exception: ", "FAILED", PANIC, " fatal:", "command not found",
        "No such file", "ermission denied",
    ];
    AhoCorasick::new(parts).ok()
});
const PANIC: &str = "panicked at";
/// Prefix of a line with the exit code of a program. Shells, test runners, CI systems and clients all write it.
const EXIT_CODE: &str = "Exit code ";

/// Returns true if a line of an output reports a failure.
pub fn is_error(line: &str) -> bool {
    VERDICTS.iter().chain(STARTS).any(|sign| starts_with(line, sign)) || PARTS.as_ref().is_some_and(|parts| parts.is_match(line))
}

/// Returns true if a line starts with a word with which programs end: `fatal: …`, `error[E1]: …`.
pub fn is_verdict(line: &str) -> bool {
    let ends = |sign: &str| line.get(sign.len()..).is_some_and(|rest| rest.starts_with([':', '[', ' ']));
    VERDICTS.iter().any(|sign| starts_with(line, sign) && ends(sign))
}

/// Returns true if a line begins as one that reports a failure: a verdict, `--- FAIL: `, `Traceback`.
pub fn begins_failure(line: &str) -> bool {
    is_verdict(line) || STARTS.iter().any(|sign| starts_with(line, sign))
}

/// Returns true if a line says why a program ended: a verdict or a panic.
pub fn is_end_of_program(line: &str) -> bool {
    is_verdict(line) || line.contains(PANIC)
}

/// Returns true if a line only reports the exit code of a program.
pub fn is_exit_code(line: &str) -> bool {
    line.starts_with(EXIT_CODE)
}

/// Returns true if a line of an output warns. A logger can write a time before the level.
pub fn is_warning(line: &str) -> bool {
    starts_with(line, "warn") || [" WARN ", "warning: ", "Warning: ", "WARNING: "].iter().any(|part| line.contains(part))
}

fn starts_with(line: &str, sign: &str) -> bool {
    let is_exact = sign.contains(char::is_uppercase);
    line.get(..sign.len()).is_some_and(|start| if is_exact { start == sign } else { start.eq_ignore_ascii_case(sign) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_their_signs() {
        for (line, error, verdict, warning) in [
            ("error[E0308]: mismatched types", true, true, false),
            ("src/a.rs:1:2: error: no", true, false, false),
            ("Fatal: not a repository", true, true, false),
            ("errors: none", true, false, false),
            ("Exit code 101", true, false, false),
            ("--- FAIL: TestA (0.1s)", true, false, false),
            ("failing over", false, false, false),
            ("thread 'main' panicked at a.rs", true, false, false),
            ("12:30 WARN disk is nearly full", false, false, true),
            ("a.c:3: warning: unused", false, false, true),
            ("", false, false, false),
        ] {
            assert_eq!((is_error(line), is_verdict(line), is_warning(line)), (error, verdict, warning), "{line}");
            assert_eq!(begins_failure(line), error && !line.starts_with(['s', 't']) && line != "errors: none", "{line}");
            assert_eq!(is_end_of_program(line), verdict || line.contains("panicked"), "{line}");
        }
    }
}
