//! The lessons of the sessions of a project.

use super::run::Memories;
use crate::app::CommandError;
use crate::commands::search::{ask, asking_session, restore_originals};
use crate::engine::memory::words::holds_secret;
use crate::engine::memory::{Feedback, SessionFacts, induce, of_one_session, outcomes};
use crate::engine::search::{EarlierPassages, EarlierTurn, Query};
use crate::fsio::Identity;
use crate::memory::{LearnedSession, Tree, learn_sessions, sessions_of};
use crate::model::{BlockNumber, Candidate, Sighting, session_prefix};
use crate::provider::PROVIDERS;
use crate::search::{RelatedTurn, Searched, Source, related};
use crate::workspace::Found;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum size of a file with instructions that is read, in bytes.
const INSTRUCTIONS_BYTES: usize = 1 << 20;
/// Bytes of the id of a session in a digest.
const LABEL_BYTES: usize = 8;
/// Minimum length of a useful digest, in tokens.
const LEAST_TOKENS: usize = 40;
/// The folder beside the sessions of a project in which a client keeps notes of its own.
const CLIENT_NOTES: &str = "memory";

/// Returns turns, as their passages are searched.
pub fn searchable(turns: &[RelatedTurn]) -> Vec<EarlierTurn<'_>> {
    let turns = turns.iter().map(|RelatedTurn { session, score, events, .. }| EarlierTurn {
        session: &session[..session.floor_char_boundary(LABEL_BYTES)],
        events,
        score: *score,
    });
    turns.collect()
}

/// The sessions of a project, and what they teach.
pub struct Learning {
    files: Vec<(Found, Identity)>,
    pub sessions: Vec<LearnedSession>,
    pub candidates: Vec<Candidate>,
}

impl Learning {
    /// Reads the sessions of a project, each row once.
    pub fn of_project(memories: &Memories<'_>) -> Learning {
        let index = memories.env.memory_index();
        let mut skipped = Vec::new();
        let mut skip = |path: &Path, error: std::io::Error| skipped.push(format!("{}: {error}", path.display()));
        let env = memories.env;
        let files = sessions_of(env.disk, &env.places, memories.data(), &index, &memories.project, &mut skip);
        let sessions = learn_sessions(env.disk, &index, &files, &mut skip);
        skipped.iter().for_each(|problem| env.note(&format!("skipped {problem}")));
        let candidates = induce(&facts(&sessions));
        Learning { files, sessions, candidates }
    }

    /// Returns what one of the sessions teaches by itself.
    pub fn of_one(&self, path: &Path) -> Vec<Candidate> {
        let of_path = self.sessions.iter().find(|session| session.path == path);
        of_path.map(|session| of_one_session(&session.id, &session.facts)).unwrap_or_default()
    }

    /// Returns how the entries of a tree were used, and how they turned out in the sessions.
    pub fn feedback(&self, memories: &Memories<'_>, tree: &Tree) -> Result<Feedback, CommandError> {
        let reads = memories.reads(tree.place.scope)?;
        let outcomes = outcomes(tree.memories(), &reads, &facts(&self.sessions));
        Ok(Feedback { reads, outcomes, left: self.left() })
    }

    /// Returns the words that the user left, by their sessions and blocks.
    pub fn left(&self) -> BTreeSet<(String, BlockNumber)> {
        let of_session = |session: &LearnedSession| {
            let id = session_prefix(&session.id);
            session.facts.left.iter().map(move |block| (id.clone(), *block)).collect::<Vec<_>>()
        };
        self.sessions.iter().flat_map(of_session).collect()
    }

