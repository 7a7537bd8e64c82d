//! Parses the arguments of a command.

use super::housekeeping::{self, parse};
use super::{Malformed, ModelCommand, Named};
use crate::engine::{Selector, SelectorError, TurnForm, TurnPriority, TurnRequest};
use crate::model::{Level, Pin, TurnList, Verb};
use std::ops::Range;

/// Limits of the search for the end of a command, in bytes.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Limit for arguments without their texts.
    pub arguments: usize,
    pub text: usize,
}

impl Bounds {
    /// Limit of a command within a text: a selector is short, so an end that is not near does not exist.
    pub const SAID: Bounds = Bounds { arguments: 1_000, text: 64 << 10 };
    /// No limits, for a text that is known to be a command.
    pub const NONE: Bounds = Bounds { arguments: usize::MAX, text: usize::MAX };
}

/// The arguments of a command, verbatim.
pub struct Pieces<'a> {
    text: &'a str,
    pieces: Vec<Range<usize>>,
    /// Bytes up to the closing parenthesis, inclusive.
    pub length: usize,
}

impl<'a> Pieces<'a> {
    fn get(&self, place: usize) -> &'a str {
        self.pieces.get(place).map_or("", |range| self.text[range.clone()].trim())
    }

    fn from(&self, place: usize) -> &'a str {
        let (first, last) = (self.pieces.get(place), self.pieces.last());
        first.zip(last).map_or("", |(first, last)| self.text[first.start..last.end].trim())
    }

    /// Returns true if the command is only mentioned: it has no arguments, or a placeholder instead of one.
    pub fn is_mention(&self) -> bool {
        let gap = |piece: &str| {
            let bare = piece.trim_matches('"');
            !bare.is_empty() && bare.chars().all(|c| matches!(c, '.' | '…'))
                || bare.starts_with(['<', '{', '$']) && !piece.starts_with('"')
        };
        let pieces: Vec<&str> = (0..self.pieces.len()).map(|place| self.get(place)).collect();
        matches!(pieces[..], [""]) || pieces.into_iter().any(gap)
    }
}

/// Splits the arguments at their commas, up to the closing parenthesis.
/// Errors: the parenthesis or the end of a text is missing.
pub fn split(text: &str, bounds: Bounds) -> Result<Pieces<'_>, Malformed> {
    let (mut at, mut start, mut depth, mut bare) = (0, 0, 0usize, 0);
    let mut pieces = Vec::new();
    while let Some(next) = text[at..].chars().next() {
        let here = at;
        at += next.len_utf8();
        match next {
            '"' => at += quoted(&text[at..], bounds.text).ok_or(Malformed::UnclosedText)?,
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => {
                pieces.push(start..here);
                return Ok(Pieces { text, pieces, length: at });
            }
            ',' if depth == 0 => {
                pieces.push(start..here);
                start = at;
            }
            '\n' if text[at..].starts_with('\n') => return Err(Malformed::Unclosed),
            _ => {}
        }
        bare += if next == '"' { 0 } else { next.len_utf8() };
        if bare > bounds.arguments {
            return Err(Malformed::Unclosed);
        }
    }
    Err(Malformed::Unclosed)
}

