//! Handles the `UserPromptSubmit` event.

use super::{Payload, told};
use crate::app::look::manifest;
use crate::app::model::obey;
use crate::app::{CommandError, Env};
use crate::engine::{Analysis, label};
use crate::model::{Actor, MarkKind, Operation, Role};
use crate::output::{HookReport, Report, changes_of};

/// Returns the information that the model does not have yet: the answers to its commands, a first manifest, and the user's
/// selections and changes since its last turn. `None` if there is none, which is the usual case.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if !payload.has_session(env) {
        return Ok(None);
    }
    let found = env.find(None)?;
    // The file may now contain commands that it did not contain when the model stopped.
    let answers = match obey::obey(env) {
        Ok(_) => obey::answers(env),
        Err(error) => {
            env.note(&format!("the model's commands were not executed: {:#}", error.source));
            None
        }
    };
    // The full analysis is needed only for the manifest, which is sent once.
    let mut workspace = env.read_as_wanted(found.clone(), &|_| false)?;
    let mut parts: Vec<String> = answers.into_iter().collect();
    let Some(since) = last_turn(&workspace.reading) else { return Ok(joined(&parts)) };
    // If sending the manifest cannot be recorded, it would be sent with each prompt.
    if !told::is_told(env, &workspace).unwrap_or(true) && told::remember(env, &workspace).is_ok() {
        workspace = env.read(found)?;
        parts.insert(0, manifest::short(env, &workspace).text(&env.style));
    }
    let reading = &workspace.reading;
    let new: Vec<&Operation> = workspace.history.operations.iter().filter(|operation| operation.time > since).collect();
    if new.iter().flat_map(|operation| &operation.marks).any(|mark| mark.kind == MarkKind::Focus) {
        let selected = reading.in_window().filter(|block| block.focused);
        let selected: Vec<String> = selected.map(|block| format!("#{} ({})", block.number, label(block))).collect();
        parts.push(match selected.is_empty() {
            true => "The user cleared the highlighted blocks.".to_owned(),
            false => format!("User has highlighted the following blocks as relevant: {}", selected.join(", ")),
        });
    }
    // Operations of the model are part of the answers.
    let lines: Vec<String> =
        new.iter().filter(|operation| operation.actor == Actor::User).filter_map(|one| changes_of(one)).collect();
    if !lines.is_empty() {
        parts.push(format!("Since your last turn, the user changed your memory of this session:\n{}", lines.join("\n")));
    }
    Ok(joined(&parts))
}

fn joined(parts: &[String]) -> Option<HookReport> {
    (!parts.is_empty()).then(|| HookReport::context("UserPromptSubmit", &parts.join("\n\n")))
}

/// Returns the time of the last prompt that the model answered: it does not know about later changes.
fn last_turn(reading: &Analysis) -> Option<i64> {
    let mut answered =
        reading.session.blocks.iter().rev().filter(|block| block.role == Role::Assistant || block.role == Role::ToolUse);
    let turn = answered.next()?.position.turn;
    reading.turns.iter().find(|one| one.number == turn)?.timestamp
}
