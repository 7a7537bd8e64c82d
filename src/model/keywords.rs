use serde::{Deserialize, Serialize};

/// The most telling words of a block, best first, in one piece: there are many of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keywords(Box<str>);

impl Keywords {
    /// The words, best first.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator('\n')
    }
}

/// Takes words in which there is no line feed.
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
