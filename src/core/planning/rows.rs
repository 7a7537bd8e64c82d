//! Access to the bytes that a plan is made for, independent of the storage.

use super::splice::SpliceError;
use crate::model::{Address, Session};
use std::io::{self, BufRead, ErrorKind};
use std::ops::Range;
use std::rc::Rc;

/// The rows of a session, and the file that contains its own rows: the base of a plan.
pub trait Rows {
    /// Returns a row without its line feed.
    /// Errors: the row cannot be read, or no longer exists.
    fn line(&self, session: &Session, row: u32) -> Result<Rc<[u8]>, SpliceError>;

    /// Returns a range of the base.
    /// Errors: the base cannot be read; [`ErrorKind::UnexpectedEof`] if it is shorter.
    fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>>;

    /// Passes a range of the base to `to`, in pieces.
    fn pass(&self, range: Range<u64>, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>;

    /// Returns the number of leading bytes of the base that forks of this session depend on.
    fn inherited_bytes(&self) -> u64 {
        0
    }

    /// Returns the BLAKE3 hash of the first `length` bytes of the base; `None` if the base is shorter.
    fn hash(&self, length: u64) -> io::Result<Option<Address>> {
        let mut hasher = blake3::Hasher::new();
        let passed = self.pass(0..length, &mut |bytes| {
            hasher.update(bytes);
            Ok(())
        });
        match passed {
            Ok(()) => Ok(Some(*hasher.finalize().as_bytes())),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the hash of the bytes that the session was read from, as [`Rows::hash`]; a cached one is not computed again.
    fn session_hash(&self, session: &Session) -> io::Result<Option<Address>> {
        self.hash(session.bytes)
    }
}

/// A session that is held in memory and inherits no rows.
pub struct MemoryRows<'a>(pub &'a [u8]);

impl MemoryRows<'_> {
    fn bytes(&self, range: Range<u64>) -> io::Result<&[u8]> {
        let start = usize::try_from(range.start).ok();
        let end = usize::try_from(range.end).ok();
        let bytes = start.zip(end).and_then(|(start, end)| self.0.get(start..end));
        bytes.ok_or_else(|| ErrorKind::UnexpectedEof.into())
    }
}

impl Rows for MemoryRows<'_> {
    fn line(&self, session: &Session, row: u32) -> Result<Rc<[u8]>, SpliceError> {
        let place = session.rows.get(row as usize).ok_or(SpliceError::Mismatch)?;
        Ok(self.bytes(place.offset..place.offset + u64::from(place.length))?.into())
    }

    fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.bytes(range).map(<[u8]>::to_vec)
    }

    fn pass(&self, range: Range<u64>, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        to(self.bytes(range)?)
    }
}

/// Passes the next `length` bytes to `to`, in pieces.
/// Errors: the bytes cannot be read, or `to` fails; [`ErrorKind::UnexpectedEof`] if there are fewer.
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
