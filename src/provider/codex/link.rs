//! Derives from the order of the rows their parents, the responses that they form, and the usage and model of each response.

use super::cut;
use crate::model::{Block, Event, Flags, Key, Origin, RowKind, Session, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet};

/// Fills in the fields that no row records itself. Idempotent.
pub(in crate::provider) fn link(session: &mut Session) {
    session.vocabulary = Vocabulary::O200k;
    let mut identities = Identities::default();
    let mut origins = Origins::new(&session.origins);
    let mut above: Option<Key> = None;
    let mut response = Response::default();
    let mut next = 0;
    for index in 0..session.rows.len() {
        let row = &mut session.rows[index];
        if let Some(id) = row.id.map(|id| identities.unique(id)) {
            (row.id, row.parent) = (Some(id), above);
            above = Some(id);
        }
        row.origin = origins.place(row.origin, &mut session.origins);
        let last = next + row.blocks as usize;
        for block in &mut session.blocks[next..last] {
            locate_target(block, &origins.current.directory);
        }
        next = last;
        response.add(session, index);
    }
    cut_outputs(session, response.model.as_deref());
    if session.origins.is_empty() {
        session.origins.push(origins.current);
    }
}

/// The ids of the rows so far.
#[derive(Default)]
struct Identities {
    seen: FxHashSet<Key>,
    /// The id of the last copy of a row.
    copies: FxHashMap<Key, Key>,
}

impl Identities {
    /// Returns an id that no row before has. Rows copied by a fork can be identical to the byte.
    fn unique(&mut self, first: Key) -> Key {
        // The search continues from the id of the previous copy.
        let mut id = self.copies.get(&first).copied().unwrap_or(first);
        while !self.seen.insert(id) {
            id = Key::from_bytes(&id.0.to_le_bytes());
        }
        if id != first {
            self.copies.insert(first, id);
        }
        id
    }
}

/// The origins of the rows so far: each row records only what changed.
struct Origins {
    places: FxHashMap<Origin, u32>,
    current: Origin,
    current_place: u32,
}

impl Origins {
    fn new(recorded: &[Origin]) -> Origins {
        let mut places = FxHashMap::default();
        for (place, origin) in (0..).zip(recorded) {
            places.entry(origin.clone()).or_insert(place);
        }
        Origins { places, current: Origin::default(), current_place: 0 }
    }

    /// Returns the place in `all` of the whole origin of a row, by the place of what the row recorded.
    fn place(&mut self, recorded: u32, all: &mut Vec<Origin>) -> u32 {
        if merge(&mut self.current, all.get(recorded as usize)) {
            self.current_place = *self.places.entry(self.current.clone()).or_insert_with(|| {
                all.push(self.current.clone());
                all.len() as u32 - 1
            });
        }
        self.current_place
    }
}

/// Makes the target of a tool that names a file absolute: the client runs its tools in the session's directory, and a patch names
/// no other directory.
fn locate_target(block: &mut Block, directory: &str) {
    let Some(tool) = block.tool.as_mut().filter(|tool| tool.verb.names_file() && !directory.is_empty()) else { return };
    if !tool.target.is_empty() && !tool.target.starts_with(['/', '~']) && tool.target.get(1..3) != Some(":\\") {
        tool.target = format!("{}/{}", directory.trim_end_matches('/'), tool.target).into();
    }
}

/// Truncates the outputs: on resume the client truncates all of them under the same limit, that of the model it resumes with.
fn cut_outputs(session: &mut Session, model: Option<&str>) {
    let limit = cut::limit(model);
    let numbered = session.rows.iter().find(|row| row.kind == RowKind::State).is_some_and(|row| row.flags.any(Flags::NUMBERED));
    for block in session.blocks.iter_mut().filter(|block| !block.cuts.is_empty()) {
        let found = block.cuts.iter().position(|cut| cut.stated || cut.limit == limit);
        block.cut = found.map(|place| place as u32);
        // A client that numbers rows truncates outputs before the first bill; bills of older clients include the whole output.
        if let Some(cut) = block.sent_cut().copied().filter(|_| numbered) {
            (block.bytes, block.counts) = (cut.bytes, cut.counts);
        }
    }
}

/// A run of rows of the model: the response to one request, as far as the file shows.
#[derive(Default)]
struct Response {
    key: Option<Key>,
    last: Option<usize>,
    open: bool,
    /// The model that the last state row named.
    model: Option<Box<str>>,
}

impl Response {
    /// Takes the next row: it belongs to the response, ends it, or bills it.
    fn add(&mut self, session: &mut Session, index: usize) {
        let row = &mut session.rows[index];
        match row.kind {
            RowKind::Assistant => {
                if !self.open {
                    self.key = row.id;
                }
                (self.open, self.last) = (true, Some(index));
                row.message = self.key;
                row.model.clone_from(&self.model);
                (row.usage, row.finished) = (None, false);
            }
            RowKind::User | RowKind::Attachment => self.open = false,
            RowKind::Boundary => (self.key, self.last, self.open) = (None, None, false),
            RowKind::State if row.model.is_some() => self.model.clone_from(&row.model),
            RowKind::Record => {
                if let Some(Event::Capacity(tokens)) = row.event.as_deref() {
                    session.capacity = Some(*tokens);
                }
                // A bill follows the response, mostly after the output of its tools, and is sometimes repeated.
                if let (Some(usage), Some(last)) = (row.usage.filter(|usage| usage.sent() > 0), self.last) {
                    row.message = self.key;
                    session.rows[last].usage = Some(usage);
                    session.rows[last].finished = true;
                }
            }
            _ => {}
        }
    }
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
