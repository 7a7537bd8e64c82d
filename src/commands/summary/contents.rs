//! The contents of blocks as they were before any change.

use crate::app::{CommandError, Env};
use crate::engine::pack::{Source, Sources, contents_of};
use crate::engine::summary::{Contents, needed};
use crate::model::{Block, BlockNumber, Role};
use crate::output::printable;
use crate::workspace::{PlanError, Workspace};
use rayon::prelude::*;

/// Returns the contents that a summary is made from: the originals, so that a summary of a shortened session equals that of before.
pub fn contents(env: &Env, workspace: &Workspace<'_>) -> Result<Contents, CommandError> {
    let reading = &workspace.reading;
    Ok(contents_of(reading, &originals(env, workspace, &needed(reading))?))
}

/// Returns the originals of blocks, without credentials and control characters. A block whose original is unknown has its current
/// content.
pub fn originals(env: &Env, workspace: &Workspace<'_>, numbers: &[BlockNumber]) -> Result<Sources, CommandError> {
    let reading = &workspace.reading;
    let clean = |text: &str| printable(&reading.known.mask(text)).into_owned();
    let source = |block: &Block, content: &str, readable: &str| Source {
        target: clean(block.target()),
        text: clean(if block.role == Role::ToolUse { content } else { readable }),
        words: block.words_in(content).map(clean).collect(),
    };
    let current = |numbers: &[BlockNumber]| -> Result<Vec<(BlockNumber, Source)>, CommandError> {
        let contents = numbers.par_iter().zip(workspace.contents(numbers)?);
        Ok(contents
            .filter_map(|(number, content)| Some((*number, source(reading.block(*number)?, &content.sent, &content.readable))))
            .collect())
    };
    if workspace.history.operations.is_empty() {
        return Ok(current(numbers)?.into_iter().collect());
    }
    let store = env.existing_store()?;
    let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    let mut sources = Sources::default();
    for number in numbers {
        match draft.original(*number) {
            Ok(original) => drop(sources.insert(*number, source(&original.block, &original.content, &original.readable))),
            Err(PlanError::NoOriginal(_)) => sources.extend(current(&[*number])?),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sources)
}
