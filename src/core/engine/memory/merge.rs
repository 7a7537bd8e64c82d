//! Merges candidates into the memories of a tree: new entries, further sightings, supersession, contradictions, decay.
//!
//! The result depends on the arguments only, and merging the same candidates again changes nothing. Text that a person wrote is
//! never rewritten.

use super::compose::may_be_active;
use super::danger::is_dangerous;
use super::markdown::EVIDENCE;
use super::outcomes::Outcome;
use super::topic::{Relation, Topic, TopicIndex, carried_over, carried_over_all, relation};
use super::words::{checksum, day_of, holds_secret, normalized};
use crate::model::limits::DAY_MILLISECONDS;
use crate::model::{
    BlockNumber, Candidate, Memory, MemoryFile, MemoryId, MemoryKind, MemoryRead, MemoryState, Sighting, session_prefix, texts,
};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Days without a sighting after which a memory is archived.
const CONFIRMED_DAYS: i64 = 180;
/// The longest such time, for a memory that was helpful often, as a multiple.
const HELPFUL_TIMES: i64 = 4;
/// Sessions with a sighting from which a memory is active.
const ACTIVE_SESSIONS: u32 = 2;

texts! {
    /// The kind of a change of a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[schemars(rename = "MemoryChangeKind")]
    #[serde(rename_all = "snake_case")]
    pub enum ChangeKind, word {
        /// A new memory.
        Added = "added",
        /// A pending memory became active.
        Activated = "active",
        /// A retired memory is in use again.
        Restored = "restored",
        /// The text changed.
        Rewritten = "rewritten",
        /// It was moved to another file.
        Moved = "moved",
        /// A newer memory replaced it.
        Superseded = "replaced",
        /// It was archived.
        Archived = "archived",
        /// A statement against it was found.
        Contradicted = "contradicted",
        /// Only its sightings or counts changed.
        Confirmed = "updated",
        /// It was deleted.
        Removed = "deleted",
    }
}

/// A change of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    /// The entry after the change; of a removed one, before it.
    pub memory: Memory,
    /// The entry before the change; `None` if it is new.
    pub before: Option<Memory>,
}

impl Change {
    /// Returns the change between two states of an entry; `None` if they are equal.
    pub fn between(before: &Memory, after: &Memory) -> Option<Change> {
        let kind = match (before.state, after.state) {
            _ if before == after => return None,
            (was, MemoryState::Superseded) if was != MemoryState::Superseded => ChangeKind::Superseded,
            (was, MemoryState::Archived) if was != MemoryState::Archived => ChangeKind::Archived,
            (MemoryState::Pending, MemoryState::Active) => ChangeKind::Activated,
            (was, is) if was.is_retired() && !is.is_retired() => ChangeKind::Restored,
            _ if before.text != after.text => ChangeKind::Rewritten,
            _ if before.file != after.file => ChangeKind::Moved,
            _ if before.contradicts != after.contradicts && after.contradicts.is_some() => ChangeKind::Contradicted,
            _ if before.harmful < after.harmful => ChangeKind::Contradicted,
            _ => ChangeKind::Confirmed,
        };
        Some(Change { kind, memory: after.clone(), before: Some(before.clone()) })
    }
}

/// Values that a merge depends on, beside memories and candidates.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeFacts<'a> {
    pub next_id: MemoryId,
    /// The keys of entries that were deleted: they never return.
    pub forgotten: &'a [u64],
    pub reads: &'a [MemoryRead],
    /// The outcomes of memories in all sessions.
    pub outcomes: &'a [Outcome],
    /// The words that the user left, by their sessions and blocks.
    pub left: Option<&'a BTreeSet<(String, BlockNumber)>>,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
}

