//! Asks the index of search about sources.

use crate::app::{CommandError, Env, ErrorKind};
use crate::search::{Indexed, Source, update};
use crate::store::{SearchIndex, is_damaged};
use crate::workspace::session_of;
use anyhow::anyhow;
use rustc_hash::FxHashSet;
use std::path::Path;

/// Brings the index up to date with sources and returns what `question` finds in it. With `all`, the sources are all files there are.
/// A damaged index is deleted; one that cannot be stored is held in memory.
pub fn ask<T>(
    env: &Env,
    sources: &[Source],
    all: bool,
    progress: &dyn Fn(u64, u64),
    question: &dyn Fn(&SearchIndex, &Indexed) -> rusqlite::Result<T>,
) -> Result<T, CommandError> {
    let mut skip = |path: &Path, error: std::io::Error| env.note(&format!("skipped {}: {error}", path.display()));
    let mut answer = |mut index: SearchIndex, all: bool| {
        let indexed = update(env.disk, &mut index, sources, all, progress, &mut skip)?;
        question(&index, &indexed)
    };
    let mut stored = || env.search_index().and_then(|index| answer(index, all));
    let found = match stored() {
        Err(error) if is_damaged(&error) => {
            env.delete_search_index();
            stored()
        }
        found => found,
    };
    // Another process writes the index, or it cannot be stored: the answer is the same.
    found
        .or_else(|_| answer(SearchIndex::in_memory()?, false))
        .map_err(|error| CommandError::new(ErrorKind::Internal, anyhow!(error).context("cannot keep an index in memory")))
}

/// Returns the id of the session in which the agent that asks works; `None` if no agent asks.
pub fn asking_session(env: &Env) -> Option<String> {
    let client = env.client();
    client.process.and_then(|process| session_of(env.disk, &env.places, process)).or(client.session)
}

/// Gives sources the contents that aperture changed, as they were.
pub fn restore_originals(env: &Env, sources: &mut [Source]) -> Result<(), CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(()) };
    let changed = store.window_changes()?;
    // A path is resolved only if its file is one of these, under any name.
    let inodes: FxHashSet<_> = changed.keys().filter_map(|path| Some(env.disk.identify(path).ok()?.inode)).collect();
    for source in sources.iter_mut().filter(|source| inodes.contains(&source.identity.inode)) {
        let Some(changes) = env.disk.resolve(source.path()).ok().and_then(|path| changed.get(&path)) else { continue };
        source.stamp = changes.last().map_or(0, |(time, _)| time ^ changes.len() as i64);
        if let Some(session) = store.find(source.path())? {
            source.originals = crate::commands::recall::original_texts(&store, &session)?;
        }
    }
    Ok(())
}
