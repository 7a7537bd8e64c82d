//! Formats suggestions as text.

use super::{amount, price};
use crate::engine::{Suggestion, SuggestionKind};

/// Returns the effect of a suggestion on the window: `free 31k`, or `in use again` for a block to expand.
pub fn aim(suggestion: &Suggestion) -> String {
    let tokens = amount(suggestion.saved_tokens.abs().round() as u64);
    let about = if suggestion.planned { "" } else { "~" };
    match suggestion.kind {
        SuggestionKind::Expand => format!("in use again, +{tokens}"),
        _ => format!("free {about}{tokens}"),
    }
}

/// Returns the cost and the savings of a suggestion: `saves ~$0.27 a turn, costs nothing now`; empty for a block to expand.
pub fn cost(suggestion: &Suggestion) -> String {
    let price = suggestion.price.filter(|_| suggestion.kind != SuggestionKind::Expand);
    price.map(|price| price::balance(&price)).unwrap_or_default()
}

/// Returns both effects of a suggestion.
pub fn effect(suggestion: &Suggestion) -> String {
    let texts = [aim(suggestion), cost(suggestion)];
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Returns [`effect`] if it has at most `room` characters, else only the effect on the window, else an empty text.
pub fn short_effect(suggestion: &Suggestion, room: usize) -> String {
    [effect(suggestion), aim(suggestion)].into_iter().find(|text| text.chars().count() <= room).unwrap_or_default()
}
