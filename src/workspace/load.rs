//! Loads a session from a file: in chunks, in parallel, and only the part that is not cached.

use super::file::{SessionFile, SessionFiles};
use super::find::find_beside;
use super::parts::parts;
use super::secret_scan::named_in_segments;
use crate::engine::Known;
use crate::fsio::{Disk, Identity, is_packed};
use crate::model::limits::{CACHE_SEGMENT_BYTES, READ_CHUNK_BYTES};
use crate::model::{Event, Fault, Inherited, Key, RowKind, Segment, Session};
use crate::planning::{EarlierRows, parse_changed, parse_chunk};
use crate::provider::{Framing, ProviderAdapter, conventions};
use crate::store::{Cache, CachedFile};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::io;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// The number of places of a long file that are sampled to check that its start is unchanged, and the bytes read at each.
const PROBES: u64 = 32;
const PROBE_BYTES: u64 = 4096;

/// Reads a session file; the part in the cache is not read again.
/// Errors: the file cannot be read, or changed repeatedly while it was read.
pub fn load(
    disk: &dyn Disk,
    cache: &Cache,
    provider: &'static dyn ProviderAdapter,
    path: &Path,
    id: String,
) -> io::Result<Session> {
    Ok(Loader { disk, cache, provider, hidden: Known::default() }.load(path, id)?.0)
}

/// Reads session files.
pub(super) struct Loader<'a, 'c> {
    pub disk: &'a dyn Disk,
    pub cache: &'c Cache,
    pub provider: &'static dyn ProviderAdapter,
    /// Values that are masked in what is cached, beside those that the files name as credentials.
    pub hidden: Known,
}

