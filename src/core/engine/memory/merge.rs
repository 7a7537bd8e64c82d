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
mod tests {
    use super::*;
    use crate::engine::memory::topic::statement_key;
    use crate::engine::memory::words::key_of;
    use crate::model::MemoryFile;
    use proptest::prelude::*;

    fn seen(session: &str, day: i64) -> Sighting {
        Sighting { session: session.to_owned(), block: day as u32, row: format!("r{day}"), time: day * DAY_MILLISECONDS + 5 }
    }

    fn candidate(text: &str, is_strong: bool, sightings: &[(&str, i64)]) -> Candidate {
        let sightings = sightings.iter().map(|(session, day)| seen(session, *day)).collect();
        let (file, kind) = (MemoryFile::UserPrefs, MemoryKind::Correction);
        Candidate { key: key_of(text), file, kind, text: text.to_owned(), is_strong, sightings }
    }

    fn applied(existing: &[Memory], changes: &[Change]) -> Vec<Memory> {
        let mut memories = existing.to_vec();
        for change in changes {
            match memories.iter_mut().find(|memory| memory.id == change.memory.id) {
                Some(known) => *known = change.memory.clone(),
                None => memories.push(change.memory.clone()),
            }
        }
        memories
    }

    fn run(existing: &[Memory], candidates: &[Candidate], day: i64) -> (Vec<Memory>, Vec<(ChangeKind, u32)>) {
        let next_id = existing.iter().map(|memory| memory.id).max().unwrap_or_default() + 1;
        let facts = MergeFacts { next_id, now: day * DAY_MILLISECONDS, ..MergeFacts::default() };
        let changes = merge(existing, candidates, &facts);
        let kinds = changes.iter().map(|change| (change.kind, change.memory.id)).collect();
        (applied(existing, &changes), kinds)
    }

    use ChangeKind::{Activated, Added, Archived, Confirmed, Restored, Superseded};

    #[test]
    fn a_list_never_gets_shorter() {
        for (old, new, expected) in [
            ("Test: `a`, `b`", "Test: `b`", "Test: `a`, `b`"),
            ("Test: `a`", "Test: `b`, `a`", "Test: `b`, `a`"),
            ("Test: `a`", "Test: `b`", "Test: `b`, `a`"),
            ("`src/` (the cart): `a`, `b`", "`src/` (the cart): `c`", "`src/` (the cart): `c`, `a`, `b`"),
        ] {
            assert_eq!(with_items(old, new), expected, "{old} {new}");
        }
    }

    #[test]
    fn a_second_session_activates_an_entry() {
        let (one, changes) = run(&[], &[candidate("use tabs", false, &[("s1", 10)])], 11);
        assert_eq!((changes, one[0].state), (vec![(Added, 1)], MemoryState::Pending));
        let same = candidate("use tabs", false, &[("s1", 10), ("s1", 12)]);
        let (one, changes) = run(&one, &[same], 12);
        assert_eq!((changes, one[0].sightings, one[0].sessions), (vec![(Confirmed, 1)], 2, 1));
        let (one, changes) = run(&one, &[candidate("use tabs", false, &[("s1", 10), ("s1", 12), ("s2", 12)])], 13);
        assert_eq!((changes, one[0].state, one[0].sessions), (vec![(Activated, 1)], MemoryState::Active, 2));
        // Sessions whose files are gone still count.
        let (one, _) = run(&one, &[candidate("use tabs", false, &[("s3", 14)])], 14);
        assert_eq!((one[0].sightings, one[0].sessions, one[0].first_seen), (4, 3, 10 * DAY_MILLISECONDS));
        let (_, changes) = run(&[], &[candidate("use tabs", true, &[("s1", 10)])], 11);
        assert_eq!(changes, [(Added, 1)]);
    }

