//! The user's own words in a prompt: without code, quotations, terminal output, logs and documents that they pasted.

use super::grammar;
use super::shape::{Line, is_of_others, own_lines};
use crate::text::clauses::is_printed;
use crate::text::sentence::heading;
use crate::text::words::prose_words;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

/// Maximum length of a prompt in bytes: a longer one is a document.
const LONGEST_PROMPT: usize = 16 << 10;
/// Number of headings that make a prompt a document.
const DOCUMENT_HEADINGS: usize = 2;
/// Length in bytes from which a text without a first person is a document: people name themselves in long texts.
const IMPERSONAL_TEXT: usize = 240;
/// Length of a quotation in bytes from which it is someone else's text, and not a name in quotation marks.
const LONG_QUOTATION: usize = 40;
/// Number of code spans and paths in a long line from which it is a review or a document: people name one or two things in a line.
const DOCUMENT_SPANS: usize = 4;
/// Number of slashes from which a word is a path or an address.
const ADDRESS_SLASHES: usize = 2;
/// Number of spaces before a line that the terminal wrapped, or that is code.
const INDENT: usize = 2;

/// First characters of lines that a terminal, a diff, a quotation or a table shows.
const OUTPUT_STARTS: [char; 18] = ['$', '%', '+', '<', '=', '>', '@', '|', '│', '└', '├', '─', '⎿', '●', '⏺', '❯', '➜', '✻'];

/// The words of the user in a prompt.
#[derive(Debug, Default)]
pub(super) struct Voice<'a> {
    /// The sentences, in order, without list markers.
    pub sentences: Vec<&'a str>,
    /// Bytes of the prompt that are not the user's own words.
    pub pasted_bytes: usize,
}

/// Returns the user's own sentences in a prompt of which the session is not known; none if it is a document.
pub fn own_sentences(prompt: &str) -> Vec<&str> {
    voice(prompt, &|_| false).sentences
}

