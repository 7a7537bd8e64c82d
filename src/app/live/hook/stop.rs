//! Handles the `Stop` and `SessionEnd` events.

use super::Payload;
use crate::app::model::obey;
use crate::app::{CommandError, Env};
use crate::output::HookReport;

/// Executes the commands of the model, also those in a message that is not in the file yet. The results are sent with the next
/// prompt: an answer now would start the model again.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if let Some(path) = &payload.transcript_path {
        obey::obey_turn(env, path, payload.last_assistant_message.as_deref())?;
    }
    Ok(None)
}

/// Executes the remaining commands.
pub(super) fn end(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if payload.has_session(env) {
        obey::obey(env)?;
    }
    Ok(None)
}