impl<'a> Loader<'a, '_> {
    /// Reads a session file, and returns it with the files, for reading their rows again.
    ///
    /// A file that is replaced or truncated while it is read could give a mixture of both versions: it is then read again, from its
    /// start.
    ///
    /// If the first rows of a fork are in the files of other sessions, these files are read as well; if one of them is missing, this is
    /// recorded as damage of the session.
    pub(super) fn load(&self, path: &Path, id: String) -> io::Result<(Session, SessionFiles<'a>)> {
        let (mut own, fresh, file, identity) = self.read_whole(path)?;
        let ends_with_newline = !own.last().is_some_and(|last| last.unfinished);
        let bytes = own.last().map_or(0, |last| last.end);
        let Parents { inherited, files, mut segments, fault, known } = self.inherit(path, &own, fresh > 0)?;
        self.remember(path, (&file, &identity), &mut own, fresh, &known);
        segments.extend(own);
        let mut session = Session::join(self.provider.name(), conventions(), id, segments);
        (session.bytes, session.ends_with_newline, session.inherited) = (bytes, ends_with_newline, inherited);
        fault.into_iter().for_each(|fault| session.note(fault));
        if self.provider.keeps_offsets(&session)
            && let Some(last) = session.rows.last().filter(|row| row.kind != RowKind::Broken)
            && session.rows.len() as u32 > session.inherited_rows()
            && self.provider.ordinal(file.range(last.offset..last.offset + u64::from(last.length))?.trim_ascii()).is_none()
        {
            session.note(Fault::MissingOrdinal);
        }
        self.provider.link(&mut session);
        Ok((session, SessionFiles { own: file, inherited: files, identity }))
    }

    /// Returns the segments of a file, the number of those that are not cached, the file, and its state before it was read.
    fn read_whole(&self, path: &Path) -> io::Result<(Vec<Segment>, usize, SessionFile<'a>, Identity)> {
        let known = self.cache.file(path).unwrap_or_default();
        for known in [known, CachedFile::default()] {
            let file = SessionFile::new(self.disk, path);
            let identity = self.disk.identify(path)?;
            if let Some((segments, fresh)) = self.read(path, &file, known, identity)? {
                return Ok((segments, fresh, file, identity));
            }
        }
        Err(changed_while_read())
    }

    /// Caches the segments of a file, of which the last `fresh` are new. The values that they, the rows that it inherits and the log
    /// name as credentials are masked in them before.
    fn remember(
        &self,
        path: &Path,
        (file, identity): (&SessionFile<'_>, &Identity),
        segments: &mut [Segment],
        fresh: usize,
        inherited: &Known,
    ) {
        if fresh == 0 {
            return;
        }
        let whole = segments.iter().filter(|segment| !segment.unfinished).count();
        let segments = &mut segments[..whole];
        let end = segments.last().map_or(0, |last| last.end);
        // Without a probe nothing is cached, and the file is read again next time.
        let Ok(probe) = probe(file, end) else { return };
        let Ok(known) = named_in_segments(self.provider, file, segments) else { return };
        let (cached, new) = segments.split_at(whole - fresh);
        // A value that is named now can be in what is cached.
        let fresh = if hashes(new).is_subset(&hashes(cached)) { fresh } else { whole };
        let known = known.with(inherited).with(&self.hidden);
        segments[whole - fresh..].iter_mut().for_each(|segment| known.hide_in_segment(segment));
        self.cache.remember(path, identity, probe, segments, fresh);
    }

    /// Reads the rows that a file inherits. Their credentials are returned if `learns` is true.
    fn inherit(&self, path: &Path, own: &[Segment], learns: bool) -> io::Result<Parents<'a>> {
        let mut parents = Parents::default();
        let mut next = base(own);
        while let Some((session, bytes)) = next {
            // A cycle of sessions ends at the first repeated file.
            let known = |path: &PathBuf| parents.inherited.iter().any(|part| part.path == *path);
            let parent = find_beside(self.disk, self.provider, path, &session).filter(|parent| !known(parent));
            let Some(parent) = parent else { return Ok(Parents { fault: Some(Fault::MissingParentSession), ..parents }) };
            let (mut rows, fresh, file, identity) = self.read_whole(&parent)?;
            self.remember(&parent, (&file, &identity), &mut rows, fresh, &Known::default());
            if learns {
                parents.known = parents.known.with(&named_in_segments(self.provider, &file, &rows)?);
            }
            if rows.last().is_none_or(|last| last.end < bytes) {
                parents.fault = Some(Fault::ShortParentSession);
            }
            rows.iter_mut().for_each(|segment| segment.cut(bytes));
            next = base(&rows);
            let count = rows.iter().map(|segment| segment.rows.len() as u32).sum();
            parents.inherited.insert(0, Inherited { session, path: parent, rows: count });
            parents.files.insert(0, file);
            parents.segments.splice(0..0, rows);
        }
        Ok(parents)
    }

    /// Returns the segments of a file, given its cached part and its state, and the number of those at their end that are to be cached;
    /// `None` if the file was replaced or truncated meanwhile.
    fn read(
        &self,
        path: &Path,
        file: &SessionFile<'_>,
        known: CachedFile,
        identity: Identity,
    ) -> io::Result<Option<(Vec<Segment>, usize)>> {
        let known_end = known.segment.end;
        if self.provider.framing() != Framing::Lines {
            let (whole, fresh) = if known_end > 0 && identity == known.identity {
                (known.segment, 0)
            } else {
                self.read_document(file, identity)?
            };
            return Ok(still_has(self.disk, path, &identity, whole.end)?.then(|| (vec![whole], fresh)));
        }
        let grown = || {
            identity.inode == known.identity.inode
                && identity.bytes >= known_end
                && probe(file, known_end).is_ok_and(|probe| probe == known.probe)
        };
        let valid = known_end > 0 && (identity == known.identity || grown());
        let (mut segments, changed) = if valid { (vec![known.segment], None) } else { (Vec::new(), Some(known.segment)) };
        let start = if valid { known_end } else { 0 };
        // Most lines of a changed file are those of before.
        let earlier = changed.as_ref().map(EarlierRows::new);
        let (mut rest, mut fresh) = (Vec::new(), 0);
        // The length of a compressed file does not tell if a last row without a line feed follows the cached ones.
        if identity.bytes > start || !valid || is_packed(path) {
            let mut read = self.read_segments(file, start, earlier.as_ref(), &mut rest)?;
            // In earlier rows, values are masked that the file may no longer name.
            if changed.as_ref().is_some_and(|changed| !hashes(std::slice::from_ref(changed)).is_subset(&hashes(&read))) {
                rest.clear();
                read = self.read_segments(file, start, None, &mut rest)?;
            }
            fresh = read.len();
            segments.extend(read);
            let end = segments.last().map_or(0, |last| last.end);
            if !still_has(self.disk, path, &identity, end)? {
                return Ok(None);
            }
        }
        if !rest.is_empty() {
            let end = segments.last().map_or(0, |last| last.end);
            let mut last = parse_chunk(self.provider, &counter(self.cache), &rest, end);
            last.unfinished = true;
            if let Some(row) = last.rows.last_mut()
                && row.kind == RowKind::Broken
            {
                row.event = Some(Box::new(Event::Fault(Fault::HalfWritten)));
            }
            segments.push(last);
        }
        Ok(Some((segments, fresh)))
    }

    /// Parses a file that is not framed by lines, such as a JSON document: it is one segment, and is read again after any change. Also
    /// returns the number of segments to cache.
    fn read_document(&self, file: &SessionFile<'_>, identity: Identity) -> io::Result<(Segment, usize)> {
        let mut bytes = Vec::new();
        file.read(0, usize::try_from(identity.bytes).unwrap_or(usize::MAX), &mut bytes)?;
        let segment = parse_chunk(self.provider, &counter(self.cache), &bytes, 0);
        // The cache shares its counts among all files: they are those of o200k.
        let is_cached = !bytes.is_empty() && !self.provider.vocabulary(&bytes).is_older();
        Ok((segment, usize::from(is_cached)))
    }

    /// Parses whole lines from `start` on into segments, in parallel; the bytes after the last line feed are stored in `rest`.
    fn read_segments(
        &self,
        file: &SessionFile<'_>,
        start: u64,
        earlier: Option<&EarlierRows<'_>>,
        rest: &mut Vec<u8>,
    ) -> io::Result<Vec<Segment>> {
        let known = counter(self.cache);
        let mut parsed: Vec<Segment> = Vec::new();
        let mut offset = start;
        let mut done = false;
        while !done {
            let mut chunks: Vec<(u64, Vec<u8>)> = Vec::new();
            // A few chunks per core at a time limit the memory use.
            while chunks.len() < 4 * rayon::current_num_threads() && !done {
                let mut chunk = std::mem::take(rest);
                done = fill(file, offset, &mut chunk, READ_CHUNK_BYTES / 4)?;
                let end = memchr::memrchr(b'\n', &chunk).map_or(0, |line_feed| line_feed + 1);
                *rest = chunk.split_off(end);
                if end > 0 {
                    offset += end as u64;
                    chunks.push((offset - end as u64, chunk));
                }
            }
            let parse = |(offset, chunk): (u64, Vec<u8>)| parse_changed(self.provider, &known, earlier, &chunk, offset);
            let segments = chunks.into_par_iter().map(parse);
            // Regroup at once, to free unused capacity.
            parsed.extend(Segment::regroup(segments.collect::<Vec<_>>(), CACHE_SEGMENT_BYTES));
        }
        Ok(Segment::regroup(parsed, CACHE_SEGMENT_BYTES))
    }
}

