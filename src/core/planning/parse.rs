//! Parses bytes into rows and measured blocks.

use crate::engine;
use crate::model::{Block, Cut, Event, Key, Origin, Row, SecretPlace, Segment, Session, Vocabulary};
use crate::provider::{ParsedBlock, ParsedRow, ProviderAdapter, conventions};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Parses a session that is held in memory and inherits no rows.
pub fn parse_session(provider: &dyn ProviderAdapter, id: String, bytes: &[u8]) -> Session {
    join(provider, id, bytes, parse_chunk(provider, &|_| None, bytes, 0))
}

/// Returns the offsets of the rows of turns that the user left, in a session that is held in memory and inherits no rows.
pub fn left_offsets(provider: &dyn ProviderAdapter, id: String, bytes: &[u8]) -> Vec<u64> {
    let mut measurer = Measurer::new(&|_| None, provider.vocabulary(bytes));
    measurer.is_unmeasured = true;
    let session = join(provider, id, bytes, measurer.parse(provider, None, bytes, 0));
    provider.window(&session).left.into_iter().map(|row| session.rows[row as usize].offset).collect()
}

fn join(provider: &dyn ProviderAdapter, id: String, bytes: &[u8], segment: Segment) -> Session {
    let mut session = Session::join(provider.name(), conventions(), id, vec![segment]);
    session.bytes = bytes.len() as u64;
    session.ends_with_newline = bytes.last().is_none_or(|last| *last == b'\n');
    provider.link(&mut session);
    session
}

/// Parses the rows of a chunk that begins at `offset` in the file. A session that is not framed by lines is one chunk.
pub fn parse_chunk(
    provider: &dyn ProviderAdapter,
    known: &(dyn Fn(Key) -> Option<u32> + Sync),
    chunk: &[u8],
    offset: u64,
) -> Segment {
    parse_changed(provider, known, None, chunk, offset)
}

/// Parses as [`parse_chunk`], but takes rows that an earlier version of the file had as well from there.
pub fn parse_changed(
    provider: &dyn ProviderAdapter,
    known: &(dyn Fn(Key) -> Option<u32> + Sync),
    earlier: Option<&EarlierRows<'_>>,
    chunk: &[u8],
    offset: u64,
) -> Segment {
    Measurer::new(known, provider.vocabulary(chunk)).parse(provider, earlier, chunk, offset)
}

/// The rows of an earlier version of a file, by the hashes of their lines.
pub struct EarlierRows<'a> {
    segment: &'a Segment,
    /// The place of each row, and of its first block.
    places: FxHashMap<Key, (usize, usize)>,
}

/// A row of an earlier version, with what its segment holds about it.
struct EarlierRow<'a> {
    row: &'a Row,
    origin: &'a Origin,
    blocks: &'a [Block],
    secrets: &'a [SecretPlace],
}

impl<'a> EarlierRows<'a> {
    pub fn new(segment: &'a Segment) -> EarlierRows<'a> {
        let mut first_block = 0;
        let places = segment.rows.iter().enumerate().map(|(at, row)| {
            first_block += row.blocks as usize;
            (row.line, (at, first_block - row.blocks as usize))
        });
        EarlierRows { segment, places: places.collect() }
    }

    fn row(&self, line: Key) -> Option<EarlierRow<'a>> {
        let (at, first_block) = *self.places.get(&line)?;
        let row = self.segment.rows.get(at)?;
        let secrets = &self.segment.secrets;
        let first_secret = secrets.partition_point(|place| (place.row as usize) < at);
        let last_secret = secrets.partition_point(|place| (place.row as usize) <= at);
        Some(EarlierRow {
            row,
            origin: self.segment.origins.get(row.origin as usize)?,
            blocks: self.segment.blocks.get(first_block..first_block + row.blocks as usize)?,
            secrets: &secrets[first_secret..last_secret],
        })
    }
}

/// Returns a parsed row of `length` bytes as a segment of its own, with its blocks measured.
pub fn measure(
    known: &(dyn Fn(Key) -> Option<u32> + Sync),
    vocabulary: Vocabulary,
    parsed: ParsedRow<'_>,
    length: usize,
) -> Segment {
    let mut measurer = Measurer::new(known, vocabulary);
    measurer.add(parsed, 0, length);
    measurer.segment
}

/// Measures the blocks of rows and collects both.
struct Measurer<'a> {
    known: &'a (dyn Fn(Key) -> Option<u32> + Sync),
    vocabulary: Vocabulary,
    segment: Segment,
    /// Origins are interned: a session has only a few different ones.
    origins: FxHashMap<[Option<Cow<'a, str>>; 4], usize>,
    /// True if only the order of the rows is needed.
    is_unmeasured: bool,
}

