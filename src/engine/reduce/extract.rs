//! The summarized level of a text: its most telling lines, in their order.

use super::SUMMARIZED_TOKENS;
use super::lines::{count_lines, cut, lines};
use super::telling::{Style, Telling};
use crate::engine::numbers::count;
use crate::engine::tokens::estimate;
use std::borrow::Cow;

/// Characters of a line from which it is cut, to its beginning and its end.
const LINE: (usize, usize) = (90, 30);
/// What a last line is more telling by than another, and a first one.
const LAST: f64 = 2.0;
const FIRST: f64 = 1.5;
/// What a line that stands again later is less telling by.
const REPEATED: f64 = 4.0;
/// Lines that may not fit before no other is tried.
const TRIES: usize = 12;

/// The most telling lines of a text, and how many are left out, within the tokens of the summarized level; `None` for a
/// text in which nothing can be read.
///
/// A line that does not follow the one before it begins with `… `.
pub fn extract(text: &str, style: Style, repeated: &dyn Fn(&str) -> bool) -> Option<String> {
    let all = lines(text);
    let telling = Telling::new(all.iter().map(|line| &**line), style);
    let (first, last) = (all.iter().position(|line| is_readable(line))?, all.iter().rposition(|line| is_readable(line))?);
    let mut ranked: Vec<(f64, usize)> = Vec::new();
    for (place, line) in all.iter().enumerate().filter(|(_, line)| is_readable(line)) {
        let mut score = telling.score(line);
        score += if place == last { LAST } else { 0.0 } + if place == first { FIRST } else { 0.0 };
        score -= if repeated(line) { REPEATED } else { 0.0 };
        ranked.push((score, place));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<(usize, Cow<'_, str>)> = Vec::new();
    let mut failed = 0;
    for (_, place) in ranked {
        let line = cut(all[place].trim(), LINE.0, LINE.1);
        if chosen.iter().any(|(_, known)| *known == line) {
            continue;
        }
        let at = chosen.partition_point(|(known, _)| *known < place);
        chosen.insert(at, (place, line));
        if estimate(&assembled(&chosen, all.len())) > SUMMARIZED_TOKENS {
            chosen.remove(at);
            failed += 1;
        }
        if failed == TRIES {
            break;
        }
    }
    if chosen.is_empty() {
        // Each line is too expensive: a few characters of the first one.
        chosen.push((first, cut(all[first].trim(), 12, 4)));
    }
    Some(assembled(&chosen, all.len()))
}

fn is_readable(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

fn assembled(chosen: &[(usize, Cow<'_, str>)], all: usize) -> String {
    let mut text = String::new();
    let mut next = 0;
    for (place, line) in chosen {
        text.push_str(if *place == next { "" } else { "… " });
        text.push_str(line);
        text.push('\n');
        next = place + 1;
    }
    match all - chosen.len() {
        0 => text.truncate(text.trim_end().len()),
        omitted => text.push_str(&format!("[… {} of {} omitted]", count(omitted as u64), count_lines(all))),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, style: Style, expected: Option<&str>) {
        assert_eq!(extract(text, style, &|_| false).as_deref(), expected);
    }

    #[test]
    fn the_most_telling_lines_stay_in_order() {
        let plain = "some more plain words of output here\n".repeat(30);
        check(
            &format!(
                "$ cargo test\n{plain}error[E0308]: mismatched types\n  --> src/a.rs:12\n{plain}test result: FAILED. 1 passed; 2 failed"
            ),
            Style::Output,
            Some(
                "$ cargo test\nsome more plain words of output here\n… error[E0308]: mismatched types\n\
                 … test result: FAILED. 1 passed; 2 failed\n[… 60 of 64 lines omitted]",
            ),
        );
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        check("", Style::Prose, None);
        check(" \n--\n", Style::Prose, None);
    }

    #[test]
    fn one_gigantic_line_is_cut() {
        let text = extract(&"word ".repeat(5000), Style::Output, &|_| false).unwrap();
        assert!(text.starts_with("word word") && text.contains("[… 24,879 characters]"), "{text}");
        let text = extract(&"語".repeat(5000), Style::Output, &|_| false).unwrap();
        assert!(estimate(&text) <= SUMMARIZED_TOKENS && text.contains("characters]"), "{text}");
    }
}
