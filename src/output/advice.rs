//! Formats suggestions as text.

use super::{amount, plural};
use crate::engine::{Suggestion, SuggestionKind};

/// Returns [`effect`] if it has at most `room` characters, else only the saved tokens, else an empty text.
pub fn short_effect(suggestion: &Suggestion, room: usize) -> String {
    let full = effect(suggestion);
    let saved = full.split(',').next().unwrap_or_default().to_owned();
    [full, saved].into_iter().find(|text| text.chars().count() <= room).unwrap_or_default()
}

/// Returns the savings of a suggestion and when it pays back: `about −31k, pays back in ~2 turns`.
pub fn effect(suggestion: &Suggestion) -> String {
    let tokens = amount(suggestion.saved_tokens.abs().round() as u64);
    if suggestion.kind == SuggestionKind::Expand {
        return format!("about +{tokens}, safe");
    }
    let back = match suggestion.pays_back_turns {
        Some(turns) if turns < 0.5 => ", pays back at once".to_owned(),
        Some(turns) => format!(", pays back in ~{}", plural(turns.ceil() as usize, "turn")),
        None => String::new(),
    };
    let about = if suggestion.estimated { "about " } else { "" };
    format!("{about}−{tokens}{back}")
}
