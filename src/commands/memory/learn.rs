//! `aperture memory learn`: writes what sessions teach into the trees.

use super::LearnArguments;
use super::init::offer;
use super::learning::{Learning, named_session};
use super::report::{MemoryLearnReport, memory_changes_in_words};
use super::run::{Memories, changed};
use crate::app::{CommandError, Env};
use crate::engine::memory::Feedback;
use crate::memory::{MemoryProject, Updated};
use crate::model::paths::may_be_one_project;
use crate::model::{BlockNumber, Candidate, MemoryActor, MemoryKind, MemoryScope, Sighting};
use crate::output::plural;
use crate::workspace::{Found, find_all, stated};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Learns from the sessions of the project, from one session, or from all sessions.
pub fn run(memories: &Memories<'_>, arguments: &LearnArguments) -> Result<(), CommandError> {
    let memories = &memories.by(MemoryActor::Learn);
    if arguments.all {
        return all(memories, arguments.dry_run);
    }
    let named = named_session(memories)?;
    let learning = Learning::of_project(memories);
    let candidates = match &named {
        Some(found) => learning.of_one(&found.path),
        None => learning.candidates.clone(),
    };
    let sessions = if named.is_some() { 1 } else { learning.sessions.len() };
    let updated = learn(memories, &learning, &candidates, arguments.dry_run)?;
    let read = plural(sessions as u64, "session");
    let done = match (sessions, updated.changes.is_empty()) {
        (0, _) => "no sessions of this project: nothing to learn from".to_owned(),
        (_, true) => format!("read {read}: nothing new"),
        _ => format!("learned from {read}: {}", memory_changes_in_words(&updated.changes)),
    };
    let mut report = changed(done, updated, arguments.dry_run);
    report.hints.extend(offer(memories));
    memories.print(report)
}

/// Merges candidates into the tree of the project.
pub fn learn(
    memories: &Memories<'_>,
    learning: &Learning,
    candidates: &[Candidate],
    is_dry_run: bool,
) -> Result<Updated, CommandError> {
    let feedback = learning.feedback(memories, &memories.read(MemoryScope::Project)?)?;
    merge_into(memories, MemoryScope::Project, candidates, &feedback, is_dry_run)
}

/// Merges candidates into a tree.
pub fn merge_into(
    memories: &Memories<'_>,
    scope: MemoryScope,
    candidates: &[Candidate],
    feedback: &Feedback,
    is_dry_run: bool,
) -> Result<Updated, CommandError> {
    let now = memories.env.style.now.as_millisecond();
    memories.change(scope, is_dry_run, &mut |tree| {
        tree.merge(candidates, feedback, now)?;
        Ok(())
    })
}

/// Learns from every project of this machine. What the user said in several of them goes to the user's tree too.
fn all(memories: &Memories<'_>, is_dry_run: bool) -> Result<(), CommandError> {
    let env = memories.env;
    let mut report = MemoryLearnReport { dry_run: is_dry_run, ..MemoryLearnReport::default() };
    let mut said = Said::default();
    for project in projects(env, memories) {
        let of_project = memories.of(project);
        let learning = Learning::of_project(&of_project);
        let root = of_project.project.root.clone();
        said.add(memories, &learning);
        let updated = learn(&of_project, &learning, &learning.candidates, is_dry_run)?;
        report.add(Some(root.display().to_string()), learning.sessions.len(), &updated.changes, updated.operation);
    }
    let left = std::mem::take(&mut said.left);
    let shared = said.in_several_projects();
    if !shared.is_empty() || !left.is_empty() {
        let feedback = Feedback { reads: memories.reads(MemoryScope::User)?, left, ..Feedback::default() };
        let updated = merge_into(memories, MemoryScope::User, &shared, &feedback, is_dry_run)?;
        report.add(None, 0, &updated.changes, updated.operation);
    }
    env.print(&report)
}

/// The preferences of the user in all projects, by their keys.
#[derive(Default)]
struct Said {
    candidates: BTreeMap<u64, Vec<Candidate>>,
    /// The main checkouts of the projects of sessions.
    projects: BTreeMap<String, PathBuf>,
    left: BTreeSet<(String, BlockNumber)>,
}

impl Said {
    fn add(&mut self, memories: &Memories<'_>, learning: &Learning) {
        self.left.extend(learning.left());
        for session in &learning.sessions {
            let project = || memories.project_at(Path::new(&session.facts.directory)).main_checkout(memories.env.disk);
            self.projects.entry(session.id.clone()).or_insert_with(project);
        }
        for candidate in learning.candidates.iter().filter(|candidate| candidate.kind == MemoryKind::Preference) {
            self.candidates.entry(candidate.key).or_default().push(candidate.clone());
        }
    }

    /// Returns those that sessions of different projects hold.
    fn in_several_projects(self) -> Vec<Candidate> {
        let are_apart = |one: &Sighting, other: &Sighting| {
            let projects = self.projects.get(&one.session).zip(self.projects.get(&other.session));
            // A session that is continued elsewhere repeats its rows.
            (&one.row, one.time) != (&other.row, other.time)
                && projects.is_some_and(|(one, other)| !may_be_one_project(one, other))
        };
        let is_shared = |candidates: &Vec<Candidate>| {
            let sightings: Vec<&Sighting> = candidates.iter().flat_map(|candidate| &candidate.sightings).collect();
            sightings.iter().enumerate().any(|(at, one)| sightings[at + 1..].iter().any(|other| are_apart(one, other)))
        };
        let mut candidates: Vec<Vec<Candidate>> = self.candidates.values().cloned().collect();
        candidates.retain(is_shared);
        candidates.concat()
    }
}

/// Returns the projects of all sessions, so that each session teaches one.
fn projects(env: &Env, memories: &Memories<'_>) -> Vec<MemoryProject> {
    let found = find_all(env.disk, &env.places, &mut |path, error| env.note_skipped(path, &error));
    let directories = env.memory_index().directories();
    let directory = |found: &Found| directories.get(&found.path).cloned().or_else(|| stated(env.disk, found));
    let of_sessions = found.iter().filter(|(found, _)| !found.location.subagent).filter_map(|(found, _)| directory(found));
    let directories: BTreeSet<PathBuf> = of_sessions.filter(|directory| !directory.as_os_str().is_empty()).collect();
    let mut projects: Vec<MemoryProject> = Vec::new();
    for directory in directories {
        let project = memories.project_at(&directory);
        if !projects.iter().any(|known| known.root == project.root) {
            projects.push(project);
        }
    }
    // A directory below a project that does not exist here is a part of it.
    let roots: Vec<MemoryProject> = projects.clone();
    let is_part = |project: &MemoryProject, of: &MemoryProject| {
        of.root != project.root && of.has_part(env.disk, memories.data(), &project.root)
    };
    projects.retain(|project| !roots.iter().any(|root| is_part(project, root)));
    projects
}
