//! The file that a plan is made for. It is read row by row and passed on in pieces, so that a large file is never in memory as a
//! whole.

use super::{Workspace, find};
use crate::fsio::{Disk, OpenFile};
use crate::model::Session;
use crate::planning::{Rows, SpliceError, pass};
use std::cell::RefCell;
use std::io::{self, BufReader, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Bytes that are read in one call when a file is passed on.
const PIECE_BYTES: usize = 1 << 18;

/// A session file that is open for reading; it stays the same file if another one replaces it on the disk.
pub struct Base {
    file: RefCell<Box<dyn OpenFile>>,
    /// The row that was read last: most rows are requested several times in succession.
    held: RefCell<Option<(u32, Rc<[u8]>)>>,
    /// The files of the inherited rows, in the order of [`Session::inherited`].
    inherited: Vec<Base>,
}

impl Base {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn open(disk: &dyn Disk, path: &Path) -> io::Result<Base> {
        let file = RefCell::new(disk.open(path, 0)?);
        Ok(Base { file, held: RefCell::default(), inherited: Vec::new() })
    }

    /// Opens the file of a session, and those of the rows that it inherits.
    ///
    /// # Errors
    ///
    /// One of them cannot be opened.
    pub fn open_all(disk: &dyn Disk, path: &Path, session: &Session) -> io::Result<Base> {
        let inherited = session.inherited.iter().map(|part| Base::open(disk, &part.path)).collect::<io::Result<_>>()?;
        Ok(Base { inherited, ..Base::open(disk, path)? })
    }

    /// Returns a reader of the file from its start.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn into_reader(self) -> io::Result<BufReader<Box<dyn OpenFile>>> {
        let mut file = self.file.into_inner();
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(PIECE_BYTES, file))
    }
}

impl Rows for Base {
    fn line(&self, session: &Session, row: u32) -> Result<Rc<[u8]>, SpliceError> {
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

    fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn pass(&self, range: Range<u64>, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(range.start))?;
        let length = range.end.saturating_sub(range.start);
        let piece = PIECE_BYTES.min(usize::try_from(length).unwrap_or(usize::MAX));
        pass(&mut BufReader::with_capacity(piece, &mut *file), length, to)
    }
}

/// The file of a session that a change is planned for, including its inherited rows.
pub struct SessionRows<'a> {
    workspace: &'a Workspace<'a>,
    base: Base,
}

impl<'a> SessionRows<'a> {
    /// Opens the file of a session, and those of the rows that it inherits.
    ///
    /// # Errors
    ///
    /// One of them cannot be opened.
    pub fn open(workspace: &'a Workspace<'a>) -> io::Result<SessionRows<'a>> {
        let base = Base::open_all(workspace.disk, &workspace.path, &workspace.reading.session)?;
        Ok(SessionRows { workspace, base })
    }
}

impl Rows for SessionRows<'_> {
    fn line(&self, session: &Session, row: u32) -> Result<Rc<[u8]>, SpliceError> {
        self.base.line(session, row)
    }

    fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.base.range(range)
    }

    fn pass(&self, range: Range<u64>, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.base.pass(range, to)
    }

    fn inherited_bytes(&self) -> u64 {
        let Workspace { disk, provider, path, location, .. } = self.workspace;
        find::inherited_bytes(*disk, *provider, path, &location.id)
    }
}
