//! Pieces: the units of a content that are kept or omitted, and the rendering of a content with omitted pieces.

use super::lines::{count_lines, lines, numbered, without_number};
use super::outcome::{named, verdicts};
use super::salience::{LineKind, Style, line_kind};
use crate::engine::content::terms;
use crate::text::sentence::ends;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Bytes of a line from which it is more than one piece, and about how long its pieces are.
const LONG_LINE_BYTES: usize = 480;
const LONG_LINE_PIECE_BYTES: usize = 160;
/// Bytes of a paragraph from which on its sentences are pieces, and of a sentence worth the name.
const SENTENCES_BYTES: usize = 200;
const LEAST_SENTENCE_BYTES: usize = 24;
/// Lines from which on those that are left out are counted.
const FEW_LINES: usize = 5;
/// Bytes up to which a gap between two kept lines is kept too: a reader needs the line between two.
const FILLED_BYTES: usize = 60;
/// Replacement for the end of a line within a piece.
pub const LINE_END: &str = "⏎";

/// A line, a sentence or an entry of a content.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    pub text: Cow<'a, str>,
    /// Salience of the piece itself, without its names: the probability that it is needed.
    pub salience: f32,
    /// The piece without which it cannot be understood, such as the file of a search hit.
    pub under: Option<usize>,
    /// Lines of the content that it represents.
    pub lines: usize,
    /// True if it continues the line of the previous piece.
    pub inline: bool,
    /// True if it only repeats the form of one before: its names count, the line itself hardly does.
    pub again: bool,
    /// True if its names are meaningless without it, such as the id that a client gives an output.
    pub nameless: bool,
    /// True if it is kept at every level: the words of a person.
    pub held: bool,
}

/// Salience of a piece that always stays, even if other pieces show its names.
pub const ALWAYS: f32 = 1.0;

impl<'a> Piece<'a> {
    pub fn line(text: Cow<'a, str>) -> Piece<'a> {
        Piece { text, salience: 0.0, under: None, lines: 1, inline: false, again: false, nameless: false, held: false }
    }

    /// The same, independent of the content that it was cut from.
    pub fn into_owned<'b>(self) -> Piece<'b> {
        Piece { text: Cow::Owned(self.text.into_owned()), ..self }
    }
}

/// Salience of a line by its kind: error lines are nearly always worth a place, declarations often.
pub fn salience(line: &str, style: Style) -> f32 {
    match line_kind(line, style) {
        Some(LineKind::Error | LineKind::Total) => 0.003,
        Some(LineKind::Warning) => 0.001,
        Some(LineKind::Declaration | LineKind::Heading) => 0.0005,
        None => 0.0,
    }
}

/// The lines of a text as pieces, very long ones in several.
pub fn line_pieces(text: &str, style: Style) -> Vec<Piece<'_>> {
    lines(text).into_iter().flat_map(|line| pieces_of_line(line, style)).collect()
}

/// The pieces of one line: one, or several of a very long one.
pub fn pieces_of_line(line: Cow<'_, str>, style: Style) -> Vec<Piece<'_>> {
    let salience = salience(&line, style);
    if line.len() <= LONG_LINE_BYTES {
        return vec![Piece { salience, ..Piece::line(line) }];
    }
    let parts = parts_of_line(&line).into_iter().enumerate();
    let pieces = parts.map(|(place, part)| {
        let first = place == 0;
        let salience = if first { salience } else { 0.0 };
        Piece { salience, lines: usize::from(first), inline: !first, ..Piece::line(part_of(&line, part)) }
    });
    pieces.collect()
}

/// A part of a line.
pub fn part_of<'a>(line: &Cow<'a, str>, part: Range<usize>) -> Cow<'a, str> {
    match line {
        Cow::Borrowed(line) => Cow::Borrowed(&line[part]),
        Cow::Owned(line) => Cow::Owned(line[part].to_owned()),
    }
}

