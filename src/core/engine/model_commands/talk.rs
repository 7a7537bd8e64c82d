//! Distinguishes commands from mentions of commands, by the sentence around them.
//!
//! A command on its own line is executed. Inside a sentence it is a mention if the sentence negates it, is hypothetical, gives it
//! as an example, or is about it. False negatives are preferred: the model is instructed to write each command on its own line.

use super::find::without_list_marks;
use crate::text::lists::word_lists;
use crate::text::sentence::ends;
use std::ops::Range;

/// Bytes of a sentence that are examined before and after a command.
const BEFORE: usize = 600;
const BEHIND: usize = 200;

word_lists! {
    "talk.txt":
    NEGATIONS, NEGATING, NEGATING_SIGNS, NEGATING_BEHIND, USES, SUPPOSITIONS, OPENING_SUPPOSITIONS, OPENING_PROHIBITIONS,
    PREDICATES,
}

/// Words directly before an example.
const EXAMPLES: &[&str] = &[
    "e.g.", "e.g.,", "i.e.", "eg.", "for example", "for example,", "for instance", "for instance,", "such as", "like", "as in",
    "say,", "z.b.", "z. b.", "zum beispiel", "wie", "etwa", "par exemple", "comme", "p. ex.", "por ejemplo", "como",
    "per esempio", "come", "bijvoorbeeld", "zoals", "например", "例如", "比如",
];
const CLAUSES: &[&str] =
    &["so", "therefore", "thus", "hence", "also", "deshalb", "daher", "donc", "así", "portanto", "quindi", "dus"];

/// Returns true if the command at a position of a text is only mentioned.
pub fn is_talk(text: &str, place: &Range<usize>) -> bool {
    let line = text[..place.start].rfind('\n').map_or(0, |end| end + 1);
    let behind = &text[place.end..text.floor_char_boundary((place.end + BEHIND).min(text.len()))];
    is_predicated(behind) || is_negated_behind(behind) || !is_bare(&text[line..place.start]) && is_denied(text, place)
}

/// Returns true if only markers and other commands precede a command on its line.
fn is_bare(before: &str) -> bool {
    let mut depth = 0usize;
    let mut rest = without_list_marks(before.trim_start());
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '@' if depth == 0 => rest = rest.trim_start_matches(|c: char| c.is_ascii_lowercase()),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && next.is_alphanumeric() => return false,
            _ => {}
        }
    }
    true
}

/// Returns true if the text after a command is a predicate about it.
fn is_predicated(behind: &str) -> bool {
    let Some(rest) = behind.strip_prefix([' ', '\u{a0}']) else { return false };
    let word: String = rest.chars().take_while(|c| c.is_alphabetic() || matches!(c, '\'' | '’')).collect();
    PREDICATES.contains(&&*word.replace('’', "'"))
}

/// Returns true if the rest of a sentence negates a command, in a language with the verb at the end.
fn is_negated_behind(behind: &str) -> bool {
    let rest = behind.split(['。', '.', '\n', '!', '?', '！', '？']).next().unwrap_or_default();
    let foreign = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7af}');
    rest.contains(foreign) && NEGATING_BEHIND.iter().any(|sign| rest.contains(sign))
}

/// Returns true if a sentence retracts, supposes or quotes the command within it.
fn is_denied(text: &str, place: &Range<usize>) -> bool {
    let sentence = sentence(&text[..place.start]).to_lowercase().replace('’', "'");
    let trimmed = sentence.trim_end();
    // The dot of an abbreviation does not end a sentence.
    let raw = text[text.floor_char_boundary(place.start.saturating_sub(BEFORE))..place.start].to_lowercase();
    if EXAMPLES.iter().any(|example| ends_with_words(raw.trim_end(), example)) {
        return true;
    }
    let words = words(&sentence);
    if words.first().is_some_and(|word| OPENING_SUPPOSITIONS.contains(word)) {
        return true;
    }
    let set_off = trimmed.ends_with([':', ',', '—', '–', '：', '，']);
    if set_off {
        // The text before can be the reason; it negates the command if it is about using it.
        let forbids = words.first().is_some_and(|word| OPENING_PROHIBITIONS.contains(word) || word.ends_with("n't"));
        let speaks = forbids || trimmed.contains('@') || words.iter().any(|word| USES.contains(word));
        return speaks && is_negated(&sentence, &words);
    }
    let clause = words.iter().rposition(|word| CLAUSES.contains(word)).map_or(0, |place| place + 1);
    let last_clause = if clause > 0 { "" } else { &sentence };
    is_negated(last_clause, &words[clause..])
        || words[clause..].iter().any(|word| SUPPOSITIONS.contains(word))
        || addresses_the_user(&words)
}

/// Returns true if words negate; phrases of several words are searched in `sentence`.
fn is_negated(sentence: &str, words: &[&str]) -> bool {
    words.iter().any(|word| NEGATIONS.contains(word) || word.ends_with("n't"))
        || NEGATING.iter().any(|phrase| sentence.contains(phrase))
        || NEGATING_SIGNS.iter().any(|sign| sentence.contains(sign))
}

/// Returns true if the model tells the user which command to write: `you can use @pin(3)`.
fn addresses_the_user(words: &[&str]) -> bool {
    let user = words.iter().position(|word| matches!(*word, "you" | "du" | "sie" | "vous" | "tu" | "usted"));
    user.is_some_and(|user| words[user..].iter().any(|word| USES.contains(word)))
}

/// Returns the last, incomplete sentence of a text: after an empty line, a semicolon, or the start of a list item.
fn sentence(before: &str) -> &str {
    let before = &before[before.floor_char_boundary(before.len().saturating_sub(BEFORE))..];
    let mut start = before.rfind("\n\n").map_or(0, |end| end + 2);
    for (at, end) in before.match_indices([';', '；', '\n']) {
        let rest = &before[at + end.len()..];
        let ends = match end {
            "\n" => without_list_marks(rest.trim_start()).len() < rest.trim_start().len(),
            ";" => rest.starts_with(char::is_whitespace),
            _ => true,
        };
        if ends {
            start = start.max(at + end.len());
        }
    }
    let last = &before[start..];
    &last[ends(last).last().unwrap_or(0)..]
}

fn words(sentence: &str) -> Vec<&str> {
    sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect()
}

fn ends_with_words(text: &str, end: &str) -> bool {
    text.strip_suffix(end).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
}
