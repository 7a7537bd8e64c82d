//! Recognizes the rules of the user: the one recognizer of the manifest and of memory. Precision comes before recall.

use crate::text::lists::word_lists;
use crate::text::words::{FIRST_IDEOGRAPH, spaced};

/// Lengths of a rule, and the maximum length of one for a task, in characters.
const CHARACTERS: std::ops::RangeInclusive<usize> = 4..=240;
const TASK_CHARACTERS: usize = 160;

/// A rule by the time that it holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// It holds for the task at hand.
    Task,
    /// It says that it holds for later tasks, too.
    Lasting,
}

word_lists! {
    "rules.txt":
    OPENERS, RULE_STARTS, LASTING, EXPLICIT, EXPLICIT_INNER, HABITS, PROHIBITIONS, MOMENTS, ADVERBS, INSTRUCTIONS, SUBJECTS, INNER,
    REPORTS,
}

/// Words between what is wanted and what is not.
const CONTRASTS: &[&str] = &[
    ", never ", ", not ", " instead of ", " rather than ", ", kein ", ", keine ", ", keinen ", ", nicht ", " anstatt ",
    " statt ", " anstelle ", ", pas ", " au lieu d", " plutôt qu", ", no ", " en lugar de ", " en vez de ", ", não ",
    " ao invés de ", " em vez de ", ", non ", " invece di ", ", niet ", " in plaats van ", ", а не ", " вместо ", "而不是",
    "，不要", "，不用", "，别用", "ではなく", "じゃなくて", " 말고 ", " 대신 ",
];
/// The same at the end of a sentence.
const PROHIBITION_ENDS: &[&str] =
    &["しないで", "ないでください", "使わないで", "禁止", "하지 마", "하지 마세요", "지 마", "지 마세요", "쓰지 마"];

/// Returns the rule that a sentence of the user states; `None` if it asks, reports or describes.
pub fn rule(sentence: &str) -> Option<Rule> {
    let lower = sentence.to_lowercase().replace('’', "'");
    if !may_state(&lower) {
        return None;
    }
    let characters = lower.chars().count();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| places(&lower, phrase).next().is_some());
    let start = without_openers(&lower);
    let begins = |text: &str| RULE_STARTS.iter().any(|phrase| places(text, phrase).next() == Some(0));
    let opens = (begins(&lower) || begins(start)) && !describes(start);
    let first = |phrases: &[&str]| phrases.iter().filter_map(|phrase| places(&lower, phrase).next()).min();
    let subject = first(&SUBJECTS);
    let instructs = |adverb: usize| opens || has(&INSTRUCTIONS) || subject.is_some_and(|subject| subject < adverb);
    let is_explicit =
        EXPLICIT.iter().any(|phrase| places(start, phrase).next() == Some(0) || places(&lower, phrase).next() == Some(0));
    let contrasts =
        CONTRASTS.iter().any(|mark| lower.contains(mark)) && (opens || has(&INSTRUCTIONS) || has(&HABITS) || has(&INNER));
    let stops = start.strip_prefix("stop ").and_then(|rest| rest.split(' ').next()).is_some_and(|verb| verb.ends_with("ing"));
    // `以后再说` puts it off.
    let from_now = ["以后", "今后"].iter().any(|word| start.starts_with(word)) && !start[6..].starts_with('再');
    let is_own = is_explicit || has(&EXPLICIT_INNER) || contrasts || stops || from_now || has(&HABITS);
    if has(&LASTING) || is_own && !binds(&lower) || first(&ADVERBS).is_some_and(instructs) {
        return Some(Rule::Lasting);
    }
    let is_short = characters <= TASK_CHARACTERS && !names_task(&lower);
    (is_short && (opens || has(&INNER))).then_some(Rule::Task)
}

/// Returns true if a sentence in lower case has the length of a rule, and neither asks nor reports.
fn may_state(lower: &str) -> bool {
    let reports = REPORTS.iter().any(|phrase| places(lower, phrase).next().is_some());
    CHARACTERS.contains(&lower.chars().count()) && !lower.ends_with(['?', '？', ':', '：']) && !reports
}

