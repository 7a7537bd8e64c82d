//! The lines of later results.

use super::lines::{is_numbered, lines, without_number};
use rustc_hash::FxHashSet;
use twox_hash::XxHash3_64;

/// Shortest line that counts, in bytes without blanks around it: shorter ones repeat by chance.
const LINE_BYTES: usize = 24;

/// Lines of later results, as hashes: for [`super::Reducible::repeated`].
///
/// Built from the last text backwards: a text is first reduced with what comes after it, then added. Only what stays in the
/// window should be added. Lines are compared without the blanks around them, their colours and the line numbers of a file
/// that was read.
#[derive(Clone, Debug, Default)]
pub struct LaterLines(FxHashSet<u64>);

impl LaterLines {
    /// Adds the lines of one more text, which comes before those that were added.
    pub fn add(&mut self, text: &str) {
        let numbered = is_numbered(text);
        self.0.extend(lines(text).iter().filter_map(|line| key(if numbered { without_number(line) } else { line })));
    }

    /// Whether a line stands in one of the texts; never one of fewer than 24 bytes.
    pub fn contains(&self, line: &str) -> bool {
        let lines = lines(line);
        let Some(line) = lines.first() else { return false };
        [line, without_number(line)].iter().filter_map(|line| key(line)).any(|key| self.0.contains(&key))
    }
}

fn key(line: &str) -> Option<u64> {
    let line = line.trim();
    (line.len() >= LINE_BYTES).then(|| XxHash3_64::oneshot(line.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_what_they_say() {
        let mut later = LaterLines::default();
        later.add("    12→    let answer = compute(42, 43);\r\n    13→short line");
        later.add("short line\n\u{1b}[31merror: something went very wrong\u{1b}[0m\n4\t./target/debug/incremental/cache");
        for (line, expected) in [
            ("let answer = compute(42, 43);", true),
            ("   900→\tlet answer = compute(42, 43);", true),
            ("error: something went very wrong", true),
            ("short line", false),
            ("4\t./target/debug/incremental/cache", true),
            ("8\t./target/debug/incremental/cache", false),
            ("let answer = compute(42, 44);", false),
            ("", false),
        ] {
            assert_eq!(later.contains(line), expected, "{line:?}");
        }
    }
}
