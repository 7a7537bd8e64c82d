//! Requests about memories.

use super::report::{MemoryChangeReport, MemoryProblem};
use super::{Action, Arguments, compose, entries, export, init, learn, list, log, review, search, why};
use crate::app::{CommandError, Env, ErrorKind, may_read, misuse, next_step_at, refusal};
use crate::engine::mask;
use crate::engine::memory::markdown::parse_name;
use crate::engine::memory::words::holds_secret;
use crate::memory::{self, Machine, MemoryError, MemoryProject, Problem, Tree, TreePlace, Update, Updated};
use crate::model::{Actor, Memory, MemoryActor, MemoryFile, MemoryId, MemoryRead, MemoryScope};
use crate::store::Store;
use crate::text::shell::quoted_word;
use crate::workspace::{Project, named_directory};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for another process that changes the same tree; that of a hook is short, because learning is repeated anyway.
const PATIENCE: Duration = Duration::from_secs(10);
const HOOK_PATIENCE: Duration = Duration::from_millis(200);

/// The owners of the trees.
pub const SCOPES: [MemoryScope; 2] = [MemoryScope::Project, MemoryScope::User];

/// Executes a request about memories.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let memories = Memories::new(env, arguments.project.as_deref())?;
    execute(&memories, arguments).map_err(|mut error| {
        memories.name_project(&mut error.hints);
        error
    })
}

fn execute(memories: &Memories<'_>, arguments: &Arguments) -> Result<(), CommandError> {
    let env = memories.env;
    let print = |report: Result<MemoryChangeReport, CommandError>| memories.print(report?);
    match &arguments.action {
        None => list::trees(memories),
        Some(Action::List(arguments)) => list::run(memories, arguments),
        Some(Action::Show { names }) => list::show(memories, names),
        Some(Action::Search(arguments)) => search::run(memories, arguments),
        Some(Action::Add(arguments)) => print(entries::added(memories, arguments, &env.text(&arguments.text)?)),
        Some(Action::Edit { id, text, file, dry_run }) => {
            print(entries::edited(memories, id, text.as_deref(), file.as_deref(), *dry_run))
        }
        Some(Action::Forget { ids, all, user, dry_run }) => {
            print(entries::forgotten(memories, ids, all.then_some(*user), *dry_run))
        }
        Some(Action::Pin { id, off, dry_run }) => print(entries::pinned(memories, id, *off, *dry_run)),
        Some(Action::Why { id }) => why::run(memories, id),
        Some(Action::Learn(arguments)) => learn::run(memories, arguments),
        Some(Action::Compose(arguments)) => compose::run(memories, arguments),
        Some(Action::Review(arguments)) => review::run(memories, arguments),
        Some(Action::Stats) => list::stats(memories),
        Some(Action::Export { format, output, dry_run }) => export::run(memories, format, output.as_deref(), *dry_run),
        Some(Action::Move { from, dry_run }) => init::take_over(memories, from, *dry_run),
        Some(Action::Init { in_project, dry_run }) => init::run(memories, *in_project, *dry_run),
        Some(Action::Log { limit }) => log::run(memories, *limit),
        Some(Action::Diff { operation }) => log::diff(memories, *operation),
        Some(Action::Undo { operation, user, dry_run }) => print(log::undone(memories, *operation, *user, *dry_run)),
    }
}

/// Executes an action of the model on the memory trees of a project.
/// Errors: the model has no such action, or it cannot be executed.
pub fn change(env: &Env, project: &Path, arguments: &Arguments) -> Result<MemoryChangeReport, CommandError> {
    let execute = |run: &dyn Fn(&Memories<'_>) -> Result<MemoryChangeReport, CommandError>| {
        Memories::at(env, project).and_then(|memories| run(&memories))
    };
    match &arguments.action {
        Some(Action::Add(added)) => execute(&|memories| entries::added(memories, added, &added.text)),
        Some(Action::Edit { id, text: Some(text), file, dry_run }) => {
            execute(&|memories| entries::edited(memories, id, Some(text), file.as_deref(), *dry_run))
        }
        Some(Action::Review(review)) if !review.reject.is_empty() => {
            execute(&|memories| review::rejected(memories, &review.reject, review.dry_run))
        }
        _ => Err(refusal!("the model cannot change memories in this way")),
    }
}

