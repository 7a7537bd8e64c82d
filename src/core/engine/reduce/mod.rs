//! Reducers: split a content into pieces, and render it with only some of them.
//!
//! A reducer knows one kind of content: its units, and the lines with high salience. The strategy selects the kept pieces, for a
//! whole session at once. The strategy also enforces the common properties of all reducers (shorter or unchanged, milder levels are
//! longer, token limits), so that a reducer only handles its own content.

mod cause;
mod code;
mod difference;
mod hint;
mod input;
mod json;
mod lines;
pub mod marker;
mod media;
mod nesting;
mod outcome;
mod output;
mod paths;
mod piece;
mod prose;
mod salience;
mod search;
mod table;

pub use hint::hint;
pub use lines::{numbered, shown, without_number};
pub use media::described;
pub use outcome::{commit, failed_test, has_failed_tests, passed_and_failed};
pub use output::{is_progress, own_text};
pub use piece::{ALWAYS, KeptPieces, Line, Piece, extract, names, rendered};
pub use salience::{Style, declaration};

use crate::engine::content::encoded;
#[cfg(test)]
use crate::model::NO_MEDIA;
use crate::model::{BlockKind, Conventions, ENVELOPE_LINES, Media, Tool, ToolVerb};
use input::Rest;
use salience::exit_code;
use std::borrow::Cow;
use std::iter::once;
use std::ops::Range;

/// Tokens that a summarized content may take, as the estimate has them.
pub const SUMMARIZED_TOKENS: f64 = 120.0;
/// Bytes up to which a line says the exit code of a call, and no more.
const EXIT_CODE_BYTES: usize = 40;

/// Input of a reducer.
#[derive(Clone, Copy)]
pub struct Reducible<'a> {
    pub kind: BlockKind,
    /// The tool, for a tool use and its result.
    pub tool: Option<&'a Tool>,
    /// True if a tool result reports an error.
    pub error: bool,
    /// The images and documents in the content.
    pub media: &'a Media,
    /// The texts and names by which clients mark what they add to contents.
    pub conventions: &'a Conventions,
    /// The content as the model sees it (for a tool use: its input, a JSON object or a text).
    pub content: &'a str,
    /// The parts of the content that are always kept, as byte ranges in order.
    pub held: &'a [(u32, u32)],
}

