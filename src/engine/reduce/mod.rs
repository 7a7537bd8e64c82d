//! Reducers: a content and a level give a shorter content.
//!
//! A reducer knows one kind of content. The laws that all of them keep (shorter or nothing, milder levels are longer, bounds
//! in tokens) are kept here, once, so that a reducer need only be right about its own content.

mod extract;
mod hint;
mod input;
mod later;
mod lines;
mod media;
mod telling;
#[cfg(test)]
mod tests;
mod text;
mod trim;
mod untouched;

pub use hint::hint;
pub use input::{text_input, tool_input};
pub use later::LaterLines;

use super::tokens::estimate;
use crate::model::{BlockKind, Image, Level, Tool};

/// Tokens that a summarized content may take, as [`estimate`] has them.
const SUMMARIZED_TOKENS: f64 = 120.0;
/// Tokens that a minimal content may take, as [`estimate`] has them.
const MINIMAL_TOKENS: f64 = 40.0;
/// Bytes that a reducer saves at least, beside a tenth of the content: less is not worth a marker and a lost detail.
const SAVED_BYTES: usize = 40;

/// What a reducer is given.
#[derive(Clone, Copy)]
pub struct Reducible<'a> {
    /// What the block is made of.
    pub kind: BlockKind,
    /// The tool, for a tool use and its result.
    pub tool: Option<&'a Tool>,
    /// Whether a tool result reports an error.
    pub error: bool,
    /// Images in the content, by pixel size.
    pub images: &'a [Image],
    /// The content as the model sees it (for a tool use: its input, a JSON object or a text).
    pub content: &'a str,
    /// Whether a line stands again in a later result.
    pub repeated: &'a dyn Fn(&str) -> bool,
}

/// Makes contents of one kind shorter.
trait Reducer: Sync {
    /// Its name, for tests and reports.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name the reducer that broke a law"))]
    fn name(&self) -> &'static str;
    /// Whether it knows contents of this kind.
    fn fits(&self, input: &Reducible<'_>) -> bool;
    /// A shorter form, which [`lawful`] may still turn down.
    fn reduce(&self, input: &Reducible<'_>, level: Level) -> Option<String>;
}

/// All reducers; the first that fits a content is taken, and the last one fits every content.
static REDUCERS: &[&dyn Reducer] = &[&untouched::Untouched, &media::Media, &text::Text];

/// The content at a shorter level, without its marker line; `None` when that would not be shorter, or cannot be done.
///
/// A result is at least 40 bytes and a tenth shorter than the content; where images stand in the content it is the images
/// that are saved, and their description may be longer than what stood for them. A summarized content takes at most 120
/// estimated tokens, a minimal one 40 and one line. No result is longer than one of a milder level. Inputs of tools have
/// [`tool_input`] and [`text_input`]; thinking is never changed.
pub fn reduce(input: &Reducible<'_>, level: Level) -> Option<String> {
    let reducer = REDUCERS.iter().find(|reducer| reducer.fits(input))?;
    lawful(*reducer, input, level)
}

/// What a reducer makes of a content, if that keeps the laws; else what it made of it at a milder level, if that does.
fn lawful(reducer: &dyn Reducer, input: &Reducible<'_>, level: Level) -> Option<String> {
    if matches!(level, Level::Original | Level::Archived) {
        return None;
    }
    let mut best: Option<String> = None;
    let mut longest = usize::MAX;
    for milder in [Level::Trimmed, Level::Summarized, Level::Minimal].into_iter().filter(|milder| *milder <= level) {
        let kept = best.take().filter(|text| fits_level(text, milder));
        let made = reducer.reduce(input, milder).filter(|text| {
            let saves = media::shows(input) || is_shorter(text, input.content);
            saves && text.len() <= longest && fits_level(text, milder) && !text.trim().is_empty()
        });
        best = made.into_iter().chain(kept).min_by_key(String::len);
        longest = best.as_ref().map_or(longest, String::len);
    }
    best
}

/// Whether a text is short enough for a level.
fn fits_level(text: &str, level: Level) -> bool {
    match level {
        Level::Summarized => estimate(text) <= SUMMARIZED_TOKENS,
        Level::Minimal => estimate(text) <= MINIMAL_TOKENS && !text.contains('\n'),
        _ => true,
    }
}

/// Whether a text is so much shorter than another that it is worth standing in its place.
fn is_shorter(text: &str, content: &str) -> bool {
    text.len() + SAVED_BYTES <= content.len() && text.len() <= content.len() / 10 * 9
}

/// Whether the content is no text but stands for a picture or a document.
fn is_placeholder(input: &Reducible<'_>) -> bool {
    match input.kind {
        BlockKind::Image => true,
        BlockKind::Document => input.content == media::DOCUMENT,
        _ => false,
    }
}
