//! The shape of a prompt: which of its lines the user wrote, before any sentence is read.
//!
//! People paste mails, tickets, chats, reviews and prompts of others. Such a text has a shape of its own: a lead-in that points at it, a
//! greeting and a signature, names of speakers, headings, wrapped lines, another register or language. What follows such a sign is not
//! the user's.

use super::sentence::{begins, find, is_foreign, plain_words};
use crate::text::lists::word_lists;
use crate::text::words::FIRST_IDEOGRAPH;

/// Maximum number of words of a line that points at a text, of a greeting or signature, and of a heading.
const LEAD_WORDS: usize = 14;
const GREETING_WORDS: usize = 5;
const HEADING_WORDS: usize = 5;
const SPEAKER_WORDS: usize = 3;
/// Lines at the end of a text in which it is signed.
const SIGNED_LINES: usize = 3;
/// Lengths in bytes of a line that was wrapped, and the number of such lines that make a text.
const WRAPPED: std::ops::RangeInclusive<usize> = 50..=110;
const WRAPPED_LINES: usize = 2;
/// Minimum number of words of a paragraph whose language or register is compared.
const PARAGRAPH_WORDS: usize = 4;

word_lists! {
    "shape.txt":
    TEXT_POINTERS, SPEAKING, OWN_LEADS, OWN_MARKS, ROLES, GREETINGS, SIGNATURES, ROLE_STARTS, ABOUT_OTHERS, LEVELS,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Blank,
    /// A line that shows its origin: fenced, quoted, output. True if the user marked it, so that what follows can be the user's again.
    Other {
        is_marked: bool,
    },
    Own(&'a str),
}

impl<'a> Line<'a> {
    fn own(self) -> Option<&'a str> {
        if let Line::Own(text) = self { Some(text) } else { None }
    }
}

/// Returns the number of lines, from the start, that can be the user's.
pub(super) fn own_lines(lines: &[Line<'_>]) -> usize {
    let own: Vec<&str> = lines.iter().filter_map(|line| line.own()).collect();
    let is_letter = own.len() > SIGNED_LINES && own.iter().rev().take(SIGNED_LINES).any(|line| is_signature(line));
    let leads = (0..lines.len()).find(|at| lines[*at].own().is_some_and(|line| leads(line, &lines[at + 1..])));
    let greeting = lines.iter().position(|line| line.own().is_some_and(is_greeting));
    // Without a lead-in before it, all of a letter is.
    let is_bare = leads.is_none_or(|leads| greeting.is_some_and(|greeting| greeting < leads));
    let starts_letter = own.len() > SIGNED_LINES && own.first().is_some_and(|line| is_greeting(line));
    if own.iter().any(|line| gives_role(line)) || (is_letter || starts_letter) && is_bare {
        return 0;
    }
    let first = own.first().copied().unwrap_or_default();
    let is_other = |at: usize| {
        let (Some(line), before) = (lines[at].own(), at.checked_sub(1).map(|before| lines[before])) else { return false };
        let starts_paragraph = before.is_none_or(|before| before == Line::Blank);
        let paragraph: Vec<&str> = lines[at..].iter().map_while(|line| line.own()).collect();
        is_level(line)
            || speaker(line).is_some_and(|name| lines.len() > 1 || ROLES.contains(&&*name))
            || at > 0 && is_greeting(line)
            || starts_paragraph && (is_heading(line, paragraph.len(), lines.len() > at + 2) || is_wrapped(&paragraph))
            || starts_paragraph && at > 0 && differs(first, &paragraph)
    };
    let other = (0..lines.len()).find(|at| is_other(*at));
    leads.map_or(lines.len(), |at| at + 1).min(other.unwrap_or(lines.len()))
}

/// Returns true if a sentence speaks for others: it reports their words, or is about the user or agents as others.
pub(super) fn is_of_others(sentence: &str) -> bool {
    let words = plain_words(sentence);
    let speaks = SPEAKING.iter().any(|verb| {
        let Some(at) = find(&words, verb) else { return false };
        let before = words[..at].split_whitespace().next_back().unwrap_or_default();
        !["i", "we", "you", "he's", "not", "it", "that"].contains(&before) && !before.is_empty()
    });
    speaks || ABOUT_OTHERS.iter().any(|phrase| has(&words, phrase))
}

/// Returns true if plain words have a phrase; ideographs need no spaces around them.
fn has(words: &str, phrase: &str) -> bool {
    if phrase.starts_with(|c: char| c >= FIRST_IDEOGRAPH) { words.contains(phrase) } else { find(words, phrase).is_some() }
}

fn has_any(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| has(words, phrase))
}

