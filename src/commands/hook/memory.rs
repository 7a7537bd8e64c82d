//! The memories that a session of a client receives, and what is learned from it. A client never waits for them, and never fails
//! because of them: errors are notes.

use super::Payload;
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::memory::live::LiveMemories;
use std::path::PathBuf;

/// Returns the memories for a new session, or for one after a compaction.
pub(super) fn at_start(env: &Env, payload: &Payload) -> Option<String> {
    noted(env, "the memories are not sent", with(env, payload, &|memories| memories.at_start()))
}

/// Returns the memories that the prompt is about and that the session did not receive yet.
pub(super) fn for_prompt(env: &Env, payload: &Payload) -> Option<String> {
    let prompt = payload.prompt.as_deref()?;
    noted(env, "the memories are not sent", with(env, payload, &|memories| memories.for_prompt(prompt)))
}

pub(super) fn learn_session(env: &Env, payload: &Payload) {
    let Some(path) = payload.transcript_path.as_deref().filter(|_| payload.has_session(env)) else { return };
    let learned = with(env, payload, &|memories| memories.learn_session(path).map(|_| Some(())));
    noted(env, "nothing was learned", learned);
}

pub(super) fn learn_project(env: &Env, payload: &Payload) {
    noted(env, "nothing was learned", with(env, payload, &|memories| memories.learn_project().map(|_| Some(()))));
}

type Use<'a, T> = &'a dyn Fn(&LiveMemories<'_>) -> Result<Option<T>, CommandError>;

fn with<T>(env: &Env, payload: &Payload, run: Use<'_, T>) -> Result<Option<T>, CommandError> {
    let path = payload.transcript_path.as_ref();
    let of_file = || path.and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
    let Some(session) = payload.session_id.clone().or_else(of_file) else { return Ok(None) };
    // The client reports the directory in which its shell is, which can be another one than that of the project.
    let project: Option<PathBuf> = env.client().project.or_else(|| payload.cwd.clone());
    let directory = project.filter(|directory| env.is_directory(directory)).unwrap_or_else(|| env.directory.clone());
    run(&LiveMemories::new(env, &session, &directory)?)
}

fn noted<T>(env: &Env, what: &str, done: Result<Option<T>, CommandError>) -> Option<T> {
    match done {
        // Another process changes the memories: they are learned the next time.
        Err(error) if error.kind == ErrorKind::Conflict => None,
        done => env.or_note(done, what).flatten(),
    }
}
