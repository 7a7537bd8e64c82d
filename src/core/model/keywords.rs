use serde::{Deserialize, Serialize};

/// A list of words or excerpts of a block, each on one line, stored in one string to save memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keywords(Box<str>);

impl Keywords {
    /// Returns the words in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator('\n')
    }
}

/// Stores words that contain no line feed.
impl<'a> FromIterator<&'a str> for Keywords {
    fn from_iter<T: IntoIterator<Item = &'a str>>(words: T) -> Keywords {
        let mut joined = String::new();
        for word in words {
            joined.push_str(word);
            joined.push('\n');
        }
        Keywords(joined.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_out_as_they_went_in() {
        for words in [&[] as &[&str], &["one"], &["two words", "other"]] {
            assert_eq!(words.iter().copied().collect::<Keywords>().iter().collect::<Vec<_>>(), words);
        }
    }
}
