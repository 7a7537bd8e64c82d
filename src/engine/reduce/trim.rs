//! The trimmed level of a text: without what stands again later, then head, tail, and the few errors between.

use super::lines::{count_lines, cut, lines};
use super::telling::{Sign, Style, sign};
use std::borrow::Cow;

/// Lines, and about how many characters of them, that stay at the beginning.
const HEAD: (usize, usize) = (20, 3000);
/// The same at the end, where programs say what came of it.
const TAIL: (usize, usize) = (12, 2000);
/// Errors and warnings that stay between; where there are more, these many of the first errors.
const ALERTS: usize = 8;
/// Characters that stay at the beginning and at the end of a very long line.
const LONG_LINE: (usize, usize) = (360, 120);

/// A line, or lines that are gone because a later result repeats them.
enum Piece<'a> {
    Line(Cow<'a, str>),
    Repeated(usize),
}

impl Piece<'_> {
    fn lines(&self) -> usize {
        match self {
            Piece::Line(_) => 1,
            Piece::Repeated(lines) => *lines,
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Piece::Line(line) => Cow::Borrowed(line),
            Piece::Repeated(lines) => Cow::Owned(repeated_mark(*lines)),
        }
    }
}

fn repeated_mark(lines: usize) -> String {
    format!("[… {}, repeated later]", count_lines(lines))
}

fn omitted_mark(lines: usize) -> String {
    format!("[… {} omitted]", count_lines(lines))
}

/// The essential lines of a text. Lines that are gone are counted where they stood; the result can be as long as the text.
pub fn trim(text: &str, style: Style, repeated: &dyn Fn(&str) -> bool) -> String {
    let pieces = without_repeated(lines(text), repeated);
    let head = fitting(pieces.iter(), HEAD);
    let tail = fitting(pieces[head..].iter().rev(), TAIL);
    let (first, last) = (head, pieces.len() - tail);
    let mut kept = alerts(&pieces[first..last], style);
    kept.iter_mut().for_each(|place| *place += first);
    kept.push(last);
    let mut shown: Vec<Cow<'_, str>> = pieces[..first].iter().map(Piece::text).collect();
    let mut from = first;
    for place in kept {
        let gap = &pieces[from..place];
        let mark = omitted_mark(gap.iter().map(Piece::lines).sum());
        if gap.iter().map(|piece| piece.text().len() + 1).sum::<usize>() > mark.len() + 1 {
            shown.push(Cow::Owned(mark));
        } else {
            shown.extend(gap.iter().map(Piece::text));
        }
        let end = if place == last { pieces.len() } else { place + 1 };
        shown.extend(pieces[place..end].iter().map(Piece::text));
        from = end;
    }
    shown.join("\n")
}

/// The lines, very long ones cut, with each run of lines that stand again later as one piece.
fn without_repeated<'a>(lines: Vec<Cow<'a, str>>, repeated: &dyn Fn(&str) -> bool) -> Vec<Piece<'a>> {
    // Blanks and brackets are too short to be known as repeated, and say nothing between lines that are.
    let again: Vec<Option<bool>> =
        lines.iter().map(|line| line.contains(char::is_alphanumeric).then(|| repeated(line))).collect();
    let mut pieces = Vec::new();
    let mut place = 0;
    let mut lines = lines.into_iter();
    while place < again.len() {
        let mut end = place;
        if again[place] == Some(true) {
            let run = again[place..].iter().take_while(|again| **again != Some(false)).count();
            let last = again[place..place + run].iter().rposition(|again| *again == Some(true)).unwrap_or(0);
            end = place + last + 1;
        }
        if end > place {
            let run: Vec<Cow<'a, str>> = lines.by_ref().take(end - place).collect();
            if run.iter().map(|line| line.len() + 1).sum::<usize>() > repeated_mark(run.len()).len() + 1 {
                pieces.push(Piece::Repeated(run.len()));
            } else {
                pieces.extend(run.into_iter().map(long_line));
            }
            place = end;
        } else {
            pieces.extend(lines.next().map(long_line));
            place += 1;
        }
    }
    pieces
}

