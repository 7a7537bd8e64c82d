//! Loads a session from a file: in chunks, in parallel, and only the part that is not cached.

use super::find::find_beside;
use crate::fsio::{Disk, read_range};
use crate::model::limits::{CACHE_SEGMENT_BYTES, READ_CHUNK_BYTES};
use crate::model::{Event, Fault, Inherited, Key, RowKind, Segment, Session};
use crate::planning::parse_chunk;
use crate::provider::{ProviderAdapter, conventions};
use crate::store::{Cache, CachedFile};
use rayon::prelude::*;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// The number of places of a long file that are sampled to check that its start is unchanged, and the bytes read at each.
const PROBES: u64 = 32;
const PROBE_BYTES: u64 = 4096;

/// Spare capacity of the read buffer, so that the end of a file is detected without growing the buffer.
const SPARE_BYTES: usize = 64;

/// Reads a session file; the part in the cache is not read again.
///
/// A file that is replaced or truncated while it is read could give a mixture of both versions: it is then read again, from its
/// start.
///
/// If the first rows of a fork are in the files of other sessions, these files are read as well; if one of them is missing, this is
/// recorded as damage of the session.
pub fn load(
    disk: &dyn Disk,
    cache: &Cache,
    provider: &'static dyn ProviderAdapter,
    path: &Path,
    id: String,
) -> io::Result<Session> {
    let own = read_whole(disk, cache, provider, path)?;
    let ends_with_newline = !own.last().is_some_and(|last| last.unfinished);
    let bytes = own.last().map_or(0, |last| last.end);
    let (inherited, mut segments, missing) = inherit(disk, cache, provider, path, &own)?;
    segments.extend(own);
    let mut session = Session::join(provider.name(), conventions(), id, segments);
    (session.bytes, session.ends_with_newline, session.inherited) = (bytes, ends_with_newline, inherited);
    if missing {
        session.note(Fault::MissingParentSession);
    }
    provider.link(&mut session);
    Ok(session)
}

/// Returns the segments of a file.
fn read_whole(disk: &dyn Disk, cache: &Cache, provider: &dyn ProviderAdapter, path: &Path) -> io::Result<Vec<Segment>> {
    let known = cache.file(path).unwrap_or_default();
    for known in [known, CachedFile::default()] {
        if let Some(segments) = read(disk, cache, provider, path, known)? {
            return Ok(segments);
        }
    }
    Err(changed_while_read())
}

/// Returns the rows that a session inherits from the files of other sessions, oldest first, and whether one of the files is
/// missing.
fn inherit(
    disk: &dyn Disk,
    cache: &Cache,
    provider: &'static dyn ProviderAdapter,
    path: &Path,
    own: &[Segment],
) -> io::Result<(Vec<Inherited>, Vec<Segment>, bool)> {
    let (mut inherited, mut segments) = (Vec::new(), Vec::new());
    let mut next = base(own);
    while let Some((session, bytes)) = next {
        // A cycle of sessions ends at the first repeated file.
        let known = |path: &PathBuf| inherited.iter().any(|part: &Inherited| part.path == *path);
        let parent = find_beside(disk, provider, path, &session).filter(|parent| !known(parent));
        let Some(parent) = parent else { return Ok((inherited, segments, true)) };
        let mut rows = read_whole(disk, cache, provider, &parent)?;
        rows.iter_mut().for_each(|segment| segment.cut(bytes));
        next = base(&rows);
        let count = rows.iter().map(|segment| segment.rows.len() as u32).sum();
        inherited.insert(0, Inherited { session, path: parent, rows: count });
        segments.splice(0..0, rows);
    }
    Ok((inherited, segments, false))
}

/// Returns the session that a file continues from, and the number of bytes of its file that come first.
fn base(segments: &[Segment]) -> Option<(String, u64)> {
    let head = segments.iter().flat_map(|segment| &segment.rows).find(|row| row.kind == RowKind::State)?;
    match head.event.as_deref() {
        Some(Event::ForkedFrom { session, inherits: Some(bytes) }) => Some((session.clone(), *bytes)),
        _ => None,
    }
}

/// Returns the error for a session that changed while it was read.
pub(super) fn changed_while_read() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "the session changed while it was read")
}

