//! `aperture memory init`: creates the tree of the project; in the project itself it takes over the entries learned so far.

use super::report::MemoryChangeReport;
use super::run::{Memories, problems, word};
use crate::app::{CommandError, ErrorKind};
use crate::memory::{MemoryError, Tree};
use crate::model::MemoryScope;
use crate::workspace::named_directory;
use anyhow::anyhow;
use std::path::Path;

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
        if in_project && !is_dry_run {
            memories.accept(&place)?;
        }
        let report = MemoryChangeReport {
            done,
            operation: None,
            dry_run: is_dry_run,
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
    let entries = writable(&old)?;
    let new = memories.project.tree_in_project();
    let mut report = MemoryChangeReport {
        done: format!("the memories of this project are kept in {} from now on", new.directory.display()),
        operation: None,
        dry_run: is_dry_run,
        changes: Vec::new(),
        hints: vec![format!("to share them: git add {}", word(&new.directory))],
        problems: problems(&old.problems),
    };
    if !is_dry_run && entries == 0 {
        let keep = new.directory.join(".gitkeep");
        env.disk.make(&keep, false).map_err(|source| MemoryError::Io { action: "write", path: keep.clone(), source })?;
    }
    let updated = memories.change_in(&new, is_dry_run, &mut |tree| copy(&old, tree))?;
    if !is_dry_run {
        memories.accept(&new)?;
    }
    (report.operation, report.changes) = (updated.operation, updated.changes);
    if entries > 0 {
        let count = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
        report.hints.push(format!("{count} copied; the old tree stays in {}", place.directory.display()));
    }
    env.print(&report)
}

/// Copies the entries of another project: of the directory that this one had before it was moved.
pub fn take_over(memories: &Memories<'_>, from: &Path, is_dry_run: bool) -> Result<(), CommandError> {
    let env = memories.env;
    let directory = named_directory(env.disk, &env.directory, from);
    let other = memories.of(memories.project_at(&directory));
    let place = other.place(MemoryScope::Project);
    if place == memories.place(MemoryScope::Project) {
        let error = anyhow!("{} is this project", directory.display());
        return Err(
            CommandError::new(ErrorKind::Usage, error).hint("name the directory that the project had before it was moved")
        );
    }
    let old = other.read(MemoryScope::Project)?;
    let entries = writable(&old)?;
    if entries == 0 {
        let error = anyhow!("{} has no memories: {} has no entry", directory.display(), place.directory.display());
        return Err(CommandError::new(ErrorKind::Refused, error).hint("to learn from its sessions: aperture memory learn"));
    }
    let updated = memories.change(MemoryScope::Project, is_dry_run, &mut |tree| copy(&old, tree))?;
    let hints = vec![format!("the old tree stays in {}", place.directory.display())];
    let done = format!("entries of {} taken over: {}", directory.display(), updated.changes.len());
    let (operation, changes) = (updated.operation, updated.changes);
    env.print(&MemoryChangeReport { done, operation, dry_run: is_dry_run, changes, hints, problems: problems(&old.problems) })
}

/// Returns the number of entries of a tree that is to be copied.
/// Errors: a file cannot be read as a whole.
fn writable(tree: &Tree) -> Result<usize, CommandError> {
    match tree.problems.iter().find(|problem| problem.is_blocking) {
        Some(problem) => Err(MemoryError::Unwritable { path: problem.path.clone(), reason: problem.reason.clone() }.into()),
        None => Ok(tree.memories().count()),
    }
}

/// Copies the files and the keys of deleted entries into another tree.
fn copy(old: &Tree, new: &mut Tree) -> Result<(), CommandError> {
    Ok(new.take_from(old)?)
}
