//! The files of a session, as one command reads them: each is opened once, and each byte of it is read once. (Before that, the
//! format of a session that is named by its path is detected from its first bytes.)
//!
//! All steps of a command therefore see the same bytes, even if a client writes meanwhile. Only [`mod@super::apply`] reads the file
//! again, under the lock, and compares its hash with the one that the plan was made for.

use super::{Workspace, find, load};
use crate::fsio::{Disk, Identity, OpenFile};
use crate::model::limits::HELD_FILE_BYTES;
use crate::model::{Address, Session};
use crate::planning::{Rows, SpliceError};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

const PIECE_BYTES: usize = 1 << 18;
/// The number of bytes that are read at once after the end that the file had when it was opened: it may have grown.
const SMALLEST_READ_BYTES: usize = 1 << 12;

/// A session file. It is opened at the first read, and stays the same file if another one replaces it on the disk.
///
/// The bytes that were read are held if the file has at most [`HELD_FILE_BYTES`]; of a larger file they are read again.
pub struct SessionFile<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    opened: Mutex<Option<Opened>>,
}

struct Opened {
    file: Box<dyn OpenFile>,
    /// The bytes that were read, by offset, without overlaps.
    pieces: BTreeMap<u64, Vec<u8>>,
    length: u64,
}

impl<'a> SessionFile<'a> {
    /// Returns the file at a path, not yet opened.
    pub fn new(disk: &'a dyn Disk, path: &Path) -> SessionFile<'a> {
        SessionFile { disk, path: path.to_owned(), opened: Mutex::default() }
    }

    /// Appends the `length` bytes from `offset` to `bytes`, and returns their number: fewer if the file ends before.
    pub fn read(&self, offset: u64, length: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let before = bytes.len();
        let end = offset.saturating_add(length as u64);
        self.with_opened(|opened| {
            let mut at = offset;
            while at < end && opened.read_piece(at, end, bytes)? {
                at = offset + (bytes.len() - before) as u64;
            }
            Ok(bytes.len() - before)
        })
    }

    /// Passes the open file to `to`; opens it before, if this is the first time.
    fn with_opened<T>(&self, to: impl FnOnce(&mut Opened) -> io::Result<T>) -> io::Result<T> {
        // A thread that panicked left the pieces complete: each is inserted as a whole.
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *opened {
            Some(opened) => to(opened),
            none => to(none.insert(Opened::new(self.disk.open(&self.path, 0)?)?)),
        }
    }

    /// Returns a range of the file.
    /// Errors: as [`SessionFile::read`]; [`ErrorKind::UnexpectedEof`] if the file is shorter.
    pub fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        match self.read(range.start, length, &mut bytes)? {
            read if read < length => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(bytes),
        }
    }
}

impl SessionFile<'_> {
    pub fn line_feeds(&self, range: Range<u64>) -> io::Result<u64> {
        const PIECE: u64 = 1 << 20;
        let (mut at, mut count) = (range.start, 0);
        while at < range.end {
            let end = range.end.min(at + PIECE);
            count += memchr::memchr_iter(b'\n', &self.range(at..end)?).count() as u64;
            at = end;
        }
        Ok(count)
    }
}

/// Reads a session file from its start.
pub struct FileReader<'a> {
    pub file: &'a SessionFile<'a>,
    pub at: u64,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = Vec::with_capacity(buffer.len());
        let read = self.file.read(self.at, buffer.len(), &mut bytes)?;
        buffer[..read].copy_from_slice(&bytes);
        self.at += read as u64;
        Ok(read)
    }
}

impl Opened {
    fn new(mut file: Box<dyn OpenFile>) -> io::Result<Opened> {
        let length = file.seek(SeekFrom::End(0))?;
        Ok(Opened { file, pieces: BTreeMap::new(), length })
    }

    fn holds(&self) -> bool {
        self.length <= HELD_FILE_BYTES as u64
    }

    /// Returns the held bytes from `at` to the end of their piece, but not past `end`; empty if `at` is not held.
    fn held(&self, at: u64, end: u64) -> &[u8] {
        let piece = self.pieces.range(..=at).next_back();
        let held = piece.and_then(|(start, piece)| piece.get((at - start) as usize..)).unwrap_or_default();
        &held[..held.len().min(usize::try_from(end - at).unwrap_or(usize::MAX))]
    }

