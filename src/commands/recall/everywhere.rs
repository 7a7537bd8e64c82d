//! Finds blocks of all sessions by the words of their contents, in the session files.

use super::run::Recalled;
use crate::app::Env;
use crate::engine::label;
use crate::engine::recall::AllWords;
use crate::fsio::read_range;
use crate::model::{Block, BlockNumber, Session};
use crate::workspace::{Found, Project, find_all, stated};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The number of blocks after which no further session is read: of these the best are listed.
const ENOUGH: usize = 40;
/// The maximum number of blocks of one session, the newest.
const OF_SESSION: usize = 8;

/// The blocks that have all words of a query.
#[derive(Default)]
pub struct Matches {
    /// The blocks, of the newest sessions first.
    pub blocks: Vec<Recalled>,
    /// The number of sessions that were searched.
    pub searched: usize,
    /// The number of sessions with rows that have all words, and whose blocks were not read because there were enough.
    pub unread: usize,
}

/// Searches the files of all sessions, or those of a project.
pub fn search(env: &Env, project: Option<&Project>, words: &AllWords) -> Matches {
    let belongs =
        |found: &Found| project.is_none_or(|project| project.holds(env.disk, found, stated(env.disk, found).as_deref()));
    let mut files = find_all(env.disk, &env.places, &mut |path, error| env.note(&format!("skipped {}: {error}", path.display())));
    files.retain(|(found, _)| belongs(found));
    files.sort_by(|(one, a), (other, b)| (b.modified, &one.path).cmp(&(a.modified, &other.path)));
    let mut matches = Matches { searched: files.len(), ..Matches::default() };
    let rows: Vec<Vec<u64>> = files.par_iter().map(|(found, file)| rows(env, found, file.bytes, words)).collect();
    for ((found, _), rows) in files.into_iter().zip(rows).filter(|(_, rows)| !rows.is_empty()) {
        if matches.blocks.len() >= ENOUGH {
            matches.unread += 1;
            continue;
        }
        let path = found.path.clone();
        match blocks(env, found, &rows, words) {
            Ok(blocks) => matches.blocks.extend(blocks),
            Err(error) => env.note(&format!("skipped {}: {:#}", path.display(), error.source)),
        }
    }
    matches
}

/// Returns the offsets of the rows of a file that have all words. A file that cannot be read has none.
fn rows(env: &Env, found: &Found, bytes: u64, words: &AllWords) -> Vec<u64> {
    let Ok(text) = read_range(env.disk, &found.path, 0, usize::try_from(bytes).unwrap_or(usize::MAX)) else { return Vec::new() };
    let mut start = 0;
    let mut offsets = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if words.are_in(line) {
            offsets.push(start);
        }
        start += line.len() as u64;
    }
    offsets
}

/// Returns the newest blocks of rows that have all words.
fn blocks(env: &Env, found: Found, rows: &[u64], words: &AllWords) -> Result<Vec<Recalled>, crate::app::CommandError> {
    let rows: BTreeSet<u64> = rows.iter().copied().collect();
    let workspace = env.visiting(&found).read_as_wanted(found, &|_| false)?;
    let session = &workspace.reading.session;
    let inherited = session.inherited_rows();
    let is_in_rows = |row: u32| row >= inherited && rows.contains(&session.rows[row as usize].offset);
    let numbers: Vec<BlockNumber> =
        session.blocks.iter().filter(|block| is_in_rows(block.row)).map(|block| block.number).collect();
    let contents = workspace.masked_contents(&numbers)?;
    let matching = numbers.into_iter().zip(contents).filter(|(_, content)| words.are_in(content.readable.as_bytes()));
    let recalled = matching.filter_map(|(number, content)| {
        let block = block(session, number)?;
        Some(Recalled {
            session: workspace.location.id.clone(),
            path: workspace.path.clone(),
            number,
            level: block.level,
            title: label(block),
            text: content.readable,
            time: block.timestamp,
            turn: Some(block.position.turn),
            is_removed: false,
        })
    });
    let mut blocks: Vec<Recalled> = recalled.collect();
    blocks.drain(..blocks.len().saturating_sub(OF_SESSION));
    Ok(blocks)
}

/// Returns the time and the turn of a block of a session file; `None` if the file does not exist or has no such block.
pub fn place(env: &Env, found: Found, number: BlockNumber) -> Option<(Option<i64>, u32)> {
    let workspace = env.visiting(&found).read_as_wanted(found, &|_| false).ok()?;
    let block = block(&workspace.reading.session, number)?;
    Some((block.timestamp, block.position.turn))
}

/// Returns the block with a number.
fn block(session: &Session, number: BlockNumber) -> Option<&Block> {
    session.blocks.get(usize::try_from(number).ok()?.checked_sub(1)?)
}