/// Returns the changes that candidates make.
pub fn merge(existing: &[Memory], candidates: &[Candidate], facts: &MergeFacts<'_>) -> Vec<Change> {
    let (memories, next_id) = (existing.to_vec(), facts.next_id.max(1));
    let mut state = Merge {
        memories,
        topics: FxHashMap::default(),
        index: TopicIndex::default(),
        keys: FxHashMap::default(),
        withdrawn: BTreeSet::new(),
        next_id,
        facts,
    };
    (0..existing.len()).for_each(|place| state.list(place));
    for candidate in join_candidates(candidates) {
        let is_forgotten = facts.forgotten.contains(&candidate.key);
        if !is_forgotten && !candidate.text.is_empty() && !holds_secret(&candidate.text) {
            state.take(&candidate);
        }
    }
    state.withdraw();
    state.count_outcomes();
    state.decay(candidates);
    let changed = existing.iter().zip(&state.memories).filter_map(|(before, after)| match state.withdrawn.contains(&before.id) {
        true => Some(Change { kind: ChangeKind::Removed, memory: before.clone(), before: Some(before.clone()) }),
        false => Change::between(before, after),
    });
    let added = state.memories[existing.len()..].iter();
    let added = added.map(|memory| Change { kind: ChangeKind::Added, memory: memory.clone(), before: None });
    changed.chain(added).collect()
}

/// Joins candidates with equal keys, in the order of their last sightings; the newest has the text.
fn join_candidates(candidates: &[Candidate]) -> Vec<Candidate> {
    let mut by_key: BTreeMap<u64, Candidate> = BTreeMap::new();
    for candidate in candidates {
        let candidate = Candidate { text: normalized(&candidate.text), ..candidate.clone() };
        match by_key.remove(&candidate.key) {
            None => drop(by_key.insert(candidate.key, candidate)),
            Some(known) => {
                let (older, newer) =
                    if last_time(&known) <= last_time(&candidate) { (known, candidate) } else { (candidate, known) };
                let mut sightings = united(&older.sightings, &newer.sightings);
                sightings.sort_by_key(|sighting| sighting.time);
                let is_strong = older.is_strong || newer.is_strong;
                by_key.insert(newer.key, Candidate { sightings, is_strong, ..newer });
            }
        }
    }
    let mut joined: Vec<Candidate> = by_key.into_values().collect();
    joined.sort_by_key(|candidate| (last_time(candidate), candidate.key));
    joined
}

fn last_time(candidate: &Candidate) -> i64 {
    candidate.sightings.iter().map(|sighting| sighting.time).max().unwrap_or_default()
}

struct Merge<'a> {
    memories: Vec<Memory>,
    /// Texts that are compared, prepared once.
    topics: FxHashMap<String, Topic>,
    /// Finds the statements that can be about one topic.
    index: TopicIndex,
    /// The first memory with a key that no person wrote.
    keys: FxHashMap<u64, usize>,
    /// The entries that nothing teaches any more.
    withdrawn: BTreeSet<MemoryId>,
    next_id: MemoryId,
    facts: &'a MergeFacts<'a>,
}