    #[test]
    fn an_entry_goes_with_the_words_that_taught_it() {
        let said =
            |text: &str, sightings: &[(&str, i64)], day: i64| run(&[], &[candidate(text, true, sightings)], day).0[0].clone();
        let first = said("Use `npm`.", &[("s1", 10)], 11);
        let old = Memory { state: MemoryState::Superseded, superseded_by: Some(2), ..first };
        let twice = said("Use `pnpm`.", &[("s2", 12), ("s3", 13)], 13);
        let said = Memory { id: 2, ..said("Use `pnpm`.", &[("s2", 12)], 12) };
        let changes_of = |existing: &[Memory], left: &[(&str, u32)]| {
            let left = left.iter().map(|(session, block)| ((*session).to_owned(), *block)).collect();
            let facts = MergeFacts { next_id: 9, now: 14 * DAY_MILLISECONDS, left: Some(&left), ..MergeFacts::default() };
            merge(existing, &[], &facts)
        };
        let block = said.evidence[0].block;
        assert_eq!(changes_of(std::slice::from_ref(&said), &[("s9", block)]), []);
        let changes = changes_of(&[old, said.clone()], &[("s2", block)]);
        let kinds: Vec<(ChangeKind, u32)> = changes.iter().map(|change| (change.kind, change.memory.id)).collect();
        assert_eq!(kinds, [(Restored, 1), (ChangeKind::Removed, 2)]);
        let edited = Memory { is_edited: true, ..said };
        assert_eq!(changes_of(&[edited], &[("s2", block)]), []);
        let changes = changes_of(std::slice::from_ref(&twice), &[("s2", block)]);
        assert_eq!((changes[0].kind, changes[0].memory.sightings), (Confirmed, 1));
        assert_eq!(changes_of(&[changes[0].memory.clone()], &[("s2", block)]), []);
        // A copy of the session still has the words.
        let copied = Memory { sightings: 1, ..twice };
        let changes = changes_of(std::slice::from_ref(&copied), &[("s2", block)]);
        assert!(changes.iter().all(|change| change.kind != ChangeKind::Removed && change.memory.evidence.len() == 1));
    }

    #[test]
    fn decisions_of_a_person_are_kept() {
        let said = candidate("Use `pnpm`.", true, &[("s1", 10)]);
        let (one, _) = run(&[], std::slice::from_ref(&said), 11);
        let edited = Memory { text: "Use `pnpm` 9.".to_owned(), is_edited: true, ..one[0].clone() };
        let other =
            Candidate { text: "Use `pnpm` please.".to_owned(), ..candidate("Use `pnpm`.", true, &[("s1", 10), ("s2", 20)]) };
        let (after, changes) = run(std::slice::from_ref(&edited), &[other], 21);
        assert_eq!((changes, &*after[0].text, after[0].sightings), (vec![(Confirmed, 1)], "Use `pnpm` 9.", 2));
        let archived = Memory { state: MemoryState::Archived, ..edited };
        let (after, _) = run(&[archived], &[candidate("Use `pnpm`.", true, &[("s3", 30)])], 31);
        assert_eq!(after[0].state, MemoryState::Archived);
        let facts = MergeFacts { next_id: 1, forgotten: &[said.key], now: 11 * DAY_MILLISECONDS, ..MergeFacts::default() };
        assert_eq!(merge(&[], &[said], &facts), []);
    }

    #[test]
    fn a_newer_statement_supersedes_an_older_one_and_keeps_its_facts() {
        let old = candidate("Deploy the `web` app with `make ship` on Monday mornings.", true, &[("s1", 10)]);
        let new = candidate("Deploy the app with `make ship` on Monday mornings only.", true, &[("s2", 20)]);
        let (memories, changes) = run(&[], &[new.clone(), old.clone()], 21);
        assert_eq!(changes, [(Added, 1), (Added, 2)]);
        assert_eq!((memories[0].state, memories[0].superseded_by), (MemoryState::Superseded, Some(2)));
        assert_eq!(memories[1].text, "Deploy the app with `make ship` on Monday mornings only. (earlier: `web`)");
        assert_eq!(run(&memories, &[new, old], 22).1, []);
    }

