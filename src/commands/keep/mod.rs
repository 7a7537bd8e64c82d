//! `aperture keep`: copies sessions before their clients delete them, and restores them.

mod report;
mod status;

pub use report::{KeepForgetReport, KeepListReport, KeepReport, KeepRestoreReport};
pub use status::{KeepStatusReport, SOON_DAYS, expiring_in, report as status_report};

use crate::app::{CommandError, Env, ErrorKind, misuse, next_step, refusal};
use crate::fsio::Identity;
use crate::model::{Address, request_id};
use crate::text::shell::quoted_word;
use crate::workspace::{self, CopyState, Found, KeepError, KeptCopies, Restoration, RestoredState};
use report::{KeptRow, KeptSession, RestoredRow};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = help_text!("keep")
)]
pub struct Arguments {
    /// The action; without one, sessions are copied.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Session: a path, an id or an id prefix [default: the current one]
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all", "project"])]
    pub session: Option<String>,
    /// Every session on this machine
    #[arg(long, conflicts_with = "project")]
    pub all: bool,
    /// Every session of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Count the sessions; copy nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// List the sessions that clients will delete, and when
    Status,
    /// List the copies
    List,
    /// Write a session and the files beside it back to their places
    Restore {
        /// Session: an id or an id prefix
        #[arg(id = "named", value_name = "SESSION")]
        session: String,
        /// Write only the session, to this file
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// The older copy with this number; 1 is the newest of them
        #[arg(long, value_name = "N")]
        older: Option<usize>,
        /// Replace files that have another content; they are copied first
        #[arg(long)]
        force: bool,
        /// List the files; write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Delete the copies of a session (dry run unless --yes)
    Forget {
        /// Session: an id or an id prefix
        #[arg(id = "named", value_name = "SESSION")]
        session: String,
        /// Delete them
        #[arg(long)]
        yes: bool,
    },
}

/// The maximum number of attempts to lock the copies, while another process copies a session.
const LOCK_STEPS: u32 = 3000;

/// Copies sessions, or executes the action.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    // The copies of a locked store cannot be seen.
    env.keys.seal()?;
    match &arguments.action {
        None => keep(env, arguments),
        Some(Action::Status) => env.print(&status::report(env)?),
        Some(Action::List) => env.print(&list(env)?),
        Some(Action::Restore { session, to, older, force, dry_run }) => {
            let found = env.find_copy(session)?;
            let copies = env.kept()?;
            let report = match to {
                Some(file) => {
                    let path = env.directory.join(file);
                    let written = copies.write_to(&found, *older, &path, *force, *dry_run);
                    written.map(|()| vec![(path, RestoredState::Written)])
                }
                None => {
                    let to_file = format!("to write it to a file: aperture keep restore {} --to FILE", quoted_word(session));
                    if found.provider.read_only().is_some() {
                        let agent = found.provider.agent();
                        return Err(refusal!("a session of {agent} is not restored in its place").hint(to_file));
                    }
                    let _lock = lock(env)?;
                    let restoration = copies.restoration(&found, *older, *force);
                    let is_replacing =
                        |restored: &Restoration| restored.files().any(|file| file.state == RestoredState::Replaced);
                    if restoration.as_ref().is_ok_and(is_replacing) {
                        expect_last_state(env, &copies, &found, *older).map_err(|error| error.hint(to_file))?;
                    }
                    let written = restoration.and_then(|restoration| {
                        if !*dry_run {
                            copies.restore(&restoration)?;
                        }
                        Ok(restoration)
                    });
                    written.map(|files| files.files().map(|file| (file.path.clone(), file.state)).collect())
                }
            };
            let files = report.map_err(|error| {
                let to = to.iter().map(|file| format!(" --to {}", quoted_word(&file.to_string_lossy())));
                let older = older.iter().map(|number| format!(" --older {number}"));
                refused(error, session, &to.chain(older).collect::<String>())
            })?;
            let id = &found.location.id;
            let resume = to.is_none().then(|| found.provider.resume_command(id));
            let directory = env.project_directory(&found).filter(|_| resume.is_some());
            let row = |(path, state): (PathBuf, RestoredState)| RestoredRow { path: path.display().to_string(), state };
            env.print(&KeepRestoreReport {
                session: id.clone(),
                dry_run: *dry_run,
                files: files.into_iter().map(row).collect(),
                directory: directory.map(|directory| directory.display().to_string()),
                resume,
            })
        }
        Some(Action::Forget { session, yes }) => {
            let found = env.find_copy(session)?;
            let copies = env.kept()?;
            let is_only = copies.orphans().iter().any(|(orphan, _)| orphan.path == found.path);
            let (files, bytes) = copies.size(&found)?;
            if *yes {
                let _lock = lock(env)?;
                copies.forget(&found)?;
            }
            env.print(&KeepForgetReport { session: found.location.id, done: *yes, files, bytes, is_only })
        }
    }
}