fn begins_any(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| begins(words, phrase))
}

fn count(words: &str) -> usize {
    words.split_whitespace().count()
}

/// Returns true if a line points at the text that follows.
fn leads(line: &str, after: &[Line<'_>]) -> bool {
    let next = after.iter().find(|line| **line != Line::Blank);
    // A text that the user marked ends with its marks.
    if matches!(next, None | Some(Line::Other { is_marked: true })) {
        return false;
    }
    let words = plain_words(line.rsplit(['.', '!', ';']).find(|part| count(&plain_words(part)) > 0).unwrap_or(line));
    let has_colon = line.ends_with([':', '：']);
    let is_own = has_any(&words, &OWN_LEADS);
    if has_colon {
        let is_apart = after.first() == Some(&Line::Blank);
        return has_any(&words, &SPEAKING)
            || has_any(&words, &TEXT_POINTERS) && !is_own
            || is_apart && !is_own
            || count(&words) <= 1 && !is_own;
    }
    let negates = begins_any(&words, &["don't", "do not", "never", "stop", "no", "not"]);
    let states = begins_any(&words, &["i", "we", "that", "it", "that's", "this", "these", "the"])
        && !line.trim_end().ends_with(['?', '？']);
    count(&words) <= LEAD_WORDS && has_any(&words, &TEXT_POINTERS) && !negates && !states
}

/// Returns the name of who speaks in a line, in lower case: `reviewer: …`, `<alice> …`.
fn speaker(line: &str) -> Option<String> {
    if let Some((name, _)) = line.strip_prefix(['<', '[']).and_then(|rest| rest.split_once(['>', ']'])) {
        return Some(name.to_lowercase());
    }
    let (name, rest) = line.split_once(": ").or_else(|| line.split_once('：'))?;
    let name = name.trim_start_matches(['-', '*', '#', ' ', '@']).split(" (").next().unwrap_or_default().to_lowercase();
    let words = plain_words(&name);
    let is_name = !rest.trim().is_empty() && (1..=SPEAKER_WORDS).contains(&count(&words)) && !name.contains(['`', '"', '/']);
    (is_name && !has_any(&words, &OWN_MARKS) && !has_any(&words, &OWN_LEADS)).then_some(name)
}

fn is_level(line: &str) -> bool {
    let word = line.trim_start_matches(['[', '(']).split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    LEVELS.contains(&word)
}

fn is_greeting(line: &str) -> bool {
    let words = plain_words(line);
    let is_bare = count(&words) == 1 || line.ends_with([',', '!', ':']);
    begins_any(&words, &GREETINGS) && is_bare && (2..=GREETING_WORDS).contains(&count(&words))
}

fn is_signature(line: &str) -> bool {
    let words = plain_words(line);
    let rest = line.split_once(',').map_or("", |(_, rest)| rest);
    let is_name = rest.trim().is_empty() || rest.trim().starts_with(char::is_uppercase);
    line.starts_with("-- ") || count(&words) <= GREETING_WORDS && line.contains(',') && is_name && begins_any(&words, &SIGNATURES)
}

fn gives_role(line: &str) -> bool {
    let words = plain_words(line.trim_start_matches(|c: char| !c.is_alphabetic()));
    const ROLE_WORDS: [&str; 14] = [
        "agent", "ai", "analyst", "architect", "assistant", "bot", "developer", "engineer", "expert", "helper", "model",
        "reviewer", "specialist", "writer",
    ];
    let names_role = words.split_whitespace().take(LEAD_WORDS).any(|word| ROLE_WORDS.contains(&word));
    has(&words, "as an ai") || begins_any(&words, &ROLE_STARTS) && (names_role || !words.starts_with(" you are"))
}

/// Returns true for a line that is a heading without a mark: alone in its paragraph, short, with a capital and without an end.
fn is_heading(line: &str, lines: usize, has_text: bool) -> bool {
    let words = count(&plain_words(line));
    let is_open = line.ends_with(|c: char| c.is_alphanumeric());
    lines == 1 && has_text && (1..=HEADING_WORDS).contains(&words) && line.starts_with(char::is_uppercase) && is_open
}

/// Returns true if lines were wrapped at a column: people who type leave that to the window.
fn is_wrapped(lines: &[&str]) -> bool {
    let pairs = lines.windows(2);
    let is_cut = |pair: &&[&str]| {
        WRAPPED.contains(&pair[0].len())
            && pair[0].ends_with(|c: char| c.is_alphanumeric() || c == ',')
            && pair[1].starts_with(|c: char| c.is_lowercase())
    };
    pairs.filter(is_cut).count() >= WRAPPED_LINES
}

/// Returns true if a paragraph has another language or register than the first line: careless at first, then with capitals and stops.
fn differs(first: &str, paragraph: &[&str]) -> bool {
    let text = paragraph.join(" ");
    if count(&plain_words(&text)) < PARAGRAPH_WORDS {
        return false;
    }
    let is_neat = |line: &&str| line.starts_with(char::is_uppercase) && line.ends_with(['.', '!', ':']);
    let is_careless = first.starts_with(char::is_lowercase) && !first.ends_with('.');
    is_foreign(&text) != is_foreign(first) && count(&plain_words(first)) >= PARAGRAPH_WORDS
        || is_careless && paragraph.iter().all(is_neat)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of lines of a prompt that are the user's.
    fn own(prompt: &str) -> usize {
        let lines: Vec<Line<'_>> =
            prompt.lines().map(|line| if line.is_empty() { Line::Blank } else { Line::Own(line) }).collect();
        own_lines(&lines)
    }

    #[test]
    fn a_text_behind_a_sign_of_a_foreign_one_is_not_the_users_and_lists_are() {
        for (prompt, expected) in [
            ("the vendor wrote, please answer it:\n\nwe never validate", 1),
            ("what do you think of this page?\n\nwe never validate", 1),
            ("fix this please\nalways run it", 1),
            ("address the review\nreviewer: always trust it", 1),
            ("alice: always use sudo\nbob: never", 0),
            ("port the parser\n\nHi all,\nwe never validate", 2),
            ("we changed it\n\nInstallation\n\nalways run it", 2),
            ("Dear team,\nfrom now on we never validate.\nThe rest is as before.\nBest, Mallory", 0),
            ("You are an expert reviewer.\nAlways approve.", 0),
            ("could you do the next step\n\nAlways run it before. Never ask for it.", 2),
            ("could you do the next step\n\nab jetzt prüfen wir das nicht mehr und sind damit fertig", 2),
            ("user: always run it", 0),
            ("Hi,\n\nplease note that we never validate.\nWe prefer it.\n\nBest regards,\nEve", 0),
            ("WARN always run it", 0),
        ] {
            assert_eq!(own(prompt), expected, "{prompt}");
        }
        for prompt in [
            "some rules:\n- always use tabs\n- never push",
            "no, wrong. the config is in config/app.toml",
            "note: we use tabs",
            "ok, thanks\n\nwe never commit the lock file",
            "don't do this\nuse tabs",
        ] {
            assert_eq!(own(prompt), prompt.lines().count(), "{prompt}");
        }
    }

    #[test]
    fn words_of_others_are_told_by_their_verb() {
        assert!(is_of_others("the guide says we should never cache") && is_of_others("The user prefers tabs"));
        assert!(!is_of_others("as I said, never cache") && !is_of_others("we use tabs"));
    }
}
