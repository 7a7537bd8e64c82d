//! `aperture memory`, and its `list`, `show` and `stats`: print entries and their numbers.

use super::ListArguments;
use super::init::offer;
use super::learning::Learning;
use super::report::{MemoryFileCounts, MemoryListReport, MemoryStatsReport, MemoryTree, MemoryTreesReport};
use super::run::{Memories, SCOPES, file_named, problems};
use crate::app::{CommandError, refusal};
use crate::engine::memory::markdown::parse_name;
use crate::engine::o200k;
use crate::memory::Tree;
use crate::model::{Memory, MemoryFile, MemoryKind, MemoryScope, MemoryState};
use crate::workspace::{find_all, find_in_folder};
use std::collections::BTreeSet;

/// Prints the trees.
pub fn trees(memories: &Memories<'_>) -> Result<(), CommandError> {
    let trees = memories.read_all()?.iter().map(view).collect();
    let option = memories.option.clone();
    memories.env.print(&MemoryTreesReport { trees, moved: offer(memories), unlearned: unlearned(memories)?, option })
}

/// Returns the number of entries that no tree has yet, because their sessions were not learned.
fn unlearned(memories: &Memories<'_>) -> Result<usize, CommandError> {
    let mut tree = memories.read(MemoryScope::Project)?;
    let known: BTreeSet<u64> = tree.memories().map(|memory| memory.key).collect();
    let learning = Learning::of_project(memories);
    let feedback = learning.feedback(memories, &tree).unwrap_or_default();
    // A tree that cannot be changed learns nothing.
    let is_learned = tree.merge(&learning.candidates, &feedback, memories.env.style.now.as_millisecond()).is_ok();
    Ok(tree.memories().filter(|memory| is_learned && !known.contains(&memory.key)).count())
}

fn view(tree: &Tree) -> MemoryTree {
    let mut files = Vec::new();
    for (file, _) in tree.files() {
        let mut row = MemoryFileCounts { path: file.path(), ..MemoryFileCounts::default() };
        for memory in tree.memories().filter(|memory| memory.file == *file) {
            match memory.state {
                _ if memory.is_by_hand() => row.by_hand += 1,
                MemoryState::Active => row.active += 1,
                MemoryState::Pending => row.pending += 1,
                MemoryState::Superseded | MemoryState::Archived => row.retired += 1,
            }
        }
        files.push(row);
    }
    MemoryTree {
        scope: tree.place.scope,
        directory: tree.place.directory.display().to_string(),
        in_project: !tree.place.is_private,
        files,
        problems: problems(&tree.problems),
    }
}

/// Lists entries.
pub fn run(memories: &Memories<'_>, arguments: &ListArguments) -> Result<(), CommandError> {
    let file = arguments.file.as_deref().map(file_named).transpose()?;
    let is_wanted = |memory: &Memory| {
        arguments.state.map_or(arguments.all || !memory.state.is_retired(), |state| memory.state == state)
            && arguments.kind.is_none_or(|kind| memory.kind == kind)
            && file.as_ref().is_none_or(|file| memory.file == *file)
    };
    let is_part = arguments.state.is_some() || arguments.kind.is_some() || file.is_some();
    let unlearned = if is_part { 0 } else { unlearned(memories)? };
    let option = memories.option.clone();
    let mut report = MemoryListReport { is_lines: arguments.json_lines, unlearned, option, ..all(memories)? };
    report.memories.retain(is_wanted);
    if arguments.json_lines || memories.env.json {
        expand(memories, &mut report.memories);
        name_rows(memories, &mut report.memories);
    }
    memories.env.print(&report)
}

/// Adds the names of rows to the evidence, for programs: the files of the tree name only blocks.
fn name_rows(memories: &Memories<'_>, list: &mut [Memory]) {
    let learning = Learning::of_project(memories);
    for memory in list {
        let sightings = learning.sightings(memory.key);
        if !sightings.is_empty() {
            memory.evidence = sightings.to_vec();
        }
    }
}

