//! Handles the `PreCompact` event: the client is about to replace the conversation with a summary.

use super::Payload;
use crate::app::history::snapshot;
use crate::app::{CommandError, Env};
use crate::model::Zone;
use crate::output::HookReport;

/// Makes a snapshot, and requests that the summary keeps the pinned blocks.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if !payload.has_session(env) {
        return Ok(None);
    }
    let time = env.style.now.strftime("%Y-%m-%d-%H%M%S");
    let mut workspace = match snapshot::save(env, &env.find(None)?, &format!("before-compaction-{time}")) {
        Ok((_, workspace)) => workspace,
        // The pinned blocks matter more than the snapshot.
        Err(error) => {
            env.note(&format!("no snapshot: {:#}", error.source));
            env.read_as_wanted(env.find(None)?, &|_| false)?
        }
    };
    if workspace.reading.session.blocks.iter().any(|block| block.pin.is_some()) {
        // The full analysis is needed to order the pinned blocks by use.
        workspace = env.open(None)?;
    }
    let kept = super::pinned(&workspace, &|block| block.position.zone != Zone::Cold)?;
    if kept.is_empty() {
        return Ok(None);
    }
    let text = format!("The user pinned these blocks. Keep them verbatim in the summary:\n\n{}", kept.join("\n\n"));
    Ok(Some(HookReport::plain("PreCompact", &text)))
}
