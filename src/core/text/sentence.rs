//! The one splitter of prose into sentences.
//!
//! People write prompts without capitals, so the next letter says nothing: unlike the rules of UAX #29, a full stop before a space ends
//! a sentence unless it belongs to an abbreviation, a number of a list or an initial.

use std::ops::Range;

/// Abbreviations with a full stop in the middle of a sentence, without their own; English and German.
const ABBREVIATIONS: &[&str] =
    &["approx", "bzw", "ca", "cf", "Dr", "etc", "evtl", "ggf", "incl", "inkl", "Mr", "Mrs", "resp", "usw", "vgl", "vs"];
/// Maximum length of a word with an inner full stop that is an abbreviation, in characters: `e.g`, `u.a`.
const DOTTED_CHARACTERS: usize = 4;

/// Returns the sentences of a line or a paragraph, trimmed, in order. A colon ends none.
pub fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    ends(text).chain(std::iter::once(text.len())).filter_map(move |end| {
        let part = &text[std::mem::replace(&mut start, end)..end];
        let from = end - part.trim_start().len();
        let range = from..from + part.trim().len();
        (!range.is_empty()).then_some(range)
    })
}

/// Returns the places behind the sentences that end in a text, in order, before the space that follows.
pub fn ends(text: &str) -> impl Iterator<Item = usize> {
    let mut start = 0;
    text.char_indices().filter_map(move |(at, mark)| {
        let behind = at + mark.len_utf8();
        let end = match mark {
            '。' | '！' | '？' => text.len() - text[behind..].trim_start_matches(['」', '』', '）', '”', '’']).len(),
            '.' | '!' | '?' | '…' => {
                let end = end_of_marks(text, behind);
                let is_apart = text[end..].starts_with(char::is_whitespace);
                if !is_apart || mark == '.' && end == behind && is_abbreviation(&text[start..at]) {
                    return None;
                }
                end
            }
            _ => return None,
        };
        start = end;
        Some(end)
    })
}

/// Returns the place behind the closing quotation marks, brackets and marks of emphasis at a place.
fn end_of_marks(text: &str, from: usize) -> usize {
    let rest = text[from..].trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '」', '』', '）', '*', '_']);
    // A mark that opens the next word closes nothing.
    if rest.is_empty() || rest.starts_with(char::is_whitespace) { text.len() - rest.len() } else { from }
}

/// Returns true if a full stop behind this beginning of a sentence does not end it.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“')).next().unwrap_or_default();
    let characters = word.chars().count();
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_initial = characters == 1 && word.starts_with(|c: char| c.is_ascii_alphabetic() && c != 'I');
    word.ends_with('.') && characters > 1 && !word.ends_with("..")
        || word.contains('.') && characters <= DOTTED_CHARACTERS && word.contains(char::is_alphabetic)
        || is_initial
        || is_number && characters <= 2 && before.trim_start().len() == word.len()
        || ABBREVIATIONS.contains(&word)
}

/// Returns the text of a line that is a heading in Markdown: `## Plan`.
pub fn heading(line: &str) -> Option<&str> {
    line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
}

/// Returns the fenced block after a heading with which a text begins: what a user gave to a template. It can be empty.
pub fn fenced_input<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let after = text.trim_start().strip_prefix(heading)?.trim_start();
    let (_, rest) = after.strip_prefix("```")?.split_once('\n')?;
    rest.find("```").filter(|end| *end == 0 || rest[..*end].ends_with('\n')).map(|end| rest[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(sentences(text).map(|range| &text[range]).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn the_text_that_a_template_was_given_is_found() {
        for (content, expected) in [
            ("\n## User Input\n\n```text\nFND-1\n```\n\n## Outline\nRun it.", Some("FND-1")),
            ("## User Input\n```\n```\nRun it.", Some("")),
            ("## User Input\nnothing", None),
            ("Look at\n## User Input\n```\nx\n```", None),
            ("## User Input\n```text", None),
        ] {
            assert_eq!(fenced_input(content, "## User Input"), expected, "{content}");
        }
    }

    #[test]
    fn a_text_has_its_sentences() {
        // Sentences end at their marks.
        check("It is fixed. now this one. Why?  Because!", &["It is fixed.", "now this one.", "Why?", "Because!"]);
        check("no. use tabs", &["no.", "use tabs"]);
        check("修好了。还有吗？好", &["修好了。", "还有吗？", "好"]);
        check("Wait... what?! ok", &["Wait...", "what?!", "ok"]);
        check("It is: a b", &["It is: a b"]);
        check(" \n", &[]);
        // Full stops within names numbers and abbreviations end nothing.
        check("Use tabs, e.g. in Makefiles, z.B. here.", &["Use tabs, e.g. in Makefiles, z.B. here."]);
        check("v1.2 of a.rs is at 10.0.0.1", &["v1.2 of a.rs is at 10.0.0.1"]);
        check("2. the second thing", &["2. the second thing"]);
        check("tabs (approx. four) vs. blanks", &["tabs (approx. four) vs. blanks"]);
        check("there are 12. then it ends", &["there are 12.", "then it ends"]);
        // Closing marks belong to their sentence.
        check(
            "He said \"no.\" Then (it ended.) And **so.** done",
            &["He said \"no.\"", "Then (it ended.)", "And **so.**", "done"],
        );
        check("「好。」他说。", &["「好。」", "他说。"]);
        check("a. \"b\" c", &["a. \"b\" c"]);
        check("done. 'b' c", &["done.", "'b' c"]);
    }

    #[test]
    fn nothing_is_lost_between_sentences_but_blanks() {
        for text in ["a b. c? d", "  x!  y  ", "。。", "ends.", "é… ü"] {
            let found: String = sentences(text).map(|range| &text[range]).collect();
            let without_blanks = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(without_blanks(&found), without_blanks(text));
        }
    }
}