/// The sentences of a line; of a short one all of it.
pub fn sentences(line: &str) -> Vec<Range<usize>> {
    if line.len() <= SENTENCES_BYTES {
        return std::iter::once(0..line.len()).collect();
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for end in ends(line) {
        if end - start >= LEAST_SENTENCE_BYTES {
            // The blank behind a sentence stays with it: the parts make the line.
            let end = end + line[end..].chars().next().filter(|next| next.is_whitespace()).map_or(0, char::len_utf8);
            parts.push(start..end);
            start = end;
        }
    }
    parts.push(start..line.len());
    let long = |part: Range<usize>| {
        let whole = part.len() <= LONG_LINE_BYTES;
        let inner = if whole { std::iter::once(0..part.len()).collect() } else { parts_of_line(&line[part.clone()]) };
        inner.into_iter().map(move |inner| part.start + inner.start..part.start + inner.end)
    };
    parts.into_iter().flat_map(long).collect()
}

/// About equal parts of a very long line, cut where it can be.
pub fn parts_of_line(line: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while line.len() - start > LONG_LINE_PIECE_BYTES * 2 {
        let window = line.ceil_char_boundary(start + LONG_LINE_PIECE_BYTES / 2)
            ..line.ceil_char_boundary(start + LONG_LINE_PIECE_BYTES * 3 / 2);
        let text = &line[window.clone()];
        let end = [". ", "; ", ", ", " ", "},", "\",", ","].iter().find_map(|mark| text.find(mark).map(|at| at + mark.len()));
        // Not within a name, if it ends anywhere.
        let end = end.or_else(|| text.find(|c| !is_part_of_name(c)));
        let end = end.filter(|end| *end > 0).map_or(window.end, |end| window.start + end);
        parts.push(start..end);
        start = end;
    }
    parts.push(start..line.len());
    parts
}

/// The whole of a piece: its hash, and whether an agent may quote it.
pub struct Line {
    /// The hash under which it is known.
    pub term: u32,
    /// True if its length is that of lines which agents quote.
    pub quotable: bool,
}

/// Returns the hashes of the names of a piece, including those between backticks, and the whole piece as a line unless it is blank.
pub fn names(text: &str) -> (Vec<u32>, Option<Line>) {
    let content = without_number(text).trim();
    let mut found = Vec::new();
    let mut add = |name: &str| found.push(terms::hash(name));
    terms::names(content, &mut add);
    // Text that starts or ends with a blank, or continues on another line, is between two pairs of backticks of a cut text.
    let whole = |name: &str| {
        let at = name.as_ptr() as usize - content.as_ptr() as usize;
        content[..at].ends_with('`') && content[at + name.len()..].starts_with('`')
    };
    let quoted = |name: &str| whole(name) && !name.contains(LINE_END) && name.contains(char::is_alphanumeric);
    terms::quoted(content, b'`', |name| {
        if quoted(name) {
            add(name);
        }
    });
    let line = Line { term: terms::hash(content), quotable: terms::is_quotable(content) };
    (found, content.contains(char::is_alphanumeric).then_some(line))
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | ':' | '@')
}

/// Kept pieces of one text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KeptPieces {
    pub pieces: Vec<bool>,
    /// True if the text is kept unchanged, whichever pieces are selected.
    pub whole: bool,
}

