//! Finds the directory that a project had before it was moved or renamed, so that `aperture memory move` is offered.

use super::run::{Memories, word};
use crate::memory::worked_files;
use crate::model::MemoryScope;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files of the sessions in the old directory that must exist here, and their least share in percent.
const FILES: usize = 5;
const SHARE: usize = 60;

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
    let entries = if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
    let (name, command) = (directory.display(), word(directory));
    Some(format!("this project was probably {name} before; to take over {entries}: aperture memory move {command}"))
}
