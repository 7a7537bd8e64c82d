//! `aperture memory edit`: replaces the text of an entry, or moves it to another file.

use super::{Memories, changed, check_text, file_named};
use crate::app::{CommandError, ErrorKind};
use crate::engine::memory::words::normalized;
use crate::memory::MemoryError;
use crate::model::{Memory, MemoryState};
use anyhow::anyhow;

/// Edits an entry.
pub fn run(
    memories: &Memories<'_>,
    id: &str,
    text: Option<&str>,
    file: Option<&str>,
    is_dry_run: bool,
) -> Result<(), CommandError> {
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
        let is_edited = now.is_edited || now.text != text;
        let state = if now.state == MemoryState::Pending { MemoryState::Active } else { now.state };
        let file = file.clone().unwrap_or_else(|| now.file.clone());
        tree.set(Memory { text: text.clone(), file, is_edited, state, ..now })?;
        Ok(())
    })?;
    let done =
        if updated.changes.is_empty() { format!("{} is unchanged", known.name()) } else { format!("{} saved", known.name()) };
    memories.env.print(&changed(done, updated, is_dry_run))
}