/// Renders a text of which only some pieces are kept. An omitted part is replaced by the number of its lines, `[… 43 lines]`. A few
/// lines become `…`, and nothing is inserted if line numbers show the gap.
/// A gap that is hardly longer than its marker is kept.
pub fn rendered(pieces: &[Piece<'_>], kept: &KeptPieces) -> String {
    let mut text = String::new();
    let mut place = 0;
    let is_kept = |place: usize| kept.pieces[place] || pieces[place].held;
    while place < pieces.len() {
        if is_kept(place) {
            push_piece(&mut text, &pieces[place]);
            place += 1;
            continue;
        }
        let from = place;
        place += (from..pieces.len()).take_while(|place| !is_kept(*place)).count();
        let gap = &pieces[from..place];
        if gap.iter().all(is_unsaid) {
            // Blank lines need no mark, and more than one says no more.
            gap.iter().filter(|piece| piece.lines > 0).take(1).for_each(|piece| push_piece(&mut text, piece));
            continue;
        }
        let mark = mark(pieces, from..place);
        let bytes: usize = gap.iter().map(|piece| piece.text.len() + 1).sum();
        // Progress is not what a reader misses.
        let is_inner = from > 0 && place < pieces.len() && gap.iter().any(|piece| !piece.nameless);
        if bytes <= if is_inner { FILLED_BYTES.max(mark.len() + 1) } else { mark.len() + 1 } {
            gap.iter().for_each(|piece| push_piece(&mut text, piece));
            continue;
        }
        if mark.is_empty() {
            continue;
        }
        // An omitted part that belongs to a heading only is noted on the heading's line.
        let headed = from > 0 && is_kept(from - 1) && gap.iter().all(|piece| piece.under == Some(from - 1));
        if !text.is_empty() {
            let inline = gap[0].inline || headed;
            text.push_str(if !inline {
                "\n"
            } else if text.ends_with(' ') {
                ""
            } else {
                " "
            });
        }
        text.push_str(&mark);
    }
    text
}

/// True for a piece that says nothing, or only the status of a call: it is left out without a mark.
fn is_unsaid(piece: &Piece<'_>) -> bool {
    piece.text.trim().is_empty() || piece.lines == 0 && piece.nameless
}

/// Renders the kept pieces of a text as an extract, without its indentation. A gap between them is `…`, and in a file that was read
/// the number of the line after it. What is omitted before and after them has no mark.
pub fn extract(pieces: &[Piece<'_>], kept: &KeptPieces) -> String {
    let places: Vec<usize> = (0..pieces.len()).filter(|place| kept.pieces[*place] || pieces[*place].held).collect();
    let lines = places.iter().filter(|place| !pieces[**place].inline).map(|place| without_number(&pieces[*place].text));
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outermost = lines.filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or_default();
    let mut text = String::new();
    let (mut next, mut is_listed) = (0, false);
    for (at, place) in places.iter().copied().enumerate() {
        let piece = &pieces[place];
        // Headings of which only the name is kept, such as the files of hits, are a list.
        let is_bare =
            piece.lines == 0 && !piece.inline && places.get(at + 1).is_none_or(|next| pieces[*next].under != Some(place));
        if is_bare && is_listed {
            text.push_str(", ");
            text.push_str(&piece.text);
            next = place + 1;
            continue;
        }
        is_listed = is_bare;
        let line = without_number(&piece.text);
        let is_blank = |piece: &Piece<'_>| is_unsaid(piece) || without_number(&piece.text).trim().is_empty();
        let is_gap = next > 0 && !pieces[next..place].iter().all(is_blank);
        next = place + 1;
        if piece.inline {
            text.push_str(if is_gap { " … " } else { "" });
            text.push_str(line);
            continue;
        }
        let number = numbered(&piece.text).filter(|_| is_gap || text.is_empty()).map(|(number, _)| number);
        if !text.is_empty() {
            text.push_str(if is_gap && number.is_none() { "\n…\n" } else { "\n" });
        }
        number.iter().for_each(|number| text.push_str(&format!("{number}→")));
        text.push_str(line.get(outermost..).unwrap_or(line.trim_start()));
    }
    text
}

fn push_piece(text: &mut String, piece: &Piece<'_>) {
    if !text.is_empty() {
        // The parts of a line are joined, unless a marker is between them.
        if !piece.inline {
            text.push('\n');
        } else if text.ends_with([']', '…']) && !piece.text.starts_with(' ') {
            text.push(' ');
        }
    }
    text.push_str(&piece.text);
}

/// Returns the marker of a gap; empty if the number of the first shown line implies it.
fn mark(pieces: &[Piece<'_>], gap: Range<usize>) -> String {
    // Line numbers already show how many lines are missing before them.
    if pieces.get(gap.end).is_some_and(|piece| numbered(&piece.text).is_some()) {
        return if gap.start == 0 { String::new() } else { "…".to_owned() };
    }
    // Of a line of which a part is shown no more than that is missing.
    let lines: usize = pieces[gap.clone()].iter().map(|piece| piece.lines).sum();
    let lines = lines - usize::from(lines > 0 && pieces.get(gap.end).is_some_and(|piece| piece.inline));
    match lines {
        0 => "[…]".to_owned(),
        lines => {
            let verdict = verdict(&pieces[gap.clone()]);
            let is_few = lines < FEW_LINES && gap.len() < pieces.len() && verdict.is_empty();
            if is_few { "…".to_owned() } else { format!("[… {}{verdict}]", count_lines(lines)) }
        }
    }
}

/// Returns the outcome of the tests whose lines are left out.
fn verdict(pieces: &[Piece<'_>]) -> String {
    let totals: Vec<String> = verdicts(pieces.iter().map(|piece| &*piece.text)).iter().map(named).collect();
    if totals.is_empty() { String::new() } else { format!(": {}", totals.join(", ")) }
}

impl KeptPieces {
    /// Keeps none of the given number of pieces.
    pub fn none(pieces: usize) -> KeptPieces {
        KeptPieces { pieces: vec![false; pieces], ..KeptPieces::default() }
    }

    pub fn fits(&self, pieces: &[Piece<'_>]) -> bool {
        self.pieces.len() == pieces.len()
    }

    /// Returns the bytes of the kept pieces, without held ones.
    pub fn bytes(&self, pieces: &[Piece<'_>]) -> usize {
        let kept = pieces.iter().zip(&self.pieces).filter(|(piece, kept)| **kept && !piece.held);
        kept.map(|(piece, _)| piece.text.trim().len()).sum()
    }

    pub fn is_none(&self) -> bool {
        !self.pieces.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_backticks_is_a_name() {
        let text = "  12→run `mise run lint` or `go vet`, see `json.Indent()`";
        assert_eq!(names(text).0, ["mise run lint", "json.Indent()"].map(terms::hash));
    }

    #[test]
    fn lookalikes_of_names_are_not_names() {
        for text in [
            "explain` on `main` or all of `",
            "x`⏎⏎**Flags:**⏎- `since <ref>`",
            "| `run`, ` , stop and go` |",
            "`- - - - -`",
            r#"print(w, "\nThis will""#,
        ] {
            assert_eq!(names(text).0, Vec::<u32>::new(), "{text}");
        }
    }

    /// Checks the rendering of lines of which some are kept, given by index.
    fn check(lines: &[&str], kept: &[usize], expected: &str) {
        let pieces: Vec<Piece<'_>> = lines.iter().map(|line| Piece::line(Cow::Borrowed(*line))).collect();
        let kept = (0..lines.len()).map(|place| kept.contains(&place)).collect();
        assert_eq!(rendered(&pieces, &KeptPieces { pieces: kept, ..KeptPieces::default() }), expected);
    }

    #[test]
    fn few_lines_are_a_mark_and_many_are_counted() {
        let lines: Vec<String> = (0..12).map(|line| format!("this is a longer line {line}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let line = |number: usize| lines[number];
        check(&lines, &[0, 4, 11], &format!("{}\n…\n{}\n[… 6 lines]\n{}", line(0), line(4), line(11)));
        check(&lines, &[3], &format!("…\n{}\n[… 8 lines]", line(3)));
        check(&lines, &[3, 6], &format!("…\n{}\n[… 5 lines]", lines[3..7].join("\n")));
        let verdicts: Vec<String> = (0..6).map(|test| format!("ok  \tshop/part_{test}\t(cached)")).collect();
        let verdicts: Vec<&str> = verdicts.iter().map(String::as_str).chain(["FAIL\tshop/till\t0.1s", "exit code 1"]).collect();
        check(&verdicts, &[7], "[… 7 lines: 1 failed, 6 ok]\nexit code 1");
        check(&["a line that is long", "}", "another such line"], &[0, 2], "a line that is long\n}\nanother such line");
    }

    #[test]
    fn an_extract_marks_gaps_and_keeps_the_shape_of_code() {
        let check = |text: &str, kept: &[usize], expected: &str| {
            let pieces: Vec<Piece<'_>> = text.lines().map(|line| Piece::line(Cow::Borrowed(line))).collect();
            let kept = (0..pieces.len()).map(|place| kept.contains(&place)).collect();
            assert_eq!(extract(&pieces, &KeptPieces { pieces: kept, ..KeptPieces::default() }), expected);
        };
        let code = "use a;\n    fn b() {\n        c();\n        d();\n\n    }\n    fn e() {\n";
        check(code, &[1, 3, 5, 6], "fn b() {\n…\n    d();\n}\nfn e() {");
        check("  10→fn b() {\n  11→    c();\n  12→    d();\n  13→    e();\n", &[0, 2, 3], "10→fn b() {\n12→    d();\n    e();");
        check("a\nb", &[], "");
        let heading = |name| Piece { lines: 0, ..Piece::line(Cow::Borrowed(name)) };
        let hit = |under| Piece { under: Some(under), ..Piece::line(Cow::Borrowed("3: let x = y;")) };
        let pieces = [heading("a.rs"), hit(0), heading("b.rs"), hit(2), heading("c.rs"), hit(4)];
        let kept = KeptPieces { pieces: vec![true, false, true, false, true, true], ..KeptPieces::default() };
        assert_eq!(extract(&pieces, &kept), "a.rs, b.rs\n…\nc.rs\n3: let x = y;");
    }

    #[test]
    fn numbers_tell_what_is_missing_before_them_and_a_mark_what_is_behind() {
        let lines: Vec<String> = (1..=20).map(|line| format!("{line}\tthe text of it, and more")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&lines, &[4, 8], "5\tthe text of it, and more\n…\n9\tthe text of it, and more\n[… 11 lines]");
    }

    #[test]
    fn gaps_in_a_line_or_under_a_heading_are_marked_in_its_line() {
        let line = "The first sentence is here and has many words. ".repeat(5);
        let pieces: Vec<Piece<'_>> = sentences(&line)
            .into_iter()
            .enumerate()
            .map(|(place, part)| Piece {
                inline: place > 0,
                lines: usize::from(place == 0),
                ..Piece::line(Cow::Borrowed(&line[part]))
            })
            .collect();
        let only = |place: usize| KeptPieces {
            pieces: (0..pieces.len()).map(|other| other == place).collect(),
            ..KeptPieces::default()
        };
        assert_eq!(rendered(&pieces, &only(0)), "The first sentence is here and has many words. […]");
        assert!(rendered(&pieces, &only(2)).starts_with("[…] The first"), "{}", rendered(&pieces, &only(2)));
        let hit = |text| Piece { under: Some(0), ..Piece::line(Cow::Borrowed(text)) };
        let hits = [Piece { lines: 0, ..Piece::line(Cow::Borrowed("src/a.rs")) }, hit("12: let x = y;"), hit("13: let z = x;")];
        let kept = KeptPieces { pieces: vec![true, false, false], ..KeptPieces::default() };
        assert_eq!(rendered(&hits, &kept), "src/a.rs …");
    }

    #[test]
    fn a_long_line_is_cut_where_a_name_ends() {
        let long = format!("{}\"deb.debian.org\",", "{\"name\":\"value_of_it\",".repeat(30));
        for part in parts_of_line(&long) {
            assert!(long[part.clone()].ends_with(['"', ',']), "{}", &long[part]);
        }
    }
}