impl Merge<'_> {
    fn take(&mut self, candidate: &Candidate) {
        if let Some(place) = self.keys.get(&candidate.key) {
            return self.confirm(*place, candidate);
        }
        let newest = day_of(last_time(candidate));
        // The steps of a task change with newer sessions only, not because a client deleted old ones.
        let is_newer = |memory: &Memory| memory.kind == MemoryKind::Procedure && memory.last_seen >= newest;
        let is_workflow = candidate.kind == MemoryKind::Procedure && matches!(candidate.file, MemoryFile::Workflow(_));
        if is_workflow && self.memories.iter().any(|memory| memory.file == candidate.file && is_newer(memory)) {
            return;
        }
        let mut memory = Memory { id: self.next_id, ..new_memory(candidate) };
        let mut superseded = Vec::new();
        if candidate.kind.is_statement() {
            let mut near = self.near(&memory.text);
            while let Some(place) = near.pop_first() {
                let old = &self.memories[place];
                // The relation to a retired entry counts only if that one is newer.
                if old.state.is_retired() && newest >= old.last_seen {
                    continue;
                }
                let words = memory.text.clone();
                let relation = relation(&self.topics[&old.text], &self.topics[&memory.text]);
                if old.state.is_retired() {
                    if relation != Relation::Unrelated {
                        return;
                    }
                    continue;
                }
                match relation {
                    Relation::Unrelated => {}
                    // The user's own words replace what the model proposed, and take nothing over from it.
                    _ if old.is_unconfirmed() => superseded.push(place),
                    // A person already wrote it into the file, or a newer statement is known.
                    Relation::Same if old.is_by_hand() || newest < old.last_seen => return,
                    Relation::Same => {
                        if let Some(text) = carried_over(&old.text, &memory.text).filter(|_| !old.is_edited) {
                            memory.text = text;
                            absorb(&mut memory, old);
                            superseded.push(place);
                        }
                    }
                    Relation::Opposite if old.is_by_hand() => memory.state = MemoryState::Pending,
                    Relation::Opposite => {
                        if newest < old.last_seen {
                            return;
                        }
                        memory.contradicts = Some(old.id);
                        if !old.is_edited
                            && let Some(text) = carried_over(&old.text, &memory.text)
                        {
                            memory.text = text;
                            superseded.push(place);
                        }
                        self.flag(place, last_time(candidate));
                    }
                }
                if memory.text != words {
                    near = self.near(&memory.text).split_off(&(place + 1));
                }
            }
        }
        for place in superseded {
            let old = &mut self.memories[place];
            (old.state, old.superseded_by, old.contradicts) = (MemoryState::Superseded, Some(memory.id), None);
        }
        self.next_id += 1;
        self.memories.push(memory);
        self.list(self.memories.len() - 1);
    }

    /// Makes a memory findable by its key and, if it is a statement, by its text.
    fn list(&mut self, place: usize) {
        let memory = &self.memories[place];
        if !memory.is_by_hand() {
            self.keys.entry(memory.key).or_insert(place);
        }
        if memory.kind.is_statement() {
            let topic = self.topics.entry(memory.text.clone()).or_insert_with(|| Topic::new(&memory.text));
            self.index.insert(place, topic);
        }
    }

    /// Returns the memories that can be about the topic of a text.
    fn near(&mut self, text: &str) -> BTreeSet<usize> {
        self.index.near(self.topics.entry(text.to_owned()).or_insert_with(|| Topic::new(text)))
    }

    /// Counts a contradiction against an entry that a session had received before.
    fn flag(&mut self, place: usize, time: i64) {
        let memory = &mut self.memories[place];
        let was_read = self.facts.reads.iter().any(|read| read.memory == memory.id && read.time < time);
        memory.harmful += u32::from(was_read);
    }

    /// Removes the sightings that the user left, and the entries without others that no person confirmed.
    fn withdraw(&mut self) {
        let Some(left) = self.facts.left.filter(|left| !left.is_empty()) else { return };
        let is_left = |sighting: &Sighting| left.contains(&(session_prefix(&sighting.session), sighting.block));
        for memory in self.memories.iter_mut().filter(|memory| !memory.is_by_hand() && !memory.is_by_model) {
            let stays = memory.evidence.iter().filter(|sighting| !is_left(sighting)).count() as u32;
            let taken = memory.evidence.len() as u32 - stays;
            // A copy of the session can still have the words.
            let sightings = memory.sightings.saturating_sub(taken).max(stays);
            let is_kept = memory.is_edited || memory.is_pinned;
            if taken > 0 && sightings > 0 {
                memory.evidence.retain(|sighting| !is_left(sighting));
                memory.sightings = sightings;
            } else if taken > 0 && !is_kept {
                self.withdrawn.insert(memory.id);
            }
        }
        for memory in &mut self.memories {
            if memory.superseded_by.is_some_and(|id| self.withdrawn.contains(&id)) {
                (memory.state, memory.superseded_by) = (MemoryState::Active, None);
            }
            memory.contradicts = memory.contradicts.filter(|id| !self.withdrawn.contains(id));
        }
    }

    /// Counts the outcomes of entries. Those of sessions that no longer exist still count.
    fn count_outcomes(&mut self) {
        for outcome in self.facts.outcomes {
            if let Some(memory) = self.memories.iter_mut().find(|memory| memory.id == outcome.id) {
                // A session whose success is refuted later no longer counts as helped.
                let refuted = outcome.harmful.saturating_sub(memory.harmful);
                memory.helpful = memory.helpful.saturating_sub(refuted).max(outcome.helpful);
                memory.harmful = memory.harmful.max(outcome.harmful);
            }
        }
    }

    /// Adds the sightings of a candidate to the entry with its key.
    fn confirm(&mut self, place: usize, candidate: &Candidate) {
        let newest = day_of(last_time(candidate));
        let replaced_by = self.memories[place].superseded_by;
        let replacement = replaced_by.and_then(|id| self.memories.iter().position(|memory| memory.id == id));
        let replaced_on = replacement.map(|place| self.memories[place].last_seen);
        let memory = &mut self.memories[place];
        let was_seen = memory.last_seen;
        count(memory, candidate);
        let is_new = newest > was_seen;
        match memory.state {
            // A contradiction waits for the user, however often it is stated.
            MemoryState::Pending if memory.contradicts.is_some() && memory.is_edited => {}
            MemoryState::Pending if candidate.is_strong || memory.sessions >= ACTIVE_SESSIONS => {
                memory.state = MemoryState::Active;
            }
            // A person who archives an entry decides for good.
            MemoryState::Archived if is_new && !memory.is_edited => memory.state = MemoryState::Active,
            MemoryState::Superseded if is_new && memory.kind.is_statement() && replaced_on.is_none_or(|on| newest > on) => {
                (memory.state, memory.superseded_by) = (MemoryState::Active, None);
                let id = memory.id;
                if let Some(place) = replacement.filter(|place| !self.memories[*place].is_edited) {
                    let other = &mut self.memories[place];
                    (other.state, other.superseded_by, other.contradicts) = (MemoryState::Superseded, Some(id), None);
                }
            }
            _ => {}
        }
        let memory = &mut self.memories[place];
        // A failure whose fix is not in the sessions any more, or did not help, keeps it until the user decides.
        let loses_fix = memory.kind == MemoryKind::Resolution && candidate.kind != MemoryKind::Resolution;
        if memory.is_edited || loses_fix || checksum(&memory.text) == checksum(&candidate.text) {
            return;
        }
        let text = match memory.kind {
            kind if kind.is_statement() => carried_over_all(&memory.text, &candidate.text),
            // Without a new sighting, it is the same sample or a smaller one: clients delete old sessions.
            kind if !is_new && kind == candidate.kind => return,
            MemoryKind::Context if candidate.text.contains(": `") => with_items(&memory.text, &candidate.text),
            _ => candidate.text.clone(),
        };
        if newest >= was_seen && checksum(&memory.text) != checksum(&text) {
            memory.text = text;
            if !memory.kind.is_statement() {
                (memory.kind, memory.file) = (candidate.kind, candidate.file.clone());
            }
            self.list(place);
        }
    }

    /// Archives entries that were not confirmed for long before the newest sighting: a project that rests loses nothing.
    fn decay(&mut self, candidates: &[Candidate]) {
        let seen = candidates.iter().map(last_time).chain(self.memories.iter().map(|memory| memory.last_seen));
        let newest = day_of(seen.max().unwrap_or_default().min(self.facts.now));
        for memory in &mut self.memories {
            // Such an entry waits for the review, no matter how often it was said: also a question, or a wish for one task.
            let waits = is_dangerous(&memory.text) || !may_be_active(memory);
            if memory.state == MemoryState::Active && !memory.is_certain() && waits {
                memory.state = MemoryState::Pending;
            }
            let times = (1 + i64::from(memory.helpful)).min(HELPFUL_TIMES);
            let is_old = newest - memory.last_seen > CONFIRMED_DAYS * DAY_MILLISECONDS * times;
            if is_old && !memory.is_edited && !memory.state.is_retired() {
                memory.state = MemoryState::Archived;
            }
        }
    }
}

