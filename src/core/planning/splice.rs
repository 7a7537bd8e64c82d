//! Turns edits into bytes: a file of which most stays unchanged.

use super::addresses::Addresses;
use super::rows::{Rows, pass};
use crate::model::{Edit, Hunk, RowAddress, Session, Slot};
use crate::provider::ProviderAdapter;
use std::borrow::Cow;
use std::io::{self, BufRead, ErrorKind};
use std::ops::Range;

/// The reason why edits cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum SpliceError {
    /// A row is missing, or a value is not the expected one.
    #[error("the file no longer contains the expected value")]
    Mismatch,
    /// The old file cannot be read, or the new one cannot be written.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for SpliceError {
    fn from(error: io::Error) -> SpliceError {
        // A file that is shorter than expected was changed.
        if error.kind() == ErrorKind::UnexpectedEof { SpliceError::Mismatch } else { SpliceError::Io(error) }
    }
}

/// A file after some edits: the replaced ranges, and the rows added at the end.
pub struct Splice<'a> {
    length: u64,
    /// In file order, without overlaps.
    replaced: Vec<Replaced<'a>>,
    added: Vec<&'a [u8]>,
}

struct Replaced<'a> {
    range: Range<u64>,
    before: Cow<'a, [u8]>,
    after: &'a [u8],
}

/// Locates edits in the first `length` bytes of a file. Edits replace values, remove rows, or add rows at the end of the file.
/// `hunks` are additional replacements.
/// Errors: a row is missing, or a value is not the expected one; the file cannot be read.
pub fn splice<'a>(
    provider: &dyn ProviderAdapter,
    session: &Session,
    addresses: &Addresses,
    base: &dyn Rows,
    length: u64,
    edits: impl IntoIterator<Item = &'a Edit>,
    hunks: &'a [Hunk],
) -> Result<Splice<'a>, SpliceError> {
    let mut replaced: Vec<Replaced<'a>> = hunks.iter().map(Replaced::hunk).collect();
    let mut added: Vec<&'a [u8]> = Vec::new();
    let mut leading: Vec<u64> = Vec::new();
    for edit in edits {
        match (edit.slot, &edit.before, &edit.after) {
            (Slot::Line, None, Some(line)) => added.push(line),
            (Slot::Line, Some(line), None) => {
                let removed = row_removal(session, addresses, base, length, edit.row, line)?;
                if line.starts_with(b"\n") {
                    leading.push(removed.range.start);
                }
                replaced.push(removed);
            }
            (Slot::Ahead, Some(before), Some(after)) => {
                let end = session.rows[row(session, addresses, edit.row)? as usize].offset;
                let start = end.checked_sub(before.len() as u64).ok_or(SpliceError::Mismatch)?;
                if base.range(start..end)? != *before {
                    return Err(SpliceError::Mismatch);
                }
                replaced.push(Replaced { range: start..end, before: before.into(), after });
            }
            (slot, Some(before), Some(after)) => {
                let row = row(session, addresses, edit.row)?;
                let line = base.line(session, row)?;
                let at = provider.locate_slot(&line, slot).ok_or(SpliceError::Mismatch)?;
                if line[at.clone()] != **before {
                    return Err(SpliceError::Mismatch);
                }
                let start = session.rows[row as usize].offset + at.start as u64;
                replaced.push(Replaced { range: start..start + at.len() as u64, before: before.into(), after });
            }
            _ => return Err(SpliceError::Mismatch),
        }
    }
    replaced.sort_by_key(|replaced| (replaced.range.start, replaced.range.end));
    if added.is_empty() {
        drop_leading_newline(base, length, &mut replaced, &leading)?;
    }
    let follows = |pair: &[Replaced<'_>]| pair[0].range.end <= pair[1].range.start;
    if !replaced.windows(2).all(follows) || replaced.last().is_some_and(|last| last.range.end > length) {
        return Err(SpliceError::Mismatch);
    }
    Ok(Splice { length, replaced, added })
}

