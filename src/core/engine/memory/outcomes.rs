//! Outcomes: how the advice of memories turned out in the sessions that received it, or that it was learned from.

use super::SessionFacts;
use super::failures::Failure;
use super::failures::resolutions::topic;
use super::induce::{failures_of, steps_of};
use super::procedures::longest_common;
use super::work::UseKind;
use crate::model::{BlockNumber, Memory, MemoryId, MemoryKind, MemoryRead};
use std::collections::BTreeSet;

/// The outcomes of a memory in all sessions, each counted once, so that learning again counts nothing twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub id: MemoryId,
    /// Number of sessions that received it and followed it with success.
    pub helpful: u32,
    /// Number of sessions in which it did not help, as the user reported.
    pub harmful: u32,
}

/// The use of memories by sessions, which a merge counts.
#[derive(Clone, Debug, Default)]
pub struct Feedback {
    pub reads: Vec<MemoryRead>,
    pub outcomes: Vec<Outcome>,
    /// The words that the user left, by their sessions and blocks.
    pub left: BTreeSet<(String, BlockNumber)>,
}

/// Returns the outcomes of memories. `sessions` are ids with their facts, in any order.
pub fn outcomes<'a>(
    memories: impl IntoIterator<Item = &'a Memory>,
    reads: &[MemoryRead],
    sessions: &[(&str, &SessionFacts)],
) -> Vec<Outcome> {
    let failures = failures_of(sessions);
    let count = |memory: &Memory| {
        let mut harmful = refuting(memory, &failures);
        let mut helpful = BTreeSet::new();
        for read in reads.iter().filter(|read| read.memory == memory.id) {
            let facts = sessions.iter().find(|(id, _)| *id == read.session).map(|(_, facts)| *facts);
            match facts.and_then(|facts| helped(memory, facts, read.time, &failures)) {
                Some(true) => helpful.insert(&*read.session),
                Some(false) => harmful.insert(&*read.session),
                None => false,
            };
        }
        Outcome { id: memory.id, helpful: helpful.difference(&harmful).count() as u32, harmful: harmful.len() as u32 }
    };
    let is_advice = |memory: &&Memory| matches!(memory.kind, MemoryKind::Resolution | MemoryKind::Procedure);
    let advice = memories.into_iter().filter(|memory| !memory.is_by_hand()).filter(is_advice);
    advice.map(count).filter(|outcome| outcome.helpful > 0 || outcome.harmful > 0).collect()
}

fn refuting<'a>(memory: &Memory, failures: &'a [(String, Vec<Failure>)]) -> BTreeSet<&'a str> {
    let refutes = |failure: &Failure| failure.is_refuted && topic(failure) == memory.key;
    failures.iter().filter(|(_, failures)| failures.iter().any(refutes)).map(|(id, _)| &**id).collect()
}

/// Returns true if a session followed a memory with success after a moment, false if the user refuted that; else `None`.
fn helped(memory: &Memory, facts: &SessionFacts, time: i64, failures: &[(String, Vec<Failure>)]) -> Option<bool> {
    if memory.kind == MemoryKind::Procedure {
        return was_run(&memory.text, facts, time).then_some(true);
    }
    let of_topic = failures.iter().flat_map(|(_, failures)| failures).filter(|failure| topic(failure) == memory.key);
    let mut fixes = of_topic.filter_map(|failure| failure.fix.as_ref());
    let followed = fixes.find(|fix| facts.fixes.worked_since(&fix.names, time))?;
    Some(!facts.fixes.was_refuted_since(&followed.names, time))
}

/// Returns true if a session ran more than half of the steps of a procedure in their order after a moment. A chain is made of shorter
/// sequences, and few sessions run all of it.
fn was_run(text: &str, facts: &SessionFacts, time: i64) -> bool {
    let steps: Vec<&str> = steps_of(text).collect();
    let commands = facts.work.uses().filter(|used| used.kind == UseKind::Command && used.time > time);
    let commands: Vec<&str> = commands.map(|used| used.name).collect();
    steps.len() > 1 && longest_common(&steps, &commands) * 2 > steps.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::merge::new_memory;
    use crate::model::{Candidate, Conventions, Key, MemoryFile, ToolVerb, TraceCall, TraceContent, TraceEvent, TraceResult};

    /// Returns the facts of a session that ran commands, one a millisecond.
    fn facts(commands: &[&str]) -> SessionFacts {
        let mut facts = SessionFacts::default();
        for (time, command) in (1..).zip(commands) {
            let (id, command) = (Key(time as u128), Some((*command).to_owned()));
            let call = TraceCall { id, verb: ToolVerb::Run, command, ..TraceCall::default() };
            let result = TraceResult { call: id, ..TraceResult::default() };
            for content in [TraceContent::Call(call), TraceContent::Result(result)] {
                let event = TraceEvent { block: 1, row: time.to_string(), time, turn: 0, content };
                facts.push(&event, &Conventions::default());
            }
        }
        facts
    }

    #[test]
    fn a_procedure_that_a_session_received_and_ran_is_helpful() {
        let candidate = Candidate {
            key: 7,
            file: MemoryFile::workflow("commit"),
            kind: MemoryKind::Procedure,
            text: "`mise run fmt` → `cargo test` → `git commit` → `git push`".to_owned(),
            is_strong: true,
            sightings: Vec::new(),
        };
        let memory = Memory { id: 3, ..new_memory(&candidate) };
        let check = |commands: &[&str], time, expected: u32| {
            let facts = facts(commands);
            let read = MemoryRead { memory: 3, session: "one".to_owned(), time };
            // A session receives an entry once, and is counted once.
            let found = outcomes([&memory], &[read.clone(), read], &[("one", &facts), ("two", &facts)]);
            let helpful = found.first().map_or(0, |outcome| outcome.helpful);
            assert_eq!(helpful, expected, "{commands:?}");
        };
        check(&["mise run fmt", "ls", "cargo test", "git commit -m x"], 0, 1);
        check(&["mise run fmt", "ls", "cargo test", "git commit -m x"], 1, 0);
        check(&["git commit -m x", "cargo test", "mise run fmt"], 0, 0);
        check(&["cargo test", "git commit -m x"], 0, 0);
    }
}