/// The memory trees of a request: that of the project and that of the user.
pub struct Memories<'a> {
    pub env: &'a Env,
    pub project: MemoryProject,
    data: PathBuf,
    /// The origin of changes; `None` for that of the environment.
    actor: Option<MemoryActor>,
    /// The option by which the request names its project, with a space before it; empty if it names none.
    pub option: String,
}

impl<'a> Memories<'a> {
    /// Finds the project of a request: the given directory, or that in which it runs.
    /// Errors: the directory does not exist, or there is no data directory.
    pub fn new(env: &'a Env, project: Option<&Path>) -> Result<Memories<'a>, CommandError> {
        let directory =
            project.map_or_else(|| env.directory.clone(), |project| named_directory(env.disk, &env.directory, project));
        let option = project.map_or_else(String::new, |project| format!(" --project {}", word(project)));
        let memories = Memories { option, ..Memories::at(env, &directory)? };
        if project.is_none() || env.is_directory(&directory) || memories.is_known(&directory) {
            return Ok(memories);
        }
        Err(misuse!("{} is not a directory", directory.display()).hint("name a project directory or a folder of sessions"))
    }

    /// Returns true if a directory that does not exist was a project: it has memories, or a session was started in it.
    fn is_known(&self, directory: &Path) -> bool {
        let is_kept = self.env.disk.list(&self.project.tree_in_data(&self.data).directory).is_ok();
        is_kept || Project::at(self.env.disk, directory).has_sessions(self.env.disk, &self.env.places)
    }

    /// Finds the project of a directory.
    /// Errors: there is no data directory.
    pub fn at(env: &'a Env, directory: &Path) -> Result<Memories<'a>, CommandError> {
        let data = env.store_directory()?;
        let project = MemoryProject::find(env.disk, &env.places, &data, directory);
        Ok(Memories { env, project, data, actor: None, option: String::new() })
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the same trees, with another origin of changes.
    pub fn by(&self, actor: MemoryActor) -> Memories<'a> {
        Memories { actor: Some(actor), option: self.option.clone(), ..self.of(self.project.clone()) }
    }

    /// Returns the trees of another project.
    pub fn of(&self, project: MemoryProject) -> Memories<'a> {
        Memories { env: self.env, project, data: self.data.clone(), actor: self.actor, option: String::new() }
    }

    /// Adds the option of the project to the commands in hints, so that they can be run as printed.
    fn name_project(&self, hints: &mut [String]) {
        const COMMAND: &str = "aperture memory";
        for hint in hints.iter_mut().filter(|hint| !hint.contains("--project")) {
            *hint = hint.replace(COMMAND, &format!("{COMMAND}{}", self.option));
        }
    }

    pub fn print(&self, mut report: MemoryChangeReport) -> Result<(), CommandError> {
        self.name_project(&mut report.hints);
        self.env.print(&report)
    }

    pub fn project_at(&self, directory: &Path) -> MemoryProject {
        MemoryProject::find(self.env.disk, &self.env.places, &self.data, directory)
    }

    /// Returns which sessions received which entries of a tree.
    pub fn reads(&self, scope: MemoryScope) -> Result<Vec<MemoryRead>, CommandError> {
        let Some(store) = self.env.existing_store()? else { return Ok(Vec::new()) };
        Ok(store.memory_reads(&self.place(scope).key(self.env.disk))?)
    }

    pub fn place(&self, scope: MemoryScope) -> TreePlace {
        match scope {
            MemoryScope::Project => self.project.tree(self.env.disk, &self.data),
            MemoryScope::User => TreePlace::of_user(&self.data),
        }
    }

    /// Returns true if the entries of the project's tree are the user's.
    pub fn is_accepted(&self) -> bool {
        self.place(MemoryScope::Project).is_accepted(self.env.disk, &self.data)
    }

    /// Records that the user accepts a tree in the project.
    pub fn accept(&self, place: &TreePlace) -> Result<(), CommandError> {
        Ok(place.accept(self.env.disk, &self.data)?)
    }

    /// Reads a tree, after an interrupted change of it is settled.
    pub fn read(&self, scope: MemoryScope) -> Result<Tree, CommandError> {
        let place = self.place(scope);
        let settled = self.env.existing_store().and_then(|store| match store {
            Some(store) => Ok(memory::settle(&self.machine(), &store, &place)?),
            None => Ok(()),
        });
        // Both trees have one store.
        if let (Err(error), MemoryScope::Project) = (settled, scope) {
            self.env.note(&format!("an interrupted change of the memories would not be settled: {:#}", error.source));
        }
        Ok(Tree::read(self.env.disk, &place)?)
    }

    /// Reads the tree of the project and that of the user.
    pub fn read_all(&self) -> Result<Vec<Tree>, CommandError> {
        Ok(vec![self.read(MemoryScope::Project)?, self.read(MemoryScope::User)?])
    }

    fn machine(&self) -> Machine<'_> {
        // A client waits for its hooks.
        let patience = if self.actor() == MemoryActor::Hook { HOOK_PATIENCE } else { PATIENCE };
        Machine { disk: self.env.disk, data: &self.data, wait: &crate::app::wait, patience }
    }

