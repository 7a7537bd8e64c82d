//! Memories: statements that outlive the sessions they were learned from, with their evidence.

use super::{BlockNumber, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of a memory in its tree, from 1; 0 for an entry that a person wrote without a metadata line.
pub type MemoryId = u32;

/// A statement that was found in sessions, before it is merged into a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Signature of the topic: candidates with equal keys are one memory. Stable across runs.
    pub key: u64,
    pub file: MemoryFile,
    pub kind: MemoryKind,
    /// Plain words in Markdown, one to four lines, without the bullet and without the metadata line.
    pub text: String,
    /// True for a strong cue, with which the memory is active from the first sighting on.
    pub is_strong: bool,
    /// Evidence, oldest first.
    pub sightings: Vec<Sighting>,
}

/// A place in a session that a memory was learned from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sighting {
    /// Id of the session, or a prefix of it.
    pub session: String,
    pub block: BlockNumber,
    /// Identity of the row; empty if it was read from a memory file.
    pub row: String,
    /// Time of the row, in milliseconds since 1970, UTC; 0 if it was read from a memory file.
    pub time: i64,
}

words! {
    /// The kind of a memory.
    #[derive(Default, Hash, PartialOrd, Ord, Deserialize)]
    pub enum MemoryKind {
        Correction = "correction",
        Preference = "preference",
        /// A fact that the user or the project states.
        #[default]
        Fact = "fact",
        /// A failure and what fixed it.
        Resolution = "resolution",
        /// A property of the environment, such as a command that is missing.
        Environment = "environment",
        /// A command, an address or a file that was useful later.
        Discovery = "discovery",
        /// A sequence of steps.
        Procedure = "procedure",
        /// Commands, places and facts of the project.
        Context = "context",
        /// A person, a repository, a service.
        Entity = "entity",
        /// A tool and its success rate or limits.
        Capability = "capability",
        /// A mistake that the agent repeats.
        Mistake = "mistake",
        /// A duration or a time-out.
        Performance = "performance",
    }
}

impl MemoryKind {
    /// Returns true for what the user states.
    pub fn is_statement(self) -> bool {
        matches!(self, MemoryKind::Correction | MemoryKind::Preference | MemoryKind::Fact)
    }

    /// Returns the file in which a memory of this kind is written, if nothing else is given.
    pub fn default_file(self) -> MemoryFile {
        match self {
            MemoryKind::Correction | MemoryKind::Preference => MemoryFile::UserPrefs,
            MemoryKind::Fact | MemoryKind::Context => MemoryFile::ProjectContext,
            MemoryKind::Resolution | MemoryKind::Environment => MemoryFile::Gotchas,
            MemoryKind::Discovery => MemoryFile::Shortcuts,
            MemoryKind::Procedure => MemoryFile::Patterns,
            MemoryKind::Entity => MemoryFile::Entities,
            MemoryKind::Capability => MemoryFile::Capabilities,
            MemoryKind::Mistake => MemoryFile::Mistakes,
            MemoryKind::Performance => MemoryFile::Performance,
        }
    }
}

words! {
    /// The state of a memory.
    #[derive(Default, Hash, PartialOrd, Ord, Deserialize)]
    pub enum MemoryState {
        /// Seen once.
        #[default]
        Pending = "pending",
        /// In use.
        Active = "active",
        /// Replaced by a newer memory.
        Superseded = "superseded",
        /// Not confirmed for long, or archived by the user or the model.
        Archived = "archived",
    }
}

impl MemoryState {
    /// Returns true for a memory that was retired: superseded or archived.
    pub fn is_retired(self) -> bool {
        matches!(self, MemoryState::Superseded | MemoryState::Archived)
    }
}

