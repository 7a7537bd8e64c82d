//! The outcome of a run, as its output tells it: totals, the verdicts of tests, the failure.

use super::output::own_text;
use super::salience::{LineKind, Style, exit_code, line_kind, outcomes};
use crate::engine::report::numbers::count;
use crate::text::errors::is_exit_code;

/// Starts of the lines of a test that passed or failed, and of a package of tests.
const PASSED: &str = "--- PASS: ";
const FAILED: &str = "--- FAIL: ";
const OK: &str = "ok  \t";
const FAIL: &str = "FAIL\t";
/// Start of the line with the totals of a program of tests.
const RESULT: &str = "test result: ";
/// Words of totals for failures.
const FAILURES: &[&str] = &["failed", "failing", "failures", "failure"];
/// Words of totals for successes.
const SUCCESSES: &[&str] = &["passed", "passing"];
/// The sum over the packages without a verdict of their tests.
const PACKAGES: &str = "ok";

/// A number and its noun: `12 passed`.
pub type Total = (u64, &'static str);

/// Returns the numbers of tests that passed and failed by lines that only runners of tests print: the sums of the totals of Cargo, or the
/// tests of Cargo, Go and TAP, each of which has a line; of packages where no test has one. Failures are first.
pub fn verdicts<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Total> {
    let (mut passed, mut failed, mut ok, mut fail) = (0, 0, 0, 0);
    let mut sums: Vec<Total> = Vec::new();
    for line in lines {
        let line = own_text(line.trim_start());
        let is_test = |line: &str, end: &str| line.starts_with("test ") && line.ends_with(end);
        let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        match () {
            () if line.starts_with(PASSED) || is_test(line, " ... ok") => passed += 1,
            () if line.starts_with(FAILED) || is_test(line, " ... FAILED") => failed += 1,
            () if line.starts_with(OK) || line.strip_prefix("ok ").is_some_and(numbered) => ok += 1,
            () if line.starts_with(FAIL) || line.strip_prefix("not ok ").is_some_and(numbered) => fail += 1,
            () if line.starts_with(RESULT) => outcomes(line).into_iter().for_each(|total| add(&mut sums, total)),
            () => {}
        }
    }
    let failed = if failed > 0 { failed } else { fail };
    let passed = if passed > 0 { (passed, SUCCESSES[0]) } else { (ok, PACKAGES) };
    let lines = [(failed, FAILURES[0]), passed].into_iter().filter(|(number, _)| *number > 0);
    if sums.is_empty() { lines.collect() } else { sorted(sums) }
}

fn add(sums: &mut Vec<Total>, (number, word): Total) {
    match sums.iter_mut().find(|(_, known)| *known == word) {
        Some((sum, _)) => *sum = sum.saturating_add(number),
        None => sums.push((number, word)),
    }
}

/// Returns the totals of the tests in an output, failures first: its verdicts, or the last line with a total of tests.
pub fn test_totals(lines: &[&str]) -> Vec<Total> {
    let verdicts = verdicts(lines.iter().copied());
    if !verdicts.is_empty() {
        return verdicts;
    }
    let is_of_tests = |totals: &Vec<Total>| totals.iter().any(|(_, word)| is_failure(word) || SUCCESSES.contains(word));
    sorted(lines.iter().rev().map(|line| outcomes(line)).find(is_of_tests).unwrap_or_default())
}

/// Returns true if a test in an output failed.
pub fn has_failed_tests(lines: &[&str]) -> bool {
    fails(&test_totals(lines))
}

fn fails(totals: &[Total]) -> bool {
    totals.iter().any(|(number, word)| *number > 0 && is_failure(word))
}

/// Returns the number of passed and of failed tests in an output by its totals; `None` if it has none. Lines of single tests do not count:
/// they may be the end of a longer output, and a later run may print no such lines.
pub fn passed_and_failed(content: &str) -> Option<(u64, u64)> {
    let lines: Vec<&str> = content.lines().collect();
    let is_of_tests = |word: &str| is_failure(word) || SUCCESSES.contains(&word);
    if !lines.iter().any(|line| outcomes(line).iter().any(|(_, word)| is_of_tests(word))) {
        return None;
    }
    let totals = test_totals(&lines);
    let sum = |is_meant: &dyn Fn(&str) -> bool| {
        let numbers = totals.iter().filter(|(_, word)| is_meant(word)).map(|(number, _)| *number);
        numbers.fold(0, u64::saturating_add)
    };
    let all = (sum(&|word| SUCCESSES.contains(&word)), sum(&is_failure));
    (all.0 > 0 || all.1 > 0).then_some(all)
}

/// Counts of nothing say something only where all are; failures are first.
fn sorted(mut totals: Vec<Total>) -> Vec<Total> {
    if totals.iter().any(|(number, _)| *number > 0) {
        totals.retain(|(number, _)| *number > 0);
    }
    totals.sort_by_key(|(_, word)| (!is_failure(word), !SUCCESSES.contains(word)));
    totals
}

/// Returns a total in words: `12 passed`.
pub fn named((number, word): &Total) -> String {
    format!("{} {word}", count(*number))
}

fn is_failure(word: &str) -> bool {
    FAILURES.contains(&word)
}

/// Returns the hash and the subject of a commit from the line that git prints: `[main 1a2b3c4] subject`.
pub fn commit(line: &str) -> Option<(&str, &str)> {
    let (place, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let (_, hash) = place.rsplit_once(' ')?;
    let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| (hash, subject.trim()))
}

/// The report of a program about its run.
pub struct Results {
    /// The most telling first: failures, their first test or the error, other totals, the exit code.
    pub items: Vec<String>,
    pub has_failed: bool,
    pub has_totals: bool,
    pub has_commits: bool,
}

/// Returns the results in the lines of an output. `error` is the line with the message of a failed call.
pub fn results(lines: &[&str], is_error: bool, error: Option<String>) -> Results {
    let commits: Vec<_> = lines.iter().filter_map(|line| commit(line)).collect();
    let commits: Vec<String> = commits.into_iter().map(|(hash, subject)| format!("commit {hash} {subject}")).collect();
    let mut totals = test_totals(lines);
    if totals.is_empty() && commits.is_empty() {
        totals = sorted(lines.iter().rev().map(|line| outcomes(line)).find(|totals| !totals.is_empty()).unwrap_or_default());
    }
    let (has_totals, has_commits) = (!totals.is_empty(), !commits.is_empty());
    let has_failed = fails(&totals);
    let test = if has_failed { lines.iter().find_map(|line| failed_test(line)) } else { None };
    let is_said = |line: &&&str| line_kind(line, Style::Output) == Some(LineKind::Error) && !is_exit_code(line);
    // The subject of a commit can name an error.
    let first = || lines.iter().find(is_said).filter(|_| !has_commits).map(|line| (*line).to_owned());
    let said = test.map(str::to_owned).or(error).or_else(first);
    let code = exit_code(lines.iter().copied()).map(|code| format!("exit code {code}"));
    let mut items: Vec<String> = Vec::new();
    if has_failed {
        items.push(named(&totals.remove(0)));
    }
    if said.is_none() && is_error && !has_failed {
        items.push(code.unwrap_or_else(|| "error".to_owned()));
        let others = lines.iter().find(|line| line.contains(char::is_alphanumeric) && !is_exit_code(line));
        items.extend(others.map(|line| (*line).to_owned()));
        items.extend(totals.iter().map(named));
        return Results { items, has_failed: true, has_totals, has_commits };
    }
    let totals = totals.iter().map(named).chain(commits);
    if is_error || has_failed {
        items.extend(said.into_iter().chain(totals));
    } else {
        items.extend(totals.chain(said));
    }
    items.extend(code);
    Results { items, has_failed: has_failed || is_error, has_totals, has_commits }
}

/// Returns the name of the test whose failure a line reports.
pub fn failed_test(line: &str) -> Option<&str> {
    let line = own_text(line.trim_start());
    let signs = [FAILED, FAIL, "FAILED "];
    let of_test = || line.strip_prefix("test ")?.strip_suffix(" ... FAILED");
    signs.iter().find_map(|sign| line.strip_prefix(sign)).or_else(of_test)?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_totals_of_test_runners_are_read() {
        for (content, expected) in [
            ("test result: ok. 12 passed; 0 failed\ntest result: FAILED. 1 passed; 2 failed", "2 failed, 13 passed"),
            ("Test Suites: 1 passed, 1 total\nTests:       3 failed, 40 passed, 43 total", "3 failed, 40 passed"),
            ("===== 1 failed, 9 passed in 0.1s =====", "1 failed, 9 passed"),
            ("--- PASS: TestA (0.0s)\n    --- PASS: TestA/one (0.0s)\nPASS\nok  \ta/b\t0.1s", "2 passed"),
            ("--- PASS: TestA (0.0s)\n--- FAIL: TestB (0.0s)\nFAIL\nFAIL\ta/b\t0.1s\nFAIL", "1 failed, 1 passed"),
            ("ok  \ta/b\t0.1s\nok  \ta/c\t(cached)\nFAIL\ta/d [build failed]", "1 failed, 2 ok"),
            ("[test] ok  \ta/b\t0.1s\n[test] ?   \ta/c\t[no test files]", "1 ok"),
            ("1..3\nok 1 a\nnot ok 2 b\nok 3 c", "1 failed, 2 ok"),
            ("test a::b ... ok\ntest a::c ... FAILED\nmake: *** [test] Error 101", "1 failed, 1 passed"),
            ("0 passed", "0 passed"),
            ("ok so far, not ok for me", ""),
            ("2 warnings", ""),
        ] {
            let totals = test_totals(&content.lines().collect::<Vec<_>>());
            let found: Vec<String> = totals.iter().map(|(number, word)| format!("{number} {word}")).collect();
            assert_eq!(found.join(", "), expected, "{content}");
        }
        for (content, expected) in [
            ("1 failed, 9 passed", Some((9, 1))),
            ("0 passed", None),
            ("ok  \ta/b\t0.1s", None),
            ("test a::b ... ok\ntest a::c ... FAILED", None),
            ("--- FAIL: TestA (0.1s)\nFAIL", None),
        ] {
            assert_eq!(passed_and_failed(content), expected, "{content}");
        }
    }

    #[test]
    fn a_result_begins_with_its_outcome() {
        for (content, is_error, expected) in [
            ("--- FAIL: TestA (0.1s)\n    a_test.go:7: got 1\nFAIL\nFAIL\ta/b\t0.2s", true, "1 failed, TestA"),
            ("test a::b ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored", true, "1 failed, a::b, 3 passed"),
            ("FAILED a.py::test_b - assert\n1 failed, 2 passed in 0.1s", true, "1 failed, a.py::test_b, 2 passed"),
            ("Exit code 2\nerror: no such thing\n3 warnings", true, "error: no such thing, 3 warnings, exit code 2"),
            ("Exit code 1\nchecking", true, "exit code 1, checking"),
            ("checking", true, "error, checking"),
            ("checking", false, ""),
            ("1 file changed, 2 insertions(+)", false, "2 insertions"),
            ("[main 1a2b3c4] Round once\n 1 file changed, 2 insertions(+)", false, "commit 1a2b3c4 Round once"),
            ("9 passed\n[a/b (root-commit) 1a2b3c4] Fix the error: 7\n", false, "9 passed, commit 1a2b3c4 Fix the error: 7"),
            ("[main] no", false, ""),
        ] {
            assert_eq!(results(&content.lines().collect::<Vec<_>>(), is_error, None).items.join(", "), expected, "{content}");
        }
    }
}
