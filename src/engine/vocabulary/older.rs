//! Counts of OpenAI's older vocabulary, by the crate `tiktoken-rs`.
//!
//! Only requests to old models need it, so that it has no table of its own: the crate reads the vocabulary when the first text is
//! counted in it, which takes about a tenth of a second. The models of still older vocabularies cannot be requested any more.

use crate::model::Vocabulary;
use tiktoken_rs::{CoreBPE, cl100k_base_singleton};

/// The longest part of a text that is counted at once, in bytes, and the longest without a line end: the crate takes quadratic time for
/// text without a border.
const PART_BYTES: usize = 16 << 10;
const LINELESS_BYTES: usize = 4 << 10;

/// Returns the number of tokens of a text in the older vocabulary; `None` for those that are counted otherwise. A text is cut at ends of
/// lines into parts of `PART_BYTES`, so that the count of a long line can be off by a token.
pub fn older(vocabulary: Vocabulary, text: &str) -> Option<u32> {
    vocabulary.is_older().then(|| count(cl100k_base_singleton(), text))
}

fn count(encoder: &CoreBPE, text: &str) -> u32 {
    let (mut rest, mut tokens) = (text, 0);
    while !rest.is_empty() {
        let (part, after) = rest.split_at(part(rest));
        tokens += encoder.count_ordinary(part) as u32;
        rest = after;
    }
    tokens
}

/// Returns the length of the first part of a text.
fn part(text: &str) -> usize {
    if text.len() <= PART_BYTES {
        return text.len();
    }
    let head = &text.as_bytes()[..PART_BYTES];
    let is_border = |end: &usize| !text.as_bytes()[end + 1].is_ascii_whitespace();
    let line = memchr::memrchr_iter(b'\n', head).find(is_border).map(|end| end + 1);
    line.unwrap_or_else(|| text.floor_char_boundary(LINELESS_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_older_models_are_counted_here() {
        let text = "fn main() {\n    println!(\"日本語\");\n}\n";
        assert_eq!(older(Vocabulary::Cl100k, text), Some(13));
        assert_eq!(older(Vocabulary::O200k, text), None);
    }

    #[test]
    fn a_long_text_is_counted_in_parts() {
        let line = "let value = compute(42);\n";
        let one = older(Vocabulary::Cl100k, line).unwrap();
        assert_eq!(older(Vocabulary::Cl100k, &line.repeat(4000)), Some(4000 * one));
        assert!(older(Vocabulary::Cl100k, &" ".repeat(1 << 20)).is_some());
        assert!(older(Vocabulary::Cl100k, &"é".repeat(50_000)).is_some());
    }
}
