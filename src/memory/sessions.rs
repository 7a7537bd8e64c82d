//! The facts of session files: each row is read once, and what was read is in the index.

use super::place::{MemoryProject, is_of_client};
use crate::engine::memory::SessionFacts;
use crate::fsio::{Disk, Identity};
use crate::model::TraceContent;
use crate::provider::{Places, conventions};
use crate::store::{IndexedFile, MemoryIndex};
use crate::workspace::{
    Found, LoggedContents, Project, TracePosition, find_all, find_in_folder, left_rows, named_in_file, read_trace, stated,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A session file, and what it teaches.
#[derive(Debug)]
pub struct LearnedSession {
    pub id: String,
    pub path: PathBuf,
    pub facts: SessionFacts,
}

/// The indexed state of a file: where reading continues, and the facts so far.
#[derive(Default, Serialize, Deserialize)]
struct Read {
    position: TracePosition,
    facts: SessionFacts,
}

/// Returns the facts of session files, in their order; each row is read once. Files that cannot be read are passed to `skipped`.
pub fn learn_sessions(
    disk: &dyn Disk,
    index: &MemoryIndex,
    files: &[(Found, Identity)],
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<LearnedSession> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    // Largest first, so that no core is left with a large file at the end.
    order.sort_by_key(|at| std::cmp::Reverse(files[*at].1.bytes));
    let read = |at: usize| (at, learn_session(disk, index, &files[at].0, files[at].1));
    let mut learned: Vec<(usize, io::Result<SessionFacts>)> = order.into_par_iter().with_max_len(1).map(read).collect();
    learned.sort_by_key(|(at, _)| *at);
    let mut sessions = Vec::with_capacity(files.len());
    for (at, facts) in learned {
        let found = &files[at].0;
        match facts {
            Ok(facts) => sessions.push(LearnedSession { id: found.location.id.clone(), path: found.path.clone(), facts }),
            Err(error) => skipped(&found.path, error),
        }
    }
    sessions
}

/// Returns the sessions of a project, without those of subagents: those whose working directory is the root of the project or a part of
/// it; of a folder of sessions that was named, those without one too.
pub fn sessions_of(
    disk: &dyn Disk,
    places: &Places,
    data: &Path,
    index: &MemoryIndex,
    project: &MemoryProject,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<(Found, Identity)> {
    let directories = index.directories();
    let own = Project::at(disk, &project.root);
    let is_gone = disk.identify(&project.root).is_err();
    // Many sessions have the same directory.
    let parts: Mutex<HashMap<PathBuf, bool>> = Mutex::default();
    // The home of the user has all folders of clients below it, and can have a copy of a session.
    let is_of_client = project.sessions.as_ref().is_some_and(|folder| is_of_client(disk, places, folder));
    let is_inside = |found: &Found| {
        let known = directories.get(&found.path).filter(|directory| !directory.as_os_str().is_empty()).cloned();
        let directory = known.or_else(|| stated(disk, found));
        let is_in = |folder: &PathBuf| found.path.parent() == Some(folder) || is_of_client && found.path.starts_with(folder);
        let is_in_folder = || project.sessions.as_ref().is_some_and(is_in);
        // A folder can have the sessions of several projects; those of one that does not exist here are known by the folder only.
        let by_folder = directory.is_none() || project.sessions.as_ref() == Some(&project.root);
        let is_part = |directory: &Path| {
            let known = parts.lock().unwrap_or_else(PoisonError::into_inner).get(directory).copied();
            known.unwrap_or_else(|| {
                let is_part = project.has_part(disk, data, directory);
                parts.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned(), is_part);
                is_part
            })
        };
        own.holds(disk, found, directory.as_deref())
            || is_gone && own.covers(disk, found, directory.as_deref())
            || directory.as_deref().is_some_and(is_part)
            || by_folder && is_in_folder()
    };
    let mut found: Vec<(Found, Identity)> = find_all(disk, places, skipped);
    found.retain(|(found, _)| !found.location.subagent);
    let mut found: Vec<(Found, Identity)> = found.into_par_iter().filter(|(found, _)| is_inside(found)).collect();
    if let Some(folder) = &project.sessions
        && found.is_empty()
    {
        found = find_in_folder(disk, folder, usize::MAX);
    }
    found
}

/// Returns the files of its project that a session worked on, as far as it was read, relative to its directory.
pub fn worked_files(index: &MemoryIndex, session: &Path) -> BTreeSet<String> {
    let read = index.file(session).and_then(|known| postcard::from_bytes::<Read>(&known.facts).ok());
    read.map(|read| read.facts.work.own_files().map(str::to_owned).collect()).unwrap_or_default()
}

fn learn_session(disk: &dyn Disk, index: &MemoryIndex, found: &Found, identity: Identity) -> io::Result<SessionFacts> {
    let known = index.file(&found.path);
    let read = known.as_ref().and_then(|known| postcard::from_bytes::<Read>(&known.facts).ok());
    let mut read = match (known, read) {
        (Some(known), Some(read)) if known.identity == identity => return Ok(read.facts),
        (Some(known), Some(read)) if read.position.is_start_of(disk, &found.path, &known.identity, &identity) => read,
        _ => Read::default(),
    };
    let before = read.position.end;
    read_rows(disk, found, &[], &mut read)?;
    if read.position.has_branches && read.position.end > before {
        let left = left_rows(disk, found, &read.position)?;
        read = Read::default();
        read_rows(disk, found, &left, &mut read)?;
    }
    if let Ok(facts) = postcard::to_stdvec(&read) {
        index.remember(&found.path, &IndexedFile { identity, directory: read.facts.directory.clone(), facts });
    }
    Ok(read.facts)
}

/// Reads the rows from the position on; those at the offsets `left` teach nothing.
fn read_rows(disk: &dyn Disk, found: &Found, left: &[u64], read: &mut Read) -> io::Result<()> {
    let Read { position, facts } = read;
    if facts.directory.is_empty()
        && let Some(directory) = stated(disk, found)
    {
        // The files of the first rows are named relative to it.
        facts.directory = directory.to_string_lossy().into_owned();
    }
    // A value that a later row names is not known in what was read before it.
    let logged = LoggedContents::without(named_in_file(disk, &found.path)?);
    read_trace(disk, found, &logged, position, &mut |start, event| {
        if left.binary_search(&start).is_err() {
            facts.push(&event, conventions());
        } else if matches!(event.content, TraceContent::Prompt { .. }) {
            facts.left.push(event.block);
        }
    })?;
    position.directory().clone_into(&mut facts.directory);
    Ok(())
}
