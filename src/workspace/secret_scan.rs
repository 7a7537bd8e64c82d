//! Finds credentials in a session file, in every string of every row.

use super::Workspace;
use super::file::{FileReader, SessionFile, SessionFiles};
use super::load::changed_while_read;
use super::parts::{is_in_database, is_put_together};
use crate::engine::{self, Known, LocatedSecret};
use crate::fsio::Disk;
use crate::model::limits::NAMED_SECRETS;
use crate::model::{BlockNumber, SecretPlace, Segment, Session, Slot};
use crate::provider::ProviderAdapter;
use rustc_hash::FxHashSet;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 20;

/// Returns the values that a session names as credentials.
/// Errors: a row cannot be read.
pub(super) fn named_secrets(provider: &dyn ProviderAdapter, files: &SessionFiles<'_>, session: &Session) -> io::Result<Known> {
    let places = session.secrets.get(..NAMED_SECRETS).unwrap_or(&session.secrets);
    Ok(Known::new(values_at(provider, places, &|row| files.line(session, row))?))
}

/// Returns the values that segments of a file name as credentials.
/// Errors: a row cannot be read.
pub(super) fn named_in_segments(
    provider: &dyn ProviderAdapter,
    file: &SessionFile<'_>,
    segments: &[Segment],
) -> io::Result<Known> {
    let (mut hashes, mut values) = (FxHashSet::default(), Vec::new());
    for segment in segments {
        let is_new = |place: &&SecretPlace| hashes.len() < NAMED_SECRETS && hashes.insert(place.hash);
        let places: Vec<SecretPlace> = segment.secrets.iter().filter(is_new).copied().collect();
        let line = |row: u32| {
            let place = segment.rows.get(row as usize).ok_or_else(changed_while_read)?;
            file.range(place.offset..place.offset + u64::from(place.length))
        };
        values.extend(values_at(provider, &places, &line)?);
    }
    Ok(Known::new(values))
}

/// Returns the values at places, which are sorted by their rows, each with its kind.
fn values_at(
    provider: &dyn ProviderAdapter,
    mut places: &[SecretPlace],
    line: &dyn Fn(u32) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<(String, &'static str)>> {
    let mut values = Vec::new();
    while let Some(first) = places.first() {
        let (own, others) = places.split_at(places.iter().take_while(|place| place.row == first.row).count());
        places = others;
        let bytes = line(first.row)?;
        let parsed = provider.parse(&bytes);
        for place in own {
            let text = parsed.blocks.get(place.block as usize).map(|block| block.text()).unwrap_or_default();
            // A row that changed meanwhile may lack the range.
            let value = text.get(place.start as usize..(place.start + place.length) as usize);
            values.extend(value.map(|value| (value.to_owned(), engine::kind_of(place))));
        }
    }
    Ok(values)
}

/// Returns the values that the rows of a reader name as credentials, in their JSON-escaped form.
pub(super) fn named_in(reader: &mut dyn BufRead) -> io::Result<Known> {
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

/// Returns the values that the rows of a file name as credentials.
pub fn named_in_file(disk: &dyn Disk, path: &Path) -> io::Result<Known> {
    named_in(&mut BufReader::with_capacity(BUFFER_BYTES, disk.open(path, 0)?))
}

/// A credential in the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    pub kind: &'static str,
    /// The line, counted from 1.
    pub line: u64,
    /// The offset of the line in the file, in bytes.
    pub offset: u64,
    /// The range of the credential in the line, in bytes.
    pub range: Range<usize>,
}

/// Finds the credentials in the bytes of a session, also where a value that it names elsewhere is repeated.
pub fn scan_bytes(bytes: &[u8]) -> io::Result<Vec<SecretMatch>> {
    scan(&mut &*bytes, &named_in(&mut &*bytes)?)
}

fn scan(reader: &mut dyn BufRead, known: &Known) -> io::Result<Vec<SecretMatch>> {
    let mut sighted = Vec::new();
    let (mut row, mut line, mut offset) = (Vec::new(), 1, 0);
    loop {
        row.clear();
        let length = reader.read_until(b'\n', &mut row)?;
        if length == 0 {
            return Ok(sighted);
        }
        for secret in known.find_whole(&row) {
            sighted.push(SecretMatch { kind: secret.kind, line, offset, range: secret.range });
        }
        line += 1;
        offset += length as u64;
    }
}

impl Workspace<'_> {
    /// Returns the credentials in the file, as a redaction of the whole file finds them. Of a session that is put together, returns those
    /// in all that the client wrote of it.
    pub fn secret_matches(&self) -> io::Result<Vec<SecretMatch>> {
        if is_put_together(&self.path) {
            let written = self.disk.open_written(&self.path)?;
            return scan(&mut BufReader::with_capacity(BUFFER_BYTES, written), &self.reading.known);
        }
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, FileReader { file: &self.files.own, at: 0 });
        scan(&mut reader, &self.reading.known)
    }

    /// Returns the positions of credentials, with the block of each that is in one.
    pub fn locate_secrets(&self, sighted: &[SecretMatch]) -> io::Result<Vec<LocatedSecret>> {
        let locate = |sighted: &SecretMatch| {
            let SecretMatch { kind, line, offset, ref range } = *sighted;
            let line = (!is_in_database(&self.path)).then_some(line);
            let block = if is_put_together(&self.path) { None } else { self.block_at(offset, range)? };
            Ok(LocatedSecret { kind, line, block })
        };
        sighted.iter().map(locate).collect()
    }

    fn block_at(&self, offset: u64, range: &Range<usize>) -> io::Result<Option<BlockNumber>> {
        let (rows, inherited) = (&self.reading.session.rows, self.reading.session.inherited_rows() as usize);
        let Ok(place) = rows[inherited..].binary_search_by_key(&offset, |row| row.offset) else { return Ok(None) };
        let place = inherited + place;
        let line = self.line(place as u32)?;
        let holds = |index: u32| {
            let element = self.provider.locate_slot(&line, Slot::Element(index));
            let slot = || self.provider.locate_slot(&line, self.provider.slot(&line, index)?);
            element.or_else(slot).is_some_and(|found| found.start <= range.start && range.end <= found.end)
        };
        let blocks = self.reading.session.blocks_of(place as u32);
        Ok(blocks.iter().find(|block| holds(block.index)).map(|block| block.number))
    }
}