/// Returns the user's own sentences in a prompt; none if it is a document. Lines and sentences that `is_known` in the session are
/// quotations.
pub(super) fn voice<'a>(prompt: &'a str, is_known: &dyn Fn(&str) -> bool) -> Voice<'a> {
    let mut found = Voice::default();
    let headings = prompt.lines().filter(|line| heading(line).is_some()).count();
    if prompt.len() > LONGEST_PROMPT || headings >= DOCUMENT_HEADINGS {
        found.pasted_bytes = prompt.len();
        return found;
    }
    let mut read: Vec<Line<'_>> = Vec::new();
    let mut is_fenced = false;
    let mut is_output = false;
    for line in prompt.lines() {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```");
        is_fenced ^= is_fence;
        // The output of a command follows its line, up to an empty line.
        is_output = !trimmed.is_empty() && (is_output || trimmed.starts_with(['❯', '$', '➜', '%', '<']));
        read.push(if is_fenced || is_fence {
            Line::Other { is_marked: true }
        } else if trimmed.is_empty() {
            Line::Blank
        } else if is_output || is_output_line(line) || is_known(line) {
            Line::Other { is_marked: trimmed.starts_with('>') }
        } else {
            Line::Own(trimmed)
        });
    }
    let own = own_lines(&read);
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for (line, (at, read)) in prompt.lines().zip(read.into_iter().enumerate()) {
        match (read, all.last_mut()) {
            (Line::Own(text), Some(paragraph)) if at < own => paragraph.push(text),
            (Line::Blank, _) => all.push(Vec::new()),
            _ => found.pasted_bytes += line.len(),
        }
    }
    let own: Vec<Vec<&str>> = all.into_iter().filter(|paragraph| !found.drops(paragraph)).collect();
    let lines: Vec<&str> = own.concat().into_iter().filter(|line| !found.drops(&[line])).collect();
    if !found.drops(&lines) {
        let is_own = |sentence: &&str| !is_of_others(sentence) && !is_known(sentence);
        found.sentences = lines.into_iter().flat_map(sentences).filter(is_own).collect();
    }
    found
}

impl Voice<'_> {
    /// True if lines are long and impersonal: the text of a document or a program. Counts them as pasted.
    fn drops(&mut self, lines: &[&str]) -> bool {
        let bytes: usize = lines.iter().map(|line| line.len()).sum();
        let drops = bytes >= IMPERSONAL_TEXT && !lines.iter().any(|line| is_personal(line));
        if drops {
            self.pasted_bytes += bytes;
        }
        drops
    }
}

/// True if a line looks like the output of a program, code or a quotation.
fn is_output_line(line: &str) -> bool {
    let trimmed = line.trim_start();
    let body = without_marker(trimmed);
    if trimmed.starts_with(OUTPUT_STARTS)
        || (line.len() - trimmed.len() >= INDENT && body.len() == trimmed.len())
        || starts_with_time(trimmed)
    {
        return true;
    }
    let prose = without_quotations(body);
    if body.len() >= IMPERSONAL_TEXT && prose.matches(PLACEHOLDER).count() >= DOCUMENT_SPANS {
        return true;
    }
    is_printed(&prose)
}

/// True if a line starts with a date or a time of day, alone or as a field: `2026-01-31…`, `time=2026-…`, `[12:30:05`.
fn starts_with_time(line: &str) -> bool {
    let start = line.trim_start_matches(['[', '(']);
    let start = start.strip_prefix("time=").unwrap_or(start);
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let next = start.as_bytes().get(digits).copied();
    let then = start.as_bytes().get(digits + 1).is_some_and(u8::is_ascii_digit);
    (digits == 4 && matches!(next, Some(b'-' | b'/')) || digits == 2 && next == Some(b':')) && then
}

/// True if a line holds a word of the first person outside of quotations.
fn is_personal(line: &str) -> bool {
    let line = without_quotations(line).to_lowercase().replace('’', "'");
    prose_words(&line).any(|word| grammar::FIRST_PERSON.contains(&word))
}

/// Returns a text without its code spans, paths, addresses and long quotations; a mark remains in the place of each.
pub(super) fn without_quotations(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let closing = match character {
            '`' => Some('`'),
            '"' => Some('"'),
            '“' => Some('”'),
            '「' => Some('」'),
            _ => None,
        };
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        let at_word = kept.is_empty() || kept.ends_with(|last: char| !last.is_alphanumeric());
        if let Some(end) =
            closing.and_then(|closing| after.find(closing)).filter(|end| character == '`' || *end >= LONG_QUOTATION)
        {
            kept.push(PLACEHOLDER);
            rest = after[end..].get(character.len_utf8().max(1)..).unwrap_or_default();
        } else if at_word && word.matches('/').count() >= ADDRESS_SLASHES {
            kept.push(PLACEHOLDER);
            rest = &rest[word.len()..];
        } else {
            kept.push(character);
            rest = after;
        }
    }
    kept
}

/// The mark in the place of a quotation.
pub(super) const PLACEHOLDER: char = '§';

/// Returns a line without the bullet or number of a list item.
fn without_marker(line: &str) -> &str {
    let rest = line.trim_start_matches(['-', '*', '•', '–']);
    if rest.len() < line.len() && rest.starts_with(' ') {
        return rest.trim_start();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = line.get(digits..digits + 2);
    if digits <= 2 && matches!(marker, Some(". " | ") ")) && (digits > 0) {
        return line.get(digits + 2..).unwrap_or(line).trim_start();
    }
    line
}

/// Returns the sentences of a line, without the marker of a list item.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let line = without_marker(line);
    let found = crate::text::sentence::sentences(line).map(|range| &line[range]);
    found.filter(|sentence| sentence.chars().any(char::is_alphanumeric)).collect()
}

/// Number of recent lines that are known, as their hashes.
const KNOWN_LINES: usize = 1024;
/// Maximum number of bytes of what the agent said.
const SAID_BYTES: usize = 8 << 10;
/// Number of lines of one text that are added: a longer one is rarely quoted from its middle.
const LINES_OF_TEXT: usize = 400;
/// Minimum length of a line in bytes: shorter ones repeat by chance.
const SHORTEST_LINE: usize = 24;

