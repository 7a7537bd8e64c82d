//! One content at a level that somebody asked for.

use super::select::{IN_PLACE, Text, select};
use crate::engine::reduce::{Reducible, SUMMARIZED_TOKENS, bare, outline};
use crate::engine::tokens::estimate;
use crate::model::Level;
use rustc_hash::FxHashSet;

/// Share of a content that stays when it is trimmed, and the bytes that stay in any case.
const TRIMMED_SHARE: usize = 3;
const TRIMMED_BYTES: usize = 600;

/// What is known beside a content.
pub struct Context<'a> {
    /// The chance that a name is needed.
    pub name: &'a (dyn Fn(u32) -> f32 + Sync),
    /// The chance that one of its lines is.
    pub line: f32,
    /// What stands elsewhere.
    pub shown: &'a FxHashSet<u32>,
}

/// What is left of a content at a level, behind a marker line; none when that would not be shorter, or cannot be done.
///
/// A trimmed content keeps about a third, a summarized one at most 120 estimated tokens, and a minimal one nothing: its marker line says
/// what it was. A shorter level keeps nothing that a milder one does not.
/// `marker` gives the marker line, by whether no line of the content is left.
pub fn reduce(input: &Reducible<'_>, level: Level, marker: &dyn Fn(bool) -> String, context: &Context<'_>) -> Option<String> {
    let outline = outline(input)?;
    let texts: Vec<Text<'_>> = outline.texts().map(|pieces| Text { pieces, line: context.line, weight: 1.0 }).collect();
    let selection = select(&texts, context.name, context.shown, &IN_PLACE);
    let rendered = |choices: usize| outline.rendered(input.content, &selection.first(choices), "");
    let most = |fits: &dyn Fn(&str) -> bool| {
        let fits = |choices: usize| rendered(choices).is_none_or(|text| fits(&text));
        let (mut fitting, mut beyond) = (0, selection.choices() + 1);
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            if fits(middle) { fitting = middle } else { beyond = middle }
        }
        fitting
    };
    let summarized = || most(&|text| estimate(text) <= SUMMARIZED_TOKENS);
    let choices = match level {
        Level::Original => return None,
        Level::Minimal | Level::Archived => 0,
        Level::Summarized => summarized(),
        // Of tokens and bytes one may allow more: what is summarized is never more.
        Level::Trimmed => most(&|text| text.len() <= (input.content.len() / TRIMMED_SHARE).max(TRIMMED_BYTES)).max(summarized()),
    };
    let kept = selection.first(choices);
    outline.rendered(input.content, &kept, &marker(bare(&kept)))
}
