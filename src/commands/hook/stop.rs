//! Handles the `Stop` and `SessionEnd` events.

use super::report::HookReport;
use super::{Payload, memory};
use crate::app::{CommandError, Env, Keeping};
use crate::commands::{keep, obey};

/// Executes the commands of the model, also those in a message that is not in the file yet, and learns from the session. The results
/// are sent with the next prompt: an answer now would start the model again.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if let Some(path) = &payload.transcript_path {
        let obeyed = obey::obey_turn(env, path, payload.last_assistant_message.as_deref());
        memory::learn_session(env, payload);
        obeyed?;
    }
    Ok(None)
}

/// Executes the remaining commands, learns from the sessions of the project, and copies the session if the settings say so.
pub(super) fn end(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if payload.has_session(env) {
        let obeyed = obey::obey(env);
        memory::learn_project(env, payload);
        if env.keeping == Keeping::On {
            keep::keep_in_background(env, payload.transcript_path.as_deref());
        }
        obeyed?;
    }
    Ok(None)
}
