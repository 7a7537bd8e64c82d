//! `aperture memory init`: creates the tree of the project; in the project itself it takes over the entries learned so far.

use super::{Memories, problems, word};
use crate::app::{CommandError, ErrorKind};
use crate::memory::{MemoryError, Tree};
use crate::model::MemoryScope;
use crate::output::MemoryChangeReport;
use anyhow::anyhow;

/// Creates the tree.
pub fn run(memories: &Memories<'_>, in_project: bool, is_dry_run: bool) -> Result<(), CommandError> {
    let env = memories.env;
    let place = memories.place(MemoryScope::Project);
    if !in_project || !place.is_private {
        let where_it_is = place.directory.display();
        let done = match (in_project, place.is_private) {
            (false, true) => format!("the memories of this project are kept in {where_it_is}; the first one creates it"),
            _ => format!("the memories of this project are kept in {where_it_is}"),
        };
        let report = MemoryChangeReport {
            done,
            operation: None,
            is_dry_run,
            changes: Vec::new(),
            hints: Vec::new(),
            problems: Vec::new(),
        };
        return env.print(&report);
    }
    if memories.project.sessions.is_some() {
        let error = anyhow!("a folder of sessions is not a project");
        return Err(CommandError::new(ErrorKind::Usage, error)
            .hint("name the project directory: aperture memory init --in-project --project DIRECTORY"));
    }
    let old = memories.read(MemoryScope::Project)?;
    if let Some(problem) = old.problems.iter().find(|problem| problem.is_blocking) {
        return Err(MemoryError::Unwritable { path: problem.path.clone(), reason: problem.reason.clone() }.into());
    }
    let new = memories.project.tree_in_project();
    let entries = old.memories().count();
    let mut report = MemoryChangeReport {
        done: format!("the memories of this project are kept in {} from now on", new.directory.display()),
        operation: None,
        is_dry_run,
        changes: Vec::new(),
        hints: vec![format!("to share them: git add {}", word(&new.directory))],
        problems: problems(&old.problems),
    };
    if !is_dry_run && entries == 0 {
        let keep = new.directory.join(".gitkeep");
        env.disk.make(&keep, false).map_err(|source| MemoryError::Io { action: "write", path: keep.clone(), source })?;
    }
    let updated = memories.change_in(&new, is_dry_run, &mut |tree| copy(&old, tree))?;
    (report.operation, report.changes) = (updated.operation, updated.changes);
    if entries > 0 {
        let count = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
        report.hints.push(format!("{count} copied; the old tree stays in {}", place.directory.display()));
    }
    env.print(&report)
}

/// Copies the files and the keys of deleted entries into another tree.
fn copy(old: &Tree, new: &mut Tree) -> Result<(), CommandError> {
    Ok(new.take_from(old)?)
}