/// A file of a memory tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MemoryFile {
    /// Repeated ways of working that belong to no task.
    Patterns,
    /// Commands and places that save time.
    Shortcuts,
    /// Failures and what fixes them.
    Gotchas,
    /// Corrections and preferences of the user.
    UserPrefs,
    /// Commands, places and facts of the project.
    #[default]
    ProjectContext,
    /// People, repositories, services.
    Entities,
    /// The steps of a task, by its name: lower-case letters, digits and hyphens.
    Workflow(String),
    Capabilities,
    /// Mistakes that the agent repeats, with their cause and fix.
    Mistakes,
    /// Durations and time-outs.
    Performance,
}

words! {
    /// The group of a memory file.
    #[derive(Hash, PartialOrd, Ord, Deserialize)]
    pub enum MemoryCategory {
        /// Ways of working in the project.
        Operational = "operational",
        /// Facts.
        Factual = "factual",
        /// Steps of tasks.
        Procedural = "procedural",
        /// Strengths and weaknesses of the agent.
        Introspection = "introspection",
    }
}

impl MemoryFile {
    /// The files that every tree has, each with its group, the kind of its entries without a metadata line, its name and its title.
    pub const FIXED: [(MemoryFile, MemoryCategory, MemoryKind, &str, &str); 9] = [
        (MemoryFile::Patterns, MemoryCategory::Operational, MemoryKind::Procedure, "patterns", "Patterns"),
        (MemoryFile::Shortcuts, MemoryCategory::Operational, MemoryKind::Discovery, "shortcuts", "Shortcuts"),
        (MemoryFile::Gotchas, MemoryCategory::Operational, MemoryKind::Resolution, "gotchas", "Gotchas"),
        (MemoryFile::UserPrefs, MemoryCategory::Factual, MemoryKind::Preference, "user-prefs", "User preferences"),
        (MemoryFile::ProjectContext, MemoryCategory::Factual, MemoryKind::Context, "project-context", "Project context"),
        (MemoryFile::Entities, MemoryCategory::Factual, MemoryKind::Entity, "entities", "Entities"),
        (MemoryFile::Capabilities, MemoryCategory::Introspection, MemoryKind::Capability, "capabilities", "Capabilities"),
        (MemoryFile::Mistakes, MemoryCategory::Introspection, MemoryKind::Mistake, "mistakes", "Mistakes"),
        (MemoryFile::Performance, MemoryCategory::Introspection, MemoryKind::Performance, "performance", "Performance"),
    ];

    const WORKFLOW: &str = "-workflow";
    /// The maximum length of the name of a task, in bytes.
    const LONGEST_TASK: usize = 60;

    /// Returns the file for the steps of a task. Characters that a file name should not have become hyphens.
    pub fn workflow(task: &str) -> MemoryFile {
        let mut name = String::new();
        for c in task.chars().flat_map(char::to_lowercase) {
            if name.len() >= MemoryFile::LONGEST_TASK {
                break;
            }
            if c.is_ascii_alphanumeric() {
                name.push(c);
            } else if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
        }
        let name = name.trim_end_matches('-');
        MemoryFile::Workflow(if name.is_empty() { "task".to_owned() } else { name.to_owned() })
    }

    pub fn category(&self) -> MemoryCategory {
        self.fixed().map_or(MemoryCategory::Procedural, |(_, category, ..)| category)
    }

    /// Returns the kind of an entry of the file that has no metadata line.
    pub fn default_kind(&self) -> MemoryKind {
        self.fixed().map_or(MemoryKind::Procedure, |(_, _, kind, ..)| kind)
    }

    /// Returns the name without its folder and its ending, such as `user-prefs` or `release-workflow`.
    pub fn name(&self) -> String {
        match (self, self.fixed()) {
            (MemoryFile::Workflow(task), _) => format!("{task}{}", MemoryFile::WORKFLOW),
            (_, fixed) => fixed.map_or("", |(.., name, _)| name).to_owned(),
        }
    }

    fn fixed(&self) -> Option<(MemoryFile, MemoryCategory, MemoryKind, &'static str, &'static str)> {
        MemoryFile::FIXED.into_iter().find(|(file, ..)| file == self)
    }