fn long_line(line: Cow<'_, str>) -> Piece<'_> {
    let (head, tail) = LONG_LINE;
    Piece::Line(match line {
        Cow::Borrowed(line) => cut(line, head, tail),
        Cow::Owned(line) => Cow::Owned(cut(&line, head, tail).into_owned()),
    })
}

/// How many pieces fit into a number of lines and characters; one always does.
fn fitting<'a>(pieces: impl Iterator<Item = &'a Piece<'a>>, (lines, characters): (usize, usize)) -> usize {
    let mut used = 0;
    let fits = |(place, piece): &(usize, &Piece<'_>)| {
        used += piece.text().chars().count();
        *place == 0 || used <= characters
    };
    pieces.take(lines).enumerate().take_while(fits).count()
}

/// The places of the errors and warnings that are worth keeping: all when they are few, else the first errors.
fn alerts(pieces: &[Piece<'_>], style: Style) -> Vec<usize> {
    let signs = |least: &[Sign]| -> Vec<usize> {
        let is_alert = |piece: &Piece<'_>| match piece {
            Piece::Line(line) => sign(line, style).is_some_and(|sign| least.contains(&sign)),
            Piece::Repeated(_) => false,
        };
        (0..pieces.len()).filter(|place| is_alert(&pieces[*place])).collect()
    };
    let mut alerts = signs(&[Sign::Warning, Sign::Error, Sign::Total]);
    if alerts.len() > ALERTS {
        alerts = signs(&[Sign::Error]);
        alerts.truncate(ALERTS);
    }
    alerts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, later: &[&str], expected: &str) {
        assert_eq!(trim(text, Style::Output, &|line| later.contains(&line.trim())), expected);
    }

    fn many(lines: std::ops::RangeInclusive<usize>) -> String {
        lines.map(|line| format!("line number {line}")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn head_and_tail_stay() {
        check(&many(1..=1200), &[], &format!("{}\n[… 1,168 lines omitted]\n{}", many(1..=20), many(1189..=1200)));
        check(&many(1..=32), &[], &many(1..=32));
        check("", &[], "");
    }

    #[test]
    fn a_few_errors_between_stay() {
        let text = format!("{}\nerror: it broke\n{}", many(1..=40), many(41..=80));
        let expected =
            format!("{}\n[… 20 lines omitted]\nerror: it broke\n[… 28 lines omitted]\n{}", many(1..=20), many(69..=80));
        check(&text, &[], &expected);
    }

    #[test]
    fn what_stands_again_later_goes() {
        let (first, second) = ("let first = compute_the_first(1);", "let second = compute_the_second(2);");
        check(&format!("a\n{first}\n}}\n\n{second}\n}}\nb"), &[first, second], "a\n[… 4 lines, repeated later]\n}\nb");
        check(
            &format!("{first}\nx = 1\n{second}"),
            &[first, second],
            "[… 1 line, repeated later]\nx = 1\n[… 1 line, repeated later]",
        );
    }

    #[test]
    fn a_gap_that_is_shorter_than_its_mark_stays() {
        let text = (1..=33).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        check(&text, &[], &text);
    }

    #[test]
    fn a_very_long_line_keeps_its_ends_and_its_number() {
        let text = format!("     7→{}", "x".repeat(5000));
        let trimmed = trim(&text, Style::Code, &|_| false);
        assert!(trimmed.starts_with("     7→xxx") && trimmed.contains("[… 4,527 characters]"), "{trimmed}");
    }

    #[test]
    fn long_paragraphs_are_bounded() {
        let text = vec!["word ".repeat(90); 30].join("\n");
        let trimmed = trim(&text, Style::Prose, &|_| false);
        assert!(trimmed.len() < 5200, "{}", trimmed.len());
    }
}
