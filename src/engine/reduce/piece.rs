//! Pieces: what is kept of a content or left out as one, and how a content reads of which pieces were left out.

use super::lines::{count_lines, is_numbered_line, lines, without_number};
use super::telling::{Sign, Style, sign};
use crate::engine::terms;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a line from which it is more than one piece, and about how long its pieces are.
const LONG_LINE_BYTES: usize = 480;
const LONG_LINE_PIECE_BYTES: usize = 160;
/// Bytes of a paragraph from which on its sentences are pieces, and of a sentence worth the name.
const SENTENCES_BYTES: usize = 200;
const LEAST_SENTENCE_BYTES: usize = 24;
/// Bytes around a name that are shown with it, so that `id.CheckpointID` and `main.rs:12` stay whole.
const NAME_BYTES: usize = 80;
/// Bytes of a gap's mark without its names.
const MARK_BYTES: usize = 16;

/// A line, a sentence or an entry of a content.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// How it reads.
    pub text: Cow<'a, str>,
    /// What it tells by itself, beside its names: as the chance that it is needed.
    pub tells: f32,
    /// The piece without which it cannot be understood, such as the file of a search hit.
    pub under: Option<usize>,
    /// How many lines of the content it stands for.
    pub lines: usize,
    /// Whether it goes on on the line of the piece before.
    pub inline: bool,
    /// Whether it only repeats the form of one before: its names count, the line itself does not.
    pub again: bool,
}

impl<'a> Piece<'a> {
    /// A line that tells no more than its names.
    pub fn line(text: Cow<'a, str>) -> Piece<'a> {
        Piece { text, tells: 0.0, under: None, lines: 1, inline: false, again: false }
    }

    /// The same, independent of the content that it was cut from.
    pub fn into_owned<'b>(self) -> Piece<'b> {
        Piece { text: Cow::Owned(self.text.into_owned()), ..self }
    }
}

/// What lines of one sign tell: error lines are nearly always worth a place, declarations often.
pub fn tells(line: &str, style: Style) -> f32 {
    match sign(line, style) {
        Some(Sign::Error | Sign::Total) => 0.003,
        Some(Sign::Warning) => 0.001,
        Some(Sign::Declaration | Sign::Heading) => 0.0005,
        None => 0.0,
    }
}

/// The lines of a text as pieces, very long ones in several.
pub fn line_pieces(text: &str, style: Style) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for line in lines(text) {
        let tells = tells(&line, style);
        if line.len() <= LONG_LINE_BYTES {
            pieces.push(Piece { tells, ..Piece::line(line) });
            continue;
        }
        for (place, part) in parts_of_line(&line).into_iter().enumerate() {
            let text = match &line {
                Cow::Borrowed(line) => Cow::Borrowed(&line[part]),
                Cow::Owned(line) => Cow::Owned(line[part].to_owned()),
            };
            let first = place == 0;
            pieces.push(Piece {
                tells: if first { tells } else { 0.0 },
                lines: usize::from(first),
                inline: !first,
                ..Piece::line(text)
            });
        }
    }
    pieces
}

