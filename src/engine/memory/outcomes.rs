//! Outcomes: how the advice of memories turned out in sessions.

use super::SessionFacts;
use super::failures::Failure;
use super::failures::resolutions::topic;
use super::induce::failures_of;
use crate::model::{Memory, MemoryId, MemoryKind};
use std::collections::BTreeSet;

/// The outcomes of a memory, each session counted once. They are computed from all sessions, so that learning again counts nothing
/// twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The memory.
    pub id: MemoryId,
    /// Number of sessions in which it failed, as the user reported.
    pub harmful: u32,
}

/// The use of memories by sessions, which a merge counts.
#[derive(Clone, Debug, Default)]
pub struct Feedback {
    /// Memories that a session received, each with the last time, in milliseconds since 1970.
    pub reads: Vec<(MemoryId, i64)>,
    /// The outcomes of memories.
    pub outcomes: Vec<Outcome>,
}

/// Returns the outcomes of memories. `sessions` are ids with their facts, in any order.
pub fn outcomes<'a>(memories: impl IntoIterator<Item = &'a Memory>, sessions: &[(&str, &SessionFacts)]) -> Vec<Outcome> {
    let sessions = failures_of(sessions);
    let resolutions = memories.into_iter().filter(|memory| memory.kind == MemoryKind::Resolution && !memory.is_by_hand());
    let outcome = |memory: &Memory| {
        let refutes = |failure: &Failure| failure.is_refuted && topic(failure) == memory.key;
        let refuting: BTreeSet<&str> =
            sessions.iter().filter(|(_, failures)| failures.iter().any(refutes)).map(|(id, _)| &**id).collect();
        Outcome { id: memory.id, harmful: refuting.len() as u32 }
    };
    resolutions.map(outcome).filter(|outcome| outcome.harmful > 0).collect()
}
