//! Counts of OpenAI's older vocabulary, by the crate `tiktoken`.
//!
//! Only requests to old models need it, so that it has no table of its own: the crate unpacks the vocabulary when the first text is
//! counted in it. The models of still older vocabularies cannot be requested any more.

use crate::model::Vocabulary;

/// Returns the number of tokens of a text in the older vocabulary; `None` for those that are counted otherwise.
pub fn older(vocabulary: Vocabulary, text: &str) -> Option<u32> {
    let encoding = vocabulary.is_older().then(|| tiktoken::get_encoding("cl100k_base"))?;
    encoding.map(|encoding| encoding.count(text) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::vocabulary::tests::text;

    #[test]
    fn only_older_models_are_counted_here() {
        let text = "fn main() {\n    println!(\"日本語\");\n}\n";
        assert_eq!(older(Vocabulary::Cl100k, text), Some(13));
        assert_eq!(older(Vocabulary::O200k, text), None);
    }

    #[test]
    fn a_long_text_is_counted() {
        let line = "let value = compute(42);\n";
        let one = older(Vocabulary::Cl100k, line).unwrap();
        assert_eq!(older(Vocabulary::Cl100k, &line.repeat(4000)), Some(4000 * one));
        assert!(older(Vocabulary::Cl100k, &" ".repeat(1 << 20)).is_some());
        assert!(older(Vocabulary::Cl100k, &"é".repeat(50_000)).is_some());
    }

    proptest::proptest! {
        #[test]
        fn any_text_counts_as_the_oracle_does(text in text()) {
            let oracle = tiktoken_rs::cl100k_base_singleton().encode_ordinary(&text).len();
            proptest::prop_assert_eq!(older(Vocabulary::Cl100k, &text), Some(oracle as u32));
        }
    }
}
