//! `aperture memory add`: adds an entry.

use super::AddArguments;
use super::report::MemoryChangeReport;
use super::run::{Memories, changed, check_text, file_named};
use crate::app::CommandError;
use crate::model::{MemoryActor, MemoryKind, MemoryScope, MemoryState};

/// Adds an entry.
pub fn run(memories: &Memories<'_>, arguments: &AddArguments) -> Result<(), CommandError> {
    let text = memories.env.text(&arguments.text)?;
    memories.env.print(&report(memories, arguments, &text)?)
}

/// Adds an entry with a text, and returns the report.
/// Errors: the text is empty or holds a credential, the file has no such name, or as for a change.
pub fn report(memories: &Memories<'_>, arguments: &AddArguments, text: &str) -> Result<MemoryChangeReport, CommandError> {
    check_text(text)?;
    let file = arguments.file.as_deref().map(file_named).transpose()?;
    let kind = arguments.kind.as_deref().and_then(MemoryKind::from_name);
    let kind = kind.or_else(|| file.as_ref().map(|file| file.default_kind())).unwrap_or(MemoryKind::Fact);
    let file = file.unwrap_or_else(|| kind.default_file());
    let scope = if arguments.user { MemoryScope::User } else { MemoryScope::Project };
    let now = memories.env.style.now.as_millisecond();
    let is_by_model = memories.actor() == MemoryActor::Model;
    let is_accepted = memories.env.is_approved || memories.env.memory.trust_model;
    let (mut name, mut is_pending) = (String::new(), false);
    let updated = memories.change(scope, arguments.dry_run, &mut |tree| {
        let state = if is_accepted { MemoryState::Active } else { MemoryState::Pending };
        let added = if is_by_model {
            tree.propose(text, kind, file.clone(), state, now)?
        } else {
            tree.add(text, kind, file.clone(), now)?
        };
        (name, is_pending) = (added.name(), added.state == MemoryState::Pending);
        Ok(())
    })?;
    let done = match (updated.changes.is_empty(), is_pending) {
        (true, _) => format!("{name} already says this"),
        (false, true) => format!("{name} saved, pending until the user accepts it or says it"),
        (false, false) => format!("{name} saved"),
    };
    Ok(changed(done, updated, arguments.dry_run))
}
