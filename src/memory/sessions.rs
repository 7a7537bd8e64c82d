//! The facts of session files: each row is read once, and what was read is in the index.

use super::place::MemoryProject;
use super::reading::TracePosition;
use crate::engine::memory::{Documents, SessionFacts};
use crate::fsio::{Disk, Identity, read_range};
use crate::planning::parse_session;
use crate::provider::{Places, ProviderAdapter, conventions};
use crate::store::{IndexedFile, MemoryIndex};
use crate::workspace::{Found, Project, find_all, find_in_folder, stated};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 20;
/// Bytes at the start and at the end of the part that was read, by which a file is recognized.
const PROBE_BYTES: u64 = 4096;

/// A session file, and what it teaches.
#[derive(Debug)]
pub struct LearnedSession {
    pub id: String,
    /// The file.
    pub path: PathBuf,
    pub facts: SessionFacts,
}

/// The indexed state of a file: where reading continues, and the facts so far.
#[derive(Default, Serialize, Deserialize)]
struct Read {
    position: TracePosition,
    /// True if the part that was read ends within a line: a complete row without a line feed.
    is_open: bool,
    facts: SessionFacts,
}

/// Returns the facts of session files, in their order. Rows that were read before are not read again. Files that cannot be read are
/// passed to `skipped`.
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

/// Returns the sessions of a project, without those of subagents: those whose working directory is the root of the project or below it;
/// of a folder of sessions that was named, those without one too.
pub fn sessions_of(
    disk: &dyn Disk,
    places: &Places,
    index: &MemoryIndex,
    project: &MemoryProject,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<(Found, Identity)> {
    let directories = index.directories();
    let own = Project::at(disk, &project.root);
    let is_inside = |found: &Found| {
        let known = directories.get(&found.path).filter(|directory| !directory.as_os_str().is_empty()).cloned();
        let directory = known.or_else(|| stated(disk, found));
        let is_in_folder = || project.sessions.as_ref().is_some_and(|folder| found.path.starts_with(folder));
        // A folder can have the sessions of several projects; those of one that does not exist here are known by the folder only.
        let by_folder = directory.is_none() || project.sessions.as_ref() == Some(&project.root);
        own.covers(disk, found, directory.as_deref()) || by_folder && is_in_folder()
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

/// Returns the search documents of a session file, as of the last time when it was learned; none if the index is not available.
pub fn documents(index: &MemoryIndex, path: &Path) -> Documents {
    index.documents(path).and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default()
}

fn learn_session(disk: &dyn Disk, index: &MemoryIndex, found: &Found, identity: Identity) -> io::Result<SessionFacts> {
    let known = index.file(&found.path);
    let unchanged = known.as_ref().filter(|known| known.identity == identity);
    if let Some(Ok(read)) = unchanged.map(|known| postcard::from_bytes::<Read>(&known.facts)) {
        return Ok(read.facts);
    }
    let grown = known.filter(|known| {
        known.identity.inode == identity.inode
            && known.end <= identity.bytes
            && probe(disk, &found.path, known.end).is_ok_and(|probe| probe == known.probe)
    });
    let continued = grown.and_then(|known| Some((postcard::from_bytes::<Read>(&known.facts).ok()?, known.end)));
    let (mut read, start, mut documents) = match continued {
        Some((read, end)) => (read, end, documents(index, &found.path)),
        None => (Read::default(), 0, Documents::default()),
    };
    let mut end = read_rows(disk, found, start, &[], &mut read, &mut documents)?;
    if read.position.has_branches && end > start {
        let left = left_rows(disk, found, end)?;
        (read, documents) = Default::default();
        end = read_rows(disk, found, 0, &left, &mut read, &mut documents)?;
    }
    if let (Ok(facts), Ok(documents), Ok(probe)) =
        (postcard::to_stdvec(&read), postcard::to_stdvec(&documents), probe(disk, &found.path, end))
    {
        index.remember(
            &found.path,
            &IndexedFile { identity, end, probe, directory: read.facts.directory.clone(), facts },
            &documents,
        );
    }
    Ok(read.facts)
}

/// Returns the offsets of the rows of turns that the user left, of the first `end` bytes of a file.
fn left_rows(disk: &dyn Disk, found: &Found, end: u64) -> io::Result<Vec<u64>> {
    let bytes = read_range(disk, &found.path, 0, end as usize)?;
    let session = parse_session(found.provider, found.location.id.clone(), &bytes);
    let left = found.provider.window(&session).left;
    Ok(left.into_iter().map(|row| session.rows[row as usize].offset).collect())
}

/// Reads the rows from `start` on; those at the offsets `left` teach nothing, and are only found by a search. Returns the end of the
/// last complete row.
fn read_rows(
    disk: &dyn Disk,
    found: &Found,
    start: u64,
    left: &[u64],
    read: &mut Read,
    documents: &mut Documents,
) -> io::Result<u64> {
    let mut file = BufReader::with_capacity(READ_BYTES, disk.open(&found.path, start)?);
    let (mut end, mut line) = (start, Vec::new());
    if read.is_open && file.fill_buf()?.first() == Some(&b'\n') {
        file.consume(1);
        end += 1;
        read.is_open = false;
    }
    loop {
        line.clear();
        let length = file.read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(end);
        }
        let is_finished = line.last() == Some(&b'\n');
        if is_finished {
            line.pop();
        } else if !is_complete(found.provider, &line) {
            // The client is still writing it.
            return Ok(end);
        }
        let Read { position, facts, .. } = read;
        position.line(found.provider, &line, &mut |event| {
            if left.binary_search(&end).is_err() {
                facts.push(&event, conventions());
            }
            documents.push(&event);
        });
        position.directory().clone_into(&mut facts.directory);
        read.is_open = !is_finished;
        end += length;
    }
}

/// Returns true if a line without a line feed holds a whole row.
fn is_complete(provider: &dyn ProviderAdapter, line: &[u8]) -> bool {
    provider.parse(line).row.kind != crate::model::RowKind::Broken
}

/// Returns a hash of the start and the end of the first `end` bytes of a file.
fn probe(disk: &dyn Disk, path: &Path, end: u64) -> io::Result<u64> {
    let length = end.min(PROBE_BYTES);
    let mut bytes = read_range(disk, path, 0, length as usize)?;
    bytes.extend(read_range(disk, path, end - length, length as usize)?);
    Ok(XxHash3_64::oneshot(&bytes))
}