/// Returns the segments of a file, given its cached part; `None` if the file was replaced or truncated meanwhile.
fn read(
    disk: &dyn Disk,
    cache: &Cache,
    provider: &dyn ProviderAdapter,
    path: &Path,
    known: CachedFile,
) -> io::Result<Option<Vec<Segment>>> {
    let identity = disk.identify(path)?;
    let known_end = known.segment.end;
    let grown = || {
        identity.inode == known.identity.inode
            && identity.bytes >= known_end
            && probe(disk, path, known_end).is_ok_and(|probe| probe == known.probe)
    };
    let valid = known_end > 0 && (identity == known.identity || grown());
    let (mut segments, start) = if valid { (vec![known.segment], known_end) } else { (Vec::new(), 0) };
    let mut rest = Vec::new();
    if identity.bytes > start || !valid {
        let read = read_segments(disk, cache, provider, path, start, &mut rest)?;
        let fresh = read.len();
        segments.extend(read);
        let now = disk.identify(path)?;
        let end = segments.last().map_or(0, |last| last.end);
        if now.inode != identity.inode || now.bytes < end {
            return Ok(None);
        }
        // Without a probe nothing is cached, and the file is read again next time.
        if let (1.., Ok(probe)) = (fresh, probe(disk, path, end)) {
            cache.remember(path, &identity, probe, &segments, fresh);
        }
    }
    if !rest.is_empty() {
        let end = segments.last().map_or(0, |last| last.end);
        let mut last = parse_chunk(provider, &counter(cache), &rest, end);
        last.unfinished = true;
        if let Some(row) = last.rows.last_mut()
            && row.kind == RowKind::Broken
        {
            row.event = Some(Box::new(Event::Fault(Fault::HalfWritten)));
        }
        segments.push(last);
    }
    Ok(Some(segments))
}

/// Parses whole lines from `start` on into segments, in parallel; the bytes after the last line feed are stored in `rest`.
fn read_segments(
    disk: &dyn Disk,
    cache: &Cache,
    provider: &dyn ProviderAdapter,
    path: &Path,
    start: u64,
    rest: &mut Vec<u8>,
) -> io::Result<Vec<Segment>> {
    let mut file = disk.open(path, start)?;
    let known = counter(cache);
    let mut parsed: Vec<Segment> = Vec::new();
    let mut offset = start;
    let mut done = false;
    while !done {
        let mut chunks: Vec<(u64, Vec<u8>)> = Vec::new();
        // A few chunks per core at a time limit the memory use.
        while chunks.len() < 4 * rayon::current_num_threads() && !done {
            let mut chunk = std::mem::take(rest);
            done = fill(&mut *file, &mut chunk, READ_CHUNK_BYTES / 4)?;
            let end = memchr::memrchr(b'\n', &chunk).map_or(0, |line_feed| line_feed + 1);
            *rest = chunk.split_off(end);
            if end > 0 {
                offset += end as u64;
                chunks.push((offset - end as u64, chunk));
            }
        }
        let segments = chunks.into_par_iter().map(|(offset, chunk)| parse_chunk(provider, &known, &chunk, offset));
        // Regroup at once, to free unused capacity.
        parsed.extend(Segment::regroup(segments.collect::<Vec<_>>(), CACHE_SEGMENT_BYTES));
    }
    Ok(Segment::regroup(parsed, CACHE_SEGMENT_BYTES))
}

/// Reads until the chunk has a line feed and at least `length` new bytes, or the file ends. Returns true at the end of the file.
fn fill(file: &mut dyn Read, chunk: &mut Vec<u8>, length: usize) -> io::Result<bool> {
    loop {
        let before = chunk.len();
        chunk.reserve(length + SPARE_BYTES);
        let read = file.take(length as u64).read_to_end(chunk)?;
        if read < length {
            return Ok(true);
        }
        if memchr::memchr(b'\n', &chunk[before..]).is_some() {
            return Ok(false);
        }
    }
}

/// Returns a lookup of cached token counts.
fn counter(cache: &Cache) -> impl Fn(Key) -> Option<u32> + Sync {
    let any = cache.has_counts();
    move |hash| if any { cache.count(hash) } else { None }
}

/// Returns a hash of samples of the first `end` bytes of a file: all of a short file; evenly spread pages and the end of a long
/// one.
fn probe(disk: &dyn Disk, path: &Path, end: u64) -> io::Result<u128> {
    if end <= PROBES * PROBE_BYTES {
        return Ok(XxHash3_128::oneshot(&read_range(disk, path, 0, end as usize)?));
    }
    let mut hasher = XxHash3_128::new();
    for place in 0..PROBES {
        let offset = (end - PROBE_BYTES) / (PROBES - 1) * place;
        hasher.write(&read_range(disk, path, offset.min(end - PROBE_BYTES), PROBE_BYTES as usize)?);
    }
    hasher.write(&read_range(disk, path, end - PROBE_BYTES, PROBE_BYTES as usize)?);
    Ok(hasher.finish_128())
}
