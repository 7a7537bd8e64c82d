//! Recognizes shell commands that only print a file.

use twox_hash::XxHash3_64;

/// Maximum length of a stored tool target, in bytes.
const TARGET_BYTES: usize = 400;

/// A file that a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed<'a> {
    /// The file name as written in the command.
    pub file: &'a str,
    /// The directory of a preceding `cd`.
    pub directory: Option<&'a str>,
    pub whole: bool,
}

/// Returns the file printed by a command that does nothing else: `cat F`, `nl -ba F`, `sed -n '1,9p' F` or `head -n 5 F`, after
/// an optional `cd D &&`. `None` for any other command.
pub fn printed_file(command: &str) -> Option<Printed<'_>> {
    let mut words: Vec<&str> = command.split_whitespace().collect();
    let mut directory = None;
    if words.len() > 3 && words[0] == "cd" && words[2] == "&&" {
        directory = Some(words[1]);
        words.drain(..3);
    }
    let (file, options) = words.split_last()?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./@-".contains(&byte));
    let range = |text: &str| {
        let inner = text.trim_matches(['\'', '"']);
        inner.ends_with('p') && inner[..inner.len() - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    };
    let count = |text: &str| text.trim_start_matches("-n").trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let prints = match options {
        ["cat"] | ["nl", "-ba"] | ["head"] | ["tail"] => true,
        ["sed", "-n", lines] => range(lines),
        ["head" | "tail", "-n", lines] => count(lines),
        ["head" | "tail", lines] => lines.starts_with('-') && count(lines),
        _ => false,
    };
    let whole = matches!(options, ["cat"] | ["nl", "-ba"]);
    (prints && plain(file) && !file.starts_with('-')).then_some(Printed { file, directory, whole })
}

/// Returns the XXH3-64 hash of the parts that two equivalent calls have in common.
pub fn scope(parts: &[&str]) -> u64 {
    XxHash3_64::oneshot(parts.join("\0").as_bytes())
}

/// Collapses the whitespace of a text to single spaces and truncates it to about `TARGET_BYTES`.
pub fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() + word.len() > TARGET_BYTES {
            line.push_str(word.get(..TARGET_BYTES.saturating_sub(line.len())).unwrap_or_default());
            line.push('…');
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Strips the leading marker line of a shortened tool input, of which nothing else may be left. Any block number is accepted, because the number of this block is
/// not known yet; no command and no path begins with such a line.
pub fn unmarked(text: &str) -> &str {
    let is_mark = |line: &str| {
        let is_number = |inner: &str| {
            let behind = inner.trim_start_matches(|c: char| c.is_ascii_digit());
            behind.len() < inner.len() && behind.starts_with(" | ")
        };
        line.strip_prefix("[@").is_some_and(is_number) && line.ends_with(']')
    };
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    if is_mark(line) { rest } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leading_mark_is_removed() {
        for (text, rest) in [
            ("[@13 | trimmed from 812]\nmake check", "make check"),
            ("[@13 | minimal from 812 | 12 lines]", ""),
            ("[@13 | minimal from 812]\n", ""),
            ("make check", "make check"),
            ("[@ho | x]", "[@ho | x]"),
        ] {
            assert_eq!(unmarked(text), rest, "{text}");
        }
    }

    #[test]
    fn commands_that_print_a_file_are_reads() {
        for (command, file) in [
            ("cat src/a.rs", Some("src/a.rs")),
            ("cd /w && sed -n '1,20p' a.py", Some("a.py")),
            ("head -n 5 a", Some("a")),
            ("tail -20 log.txt", Some("log.txt")),
            ("cat a b", None),
            ("cat a | wc", None),
            ("cargo test", None),
            ("", None),
        ] {
            assert_eq!(printed_file(command).map(|printed| printed.file), file, "{command}");
        }
        assert_eq!(printed_file("cd /w && nl -ba a"), Some(Printed { file: "a", directory: Some("/w"), whole: true }));
    }
}
