//! Answers within a token budget.

use crate::app::CommandError;
use crate::engine::{amount, mask, tokens, unit};

/// The maximum length of a line in characters; longer lines are split.
const LONGEST_LINE: usize = 1000;

/// Returns the lines of a text from `from_line` on, at most `max_tokens` (o200k) but at least one line. If lines are left, the last
/// line tells how to get them, in the words of `rest` for the next line number. Credentials are masked.
pub fn page(text: &str, from_line: usize, max_tokens: usize, rest: &dyn Fn(usize) -> String) -> String {
    let masked = mask(text);
    let lines: Vec<&str> = masked.split_inclusive('\n').flat_map(pieces).collect();
    if from_line > lines.len() && from_line > 1 {
        return format!("nothing: the answer ends with line {}\n", lines.len());
    }
    let mut shown = String::new();
    let mut used = 0;
    let mut next = from_line - 1;
    for line in &lines[next..] {
        used += tokens::count(line);
        if used > max_tokens && !shown.is_empty() {
            break;
        }
        shown.push_str(line);
        next += 1;
    }
    if next < lines.len() {
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        let left: usize = lines[next..].iter().map(|line| tokens::count(line)).sum();
        let left = unit(&format!("~{}", amount(left as u64)), "token");
        let are = if left.ends_with('s') { "are" } else { "is" };
        shown.push_str(&format!("… truncated at line {} of {}, {left} {are} left: {}\n", next, lines.len(), rest(next + 1)));
    }
    shown
}

/// Returns an error as text for a model.
pub fn error_text(error: &CommandError) -> String {
    mask(&error.text()).into_owned()
}

fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((place, _)) = rest.char_indices().nth(LONGEST_LINE) {
        let (piece, behind) = rest.split_at(place);
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, from_line: usize, max_tokens: usize, expected: &str) {
        assert_eq!(page(text, from_line, max_tokens, &|line| format!("from {line}")), expected);
    }

    #[test]
    fn an_answer_is_cut_at_a_line() {
        check("one\ntwo\n", 1, 100, "one\ntwo\n");
        check("one\ntwo\nthree\n", 1, 4, "one\ntwo\n… truncated at line 2 of 3, ~2 tokens are left: from 3\n");
        check("one\ntwo\nthree\n", 3, 4, "three\n");
        check("one\n", 2, 4, "nothing: the answer ends with line 1\n");
        check("", 1, 4, "");
    }

    #[test]
    fn reading_on_gets_every_character_once() {
        let text = format!("{}é\nshort\n{}", "wide ".repeat(999), "é".repeat(3500));
        let (mut all, mut line) = (String::new(), 1);
        for _ in 0..100 {
            let page = page(&text, line, 300, &|line| format!("from {line}"));
            let (shown, rest) = page.rsplit_once("… truncated").unwrap_or((&page, ""));
            all.push_str(shown);
            let Some((_, next)) = rest.rsplit_once("from ") else { break };
            line = next.trim().parse().unwrap();
        }
        assert_eq!(all.replace('\n', ""), text.replace('\n', ""));
    }

    #[test]
    fn credentials_are_masked() {
        let key = format!("sk-ant-{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
        check(&format!("key {key}\n"), 1, 100, "key [secret:anthropic-key]\n");
    }
}