/// Returns a list with the items of a newer and of an older one, the newer first: deleted sessions take nothing away.
fn with_items(old: &str, new: &str) -> String {
    const ITEMS: usize = 16;
    let items =
        |text: &'_ str| text.split_once(": ").map_or(text, |(_, rest)| rest).split(", ").map(str::to_owned).collect::<Vec<_>>();
    let (start, _) = new.split_once(": ").unwrap_or_default();
    let (mut all, older) = (items(new), items(old));
    if all.iter().all(|item| older.contains(item)) {
        return old.to_owned();
    }
    let missing: Vec<String> = older.into_iter().filter(|item| !all.contains(item)).collect();
    all.extend(missing);
    all.truncate(ITEMS);
    format!("{start}: {}", all.join(", "))
}

/// Returns a new entry, without a number.
pub fn new_memory(candidate: &Candidate) -> Memory {
    let mut memory = Memory {
        file: candidate.file.clone(),
        kind: candidate.kind,
        text: normalized(&candidate.text),
        key: candidate.key,
        first_seen: i64::MAX,
        ..Memory::default()
    };
    count(&mut memory, candidate);
    memory.first_seen = memory.first_seen.min(memory.last_seen);
    if candidate.is_strong || memory.sessions >= ACTIVE_SESSIONS {
        memory.state = MemoryState::Active;
    }
    memory
}