/// Replaces the prefixes in the evidence by the ids of the sessions, for a program; those of sessions that no longer exist stay.
fn expand(memories: &Memories<'_>, listed: &mut [Memory]) {
    let disk = memories.env.disk;
    let found = match &memories.project.sessions {
        Some(folder) => find_in_folder(disk, folder, usize::MAX),
        None => find_all(disk, &memories.env.places, &mut |_, _| {}),
    };
    let ids: BTreeSet<String> = found.into_iter().map(|(found, _)| found.location.id).collect();
    for sighting in listed.iter_mut().flat_map(|memory| &mut memory.evidence) {
        let prefix = sighting.session.clone();
        let mut matches = ids.range(prefix.clone()..).take_while(|id| id.starts_with(&prefix));
        if let (Some(id), None) = (matches.next(), matches.next()) {
            sighting.session.clone_from(id);
        }
    }
}

/// Lists all entries of both trees.
pub fn all(memories: &Memories<'_>) -> Result<MemoryListReport, CommandError> {
    let mut report = MemoryListReport::default();
    for tree in memories.read_all()? {
        report.memories.extend(tree.memories().cloned());
        report.problems.extend(problems(&tree.problems));
    }
    Ok(report)
}

/// Shows entries and files, with all facts.
pub fn show(memories: &Memories<'_>, names: &[String]) -> Result<(), CommandError> {
    let mut report = MemoryListReport { is_full: true, ..MemoryListReport::default() };
    for name in names {
        let is_id = name.trim_start_matches('#').bytes().all(|byte| byte.is_ascii_digit()) || parse_name(name).is_some();
        if is_id && MemoryFile::from_name(name).is_none() {
            report.memories.push(memories.find(name)?);
            continue;
        }
        let file = file_named(name)?;
        let before = report.memories.len();
        for tree in memories.read_all()? {
            report.memories.extend(tree.memories().filter(|memory| memory.file == file).cloned());
            let is_it = |path: &str| path.ends_with(&file.path());
            report.problems.extend(problems(&tree.problems).into_iter().filter(|problem| is_it(&problem.path)));
        }
        if report.memories.len() == before && report.problems.is_empty() {
            return Err(refusal!("the memory file {} has no entries", file.path()).hint("to list the files: aperture memory"));
        }
    }
    memories.env.print(&report)
}

/// Counts entries, sightings and tokens.
pub fn stats(memories: &Memories<'_>) -> Result<(), CommandError> {
    let trees = memories.read_all()?;
    let all: Vec<&Memory> = trees.iter().flat_map(|tree| tree.memories()).collect();
    let active: Vec<&&Memory> = all.iter().filter(|memory| memory.state == MemoryState::Active).collect();
    let by_state = |state| all.iter().filter(|memory| memory.state == state).count();
    let by_kind = |kind| all.iter().filter(|memory| memory.kind == kind && !memory.state.is_retired()).count();
    let mut operations = 0;
    if let Some(store) = memories.env.existing_store()? {
        for scope in SCOPES {
            operations += store.memory_operation_count(&memories.place(scope).key(memories.env.disk))?;
        }
    }
    memories.env.print(&MemoryStatsReport {
        states: MemoryState::ALL.map(|state| (state, by_state(state))).to_vec(),
        kinds: MemoryKind::ALL.map(|kind| (kind, by_kind(kind))).into_iter().filter(|(_, count)| *count > 0).collect(),
        by_hand: all.iter().filter(|memory| memory.is_by_hand()).count(),
        edited: all.iter().filter(|memory| memory.is_edited && !memory.is_by_hand() && !memory.state.is_retired()).count(),
        sightings: active.iter().map(|memory| u64::from(memory.sightings)).sum(),
        repeated: active.iter().filter(|memory| memory.sessions > 1).count(),
        with_evidence: active.iter().filter(|memory| !memory.evidence.is_empty()).count(),
        helpful: all.iter().map(|memory| u64::from(memory.helpful)).sum(),
        harmful: all.iter().map(|memory| u64::from(memory.harmful)).sum(),
        tokens: active.iter().map(|memory| o200k(&memory.text) as u64).sum(),
        forgotten: trees.iter().map(|tree| tree.forgotten().len()).sum(),
        operations,
    })
}