/// Returns the error of a command on a session with the next step; `options` are those of its restoration.
fn refused(error: KeepError, session: &str, options: &str) -> CommandError {
    let word = quoted_word(session);
    let (kind, hint) = match &error {
        KeepError::Exists(_) => {
            let copied = if options.contains("--to ") { "" } else { " after it is copied" };
            let hint =
                format!("to replace it{copied}: aperture keep restore {word}{options} --force; to write another file: --to FILE");
            (ErrorKind::Refused, hint)
        }
        KeepError::Damaged(..) => (ErrorKind::Refused, "to see if there are older copies: aperture keep list".to_owned()),
        KeepError::HeldOpen(_) => (ErrorKind::Conflict, "nothing was written; try again when that program is done".to_owned()),
        KeepError::Elsewhere(_) => (ErrorKind::Refused, format!("to write it to a file: aperture keep restore {word} --to FILE")),
        KeepError::NoSuchCopy(_) => (ErrorKind::Usage, "to list the copies: aperture keep list".to_owned()),
        KeepError::Io(cause) => {
            let step = next_step(cause);
            return CommandError::refused(error).hints(step);
        }
    };
    CommandError::new(kind, error).hint(hint)
}

/// Fails if a copy that would replace the file of a session does not begin with the last state of its log, of which no change could be
/// undone then.
fn expect_last_state(env: &Env, copies: &KeptCopies<'_>, found: &Found, older: Option<usize>) -> Result<(), CommandError> {
    let path = copies.original_path(found.provider, &found.path).and_then(|path| env.disk.resolve(&path).ok());
    let Some((path, store)) = path.zip(env.existing_store()?) else { return Ok(()) };
    let Some(stored) = store.find(&path)? else { return Ok(()) };
    let history = store.history(stored.key)?;
    let (id, mut content) = (&found.location.id, Vec::new());
    let copy = copies.copy_of(found, older).map_err(|error| refused(error, id, ""))?;
    let read = env.disk.open(&copy, 0).and_then(|mut file| file.read_to_end(&mut content));
    read.map_err(|error| refused(error.into(), id, ""))?;
    let has = |(bytes, hash): (u64, Address)| {
        content.get(..bytes as usize).is_some_and(|start| blake3::hash(start).as_bytes() == &hash)
    };
    if history.state_at(history.last()).is_none_or(has) {
        return Ok(());
    }
    let error = refusal!("the copy does not have the changes in the log of the session");
    let points = history.operations.iter().rev().map(|operation| operation.id).chain([0]);
    let Some(point) = points.into_iter().find(|point| history.state_at(*point).is_some_and(has)) else { return Err(error) };
    let point = if point == 0 { "original".to_owned() } else { point.to_string() };
    Err(error.hint(format!("to bring the session to the state of the copy: aperture restore {point} -s {}", quoted_word(id))))
}

/// Locks the copies; waits for another process that copies a session.
fn lock(env: &Env) -> Result<Box<dyn Send>, CommandError> {
    env.lock_file("kept", LOCK_STEPS, "the kept copies", "copying sessions")
}