#[cfg(test)]
impl<'a> Reducible<'a> {
    /// Returns a content without a tool or images, with the conventions of no client.
    fn plain(kind: BlockKind, content: &'a str) -> Reducible<'a> {
        Reducible { kind, tool: None, error: false, media: &NO_MEDIA, conventions: Default::default(), content, held: &[] }
    }
}

/// Knows the pieces of contents of one kind.
struct Reducer {
    #[cfg(test)]
    name: &'static str,
    /// True if it knows contents of this kind.
    fits: fn(&Reducible<'_>) -> bool,
    pieces: for<'a> fn(&Reducible<'a>) -> Vec<Piece<'a>>,
}

macro_rules! reducers {
    ($($name:ident)*) => { &[$(Reducer { #[cfg(test)] name: stringify!($name), fits: $name::fits, pieces: $name::pieces }),*] };
}

/// All reducers; the first that matches a content is used, and the last one matches every content.
static REDUCERS: &[Reducer] = reducers! { media json difference search paths table prose output code };

fn reducer(input: &Reducible<'_>) -> Option<&'static Reducer> {
    REDUCERS.iter().find(|reducer| (reducer.fits)(input))
}

/// The pieces of a content: those of its text, or of each long text in the input of a tool.
pub struct Outline<'a> {
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    pieces: Vec<Piece<'a>>,
    /// Range in the input of a tool, as it is written; `None` if it is the whole content.
    place: Option<Range<usize>>,
    style: Style,
    /// Of a list of entries, its first one before and after its text: the list stays, or that entry says what it was.
    entry: Option<[String; 2]>,
}

/// Returns the pieces of a content; `None` for thinking, which is signed, and for an input without a long text.
pub fn outline<'a>(input: &Reducible<'a>) -> Option<Outline<'a>> {
    match input.kind {
        BlockKind::Thinking => None,
        BlockKind::ToolUse => {
            let names = &input.conventions.inputs;
            let is_plan = input.tool.is_some_and(|tool| tool.verb == ToolVerb::Plan);
            let plan = if is_plan { input.conventions.plans.list(input.content) } else { None };
            input::outline(input.content, names, plan).or_else(|| input::text_outline(input.content, names))
        }
        _ => {
            let mut pieces = readable_pieces(input)?;
            weigh_additions(&mut pieces, input);
            Some(Outline { parts: vec![Part { pieces, place: None, style: Style::detect(input), entry: None }] })
        }
    }
}

/// Takes the weight from the pieces of a content that are not its own: the status of a call, reminders of the client in a result, the
/// confirmation of an edit, whose call names the file at every level, and comments that a page does not show.
fn weigh_additions(pieces: &mut [Piece<'_>], input: &Reducible<'_>) {
    let is_page = Style::detect(input) != Style::Code;
    let tags: &[&str] = if input.kind == BlockKind::ToolResult { &input.conventions.reminder_lines } else { &[] };
    let is_edit = |tool: &&Tool| input.kind == BlockKind::ToolResult && tool.verb == ToolVerb::Edit && !input.error;
    let edited = input.tool.filter(is_edit).map(|tool| &*tool.target).filter(|file| !file.is_empty());
    let mut reminder: Option<String> = None;
    for (place, piece) in pieces.iter_mut().enumerate() {
        let text = piece.text.trim();
        let opened = || tags.iter().find(|tag| text.starts_with(**tag)).map(|tag| tag.replacen('<', "</", 1));
        reminder = reminder.or_else(opened).filter(|end| input.content.contains(end.as_str()));
        let is_comment = is_page && text.starts_with("<!--") && text.ends_with("-->");
        let ends = reminder.as_ref().is_some_and(|end| text.ends_with(end.as_str()));
        let is_status = input.conventions.is_envelope(place, &piece.text);
        let confirms = edited.is_some_and(|file| text.contains(file));
        if reminder.is_some() || is_comment || is_status || confirms {
            (piece.nameless, piece.salience) = (true, 0.0);
        }
        if is_status {
            piece.lines = 0;
        }
        if ends {
            reminder = None;
        }
    }
}

/// The pieces of a content without base64 data, which has a note in its place.
fn readable_pieces<'a>(input: &Reducible<'a>) -> Option<Vec<Piece<'a>>> {
    match encoded::without_data(input.content) {
        Cow::Owned(content) if input.held.is_empty() => {
            let input = Reducible { content: &content, ..*input };
            Some((reducer(&input)?.pieces)(&input).into_iter().map(Piece::into_owned).collect())
        }
        _ if input.held.is_empty() => Some((reducer(input)?.pieces)(input)),
        _ => Some(around_held(input)),
    }
}

/// The pieces of a content of which each held part is one piece, byte for byte.
fn around_held<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let content = input.content;
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut end = 0;
    let add = |pieces: &mut Vec<Piece<'a>>, between: &'a str| {
        // The end of the line of a held part is not a line of its own.
        let (rest, inline) = match between.strip_prefix('\n').filter(|_| !pieces.is_empty()) {
            Some(rest) => (rest, false),
            None => (between, !pieces.is_empty()),
        };
        if rest.trim().is_empty() {
            return;
        }
        let first = pieces.len();
        let part = Reducible { content: rest, held: &[], ..*input };
        pieces.extend(reducer(&part).map(|reducer| (reducer.pieces)(&part)).unwrap_or_default());
        for piece in &mut pieces[first..] {
            piece.under = piece.under.map(|under| under + first);
        }
        if let Some(piece) = pieces.get_mut(first).filter(|_| inline) {
            piece.inline = true;
        }
    };
    for (start, stop) in input.held.iter().map(|(start, stop)| (*start as usize, *stop as usize)) {
        // An invalid range of this content is ignored.
        let (Some(between), Some(held)) = (content.get(end..start), content.get(start..stop)) else { continue };
        add(&mut pieces, between);
        let inline = start > 0 && !content[..start].ends_with('\n') && !pieces.is_empty();
        let piece = Piece { salience: ALWAYS, lines: held.lines().count(), inline, held: true, ..Piece::line(held.into()) };
        pieces.push(piece);
        end = stop;
    }
    add(&mut pieces, &content[end..]);
    pieces
}

impl<'a> Outline<'a> {
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &[Piece<'a>]> {
        self.parts.iter().map(|part| &*part.pieces)
    }