/// Adds the sightings of an entry with the same statement in other words.
fn absorb(memory: &mut Memory, old: &Memory) {
    let evidence = united(&old.evidence, &memory.evidence);
    let sessions: BTreeSet<&String> = evidence.iter().map(|sighting| &sighting.session).collect();
    memory.sessions = memory.sessions.max(old.sessions).max(sessions.len() as u32);
    memory.sightings += old.sightings;
    memory.first_seen = memory.first_seen.min(old.first_seen);
    (memory.helpful, memory.harmful) = (memory.helpful + old.helpful, memory.harmful + old.harmful);
    memory.evidence = newest(evidence);
    if old.state == MemoryState::Active || memory.sessions >= ACTIVE_SESSIONS {
        memory.state = MemoryState::Active;
    }
}

/// Counts the sightings of a candidate. The candidate usually has all of them again, but those of deleted sessions are missing.
fn count(memory: &mut Memory, candidate: &Candidate) {
    let sessions = |sightings: &mut dyn Iterator<Item = &Sighting>| {
        sightings.map(|sighting| session_prefix(&sighting.session)).collect::<BTreeSet<_>>()
    };
    let new: Vec<&Sighting> = candidate.sightings.iter().filter(|sighting| day_of(sighting.time) > memory.last_seen).collect();
    let known: BTreeSet<String> = memory.evidence.iter().map(|sighting| session_prefix(&sighting.session)).collect();
    let new_sessions = sessions(&mut new.iter().copied()).difference(&known).count() as u32;
    let all_sessions = sessions(&mut candidate.sightings.iter()).len() as u32;
    memory.sightings = (memory.sightings + new.len() as u32).max(candidate.sightings.len() as u32);
    memory.sessions = (memory.sessions + new_sessions).max(all_sessions);
    for sighting in &candidate.sightings {
        let day = day_of(sighting.time);
        memory.first_seen = memory.first_seen.min(day);
        memory.last_seen = memory.last_seen.max(day);
    }
    let place =
        |sighting: Sighting| Sighting { session: session_prefix(&sighting.session), row: String::new(), time: 0, ..sighting };
    let seen: Vec<Sighting> = newest(candidate.sightings.clone()).into_iter().map(place).collect();
    memory.evidence = newest(united(&memory.evidence, &seen));
}

/// Returns the sightings of two lists, each once. One of the first list keeps its place, so that the same sightings change nothing.
pub fn united(first: &[Sighting], second: &[Sighting]) -> Vec<Sighting> {
    let mut all = first.to_vec();
    for sighting in second {
        if !all.contains(sighting) {
            all.push(sighting.clone());
        }
    }
    all
}

/// Returns the sightings that metadata has room for.
pub fn newest(mut sightings: Vec<Sighting>) -> Vec<Sighting> {
    sightings.drain(..sightings.len().saturating_sub(EVIDENCE));
    sightings
}

#[cfg(test)]
mod tests;
