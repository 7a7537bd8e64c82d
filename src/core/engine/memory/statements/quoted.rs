//! The lines that the user has read in the session: a line that a prompt repeats is not the user's own.

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

/// Number of recent lines that are known, as their hashes.
const KNOWN_LINES: usize = 1024;
/// Number of lines of one text that are added: a longer one is rarely quoted from its middle.
const LINES_OF_TEXT: usize = 400;
/// Minimum length of a line in bytes: shorter ones repeat by chance.
const SHORTEST_LINE: usize = 24;

/// Hashes of recent lines of answers, tool results and insertions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct QuotedLines {
    hashes: Vec<u64>,
    next: usize,
}

impl QuotedLines {
    pub fn add(&mut self, text: &str) {
        for hash in text.lines().take(LINES_OF_TEXT).filter_map(hash_of) {
            if self.hashes.len() < KNOWN_LINES {
                self.hashes.push(hash);
            } else if let Some(oldest) = self.hashes.get_mut(self.next) {
                *oldest = hash;
            }
            self.next = (self.next + 1) % KNOWN_LINES;
        }
    }

    pub fn has(&self, line: &str) -> bool {
        hash_of(line).is_some_and(|hash| self.hashes.contains(&hash))
    }
}

/// Returns the hash of a line without the marks and spaces at its ends; `None` if it is short.
fn hash_of(line: &str) -> Option<u64> {
    let bytes = line.trim_matches(|character: char| !character.is_alphanumeric()).as_bytes();
    if bytes.len() < SHORTEST_LINE {
        return None;
    }
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_lines_are_known() {
        let mut lines = QuotedLines::default();
        lines.add("short\n  - a line that is long enough to know");
        assert!(lines.has("a line that is long enough to know."));
        assert!(!lines.has("short"));
        for number in 0..3 * KNOWN_LINES {
            lines.add(&format!("a line of an output, number {number}"));
        }
        assert!(!lines.has("a line that is long enough to know"));
        assert_eq!(lines.hashes.len(), KNOWN_LINES);
    }
}