    /// Returns the path in its tree, such as `factual/user-prefs.md`.
    pub fn path(&self) -> String {
        format!("{}/{}.md", self.category().name(), self.name())
    }

    /// Returns the file with this name: `user-prefs`, `user-prefs.md` or `factual/user-prefs.md`.
    pub fn from_name(name: &str) -> Option<MemoryFile> {
        let bare = name.strip_suffix(".md").unwrap_or(name);
        let (folder, bare) = bare.rsplit_once('/').map_or((None, bare), |(folder, bare)| (Some(folder), bare));
        let fixed = MemoryFile::FIXED.into_iter().find(|(.., name, _)| *name == bare).map(|(file, ..)| file);
        let workflow = || {
            let task = bare.strip_suffix(MemoryFile::WORKFLOW)?;
            let is_plain = task.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            (is_plain && !task.is_empty() && task.len() <= MemoryFile::LONGEST_TASK)
                .then(|| MemoryFile::Workflow(task.to_owned()))
        };
        let file = fixed.or_else(workflow)?;
        folder.is_none_or(|folder| folder == file.category().name()).then_some(file)
    }

    pub fn title(&self) -> String {
        let MemoryFile::Workflow(task) = self else { return self.fixed().map_or("", |(.., title)| title).to_owned() };
        let words = task.replace('-', " ");
        let mut letters = words.chars();
        let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{} workflow", letters.as_str())
    }
}

/// The owner of a memory tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// A project.
    #[default]
    Project,
    /// The user, in all projects.
    User,
}

impl MemoryScope {
    /// Sessions that must teach an entry of the user's tree.
    pub const SHARED_SESSIONS: u32 = 2;

    /// Returns the name of a memory of the scope: `memory-12`, or `user-12`.
    pub fn name_of(self, id: MemoryId) -> String {
        match self {
            MemoryScope::Project => format!("memory-{id}"),
            MemoryScope::User => format!("user-{id}"),
        }
    }
}

/// An entry of a memory file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Number in its tree; 0 for an entry without a valid metadata line, which only a person writes.
    pub id: MemoryId,
    /// The tree that it belongs to.
    pub scope: MemoryScope,
    pub file: MemoryFile,
    pub kind: MemoryKind,
    pub state: MemoryState,
    /// Plain words in Markdown, without the bullet and without the metadata line.
    pub text: String,
    pub key: u64,
    /// The day of the first sighting, in milliseconds since 1970, UTC.
    pub first_seen: i64,
    /// The day of the last sighting.
    pub last_seen: i64,
    pub sightings: u32,
    pub sessions: u32,
    /// The newest sightings, oldest first.
    pub evidence: Vec<Sighting>,
    /// Number of times that it was of use.
    pub helpful: u32,
    /// Number of times that it was contradicted after it was read, or did not help as the user reported.
    pub harmful: u32,
    pub superseded_by: Option<MemoryId>,
    /// The memory that states the opposite, until the user decides.
    pub contradicts: Option<MemoryId>,
    /// True if a person wrote the text: it is never rewritten.
    pub is_edited: bool,
    pub is_by_model: bool,
    /// True if the user keeps it in every composed text.
    pub is_pinned: bool,
}

impl Memory {
    /// The first number under which it is recorded that a session received an entry without metadata.
    pub const BY_HAND: MemoryId = 1 << 31;

    /// Returns the name: `memory-12`, or `user-12`; `by hand` if it has no number.
    pub fn name(&self) -> String {
        if self.id == 0 { "by hand".to_owned() } else { self.scope.name_of(self.id) }
    }

    /// Returns true if it needs no evidence: a person wrote, edited, accepted or pinned it.
    pub fn is_certain(&self) -> bool {
        self.state == MemoryState::Active && (self.is_edited || self.is_by_hand())
    }

    /// Returns true if sessions of the user taught it for all projects.
    pub fn is_shared(&self) -> bool {
        self.scope == MemoryScope::User && !self.is_edited && !self.is_by_hand() && !self.is_by_model
    }