impl<'a> Replaced<'a> {
    fn hunk(hunk: &'a Hunk) -> Replaced<'a> {
        let range = hunk.offset..hunk.offset + hunk.before.len() as u64;
        Replaced { range, before: Cow::Borrowed(&hunk.before), after: &hunk.after }
    }
}

/// Also removes the line feed that was added before a removed row, if nothing remains after that row.
fn drop_leading_newline(base: &dyn Rows, length: u64, replaced: &mut [Replaced<'_>], leading: &[u64]) -> Result<(), SpliceError> {
    let mut end = length;
    let mut first = None;
    for (place, last) in replaced.iter().enumerate().rev() {
        if last.range.end != end || !last.after.is_empty() {
            break;
        }
        (end, first) = (last.range.start, Some(place));
    }
    if let Some(first) = first
        && end > 0
        && leading.iter().any(|start| *start >= end)
        && base.range(end - 1..end)? == b"\n"
    {
        replaced[first].range.start -= 1;
        replaced[first].before.to_mut().insert(0, b'\n');
    }
    Ok(())
}

impl<'a> Splice<'a> {
    /// Returns the replaced bytes in file order: offset, bytes before, bytes after.
    pub fn hunks(&self) -> impl Iterator<Item = (u64, Cow<'_, [u8]>, Cow<'_, [u8]>)> {
        let replaced = self
            .replaced
            .iter()
            .map(|replaced| (replaced.range.start, Cow::Borrowed(&*replaced.before), Cow::Borrowed(replaced.after)));
        let added = self.added.iter().map(|line| (self.length, Cow::Borrowed(&[][..]), Cow::Borrowed(*line)));
        replaced.chain(added)
    }

    /// Returns the replaced ranges with their new bytes. Added rows come last, at the end of the file.
    pub fn replacements(&self) -> impl Iterator<Item = (Range<u64>, &'a [u8])> {
        let added = self.added.iter().map(|line| (self.length..self.length, *line));
        self.replaced.iter().map(|replaced| (replaced.range.clone(), replaced.after)).chain(added)
    }

    /// Reads the old file from its start, and passes its bytes to `old` and the edited bytes to `new`.
    /// Errors: a replaced value has changed since it was located; a file cannot be read or written.
    pub fn run(
        &self,
        reader: &mut dyn BufRead,
        old: &mut dyn FnMut(&[u8]),
        new: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), SpliceError> {
        let mut at = 0;
        for replaced in &self.replaced {
            pass(reader, replaced.range.start - at, &mut |bytes| {
                old(bytes);
                new(bytes)
            })?;
            let mut before = &*replaced.before;
            let mut same = true;
            pass(reader, before.len() as u64, &mut |bytes| {
                old(bytes);
                let (expected, rest) = before.split_at(bytes.len());
                same &= expected == bytes;
                before = rest;
                Ok(())
            })?;
            if !same {
                return Err(SpliceError::Mismatch);
            }
            new(replaced.after)?;
            at = replaced.range.end;
        }
        pass(reader, self.length - at, &mut |bytes| {
            old(bytes);
            new(bytes)
        })?;
        for line in &self.added {
            new(line)?;
        }
        Ok(())
    }
}

/// Returns the row with an address.
pub fn row(session: &Session, addresses: &Addresses, address: RowAddress) -> Result<u32, SpliceError> {
    addresses.row(address).filter(|row| (*row as usize) < session.rows.len()).ok_or(SpliceError::Mismatch)
}

/// Returns the removal of a row that was added, including the line feed at its end.
fn row_removal(
    session: &Session,
    addresses: &Addresses,
    base: &dyn Rows,
    length: u64,
    address: RowAddress,
    line: &[u8],
) -> Result<Replaced<'static>, SpliceError> {
    let row = row(session, addresses, address)?;
    let mut before = base.line(session, row)?.to_vec();
    // A later edit may have padded it.
    if before.trim_ascii() != line.trim_ascii() {
        return Err(SpliceError::Mismatch);
    }
    let start = session.rows[row as usize].offset;
    let end = start + before.len() as u64;
    if end < length && base.range(end..end + 1)? == b"\n" {
        before.push(b'\n');
    }
    Ok(Replaced { range: start..start + before.len() as u64, before: Cow::Owned(before), after: &[] })
}
