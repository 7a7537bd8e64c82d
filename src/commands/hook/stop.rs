//! The model is done, or the session ends.

use super::Payload;
use crate::app::{CommandError, Env};
use crate::commands::obey;
use crate::output::HookReport;

/// Carries out what the model asked for, also in a message that is not in the file yet. It is told with the next prompt: an answer
/// now would start it again.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if let Some(path) = &payload.transcript_path {
        obey::obey_turn(env, path, payload.last_assistant_message.as_deref())?;
    }
    Ok(None)
}

/// Carries out what was not yet.
pub(super) fn end(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if payload.has_session(env) {
        obey::obey(env)?;
    }
    Ok(None)
}
