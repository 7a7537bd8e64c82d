//! `aperture memory review`: lists pending entries and contradictions, and decides about them.

use super::ReviewArguments;
use super::questions::{ask, can_ask};
use super::report::{MemoryChangeReport, MemoryContradiction, MemoryDuplicate, MemoryLoss, MemoryReviewReport};
use super::run::{Memories, changed};
use crate::app::{CommandError, misuse};
use crate::engine::memory::merge::{newest, united};
use crate::engine::memory::topic::{Topic, carried_over_all, may_be_contained};
use crate::engine::memory::{may_be_told, order_by_worth};
use crate::engine::sidecar::{SidecarTask, comparison_address};
use crate::memory::{MemoryError, Tree};
use crate::model::{Memory, MemoryActor, MemoryId, MemoryKind, MemoryScope, MemoryState};

/// Maximum number of questions at a time, the most useful first.
pub const QUESTIONS: usize = 7;

/// Lists what waits, asks about it on a terminal, or decides.
pub fn run(memories: &Memories<'_>, arguments: &ReviewArguments) -> Result<(), CommandError> {
    let is_dry_run = arguments.dry_run;
    let report = if let [first, second] = arguments.merge.as_slice() {
        merged(memories, first, second, is_dry_run)?
    } else if !arguments.merge.is_empty() {
        return Err(misuse!("{} entries are named; two are merged", arguments.merge.len())
            .hint("aperture memory review --merge 12 14 keeps 12"));
    } else if !arguments.accept.is_empty() {
        accepted(memories, &arguments.accept, is_dry_run)?
    } else if !arguments.reject.is_empty() {
        rejected(memories, &arguments.reject, is_dry_run)?
    } else if arguments.accept_tree {
        let place = memories.place(MemoryScope::Project);
        if !is_dry_run {
            memories.accept(&place)?;
        }
        let done = format!("the entries of {} are accepted", place.directory.display());
        changed(done, memories.change(MemoryScope::Project, true, &mut |_| Ok(()))?, is_dry_run)
    } else {
        let waiting = waiting(memories)?;
        return if waiting.has_questions() && can_ask(memories) { ask(memories, waiting) } else { memories.env.print(&waiting) };
    };
    memories.print(report)
}

/// Merges the second entry into the first, and returns the report.
/// Errors: there is no such entry, they are of two trees, or as for a change.
pub fn merged(memories: &Memories<'_>, first: &str, second: &str, is_dry_run: bool) -> Result<MemoryChangeReport, CommandError> {
    let (first, second) = (memories.find(first)?, memories.find(second)?);
    if first.scope != second.scope || first.id == second.id {
        return Err(misuse!("'{}' and '{}' cannot be merged", first.name(), second.name()).hint("name two entries of one tree"));
    }
    let updated = memories.change(first.scope, is_dry_run, &mut |tree| merge(tree, first.id, second.id))?;
    Ok(changed(format!("{} merged into {}", second.name(), first.name()), updated, is_dry_run))
}

/// Makes entries active, and returns the report.
/// Errors: there is no such entry, or as for a change.
pub fn accepted(memories: &Memories<'_>, names: &[String], is_dry_run: bool) -> Result<MemoryChangeReport, CommandError> {
    decide(memories, names, "accepted", is_dry_run, &accept)
}

/// Archives entries, and returns the report.
/// Errors: there is no such entry, or as for a change.
pub fn rejected(memories: &Memories<'_>, names: &[String], is_dry_run: bool) -> Result<MemoryChangeReport, CommandError> {
    // The user's words can restore an entry that the model archives.
    let is_final = memories.actor() != MemoryActor::Model;
    let word = if is_final { "rejected" } else { "archived" };
    decide(memories, names, word, is_dry_run, &|tree, id| reject(tree, id, is_final))
}

fn waiting(memories: &Memories<'_>) -> Result<MemoryReviewReport, CommandError> {
    let mut report = MemoryReviewReport { option: memories.option.clone(), ..MemoryReviewReport::default() };
    let trees = memories.read_all()?;
    for tree in &trees {
        for memory in tree.memories().filter(|memory| !memory.state.is_retired()) {
            let older = memory.contradicts.and_then(|id| tree.find(id));
            // An entry that was replaced needs no decision.
            match older.filter(|older| !older.state.is_retired()) {
                Some(older) => {
                    let (newer, older) = (memory.clone(), older.clone());
                    report.contradictions.push(MemoryContradiction { newer, older });
                }
                None if memory.is_refuted() => report.refuted.push(memory.clone()),
                None if memory.state == MemoryState::Pending => report.pending.push(memory.clone()),
                None => {}
            }
        }
    }
    compare(memories, &trees, &mut report);
    let newest = report.pending.iter().map(|memory| memory.last_seen).max().unwrap_or_default();
    report.pending.sort_by_cached_key(|memory| {
        let is_told = memory.is_by_model || is_comparable(memory);
        std::cmp::Reverse((is_told, memory.is_by_model, memory.sessions, memory.sightings, order_by_worth(memory, newest)))
    });
    report.contradictions.truncate(QUESTIONS);
    report.refuted.truncate(QUESTIONS - report.contradictions.len());
    let room = QUESTIONS - report.contradictions.len() - report.refuted.len();
    report.later = report.pending.len().saturating_sub(room);
    report.pending.truncate(room);
    Ok(report)
}