    pub fn actor(&self) -> MemoryActor {
        self.actor.unwrap_or(match self.env.actor {
            Actor::User => MemoryActor::User,
            Actor::Model => MemoryActor::Model,
            Actor::Policy => MemoryActor::Hook,
        })
    }

    /// Returns how a change of this request is logged.
    pub fn logged(&self, is_dry_run: bool) -> Update {
        Update {
            command: mask(&self.env.command).into_owned(),
            actor: self.actor(),
            time: self.env.style.now.as_millisecond(),
            is_dry_run,
        }
    }

    /// Opens the store for a change; for a dry run only if it exists.
    pub fn store(&self, is_dry_run: bool) -> Result<Option<Store>, CommandError> {
        if is_dry_run { self.env.existing_store() } else { self.env.store().map(Some) }
    }

    pub fn change(
        &self,
        scope: MemoryScope,
        is_dry_run: bool,
        change: &mut dyn FnMut(&mut Tree) -> Result<(), CommandError>,
    ) -> Result<Updated, CommandError> {
        self.change_in(&self.place(scope), is_dry_run, change)
    }

    pub fn change_in(
        &self,
        place: &TreePlace,
        is_dry_run: bool,
        change: &mut dyn FnMut(&mut Tree) -> Result<(), CommandError>,
    ) -> Result<Updated, CommandError> {
        let store = self.store(is_dry_run)?;
        memory::update(&self.machine(), store.as_ref(), place, &self.logged(is_dry_run), change)
    }

    pub fn undo(
        &self,
        store: &Store,
        scope: MemoryScope,
        number: Option<u32>,
        is_dry_run: bool,
    ) -> Result<(u32, Updated), CommandError> {
        Ok(memory::undo(&self.machine(), store, &self.place(scope), number, &self.logged(is_dry_run))?)
    }

