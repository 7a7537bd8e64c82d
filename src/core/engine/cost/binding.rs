//! Binding: whether a model signs its thinking together with everything before it.
//!
//! Opus, Sonnet and Haiku bind from version 5.5 on, Fable and Mythos from 5.1 on (Anthropic, "Preserved thinking",
//! platform.claude.com/docs/en/build-with-claude/preserved-thinking). The API refuses a bound block whose prefix was changed.

use crate::model::{Block, Session};

/// Describes if thinking survives a change of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The model accepts its thinking after any prefix.
    Free,
    /// Nothing is known of the model.
    Unknown,
    /// The model rejects its thinking after another prefix.
    Bound,
}

/// The families of models and the first version of each that binds.
const FIRST_BINDING: &[(&str, (u32, u32))] =
    &[("opus", (5, 5)), ("sonnet", (5, 5)), ("haiku", (5, 5)), ("fable", (5, 1)), ("mythos", (5, 1))];
/// The first generation that has models that bind.
const FIRST_GENERATION: u32 = 5;
/// Numbers from here on are dates.
const DATES: u32 = 1000;

/// Returns how a model binds its thinking, by its name as the API or a cloud provider writes it.
pub fn binding(model: &str) -> Binding {
    let Some(at) = model.rfind("claude-") else { return Binding::Unknown };
    let words: Vec<&str> = model[at..].split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let mut numbers = words.iter().filter_map(|word| word.parse::<u32>().ok()).take_while(|number| *number < DATES);
    let Some(major) = numbers.next() else { return Binding::Unknown };
    let version = (major, numbers.next().unwrap_or(0));
    match FIRST_BINDING.iter().find(|(family, _)| words.contains(family)) {
        _ if major < FIRST_GENERATION => Binding::Free,
        None => Binding::Unknown,
        Some((_, first)) if version < *first => Binding::Free,
        Some(_) => Binding::Bound,
    }
}

/// Returns the thinking binding of the model that wrote a block; `model` is used for rows without a model name.
pub fn binding_of(session: &Session, model: &str, block: &Block) -> Binding {
    let written_by = session.rows.get(block.row as usize).and_then(|row| row.model.as_deref());
    binding(written_by.unwrap_or(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_models_bind_their_thinking() {
        for (model, expected) in [
            ("claude-opus-5-5", Binding::Bound),
            ("claude-opus-5-5[1m]", Binding::Bound),
            ("claude-haiku-5-5-20261001", Binding::Bound),
            ("us.anthropic.claude-sonnet-5-5-v1:0", Binding::Bound),
            ("claude-sonnet-6", Binding::Bound),
            ("claude-fable-5-1", Binding::Bound),
            ("claude-fable-5", Binding::Free),
            ("claude-mythos-5@20260901", Binding::Free),
            ("claude-opus-5", Binding::Free),
            ("claude-opus-4-7", Binding::Free),
            ("claude-opus-4-5-20251101", Binding::Free),
            ("claude-sonnet-4-20250514", Binding::Free),
            ("claude-3-7-sonnet-20250219", Binding::Free),
            ("claude-next", Binding::Unknown),
            ("claude-epic-7", Binding::Unknown),
            ("qwen3:8b", Binding::Unknown),
            ("", Binding::Unknown),
        ] {
            assert_eq!(binding(model), expected, "{model}");
        }
    }
}
