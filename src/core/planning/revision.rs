//! Computes the session after some edits, without writing it.

use super::draft::Draft;
use super::parse::measure;
use super::splice::SpliceError;
use crate::model::{Block, BlockNumber, Edit, Key, Origin, Row, Session, Slot};
use crate::provider::{Framing, Stub};
use rustc_hash::FxHashMap;
use std::iter::Peekable;
use std::ops::Range;

/// A session after some edits. The offsets of its rows are those of a file without blank lines.
#[derive(Default)]
pub struct Revision {
    pub session: Session,
    /// For each row, its row in the old session; `None` for an added row.
    pub was: Vec<Option<u32>>,
    /// For each block, the index of its block in the old session; `None` for a new block.
    pub block_was: Vec<Option<u32>>,
    /// The invariants of each edited or added row; `None` if the row cannot be parsed.
    pub edited: FxHashMap<u32, Option<Stub>>,
    /// The content of each changed block, by the index of the block in the old session.
    pub(super) contents: FxHashMap<u32, String>,
    pub(super) added: FxHashMap<BlockNumber, String>,
}

impl Revision {
    /// Applies one more edit of a row that keeps its blocks. `was` is the row in the old session.
    /// Errors: the row no longer exists, or a value is not the expected one.
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
/// Errors: a row is missing, or a value is not the expected one.
pub fn revise(draft: &Draft<'_>, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<Revision, SpliceError> {
    let splice = draft.splice()?;
    let mut changes = splice.replacements().peekable();
    let mut builder = Builder::new(draft, known);
    while builder.place < builder.old.rows.len() {
        let end = builder.end(builder.place);
        // Inherited rows are in another file.
        let is_inherited = builder.place < builder.old.inherited_rows() as usize;
        if is_inherited || changes.peek().is_none_or(|(range, _)| range.start >= end) {
            builder.keep();
        } else {
            builder.rewrite(&mut changes)?;
        }
    }
    for (_, added) in changes {
        builder.parse_lines(&[], added);
    }
    let mut revision = builder.revision;
    revision.session.bytes = builder.offset;
    draft.source.provider.link(&mut revision.session);
    Ok(revision)
}

/// A row of the old session and the indices of its blocks.
struct OldRow {
    row: u32,
    blocks: Range<u32>,
}

/// Returns the piece of a file that begins at `start`, after some replacements, which are in order.
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
    for edit in edits.iter().filter(|edit| edit.slot != Slot::Ahead) {
        let range = draft.source.provider.locate_slot(&line, edit.slot).ok_or(SpliceError::Mismatch)?;
        if edit.before.as_deref() != Some(&line[range.clone()]) {
            return Err(SpliceError::Mismatch);
        }
        places.push((range.start as u64..range.end as u64, edit.after.as_deref().unwrap_or_default()));
    }
    places.sort_by_key(|(range, _)| range.start);
    replace(&line, 0, &places)
}

struct Builder<'a> {
    draft: &'a Draft<'a>,
    old: &'a Session,
    known: &'a (dyn Fn(Key) -> Option<u32> + Sync),
    /// True if the whole file belongs to a subagent; its rows are then not marked as a sidechain.
    subagent: bool,
    /// The next row of the old session, and the index of its first block.
    place: usize,
    first: u32,
    /// The offset of the next row of the revision.
    offset: u64,
    revision: Revision,
}

