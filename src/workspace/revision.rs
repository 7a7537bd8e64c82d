//! A session as it would be after some edits, without writing it.

use super::draft::Draft;
use super::load::parse_chunk;
use super::splice::{SpliceError, row};
use crate::model::{Block, Edit, Key, Origin, Row, Session, Slot};
use crate::provider::{ProviderAdapter, Stub};
use rustc_hash::{FxHashMap, FxHashSet};

/// A session after some edits.
pub struct Revision {
    /// The session.
    pub session: Session,
    /// The row of the old session that each row was; none for one that was added.
    pub was: Vec<Option<u32>>,
    /// The block of the old session that each block was, as an index.
    pub block_was: Vec<Option<u32>>,
    /// The rows that were edited or added: what no edit may change of them, if they can be read.
    pub edited: FxHashMap<u32, Option<Stub>>,
}

impl Revision {
    /// Takes in one more edit of a row that keeps its blocks, by the row of the old session.
    ///
    /// # Errors
    ///
    /// The row is not there any more, or a value is not what an edit says that it was.
    pub fn amend(&mut self, draft: &Draft<'_>, was: u32) -> Result<(), SpliceError> {
        let row = self.was.iter().position(|row| *row == Some(was)).ok_or(SpliceError::Mismatch)?;
        let edits: Vec<&Edit> = draft.edits.iter().filter(|((row, ..), _)| *row == was).map(|(_, edit)| edit).collect();
        let line = revised_line(draft, was, &edits)?;
        let provider = draft.workspace.provider;
        let place = &mut self.session.rows[row];
        place.usage = provider.parse(&line).row.usage;
        place.length = line.len() as u32;
        self.edited.insert(row as u32, provider.stub(&line));
        provider.link(&mut self.session);
        Ok(())
    }
}

/// The session of a draft after its edits. Only the rows that are edited are parsed again: all others are known.
///
/// # Errors
///
/// A row is not there, or a value is not what an edit says that it was.
pub fn revise(draft: &Draft<'_>, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<Revision, SpliceError> {
    let session = &draft.workspace.reading.session;
    let provider = draft.workspace.provider;
    let mut by_row: FxHashMap<u32, Vec<&Edit>> = FxHashMap::default();
    let mut removed: FxHashSet<u32> = FxHashSet::default();
    let mut added: Vec<&[u8]> = Vec::new();
    for edit in draft.all_edits() {
        match (edit.slot, &edit.before, &edit.after) {
            (Slot::Line, None, Some(line)) => added.push(line.trim_ascii()),
            (Slot::Line, ..) => {
                removed.insert(row(session, &draft.addresses, edit.row)?);
            }
            _ => by_row.entry(row(session, &draft.addresses, edit.row)?).or_default().push(edit),
        }
    }
    let subagent = session.rows.iter().any(|row| row.blocks > 0) && !session.rows.iter().any(|row| row.sidechain);
    let mut builder = Builder {
        provider,
        known,
        subagent,
        offset: 0,
        revision: Revision {
            session: Session {
                provider: session.provider,
                id: session.id.clone(),
                rows: Vec::with_capacity(session.rows.len() + added.len()),
                blocks: Vec::with_capacity(session.blocks.len() + added.len()),
                origins: session.origins.clone(),
                damage: session.damage.clone(),
                ends_with_newline: session.ends_with_newline || !added.is_empty(),
                ..Session::default()
            },
            was: Vec::new(),
            block_was: Vec::new(),
            edited: FxHashMap::default(),
        },
    };
    let mut next = 0u32;
    for (place, row) in (0u32..).zip(&session.rows) {
        let first = next;
        next += row.blocks;
        if removed.contains(&place) {
            continue;
        }
        match by_row.get(&place) {
            None => {
                let blocks = &session.blocks[first as usize..next as usize];
                builder.keep(place, first, row, blocks);
            }
            Some(edits) => {
                builder.parse(&revised_line(draft, place, edits)?, Some(place), Some(first));
            }
        }
    }
    for line in added {
        builder.parse(line, None, None);
    }
    let mut revision = builder.revision;
    revision.session.bytes = builder.offset;
    provider.link(&mut revision.session);
    Ok(revision)
}

/// One row with its edits.
fn revised_line(draft: &Draft<'_>, row: u32, edits: &[&Edit]) -> Result<Vec<u8>, SpliceError> {
    let line = draft.base.line(&draft.workspace.reading.session, row)?;
    let mut places = Vec::with_capacity(edits.len());
    for edit in edits {
        let range = draft.workspace.provider.locate_slot(&line, edit.slot).ok_or(SpliceError::Mismatch)?;
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
    /// Whether all of the file is a subagent's, so that its rows are not set apart.
    subagent: bool,
    offset: u64,
    revision: Revision,
}

impl Builder<'_> {
    fn keep(&mut self, place: u32, first: u32, row: &Row, blocks: &[Block]) {
        self.push(row.clone(), Some(place), blocks.iter().map(Block::without_terms).zip((first..).map(Some)).collect());
    }

    fn parse(&mut self, line: &[u8], was: Option<u32>, first: Option<u32>) {
        let segment = parse_chunk(self.provider, self.known, line, 0);
        let Some(mut row) = segment.rows.into_iter().next() else { return };
        if self.subagent {
            row.sidechain = false;
        }
        let origin = segment.origins.into_iter().nth(row.origin as usize).unwrap_or_default();
        row.origin = self.origin(origin);
        self.revision.edited.insert(self.revision.session.rows.len() as u32, self.provider.stub(line));
        let places = (0..).map(|index| first.map(|first| first + index));
        self.push(row, was, segment.blocks.into_iter().zip(places).collect());
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
