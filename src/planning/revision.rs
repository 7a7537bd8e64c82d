//! Computes the session after some edits, without writing it.

use super::draft::Draft;
use super::parse::parse_chunk;
use super::splice::SpliceError;
use crate::model::{Block, Edit, Key, Origin, Row, Session};
use crate::provider::{ProviderAdapter, Stub};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A session after some edits.
pub struct Revision {
    /// The session.
    pub session: Session,
    /// For each row, its row in the old session; `None` for an added row.
    pub was: Vec<Option<u32>>,
    /// For each block, the index of its block in the old session; `None` for a new block.
    pub block_was: Vec<Option<u32>>,
    /// The invariants of each edited or added row; `None` if the row cannot be parsed.
    pub edited: FxHashMap<u32, Option<Stub>>,
}

impl Revision {
    /// Applies one more edit of a row that keeps its blocks. `was` is the row in the old session.
    ///
    /// # Errors
    ///
    /// The row no longer exists, or a value is not the expected one.
    pub fn amend(&mut self, draft: &Draft<'_>, was: u32) -> Result<(), SpliceError> {
        let row = self.was.iter().position(|row| *row == Some(was)).ok_or(SpliceError::Mismatch)?;
        let edits: Vec<&Edit> = draft.edits.iter().filter(|((row, ..), _)| *row == was).map(|(_, edit)| edit).collect();
        let line = revised_line(draft, was, &edits)?;
        let provider = draft.source.provider;
        let place = &mut self.session.rows[row];
        place.usage = provider.parse(&line).row.usage;
        place.length = line.len() as u32;
        self.edited.insert(row as u32, provider.stub(&line));
        provider.link(&mut self.session);
        Ok(())
    }
}

/// Returns the session of a draft after its edits. Only the edited rows are parsed again.
///
/// # Errors
///
/// A row is missing, or a value is not the expected one.
pub fn revise(draft: &Draft<'_>, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<Revision, SpliceError> {
    let session = &draft.source.reading.session;
    let provider = draft.source.provider;
    let splice = draft.splice()?;
    let mut changes = splice.replacements().peekable();
    let subagent = session.rows.iter().any(|row| row.blocks > 0) && !session.rows.iter().any(|row| row.sidechain);
    let mut builder = Builder {
        provider,
        known,
        subagent,
        offset: 0,
        revision: Revision {
            session: Session {
                provider: session.provider,
                conventions: session.conventions,
                id: session.id.clone(),
                rows: Vec::with_capacity(session.rows.len()),
                blocks: Vec::with_capacity(session.blocks.len()),
                origins: session.origins.clone(),
                damage: session.damage.clone(),
                inherited: session.inherited.clone(),
                ends_with_newline: session.ends_with_newline || draft.added_lines().next().is_some(),
                ..Session::default()
            },
            was: Vec::new(),
            block_was: Vec::new(),
            edited: FxHashMap::default(),
        },
    };
    // A row extends to the start of the next one.
    let end = |row: usize| session.rows.get(row + 1).map_or(session.bytes, |next| next.offset);
    let inherited = session.inherited_rows() as usize;
    let mut first = 0u32;
    let mut place = 0;
    while place < session.rows.len() {
        let row = &session.rows[place];
        // Inherited rows are in another file.
        if place < inherited || changes.peek().is_none_or(|(range, _)| range.start >= end(place)) {
            builder.keep(place as u32, first, row, &session.blocks[first as usize..(first + row.blocks) as usize]);
            first += row.blocks;
            place += 1;
            continue;
        }
        // Rewrite all rows that the next changes overlap as one piece of the file.
        let start = if place == inherited { 0 } else { row.offset };
        let mut last = place;
        let mut replaced: Vec<(Range<u64>, &[u8])> = Vec::new();
        while let Some(change) = changes.next_if(|(range, _)| range.start < end(last)) {
            while change.0.end > end(last) && last + 1 < session.rows.len() {
                last += 1;
            }
            replaced.push(change);
        }
        let old = draft.rows.range(start..end(last))?;
        let new = replace(&old, start, &replaced)?;
        let olds: Vec<OldRow> = (place..=last)
            .map(|row| {
                let blocks = first..first + session.rows[row].blocks;
                first = blocks.end;
                OldRow { row: row as u32, blocks }
            })
            .collect();
        builder.rewrite(session, &olds, &new);
        place = last + 1;
    }
    for (_, added) in changes {
        builder.rewrite(session, &[], added);
    }
    let mut revision = builder.revision;
    revision.session.bytes = builder.offset;
    provider.link(&mut revision.session);
    Ok(revision)
}

/// A row of the old session and the indices of its blocks.
struct OldRow {
    row: u32,
    blocks: Range<u32>,
}