/// The sentences of a line; of a short one all of it.
pub fn sentences(line: &str) -> Vec<Range<usize>> {
    if line.len() <= SENTENCES_BYTES {
        return std::iter::once(0..line.len()).collect();
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices([' ', '\t']) {
        if line[..at].ends_with(['.', '!', '?', ';', ':', '。']) && at - start >= LEAST_SENTENCE_BYTES {
            parts.push(start..at + 1);
            start = at + 1;
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
fn parts_of_line(line: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while line.len() - start > LONG_LINE_PIECE_BYTES * 2 {
        let window = ceiling(line, start + LONG_LINE_PIECE_BYTES / 2)..ceiling(line, start + LONG_LINE_PIECE_BYTES * 3 / 2);
        let text = &line[window.clone()];
        let end = [". ", "; ", ", ", " "].iter().find_map(|mark| text.find(mark).map(|at| window.start + at + mark.len()));
        let end = end.unwrap_or(window.end);
        parts.push(start..end);
        start = end;
    }
    parts.push(start..line.len());
    parts
}

/// The first boundary of a character at or after a place.
fn ceiling(text: &str, mut place: usize) -> usize {
    place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}

/// A name in a piece: its hash, and where it stands.
pub struct Name {
    /// The hash under which it is known.
    pub term: u32,
    /// Where it stands in the text of the piece.
    pub range: Range<usize>,
}

/// The whole of a piece: its hash, and whether an agent may quote it.
pub struct Line {
    /// The hash under which it is known.
    pub term: u32,
    /// Whether it is of a length that agents quote.
    pub quotable: bool,
}

/// The names of a piece, what it has between backticks among them, and the piece as a whole unless it is blank.
pub fn names(text: &str) -> (Vec<Name>, Option<Line>) {
    let content = without_number(text).trim();
    let start = content.as_ptr() as usize - text.as_ptr() as usize;
    let mut found = Vec::new();
    let mut add = |name: &str| {
        let at = start + (name.as_ptr() as usize - content.as_ptr() as usize);
        found.push(Name { term: terms::hash(name), range: at..at + name.len() });
    };
    terms::names(content, &mut add);
    terms::quoted(content, b'`', &mut add);
    let line = Line { term: terms::hash(content), quotable: terms::is_quotable(content) };
    (found, content.contains(char::is_alphanumeric).then_some(line))
}

/// A name together with what stands around it without a blank, such as its path, its owner or its line number. What stands
/// between backticks is whole; words keep the marks.
pub fn whole_name(text: &str, name: Range<usize>) -> Range<usize> {
    if text[..name.start].ends_with('`') && text[name.end..].starts_with('`') {
        return if text[name.clone()].contains(' ') { name.start - 1..name.end + 1 } else { name };
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | ':' | '@');
    let before = text[..name.start].char_indices().rev().take_while(|(_, c)| is_part(*c)).last();
    let start = before.map_or(name.start, |(place, _)| place);
    let after = text[name.end..].char_indices().take_while(|(_, c)| is_part(*c)).last();
    let end = after.map_or(name.end, |(place, c)| name.end + place + c.len_utf8());
    let trimmed = text[start..end].trim_end_matches(['.', ':', '-', '/', '@']);
    let end = (start + trimmed.len()).max(name.end);
    let end = if text[end..].starts_with("()") { end + 2 } else { end };
    let lead = text[start..end].len() - text[start..end].trim_start_matches([':', '-', '.']).len();
    let whole = (start + lead).min(name.start)..end;
    if whole.len() <= NAME_BYTES { whole } else { name }
}

/// What is kept of the pieces of one text.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Whether each piece is kept.
    pub pieces: Vec<bool>,
    /// Names that are shown of pieces that are not.
    pub names: BTreeMap<usize, Vec<Range<usize>>>,
}

/// How a text reads of which only some pieces are kept. What is left out is counted where it stood, with the names that are
/// still worth a place: `[… 43 lines: parse_row, main.rs]`. A gap that is shorter than its mark stays.
pub fn rendered(pieces: &[Piece<'_>], kept: &Kept) -> String {
    let mut text = String::new();
    let mut gap: Option<usize> = None;
    let push = |text: &mut String, part: &str, inline: bool| {
        if !text.is_empty() {
            text.push(if inline { ' ' } else { '\n' });
        }
        text.push_str(part);
    };
    let mut place = 0;
    while place <= pieces.len() {
        let is_kept = place == pieces.len() || kept.pieces[place];
        match (gap, is_kept) {
            (None, false) => gap = Some(place),
            (Some(from), true) => {
                let mark = mark(pieces, kept, from..place);
                let bytes: usize = pieces[from..place].iter().map(|piece| piece.text.len() + 1).sum();
                if pieces[from..place].iter().all(|piece| piece.text.trim().is_empty()) {
                    // Blank lines need no mark, and more than one says no more.
                    push_piece(&mut text, &pieces[from]);
                } else if bytes > mark.len() + 1 {
                    push(&mut text, &mark, pieces[from].inline);
                } else {
                    pieces[from..place].iter().for_each(|piece| push_piece(&mut text, piece));
                }
                gap = None;
            }
            _ => {}
        }
        if place < pieces.len() && is_kept {
            push_piece(&mut text, &pieces[place]);
        }
        place += 1;
    }
    text
}

fn push_piece(text: &mut String, piece: &Piece<'_>) {
    if !text.is_empty() {
        // The parts of a line follow each other as they did, unless a mark stands between.
        if !piece.inline {
            text.push('\n');
        } else if text.ends_with(']') {
            text.push(' ');
        }
    }
    text.push_str(&piece.text);
}

fn mark(pieces: &[Piece<'_>], kept: &Kept, gap: Range<usize>) -> String {
    let lines: usize = pieces[gap.clone()].iter().map(|piece| piece.lines).sum();
    let mut names: Vec<&str> = Vec::new();
    for (place, ranges) in kept.names.range(gap.clone()) {
        for range in ranges {
            let name = &pieces[*place].text[whole_name(&pieces[*place].text, range.clone())];
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    // Lines with numbers tell by themselves how many are missing between them.
    let numbered = pieces.get(gap.end).or(pieces.get(gap.start)).is_some_and(|piece| is_numbered_line(&piece.text));
    if numbered && names.is_empty() {
        return "…".to_owned();
    }
    let lines = if numbered { 0 } else { lines };
    let mut mark = String::with_capacity(MARK_BYTES);
    mark.push_str("[…");
    if lines > 0 {
        mark.push(' ');
        mark.push_str(&count_lines(lines));
    }
    if !names.is_empty() {
        mark.push_str(if lines > 0 { ": " } else { " " });
        mark.push_str(&names.join(", "));
    }
    mark.push(']');
    mark
}

impl Kept {
    /// Nothing of so many pieces.
    pub fn none(pieces: usize) -> Kept {
        Kept { pieces: vec![false; pieces], names: BTreeMap::new() }
    }

    /// Whether nothing is kept.
    pub fn is_none(&self) -> bool {
        !self.pieces.contains(&true) && self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_a_name() {
        let text = "  12→run `mise run lint` or `go vet`, see `json.Indent()`";
        let whole = names(text).0.into_iter().map(|name| &text[whole_name(text, name.range)]).collect::<Vec<_>>();
        assert_eq!(whole, ["`mise run lint`", "json.Indent()"]);
    }
}
