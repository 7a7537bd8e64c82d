//! Recognizes shell commands that only print a file.

use super::files::{join, slashed};
use crate::text::shell::{Operator, Part, parts};
use twox_hash::XxHash3_64;

/// Maximum length of a stored tool target, in bytes.
const TARGET_BYTES: usize = 400;
/// Maximum length of a command that only prints a file, in bytes, and the programs that print.
const PRINTING_BYTES: usize = 1_000;
const PRINTING: [&str; 6] = ["cat", "nl", "sed", "head", "tail", "Get-Content"];

/// A file that a command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The file, below the directory of a preceding `cd`.
    pub path: String,
    /// The command without the file and the change of directory: equal for two calls that select the same lines.
    pub selection: String,
    pub whole: bool,
    /// The lines that it prints, such as `1-9`; empty if all or unknown.
    pub lines: String,
}

/// Returns the file printed by a command that does nothing else: `cat F`, `nl -ba F`, `sed -n '1,9p' F` or `head -n 5 F`, after an
/// optional `cd D`, also with such commands behind pipes: `nl -ba F | sed -n '1,9p'`. `None` for any other command. Its path is as in
/// [`super::files::of_command`], but not joined with the directory.
pub fn printed_file(command: &str, directory: &str) -> Option<Printed> {
    if command.len() > PRINTING_BYTES || !PRINTING.iter().any(|name| command.contains(name)) {
        return None;
    }
    let (mut pipelines, mut words) = (vec![Vec::new()], Vec::new());
    let (slashed, is_windows) = slashed(command, directory);
    for part in parts(&slashed).into_iter().chain([Part::End(Operator::Pipe)]) {
        match part {
            Part::Word(word) if word.substitutions.is_empty() => words.push(word.text),
            Part::Target(word) if word.text == "/dev/null" || word.text.bytes().all(|byte| byte.is_ascii_digit()) => {}
            Part::End(Operator::Or) => return None,
            Part::End(operator) if !words.is_empty() => {
                pipelines.last_mut()?.push(std::mem::take(&mut words));
                pipelines.extend((operator != Operator::Pipe).then(Vec::new));
            }
            Part::End(_) => {}
            _ => return None,
        }
    }
    pipelines.retain(|pipeline| !pipeline.is_empty());
    let mut pipeline = pipelines.pop()?;
    let before = pipelines.concat();
    let directory = match before.as_slice() {
        [] => "",
        [words] if words.len() == 2 && words[0] == "cd" && is_path(&words[1]) => &words[1],
        _ => return None,
    };
    let file = pipeline.first_mut()?.pop().filter(|file| is_path(file))?;
    let shown: Option<Vec<Option<String>>> = pipeline.iter().map(|words| lines_of_input(words)).collect();
    let parts: Vec<String> = shown?.into_iter().flatten().collect();
    // Lines of lines have no place in the file that is known.
    let lines = if let [lines] = &*parts { lines.clone() } else { String::new() };
    let selection = pipeline.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join(" | ");
    let path = join(directory, &file);
    let path = if is_windows { path.replace('/', r"\") } else { path };
    Some(Printed { path, selection, whole: parts.is_empty(), lines })
}

/// Returns true if a word names one file or directory.
fn is_path(word: &str) -> bool {
    !word.starts_with('-') && !word.is_empty() && !word.contains(|c: char| c.is_control() || "$`*?[]{}<>|&;()!\"'\\".contains(c))
}

/// Returns the lines that a command without its file prints of its input, `None` if all, empty if unknown; `None` for another command.
fn lines_of_input(words: &[String]) -> Option<Option<String>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_range = |text: &str| text.contains('p') && text.bytes().all(|byte| byte.is_ascii_digit() || b",;p$ ".contains(&byte));
    let is_count = |text: &str| {
        let digits = text.trim_start_matches(['+', '-']);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let first = |program: &str, count: &str| match (program, count.trim_start_matches(['-', 'n']), count.strip_prefix('+')) {
        ("head", count, _) => format!("1-{count}"),
        (_, _, Some(from)) => format!("{from}-"),
        (_, count, _) => format!("last {count}"),
    };
    let part = match words.as_slice() {
        ["cat" | "nl" | "Get-Content"] | ["cat", "-n"] | ["nl", "-ba"] | ["Get-Content", "-Raw"] => return Some(None),
        [program @ ("head" | "tail")] => first(program, "10"),
        ["sed", "-n", lines] if is_range(lines) => {
            lines.replace(['p', '$', ' '], "").replace(',', "-").replace(';', ",").trim_end_matches(',').to_owned()
        }
        [program @ ("head" | "tail"), "-n", count] if is_count(count) => first(program, count),
        ["head" | "tail", "-c", count] if is_count(count) => String::new(),
        [program @ ("head" | "tail"), count] if count.starts_with('-') && is_count(count.trim_start_matches("-n")) => {
            first(program, count)
        }
        _ => return None,
    };
    Some(Some(part))
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

/// Strips the leading marker line of a shortened tool input, of which nothing else may be left. Any block number is accepted, because the
/// number of this block is not known yet; no command and no path begins with such a line.
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
        for (command, expected) in [
            ("cat src/a.rs", "src/a.rs | cat | true "),
            ("cd /w && sed -n '1,20p' a.py", "/w/a.py | sed -n 1,20p | false 1-20"),
            ("cd /w\nnl -ba ./a", "/w/a | nl -ba | true "),
            ("cd sub; cat 'a b.md' 2>/dev/null", "sub/a b.md | cat | true "),
            ("nl -ba src/a.rs | sed -n '60,95p'", "src/a.rs | nl -ba | sed -n 60,95p | false 60-95"),
            ("cat -n a.rs 2>&1 | head -n 5", "a.rs | cat -n | head -n 5 | false 1-5"),
            ("sed -n '1,9p; 20,$p' a", "a | sed -n 1,9p; 20,$p | false 1-9,20-"),
            ("sed -n 7p a | head -2", "a | sed -n 7p | head -2 | false "),
            ("head -c 80 a", "a | head -c 80 | false "),
            ("tail -n +20 log.txt", "log.txt | tail -n +20 | false 20-"),
            (r"cat src\price0.ts", r"src\price0.ts | cat | true "),
            (r"cd sub; Get-Content -Raw .\a.ts", r"sub\a.ts | Get-Content -Raw | true "),
            ("cat a\\ b.md", "a b.md | cat | true "),
            ("head -5 ~/a.md", "~/a.md | head -5 | false 1-5"),
            ("tail -20 log.txt |\n  cat", "log.txt | tail -20 | cat | false last 20"),
        ] {
            let found = printed_file(command, "")
                .map(|found| format!("{} | {} | {} {}", found.path, found.selection, found.whole, found.lines));
            assert_eq!(found.as_deref(), Some(expected), "{command}");
        }
        for command in [
            "", "cat", "cat a b", "cat a | wc", "cat a > b", "cat a && cat b", "cd a || cat b", "cat $F", "cat *.rs",
            "cat <<E\nx\nE", "(cat a)", "cat $(ls)", "sed -n '/x/p' a", "sed -i 's/a/b/p' a", "tail -f a",
            "cargo test | tail -5", "cd a && cd b && cat c", "cat a | tee b", "! cat a",
        ] {
            assert_eq!(printed_file(command, ""), None, "{command}");
        }
    }
}