/// Returns the piece of a file that begins at `start`, after some replacements.
fn replace(old: &[u8], start: u64, replaced: &[(Range<u64>, &[u8])]) -> Result<Vec<u8>, SpliceError> {
    let mut new = Vec::with_capacity(old.len());
    let mut at = 0;
    for (range, after) in replaced {
        let (from, to) = ((range.start - start) as usize, (range.end - start) as usize);
        new.extend_from_slice(old.get(at..from).ok_or(SpliceError::Mismatch)?);
        new.extend_from_slice(after);
        at = to;
    }
    new.extend_from_slice(old.get(at..).ok_or(SpliceError::Mismatch)?);
    Ok(new)
}

/// Returns the line of a row after its edits.
pub fn revised_line(draft: &Draft<'_>, row: u32, edits: &[&Edit]) -> Result<Vec<u8>, SpliceError> {
    let line = draft.rows.line(draft.session(), row)?;
    let mut places = Vec::with_capacity(edits.len());
    for edit in edits {
        let range = draft.source.provider.locate_slot(&line, edit.slot).ok_or(SpliceError::Mismatch)?;
        if edit.before.as_deref() != Some(&line[range.clone()]) {
            return Err(SpliceError::Mismatch);
        }
        places.push((range, edit.after.as_deref().unwrap_or_default()));
    }
    places.sort_by_key(|(range, _)| range.start);
    let mut revised = Vec::with_capacity(line.len());
    let mut at = 0;
    for (range, after) in places {
        revised.extend_from_slice(line.get(at..range.start).ok_or(SpliceError::Mismatch)?);
        revised.extend_from_slice(after);
        at = range.end;
    }
    revised.extend_from_slice(&line[at..]);
    Ok(revised)
}

struct Builder<'a> {
    provider: &'a dyn ProviderAdapter,
    known: &'a (dyn Fn(Key) -> Option<u32> + Sync),
    /// True if the whole file belongs to a subagent; its rows are then not marked as a sidechain.
    subagent: bool,
    offset: u64,
    revision: Revision,
}

impl Builder<'_> {
    fn keep(&mut self, place: u32, first: u32, row: &Row, blocks: &[Block]) {
        self.push(row.clone(), Some(place), blocks.iter().map(Block::without_terms).zip((first..).map(Some)).collect());
    }

    /// Parses the lines of an edited piece of the file in place of its old rows. If one line replaces one row, it is that row;
    /// otherwise rows are matched by identity.
    fn rewrite(&mut self, session: &Session, olds: &[OldRow], new: &[u8]) {
        let lines: Vec<&[u8]> = new.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
        if let ([old], [line]) = (olds, &lines[..]) {
            return self.parse(line, Some(old));
        }
        let mut left: Vec<&OldRow> = olds.iter().collect();
        for line in lines {
            let id = if left.is_empty() { None } else { self.provider.parse(line).row.id };
            let same = left.iter().position(|old| session.rows[old.row as usize].id == id);
            let old = same.map(|place| left.remove(place));
            self.parse(line, old);
        }
    }

    fn parse(&mut self, line: &[u8], old: Option<&OldRow>) {
        let segment = parse_chunk(self.provider, self.known, line, 0);
        let Some(mut row) = segment.rows.into_iter().next() else { return };
        if self.subagent {
            row.sidechain = false;
        }
        let origin = segment.origins.into_iter().nth(row.origin as usize).unwrap_or_default();
        row.origin = self.origin(origin);
        self.revision.edited.insert(self.revision.session.rows.len() as u32, self.provider.stub(line));
        // A row whose thinking is restored has more blocks than before.
        let place =
            |index| old.map(|old| old.blocks.start + index).filter(|place| old.is_some_and(|old| *place < old.blocks.end));
        let places = (0..).map(place);
        self.push(row, old.map(|old| old.row), segment.blocks.into_iter().zip(places).collect());
    }

    fn origin(&mut self, origin: Origin) -> u32 {
        let origins = &mut self.revision.session.origins;
        origins.iter().position(|known| *known == origin).unwrap_or_else(|| {
            origins.push(origin);
            origins.len() - 1
        }) as u32
    }

    fn push(&mut self, mut row: Row, was: Option<u32>, blocks: Vec<(Block, Option<u32>)>) {
        let session = &mut self.revision.session;
        row.offset = self.offset;
        self.offset += u64::from(row.length) + 1;
        let place = session.rows.len() as u32;
        for (mut block, block_was) in blocks {
            block.row = place;
            block.number = session.blocks.len() as u32 + 1;
            block.timestamp = row.timestamp;
            session.blocks.push(block);
            self.revision.block_was.push(block_was);
        }
        session.rows.push(row);
        self.revision.was.push(was);
    }
}