fn keep(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let copies = env.kept()?;
    let is_one = !arguments.all && arguments.project.is_none();
    let found = if is_one { vec![env.find(arguments.session.as_deref())?] } else { selected(env, arguments)? };
    if arguments.all && !arguments.dry_run {
        let _lock = lock(env)?;
        copies.clean();
    }
    let bar = env.progress(found.len());
    let mut report = KeepReport { dry_run: arguments.dry_run, ..KeepReport::default() };
    for found in found {
        report.sessions.push(if arguments.dry_run { previewed(env, &copies, &found) } else { kept(env, &copies, &found)? });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let failed = report.sessions.iter().any(|session| !session.failures.is_empty());
    env.print(&report)?;
    if failed { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Returns the sessions in files that the arguments select. The subagents beside a session are copied with it.
fn selected(env: &Env, arguments: &Arguments) -> Result<Vec<Found>, CommandError> {
    if env.session().is_some() {
        return Err(misuse!("--session selects one session, and --all or --project select many"));
    }
    let mut found = workspace::find_all(env.disk, &env.places, &mut |path, error| env.note_skipped(path, &error));
    if let Some(directory) = &arguments.project {
        let project = env.project_named(directory);
        found.retain(|(found, _)| project.holds(env.disk, found, workspace::stated(env.disk, found).as_deref()));
    }
    let main: HashSet<String> =
        found.iter().filter(|(found, _)| !found.location.subagent).map(|(found, _)| found.location.id.clone()).collect();
    found.retain(|(found, _)| found.location.parent.as_ref().is_none_or(|parent| !main.contains(parent)));
    // Those that a client deletes first.
    found.sort_by(|(a, of_a), (b, of_b)| (of_a.modified, &a.path).cmp(&(of_b.modified, &b.path)));
    Ok(found.into_iter().map(|(found, _)| found).collect())
}

fn previewed(env: &Env, copies: &KeptCopies<'_>, found: &Found) -> KeptSession {
    let identity = env.disk.identify(&found.path).unwrap_or_default();
    let is_current = copies.state(found, &identity) == CopyState::Current;
    let (copied, unchanged) = if is_current { (0, 1) } else { (1, 0) };
    KeptSession { copied, unchanged, bytes: identity.bytes, ..KeptSession::new(found) }
}

fn kept(env: &Env, copies: &KeptCopies<'_>, found: &Found) -> Result<KeptSession, CommandError> {
    if request_id(&found.path).is_some() {
        return Err(refusal!("the session is in no file: it exists only while its client runs behind the proxy"));
    }
    let _lock = lock(env)?;
    let outcome = copies.keep(found).map_err(|error| match error {
        KeepError::Elsewhere(_) => CommandError::refused(error).hint("to list the sessions that can be kept: aperture sessions"),
        error => refused(error, &found.location.id, ""),
    })?;
    let failures = outcome.failed.iter().map(|(path, error)| format!("{}: {error}", path.display())).collect();
    let (copied, unchanged, bytes, kept_bytes) = (outcome.copied, outcome.unchanged, outcome.bytes, outcome.kept_bytes);
    Ok(KeptSession { copied, unchanged, bytes, kept_bytes, failures, ..KeptSession::new(found) })
}

/// Copies a session, for a program that runs on.
/// Errors: a file cannot be copied.
pub fn keep_session(env: &Env, found: &Found) -> Result<(), CommandError> {
    let kept = kept(env, &env.kept()?, found)?;
    match kept.failures.first() {
        None => Ok(()),
        Some(failure) => Err(refusal!("{failure}")),
    }
}

/// Copies a session, or without a path all that changed, in a process that outlives this one: a client does not wait for it.
pub fn keep_in_background(env: &Env, session: Option<&Path>) {
    let path = session.and_then(Path::to_str);
    let words = path.map_or(vec!["keep", "--all"], |path| vec!["keep", "--", path]);
    env.or_note(env.start_again(&words), "the sessions are not kept");
}

fn list(env: &Env) -> Result<KeepListReport, CommandError> {
    let copies = env.kept()?;
    let orphans: HashSet<PathBuf> = copies.orphans().into_iter().map(|(found, _)| found.path).collect();
    let all: Vec<(Found, Identity)> = copies.all().into_iter().filter(|(found, _)| found.location.parent.is_none()).collect();
    let mut skip = |path: &Path, error| env.note_skipped(path, &error);
    let mut listed = workspace::list_found(env.disk, &env.totals(), all, None, true, &mut skip);
    listed.sort_by(|a, b| (b.last_written(), &a.found.path).cmp(&(a.last_written(), &b.found.path)));
    let row = |listed: workspace::Listed| {
        let original = copies.original_path(listed.found.provider, &listed.found.path).unwrap_or_default();
        let state = match env.disk.identify(&original) {
            _ if orphans.contains(&listed.found.path) => CopyState::Only,
            Ok(identity) => copies.state(&Found { path: original.clone(), ..listed.found.clone() }, &identity),
            Err(_) => CopyState::Current,
        };
        let (files, kept_bytes) = copies.size(&listed.found).unwrap_or_default();
        KeptRow {
            provider: listed.found.provider.name(),
            session: listed.found.location.id.clone(),
            path: listed.found.path.display().to_string(),
            last_written_time: listed.last_written(),
            title: listed.totals.title.clone(),
            state,
            files,
            older: copies.older(&listed.found.path).len(),
            kept_bytes,
        }
    };
    Ok(KeepListReport { copies: listed.into_iter().map(row).collect() })
}
