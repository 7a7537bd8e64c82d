//! Brings the index up to date with the files.

use super::source::{Source, SourceKind};
use crate::engine::search::{FileTerms, HiddenValues, TurnReader};
use crate::fsio::Disk;
use crate::store::{IndexedSession, ReadSession, SearchIndex, fingerprint};
use crate::workspace::{TracePosition, left_rows};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Bytes of files that are read before their words are written: their words are held in memory.
const CHUNK_BYTES: u64 = 32 << 20;

/// Where the reading of a file continues.
#[derive(Default, Serialize, Deserialize)]
struct State {
    position: TracePosition,
    /// The number of its last turn.
    number: u32,
    hidden: HiddenValues,
}

/// The files of an index by their number: each is the index of its source.
pub type Indexed = FxHashMap<i64, usize>;

/// Reads what is new in files and adds it to the index. With `all`, the sources are all files there are, and others are deleted
/// from the index. `progress` is given the bytes of the files that were read, and of all that will be. Files that cannot be read are
/// passed to `skipped`.
pub fn update(
    disk: &dyn Disk,
    index: &mut SearchIndex,
    sources: &[Source],
    all: bool,
    progress: &dyn Fn(u64, u64),
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> rusqlite::Result<Indexed> {
    let seal = index.seal();
    let fingerprint = |source: &Source| fingerprint(seal, source.path(), &source.identity, source.stamp());
    let fingerprints: Vec<i64> = sources.par_iter().map(fingerprint).collect();
    let places: FxHashMap<i64, usize> = fingerprints.into_iter().zip(0..).collect();
    let (indexed, mut gone) = matched(index, &places)?;
    let mut is_known = vec![false; sources.len()];
    indexed.values().for_each(|place| is_known[*place] = true);
    let outdated = sources.iter().zip(is_known).filter(|(_, is_known)| !is_known);
    let outdated: Vec<&Source> = outdated.map(|(source, _)| source).collect();
    // Of a session whose log cannot be read, the current content is searched.
    if outdated.iter().filter(|source| source.stamp() != 0 && source.logged.is_unreadable()).count() > 0 {
        return update(disk, index, sources, all, progress, skipped);
    }
    let mut outdated: Vec<(&Source, Option<IndexedSession>)> =
        outdated.into_iter().map(|source| Ok((source, index.file(source.path())?))).collect::<rusqlite::Result<_>>()?;
    let kept: FxHashSet<i64> = outdated.iter().filter_map(|(_, known)| Some(known.as_ref()?.id)).collect();
    gone.retain(|file| all && !kept.contains(file));
    if outdated.is_empty() && gone.is_empty() {
        return Ok(indexed);
    }
    // Largest first, so that no core is left with a large file at the end.
    outdated.sort_by_key(|(source, _)| std::cmp::Reverse(source.identity.bytes));
    let total: u64 = outdated.iter().map(|(source, _)| source.identity.bytes).sum();
    let mut done = 0;
    progress(done, total);
    if !gone.is_empty() {
        index.write(&[], &gone)?;
    }
    for chunk in chunks(&outdated) {
        let states: Vec<Option<(i64, Vec<u8>)>> =
            chunk.iter().map(|(source, known)| state(index, known.as_ref(), source)).collect::<rusqlite::Result<_>>()?;
        let read: Vec<io::Result<ReadSession<'_>>> = chunk
            .par_iter()
            .zip(states)
            .with_max_len(1)
            .map(|((source, known), state)| read(disk, source, known.as_ref(), state))
            .collect();
        done += chunk.iter().map(|(source, _)| source.identity.bytes).sum::<u64>();
        let mut readable = Vec::with_capacity(read.len());
        for ((source, _), read) in chunk.iter().zip(read) {
            match read {
                Ok(read) => readable.push(read),
                Err(error) => skipped(source.path(), error),
            }
        }
        index.write(&readable, &[])?;
        progress(done, total);
    }
    Ok(matched(index, &places)?.0)
}

/// Returns the values that a file of an index names as credentials; `None` if they are not known.
pub fn hidden_values(index: &SearchIndex, file: i64) -> Option<HiddenValues> {
    let state = index.state(file).ok().flatten()?;
    postcard::from_bytes::<State>(&state).ok().map(|state| state.hidden)
}

/// Returns the files of an index that are sources, by their fingerprints, and the numbers of its other files.
fn matched(index: &SearchIndex, places: &FxHashMap<i64, usize>) -> rusqlite::Result<(Indexed, Vec<i64>)> {
    let (mut indexed, mut others) = (Indexed::default(), Vec::new());
    indexed.reserve(places.len());
    for (fingerprint, file) in index.fingerprints()? {
        match places.get(&fingerprint) {
            Some(place) => drop(indexed.insert(file, *place)),
            None => others.push(file),
        }
    }
    Ok((indexed, others))
}

/// Divides sources into runs with about [`CHUNK_BYTES`] each.
fn chunks<'s, 'a>(sources: &'s [(&'a Source, Option<IndexedSession>)]) -> Vec<&'s [(&'a Source, Option<IndexedSession>)]> {
    let (mut chunks, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, (source, _)) in sources.iter().enumerate() {
        bytes += source.identity.bytes;
        if bytes >= CHUNK_BYTES || at + 1 == sources.len() {
            chunks.push(&sources[start..=at]);
            (start, bytes) = (at + 1, 0);
        }
    }
    chunks
}

/// Returns the number of a file in the index and its state, if the file may have grown since.
fn state(index: &SearchIndex, known: Option<&IndexedSession>, source: &Source) -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
    let Some(known) = known.filter(|known| known.stamp == source.stamp()) else { return Ok(None) };
    Ok(index.state(known.id)?.map(|state| (known.id, state)))
}

fn read<'a>(
    disk: &dyn Disk,
    source: &'a Source,
    known: Option<&IndexedSession>,
    state: Option<(i64, Vec<u8>)>,
) -> io::Result<ReadSession<'a>> {
    let continued = state.and_then(|(id, bytes)| {
        let state: State = postcard::from_bytes(&bytes).ok()?;
        let is_start = state.position.is_start_of(disk, source.path(), &known?.identity, &source.identity);
        is_start.then_some((id, state))
    });
    let (mut continues, mut state) = continued.map_or_else(Default::default, |(id, state)| (Some(id), state));
    let (before, hidden) = (state.position.end, state.hidden.clone());
    let mut terms = read_turns(disk, source, &mut state, &[])?;
    // Words that were indexed before can have a value that is named now.
    let names = continues.is_some() && state.hidden != hidden;
    if let SourceKind::Session(found) = &source.kind
        && (names || state.position.has_branches && state.position.end > before)
    {
        let left = left_rows(disk, found, &state.position)?;
        (state, continues) = Default::default();
        terms = read_turns(disk, source, &mut state, &left)?;
    }
    let (path, identity, stamp) = (source.path(), source.identity, source.stamp());
    Ok(ReadSession { path, identity, stamp, state: postcard::to_stdvec(&state).unwrap_or_default(), continues, terms })
}

fn read_turns(disk: &dyn Disk, source: &Source, state: &mut State, left: &[u64]) -> io::Result<FileTerms> {
    let mut reader = TurnReader::after(state.number, std::mem::take(&mut state.hidden));
    source.read(disk, &mut state.position, &mut |start, event| reader.push(event, start, left.binary_search(&start).is_ok()))?;
    state.number = reader.number();
    let (terms, hidden) = reader.finish();
    state.hidden = hidden;
    Ok(terms)
}