    /// Finds an entry by its name: `12` or `memory-12` in the project, `user-3` among those for all projects.
    /// Errors: there is no such entry, or the name has another form.
    pub fn find(&self, name: &str) -> Result<Memory, CommandError> {
        let bare = name.trim_start_matches('#');
        let number = bare.parse::<MemoryId>().ok().filter(|id| *id > 0 && bare.bytes().all(|byte| byte.is_ascii_digit()));
        let Some((scope, id)) = number.map(|id| (MemoryScope::Project, id)).or_else(|| parse_name(bare)) else {
            let hint = "write a number that `aperture memory list` prints, such as 12, memory-12 or user-3";
            return Err(misuse!("'{name}' is not the name of a memory").hint(hint));
        };
        if let Some(memory) = self.read(scope)?.find(id) {
            return Ok(memory.clone());
        }
        let unknown = CommandError::from(MemoryError::Unknown(name.to_owned()));
        // A number of the project must not change a rule for all projects.
        let is_of_user = number.is_some() && self.read(MemoryScope::User)?.find(id).is_some();
        Err(if is_of_user { unknown.hint(format!("to name the one for all projects: user-{id}")) } else { unknown })
    }
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> CommandError {
        let kind = if error.is_conflict() { ErrorKind::Conflict } else { ErrorKind::Refused };
        let hint = match &error {
            MemoryError::Forgotten => "only the user can add it again: aperture memory add TEXT".to_owned(),
            MemoryError::Unknown(_) => "to list them: aperture memory list --retired".to_owned(),
            MemoryError::Unwritable { reason, .. } if reason.contains("conflict") => {
                "resolve the conflict in the file, then try again".to_owned()
            }
            MemoryError::Unwritable { .. } => "repair the file or move it away, then try again".to_owned(),
            MemoryError::Changed(_) => "nothing was written; try again".to_owned(),
            MemoryError::Locked(_) => "try again when it is done".to_owned(),
            MemoryError::NoOperations => {
                "they are made by commands that change memories, such as: aperture memory add TEXT".to_owned()
            }
            MemoryError::NoOperation(_) | MemoryError::NothingToUndo | MemoryError::AlreadyUndone { .. } => {
                "to list the operations: aperture memory log".to_owned()
            }
            MemoryError::ChangedLater { later, .. } => format!("undo that one first: aperture memory undo {later}"),
            MemoryError::EditedByHand { operation, .. } => {
                format!("to see what it changed: aperture memory diff {operation}; then edit the file")
            }
            MemoryError::Io { action: "read", path, source } => next_step_at(source, path).unwrap_or_else(|| may_read(path)),
            MemoryError::Io { path, source, .. } => {
                let step = || format!("check that you may write there: ls -ld {}", word(path));
                format!("nothing was changed; {}", next_step_at(source, path).unwrap_or_else(step))
            }
            MemoryError::Store(_) => {
                let MemoryError::Store(error) = error else { return CommandError::new(kind, error) };
                return error.into();
            }
        };
        CommandError::new(kind, error).hint(hint)
    }
}

/// Returns the file with a name; the error suggests the nearest one.
pub fn file_named(name: &str) -> Result<MemoryFile, CommandError> {
    MemoryFile::from_name(name).ok_or_else(|| {
        let known: Vec<String> = MemoryFile::FIXED.iter().map(|(.., name, _)| (*name).to_owned()).collect();
        let nearest =
            known.iter().map(|known| (strsim::jaro_winkler(name, known), known)).max_by(|one, other| one.0.total_cmp(&other.0));
        let hint = match nearest {
            Some((likeness, nearest)) if likeness > 0.75 => format!("did you mean '{nearest}'?"),
            _ => format!("one of {}, or TASK-workflow, such as release-workflow", known.join(", ")),
        };
        misuse!("there is no memory file '{name}'").hint(hint)
    })
}

/// Returns an error if a text cannot be kept: it is empty, too long, or holds a credential.
pub fn check_text(text: &str) -> Result<(), CommandError> {
    /// The maximum length of an entry, in bytes.
    const LONGEST: usize = 4000;
    if text.trim().is_empty() {
        return Err(misuse!("the text is empty"));
    }
    if text.len() > LONGEST {
        return Err(misuse!("the text has {} bytes; a memory has at most {LONGEST}", text.len())
            .hint("name the file that holds the details"));
    }
    if holds_secret(text) {
        return Err(refusal!("the text contains a credential, and memories are read by models and kept in plain files")
            .hint("describe where the credential is kept instead, such as a variable"));
    }
    Ok(())
}

/// Returns the files of a tree that cannot be read, as a report lists them.
pub fn problems(problems: &[Problem]) -> Vec<MemoryProblem> {
    let shown = |problem: &Problem| MemoryProblem { path: problem.path.display().to_string(), reason: problem.reason.clone() };
    problems.iter().map(shown).collect()
}

/// Returns the report of a change, with the command that undoes it.
pub fn changed(done: String, updated: Updated, is_dry_run: bool) -> MemoryChangeReport {
    let hints = updated.operation.map(|number| format!("to undo: aperture memory undo {number}")).into_iter().collect();
    let problems = problems(&updated.tree.problems);
    MemoryChangeReport { done, operation: updated.operation, dry_run: is_dry_run, changes: updated.changes, hints, problems }
}

/// Returns a path as a word of a command.
pub fn word(path: &Path) -> String {
    quoted_word(&path.to_string_lossy())
}
