//! The user sends a prompt.

use super::{Payload, told};
use crate::app::{CommandError, Env};
use crate::commands::{manifest, obey};
use crate::engine::{Analysis, label};
use crate::model::{Actor, MarkKind, Operation, Role};
use crate::output::{HookReport, Report, changes_of};

/// What the model does not know yet: the answers to its commands, a first manifest, what the user selected and changed since
/// its last turn. Mostly that is nothing, and nothing is said.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if !payload.has_session(env) {
        return Ok(None);
    }
    let found = env.find(None)?;
    // What the file did not have when the model stopped, it has now.
    let answers = match obey::obey(env) {
        Ok(_) => obey::answers(env),
        Err(error) => {
            env.note(&format!("the model's commands were not looked for: {:#}", error.source));
            None
        }
    };
    // All that can be decided is only needed for a manifest, which is told once.
    let mut workspace = env.read_as_wanted(found.clone(), &|_| false)?;
    let mut parts: Vec<String> = answers.into_iter().collect();
    let Some(since) = last_turn(&workspace.reading) else { return Ok(joined(&parts)) };
    // What cannot be remembered would be told at each prompt.
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
            true => "User has let the highlighted blocks go.".to_owned(),
            false => format!("User has highlighted the following blocks as relevant: {}", selected.join(", ")),
        });
    }
    // What the model asked for is in the answers.
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

/// When the last prompt was written that the model answered: what came later it does not know.
fn last_turn(reading: &Analysis) -> Option<i64> {
    let mut answered =
        reading.session.blocks.iter().rev().filter(|block| block.role == Role::Assistant || block.role == Role::ToolUse);
    let turn = answered.next()?.position.turn;
    reading.turns.iter().find(|one| one.number == turn)?.timestamp
}
