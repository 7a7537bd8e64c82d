//! The cause of a failure in the output of a program: the messages of compilers, of failed tests and of assertions.

use super::outcome::failed_test;
use super::output::own_text;
use super::salience::{LineKind, Style, has_failed_cell, line_kind};
use super::search::hit;
use crate::text::errors::is_exit_code;

/// Causes of an output that count, and the lines of a message behind the line that reports a failure.
const MOST: usize = 3;
const MESSAGE_LINES: usize = 3;

/// Finds the first causes among the lines of an output, which it is given in their order.
pub(super) struct Causes {
    left: usize,
    /// True if a test failed, so that indented lines with their place are its messages.
    of_tests: bool,
    /// The line that reports a failure: its indentation, and the lines of its message that can follow.
    open: Option<(usize, usize)>,
}

/// The line above the names of the tests that failed.
const FAILURES: &str = "failures:";

impl Causes {
    pub fn new(of_tests: bool) -> Causes {
        Causes { left: MOST, of_tests, open: None }
    }

    /// Ends the message, as the frames of a stack do.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Returns true if the line is one of the first that say why something failed.
    pub fn take(&mut self, line: &str) -> bool {
        let line = own_text(line);
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if !text.contains(char::is_alphanumeric) {
            return false;
        }
        let is_test = failed_test(text).is_some();
        let is_row = !is_test && has_failed_cell(text);
        let reports = is_test || !is_row && line_kind(text, Style::Output) == Some(LineKind::Error) && !is_exit_code(text);
        let said = self.open.filter(|(least, lines)| indent >= *least && *lines > 0);
        self.open = match reports {
            // The message of a panic follows in a line of its own.
            true => Some((if text.ends_with(':') { indent } else { indent + 1 }, MESSAGE_LINES)),
            false if text == FAILURES => Some((indent + 1, MESSAGE_LINES)),
            false => said.map(|(least, lines)| (least.max(1), lines - 1)),
        };
        let is_cause = !is_test && (said.is_some() || is_row || is_message(text, self.of_tests && indent > 0));
        if is_cause && self.left > 0 {
            self.left -= 1;
            return true;
        }
        false
    }
}

/// True for a message with the place that it is about: a file, a line and a column, as compilers print them; in the output of a test a file
/// and a line.
pub(super) fn is_message(text: &str, of_test: bool) -> bool {
    let has_column = |text: &str| text.split_once(':').is_some_and(|(column, _)| column.parse::<u32>().is_ok());
    let place = hit(text).filter(|(path, ..)| text[path.len()..].starts_with(':'));
    place.is_some_and(|(.., said)| has_column(said) || of_test && !said.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which lines are causes: those that end with `!`.
    fn check(of_tests: bool, text: &str) {
        let mut causes = Causes::new(of_tests);
        for line in text.lines() {
            assert_eq!(causes.take(line), line.ends_with('!'), "{line}");
        }
    }

    #[test]
    fn the_message_of_a_failure_is_its_cause() {
        check(true, "--- FAIL: TestTill (0.01s)\n    till_test.go:7: an error: 2, want 3!\nFAIL\nFAIL\tshop/till\t0.1s");
        check(true, "=== RUN TestTill\n    till_test.go:7: price = 2, want 3!\n--- FAIL: TestTill (0.01s)");
        check(false, "=== RUN TestTill\n    till_test.go:7: price = 2");
        check(
            true,
            "thread 'till' panicked at src/till.rs:4:9:\nassertion `left == right` failed!\n  left: 2!\n right: 3!\nnote: run with",
        );
        check(false, "error: cannot switch to it:\n\tsrc/a.rs!\n\tsrc/b.rs!\nPlease commit");
        check(false, "Exit code 1\n  and more");
        check(true, "failures:\n\n---- till::tax stdout ----\nfailures:\n    till::tax!\n    till::sum!\n\ntest result: FAILED");
        check(false, "error: no\n    |\n  1!\n  2!\n  3!\n  4");
    }

    #[test]
    fn the_first_messages_of_a_compiler_are_causes() {
        check(false, "# shop\nsrc/a.go:1:2: undefined: x!\n[lint] src/b.go:2:3: undefined: y!\n12:30:01 started\na.go:7: x");
        let all: String = (1..9).map(|line| format!("a.go:{line}:2: no{}\n", if line > MOST { "" } else { "!" })).collect();
        check(false, &all);
    }

    #[test]
    fn a_row_of_a_check_that_failed_is_a_cause() {
        check(false, "lint\tpass\t9s\nbuild\tfail\t1m29s!\ntest\tpending\t0");
    }
}
