//! Handles the `SessionStart` event: a session begins, is resumed, or continues after a compaction.

use super::report::HookReport;
use super::{Payload, cold, compaction, memory, told};
use crate::app::{CommandError, Env, Keeping};
use crate::commands::live::pending;
use crate::commands::model::InstructionsReport;
use crate::commands::{keep, manifest, obey, summary};
use crate::engine::Analysis;
use crate::model::RowKind;
use crate::output::Report;
use crate::workspace::Workspace;

/// Returns the manifest, if the session has content, and the list of commands that the model can write.
///
/// For a new session and after a compaction, it also returns the memories of the project; after a compaction, the pinned blocks that
/// were dropped; for a new session, if the settings enable it, a summary of the project's last session.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    let (mut parts, mut price) = (Vec::new(), None);
    let workspace = if payload.has_session(env) { Some(env.open(None)?) } else { None };
    register(env, payload, workspace.as_ref());
    // A client can write its own texts before the first prompt.
    let is_new = |workspace: &Workspace<'_>| payload.source.as_deref() == Some("startup") && workspace.reading.turns.is_empty();
    let workspace = workspace.filter(|workspace| !is_new(workspace));
    // The client deletes old sessions after it started.
    if env.keeping == Keeping::On && payload.source.as_deref() != Some("compact") {
        keep::keep_in_background(env, None);
    }
    if let Some(workspace) = workspace {
        // A compaction does not read the file.
        if payload.source.as_deref() != Some("compact") {
            env.or_note(pending::record_loaded(env, &workspace), "the loaded changes are not recorded");
        }
        if payload.source.as_deref() == Some("resume") && !env.holds_cold_prompts {
            price = cold::price(env, &workspace);
        }
        // The client runs the hook before it writes the compaction: the file still holds the old window, and any of it may be
        // dropped.
        let behind = payload.source.as_deref() == Some("compact") && !is_cut(&workspace.reading);
        if !behind {
            // If that cannot be recorded, the manifest is sent again with the next prompt for which it can.
            env.or_note(told::remember(env, &workspace), "the sent manifest is not recorded");
            parts.push(manifest::detailed(env, &workspace).text(&env.style));
        }
        parts.push(InstructionsReport::commands(&env.model));
        if payload.source.as_deref() == Some("compact") {
            parts.extend(memory::at_start(env, payload));
        }
        // The end of the text may be truncated, so the pinned blocks, which can be long, are last.
        if payload.source.as_deref() == Some("compact") {
            parts.extend(if behind { compaction::endangered(&workspace)? } else { compaction::dropped(&workspace, &|_| true)? });
        }
    } else {
        parts.push(InstructionsReport::commands(&env.model));
        parts.extend(memory::at_start(env, payload));
        if env.hooks.handoff {
            parts.extend(handoff(env)?);
        }
    }
    Ok(Some(HookReport { message: price, ..HookReport::context(&parts.join("\n")) }))
}

/// Registers the session in the store. Errors are only printed as notes.
fn register(env: &Env, payload: &Payload, workspace: Option<&Workspace<'_>>) {
    let Some(path) = &payload.transcript_path else { return };
    // A compaction happens in the middle of a turn.
    let in_turn = payload.source.as_deref() == Some("compact");
    env.or_note(obey::register(env, path, workspace, in_turn), "the session is not registered");
}

/// Returns true if a compaction boundary follows the last message of the assistant.
fn is_cut(reading: &Analysis) -> bool {
    let kinds = reading.session.rows.iter().rev().map(|row| row.kind);
    kinds.take_while(|kind| *kind != RowKind::Assistant).any(|kind| kind == RowKind::Boundary)
}

fn handoff(env: &Env) -> Result<Option<String>, CommandError> {
    // This session has no file yet, so the newest session of the project is the previous one.
    let Ok(found) = env.newest() else { return Ok(None) };
    let workspace = env.read(found)?;
    let report = summary::current(env, &workspace)?;
    Ok(Some(format!("The last session here ({}):\n{}", workspace.location.id, report.text(&env.style))))
}
