//! The work of all sessions of a project: which commands and files it used, and how much each is worth now.

use super::work::{Use, UseKind};
use crate::model::Sighting;
use crate::model::paths::is_absolute;
use crate::text::command_heads::{heads, is_publishing};
use crate::text::names::file_name;
use rustc_hash::{FxHashMap, FxHashSet};

/// The weight of a session, compared with the next newer one.
const DECAY: f64 = 0.95;
/// Folders that tools write to.
const TOOL_FOLDERS: &[&str] = &[".git/", "node_modules/", "target/debug/", "target/release/", "tmp/"];
/// Sessions that must have used a file, so that it is a place of the project and not one of a task.
const FILE_SESSIONS: u32 = 2;
/// Sessions in which a command must have succeeded.
const SUCCESSFUL_SESSIONS: u32 = 2;
/// The same, if it names a target of its own, which can be that of a task.
const TARGET_SESSIONS: u32 = 3;
/// Maximum number of sightings that are kept of a command or a file.
const SIGHTINGS: usize = 4;

/// The uses of commands and files in the sessions of a project, each call once.
#[derive(Debug, Default)]
pub struct ProjectWork<'a> {
    sessions: Vec<SessionUses<'a>>,
}

/// The id of a session, and its uses.
pub type SessionUses<'a> = (&'a str, Vec<Use<&'a str>>);

/// A command or a file with its worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<'a> {
    /// The head of the command, or the path of the file.
    pub name: &'a str,
    /// The worth: the sum of the weights of the sessions that used it.
    pub worth: f64,
    pub sessions: u32,
    /// The time of its first use in the oldest of these sessions.
    pub first: i64,
    /// The newest uses, oldest first, at most one of a session.
    pub sightings: Vec<Sighting>,
}

impl Ranked<'_> {
    /// Returns the time of its first use in the newest session that used it.
    pub fn last(&self) -> i64 {
        self.sightings.last().map_or(self.first, |sighting| sighting.time)
    }
}

impl<'a> ProjectWork<'a> {
    /// Collects the uses of sessions. A call that several sessions have, because one is a fork or a resumed copy of another, counts in
    /// the one that ended first.
    pub fn new(sessions: impl IntoIterator<Item = SessionUses<'a>>) -> ProjectWork<'a> {
        let mut sessions: Vec<SessionUses<'a>> = sessions.into_iter().collect();
        let last = |(_, uses): &SessionUses<'_>| uses.iter().map(|used| used.time).max();
        sessions.sort_by(|one, other| last(one).cmp(&last(other)).then_with(|| one.0.cmp(other.0)));
        let mut known: FxHashSet<u64> = FxHashSet::default();
        for (_, uses) in &mut sessions {
            uses.retain(|used| used.call == 0 || !known.contains(&used.call));
            known.extend(uses.iter().map(|used| used.call));
        }
        sessions.retain(|(_, uses)| !uses.is_empty());
        sessions.sort_by_key(last);
        ProjectWork { sessions }
    }

    /// Returns the commands of the project that succeeded and that are wanted, in each session in order, oldest session first; of a
    /// repeated one, the last.
    pub fn command_sequences(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<SessionUses<'a>> {
        let commands = |uses: &Vec<Use<&'a str>>| {
            let wanted = |used: &&Use<&'a str>| used.kind == UseKind::Command && is_wanted(used.name);
            let mut commands: Vec<Use<&'a str>> = uses.iter().filter(wanted).rev().copied().collect();
            commands.dedup_by_key(|used| used.name);
            commands.reverse();
            commands
        };
        self.sessions.iter().map(|(id, uses)| (*id, commands(uses))).collect()
    }

