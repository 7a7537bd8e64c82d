//! Numbered choices: the offered option that a short answer of the user, such as "2" or "the second one", refers to.

use crate::engine::Analysis;
use crate::model::{BlockKind, BlockNumber, Role};

/// Bytes of an answer that names a choice rather than tells of one, and its words.
const ANSWER_BYTES: u64 = 160;
const ANSWER_WORDS: usize = 16;
/// The highest number that is taken for a choice.
const HIGHEST: u32 = 30;
const ORDINALS: &[&str] = &["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
/// Words for a choice, before its number or letter, or behind its ordinal.
const OPTION: &[&str] = &["option", "choice", "variant", "approach", "one"];
/// Other words before the letter of a choice.
const LEAD: &[&str] = &["plan", "go", "with", "do", "and", "or"];
/// Words behind a number that it does not count.
const NOT_COUNTED: &[&str] = &["and", "or", "but", "then", "please", "first", "is", "sounds", "instead", "too", "with", "w"];

/// An answer that names choices, and the text that offers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub answer: BlockNumber,
    /// The text of the agent before it.
    pub offer: BlockNumber,
    /// The numbers of the choices, from 1; letters count from `A` on.
    pub numbers: Vec<u32>,
}

/// All answers in the window that name a choice.
pub fn choices(reading: &Analysis) -> Vec<Choice> {
    let mut found = Vec::new();
    let mut offer: Option<BlockNumber> = None;
    for block in reading.in_window() {
        if block.kind == BlockKind::Text && block.role == Role::Assistant {
            offer = Some(block.number);
        } else if block.kind != BlockKind::ToolResult
            && (1..=ANSWER_BYTES).contains(&block.words_bytes())
            && let Some(offer) = offer.take()
        {
            let numbers = parse_choice_numbers(&block.preview);
            if !numbers.is_empty() {
                found.push(Choice { answer: block.number, offer, numbers });
            }
        }
    }
    found
}

fn parse_choice_numbers(answer: &str) -> Vec<u32> {
    let words: Vec<&str> = answer.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() > ANSWER_WORDS {
        return Vec::new();
    }
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut numbers = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let start = word.as_ptr().addr() - answer.as_ptr().addr();
        let (before, after) = (&answer[..start], &answer[start + word.len()..]);
        let is_next = |words: &[&str]| lower.get(place + 1).is_some_and(|next| words.contains(&&**next));
        let is_behind = |words: &[&str]| place.checked_sub(1).is_some_and(|place| words.contains(&&*lower[place]));
        let is_end = !after.trim_start_matches(' ').starts_with(char::is_alphanumeric) || is_next(NOT_COUNTED);
        let number =
            || lower[place].parse().ok().filter(|_| !is_part(before, after) && (place == 0 || is_end || is_behind(OPTION)));
        let ordinal =
            || ordinal(&lower[place]).filter(|_| is_next(OPTION) || is_end && (words.len() == 1 || is_behind(&["the"])));
        let led = place == 0 && (words.len() == 1 || *word != "A") || is_behind(OPTION) || is_behind(LEAD);
        let number = number().or_else(ordinal).or_else(|| letter(word).filter(|_| led));
        if let Some(number) = number.filter(|number| (1..=HIGHEST).contains(number) && !numbers.contains(number)) {
            numbers.push(number);
        }
    }
    numbers
}

/// Returns true if a word is a part of a name, a version or an expression: `smoke-10`, `6.6`, `(7)`.
fn is_part(before: &str, after: &str) -> bool {
    let is_joined = after.starts_with(['-', '_', '/', '.', ':']) && after[1..].starts_with(char::is_alphanumeric);
    is_joined || before.ends_with(['-', '_', '/', '.', ':', '(', '[', '<', '='])
}

/// Returns the number of an ordinal: of `second` and of `2nd`.
fn ordinal(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)?.parse().ok());
    digits.or_else(|| Some(ORDINALS.iter().position(|ordinal| *ordinal == word)? as u32 + 1))
}

/// The place of a capital letter in the alphabet, from 1; those that name choices.
fn letter(word: &str) -> Option<u32> {
    match word.as_bytes() {
        [letter @ b'A'..=b'H'] => Some(u32::from(letter - b'A') + 1),
        _ => None,
    }
}

/// Returns the options of an offer that a short answer names, each whole.
pub fn chosen_options<'o>(offer: &'o str, answer: &str) -> Vec<&'o str> {
    let numbers = if answer.len() as u64 <= ANSWER_BYTES { parse_choice_numbers(answer) } else { Vec::new() };
    items(offer, &numbers)
}

/// The items of a text that have one of some numbers, each whole, in order; of several lists the last.
pub fn items<'o>(text: &'o str, numbers: &[u32]) -> Vec<&'o str> {
    item_ranges(text, numbers).into_iter().filter_map(|(start, end)| text.get(start as usize..end as usize)).collect()
}

