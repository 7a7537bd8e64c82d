//! The file with the keys of deleted entries, which are not learned again, also in a clone of the tree.

use super::markdown::{DocumentError, LONGEST_FILE};
use super::words::{date, parse_date};

/// Name of the file in its tree.
pub const FORGOTTEN_FILE: &str = "forgotten.md";

const HEAD: &str = "# Forgotten

<!-- Keys of deleted memories, which aperture does not learn again. Delete a line to allow it. -->

";

/// The keys of deleted entries, with the text of their file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub text: String,
    pub keys: Vec<u64>,
    /// True if the file has a merge conflict: the keys of both sides count, and nothing is written.
    pub has_conflict: bool,
}

impl Forgotten {
    /// Parses the file.
    /// Errors: it is too long, or not text.
    pub fn parse(bytes: &[u8]) -> Result<Forgotten, DocumentError> {
        if bytes.len() > LONGEST_FILE {
            return Err(DocumentError::TooLong(bytes.len()));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| DocumentError::NotText)?.to_owned();
        let keys = text.lines().filter_map(key_of).collect();
        let has_conflict = text.lines().any(|line| line.starts_with("<<<<<<<"));
        Ok(Forgotten { text, keys, has_conflict })
    }

    /// Adds a key with the day on which its entry was deleted, unless there is a conflict.
    pub fn add(&mut self, key: u64, now: i64) {
        if self.has_conflict || self.keys.contains(&key) {
            return;
        }
        if self.text.is_empty() {
            self.text.push_str(HEAD);
        }
        let feed = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        if !self.text.ends_with('\n') {
            self.text.push_str(feed);
        }
        self.text.push_str(&format!("- {key:016x} {}{feed}", date(now)));
        self.keys.push(key);
    }

    /// Takes over the lines of another file, if this one is empty, else its keys.
    pub fn take(&mut self, other: &Forgotten) {
        if self.text.is_empty() && !self.has_conflict {
            *self = other.clone();
            return;
        }
        for line in other.text.lines() {
            let day = line.split_whitespace().nth(2).and_then(parse_date).unwrap_or_default();
            key_of(line).into_iter().for_each(|key| self.add(key, day));
        }
    }

    /// Removes a key, for an entry that is wanted again.
    pub fn allow(&mut self, key: u64) {
        if !self.keys.contains(&key) {
            return;
        }
        self.text = self.text.split_inclusive('\n').filter(|line| key_of(line) != Some(key)).collect();
        self.keys.retain(|known| *known != key);
    }
}

fn key_of(line: &str) -> Option<u64> {
    u64::from_str_radix(line.strip_prefix("- ")?.split_whitespace().next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_added_once_and_other_lines_stay() {
        let mut forgotten = Forgotten::default();
        forgotten.add(0x9f3a, 1_795_298_400_000);
        assert_eq!(forgotten.text, format!("{HEAD}- 0000000000009f3a 2026-11-21\n"));
        assert_eq!(Forgotten::parse(forgotten.text.as_bytes()).unwrap(), forgotten);
        let mut mine = Forgotten::parse(b"my line\r\n- ff 2026-01-01 old\r\n- text").unwrap();
        mine.add(0xff, 0);
        mine.add(1, 0);
        assert_eq!(mine.text, "my line\r\n- ff 2026-01-01 old\r\n- text\r\n- 0000000000000001 1970-01-01\r\n");
        mine.allow(0xff);
        mine.allow(2);
        assert_eq!((&*mine.keys, &*mine.text), (&[1][..], "my line\r\n- text\r\n- 0000000000000001 1970-01-01\r\n"));
        let conflict = Forgotten::parse(b"<<<<<<< a\n- 1 2026-01-01\n=======\n- 2 2026-01-01\n>>>>>>> b\n").unwrap();
        assert_eq!((&*conflict.keys, conflict.has_conflict), (&[1, 2][..], true));
        assert!(Forgotten::parse(&[0xff]).is_err());
    }
}