    /// Returns the pieces of a content that is a text.
    pub fn into_pieces(self) -> Vec<Piece<'a>> {
        self.parts.into_iter().next().filter(|part| part.place.is_none()).map(|part| part.pieces).unwrap_or_default()
    }

    /// Renders a content with the kept pieces of each text, after a marker line; `None` if it cannot be written.
    ///
    /// `kept` has one element for each of [`Outline::texts`]. A text without kept pieces becomes the marker line, with the held
    /// parts.
    pub fn rendered(&self, content: &str, kept: &[KeptPieces], marker: &str) -> Option<String> {
        let is_output = self.parts.iter().all(|part| part.style == Style::Output);
        match (self.text(), kept) {
            (None, kept) => self.assembled(content, kept, marker),
            (Some(pieces), [kept]) if kept.is_none() => Some(behind(marker, held_lines(pieces))),
            (Some(pieces), [kept]) if is_output => Some(behind(marker, rendered(pieces, &with_exit_code(pieces, kept)))),
            (Some(pieces), [kept]) => Some(behind(marker, rendered(pieces, kept))),
            (Some(_), _) => None,
        }
    }

    /// Returns `left`, which was rendered without a marker line, after one.
    pub fn marked(&self, content: &str, kept: &[KeptPieces], left: String, marker: &str) -> Option<String> {
        if self.text().is_none() { self.assembled(content, kept, marker) } else { Some(behind(marker, left)) }
    }

    fn text(&self) -> Option<&[Piece<'a>]> {
        if let [Part { pieces, place: None, .. }] = &*self.parts { Some(pieces) } else { None }
    }

    /// Returns the input of a tool with the kept pieces of its texts. Each text of which nothing is left says its own lines, and the
    /// longest one also its names.
    fn assembled(&self, content: &str, kept: &[KeptPieces], marker: &str) -> Option<String> {
        let length = |part: &Part<'_>| part.place.as_ref().map_or(0, ExactSizeIterator::len);
        let longest = self.parts.iter().map(length).max();
        let texts = self.parts.iter().zip(kept).filter_map(|(part, kept)| {
            let rest = match kept.is_none() {
                true => Rest::Told(hint::told(&part.pieces, part.style, longest == Some(length(part)))),
                false if part.entry.is_some() => return None,
                false => Rest::Some(rendered(&part.pieces, kept)),
            };
            Some((part.place.clone()?, part.entry.as_ref(), rest))
        });
        input::assembled(content, marker, texts)
    }
}