impl<'a> Builder<'a> {
    fn new(draft: &'a Draft<'a>, known: &'a (dyn Fn(Key) -> Option<u32> + Sync)) -> Builder<'a> {
        let old = draft.session();
        let session = Session {
            provider: old.provider,
            conventions: old.conventions,
            id: old.id.clone(),
            rows: Vec::with_capacity(old.rows.len()),
            blocks: Vec::with_capacity(old.blocks.len()),
            origins: old.origins.clone(),
            damage: old.damage.clone(),
            inherited: old.inherited.clone(),
            ends_with_newline: old.ends_with_newline || draft.added_lines().next().is_some(),
            ..Session::default()
        };
        let revision = Revision { session, ..Revision::default() };
        let subagent = old.rows.iter().any(|row| row.blocks > 0) && !old.rows.iter().any(|row| row.sidechain);
        Builder { draft, old, known, subagent, place: 0, first: 0, offset: 0, revision }
    }

    /// Returns the end of a row of the old session: a row extends to the start of the next one.
    fn end(&self, row: usize) -> u64 {
        self.old.rows.get(row + 1).map_or(self.old.bytes, |next| next.offset)
    }

    fn take(&mut self) -> OldRow {
        let row = self.place;
        let blocks = self.first..self.first + self.old.rows[row].blocks;
        (self.place, self.first) = (row + 1, blocks.end);
        OldRow { row: row as u32, blocks }
    }

    fn keep(&mut self) {
        let OldRow { row, blocks } = self.take();
        let (start, end) = (blocks.start as usize, blocks.end as usize);
        let blocks = self.old.blocks[start..end].iter().map(Block::without_terms).zip(blocks.map(Some)).collect();
        self.push(self.old.rows[row as usize].clone(), Some(row), blocks);
    }

    /// Parses the next rows again, up to the last one that the next changes overlap.
    fn rewrite<'c>(&mut self, changes: &mut Peekable<impl Iterator<Item = (Range<u64>, &'c [u8])>>) -> Result<(), SpliceError> {
        let (first, mut last) = (self.place, self.place);
        let mut replaced: Vec<(Range<u64>, &[u8])> = Vec::new();
        while let Some(change) = changes.next_if(|(range, _)| range.start < self.end(last)) {
            while change.0.end > self.end(last) && last + 1 < self.old.rows.len() {
                last += 1;
            }
            replaced.push(change);
        }
        let row = &self.old.rows[first];
        let row = row.offset..row.offset + u64::from(row.length);
        let is_inside = replaced.iter().all(|(range, _)| row.start <= range.start && range.end <= row.end);
        let is_line = self.draft.source.provider.framing() == Framing::Lines;
        if is_inside {
            let line = replace(&self.draft.rows.range(row.clone())?, row.start, &replaced)?;
            // A reversal can divide a line, or remove it.
            if !is_line || Framing::Lines.rows(&line).first() == Some(&(0..line.len())) {
                let old = self.take();
                self.parse(&line, Some(&old));
                return Ok(());
            }
        } else if !is_line {
            return Err(SpliceError::Mismatch);
        }
        // Rewrite all these rows as one piece of the file.
        let start = if first == self.old.inherited_rows() as usize { 0 } else { row.start };
        let piece = self.draft.rows.range(start..self.end(last))?;
        let olds: Vec<OldRow> = (first..=last).map(|_| self.take()).collect();
        self.parse_lines(&olds, &replace(&piece, start, &replaced)?);
        Ok(())
    }

    /// Parses the lines of an edited piece of the file in place of its old rows. If one line replaces one row, it is that row;
    /// otherwise rows are matched by identity.
    fn parse_lines(&mut self, olds: &[OldRow], piece: &[u8]) {
        let lines: Vec<&[u8]> = Framing::Lines.rows(piece).into_iter().map(|line| &piece[line]).collect();
        if let ([old], [line]) = (olds, &lines[..]) {
            return self.parse(line, Some(old));
        }
        let mut left: Vec<&OldRow> = olds.iter().collect();
        for line in lines {
            let id = if left.is_empty() { None } else { self.draft.source.provider.parse(line).row.id };
            let is_same = |old: &&OldRow| {
                let row = &self.old.rows[old.row as usize];
                // A row without an identity is the same if all of its bytes are.
                let has_line = || row.length as usize == line.len() && self.draft.line(old.row).is_ok_and(|was| *was == *line);
                row.id == id && (id.is_some() || has_line())
            };
            let same = left.iter().position(is_same);
            let old = same.map(|place| left.remove(place));
            self.parse(line, old);
        }
    }

    fn parse(&mut self, line: &[u8], old: Option<&OldRow>) {
        let provider = self.draft.source.provider;
        let parsed = provider.parse(line);
        // A row whose thinking is restored has more blocks than before.
        let was = |index| old.map(|old| old.blocks.start + index).filter(|was| old.is_some_and(|old| *was < old.blocks.end));
        for index in old.map(|old| self.draft.changed_blocks(old.row)).into_iter().flatten() {
            if let (Some(was), Some(block)) = (was(index), parsed.blocks.get(index as usize)) {
                self.revision.contents.insert(was, block.content.to_string());
            }
        }
        let first = self.revision.session.blocks.len() as u32 + 1;
        for (index, block) in (0..).zip(&parsed.blocks).filter(|(index, _)| was(*index).is_none()) {
            self.revision.added.insert(first + index, block.content.to_string());
        }
        let segment = measure(self.known, self.revision.session.vocabulary, parsed, line.len());
        let Some(mut row) = segment.rows.into_iter().next() else { return };
        if self.subagent {
            row.sidechain = false;
        }
        let origin = segment.origins.into_iter().nth(row.origin as usize).unwrap_or_default();
        row.origin = self.origin(origin);
        self.revision.edited.insert(self.revision.session.rows.len() as u32, provider.stub(line));
        let places = (0..).map(was);
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
