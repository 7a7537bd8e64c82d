//! Derives from the order of the rows their parents, the responses that they form, and the usage and model of each response.

use super::cut;
use crate::model::{Event, Flags, Key, Origin, RowKind, Session, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet};

/// Fills in the fields that no row records itself. Idempotent.
pub(in crate::provider) fn link(session: &mut Session) {
    session.vocabulary = Vocabulary::O200k;
    let mut seen: FxHashSet<Key> = FxHashSet::with_capacity_and_hasher(session.rows.len(), Default::default());
    let mut copies: FxHashMap<Key, Key> = FxHashMap::default();
    let mut places: FxHashMap<Origin, u32> = FxHashMap::default();
    for (place, origin) in session.origins.iter().enumerate() {
        places.entry(origin.clone()).or_insert(place as u32);
    }
    let mut above: Option<Key> = None;
    let mut model: Option<Box<str>> = None;
    let mut response = Response::default();
    let mut origin = Origin::default();
    let mut place = 0;
    let mut next = 0;
    for index in 0..session.rows.len() {
        let row = &mut session.rows[index];
        if let Some(mut id) = row.id {
            // Rows copied by a fork can be identical to the byte. The search continues from the id of the previous copy.
            let first = id;
            if let Some(last) = copies.get(&first) {
                id = *last;
            }
            while !seen.insert(id) {
                id = Key::from_bytes(&id.0.to_le_bytes());
            }
            if id != first {
                copies.insert(first, id);
            }
            (row.id, row.parent) = (Some(id), above);
            above = Some(id);
        }
        if merge(&mut origin, session.origins.get(row.origin as usize)) {
            place = *places.entry(origin.clone()).or_insert_with(|| {
                session.origins.push(origin.clone());
                session.origins.len() as u32 - 1
            });
        }
        row.origin = place;
        for block in &mut session.blocks[next..next + row.blocks as usize] {
            next += 1;
            if let Some(tool) = block.tool.as_mut().filter(|tool| tool.verb.names_file() && !origin.directory.is_empty()) {
                // The client runs its tools in the session's directory, and a patch names no other directory.
                if !tool.target.is_empty() && !tool.target.starts_with(['/', '~']) && tool.target.get(1..3) != Some(":\\") {
                    tool.target = format!("{}/{}", origin.directory.trim_end_matches('/'), tool.target).into();
                }
            }
        }
        match row.kind {
            RowKind::Assistant => {
                if !response.open {
                    response.key = row.id;
                }
                (response.open, response.last) = (true, Some(index));
                row.message = response.key;
                row.model.clone_from(&model);
                (row.usage, row.finished) = (None, false);
            }
            RowKind::User | RowKind::Attachment => response.open = false,
            RowKind::Boundary => response = Response::default(),
            RowKind::State if row.model.is_some() => model.clone_from(&row.model),
            RowKind::Record => {
                if let Some(Event::Capacity(tokens)) = row.event.as_deref() {
                    session.capacity = Some(*tokens);
                }
                // A bill follows the response, mostly after the output of its tools, and is sometimes repeated.
                if let (Some(usage), Some(last)) = (row.usage.filter(|usage| usage.sent() > 0), response.last) {
                    row.message = response.key;
                    session.rows[last].usage = Some(usage);
                    session.rows[last].finished = true;
                }
            }
            _ => {}
        }
    }
    // On resume the client truncates all outputs under the same limit, that of the model it resumes with.
    let limit = cut::limit(model.as_deref());
    let numbered = session.rows.iter().find(|row| row.kind == RowKind::State).is_some_and(|row| row.flags.any(Flags::NUMBERED));
    for block in session.blocks.iter_mut().filter(|block| !block.cuts.is_empty()) {
        let found = block.cuts.iter().position(|cut| cut.stated || cut.limit == limit);
        block.cut = found.map(|place| place as u32);
        // A client that numbers rows truncates outputs before the first bill; bills of older clients include the whole output.
        if let Some(cut) = block.sent_cut().copied().filter(|_| numbered) {
            (block.bytes, block.counts) = (cut.bytes, cut.counts);
        }
    }
    if session.origins.is_empty() {
        session.origins.push(origin);
    }
}

/// A run of rows of the model: the response to one request, as far as the file shows.
#[derive(Default)]
struct Response {
    key: Option<Key>,
    last: Option<usize>,
    open: bool,
}

/// Merges the recorded origin of a row into `origin`; the session id is that of the first row that has one. Returns true if
/// `origin` changed.
fn merge(origin: &mut Origin, said: Option<&Origin>) -> bool {
    let Some(said) = said else { return false };
    let before = origin.clone();
    if origin.session.is_empty() {
        origin.session.clone_from(&said.session);
    }
    let values =
        [(&mut origin.directory, &said.directory), (&mut origin.version, &said.version), (&mut origin.branch, &said.branch)];
    for (known, said) in values {
        if !said.is_empty() {
            known.clone_from(said);
        }
    }
    *origin != before
}