    #[test]
    fn the_same_statement_in_other_words_is_a_second_sighting() {
        let (one, two) = (
            candidate("Write commit messages in English.", false, &[("s1", 10)]),
            candidate("Please always write the commit messages in English, with a subject.", false, &[("s2", 20)]),
        );
        let (memories, _) = run(&[], &[one.clone(), two.clone()], 21);
        let new = &memories[1];
        assert_eq!((new.state, new.sightings, new.sessions, new.first_seen), (MemoryState::Active, 2, 2, 10 * DAY_MILLISECONDS));
        assert_eq!((memories[0].state, new.evidence.len()), (MemoryState::Superseded, 2));
        assert_eq!(run(&memories, &[one, two], 22).1, []);
    }

    #[test]
    fn statements_that_share_their_words_and_differ_are_two_entries() {
        for (one, other) in [
            ("Never import the parser from the lexer.", "Never import the lexer from the parser."),
            (
                "Never expose internal customer identifiers in responses of the API.",
                "Never expose internal customer identifiers in responses of the CLI.",
            ),
        ] {
            let candidate =
                |text, session, day| Candidate { key: statement_key(text), ..candidate(text, true, &[(session, day)]) };
            let (memories, _) = run(&[], &[candidate(one, "s1", 10), candidate(other, "s2", 20)], 21);
            let found: Vec<_> = memories.iter().map(|memory| (&*memory.text, memory.state, memory.sightings)).collect();
            assert_eq!(found, [(one, MemoryState::Active, 1), (other, MemoryState::Active, 1)]);
        }
        // A rule that was forgotten does not forbid its opposite.
        let forgotten = [statement_key("Always use npm instead of pnpm here.")];
        let text = "Always use pnpm instead of npm here.";
        let facts = MergeFacts { next_id: 1, forgotten: &forgotten, now: 11 * DAY_MILLISECONDS, ..MergeFacts::default() };
        let opposite = Candidate { key: statement_key(text), ..candidate(text, true, &[("s1", 10)]) };
        assert_eq!(merge(&[], &[opposite], &facts).len(), 1);
    }

    #[test]
    fn the_newest_statement_wins_and_the_contradiction_is_recorded() {
        let use_it = candidate("use `npm` for packages", true, &[("s1", 10)]);
        let avoid = candidate("don't use `npm` for packages", true, &[("s2", 20)]);
        let (memories, _) = run(&[], std::slice::from_ref(&use_it), 11);
        let reads = [MemoryRead { memory: 1, session: "s3".to_owned(), time: 15 * DAY_MILLISECONDS }];
        let facts = MergeFacts { next_id: 2, reads: &reads, now: 21 * DAY_MILLISECONDS, ..MergeFacts::default() };
        let changes = merge(&memories, &[use_it.clone(), avoid.clone()], &facts);
        let memories = applied(&memories, &changes);
        assert_eq!((memories[0].state, memories[0].harmful), (MemoryState::Superseded, 1));
        assert_eq!((memories[1].state, memories[1].contradicts), (MemoryState::Active, Some(1)));
        assert_eq!(merge(&memories, &[use_it, avoid.clone()], &facts), []);
        // The user changes their mind again.
        let again = candidate("use `npm` for packages", true, &[("s1", 10), ("s3", 30)]);
        let (memories, changes) = run(&memories, &[again.clone(), avoid.clone()], 31);
        assert_eq!(changes, [(Restored, 1), (Superseded, 2)]);
        assert_eq!(run(&memories, &[again, avoid], 32).1, []);
        // An older statement does not return.
        let late = candidate("never use `npm` for packages", true, &[("s4", 5)]);
        assert_eq!(run(&memories, &[late], 33).1, []);
    }