/// The held pieces alone, each on lines of its own.
fn held_lines(pieces: &[Piece<'_>]) -> String {
    pieces.iter().filter(|piece| piece.held).map(|piece| &*piece.text).collect::<Vec<_>>().join("\n")
}

/// Returns the kept pieces of the output of a call that failed with its exit code: it stays wherever another line does.
fn with_exit_code(pieces: &[Piece<'_>], kept: &KeptPieces) -> KeptPieces {
    let is_failure = |piece: &Piece<'_>| piece.text.len() <= EXIT_CODE_BYTES && exit_code(once(&*piece.text)).is_some();
    let mut kept = kept.clone();
    if let Some(code) = pieces.iter().take(ENVELOPE_LINES).position(is_failure) {
        kept.pieces[code] = true;
    }
    kept
}

/// Returns a text after a marker line; if one of them is empty, only the other one.
fn behind(marker: &str, text: String) -> String {
    match () {
        () if marker.is_empty() => text,
        () if text.is_empty() => marker.to_owned(),
        () => format!("{marker}\n{text}"),
    }
}

/// True if no line of a content is left.
pub fn bare(kept: &[KeptPieces]) -> bool {
    !kept.iter().any(|kept| kept.pieces.contains(&true))
}

/// True if the content is a placeholder for a picture or a document.
fn is_placeholder(input: &Reducible<'_>) -> bool {
    match input.kind {
        BlockKind::Image => true,
        BlockKind::Document => input.content == Media::DOCUMENT,
        _ => false,
    }
}

/// Checks how a content reads of which all pieces are kept.
#[cfg(test)]
fn check_pieces(name: &str, verb: ToolVerb, content: &str, expected: &str) {
    let tool = Tool::new("T", verb, "t");
    let input = Reducible { tool: Some(&tool), ..Reducible::plain(BlockKind::ToolResult, content) };
    let reducer = REDUCERS.iter().find(|reducer| reducer.name == name).unwrap();
    assert!((reducer.fits)(&input));
    let pieces = (reducer.pieces)(&input);
    let kept = KeptPieces { pieces: vec![true; pieces.len()], ..KeptPieces::default() };
    assert_eq!(rendered(&pieces, &kept), expected);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Image, InputNames};

    /// A content for each reducer: its name, the kind of the block, the tool, its target, the content.
    fn examples() -> Vec<(&'static str, BlockKind, ToolVerb, &'static str, String)> {
        let result = BlockKind::ToolResult;
        let json = format!("{{\"items\": [{}]}}", ["{\"name\": \"a_b\", \"size\": 12}"; 12].join(", "));
        let difference = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n-let a = 1;\n+let a = 2;\n";
        let hits: String = (1..9).map(|line| format!("src/a.rs:{line}:let value_{line} = {line};\n")).collect();
        let paths: String = (1..9).map(|file| format!("/w/src/part_{file}.rs\n")).collect();
        let table: String = (1..9).map(|row| format!("| name {row} | {row} | ok |\n")).collect();
        let text = "It was decided. The rest follows from that.\n";
        vec![
            ("media", BlockKind::Image, ToolVerb::Other, "", String::new()),
            ("json", result, ToolVerb::Run, "", json),
            ("difference", result, ToolVerb::Run, "", difference.to_owned()),
            ("search", result, ToolVerb::Search, "", hits),
            ("paths", result, ToolVerb::Search, "", paths),
            ("table", result, ToolVerb::Run, "", table),
            ("prose", BlockKind::Text, ToolVerb::Other, "", text.repeat(9)),
            ("output", result, ToolVerb::Run, "", "building part 7\nwarning: unused name\ndone\n".to_owned()),
            ("code", result, ToolVerb::Read, "a.rs", "fn main() {\n    run();\n}\n".to_owned()),
        ]
    }

    #[test]
    fn the_confirmation_of_an_edit_says_nothing_that_its_call_does_not() {
        let content = "The file /w/a.rs has been updated:\n1\tlet tax = net.round();";
        let weights = |verb, error| {
            let tool = Tool::new("T", verb, "/w/a.rs");
            let input = Reducible { tool: Some(&tool), error, ..Reducible::plain(BlockKind::ToolResult, content) };
            outline(&input).unwrap().into_pieces().iter().map(|piece| piece.nameless).collect::<Vec<_>>()
        };
        assert_eq!(weights(ToolVerb::Edit, false), [true, false]);
        assert_eq!(weights(ToolVerb::Edit, true), [false, false]);
        assert_eq!(weights(ToolVerb::Run, false), [false, false]);
    }

    #[test]
    fn base64_data_is_one_piece() {
        let data: String = (0..40u32).map(|line| format!("{}\n", format!("aB{}/", line % 10).repeat(19))).collect();
        let content = format!("reading the file\n{data}error: it ended early\n");
        let input = Reducible::plain(BlockKind::ToolResult, &content);
        let outline = outline(&input).unwrap();
        let pieces = outline.texts().next().unwrap();
        let texts: Vec<&str> = pieces.iter().map(|piece| &*piece.text).collect();
        assert_eq!(texts, ["reading the file", "(base64, 3 kB)", "error: it ended early"]);
        assert!(!hint(&input, 60).contains("aB"), "{}", hint(&input, 60));
    }

    #[test]
    fn additions_to_a_result_weigh_nothing() {
        let conventions = Conventions { reminder_lines: vec!["<note>"], ..Conventions::default() };
        let weightless = |kind: BlockKind, content: &str| -> Vec<bool> {
            let input = Reducible { conventions: &conventions, ..Reducible::plain(kind, content) };
            outline(&input).unwrap().texts().flatten().map(|piece| piece.nameless).collect()
        };
        let content = "error: no\n<!-- MARK_ER -->\n<note>\nread a_b\n</note>\nerror: two";
        assert_eq!(weightless(BlockKind::ToolResult, content), [false, true, true, true, true, false]);
        assert!(!weightless(BlockKind::ToolResult, "<note>\nread a_b").contains(&true));
        let text = "First one.\n<note>\nread a_b\n</note>";
        assert!(!weightless(BlockKind::Text, text).contains(&true));
    }

    #[test]
    fn each_text_of_an_input_says_its_own_lines() {
        let (old, new) =
            ("\n    let total = price_of(row) * count;".repeat(5), "fn price() {\n    row.price_in_cents();\n}\n".repeat(9));
        let inputs = InputNames { written: vec!["new_string"], replaced: vec!["old_string"], ..InputNames::default() };
        let conventions = Conventions { inputs, ..Conventions::default() };
        let content = serde_json::json!({"file_path": "/a.rs", "old_string": old, "new_string": new}).to_string();
        let input = Reducible { conventions: &conventions, ..Reducible::plain(BlockKind::ToolUse, &content) };
        let outline = outline(&input).unwrap();
        let none: Vec<KeptPieces> = outline.texts().map(|pieces| KeptPieces::none(pieces.len())).collect();
        let value: serde_json::Value =
            serde_json::from_str(&outline.rendered(&content, &none, "[@7 | minimal from 99]").unwrap()).unwrap();
        assert_eq!((hint(&input, 40), &value["old_string"]), (String::new(), &"[@7 | minimal from 99 | 6 lines]".into()));
        assert_eq!(value["new_string"], "[… 27 lines: fn price, fn price, fn price]");
    }

    #[test]
    fn each_reducer_is_reached_by_contents_of_its_own() {
        let examples = examples();
        for reducer in REDUCERS {
            let name = reducer.name;
            let (_, kind, verb, target, content) =
                examples.iter().find(|(of, ..)| *of == name).unwrap_or_else(|| panic!("no example for {name}"));
            let tool = Tool::new("T", *verb, target);
            let images =
                if *kind == BlockKind::Image { vec![Image { width: 9, height: 9, bytes: 0, fault: None }] } else { Vec::new() };
            let media = Media { images, ..Media::default() };
            let input = Reducible { tool: Some(&tool), media: &media, ..Reducible::plain(*kind, content) };
            assert!(outline(&input).is_some() && super::reducer(&input).is_some_and(|reducer| reducer.name == name));
        }
        assert_eq!(examples.len(), REDUCERS.len(), "an example for a reducer that is not there");
    }
}
