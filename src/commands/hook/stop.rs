//! The model is done, or the session ends.

use super::Payload;
use crate::cli::{CommandError, Env};
use crate::output::HookReport;

/// Carries out what the model asked for. It is told with the next prompt: an answer now would start it again.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if payload.has_session(env) {
        obey(env)?;
    }
    Ok(None)
}

// JOIN: `commands::obey::obey(env)?` executes the model's commands.
fn obey(_: &Env) -> Result<(), CommandError> {
    Ok(())
}

/// What to tell the model of its commands.
// JOIN: `commands::obey::answers(env)`.
pub(super) fn answers(_: &Env) -> Option<String> {
    None
}
