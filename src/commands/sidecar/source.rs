//! The contents of a session that a local model works on: found by their addresses, and read from their originals.

use crate::app::{CommandError, Env};
use crate::commands::summary::{contents, originals};
use crate::engine;
use crate::engine::sidecar::{
    SidecarSubject, SidecarTask, SubjectPlace, boundary_text, comparison, echo_text, excerpt, subjects,
};
use crate::engine::summary::summarize;
use crate::model::{Block, BlockNumber, Housekeeping, Key, Level, Role};
use crate::workspace::Workspace;
use rustc_hash::FxHashMap;

/// The characters that introduce a part of a text.
const PART_HEAD: usize = 24;

/// Returns the subjects of a session, a shortened one included.
pub fn subjects_of(env: &Env, workspace: &Workspace<'_>) -> Result<Vec<SidecarSubject>, CommandError> {
    let reading = &workspace.reading;
    let shortened = || reading.session.blocks.iter().filter(|block| block.level != Level::Original);
    let mut hashes: FxHashMap<BlockNumber, Key> = FxHashMap::default();
    if shortened().next().is_some() {
        let store = env.existing_store()?;
        let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
        let hash = |block: &Block| Some((block.number, draft.original(block.number).ok()?.block.hash));
        hashes.extend(shortened().filter_map(hash));
    }
    Ok(subjects(reading, &|block| hashes.get(&block.number).copied()))
}

/// Returns the text of a subject that is sent, without credentials, within a number of characters.
pub fn source(env: &Env, workspace: &Workspace<'_>, subject: &SidecarSubject, characters: usize) -> Result<String, CommandError> {
    let reading = &workspace.reading;
    if subject.task == SidecarTask::Session {
        let (turns, _) = summarize(reading, &contents(env, workspace)?, &|_| String::new());
        let points: Vec<String> = turns.iter().filter(|turn| turn.live).map(|turn| turn.summary.text.clone()).collect();
        return Ok(excerpt(&engine::mask(&points.join("\n\n")), characters));
    }
    let sources = originals(env, workspace, &subject.blocks)?;
    let text = |number: &BlockNumber| {
        let text = sources.get(number).map(|source| source.text.trim()).unwrap_or_default();
        let role = reading.block(*number).map(|block| block.role);
        match (subject.task, role) {
            (SidecarTask::Turn, Some(Role::User)) => format!("User: {text}"),
            (SidecarTask::Turn, Some(Role::Assistant)) => format!("Agent: {text}"),
            _ => text.to_owned(),
        }
    };
    let texts: Vec<String> = subject.blocks.iter().map(text).collect();
    // Each text has its own share, so that none is cut away.
    let share = characters / texts.len().max(1);
    let part = |text: &String| excerpt(&engine::mask(text), share.saturating_sub(PART_HEAD));
    match (subject.task, texts.as_slice()) {
        (SidecarTask::Boundary, [asked, answered, asks]) => return Ok(boundary_text(&part(asked), &part(answered), &part(asks))),
        (SidecarTask::Duplicate, [older, newer]) => return Ok(comparison(&part(older), &part(newer))),
        (SidecarTask::Echo, [answer, results @ ..]) => {
            return Ok(echo_text(&part(answer), &results.iter().map(part).collect::<Vec<_>>()));
        }
        _ => {}
    }
    Ok(excerpt(&engine::mask(&texts.join("\n\n")), characters))
}

/// Writes the answers about turns into a session that is only read: headers and key points. Returns the answer about its course, with the
/// name of the model.
pub fn polish(env: &Env, workspace: &mut Workspace<'_>) -> Result<Option<(String, String)>, CommandError> {
    let Some(texts) = env.sidecar_texts(&workspace.path) else { return Ok(None) };
    let found = subjects_of(env, workspace)?;
    let answer = |subject: &SidecarSubject| texts.of(subject.task, subject.address);
    let last = workspace.reading.last_turn();
    let mut story = None;
    for subject in &found {
        match (subject.task, subject.place) {
            // The last turn can still grow.
            (SidecarTask::Turn, SubjectPlace::Turn(number)) if number < last => {
                let Some(turn) = workspace.reading.turns.iter_mut().find(|turn| turn.number == number) else { continue };
                if turn.housekeeping.is_none()
                    && let Some(mut answer) = answer(subject)
                {
                    turn.housekeeping = Some(Box::new(Housekeeping {
                        response_header: answer.remove("header").unwrap_or_default(),
                        context_summary: answer.remove("summary").unwrap_or_default(),
                        written_by: texts.model().to_owned(),
                        ..Housekeeping::default()
                    }));
                }
            }
            (_, SubjectPlace::Session) => {
                story =
                    answer(subject).and_then(|mut answer| answer.remove("story")).map(|story| (story, texts.model().to_owned()));
            }
            _ => {}
        }
    }
    Ok(story)
}

/// Queues all contents of a session that have no answer.
pub fn queue_all(env: &Env, workspace: &Workspace<'_>) -> Result<(), CommandError> {
    let Some(texts) = env.sidecar_texts(&workspace.path) else { return Ok(()) };
    subjects_of(env, workspace)?.iter().for_each(|subject| drop(texts.of(subject.task, subject.address)));
    Ok(())
}