    /// Returns the commands of the project in full that succeeded in several sessions, the most worth first.
    pub fn commands(&self) -> Vec<Ranked<'a>> {
        let mut ranked = self.ranked(UseKind::Command);
        let least = |command: &str| if names_target(command) { TARGET_SESSIONS } else { SUCCESSFUL_SESSIONS };
        ranked.retain(|command| !is_publishing(command.name) && command.sessions >= least(command.name));
        ranked
    }

    /// Returns the files that several sessions worked on, the most worth first, without those that every project has.
    pub fn files(&self) -> Vec<Ranked<'a>> {
        let mut ranked = self.ranked(UseKind::File);
        ranked.retain(|file| is_of_project(file.name) && file.sessions >= FILE_SESSIONS);
        ranked
    }

    /// Returns the names of a kind by the sessions that used them, each with its weight.
    fn ranked(&self, kind: UseKind) -> Vec<Ranked<'a>> {
        let mut all: FxHashMap<&'a str, Ranked<'a>> = FxHashMap::default();
        for (age, (id, uses)) in self.sessions.iter().rev().enumerate() {
            let mut first: FxHashMap<&'a str, &Use<&'a str>> = FxHashMap::default();
            for used in uses.iter().filter(|used| used.kind == kind) {
                first.entry(used.name).or_insert(used);
            }
            let session_weight = DECAY.powi(age as i32);
            for (name, used) in first {
                let new = || Ranked { name, worth: 0.0, sessions: 0, first: used.time, sightings: Vec::new() };
                let ranked = all.entry(name).or_insert_with(new);
                ranked.worth += session_weight;
                ranked.sessions += 1;
                ranked.first = ranked.first.min(used.time);
                if ranked.sightings.len() < SIGHTINGS {
                    ranked.sightings.insert(0, used.sighting(id));
                }
            }
        }
        let mut all: Vec<Ranked<'a>> = all.into_values().collect();
        all.sort_by(|one, other| other.worth.total_cmp(&one.worth).then_with(|| one.name.cmp(other.name)));
        all
    }
}

/// Returns true if an argument of a command names one thing of the project: not an option, a script or all files.
fn names_target(command: &str) -> bool {
    let head = heads(command).pop().unwrap_or_default();
    let words = command.split(' ').filter(|word| !word.starts_with('-') && word.contains(char::is_alphanumeric));
    words
        .skip_while(|word| *word == "cd" || *word == "&&")
        .any(|word| !head.split(' ').any(|part| file_name(word) == part || word == part))
}

/// Returns true for a file that tells which project it is: of the project itself, and not one that every project has.
pub fn is_of_project(path: &str) -> bool {
    const STANDARD: &[&str] = &[
        ".gitignore", "CHANGELOG.md", "Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "go.mod", "go.sum",
        "package-lock.json", "package.json", "pyproject.toml", "requirements.txt",
    ];
    let name = file_name(path);
    // A document with a name in capitals is one that clients or people read first.
    let is_notice = name.strip_suffix(".md").is_some_and(|stem| stem.chars().all(|c| c.is_ascii_uppercase()));
    let is_standard = STANDARD.contains(&name) || is_notice || name.eq_ignore_ascii_case("readme.md");
    !is_passing(path) && !is_standard
}

/// Returns true for a file that is not part of the project: outside of its directory, or written by a tool.
fn is_passing(path: &str) -> bool {
    let is_outside = path.starts_with('~') || is_absolute(path);
    is_outside
        || path.starts_with("../")
        || TOOL_FOLDERS.iter().any(|folder| path.starts_with(folder) || path.contains(&format!("/{folder}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, kind: UseKind, call: u64, time: i64) -> Use<&str> {
        Use { name, kind, block: 1, call, time }
    }

    fn names<'a>(ranked: &[Ranked<'a>]) -> Vec<&'a str> {
        ranked.iter().map(|ranked| ranked.name).collect()
    }

    fn sequences<'a>(work: &ProjectWork<'a>) -> Vec<Vec<&'a str>> {
        let names = |(_, uses): SessionUses<'a>| uses.iter().map(|used| used.name).collect();
        work.command_sequences(&|_| true).into_iter().map(names).collect()
    }

    #[test]
    fn commands_of_many_and_recent_sessions_come_first() {
        use UseKind::{Command, File};
        let old = vec![used("make", Command, 1, 10), used("a.rs", File, 2, 11), used("b.rs", File, 3, 12)];
        let new = vec![used("make", Command, 4, 20), used("make test", Command, 5, 21), used("a.rs", File, 6, 22)];
        let work = ProjectWork::new([("new", new), ("old", old)]);
        assert_eq!(names(&work.commands()), ["make"], "one session is not enough");
        assert_eq!(names(&work.files()), ["a.rs"]);
        assert_eq!(sequences(&work), [vec!["make"], vec!["make", "make test"]]);
        let make = &work.commands()[0];
        assert_eq!((make.sessions, &*make.sightings[1].session), (2, "new"));
    }

    #[test]
    fn a_call_that_a_fork_repeats_counts_once() {
        let first = vec![used("make", UseKind::Command, 1, 10)];
        let fork = vec![used("make", UseKind::Command, 1, 10), used("make test", UseKind::Command, 2, 20)];
        let work = ProjectWork::new([("fork", fork), ("first", first)]);
        assert_eq!(sequences(&work), [vec!["make"], vec!["make test"]]);
    }
}
