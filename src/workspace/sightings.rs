//! Credentials in a session file, every string of every row of it.

use super::Workspace;
use crate::engine::{self, Known, Sighting};
use crate::fsio::{Disk, read_range};
use crate::model::limits::NAMED_SECRETS;
use crate::model::{BlockNumber, Session, Slot};
use crate::provider::ProviderAdapter;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// Bytes of the buffer through which a file is read.
const BUFFER_BYTES: usize = 1 << 20;

/// The values that a session names as credentials, read again from where they are.
///
/// # Errors
///
/// The file cannot be read any more.
pub(crate) fn named_secrets(
    disk: &dyn Disk,
    provider: &dyn ProviderAdapter,
    path: &Path,
    session: &Session,
) -> io::Result<Known> {
    let mut values = Vec::new();
    let mut places = session.secrets.get(..NAMED_SECRETS).unwrap_or(&session.secrets);
    while let Some(first) = places.first() {
        let (own, others) = places.split_at(places.iter().take_while(|place| place.row == first.row).count());
        places = others;
        let row = &session.rows[first.row as usize];
        let bytes = read_range(disk, path, row.offset, row.length as usize)?;
        let parsed = provider.parse(&bytes);
        for place in own {
            let text = parsed.blocks.get(place.block as usize).map(|block| block.text()).unwrap_or_default();
            // A row that is another one by now names nothing here.
            let value = text.get(place.start as usize..(place.start + place.length) as usize);
            values.extend(value.map(|value| (value.to_owned(), engine::kind_of(place))));
        }
    }
    Ok(Known::new(values))
}

/// The values that the rows of a file name as credentials, as they are written there.
///
/// # Errors
///
/// The file cannot be read.
pub(super) fn named_in_file(disk: &dyn Disk, path: &Path) -> io::Result<Known> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, disk.open(path, 0)?);
    let (mut row, mut values) = (Vec::new(), Vec::new());
    while values.len() < NAMED_SECRETS {
        row.clear();
        if reader.read_until(b'\n', &mut row)? == 0 {
            break;
        }
        values.extend(engine::named_in(&String::from_utf8_lossy(&row)));
    }
    Ok(Known::new(values))
}

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
