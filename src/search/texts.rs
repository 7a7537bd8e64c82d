//! The texts of turns that vectors are made of.

use super::source::Source;
use crate::engine::search::prompt_content;
use crate::engine::sidecar::excerpt;
use crate::fsio::Disk;
use crate::model::{TraceContent, TraceEvent};
use crate::workspace::TracePosition;
use rustc_hash::FxHashMap;
use std::io;

/// The maximum size of a text, in characters: models for vectors read a few hundred tokens.
const MOST_CHARACTERS: usize = 1_200;
/// The part of it that the prompt may take, in characters.
const PROMPT_CHARACTERS: usize = 600;

/// Returns the texts of the turns of a session that begin with a prompt, by the content of the turn in the index: the prompt and the
/// answers.
/// Errors: the session cannot be read.
pub fn turn_texts(disk: &dyn Disk, source: &Source) -> io::Result<FxHashMap<u64, String>> {
    let mut turns: FxHashMap<u32, (u64, String, String)> = FxHashMap::default();
    source.read(disk, &mut TracePosition::default(), &mut |_, event: TraceEvent| match &event.content {
        TraceContent::Prompt { text, .. } => {
            turns.entry(event.turn).or_insert_with(|| (prompt_content(&event), text.clone(), String::new()));
        }
        TraceContent::Answer(text) => {
            if let Some((_, _, answers)) =
                turns.get_mut(&event.turn).filter(|(_, _, answers)| answers.len() < 4 * MOST_CHARACTERS)
            {
                answers.push_str(text);
                answers.push('\n');
            }
        }
        _ => {}
    })?;
    let text = |(content, prompt, answers): (u64, String, String)| {
        let prompt = excerpt(prompt.trim(), PROMPT_CHARACTERS);
        let left = MOST_CHARACTERS.saturating_sub(prompt.chars().count());
        (content, format!("{prompt}\n{}", excerpt(answers.trim(), left)))
    };
    Ok(turns.into_values().map(text).collect())
}
