//! Reads the turns that are about a text.

use super::find::{Searched, candidates_of};
use super::update::Indexed;
use crate::engine::search::Query;
use crate::model::TraceEvent;
use crate::store::{IndexedTurn, SearchIndex};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Turns that are read, and bytes of them.
const MOST_TURNS: usize = 24;
const MOST_BYTES: u64 = 4 << 20;

/// A turn that is about a text.
#[derive(Debug)]
pub struct RelatedTurn {
    pub source: usize,
    pub turn: IndexedTurn,
    /// Comparable among the turns of one text.
    pub score: f32,
    pub events: Vec<TraceEvent>,
}

/// Returns the turns that are about a text, the oldest first. The index must be up to date. Turns that cannot be read are left out.
pub fn related(
    searched: &Searched<'_>,
    index: &SearchIndex,
    indexed: &Indexed,
    query: &Query,
) -> rusqlite::Result<Vec<RelatedTurn>> {
    let bytes: Vec<Vec<(u32, Vec<u8>)>> =
        query.terms.iter().map(|term| index.postings(&term.keys)).collect::<rusqlite::Result<_>>()?;
    let (candidates, _) = candidates_of(searched, index, indexed, query, &bytes)?;
    let (mut chosen, mut contents, mut left) = (Vec::new(), FxHashSet::default(), MOST_BYTES);
    for candidate in candidates {
        if chosen.len() >= MOST_TURNS || left == 0 {
            break;
        }
        let Some(turn) = index.turn(candidate.turn)? else { continue };
        let Some(source) = indexed.get(&turn.file).copied() else { continue };
        // The copies of a turn in resumed and forked sessions count once.
        if turn.is_left || turn.content != 0 && !contents.insert(turn.content) {
            continue;
        }
        let end = turn.end.unwrap_or(searched.sources[source].identity.bytes);
        left = left.saturating_sub(end.saturating_sub(turn.start));
        chosen.push((source, turn, candidate.score));
    }
    let read = |(source, turn, score): (usize, IndexedTurn, f32)| {
        let place = turn.start..turn.end.unwrap_or(u64::MAX);
        let events = searched.sources[source].events(searched.disk, place, turn.block, &|_| true).ok()?;
        Some(RelatedTurn { source, turn, score, events })
    };
    let mut read: Vec<RelatedTurn> = chosen.into_par_iter().filter_map(read).collect();
    read.sort_by_key(|read| (read.turn.time, read.source, read.turn.start));
    Ok(read)
}
