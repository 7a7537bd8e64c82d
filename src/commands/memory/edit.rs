//! `aperture memory edit`: replaces the text of an entry, or moves it to another file.

use super::report::MemoryChangeReport;
use super::run::{Memories, changed, check_text, file_named};
use crate::app::{CommandError, ErrorKind};
use crate::engine::memory::words::normalized;
use crate::memory::MemoryError;
use crate::model::{Memory, MemoryActor, MemoryState};
use anyhow::anyhow;

/// Edits an entry.
pub fn run(
    memories: &Memories<'_>,
    id: &str,
    text: Option<&str>,
    file: Option<&str>,
    is_dry_run: bool,
) -> Result<(), CommandError> {
    memories.env.print(&report(memories, id, text, file, is_dry_run)?)
}

/// Edits an entry, and returns the report.
/// Errors: there is no such entry, the text cannot be kept, or as for a change.
pub fn report(
    memories: &Memories<'_>,
    id: &str,
    text: Option<&str>,
    file: Option<&str>,
    is_dry_run: bool,
) -> Result<MemoryChangeReport, CommandError> {
    let known = memories.find(id)?;
    let file = file.map(file_named).transpose()?;
    let text = match text {
        Some(text) => memories.env.text(text)?,
        None if file.is_some() => known.text.clone(),
        None if is_dry_run => {
            return Err(CommandError::new(ErrorKind::Usage, anyhow!("a dry run needs the new text")));
        }
        None => memories.env.edit(&known.text)?,
    };
    let text = normalized(&text);
    check_text(&text)?;
    let updated = memories.change(known.scope, is_dry_run, &mut |tree| {
        let now = tree.find(known.id).cloned().ok_or_else(|| MemoryError::Unknown(known.name()))?;
        if now.text != known.text {
            return Err(MemoryError::Changed(tree.place.directory.join(now.file.path())).into());
        }
        // A text of the model is not one of a person, and is confirmed by the user alone.
        let by_person = memories.actor() != MemoryActor::Model;
        let is_changed = now.text != text;
        let is_edited = now.is_edited || is_changed && by_person;
        let is_by_model = now.is_by_model || is_changed && !by_person;
        let is_accepted = by_person || memories.env.is_approved;
        let state = if now.state == MemoryState::Pending && is_accepted { MemoryState::Active } else { now.state };
        let file = file.clone().unwrap_or_else(|| now.file.clone());
        tree.set(Memory { text: text.clone(), file, is_edited, is_by_model, state, ..now })?;
        Ok(())
    })?;
    let done =
        if updated.changes.is_empty() { format!("{} is unchanged", known.name()) } else { format!("{} saved", known.name()) };
    Ok(changed(done, updated, is_dry_run))
}
