//! The vocabularies of the models of OpenAI.

use crate::model::Vocabulary;

/// Prefixes of the names of models with an older vocabulary; the first one that matches decides. Source: `tiktoken/model.py`.
const MODELS: &[(&str, Vocabulary)] = &[
    ("gpt-4o", Vocabulary::O200k),
    ("gpt-4.1", Vocabulary::O200k),
    ("gpt-4.5", Vocabulary::O200k),
    ("gpt-4", Vocabulary::Cl100k),
    ("gpt-3.5", Vocabulary::Cl100k),
    ("gpt-35-turbo", Vocabulary::Cl100k),
    ("text-embedding-", Vocabulary::Cl100k),
    ("davinci-002", Vocabulary::Cl100k),
    ("babbage-002", Vocabulary::Cl100k),
    // A gateway can give one model the API of another.
    ("claude", Vocabulary::Claude),
];

/// Returns the vocabulary of a model; `otherwise` if its name is not known.
pub(in crate::provider) fn vocabulary(model: &str, otherwise: Vocabulary) -> Vocabulary {
    MODELS.iter().find(|(prefix, _)| model.starts_with(prefix)).map_or(otherwise, |(_, vocabulary)| *vocabulary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_the_vocabulary_of_its_series() {
        for (model, expected) in [
            ("gpt-4o-mini", Vocabulary::O200k),
            ("gpt-4.1", Vocabulary::O200k),
            ("gpt-5.5-codex", Vocabulary::O200k),
            ("o3", Vocabulary::O200k),
            ("gpt-4-turbo", Vocabulary::Cl100k),
            ("gpt-3.5-turbo-0125", Vocabulary::Cl100k),
            ("claude-sonnet-4-5", Vocabulary::Claude),
            ("deepseek-chat", Vocabulary::O200k),
        ] {
            assert_eq!(vocabulary(model, Vocabulary::O200k), expected, "{model}");
        }
    }
}
