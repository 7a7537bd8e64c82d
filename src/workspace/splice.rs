//! From edits to bytes: a file in pieces, most of them its own.

use super::addresses::Addresses;
use crate::model::{Edit, RowAddress, Session, Slot};
use crate::provider::ProviderAdapter;
use std::borrow::Cow;
use std::ops::Range;

/// A value that is not what an edit says it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what stands in row {row} is not what it was")]
pub struct Mismatch {
    /// The row, from 1 in file order; 0 when it is not in the file any more.
    pub row: u32,
}

/// A stretch of the new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A range of the old one.
    Kept(Range<usize>),
    /// Other bytes.
    New(Cow<'a, [u8]>),
}

/// The file after the edits, in pieces: the values replaced, rows removed, and new rows at its end.
///
/// `bytes` are those that `session` was read from.
///
/// # Errors
///
/// A row is not there, or a value is not what the edit says that it was.
pub fn splice<'a>(
    provider: &dyn ProviderAdapter,
    session: &Session,
    addresses: &Addresses,
    bytes: &[u8],
    edits: &'a [Edit],
) -> Result<Vec<Piece<'a>>, Mismatch> {
    let mut replaced: Vec<(Range<usize>, &'a [u8])> = Vec::with_capacity(edits.len());
    let mut added: Vec<&'a [u8]> = Vec::new();
    let mut leading: Vec<usize> = Vec::new();
    for edit in edits {
        match (edit.slot, &edit.before, &edit.after) {
            (Slot::Line, None, Some(line)) => added.push(line),
            (Slot::Line, Some(line), None) => {
                let place = removed(session, addresses, bytes, edit.row, line)?;
                if line.starts_with(b"\n") {
                    leading.push(place.start);
                }
                replaced.push((place, &[]));
            }
            (slot, Some(before), Some(after)) => {
                let row = row(session, addresses, edit.row)?;
                let line = range(session, row, bytes)?;
                let at = provider.locate_slot(&bytes[line.clone()], slot).ok_or(Mismatch { row: row + 1 })?;
                let at = line.start + at.start..line.start + at.end;
                if bytes[at.clone()] != **before {
                    return Err(Mismatch { row: row + 1 });
                }
                replaced.push((at, after));
            }
            _ => return Err(Mismatch { row: 0 }),
        }
    }
    replaced.sort_by_key(|(range, _)| (range.start, range.end));
    // The line feed that came before a row goes with it where nothing is left behind it.
    let (mut end, mut first) = (bytes.len(), None);
    for (place, (range, after)) in replaced.iter().enumerate().rev().take_while(|_| added.is_empty()) {
        if range.end != end || !after.is_empty() {
            break;
        }
        (end, first) = (range.start, Some(place));
    }
    if let Some(first) = first
        && leading.iter().any(|start| *start >= end)
        && bytes[..end].ends_with(b"\n")
    {
        replaced[first].0.start -= 1;
    }
    let mut pieces = Vec::with_capacity(2 * replaced.len() + 1 + added.len());
    let mut at = 0;
    for (range, after) in replaced {
        if range.start < at {
            return Err(Mismatch { row: 0 });
        }
        pieces.push(Piece::Kept(at..range.start));
        if !after.is_empty() {
            pieces.push(Piece::New(Cow::Borrowed(after)));
        }
        at = range.end;
    }
    pieces.push(Piece::Kept(at..bytes.len()));
    pieces.extend(added.into_iter().map(|line| Piece::New(Cow::Borrowed(line))));
    pieces.retain(|piece| !matches!(piece, Piece::Kept(range) if range.is_empty()));
    Ok(pieces)
}

/// The row with an address.
pub fn row(session: &Session, addresses: &Addresses, address: RowAddress) -> Result<u32, Mismatch> {
    addresses.row(address).filter(|row| (*row as usize) < session.rows.len()).ok_or(Mismatch { row: 0 })
}

/// Where a row stands in the file.
pub fn range(session: &Session, row: u32, bytes: &[u8]) -> Result<Range<usize>, Mismatch> {
    let place = session.rows.get(row as usize).ok_or(Mismatch { row: row + 1 })?;
    let start = usize::try_from(place.offset).unwrap_or(usize::MAX);
    let end = start.saturating_add(place.length as usize);
    if end <= bytes.len() { Ok(start..end) } else { Err(Mismatch { row: row + 1 }) }
}

/// The range of a row that was added, with the line feed that ends it.
fn removed(
    session: &Session,
    addresses: &Addresses,
    bytes: &[u8],
    address: RowAddress,
    line: &[u8],
) -> Result<Range<usize>, Mismatch> {
    let row = row(session, addresses, address)?;
    let place = range(session, row, bytes)?;
    let mismatch = Mismatch { row: row + 1 };
    if bytes[place.clone()] != *line.trim_ascii() {
        return Err(mismatch);
    }
    let end = if bytes.get(place.end) == Some(&b'\n') { place.end + 1 } else { place.end };
    Ok(place.start..end)
}

/// The bytes of a piece.
pub fn content<'a>(piece: &'a Piece<'_>, bytes: &'a [u8]) -> &'a [u8] {
    match piece {
        Piece::Kept(range) => &bytes[range.clone()],
        Piece::New(new) => new,
    }
}