    #[test]
    fn a_failure_gets_its_fix_and_keeps_it() {
        let of = |kind, text: &str, day| {
            let seen = vec![seen("s1", day)];
            Candidate { key: 7, file: MemoryFile::Gotchas, kind, text: text.to_owned(), is_strong: true, sightings: seen }
        };
        let failure = |day| of(MemoryKind::Environment, "`a` fails: `no b`.", day);
        let (memories, _) = run(&[], &[failure(10)], 11);
        let (memories, _) = run(&memories, &[of(MemoryKind::Resolution, "`a` fails (`no b`): add `b`.", 12)], 13);
        let (memories, changes) = run(&memories, &[failure(14)], 15);
        assert_eq!(changes, [(Confirmed, 1)]);
        assert_eq!((memories[0].kind, &*memories[0].text), (MemoryKind::Resolution, "`a` fails (`no b`): add `b`."));
        // Reports that the fix does not help count once, however often they are read.
        let outcomes = [Outcome { id: 1, helpful: 0, harmful: 1 }];
        let facts = MergeFacts { next_id: 2, outcomes: &outcomes, now: 15 * DAY_MILLISECONDS, ..MergeFacts::default() };
        let changes = merge(&memories, &[], &facts);
        assert_eq!((changes[0].kind, changes[0].memory.is_refuted()), (ChangeKind::Contradicted, true));
        assert_eq!(merge(&applied(&memories, &changes), &[], &facts), []);
    }

    #[test]
    fn entries_decay_while_the_project_is_in_use() {
        let old = candidate("use tabs", true, &[("s1", 10)]);
        let (memories, _) = run(&[], std::slice::from_ref(&old), 11);
        assert_eq!(run(&memories, std::slice::from_ref(&old), 5000).1, [], "the project rests");
        let new = candidate("write short commit messages", true, &[("s2", 200)]);
        let (memories, changes) = run(&memories, &[old.clone(), new.clone()], 201);
        assert_eq!(changes, [(Archived, 1), (Added, 2)]);
        assert_eq!(run(&memories, &[old.clone(), new.clone()], 202).1, []);
        let again = candidate("use tabs", true, &[("s1", 10), ("s3", 210)]);
        assert_eq!(run(&memories, &[again, new.clone()], 211).1, [(Restored, 1)]);
        let helpful = Memory { helpful: 1, state: MemoryState::Active, ..memories[0].clone() };
        assert_eq!(run(&[helpful, memories[1].clone()], &[old, new], 203).1, []);
    }

    #[test]
    fn credentials_do_not_become_memories() {
        let text = format!("the token is ghp_{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
        assert_eq!(run(&[], &[candidate(&text, true, &[("s1", 10)])], 11).1, []);
    }

    proptest! {
        #[test]
        fn merging_again_changes_nothing(
            said in proptest::collection::vec(("(use|avoid|don't use|never use) `(a|b|c)`( for (tests|docs) [1-3])?", any::<bool>(), proptest::collection::vec((0usize..4, 0i64..400), 1..4)), 1..8),
            split in 0usize..8,
        ) {
            let candidates: Vec<Candidate> = said
                .iter()
                .map(|(text, is_strong, sightings)| {
                    let mut sightings: Vec<_> = sightings.iter().map(|(session, day)| (["s1", "s2", "s3", "s4"][*session], *day)).collect();
                    sightings.sort_by_key(|(_, day)| *day);
                    candidate(text, *is_strong, &sightings)
                })
                .collect();
            let (first, _) = run(&[], &candidates[..split.min(candidates.len())], 500);
            let (memories, _) = run(&first, &candidates, 500);
            let (again, changes) = run(&memories, &candidates, 500);
            prop_assert_eq!(changes, [], "{:#?}", again);
            let ids: BTreeSet<u32> = memories.iter().map(|memory| memory.id).collect();
            prop_assert_eq!(ids.len(), memories.len());
        }
    }
}
