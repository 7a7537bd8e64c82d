//! `aperture memory init` and `move`: the tree of the project is created, or takes over the entries of the directory that the project had
//! before it was moved or renamed.

use super::report::MemoryChangeReport;
use super::run::{Memories, problems, word};
use crate::app::{CommandError, misuse, refusal};
use crate::memory::{MemoryError, MemoryProject, Tree, worked_files};
use crate::model::MemoryScope;
use crate::output::plural;
use crate::workspace::{absolute, named_directory};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files of the sessions in the old directory that must exist here, and their least share in percent.
const FILES: usize = 5;
const SHARE: usize = 60;

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
        return memories.print(MemoryChangeReport { done, dry_run: is_dry_run, ..MemoryChangeReport::default() });
    }
    if memories.project.sessions.is_some() {
        return Err(misuse!("a folder of sessions is not a project")
            .hint("name the project directory: aperture memory init --in-project --project DIRECTORY"));
    }
    if !env.is_directory(&memories.project.root) {
        return Err(
            misuse!("{} is not a directory", memories.project.root.display()).hint("name the project directory, or create it")
        );
    }
    let old = memories.read(MemoryScope::Project)?;
    let entries = writable(&old)?;
    let new = memories.project.tree_in_project();
    let mut report = MemoryChangeReport {
        done: format!("the memories of this project are kept in {} from now on", new.directory.display()),
        dry_run: is_dry_run,
        hints: vec![format!("to share them: git add {}", word(&new.directory))],
        problems: problems(&old.problems),
        ..MemoryChangeReport::default()
    };
    if !is_dry_run && entries == 0 {
        let keep = new.directory.join(".gitkeep");
        env.disk.make(&keep, false).map_err(MemoryError::of("write", &keep))?;
    }
    let updated = memories.change_in(&new, is_dry_run, &mut |tree| Ok(tree.take_from(&old)?))?;
    if !is_dry_run {
        memories.accept(&new)?;
    }
    (report.operation, report.changes) = (updated.operation, updated.changes);
    if entries > 0 {
        let count = plural(entries, "entry");
        report.hints.push(format!("{count} copied; the old tree stays in {}", place.directory.display()));
    }
    memories.print(report)
}

/// Copies the entries of another project: of the directory that this one had before it was moved.
pub fn take_over(memories: &Memories<'_>, from: &Path, is_dry_run: bool) -> Result<(), CommandError> {
    let env = memories.env;
    let directory = named_directory(env.disk, &env.directory, from);
    // A worktree can have a tree from the time before it shared that of its repository.
    let own = MemoryProject { root: absolute(env.disk, &directory), sessions: None };
    let has_own = env.disk.list(&own.tree_in_data(memories.data()).directory).is_ok();
    let other = memories.of(if has_own { own } else { memories.project_at(&directory) });
    let place = other.place(MemoryScope::Project);
    if place == memories.place(MemoryScope::Project) {
        return Err(misuse!("{} is this project", directory.display())
            .hint("name the directory that the project had before it was moved"));
    }
    let old = other.read(MemoryScope::Project)?;
    let entries = writable(&old)?;
    if entries == 0 {
        let hint = format!("to learn from its sessions: aperture memory learn --project {}", word(&directory));
        return Err(refusal!("{} has no memories: {} has no entry", directory.display(), place.directory.display()).hint(hint));
    }
    let updated = memories.change(MemoryScope::Project, is_dry_run, &mut |tree| Ok(tree.take_from(&old)?))?;
    let hints = vec![format!("the old tree stays in {}", place.directory.display())];
    let done = format!("entries of {} taken over: {}", directory.display(), updated.changes.len());
    let (operation, changes) = (updated.operation, updated.changes);
    let problems = problems(&old.problems);
    memories.print(MemoryChangeReport { done, operation, dry_run: is_dry_run, changes, hints, problems })
}

/// Returns the number of entries of a tree that is to be copied.
/// Errors: a file cannot be read as a whole.
fn writable(tree: &Tree) -> Result<usize, CommandError> {
    match tree.problems.iter().find(|problem| problem.is_blocking) {
        Some(problem) => Err(MemoryError::Unwritable { path: problem.path.clone(), reason: problem.reason.clone() }.into()),
        None => Ok(tree.memories().count()),
    }
}

/// Returns the command that takes over the entries of the directory that the project probably had before, with the reason: it does not
/// exist any more, its tree has entries that this one does not have, and most files that its sessions worked on are here.
pub fn offer(memories: &Memories<'_>) -> Option<String> {
    let env = memories.env;
    let index = env.memory_index();
    let mut left: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for (session, directory) in index.directories() {
        left.entry(directory).or_default().push(session);
    }
    let is_left = |directory: &Path| directory != memories.project.root && env.disk.identify(directory).is_err();
    left.retain(|directory, _| is_left(directory));
    let own = memories.read(MemoryScope::Project).ok()?;
    let own: BTreeSet<u64> = own.memories().map(|memory| memory.key).collect();
    let missing = |directory: &Path| {
        let tree = memories.of(memories.project_at(directory)).read(MemoryScope::Project).ok()?;
        (!tree.place.directory.starts_with(&memories.project.root))
            .then(|| tree.memories().filter(|memory| !own.contains(&memory.key)).count())
    };
    let is_here = |sessions: &[PathBuf]| {
        let files: BTreeSet<String> = sessions.iter().flat_map(|session| worked_files(&index, session)).collect();
        let here = files.iter().filter(|file| env.disk.identify(&memories.project.root.join(file)).is_ok()).count();
        here >= FILES && here * 100 >= files.len() * SHARE
    };
    let found = left
        .iter()
        .filter_map(|(directory, sessions)| Some((directory, sessions, missing(directory).filter(|count| *count > 0)?)));
    let (directory, _, count) = found.filter(|(_, sessions, _)| is_here(sessions)).max_by_key(|(.., count)| *count)?;
    let (name, command, entries) = (directory.display(), word(directory), plural(count, "entry"));
    Some(format!("this project was probably {name} before; to take over {entries}: aperture memory move {command}"))
}
