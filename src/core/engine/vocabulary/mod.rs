//! OpenAI's public vocabulary o200k: exact token counts of texts.
//!
//! `build.rs` generates its tables from the vocabulary of the crate `tiktoken` and the character classes of `regex-syntax`;
//! docs/decisions/0008 explains why these crates are not used directly. The tests compare every count with `tiktoken-rs`.

mod bucket;
mod class;
mod merge;
mod older;
mod spans;
mod table;

use crate::model::limits::COUNT_SPAN_BYTES;
pub use older::older;
use std::cell::RefCell;

/// Short spans that are remembered in each thread: 393 kB, most of them names of the session at hand.
const RECENT_SPANS: usize = 1 << 14;

thread_local! {
    static RECENT: RefCell<Recent> = RefCell::new(Recent(vec![[0; 3]; RECENT_SPANS]));
}

/// Returns the number of o200k tokens of a text. Special tokens (`<|endoftext|>`) are counted as text. A span without a boundary,
/// such as a megabyte of one letter, is counted in parts of [`COUNT_SPAN_BYTES`].
pub fn o200k(text: &str) -> u32 {
    RECENT.with_borrow_mut(|recent| {
        let (mut start, mut tokens) = (0, 0);
        while start < text.len() {
            let end = spans::end(text, start);
            let span = &text.as_bytes()[start..end];
            // A run of one character is many equal parts.
            let mut last: (&[u8], u32) = (&[], 0);
            for part in span.chunks(COUNT_SPAN_BYTES) {
                if last.0 != part {
                    last = (part, recent.tokens(part));
                }
                tokens += last.1;
            }
            start = end;
        }
        tokens
    })
}

/// The most recently counted spans: their ends, and their lengths with their token counts.
struct Recent(Vec<[u64; 3]>);

impl Recent {
    #[inline]
    fn tokens(&mut self, span: &[u8]) -> u32 {
        let ends = bucket::ends(span);
        let hash = bucket::hash(span, ends);
        if span.len() > bucket::SHORT_BYTES {
            return tokens(span, hash);
        }
        let length = (span.len() as u64) << 32;
        let known = &mut self.0[(hash >> 20) as usize % RECENT_SPANS];
        if [known[0], known[1], known[2] & !u64::from(u32::MAX)] != [ends.0, ends.1, length] {
            *known = [ends.0, ends.1, length | u64::from(tokens(span, hash))];
        }
        known[2] as u32
    }
}

fn tokens(span: &[u8], hash: u64) -> u32 {
    if table::rank_of_hashed(span, hash).is_some() { 1 } else { merge::parts(span) as u32 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    fn oracle(text: &str) -> usize {
        static ORACLE: LazyLock<tiktoken_rs::CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().unwrap());
        ORACLE.encode_ordinary(text).len()
    }

    #[test]
    fn counts_agree_with_the_oracle() {
        for text in [
            "",
            "hello world",
            "fn main() {\n    println!(\"x\");\n}",
            "12345 67890",
            "日本語のテキスト",
            "👩‍👩‍👧 zwj",
            "\t\t  \r\n  x",
            "<|endoftext|>",
        ] {
            assert_eq!(o200k(text) as usize, oracle(text), "{text:?}");
        }
    }

    #[test]
    fn a_megabyte_without_a_border_is_counted() {
        assert_eq!(o200k(&" ".repeat(1 << 20)), 8192);
    }

    #[test]
    fn long_text_is_counted_whole() {
        let line = "let value = compute(42);\n";
        let lines = 2 * COUNT_SPAN_BYTES / line.len();
        assert_eq!(o200k(&line.repeat(lines)) as usize, oracle(line) * lines);
    }

    /// Characters of each class that the expression of the spans distinguishes.
    const BORDERS: &str = " |\n|\r\n|\t|\u{b}|\u{85}|\u{a0}|\u{2028}|'|s|'LL|'re|'ſ|/|A|b|\u{301}|中|ǅ|ʰ|٣|½|K|🏳️‍🌈";

    pub(super) fn text() -> impl Strategy<Value = String> {
        let span = prop_oneof![
            prop::sample::select(BORDERS.split('|').collect::<Vec<_>>()).prop_map(String::from),
            "[a-z]{1,12}",
            "[A-Z]{1,6}",
            "[0-9]{1,5}",
            "[ -/]{1,4}",
            "[\u{0}-\u{20}]{1,3}",
            "[-=]{1,150}",
            "[a-z]{90,300}",
            any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(span, 0..24).prop_map(|spans| spans.concat())
    }

    proptest! {
        #[test]
        fn any_text_counts_as_the_oracle_does(text in text()) {
            prop_assert_eq!(o200k(&text) as usize, oracle(&text));
        }
    }
}
