//! Memories of sessions that run: those that a session receives, and those that are learned from it meanwhile.

use super::compose;
use super::learn::merge_into;
use super::learning::{Learning, known_texts};
use super::run::{Memories, SCOPES};
use crate::app::{CommandError, Env};
use crate::engine::memory::{Change, ChangeKind, HEADING, about_prompt, matching};
use crate::engine::tokens;
use crate::model::{Candidate, Memory, MemoryActor, MemoryId, MemoryScope};
use std::collections::BTreeSet;
use std::path::Path;

/// Bytes of a prompt that are compared with memories.
const PROMPT_BYTES: usize = 20_000;

/// A session, and the memories of its project.
pub struct LiveMemories<'a> {
    memories: Memories<'a>,
    session: &'a str,
}

impl<'a> LiveMemories<'a> {
    /// Finds the project of a session by its directory.
    /// Errors: there is no data directory.
    pub fn new(env: &'a Env, session: &'a str, directory: &Path) -> Result<LiveMemories<'a>, CommandError> {
        Ok(LiveMemories { memories: Memories::at(env, directory)?.by(MemoryActor::Hook), session })
    }

    /// Returns what the session should know at its start, or after a compaction; `None` if there is nothing or it is switched off.
    pub fn at_start(&self) -> Result<Option<String>, CommandError> {
        let env = self.memories.env;
        // The heading is part of the budget.
        let budget = env.memory.session_tokens.saturating_sub(tokens::count(HEADING) + 1);
        if budget == 0 {
            return Ok(None);
        }
        let (composition, _) = compose::compose(&self.memories, "", budget)?;
        self.record(&composition.memories);
        Ok((!composition.text.is_empty()).then(|| format!("{HEADING}\n{}", composition.text)))
    }

    /// Returns the memories that a prompt is about and that the session did not receive yet; `None` if there are none, which is the
    /// usual case. Reads no session.
    pub fn for_prompt(&self, prompt: &str) -> Result<Option<String>, CommandError> {
        let budget = self.memories.env.memory.prompt_tokens;
        let prompt = &prompt[..prompt.floor_char_boundary(PROMPT_BYTES)];
        if budget == 0 || prompt.trim().is_empty() {
            return Ok(None);
        }
        let mut known: Vec<Memory> = Vec::new();
        for scope in SCOPES {
            // The words of a repository are in the text of the start only, under their own heading.
            if scope == MemoryScope::Project && !self.memories.is_accepted() {
                continue;
            }
            let tree = self.memories.read(scope)?;
            if tree.memories().next().is_none() {
                continue;
            }
            // Data that can only be read has no less to tell.
            let received = self.received(scope).unwrap_or_default();
            let is_new = |memory: &&Memory| !received.contains(&memory.received_as()) && !self.is_of_session(memory);
            known.extend(tree.memories().filter(is_new).cloned());
        }
        if matching(&known, prompt).is_empty() {
            return Ok(None);
        }
        let composition = about_prompt(&known, prompt, &known_texts(&self.memories), budget);
        self.record(&composition.memories);
        Ok((!composition.text.is_empty()).then_some(composition.text))
    }

    /// Returns true if everything that is known of an entry was said in this session.
    fn is_of_session(&self, memory: &Memory) -> bool {
        let mut evidence = memory.evidence.iter().peekable();
        evidence.peek().is_some() && evidence.all(|sighting| self.session.starts_with(&sighting.session))
    }

    fn received(&self, scope: MemoryScope) -> Result<BTreeSet<MemoryId>, CommandError> {
        let env = self.memories.env;
        let Some(store) = env.existing_store()? else { return Ok(BTreeSet::new()) };
        Ok(store.memories_read_by(&self.memories.place(scope).key(env.disk), self.session)?.into_iter().collect())
    }

    /// Records the entries that the session receives now. Entries that are in no file yet have no lasting number.
    fn record(&self, sent: &[(MemoryScope, MemoryId)]) {
        let env = self.memories.env;
        for scope in SCOPES {
            let record = || -> Result<(), CommandError> {
                let known: BTreeSet<MemoryId> = self.memories.read(scope)?.memories().map(Memory::received_as).collect();
                let of_scope = sent.iter().filter(|(owner, id)| *owner == scope && known.contains(id));
                let ids: Vec<MemoryId> = of_scope.map(|(_, id)| *id).collect();
                if !ids.is_empty() {
                    let tree = self.memories.place(scope).key(env.disk);
                    env.store()?.record_memory_reads(&tree, self.session, &ids, env.style.now.as_millisecond())?;
                }
                Ok(())
            };
            env.or_note(record(), "the sent memories are not recorded");
        }
    }

    /// Learns what the user said in the session, and which calls failed; writes only if an entry is new or another one than before.
    pub fn learn_session(&self, path: &Path) -> Result<Vec<Change>, CommandError> {
        if !self.memories.env.memory.learn {
            return Ok(Vec::new());
        }
        let learning = Learning::of_project(&self.memories);
        let keys: BTreeSet<u64> = learning.of_one(path).iter().map(|candidate| candidate.key).collect();
        // With the sightings in other sessions, so that rows that a fork repeats count once.
        let candidates: Vec<Candidate> =
            learning.candidates.iter().filter(|candidate| keys.contains(&candidate.key)).cloned().collect();
        self.learn(&learning, &candidates, &|change| !matches!(change.kind, ChangeKind::Confirmed | ChangeKind::Archived))
    }

    pub fn learn_project(&self) -> Result<Vec<Change>, CommandError> {
        if !self.memories.env.memory.learn {
            return Ok(Vec::new());
        }
        let learning = Learning::of_project(&self.memories);
        self.learn(&learning, &learning.candidates, &|_| true)
    }

    fn learn(
        &self,
        learning: &Learning,
        candidates: &[Candidate],
        is_worth_writing: &dyn Fn(&Change) -> bool,
    ) -> Result<Vec<Change>, CommandError> {
        let memories = &self.memories;
        let mut tree = memories.read(MemoryScope::Project)?;
        let feedback = learning.feedback(memories, &tree)?;
        let expected = tree.merge(candidates, &feedback, memories.env.style.now.as_millisecond())?;
        if !expected.iter().any(is_worth_writing) {
            return Ok(Vec::new());
        }
        Ok(merge_into(memories, MemoryScope::Project, candidates, &feedback, false)?.changes)
    }
}
