//! The line of a failed result that tells the error, and whether it speaks of the call or of the code at hand.

use crate::engine::reduce::{declaration, has_failed_tests, own_text, shown, without_number};
use crate::model::Conventions;
use crate::text::command_heads::{head, is_lookup, purpose_of, shows_texts};
use crate::text::errors::{begins_failure, is_verdict, is_warning};
use crate::text::lists::word_lists;
use crate::text::shell::simple_commands;
use std::borrow::Cow;

word_lists! { "error_lines.txt": ASIDES, FAILURE_WORDS, ENVIRONMENT, USAGE, MISSING, OWN_CODE }

/// Lines of a result that are searched.
const MAX_LINES: usize = 300;
/// Bytes of a result that are searched from its start and, if it is longer, from its end.
const MAX_BYTES: usize = 16_000;
/// Bytes of a line that are searched.
const MAX_SEARCHED: usize = 1_000;
/// Bytes of a line that are kept.
const MAX_LINE: usize = 300;
/// Shorter lines tell nothing.
const MIN_LINE: usize = 4;

/// The subject of the error of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The machine, the network, the rights, a program that is missing.
    Environment,
    /// The form of the call: options, arguments, the working directory.
    Usage,
    /// Something that the call names and that does not exist.
    MissingName,
    OwnCode,
    Unknown,
}

/// The error of a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    pub line: String,
    /// The subject, as far as the words show it.
    pub subject: Subject,
    /// True if the line speaks of a failure, and not of something beside it.
    pub is_clear: bool,
}

/// Returns the error in the text of a failed result; `None` if it has no line with words. `programs` are those that the call runs.
pub fn call_error(text: &str, programs: &[&str], conventions: &Conventions) -> Option<CallError> {
    let text = plain(text);
    let lines = || lines(&text, conventions);
    // The first line of the highest rank.
    let (rank, line) =
        lines().map(|line| (rank(line, programs), line)).reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let line = line[..line.floor_char_boundary(MAX_LINE)].to_owned();
    let is_of_code = |line: &str| names_source_line(line) || is_own_code(&line.to_lowercase());
    let is_about_code = lines().any(|line| is_of_code(line) && !is_hit(line, programs));
    let is_clear = rank >= CLEAR_RANK;
    let subject = match subject(&line, is_about_code) {
        Subject::Environment if !is_clear => Subject::Unknown,
        Subject::Unknown if lines().any(is_usage) => Subject::Usage,
        subject => subject,
    };
    Some(CallError { line, subject, is_clear })
}

/// Returns true if a result without the mark of an error tells one: the exit code was lost behind a pipe.
pub fn is_silent_failure(text: &str, programs: &[&str], conventions: &Conventions) -> bool {
    /// A longer output is the output of a program that ran.
    const SHORT: usize = 400;
    if text.len() > SHORT {
        return false;
    }
    let text = plain(text);
    let mut lines = lines(&text, conventions).filter(|line| !is_aside(line));
    let Some(first) = lines.next() else { return false };
    let is_verdict = rank(first, programs) >= VERDICT_RANK && has_failure_word(&first.to_lowercase()) && !first.contains(" 0 ");
    // The last command of a chain can be the missing one.
    let is_missing = |line: &str| missing_program(line).is_some_and(|missing| programs.contains(&missing));
    is_verdict || is_missing(lines.last().unwrap_or(first))
}

