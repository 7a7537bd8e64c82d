//! The file that a plan is made for. It is read row by row and passed on in pieces, so that a large one is never held whole.

use super::splice::SpliceError;
use crate::fsio::{Disk, OpenFile};
use crate::model::{Address, Session};
use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, ErrorKind, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Bytes that are read in one call where a file is passed on.
const PIECE_BYTES: usize = 1 << 18;

/// A session file that is open for reading, whatever takes its name meanwhile.
pub struct Base<'a> {
    file: RefCell<Box<dyn OpenFile + 'a>>,
    /// The row that was read last: it is mostly asked for again.
    held: RefCell<Option<(u32, Rc<[u8]>)>>,
    /// The files of the rows that are inherited, in the order of [`Session::inherited`].
    inherited: Vec<Base<'static>>,
}

impl<'a> Base<'a> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn open(disk: &dyn Disk, path: &Path) -> io::Result<Base<'static>> {
        Ok(Base::of(disk.open(path, 0)?))
    }

    /// Opens the file of a session, and those of the rows that it inherits.
    ///
    /// # Errors
    ///
    /// One of them cannot be opened.
    pub fn open_all(disk: &dyn Disk, path: &Path, session: &Session) -> io::Result<Base<'static>> {
        let inherited = session.inherited.iter().map(|part| Base::open(disk, &part.path)).collect::<io::Result<_>>()?;
        Ok(Base { inherited, ..Base::open(disk, path)? })
    }

    /// A file that is open, or its bytes.
    pub fn of(file: Box<dyn OpenFile + 'a>) -> Base<'a> {
        Base { file: RefCell::new(file), held: RefCell::default(), inherited: Vec::new() }
    }

    /// Some bytes of it.
    ///
    /// # Errors
    ///
    /// They cannot be read, or are not there any more.
    pub fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Passes some bytes of it on, in pieces.
    ///
    /// # Errors
    ///
    /// As [`Base::range`]; or `to` fails.
    pub fn pass(&self, range: Range<u64>, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(range.start))?;
        let length = range.end.saturating_sub(range.start);
        let piece = PIECE_BYTES.min(usize::try_from(length).unwrap_or(usize::MAX));
        pass(&mut BufReader::with_capacity(piece, &mut *file), length, to)
    }

    /// A row of the session that was read from it, without its line feed.
    ///
    /// # Errors
    ///
    /// As [`Base::range`]; or there is no such row.
    pub fn line(&self, session: &Session, row: u32) -> Result<Rc<[u8]>, SpliceError> {
        if let Some((_, line)) = self.held.borrow().as_ref().filter(|(held, _)| *held == row) {
            return Ok(Rc::clone(line));
        }
        let place = session.rows.get(row as usize).ok_or(SpliceError::Mismatch)?;
        let range = place.offset..place.offset + u64::from(place.length);
        let line: Rc<[u8]> = match session.inherited_from(row) {
            None => self.range(range)?.into(),
            Some(from) => {
                let part = session.inherited.iter().position(|part| part == from);
                let file = part.and_then(|part| self.inherited.get(part)).ok_or(SpliceError::Mismatch)?;
                file.range(range)?.into()
            }
        };
        *self.held.borrow_mut() = Some((row, Rc::clone(&line)));
        Ok(line)
    }

    /// All of it, from the beginning on.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn into_reader(self) -> io::Result<BufReader<Box<dyn OpenFile + 'a>>> {
        let mut file = self.file.into_inner();
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(PIECE_BYTES, file))
    }

    /// BLAKE3 of its first bytes, and the last one of these; none where there are not as many.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn hash(&self, length: u64) -> io::Result<Option<(Address, Option<u8>)>> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(0))?;
        let mut hasher = blake3::Hasher::new();
        let mut last = None;
        let passed = pass(&mut BufReader::with_capacity(PIECE_BYTES, &mut *file), length, &mut |bytes| {
            hasher.update(bytes);
            last = bytes.last().copied();
            Ok(())
        });
        match passed {
            Ok(()) => Ok(Some((*hasher.finalize().as_bytes(), last))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Passes the next `length` bytes on, in pieces.
///
/// # Errors
///
/// They cannot be read, or `to` fails; [`ErrorKind::UnexpectedEof`] where there are not as many.
pub fn pass(reader: &mut dyn BufRead, length: u64, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut left = length;
    while left > 0 {
        let bytes = match reader.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let taken = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        to(&bytes[..taken])?;
        reader.consume(taken);
        left -= taken as u64;
    }
    Ok(())
}
