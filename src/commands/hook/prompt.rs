//! Handles the `UserPromptSubmit` event.

use super::report::{HookReport, changes_of};
use super::{Payload, cold, compaction, memory, told};
use crate::app::{CommandError, Env};
use crate::commands::change::pipeline::{is_proxied, takes_effect};
use crate::commands::live::pending::{Effect, LiveChanges};
use crate::commands::live::selection;
use crate::commands::{manifest, obey};
use crate::engine::preview;
use crate::model::{Actor, History, Operation, RowKind};
use crate::output::Report;
use crate::wire::stages::injection::MANIFEST;

/// Returns the information that the model does not have yet: the answers to its commands, a first manifest, the user's
/// selections and changes since its last turn, and memories about the prompt. `None` if there is none, which is the usual case.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if payload.has_session(env)
        && let Some(held) = cold::hold(env)?
    {
        return Ok(Some(held));
    }
    let mut parts = if payload.has_session(env) { of_session(env, payload)? } else { Vec::new() };
    parts.extend(memory::for_prompt(env, payload));
    Ok((!parts.is_empty()).then(|| HookReport::context(&parts.join("\n\n"))))
}

fn of_session(env: &Env, payload: &Payload) -> Result<Vec<String>, CommandError> {
    let found = env.find(None)?;
    // The file may now contain commands that it did not contain when the model stopped.
    let obeyed = env.or_note(obey::obey(env), "the model's commands were not executed");
    let answers = obeyed.and_then(|_| obey::answers(env));
    // The full analysis is needed only for the manifest, which is sent once.
    let mut workspace = env.read_as_wanted(found.clone(), &|_| false)?;
    let mut parts: Vec<String> = answers.into_iter().collect();
    let Some(since) = selection::last_turn(&workspace.reading) else { return Ok(parts) };
    // If sending the manifest cannot be recorded, it would be sent with each prompt.
    // The proxy sends its own with each prompt.
    let is_sent = env.pipeline.is_on(&MANIFEST) && is_proxied(env, &found);
    if !is_sent && !told::is_told(env, &workspace).unwrap_or(true) && told::remember(env, &workspace).is_ok() {
        workspace = env.read(found.clone())?;
        let mut report = manifest::short(env, &workspace);
        // The file does not have the prompt yet.
        let prompt = payload.prompt.as_deref().map(preview).filter(|prompt| !prompt.is_empty() && !prompt.starts_with('/'));
        report.manifest.current_task = prompt.or(report.manifest.current_task);
        parts.insert(0, report.text(&env.style));
    }
    let reading = &workspace.reading;
    let boundary = reading.session.rows.iter().rev().find(|row| row.kind == RowKind::Boundary);
    // With the first prompt after a compaction: it may have dropped more than was known when its hooks were called.
    if boundary.and_then(|row| row.timestamp).is_some_and(|time| time > since) {
        parts.extend(compaction::dropped(&workspace, &|_| true)?);
    }
    parts.extend(selection::since_last_turn(&workspace));
    let mut live = LiveChanges::read(env, &found, Some(&reading.session))?;
    env.or_note(live.settle_closed(env, &workspace.history), "the loaded changes are not recorded");
    parts.extend(told_changes(&workspace.history, &live, since, &found.location.id));
    Ok(parts)
}

/// Returns the user's changes since a time, in up to three parts: those in effect at once, those that the client has loaded since, by
/// whomever they were made, and those that it has not loaded. Changes of a client that has compacted the session are left out.
fn told_changes(history: &History, live: &LiveChanges, since: i64, session: &str) -> Vec<String> {
    let (mut done, mut loaded, mut pending) = (Vec::new(), Vec::new(), Vec::new());
    for operation in &history.operations {
        // Operations of the model are part of the answers.
        let by_user = operation.actor == Actor::User;
        match live.effect(operation) {
            Effect::Since(time) if live.is_live(operation.id) && time > since => loaded.push(operation),
            Effect::Since(time) if !live.is_live(operation.id) && time > since && by_user => done.push(operation),
            Effect::Pending => pending.push(operation),
            _ => {}
        }
    }
    let pending = History::net(&pending).into_iter().filter(|operation| operation.time > since && operation.actor == Actor::User);
    let lists = [
        ("Since your last turn, the user changed your memory of this session:".to_owned(), lasting(&done)),
        ("These changes of your memory of this session are now in effect:".to_owned(), History::net(&loaded)),
        (
            format!(
                "The user changed the file of this session. This {}; until then you still receive the content as before:",
                takes_effect(session)
            ),
            pending.collect(),
        ),
    ];
    let lists = lists.into_iter().map(|(title, operations)| {
        let lines: Vec<String> = operations.into_iter().filter_map(changes_of).collect();
        (title, lines)
    });
    lists.filter(|(_, lines)| !lines.is_empty()).map(|(title, lines)| format!("{title}\n{}", lines.join("\n"))).collect()
}

/// Returns operations, oldest first, without those that a later one of them inverts, and without that one.
fn lasting<'a>(operations: &[&'a Operation]) -> Vec<&'a Operation> {
    let (mut lasting, mut inverted) = (Vec::new(), Vec::new());
    for operation in operations.iter().rev() {
        let inverts = operation.inverts.filter(|id| operations.iter().any(|other| other.id == *id));
        match inverts {
            _ if inverted.contains(&operation.id) => {}
            Some(id) => inverted.push(id),
            None => lasting.push(*operation),
        }
    }
    lasting.reverse();
    lasting
}