/// Returns the line in the output of a command that tells that a program of it failed, where the exit code is that of another one: the
/// totals of tests, or a line of the program. What programs print of other texts tells nothing.
pub fn lost_failure<'a>(command: &str, output: &'a str) -> Option<&'a str> {
    let simple = simple_commands(command);
    let is_lost = simple.iter().skip(1).any(|simple| !simple.is_after_success);
    let heads: Vec<String> = simple.iter().filter(|simple| !simple.is_piped).filter_map(head).collect();
    let names: Vec<&str> = heads.iter().filter_map(|head| head.split(' ').next()).collect();
    if !is_lost || heads.iter().all(|head| shows_texts(head)) {
        let first = output.lines().map(str::trim).find(|line| !line.is_empty());
        return first.filter(|line| is_lost && names.iter().any(|name| speaks(name, line)));
    }
    let lines: Vec<&str> = output.lines().collect();
    let checks_code = heads.iter().any(|head| matches!(purpose_of(head), Some("Build" | "Format and lint")));
    let is_failure = |line: &&str| {
        let line = own_text(line);
        begins_failure(line)
            || checks_code && is_diagnostic(line)
            || missing_program(line).is_some_and(|missing| names.contains(&missing))
    };
    let total = || lines.iter().rfind(|line| has_failed_tests(&[line])).filter(|_| has_failed_tests(&lines));
    lines.iter().find(|line| is_failure(line)).or_else(total).map(|line| line.trim())
}

/// Returns true if a line is what a program, or the shell in its place, says of its own failure, and not of a text that it shows.
fn speaks(program: &str, line: &str) -> bool {
    let is_named = line.strip_prefix(program).is_some_and(|rest| rest.starts_with(": "));
    is_named || program == "git" && line.starts_with("fatal: ") || missing_program(line) == Some(program)
}

/// Returns true if a line is what a compiler says of a place, other than a warning: `src/a.go:12:3: undefined: x`.
fn is_diagnostic(line: &str) -> bool {
    let diagnostic = line.split_once(": ").filter(|(place, _)| !place.contains(' ') && names_source_line(place));
    diagnostic.is_some_and(|(_, message)| !is_warning(message) && !message.starts_with("note:"))
}

/// The rank from which on a line is the last word of a program.
const VERDICT_RANK: u8 = 4;

/// The rank from which on a line speaks of a failure.
const CLEAR_RANK: u8 = 2;

/// Ranks a line as the error: words of a shell or of the program itself are above words about a failure. Lines of code and what a
/// search found tell nothing.
fn rank(line: &str, programs: &[&str]) -> u8 {
    let lower = line.to_lowercase();
    if is_aside(line) {
        return u8::from(has_failure_word(&lower));
    }
    let speaks = |program: &&str| {
        let name = lower.strip_prefix("/usr/bin/").or_else(|| lower.strip_prefix("/bin/")).unwrap_or(&lower);
        name.strip_prefix(&program.to_lowercase()).is_some_and(|rest| rest.starts_with(": "))
    };
    let is_shell =
        |shell: &&str| lower.trim_start_matches("/bin/").strip_prefix(*shell).is_some_and(|rest| rest.starts_with(':'));
    let is_own_word = is_verdict(line) || programs.iter().any(speaks) || SHELLS.iter().any(is_shell);
    if !is_own_word && (is_code(line) || is_hit(line, programs)) {
        return 1;
    }
    // The synopsis explains a call, it does not tell the error.
    let is_cue = !is_usage(line) && (contains_any(&lower, &ENVIRONMENT) || contains_any(&lower, &USAGE));
    match (is_own_word, is_cue || names_exception(line), has_failure_word(&lower)) {
        (true, true, _) => VERDICT_RANK + 1,
        (true, false, _) => VERDICT_RANK,
        (false, true, _) => 3,
        (false, false, true) => 2,
        _ => 1 - u8::from(!line.contains(char::is_alphabetic)),
    }
}

/// Shells, as they name themselves before an error.
const SHELLS: &[&str] = &["(eval)", "bash", "sh", "zsh"];

/// Returns true if a line of an output declares a function or type, or ends as only code does.
fn is_code(line: &str) -> bool {
    let text = without_number(line);
    let numbered = text.split_once(':').filter(|(number, _)| number.parse::<u32>().is_ok());
    let text = numbered.map_or(text, |(_, text)| text).trim();
    declaration(text).is_some() || text.ends_with([';', '{']) || text.starts_with("raise ")
}

