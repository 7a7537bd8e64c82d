//! `aperture memory undo`: undoes an operation on a tree.

use super::run::{Memories, changed};
use crate::app::CommandError;
use crate::engine::memory::ChangeKind;
use crate::memory::MemoryError;
use crate::model::MemoryScope;

/// Undoes an operation: that with the number, or the newest in force of the project or of the user.
pub fn run(memories: &Memories<'_>, number: Option<u32>, of_user: bool, is_dry_run: bool) -> Result<(), CommandError> {
    let env = memories.env;
    let missing = || CommandError::from(number.map_or(MemoryError::NothingToUndo, MemoryError::NoOperation));
    let store = env.existing_store()?.ok_or_else(missing)?;
    let user = memories.place(MemoryScope::User).key(env.disk);
    let is_users = number.map_or(Ok(of_user), |number| store.memory_operation(&user, number).map(|found| found.is_some()))?;
    let scope = if is_users { MemoryScope::User } else { MemoryScope::Project };
    let undone = memories.undo(&store, scope, number, is_dry_run)?;
    let removed: Vec<String> = undone
        .updated
        .changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Removed)
        .map(|change| change.memory.name())
        .collect();
    let mut report = changed(format!("operation {} undone", undone.operation), undone.updated, is_dry_run);
    if let Some(number) = report.operation {
        report.hints = vec![format!("to redo it: aperture memory undo {number}")];
        if !removed.is_empty() {
            report.hints.push("what sessions say may be learned again; aperture memory forget prevents it".to_owned());
        }
    }
    env.print(&report)
}
