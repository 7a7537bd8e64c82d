//! `aperture memory list` and `show`.

use super::ListArguments;
use super::learning::Learning;
use super::report::MemoryListReport;
use super::run::{Memories, file_named, problems};
use crate::app::{CommandError, ErrorKind};
use crate::engine::memory::markdown::parse_name;
use crate::model::{Memory, MemoryFile, MemoryKind, MemoryState};
use crate::workspace::{find_all, find_in_folder};
use anyhow::anyhow;
use std::collections::BTreeSet;

/// Lists entries.
pub fn run(memories: &Memories<'_>, arguments: &ListArguments) -> Result<(), CommandError> {
    let file = arguments.file.as_deref().map(file_named).transpose()?;
    let state = arguments.state.as_deref().and_then(MemoryState::from_name);
    let kind = arguments.kind.as_deref().and_then(MemoryKind::from_name);
    let is_wanted = |memory: &Memory| {
        state.map_or(arguments.all || !memory.state.is_retired(), |state| memory.state == state)
            && kind.is_none_or(|kind| memory.kind == kind)
            && file.as_ref().is_none_or(|file| memory.file == *file)
    };
    let mut report = MemoryListReport { is_lines: arguments.json_lines, ..all(memories)? };
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
            let error = anyhow!("the memory file {} has no entries", file.path());
            return Err(CommandError::new(ErrorKind::Refused, error).hint("to list the files: aperture memory"));
        }
    }
    memories.env.print(&report)
}