/// Returns true if a line is a hit of a search: all programs only look for something, and it begins with a place in a file.
fn is_hit(line: &str, programs: &[&str]) -> bool {
    let searches = !programs.is_empty() && programs.iter().all(|program| is_lookup(program));
    searches && line.split(':').nth(1).is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns true if a line begins with the name of an exception: `json.decoder.JSONDecodeError: Extra data`.
fn names_exception(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    name.len() > 5 && !name.contains(' ') && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Returns the subject of an error line. `is_about_code`: another line of the result names a line of a source file.
fn subject(line: &str, is_about_code: bool) -> Subject {
    let lower = line.to_lowercase();
    if contains_any(&lower, &ENVIRONMENT) {
        Subject::Environment
    } else if is_about_code {
        Subject::OwnCode
    } else if contains_any(&lower, &USAGE) {
        Subject::Usage
    } else if contains_any(&lower, &MISSING) {
        Subject::MissingName
    } else {
        Subject::Unknown
    }
}

/// Returns the program that a line reports as missing, as a shell does.
pub fn missing_program(line: &str) -> Option<&str> {
    const NOT_FOUND: &str = "command not found";
    let lower = line.to_lowercase();
    let name = if let Some(at) = lower.find(NOT_FOUND) {
        let after = line.get(at + NOT_FOUND.len()..)?.trim_start_matches([':', ' ']);
        if after.is_empty() { line.get(..at)?.trim_end_matches([':', ' ']).rsplit([':', ' ']).next()? } else { after }
    } else if lower.contains("is not recognized as") {
        line.split(['\'', '"', '‘', '’']).nth(1).or_else(|| line.split_whitespace().next())?
    } else {
        let name = lower.find("executable file not found").and_then(|at| line.get(..at))?.trim_end_matches([':', ' ']);
        name.rsplit([' ', ':']).next()?.trim_matches('"')
    };
    let name = name.trim();
    let is_name = name.starts_with(char::is_alphanumeric)
        && name.chars().all(|character| character.is_alphanumeric() || "._-+/@".contains(character));
    is_name.then_some(name)
}

/// Returns a line without what differs between two sightings of the same error: paths, addresses, quoted names, numbers, hashes.
pub fn normalized(line: &str) -> String {
    const MAX: usize = 110;
    let mut found = String::with_capacity(line.len());
    let mut quote: Option<char> = None;
    for word in line.split_whitespace() {
        let opens = word.chars().next().filter(|first| matches!(first, '\'' | '"' | '`' | '“'));
        if let Some(mark) = quote.or(opens) {
            let end = if mark == '“' { '”' } else { mark };
            let is_closed = word
                .trim_end_matches(['.', ',', ':', ';', ')'])
                .char_indices()
                .any(|(at, character)| character == end && (quote.is_some() || at > 0));
            if quote.is_none() {
                push_word(&mut found, "<q>");
            }
            quote = if is_closed { None } else { Some(mark) };
            continue;
        }
        push_word(&mut found, &shape(word));
    }
    found.truncate(found.floor_char_boundary(MAX));
    found
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

fn shape(word: &str) -> Cow<'static, str> {
    let core = word.trim_matches(|character: char| "()[],;:.".contains(character));
    let is_hash =
        core.len() >= 7 && core.bytes().all(|byte| byte.is_ascii_hexdigit()) && core.bytes().any(|byte| byte.is_ascii_digit());
    if core.contains("://") {
        return "<url>".into();
    }
    if is_hash {
        return "<hex>".into();
    }
    if core.matches(['/', '\\']).count() >= 2 {
        return "<path>".into();
    }
    let mut shaped = String::with_capacity(word.len());
    for character in word.chars() {
        if !character.is_ascii_digit() {
            shaped.extend(character.to_lowercase());
        } else if !shaped.ends_with('#') {
            shaped.push('#');
        }
    }
    shaped.into()
}

/// Returns true if a line names a place in a source file, as `src/a.rs:12:3` or `File "a.py", line 3`.
fn names_source_line(line: &str) -> bool {
    const MAX_EXTENSION: usize = 5;
    if line.contains("\", line ") || line.contains("rror TS") {
        return true;
    }
    line.match_indices(':').any(|(at, _)| {
        let before = &line[..at];
        let name = before.rsplit([' ', '(', '\t', '"', '\'']).next().unwrap_or_default();
        let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
        let is_file = extension.is_some_and(|found| {
            (1..=MAX_EXTENSION).contains(&found.len())
                && found.starts_with(|first: char| first.is_ascii_alphabetic())
                && found.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        // An address has a port.
        is_file
            && !name.contains("//")
            && line[at + 1..].starts_with(|next: char| next.is_ascii_digit())
            && !line[at + 1..].contains('/')
    })
}

/// Returns the lines of a result with words, without the client's lines about the call and its tags.
fn lines<'a>(text: &'a str, conventions: &'a Conventions) -> impl Iterator<Item = &'a str> {
    let is_status = |line: &str| {
        let lower = line.to_lowercase();
        conventions.status_lines.iter().any(|known| lower.starts_with(known))
            || conventions.envelope_lines.iter().any(|known| line.starts_with(known))
    };
    text.lines()
        .map(|line| {
            let line = line.trim();
            let line = conventions.error_tags.iter().fold(line, |line, tag| line.strip_prefix(tag).unwrap_or(line));
            conventions.error_tags.iter().fold(line, |line, tag| line.strip_suffix(tag).unwrap_or(line))
        })
        .filter(move |line| line.len() >= MIN_LINE && !is_status(line.strip_prefix("Error: ").unwrap_or(line)))
        // A word alone, such as `Error:`, tells nothing.
        .filter(|line| !line.ends_with(':') || line.contains(' '))
        .take(MAX_LINES)
        .map(|line| &line[..line.floor_char_boundary(MAX_SEARCHED)])
}

/// Returns the start and the end of a text as a terminal shows it.
fn plain(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * MAX_BYTES {
        return shown(text);
    }
    let (start, end) = (&text[..text.floor_char_boundary(MAX_BYTES)], &text[text.ceil_char_boundary(text.len() - MAX_BYTES)..]);
    Cow::Owned(format!("{}\n{}", shown(start), shown(end)))
}

/// Returns true for the first line of a synopsis.
fn is_usage(line: &str) -> bool {
    line[..line.floor_char_boundary(6)].eq_ignore_ascii_case("usage:")
}

/// Start of a line about a package whose tests passed.
const PASSED: [&str; 2] = ["ok ", "ok\t"];

fn is_aside(line: &str) -> bool {
    let lower = line.to_lowercase();
    is_warning(line) || ASIDES.iter().any(|aside| lower.starts_with(aside)) || PASSED.iter().any(|start| lower.starts_with(start))
}

fn has_failure_word(lower: &str) -> bool {
    contains_any(lower, &FAILURE_WORDS) || lower.contains("err ")
}

/// Returns true for a line of a compiler, a test or a list of checks, in lower case.
fn is_own_code(lower: &str) -> bool {
    contains_any(lower, &OWN_CODE) || lower.contains("\tfail\t")
}

fn contains_any(lower: &str, list: &[&str]) -> bool {
    list.iter().any(|known| lower.contains(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str, programs: &[&str]) -> (String, Subject) {
        let found = call_error(text, programs, &Conventions::default()).unwrap();
        (found.line, found.subject)
    }

    #[test]
    fn the_line_of_the_program_is_the_error() {
        let check = |text: &str, programs: &[&str], line: &str, subject: Subject| {
            assert_eq!(error(text, programs), (line.to_owned(), subject), "{text}");
        };
        check(
            "warning: cannot read x\nfatal: not a git repository: y",
            &["git"],
            "fatal: not a git repository: y",
            Subject::Usage,
        );
        check("zsh: command not found: frob", &["frob"], "zsh: command not found: frob", Subject::Environment);
        check("src/a.rs:3:1: unexpected argument", &["cargo"], "src/a.rs:3:1: unexpected argument", Subject::OwnCode);
        check("lint\tpass\t5s\nbuild\tfail\t9s", &["gh"], "build\tfail\t9s", Subject::OwnCode);
        check("ls: /x/y: No such file or directory", &["ls"], "ls: /x/y: No such file or directory", Subject::MissingName);
        check("tool: cannot write two files to one", &["tool"], "tool: cannot write two files to one", Subject::Unknown);
        check("\u{1b}[31mboom\u{1b}[0m", &[], "boom", Subject::Unknown);
        check("3: fn fail(error: &str) {\ncannot fail", &["x"], "cannot fail", Subject::Unknown);
        check("ok  a/b 0.3s [no tests to run]\na_test.go:3: expected 1", &["go"], "a_test.go:3: expected 1", Subject::OwnCode);
        check("raise JSONError(\"x\")\njson.JSONError: Extra data", &["python3"], "json.JSONError: Extra data", Subject::Unknown);
        check("a.rs:7: cannot be\nrg: b: No such file", &["rg"], "rg: b: No such file", Subject::MissingName);
        check(
            "a.rs:7: cannot be\nzsh:1: no matches found: b*",
            &["rg", "head"],
            "zsh:1: no matches found: b*",
            Subject::MissingName,
        );
    }

    #[test]
    fn a_failure_can_be_lost_behind_a_pipe() {
        for (command, output, expected) in [
            ("go test ./... 2>&1 | tail -5", "--- FAIL: TestA (0.1s)\nFAIL", true),
            ("run all | tail -3", "[test] --- FAIL: TestA (0.1s)\nok", true),
            ("run all | tail -3", "Totals: 21 passed, 5 failed (26 items)", true),
            ("run all | tail -3", "Totals: 21 passed, 0 failed\n2 errors found in a log", false),
            ("git push origin HEAD 2>&1 | tail -6", " ! [rejected] a -> a\nerror: failed to push some refs", true),
            ("git rebase main 2>&1 | tail -2", "error: could not apply 1a2b3c4... x", true),
            ("cd x; git ls-remote | sed -n 1p", "fatal: unable to access 'x'", true),
            ("frob a; echo done", "zsh:1: command not found: frob\ndone", true),
            ("go build ./... 2>&1 | head -50", "# a/b\nb/a.go:16:36: undefined: x", true),
            ("cargo build | tail", "a.rs:1:2: warning: unused", false),
            ("cargo build | tail", "a.rs:1:2: note: it is here", false),
            ("cargo build | tail", "a.rs:1:2: notes are unknown here", true),
            ("go test -v ./... | tail -9", "    a_test.go:3: got 2\nok  \ta/b\t0.1s", false),
            ("git push", "error: none", false),
            ("git add a && git push", "error: none", false),
            ("git log --oneline | head", "error: a subject", false),
            ("gh issue view 7 2>&1; echo $?", "error: what they saw", false),
            ("cat a.log | tail; rg error src", "fatal: in a log", false),
            ("git diff main..x | head", "fatal: ambiguous argument 'main..x'\nUse '--'", true),
            ("ls a b 2>&1 | head", "ls: cannot access 'a': No such file or directory", true),
            ("cat a.log | head", "ls: cannot access 'a'", false),
            ("ls a b | head", "b\nls: a name", false),
            ("go test ./... | tail -1", "ok  \ta/b\t0.1s", false),
            ("ls; git status --short", "errors.go\nerror_test.go", false),
        ] {
            assert_eq!(lost_failure(command, output).is_some(), expected, "{command}: {output}");
        }
    }

    #[test]
    fn a_missing_program_has_a_name() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(missing_program(line), expected, "{line}");
        check("zsh:1: command not found: frob", Some("frob"));
        check("bash: line 1: frob: command not found", Some("frob"));
        check("'frob' is not recognized as an internal or external command", Some("frob"));
        check("exec: \"frob\": executable file not found in $PATH", Some("frob"));
        check("command not found: -x", None);
        check("all is well", None);
    }

    #[test]
    fn variable_parts_are_normalized() {
        let check = |line: &str, expected: &str| assert_eq!(normalized(line), expected, "{line}");
        check("fatal: pathspec 'a b.txt' did not match 12 files", "fatal: pathspec <q> did not match # files");
        check("open /a/b/c.txt: Denied", "open <path> denied");
        check("commit 0a1b2c3d4 at https://x.y/z", "commit <hex> at <url>");
    }
}