/// Returns true if a sentence prohibits something beyond the work at hand.
pub fn is_prohibition(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start = without_openers(&lower);
    // `non, …` contradicts, `non …` prohibits.
    let is_apart = |rest: &str| rest.starts_with(|c: char| c == ' ' || c >= FIRST_IDEOGRAPH);
    let opens = |text: &str, phrase: &str| text.strip_prefix(phrase).is_some_and(is_apart);
    let begins = PROHIBITIONS.iter().any(|phrase| opens(start, phrase) || opens(&lower, phrase));
    let ends = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_long =
        lower.chars().count() <= TASK_CHARACTERS && start.split(' ').count() > 1 || start.chars().any(|c| c >= FIRST_IDEOGRAPH);
    is_long && (begins || PROHIBITION_ENDS.iter().any(|end| ends.ends_with(end))) && !binds(&lower) && may_state(&lower)
}

/// Returns true if a sentence prohibits something for the work at hand only: `don't commit yet`.
pub fn is_passing_prohibition(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start = without_openers(&lower);
    PROHIBITIONS.iter().any(|phrase| places(start, phrase).next() == Some(0)) && binds(&lower)
}

/// Returns true if a sentence in lower case is about the work at hand.
fn binds(lower: &str) -> bool {
    names_task(lower) || MOMENTS.iter().any(|word| places(lower, word).next().is_some())
}

/// Returns the places of a phrase in a text, in whole words that are not quoted. Ideographs need no spaces around them.
fn places(text: &str, phrase: &str) -> impl Iterator<Item = usize> {
    let is_border = |c: char| !c.is_alphanumeric() && !matches!(c, '"' | '\'' | '`' | '-' | '_');
    let is_bare = phrase.starts_with(|c: char| c >= FIRST_IDEOGRAPH);
    text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + phrase.len()..].chars().next());
        is_bare || before.is_none_or(is_border) && after.is_none_or(is_border)
    })
}

/// Returns a sentence in lower case without the words before the sentence proper.
fn without_openers(lower: &str) -> &str {
    let proper = spaced(lower).find(|(_, word)| !OPENERS.contains(&&lower[word.clone()]));
    proper.map_or(lower, |(_, word)| &lower[word.start..])
}

/// Returns true if a sentence with the opening of a rule describes something: `always calls it`, `only a.rs was included`.
fn describes(start: &str) -> bool {
    let mut words = start.split([' ', ',']);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_third_person = second.ends_with('s') && !second.ends_with("ss") && !second.ends_with("us");
    match first {
        "always" | "never" => is_third_person || ["a", "an", "it", "that", "the", "this"].contains(&second),
        "only" => ["was", "were", "is", "are", "has", "have"].iter().any(|verb| start.split(' ').any(|word| word == *verb)),
        "use" => ["case", "cases", "of"].contains(&second),
        _ => false,
    }
}

/// Returns true if a sentence in lower case names an issue or a page: it is about one task.
fn names_task(lower: &str) -> bool {
    let is_number = |rest: &str| rest.trim_start_matches(['#', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let numbered = |word: &str| lower.match_indices(word).any(|(at, _)| is_number(&lower[at + word.len()..]));
    lower.contains("://") || numbered("#") || ["issue ", "ticket ", "pull request ", "pr "].into_iter().any(numbered)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::entries;

    pub(crate) fn sentences() -> Vec<(String, Option<Rule>)> {
        let rule = |name: String| if name == "task" { Rule::Task } else { Rule::Lasting };
        let rows = entries::<(String, Option<String>)>(include_str!("sentences.jsonl")).into_iter();
        rows.map(|(sentence, name)| (sentence, name.map(rule))).collect()
    }

    #[test]
    fn rules_are_told_from_reports_and_questions() {
        for (sentence, expected) in sentences() {
            assert_eq!(rule(&sentence), expected, "{sentence}");
        }
    }
}
