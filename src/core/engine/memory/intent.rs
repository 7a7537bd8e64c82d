//! The intent of a prompt: which part of memory it needs first.

use crate::model::{JsonOf, words};
use crate::text::lists::word_lists;
use std::sync::LazyLock;

words! {
    /// The intent of a prompt.
    #[derive(Default)]
    pub enum Intent {
        /// The way to run something here, or the cause of a failure.
        Operational = "operational",
        /// The meaning or the place of something.
        Factual = "factual",
        /// The steps of a task.
        Procedural = "procedural",
        /// The work of the agent, and its mistakes.
        Introspective = "introspective",
        /// Anything else, such as work on the code.
        #[default]
        General = "general",
    }
}

impl JsonOf<Intent> for String {
    fn json_of(intent: &Intent) -> String {
        intent.to_string()
    }
}

/// Bytes of a prompt that decide: longer ones are mostly pasted.
const START_BYTES: usize = 600;

word_lists! { "intent.txt": INTROSPECTIVE, PROCEDURAL, OPERATIONAL, FACTUAL }

/// The words of each intent; more specific intents first, which win ties.
static CUES: [(Intent, &LazyLock<Vec<&str>>); 4] = [
    (Intent::Introspective, &INTROSPECTIVE),
    (Intent::Procedural, &PROCEDURAL),
    (Intent::Operational, &OPERATIONAL),
    (Intent::Factual, &FACTUAL),
];

/// Returns the intent of a prompt: the one with the most cues in its first 600 bytes.
pub fn intent(prompt: &str) -> Intent {
    let start = prompt[..prompt.floor_char_boundary(START_BYTES)].to_lowercase();
    let mut best = (Intent::General, 0);
    for (intent, cues) in &CUES {
        let count = cues.iter().filter(|cue| has_words(&start, cue)).count();
        if count > best.1 {
            best = (*intent, count);
        }
    }
    best.0
}

/// Returns true if a text has a phrase that does not continue as another word. Languages without spaces have no such borders.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let spaceless = phrase.chars().any(|c| c >= '\u{3000}');
    text.match_indices(phrase).any(|(at, _)| {
        spaceless || is_border(text[..at].chars().next_back()) && is_border(text[at + phrase.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intents_are_told_apart() {
        for (prompt, expected) in [
            ("Why does `cargo test` fail with a timeout?", Intent::Operational),
            ("Where is the parser, and which file has its tests?", Intent::Factual),
            ("Release version 2 and publish it", Intent::Procedural),
            ("Commit and open a PR, please", Intent::Procedural),
            ("Why did you delete it?", Intent::Introspective),
            ("Make the heading blue", Intent::General),
            ("Wo ist die Datenbank?", Intent::Factual),
            ("运行测试", Intent::Operational),
            ("", Intent::General),
            ("the shipper is a class", Intent::General),
        ] {
            assert_eq!(intent(prompt), expected, "{prompt}");
        }
    }
}