impl<'a> Measurer<'a> {
    fn new(known: &'a (dyn Fn(Key) -> Option<u32> + Sync), vocabulary: Vocabulary) -> Measurer<'a> {
        Measurer { known, vocabulary, segment: Segment::default(), origins: FxHashMap::default(), is_unmeasured: false }
    }

    fn parse(
        mut self,
        provider: &dyn ProviderAdapter,
        earlier: Option<&EarlierRows<'_>>,
        chunk: &'a [u8],
        offset: u64,
    ) -> Segment {
        for row in provider.framing().rows(chunk) {
            let (line, offset) = (&chunk[row.clone()], offset + row.start as u64);
            let key = Key::from_bytes(line);
            match earlier.and_then(|earlier| earlier.row(key)) {
                Some(row) => self.copy(&row, offset),
                None => self.add(provider.parse(line), offset, row.len()),
            }
            if let Some(row) = self.segment.rows.last_mut() {
                row.line = key;
            }
        }
        Segment { start: offset, end: offset + chunk.len() as u64, ..self.segment }
    }

    fn add(&mut self, mut parsed: ParsedRow<'a>, offset: u64, length: usize) {
        parsed.row.offset = offset;
        parsed.row.length = length as u32;
        parsed.row.origin = self.intern(std::mem::take(&mut parsed.origin));
        if let Some(Event::Title { text, .. }) = parsed.row.event.as_deref_mut() {
            *text = engine::mask(text).into_owned();
        }
        for block in parsed.blocks {
            self.measure(block);
        }
        self.segment.rows.push(parsed.row);
    }

    fn copy(&mut self, earlier: &EarlierRow<'_>, offset: u64) {
        let segment = &mut self.segment;
        let origin = segment.origins.iter().position(|origin| origin == earlier.origin).unwrap_or_else(|| {
            segment.origins.push(earlier.origin.clone());
            segment.origins.len() - 1
        });
        let row = segment.rows.len() as u32;
        segment.blocks.extend(earlier.blocks.iter().map(|block| Block { row, ..block.clone() }));
        segment.secrets.extend(earlier.secrets.iter().map(|place| SecretPlace { row, ..*place }));
        segment.rows.push(Row { offset, origin: origin as u32, ..earlier.row.clone() });
    }

    fn intern(&mut self, origin: [Option<Cow<'a, str>>; 4]) -> u32 {
        let origins = &mut self.segment.origins;
        let place = *self.origins.entry(origin).or_insert_with_key(|origin| {
            let [session, directory, version, branch] =
                origin.each_ref().map(|text| engine::mask(text.as_deref().unwrap_or_default()).into_owned());
            origins.push(Origin { session, directory, version, branch });
            origins.len() - 1
        });
        place as u32
    }

    /// Measures a block of the row that is added next.
    fn measure(&mut self, mut block: ParsedBlock<'_>) {
        let (segment, vocabulary) = (&mut self.segment, self.vocabulary);
        let (content, text) = (&block.content, block.readable.as_deref());
        block.block.row = segment.rows.len() as u32;
        if self.is_unmeasured {
            return segment.blocks.push(block.block);
        }
        let text = text.unwrap_or(content);
        segment.secrets.extend(match &block.unrecorded {
            None => {
                let refers = block.refers.as_deref();
                engine::measure(&mut block.block, conventions(), content, text, refers, vocabulary, self.known)
            }
            Some(unrecorded) => {
                let mut recorded = content.to_string();
                recorded.replace_range(unrecorded.line.clone(), "");
                let secrets = engine::measure(&mut block.block, conventions(), content, &recorded, None, vocabulary, &|_| None);
                block.block.counts = block.block.counts + unrecorded.counts;
                secrets
            }
        });
        if let Some(sent) = &block.sent {
            block.block.counts = engine::counts(sent);
        }
        block.block.cuts.extend(block.cuts.iter().map(|cut| Cut {
            limit: cut.limit,
            stated: cut.stated,
            bytes: cut.content.len() as u64,
            counts: engine::counts(&cut.content),
        }));
        segment.blocks.push(block.block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::medium::fixtures;

    #[test]
    fn rows_of_turns_that_the_user_left_are_found_without_measuring() {
        let mut left_in_all = 0;
        for (path, medium) in fixtures() {
            let session = &medium.reading.session;
            let left: Vec<u64> =
                medium.provider.window(session).left.iter().map(|row| session.rows[*row as usize].offset).collect();
            assert_eq!(left_offsets(medium.provider, "s".to_owned(), &medium.bytes), left, "{}", path.display());
            left_in_all += left.len();
        }
        assert!(left_in_all > 0);
    }
}