/// Hashes of recent lines of answers, tool results and insertions, and the words of the last answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct QuotedLines {
    hashes: Vec<u64>,
    next: usize,
    /// The end of what the agent said, in lower case and without marks: a prompt can have any part of it.
    said: String,
}

impl QuotedLines {
    /// Adds what the agent says.
    pub fn add_said(&mut self, text: &str) {
        self.add(text);
        self.said.push_str(&bare_words(text));
        let surplus = self.said.len().saturating_sub(SAID_BYTES);
        self.said.drain(..self.said.ceil_char_boundary(surplus));
    }

    pub fn add(&mut self, text: &str) {
        for hash in text.lines().take(LINES_OF_TEXT).filter_map(hash_of) {
            if self.hashes.len() < KNOWN_LINES {
                self.hashes.push(hash);
            } else if let Some(oldest) = self.hashes.get_mut(self.next) {
                *oldest = hash;
            }
            self.next = (self.next + 1) % KNOWN_LINES;
        }
    }

    /// Returns true if a line or a sentence is one of these lines, or a part of what the agent said.
    pub fn has(&self, text: &str) -> bool {
        hash_of(text).is_some_and(|hash| self.hashes.contains(&hash) || self.said.contains(&bare_words(text)))
    }
}

/// Returns the words of a text in lower case, each with a space before it, and a space at the end.
fn bare_words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| [" ".to_owned(), word.to_lowercase()]).chain([" ".to_owned()]).collect()
}

/// Returns the hash of a line without the marks and spaces at its ends; `None` if it is short.
fn hash_of(line: &str) -> Option<u64> {
    let bytes = line.trim_matches(|character: char| !character.is_alphanumeric()).as_bytes();
    if bytes.len() < SHORTEST_LINE {
        return None;
    }
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, expected: &[&str]) {
        assert_eq!(voice(prompt, &|line| line == "a line of the agent").sentences, expected, "{prompt}");
    }

    #[test]
    fn sentences_of_the_user_remain_and_pasted_text_is_dropped() {
        check("No. Use tabs, e.g. in Makefiles! ok?", &["No.", "Use tabs, e.g. in Makefiles!", "ok?"]);
        check("1. first thing\n- second thing", &["first thing", "second thing"]);
        check("不对。请用中文！", &["不对。", "请用中文！"]);
        check("❯ make all\nerror: no rule\n\nwe never had that rule", &["we never had that rule"]);
        check("```\nI like it\n```\nwe use nix", &["we use nix"]);
        check("# Skill\nI say\n## Steps\nwe do", &[]);
        check("2026-01-02T10:00 started\nwe saw that", &["we saw that"]);
        check("a line of the agent\nwe do not", &["we do not"]);
        check("> I want this\nwe do not", &["we do not"]);
        check(&format!("{}\n\nmy own words", "The parser reads bytes and returns rows. ".repeat(9).trim()), &["my own words"]);
    }

    #[test]
    fn quotations_become_marks() {
        for (text, expected) in [
            ("use `rg -n` here", "use § here"),
            ("see https://a.example/b now", "see § now"),
            ("say \"short\" twice", "say \"short\" twice"),
        ] {
            assert_eq!(without_quotations(text), expected);
        }
    }

    #[test]
    fn recent_lines_are_known() {
        let mut lines = QuotedLines::default();
        lines.add("short\n  - a line that is long enough to know");
        assert!(lines.has("a line that is long enough to know."));
        assert!(!lines.has("short"));
        for number in 0..3 * KNOWN_LINES {
            lines.add(&format!("a line of an output, number {number}"));
        }
        assert!(!lines.has("a line that is long enough to know"));
        assert_eq!(lines.hashes.len(), KNOWN_LINES);
        lines.add_said("The **start** is known. It is\nread from `full.log` there.");
        assert!(lines.has("the start is known. It is read") && lines.has("is read from full.log there"));
        assert!(!lines.has("It is read from the other log"));
    }
}
