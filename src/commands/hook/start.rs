//! A session begins, is resumed, or goes on after a compaction.

use super::{Payload, told};
use crate::app::{CommandError, Env};
use crate::commands::{manifest, obey, summary};
use crate::engine::Analysis;
use crate::model::{RowKind, Zone};
use crate::output::{HookReport, Report};
use crate::workspace::Workspace;

/// The manifest, if there is anything to say one about, and how the model can shape its memory.
///
/// After a compaction also the pinned blocks that it dropped; for a new session, if the settings want that, what the last one
/// of the project was about.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    let mut parts = Vec::new();
    let workspace = if payload.has_session(env) { Some(env.open(None)?) } else { None };
    register(env, payload, workspace.as_ref());
    if let Some(workspace) = workspace {
        // The client asks before it writes the compaction: what the file holds then is what was, and all of it may be gone.
        let behind = payload.source.as_deref() == Some("compact") && !is_cut(&workspace.reading);
        if !behind {
            // Where that cannot be remembered, it is told again with the next prompt that can.
            if let Err(error) = told::remember(env, &workspace) {
                env.note(&format!("the manifest is not remembered: {:#}", error.source));
            }
            parts.push(manifest::detailed(env, &workspace).text(&env.style));
        }
        parts.push(COMMANDS.to_owned());
        // What may be cut off stands last.
        if payload.source.as_deref() == Some("compact") {
            let back = super::pinned(&workspace, &|block| behind || block.position.zone == Zone::Cold)?;
            if !back.is_empty() {
                parts.push(format!("Blocks that the user pinned, as they were before the compaction:\n\n{}", back.join("\n\n")));
            }
        }
    } else {
        parts.push(COMMANDS.to_owned());
        if env.hooks.handoff {
            parts.extend(handoff(env)?);
        }
    }
    Ok(Some(HookReport::context("SessionStart", &parts.join("\n"))))
}

/// Makes the session known to the store. Nobody waits for that.
fn register(env: &Env, payload: &Payload, workspace: Option<&Workspace<'_>>) {
    let Some(path) = &payload.transcript_path else { return };
    // A compaction comes in the middle of a turn.
    let in_turn = payload.source.as_deref() == Some("compact");
    if let Err(error) = obey::register(env, path, workspace, in_turn) {
        env.note(&format!("the session is not registered: {:#}", error.source));
    }
}

/// Whether a compaction is the last thing that happened.
fn is_cut(reading: &Analysis) -> bool {
    let kinds = reading.session.rows.iter().rev().map(|row| row.kind);
    kinds.take_while(|kind| *kind != RowKind::Assistant).any(|kind| kind == RowKind::Boundary)
}

/// How the model can shape its memory.
const COMMANDS: &str = "\
aperture keeps the memory of this session. Blocks of it are named by numbers (#12), ranges (3..9) and words such as stale or
tool(Read). You may write, each on a line of its own: @expand(12) @recall(12) @recall(\"query\") @compress(3..9, minimal)
@archive(3..9) @pin(12) @unpin(12) @focus(12) @update(12, \"text\") @create(\"note\"). It is done when you stop, but compress,
archive and update wait for the user, unless the settings say otherwise. The answer comes with the next prompt.
";

/// What the last session of the project was about.
fn handoff(env: &Env) -> Result<Option<String>, CommandError> {
    // Without a session named: the newest of the project, for this one has no file yet.
    let Ok(found) = env.newest() else { return Ok(None) };
    let workspace = env.read(found)?;
    let report = summary::current(env, &workspace)?;
    Ok(Some(format!("The last session here ({}):\n{}", workspace.location.id, report.text(&env.style))))
}
