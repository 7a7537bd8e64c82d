//! Closed word classes of English, the only language whose statements were measured.

use crate::text::lists::{all_words, word_lists};
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

const FILE: &str = include_str!("grammar.txt");

word_lists! {
    "grammar.txt":
    pub(super) FIRST_PERSON, pub(super) SUBJECTS, pub(super) AUXILIARIES, pub(super) QUESTION_WORDS, pub(super) REASONS,
    pub(super) OPENERS, pub(super) CONTRASTS, pub(super) ADVERSATIVES, pub(super) NARRATORS, pub(super) CONSEQUENCES,
    pub(super) PEOPLE, pub(super) NEGATIONS, pub(super) OBLIGATIONS, pub(super) TASTES, pub(super) STANCES,
    pub(super) ALTERNATIVES, pub(super) GENERALITIES, pub(super) CONVENTIONS, pub(super) REQUESTS, pub(super) APPROVALS,
    pub(super) FAILURES, pub(super) CONDITIONS, pub(super) HEDGES, pub(super) TAGS, pub(super) MOMENTS,
}

word_lists! { "words.txt": FILLERS }

pub(super) fn has(word: &str) -> bool {
    static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| all_words(FILE).collect());
    WORDS.contains(word)
}

/// Returns true for a word that says nothing about the topic of a statement.
pub fn is_function_word(word: &str) -> bool {
    let is_other = || FAILURES.contains(&word) || CONVENTIONS.contains(&word);
    FILLERS.contains(&word) || (has(word) && !is_other())
}
