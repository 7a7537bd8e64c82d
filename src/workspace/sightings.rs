//! Credentials in a session file, every string of every row of it.

use super::Workspace;
use crate::engine::{self, Sighting};
use crate::fsio::{Disk, read_range};
use crate::model::{BlockNumber, Slot};
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// Bytes of the buffer through which a file is read.
const BUFFER_BYTES: usize = 1 << 20;

/// A credential in the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighted {
    /// What it is.
    pub kind: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// Where the line begins in the file, in bytes.
    pub offset: u64,
    /// Where in the line it stands, in bytes.
    pub range: Range<usize>,
}

/// The credentials in a file, read once from its beginning.
///
/// # Errors
///
/// It cannot be read.
pub fn sighted_in(disk: &dyn Disk, path: &Path) -> io::Result<Vec<Sighted>> {
    sighted(&mut BufReader::with_capacity(BUFFER_BYTES, disk.open(path, 0)?))
}

/// The credentials in what a reader gives.
///
/// # Errors
///
/// It cannot be read.
pub fn sighted(reader: &mut dyn BufRead) -> io::Result<Vec<Sighted>> {
    let mut sighted = Vec::new();
    let (mut row, mut line, mut offset) = (Vec::new(), 1, 0);
    loop {
        row.clear();
        let length = reader.read_until(b'\n', &mut row)?;
        if length == 0 {
            return Ok(sighted);
        }
        for secret in engine::find_secrets(&row) {
            sighted.push(Sighted { kind: secret.kind, line, offset, range: secret.range });
        }
        line += 1;
        offset += length as u64;
    }
}

impl Workspace<'_> {
    /// Where credentials stand, in blocks where they do.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn sightings(&self, sighted: &[Sighted]) -> io::Result<Vec<Sighting>> {
        let block = |sighted: &Sighted| self.block_at(sighted.offset, &sighted.range);
        sighted.iter().map(|sighted| Ok(Sighting { kind: sighted.kind, line: sighted.line, block: block(sighted)? })).collect()
    }

    /// The block in which some bytes of a row stand.
    fn block_at(&self, offset: u64, range: &Range<usize>) -> io::Result<Option<BlockNumber>> {
        let (rows, inherited) = (&self.reading.session.rows, self.reading.session.inherited_rows() as usize);
        let Ok(place) = rows[inherited..].binary_search_by_key(&offset, |row| row.offset) else { return Ok(None) };
        let place = inherited + place;
        let line = read_range(self.disk, &self.path, offset, rows[place].length as usize)?;
        let holds = |index: u32| {
            let element = self.provider.locate_slot(&line, Slot::Element(index));
            let slot = || self.provider.locate_slot(&line, self.provider.slot(&line, index)?);
            element.or_else(slot).is_some_and(|found| found.start <= range.start && range.end <= found.end)
        };
        let blocks = self.reading.session.blocks_of(place as u32);
        Ok(blocks.iter().find(|block| holds(block.index)).map(|block| block.number))
    }
}