    /// Appends the bytes of the file from `at` to the next held piece, but not past `end`. Returns true unless the file ends before.
    fn fill(&mut self, at: u64, end: u64, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let length = self.pieces.range(at..end).next().map_or(end, |(start, _)| *start) - at;
        self.file.seek(SeekFrom::Start(at))?;
        let mut left = usize::try_from(length).unwrap_or(usize::MAX);
        // `read_to_end` would start with small pieces. More than the file has is often requested, and a damaged row can claim any
        // length.
        let rest = usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX);
        let piece = rest.clamp(SMALLEST_READ_BYTES, HELD_FILE_BYTES);
        while left > 0 {
            let start = bytes.len();
            bytes.resize(start + left.min(piece), 0);
            let read = self.file.read(&mut bytes[start..]);
            bytes.truncate(start + read.as_ref().map_or(0, |read| *read));
            match read {
                Ok(0) => return Ok(false),
                Ok(read) => left -= read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Makes sure that the byte at `at` is held: reads the bytes from there, but not past `end`. Returns false at the end of the
    /// file, or if its bytes are not held.
    fn hold(&mut self, at: u64, end: u64) -> io::Result<bool> {
        if !self.holds() || !self.held(at, end).is_empty() {
            return Ok(self.holds());
        }
        let mut piece = Vec::new();
        self.fill(at, end, &mut piece)?;
        let is_read = !piece.is_empty();
        if is_read {
            self.pieces.insert(at, piece);
        }
        Ok(is_read)
    }

    /// Appends some bytes from `at` on to `bytes`, but not past `end`. Returns false at the end of the file.
    fn read_piece(&mut self, at: u64, end: u64, bytes: &mut Vec<u8>) -> io::Result<bool> {
        if !self.holds() {
            return self.fill(at, end, bytes);
        }
        let is_held = self.hold(at, end)?;
        bytes.extend_from_slice(self.held(at, end));
        Ok(is_held)
    }
}

impl Rows for SessionFile<'_> {
    fn line(&self, session: &Session, row: u32) -> Result<Rc<[u8]>, SpliceError> {
        let place = session.rows.get(row as usize).ok_or(SpliceError::Mismatch)?;
        Ok(self.range(place.offset..place.offset + u64::from(place.length))?.into())
    }

    fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.range(range)
    }

    fn pass(&self, range: Range<u64>, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut at = range.start;
        let mut buffer = Vec::new();
        self.with_opened(|opened| {
            while at < range.end {
                let end = range.end.min(at + PIECE_BYTES as u64);
                // Held bytes are passed on without a copy.
                let piece = if opened.hold(at, end)? {
                    opened.held(at, end)
                } else {
                    buffer.clear();
                    opened.fill(at, end, &mut buffer)?;
                    &buffer[..]
                };
                if piece.is_empty() {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                to(piece)?;
                at += piece.len() as u64;
            }
            Ok(())
        })
    }
}

/// The file of a session, and the files of the rows that it inherits.
pub struct SessionFiles<'a> {
    pub own: SessionFile<'a>,
    /// The files of the inherited rows, in the order of [`Session::inherited`].
    pub inherited: Vec<SessionFile<'a>>,
    /// The state of the file of the session before it was read.
    pub identity: Identity,
}

impl SessionFiles<'_> {
    /// Returns a row without its line feed.
    pub fn line(&self, session: &Session, row: u32) -> io::Result<Vec<u8>> {
        let place = session.rows.get(row as usize).ok_or_else(load::changed_while_read)?;
        let file = match session.inherited_from(row) {
            None => &self.own,
            Some(from) => {
                let part = session.inherited.iter().position(|part| part == from);
                part.and_then(|part| self.inherited.get(part)).ok_or_else(load::changed_while_read)?
            }
        };
        file.range(place.offset..place.offset + u64::from(place.length))
    }
}

/// The rows of a session that a change is planned for, including its inherited rows.
pub struct SessionRows<'a> {
    workspace: &'a Workspace<'a>,
    /// The row that was read last: most rows are requested several times in succession.
    last: RefCell<Option<(u32, Rc<[u8]>)>>,
}

impl<'a> SessionRows<'a> {
    pub fn new(workspace: &'a Workspace<'a>) -> SessionRows<'a> {
        SessionRows { workspace, last: RefCell::default() }
    }
}

impl Rows for SessionRows<'_> {
    fn line(&self, session: &Session, row: u32) -> Result<Rc<[u8]>, SpliceError> {
        if let Some((_, line)) = self.last.borrow().as_ref().filter(|(last, _)| *last == row) {
            return Ok(Rc::clone(line));
        }
        if row as usize >= session.rows.len() {
            return Err(SpliceError::Mismatch);
        }
        let line: Rc<[u8]> = self.workspace.files.line(session, row)?.into();
        *self.last.borrow_mut() = Some((row, Rc::clone(&line)));
        Ok(line)
    }

    fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.workspace.files.own.range(range)
    }

    fn pass(&self, range: Range<u64>, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.workspace.files.own.pass(range, to)
    }

    fn session_hash(&self, session: &Session) -> io::Result<Option<Address>> {
        let Workspace { cache, path, files: SessionFiles { identity, .. }, .. } = self.workspace;
        // The file may have grown between the look at its state and the reading.
        if session.bytes != identity.bytes {
            return self.hash(session.bytes);
        }
        if let Some(hash) = cache.hash(path, identity) {
            return Ok(Some(hash));
        }
        let hash = self.hash(session.bytes)?;
        if let Some(hash) = &hash {
            cache.remember_hash(path, identity, hash);
        }
        Ok(hash)
    }

    fn inherited_bytes(&self) -> u64 {
        let Workspace { disk, provider, path, location, .. } = self.workspace;
        find::inherited_bytes(*disk, *provider, path, &location.id)
    }
}