/// The places of these items, in bytes.
pub fn item_ranges(text: &str, numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, usize, usize)> = Vec::new();
    let mut open: Option<(u32, usize, usize)> = None;
    let mut blank = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, content) = (at, line.trim_end());
        at += line.len();
        let end = start + content.len();
        if let Some(number) = item(content) {
            found.extend(open.replace((number, start, end)));
        } else if content.is_empty() {
            blank = true;
            continue;
        } else if content.starts_with('#') || blank && !content.starts_with([' ', '\t']) {
            found.extend(open.take());
        } else if let Some(open) = &mut open {
            open.2 = end;
        }
        blank = false;
    }
    found.extend(open);
    let last = |number: &u32| found.iter().rfind(|(known, _, _)| known == number);
    let mut items: Vec<(u32, u32)> =
        numbers.iter().filter_map(last).map(|(_, start, end)| (*start as u32, *end as u32)).collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// The number of the item that a line begins: `2. …`, `**B)** …`, `- Option 3: …`, `### 1 — …`.
fn item(line: &str) -> Option<u32> {
    let line = line.trim_start_matches([' ', '\t', '#', '*', '-', '_', '>', '•', '(', '[', '`']);
    let named = ["Option ", "Choice ", "Variant ", "Approach "].iter().find_map(|word| line.strip_prefix(word));
    let rest = named.unwrap_or(line);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = match digits {
        0 => (letter(rest.get(..1)?)?, &rest[1..]),
        1..=2 => (rest[..digits].parse().ok()?, &rest[digits..]),
        _ => return None,
    };
    let after = after.trim_start_matches(['*', '_', '`']);
    let marked = after.starts_with(['.', ')', ']', ':']) && !after[1..].starts_with(|c: char| c.is_alphanumeric());
    (marked
        || after.starts_with(" —")
        || after.starts_with(" – ")
        || named.is_some() && !after.starts_with(char::is_alphanumeric))
    .then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_name_numbers_and_letters() {
        for (answer, expected) in [
            ("1", &[1][..]),
            ("2.", &[2]),
            ("the second one, please", &[2]),
            ("1 and 3", &[1, 3]),
            ("go with option B", &[2]),
            ("B", &[2]),
            ("A", &[1]),
            ("3rd", &[3]),
            ("first option, but as a flag", &[1]),
            ("yes, the first", &[1]),
            ("the first and the third, please", &[1, 3]),
            ("do 1 first, then 3", &[1, 3]),
            ("option 1. Also fix the warnings", &[1]),
            ("2, but without the cache", &[2]),
            // An ordinal of time, and numbers that count or belong to a name.
            ("let's first fix the parser", &[]),
            ("run the slow tests first", &[]),
            ("yes, but first: is it shown?", &[]),
            ("the first test fails", &[]),
            ("make the 3 changes in one commit", &[]),
            ("it is release-2, not 1.4 (3)", &[]),
            ("yes", &[]),
            ("A new file is fine", &[]),
            ("I have an idea", &[]),
            ("", &[]),
        ] {
            assert_eq!(parse_choice_numbers(answer), expected, "{answer}");
        }
    }

    #[test]
    fn an_answer_names_options_of_an_offer() {
        let offer = "We can:\n1. Lock the file\n   with flock.\n2. Write beside it.\n";
        assert_eq!(chosen_options(offer, "option 1"), ["1. Lock the file\n   with flock."]);
        assert_eq!(chosen_options(offer, "1 and 2, please").len(), 2);
        assert_eq!(chosen_options(offer, "yes"), [""; 0]);
        assert_eq!(chosen_options("Which one?", "1"), [""; 0]);
        assert_eq!(chosen_options(offer, &format!("1 {}", "and more ".repeat(20))), [""; 0]);
    }

    fn check(text: &str, numbers: &[u32], expected: &[&str]) {
        assert_eq!(items(text, numbers), expected, "{text}");
    }

    #[test]
    fn an_item_is_whole_in_whatever_way_it_is_marked() {
        let list = "We can:\n1. Lock the file\n   with flock.\n2. Write beside it.\n\n   Then rename.\n\nWhich one?\n";
        check(list, &[1], &["1. Lock the file\n   with flock."]);
        check(list, &[2], &["2. Write beside it.\n\n   Then rename."]);
        check(list, &[2, 1], &["1. Lock the file\n   with flock.", "2. Write beside it.\n\n   Then rename."]);
        check(list, &[3], &[]);
        // Items are marked in many ways, and the last list counts.
        check("**A)** tabs\n**B)** blanks", &[2], &["**B)** blanks"]);
        check("### Option 2: rename\nIt is atomic.\n## More\nx", &[2], &["### Option 2: rename\nIt is atomic."]);
        check("1. old\n\nNow:\n1. new", &[1], &["1. new"]);
        check("12:30 is the time\nA word\n1.5 of it\n2023. A year", &[1, 2, 12], &[]);
        check("é\n(1) ünder\n", &[1], &["(1) ünder"]);
    }
}
