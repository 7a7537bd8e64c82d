//! The values that a file names as credentials, as an index knows them.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// Hashes of the values that a file names as credentials, each with the length of its value in bytes: a later text can have one without
/// its name. Upper and lower case are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenValues(FxHashSet<(u32, u64)>);

impl HiddenValues {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, value: &str) {
        self.0.insert(key(value.to_lowercase().as_bytes()));
    }

    pub fn extend(&mut self, other: &HiddenValues) {
        self.0.extend(&other.0);
    }

    /// Returns true for one of the values in lower case.
    pub fn has(&self, value: &str) -> bool {
        self.0.contains(&key(value.as_bytes()))
    }

    /// Returns true if a text has one of the values.
    pub fn are_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let lengths: FxHashSet<usize> = self.0.iter().map(|(length, _)| *length as usize).filter(|length| *length > 0).collect();
        lengths.into_iter().any(|length| text.as_bytes().windows(length).any(|part| self.0.contains(&key(part))))
    }
}

fn key(value: &[u8]) -> (u32, u64) {
    (value.len() as u32, XxHash3_64::oneshot(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_within_a_text() {
        let mut hidden = HiddenValues::default();
        hidden.add("Blue/Whale+7");
        assert!(hidden.has("blue/whale+7") && !hidden.has("blue"));
        for (text, expected) in [("it is 'blue/Whale+7'.", true), ("blue/whale+8", false), ("Blue/Whale+7", true), ("é", false)]
        {
            assert_eq!(hidden.are_in(text), expected, "{text}");
        }
        assert!(!HiddenValues::default().are_in("a"));
    }
}