/// The rows that a session inherits from the files of other sessions, oldest first.
#[derive(Default)]
struct Parents<'a> {
    inherited: Vec<Inherited>,
    files: Vec<SessionFile<'a>>,
    segments: Vec<Segment>,
    fault: Option<Fault>,
    /// The values that they name as credentials.
    known: Known,
}

/// Returns the hashes of the values that segments name as credentials.
fn hashes(segments: &[Segment]) -> FxHashSet<u32> {
    segments.iter().flat_map(|segment| &segment.secrets).map(|place| place.hash).collect()
}

/// Returns the session that a file continues from, and the number of bytes of its file that come first.
fn base(segments: &[Segment]) -> Option<(String, u64)> {
    let head = segments.iter().flat_map(|segment| &segment.rows).find(|row| row.kind == RowKind::State)?;
    match head.event.as_deref() {
        Some(Event::ForkedFrom { session, inherits: Some(bytes) }) => Some((session.clone(), *bytes)),
        _ => None,
    }
}

pub(super) fn changed_while_read() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "the session changed while it was read")
}

/// Returns true if the file at a path is still the one that was read, with at least the bytes that were read.
fn still_has(disk: &dyn Disk, path: &Path, identity: &Identity, end: u64) -> io::Result<bool> {
    // A session that is put together is read at once.
    if parts(path).is_some() {
        return Ok(true);
    }
    let now = disk.identify(path)?;
    // A compressed file is never appended to, and its length is not that of its content.
    Ok(if is_packed(path) { now == *identity } else { now.inode == identity.inode && now.bytes >= end })
}

/// Reads on until the chunk at `offset` has a line feed and at least `length` new bytes, or the file ends. Returns true at the end
/// of the file.
fn fill(file: &SessionFile<'_>, offset: u64, chunk: &mut Vec<u8>, length: usize) -> io::Result<bool> {
    loop {
        let before = chunk.len();
        let read = file.read(offset + before as u64, length, chunk)?;
        if read < length {
            return Ok(true);
        }
        if memchr::memchr(b'\n', &chunk[before..]).is_some() {
            return Ok(false);
        }
    }
}

fn counter(cache: &Cache) -> impl Fn(Key) -> Option<u32> + Sync {
    let any = cache.has_counts();
    move |hash| if any { cache.count(hash) } else { None }
}

/// Returns a hash of samples of the first `end` bytes of a file: all of a short file; evenly spread pages and the end of a long
/// one.
fn probe(file: &SessionFile<'_>, end: u64) -> io::Result<u128> {
    if end <= PROBES * PROBE_BYTES {
        return Ok(XxHash3_128::oneshot(&file.range(0..end)?));
    }
    let mut hasher = XxHash3_128::new();
    for place in 0..PROBES {
        let offset = ((end - PROBE_BYTES) / (PROBES - 1) * place).min(end - PROBE_BYTES);
        hasher.write(&file.range(offset..offset + PROBE_BYTES)?);
    }
    hasher.write(&file.range(end - PROBE_BYTES..end)?);
    Ok(hasher.finish_128())
}
