//! Handles the `PreCompact` event: the client is about to replace the conversation with a summary.

use super::Payload;
use super::report::HookReport;
use crate::app::{CommandError, Env};
use crate::commands::snapshot;
use crate::model::{Block, BlockNumber, Role, RowKind, ToolVerb, Zone};
use crate::workspace::Workspace;
use std::collections::BTreeSet;

/// Maximum number of pinned blocks that the instructions for the summary name.
const NAMED: usize = 10;
/// Maximum number of files that the client reads again after a compaction.
const READ_AGAIN: usize = 5;
/// Number of characters at the beginning of a text by which it is recognized in another one.
const RECOGNIZED: usize = 200;

/// Makes a snapshot, and names the pinned blocks to the model that writes the summary. Their texts are not part of its instructions: the
/// client shows the instructions to the user, and the texts are sent after the compaction.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if !payload.has_session(env) {
        return Ok(None);
    }
    let time = env.style.now.strftime("%Y-%m-%d-%H%M%S");
    let saved = snapshot::save(env, &env.find(None)?, &format!("before-compaction-{time}"));
    let mut workspace = match env.or_note(saved, "no snapshot") {
        Some((_, workspace)) => workspace,
        // The pinned blocks matter more than the snapshot.
        None => env.read_as_wanted(env.find(None)?, &|_| false)?,
    };
    if workspace.reading.session.blocks.iter().any(|block| block.pin.is_some()) {
        // The full analysis is needed to order the pinned blocks by use.
        workspace = env.open(None)?;
    }
    let pinned = super::pinned(&workspace, &|block| block.position.zone != Zone::Cold);
    if pinned.is_empty() {
        return Ok(None);
    }
    let names = pinned.iter().take(NAMED).map(|block| format!("- {}", super::name(block)));
    let more = pinned.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("- and {more} more"));
    let names: Vec<String> = names.chain(more).collect();
    let text = format!(
        "The user pinned these blocks. Mention in the summary what they are for, but do not repeat their text: aperture sends it again \
         after the compaction.\n{}",
        names.join("\n")
    );
    Ok(Some(HookReport { plain: true, ..HookReport::context(&text) }))
}

/// Returns the pinned blocks that a finished compaction dropped and that the client sends in no other form, with their contents;
/// `None` if there are none for which `is_wanted` is true.
///
/// A block is sent in another form if its beginning is part of a text that was added since the compaction: its summary, a file that
/// the client read again, or an answer of this hook. So no block is sent twice.
pub fn dropped(workspace: &Workspace<'_>, is_wanted: &dyn Fn(&Block) -> bool) -> Result<Option<String>, CommandError> {
    let Some(boundary) = boundary(workspace) else { return Ok(None) };
    let missing = super::pinned(workspace, &|block| is_dropped(block, boundary) && !is_read_call(block) && is_wanted(block));
    if missing.is_empty() {
        return Ok(None);
    }
    let added = workspace
        .reading
        .in_window()
        .filter(|block| block.row as usize > boundary && matches!(block.role, Role::User | Role::System));
    let added: Vec<BlockNumber> = added.map(|block| block.number).collect();
    let added: Vec<String> = workspace.contents(&added)?.into_iter().map(|content| content.readable).collect();
    let mut texts = super::texts(workspace, &missing)?;
    texts.retain(|(_, text)| {
        let start: String = text.trim().chars().take(RECOGNIZED).collect();
        !added.iter().any(|added| added.contains(&start))
    });
    Ok(joined(&texts))
}

/// Returns the pinned blocks that are not in the window although no compaction dropped them: nothing sends them again.
pub fn outside(workspace: &Workspace<'_>) -> Vec<BlockNumber> {
    let boundary = boundary(workspace).unwrap_or_default();
    super::pinned(workspace, &|block| block.position.zone == Zone::Cold && !is_dropped(block, boundary))
        .iter()
        .map(|block| block.number)
        .collect()
}

fn boundary(workspace: &Workspace<'_>) -> Option<usize> {
    workspace.reading.session.rows.iter().rposition(|row| row.kind == RowKind::Boundary)
}

fn is_dropped(block: &Block, boundary: usize) -> bool {
    block.position.zone == Zone::Cold && (block.row as usize) < boundary
}

/// Returns the pinned blocks that a compaction may drop, with their contents, before the client has written it; `None` if there are
/// none.
///
/// The client keeps the messages of the last response (2.1.226 to 2.1.330 kept 3 to 8 rows), and reads the last files again (2.1.330
/// up to 5). If it does not, the next prompt brings the blocks.
pub(super) fn endangered(workspace: &Workspace<'_>) -> Result<Option<String>, CommandError> {
    let last = workspace.reading.session.blocks.iter().map(|block| block.position.step).max();
    let files = last_files(workspace);
    let pinned = super::pinned(workspace, &|block| {
        let is_kept = block.position.zone != Zone::Cold && Some(block.position.step) == last && block.position.step != 0;
        let is_read_again = read_target(block).is_some_and(|file| files.contains(file));
        !is_kept && !is_read_again && !is_read_call(block)
    });
    Ok(joined(&super::texts(workspace, &pinned)?))
}

fn last_files<'w>(workspace: &'w Workspace<'_>) -> BTreeSet<&'w str> {
    let mut files = BTreeSet::new();
    let reading = &workspace.reading;
    for file in reading.session.blocks.iter().rev().filter(|block| !reading.is_left(block)).filter_map(read_target) {
        if files.len() == READ_AGAIN {
            break;
        }
        files.insert(file);
    }
    files
}

fn read_target(block: &Block) -> Option<&str> {
    let read = block.tool.as_deref().filter(|tool| tool.verb == ToolVerb::Read && block.role == Role::ToolResult && !block.error);
    read.map(|tool| &*tool.target)
}

/// Returns true if a block is a call that reads a file: without its result it says nothing.
fn is_read_call(block: &Block) -> bool {
    block.role == Role::ToolUse && block.has_verb(ToolVerb::Read)
}

fn joined(texts: &[(String, String)]) -> Option<String> {
    let texts: Vec<String> = texts.iter().map(|(name, text)| format!("{name}:\n{text}")).collect();
    let title = "Blocks that the user pinned, as they were before the compaction:";
    (!texts.is_empty()).then(|| format!("{title}\n\n{}", texts.join("\n\n")))
}