/// Returns the pairs of entries that a local model compares: each replaced one with its successor, and each that another may contain.
pub fn compared(tree: &Tree) -> Vec<(&Memory, &Memory)> {
    let successor = |older: &Memory| older.superseded_by.and_then(|id| tree.find(id)).filter(|newer| !newer.state.is_retired());
    let replaced = tree.memories().filter(|memory| memory.state == MemoryState::Superseded);
    let mut pairs: Vec<_> = replaced.filter_map(|older| Some((older, successor(older)?))).collect();
    let in_use = tree.memories().filter(|memory| !memory.state.is_retired() && is_comparable(memory));
    let statements: Vec<(&Memory, Topic)> = in_use.map(|memory| (memory, Topic::new(&memory.text))).collect();
    for (other, said) in &statements {
        let is_larger = |kept: &Memory| (kept.text.len(), other.id) > (other.text.len(), kept.id);
        let kept = statements
            .iter()
            .find(|(kept, all)| kept.id != other.id && kept.kind == other.kind && is_larger(kept) && may_be_contained(said, all));
        pairs.extend(kept.map(|(kept, _)| (*other, *kept)));
    }
    pairs
}

/// Adds the questions of a local model: the fact that only a replaced entry has, and entries without a fact of their own.
fn compare(memories: &Memories<'_>, trees: &[Tree], report: &mut MemoryReviewReport) {
    for tree in trees {
        let Some(texts) = memories.env.sidecar_texts(&tree.place.directory) else { return };
        for (other, kept) in compared(tree) {
            let answer = texts.of(SidecarTask::Memory, comparison_address(&other.text, &kept.text));
            let Some(lost) = answer.and_then(|mut answer| answer.remove("lost")) else { continue };
            let (other, kept, written_by) = (other.clone(), kept.clone(), texts.model().to_owned());
            match (other.state == MemoryState::Superseded, lost.is_empty()) {
                (true, false) => report.losses.push(MemoryLoss { newer: kept, older: other, lost, written_by }),
                (false, true) => report.duplicates.push(MemoryDuplicate { kept, other, written_by }),
                _ => {}
            }
        }
    }
    report.losses.truncate(QUESTIONS);
    report.duplicates.truncate(QUESTIONS);
}

/// Returns true for an entry that is worth a comparison: not for lists of commands and files, and statements of no composed text.
fn is_comparable(memory: &Memory) -> bool {
    let is_told = !memory.kind.is_statement() || may_be_told(memory);
    memory.is_by_model
        || is_told
            && !matches!(memory.kind, MemoryKind::Context | MemoryKind::Discovery | MemoryKind::Entity | MemoryKind::Procedure)
}

type Decision<'a> = dyn Fn(&mut Tree, MemoryId) -> Result<(), CommandError> + 'a;

fn decide(
    memories: &Memories<'_>,
    names: &[String],
    word: &str,
    is_dry_run: bool,
    decision: &Decision<'_>,
) -> Result<MemoryChangeReport, CommandError> {
    let found: Vec<Memory> = names.iter().map(|name| memories.find(name)).collect::<Result<_, _>>()?;
    let Some(scope) = found.first().map(|memory| memory.scope) else { return Err(MemoryError::NothingToUndo.into()) };
    if found.iter().any(|memory| memory.scope != scope) {
        return Err(misuse!("entries of the project and of the user are reviewed separately"));
    }
    let updated =
        memories.change(scope, is_dry_run, &mut |tree| found.iter().try_for_each(|memory| decision(tree, memory.id)))?;
    let names: Vec<String> = found.iter().map(Memory::name).collect();
    Ok(changed(format!("{} {word}", names.join(", ")), updated, is_dry_run))
}

fn accept(tree: &mut Tree, id: MemoryId) -> Result<(), CommandError> {
    let memory = tree.known(id)?;
    if let Some(other) = memory.contradicts.and_then(|other| tree.find(other)).filter(|other| !other.state.is_retired()).cloned()
    {
        tree.set(Memory { state: MemoryState::Superseded, superseded_by: Some(id), contradicts: None, ..other })?;
    }
    // The user's word outweighs the reports so far.
    let helpful = memory.helpful.max(memory.harmful);
    // An accepted text is that of the user, as if they had written it.
    tree.set(Memory { state: MemoryState::Active, contradicts: None, superseded_by: None, helpful, is_edited: true, ..memory })?;
    Ok(())
}

fn reject(tree: &mut Tree, id: MemoryId, is_final: bool) -> Result<(), CommandError> {
    let memory = tree.known(id)?;
    let replaced: Vec<Memory> = tree.memories().filter(|other| other.superseded_by == Some(id)).cloned().collect();
    for other in replaced {
        tree.set(Memory { state: MemoryState::Active, superseded_by: None, ..other })?;
    }
    // If it is final, the text counts as that of a person from now on, so that no sighting makes it active again.
    let is_edited = memory.is_edited || is_final;
    tree.set(Memory { state: MemoryState::Archived, contradicts: None, is_edited, ..memory })?;
    Ok(())
}

fn merge(tree: &mut Tree, first: MemoryId, second: MemoryId) -> Result<(), CommandError> {
    let (kept, other) = (tree.known(first)?, tree.known(second)?);
    let evidence = newest(united(&kept.evidence, &other.evidence));
    let merged = Memory {
        // The user decided on this text.
        text: carried_over_all(&other.text, &kept.text),
        is_edited: true,
        state: MemoryState::Active,
        first_seen: kept.first_seen.min(other.first_seen),
        last_seen: kept.last_seen.max(other.last_seen),
        sightings: kept.sightings + other.sightings,
        sessions: kept.sessions.max(other.sessions),
        helpful: kept.helpful + other.helpful,
        contradicts: kept.contradicts.filter(|id| *id != second),
        superseded_by: None,
        evidence,
        ..kept
    };
    tree.set(merged)?;
    tree.set(Memory { state: MemoryState::Superseded, superseded_by: Some(first), contradicts: None, ..other })?;
    Ok(())
}