    /// Returns true if it is in use in all projects although one session taught it, which says nothing about other projects.
    fn is_of_one_session(&self) -> bool {
        self.is_shared() && self.sessions < MemoryScope::SHARED_SESSIONS
    }

    /// Returns true if the model proposed it, and neither a person nor the user's words confirmed it: no session receives it.
    pub fn is_unconfirmed(&self) -> bool {
        self.is_by_model && self.state == MemoryState::Pending && !self.is_edited
    }

    /// Returns true if it did not help in as many sessions as taught it or followed it: no session receives it until the user decides.
    pub fn is_refuted(&self) -> bool {
        let is_false = self.harmful > 0 && self.harmful >= self.sessions + self.helpful;
        self.kind == MemoryKind::Resolution && is_false && !self.state.is_retired()
    }

    /// Returns true if a session may receive it: it does not wait for a decision of the user, or for another project.
    pub fn may_be_sent(&self) -> bool {
        !self.is_unconfirmed() && !self.is_refuted() && !self.is_of_one_session()
    }

    /// Returns the number under which it is recorded that a session received the entry, by its text if it has no metadata.
    pub fn received_as(&self) -> MemoryId {
        if self.is_by_hand() { self.key as MemoryId | Memory::BY_HAND } else { self.id }
    }

    /// Returns true if the entry has no metadata line: a person wrote it into the file.
    pub fn is_by_hand(&self) -> bool {
        self.id == 0
    }
}

/// A session that received a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRead {
    /// The memory; of an entry without metadata see [`Memory::received_as`].
    pub memory: MemoryId,
    pub session: String,
    /// The first time, in milliseconds since 1970, UTC.
    pub time: i64,
}

words! {
    /// The origin of a change of a memory tree.
    #[derive(Deserialize)]
    pub enum MemoryActor {
        /// A command of the user.
        User = "user",
        /// A command of the model.
        Model = "model",
        /// `aperture memory learn`.
        Learn = "learn",
        /// A hook, `watch` or the proxy.
        Hook = "hook",
    }
}

/// A logged change of a memory tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOperation {
    /// Number, in one sequence for all trees of the user.
    pub id: u32,
    /// Time, in milliseconds since 1970, UTC.
    pub time: i64,
    pub command: String,
    pub actor: MemoryActor,
    pub inverts: Option<u32>,
    /// The files, each with its bytes before and after.
    pub changes: Vec<FileChange>,
}

/// The bytes of a file before and after an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Path in the tree, with `/`.
    pub path: String,
    /// The bytes before; `None` if the file did not exist.
    pub before: Option<Vec<u8>>,
    /// The bytes after; `None` if the file was deleted.
    pub after: Option<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_name_and_by_path() {
        let workflow = MemoryFile::workflow("Release: v2 (prod)");
        assert_eq!(workflow.path(), "procedural/release-v2-prod-workflow.md");
        assert_eq!(workflow.title(), "Release v2 prod workflow");
        for file in MemoryFile::FIXED.map(|(file, ..)| file).into_iter().chain([workflow, MemoryFile::workflow("…")]) {
            for name in [file.name(), file.path(), format!("{}.md", file.name())] {
                assert_eq!(MemoryFile::from_name(&name), Some(file.clone()), "{name}");
            }
        }
        for name in ["", "nothing", "factual/gotchas", "../x-workflow", "-workflow", "a/b-workflow", "A-workflow.md"] {
            assert_eq!(MemoryFile::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert!(MemoryKind::ALL.into_iter().all(|kind| MemoryKind::from_name(kind.name()) == Some(kind)));
        assert!(MemoryState::ALL.into_iter().all(|state| MemoryState::from_name(state.name()) == Some(state)));
        assert!(MemoryActor::ALL.into_iter().all(|actor| MemoryActor::from_name(actor.name()) == Some(actor)));
        assert_eq!((MemoryScope::Project.name_of(12), MemoryScope::User.name_of(3)), ("memory-12".into(), "user-3".into()));
    }
}