    /// Returns the turns of the sessions that are about a text, without those of the session that asks.
    pub fn earlier(&self, memories: &Memories<'_>, query: &Query) -> Result<Vec<RelatedTurn>, CommandError> {
        let env = memories.env;
        let asking = asking_session(env);
        let files = self.files.iter().filter(|(found, _)| asking.as_ref() != Some(&found.location.id));
        let mut sources: Vec<Source> = files.map(|(found, identity)| Source::new(found.clone(), *identity)).collect();
        env.or_note(restore_originals(env, &mut sources), "only the current content of the sessions is searched");
        let id = |source: &Source| source.session().map(|found| found.location.id.clone()).unwrap_or_default();
        let (session_of, is_wanted) = (|source: usize| id(&sources[source]), |_| true);
        let now = env.style.now.as_millisecond();
        ask(env, &sources, false, &|_, _| {}, &|index, indexed| {
            let (disk, sources, session_of, is_wanted) = (env.disk, &sources[..], &session_of, &is_wanted);
            related(&Searched { disk, sources, index, indexed, session_of, is_wanted, adjust: None, now }, query)
        })
    }

    /// Returns digests of what the sessions hold about a prompt, in at most this many tokens; what `known` says is left out.
    pub fn digests(&self, memories: &Memories<'_>, prompt: &str, known: &str, max_tokens: usize) -> String {
        let query = Query::of_text(prompt);
        if query.terms.is_empty() || max_tokens < LEAST_TOKENS {
            return String::new();
        }
        // A digest is an addition: memory is composed without it.
        let Ok(earlier) = self.earlier(memories, &query) else { return String::new() };
        let digest = EarlierPassages::new(&searchable(&earlier)).digest(&query, &[known, prompt], max_tokens);
        digest.lines().filter(|line| !holds_secret(line)).flat_map(|line| [line, "\n"]).collect()
    }

    /// Returns what the last turn left open: that of the newest session with an answer.
    pub fn open_thoughts(&self) -> &[String] {
        let answered = self.sessions.iter().filter_map(|session| Some((session.facts.last, session.facts.open.last.as_ref()?)));
        answered.max_by_key(|(last, _)| *last).map_or(&[], |(_, open)| open)
    }

    /// Returns the name of the file of a session, without its ending.
    pub fn file_name(&self, id: &str) -> String {
        let path = self.sessions.iter().find(|session| session.id == id).map(|session| &session.path);
        path.and_then(|path| path.file_stem()).map_or_else(|| id.to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Returns the sightings of a topic, with the names of their rows.
    pub fn sightings(&self, key: u64) -> &[Sighting] {
        self.candidates.iter().find(|candidate| candidate.key == key).map_or(&[], |candidate| &candidate.sightings)
    }
}

fn facts(sessions: &[LearnedSession]) -> Vec<(&str, &SessionFacts)> {
    sessions.iter().map(|session| (&*session.id, &session.facts)).collect()
}

/// Returns the texts that clients send in each session of a project: instructions of the project and the user, and their own notes.
pub fn known_texts(memories: &Memories<'_>) -> Vec<String> {
    let env = memories.env;
    let mut files: Vec<PathBuf> = Vec::new();
    for provider in PROVIDERS {
        let folders = provider.roots(&env.places);
        if let Some(name) = provider.instructions_file() {
            files.push(memories.project.root.join(name));
            files.extend(folders.iter().filter_map(|folder| Some(folder.parent()?.join(name))));
        }
        for notes in folders.iter().filter_map(|folder| provider.project_directory(folder, &memories.project.root)) {
            let listed = env.disk.list(&notes.join(CLIENT_NOTES)).unwrap_or_default().into_iter().map(|entry| entry.path);
            files.extend(listed.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
        }
    }
    let read = |path: PathBuf| crate::fsio::read_head(env.disk, &path, INSTRUCTIONS_BYTES).ok();
    files.into_iter().filter_map(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

/// Returns the sessions that a request names with `-s`; `None` if it names none.
/// Errors: there is no such session.
pub fn named_session(memories: &Memories<'_>) -> Result<Option<Found>, CommandError> {
    memories.env.session().map(|name| memories.env.find_by(name)).transpose()
}