/// Returns the bytes of a text after its opening quotation mark, including the closing one.
fn quoted(rest: &str, longest: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().take(longest) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Parses the arguments of a command.
/// Errors: an argument is missing, or cannot be parsed.
pub fn interpret(verb: Verb, pieces: &Pieces<'_>) -> Result<ModelCommand, Malformed> {
    let mut command = ModelCommand::new(verb, Vec::new());
    if verb == Verb::Create {
        command.text = content(verb, pieces.from(0))?;
        return Ok(command);
    }
    if verb == Verb::Housekeeping {
        return parse(pieces.from(0)).map(housekeeping::command);
    }
    if verb == Verb::Recall {
        command.turns = turns(pieces)?;
        if command.turns.is_some() {
            return Ok(command);
        }
        let all: Vec<Result<Named, Malformed>> = (0..pieces.pieces.len()).map(|place| Named::read(pieces.get(place))).collect();
        let selectors = all.iter().all(|named| matches!(named, Ok(Named::Selector(_)))) && !pieces.get(0).starts_with('"');
        // Text that is not a selector is a search query.
        command.blocks = if selectors { all.into_iter().collect::<Result<_, _>>()? } else { vec![query(pieces.from(0))] };
        return Ok(command);
    }
    for place in 0..pieces.pieces.len() {
        let piece = pieces.get(place);
        if let Some(reason) = piece.strip_prefix("reason").and_then(|rest| rest.trim_start().strip_prefix([':', '='])) {
            let rest = &pieces.from(place)[piece.len() - reason.len()..];
            command.reason = text(rest.trim()).unwrap_or_else(|| rest.trim().to_owned());
            break;
        }
        let last = place > 0 && place + 1 == pieces.pieces.len();
        // Behind the blocks, a level or a place can be in quotation marks.
        let unquoted = text(piece).filter(|_| place > 0);
        let name = unquoted.as_deref().unwrap_or(piece);
        match (verb, Level::from_name(name), name) {
            (Verb::Expand | Verb::Compress, Some(level), _) => command.level = Some(checked_level(verb, level, piece)?),
            (Verb::Pin, _, "top") => command.pin = Pin::Top,
            (Verb::Pin, _, "bottom") => command.pin = Pin::Bottom,
            (Verb::Archive, ..) if last && text(piece).is_some() => command.reason = text(piece).unwrap_or_default(),
            (Verb::Update, ..) if last => command.text = content(verb, piece)?,
            _ if piece.is_empty() => return Err(Malformed::NoBlocks(verb)),
            _ => command.blocks.push(Named::unquoted(piece).map_or_else(|| Named::read(piece), Ok)?),
        }
    }
    if command.blocks.is_empty() {
        return Err(Malformed::NoBlocks(verb));
    }
    if verb == Verb::Update && command.text.is_empty() {
        return Err(Malformed::NoText(verb));
    }
    Ok(command)
}

/// Returns the request of `turns 3,7..9, summary`; `None` if the arguments do not begin with turns.
fn turns(pieces: &Pieces<'_>) -> Result<Option<TurnRequest>, Malformed> {
    let first = pieces.get(0).strip_prefix("turn").map(|rest| rest.strip_prefix('s').unwrap_or(rest));
    let first = first.filter(|rest| rest.starts_with(char::is_whitespace)).and_then(|rest| rest.trim().parse().ok());
    let Some(turns) = first else { return Ok(None) };
    let mut request = TurnRequest { turns, ..TurnRequest::default() };
    for piece in (1..pieces.pieces.len()).map(|place| pieces.get(place)) {
        if let Ok(more) = piece.parse::<TurnList>() {
            request.turns.extend(more);
        } else if let Some(form) = TurnForm::from_name(piece) {
            request.form = form;
        } else if let Some(priority) = TurnPriority::from_name(piece) {
            request.priority = Some(priority);
        } else {
            let unexpected = || Malformed::NotATurnForm { argument: piece.to_owned() };
            request.query = text(piece).filter(|_| request.query.is_empty()).ok_or_else(unexpected)?;
        }
    }
    Ok(Some(request))
}

/// Returns the level if the command can reduce blocks to it.
fn checked_level(verb: Verb, level: Level, piece: &str) -> Result<Level, Malformed> {
    let fits = match level {
        Level::Original => verb == Verb::Expand,
        Level::Trimmed | Level::Summarized => true,
        Level::Minimal => verb == Verb::Compress,
        Level::Archived => false,
    };
    if fits { Ok(level) } else { Err(Malformed::Unexpected { verb, argument: piece.to_owned() }) }
}

impl Named {
    /// Returns the selector in quotation marks, such as a zone or a number; `None` for other words, which are a topic.
    fn unquoted(piece: &str) -> Option<Named> {
        text(piece).filter(|inner| Selector::parse(inner).is_ok()).map(Named::Selector)
    }

    /// Parses a reference to blocks: a selector, or words.
    /// Errors: it is neither.
    pub fn read(piece: &str) -> Result<Named, Malformed> {
        let Err(error) = Selector::parse(piece) else { return Ok(Named::Selector(piece.to_owned())) };
        // Text without parentheses and symbols can be a topic.
        let word = |c: char| c.is_alphanumeric() || c.is_whitespace() || "-_'’./:+".contains(c);
        let words = piece.chars().all(word) && piece.chars().any(char::is_alphabetic);
        match error {
            SelectorError::UnknownName { .. } | SelectorError::Syntax { .. } if words => Ok(Named::Words(piece.to_owned())),
            error => Err(Malformed::Selector { error }),
        }
    }
}

fn query(words: &str) -> Named {
    Named::Words(text(words).unwrap_or_else(|| words.to_owned()))
}

/// Returns the new text of a block or a note.
fn content(verb: Verb, piece: &str) -> Result<String, Malformed> {
    // In user commands, a single dash means standard input.
    text(piece).filter(|text| !text.trim().is_empty() && text != "-").ok_or(Malformed::NoText(verb))
}

/// Returns the text in quotation marks; `None` if there is other text next to it.
fn text(piece: &str) -> Option<String> {
    let inner = piece.strip_prefix('"')?;
    let length = quoted(inner, usize::MAX).filter(|length| *length == inner.len())?;
    let mut text = String::with_capacity(length);
    let mut characters = inner[..length - 1].chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, false) => text.push(character),
            _ => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other @ ('"' | '\\')) => text.push(other),
                Some(other) => text.extend(['\\', other]),
                None => text.push('\\'),
            },
        }
    }
    Some(text)
}
