//! Finds the sessions of a request that runs on many.

use crate::app::{CommandError, Env, misuse, refusal, session_name};
use crate::commands::BulkOptions;
use crate::store::{Store, StoredSession};
use crate::workspace::{self, FindError, Found, Listed, Project};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A session of a request that runs on many. It holds no content.
#[derive(Clone, Debug, Default)]
pub struct BulkSession {
    /// The session file, as it was found; `None` if it cannot be read or does not exist.
    pub found: Option<Found>,
    /// The session's id; a name of the file if it cannot be read.
    pub id: String,
    /// The name of the provider; empty if the file cannot be read.
    pub provider: String,
    pub path: PathBuf,
    /// The title, with credentials masked; may be empty.
    pub title: String,
    /// True if the file has no prompt and no response, according to the cached totals.
    pub is_blank: bool,
    /// The reason why the file cannot be read.
    pub problem: Option<String>,
}

impl BulkSession {
    fn of_listed(listed: Listed) -> BulkSession {
        BulkSession {
            id: listed.found.location.id.clone(),
            provider: listed.found.provider.name().to_owned(),
            path: listed.found.path.clone(),
            is_blank: listed.totals.turns + listed.totals.steps == 0,
            title: listed.totals.title,
            found: Some(listed.found),
            problem: None,
        }
    }

    fn unreadable(path: PathBuf, problem: String) -> BulkSession {
        let id = session_name(&path);
        BulkSession { id, path, problem: Some(problem), ..BulkSession::default() }
    }
}

/// Returns the project of the options, whose directory may not exist any more; `None` if they select all sessions.
fn project_of(env: &Env, options: &BulkOptions) -> Option<(Project, PathBuf)> {
    let given = options.project.as_ref()?;
    let directory = workspace::named_directory(env.disk, &env.directory, given);
    Some((Project::at(env.disk, &directory), workspace::absolute(env.disk, &directory)))
}

/// Lists the sessions that the options select, newest first. Files that cannot be read are in the list too, last.
/// Errors: there are none, unless the options allow that; or `-s` names one session.
pub fn listed(env: &Env, options: &BulkOptions) -> Result<Vec<BulkSession>, CommandError> {
    if env.session().is_some() {
        return Err(misuse!("--session selects one session, and --all or --project select many"));
    }
    let project = project_of(env, options);
    let mut unreadable = Vec::new();
    let listed = workspace::list(
        env.disk,
        &env.totals(),
        &env.places,
        project.as_ref().map(|(project, _)| project),
        true,
        &mut |path, error| unreadable.push(BulkSession::unreadable(path.to_owned(), error.to_string())),
    );
    let mut listed: Vec<Listed> = match listed {
        Ok(listed) => listed.into_iter().flatten().collect(),
        // A project is named in the error, even if there are no sessions at all.
        Err(FindError::NoSessions(_)) if project.is_some() || options.allow_empty => Vec::new(),
        Err(error) => return Err(CommandError::from(error).hint("to accept that: --allow-empty")),
    };
    listed.sort_by(|a, b| (b.identity.modified, &a.found.path).cmp(&(a.identity.modified, &b.found.path)));
    unreadable.sort_by(|a, b| a.path.cmp(&b.path));
    let sessions: Vec<BulkSession> = listed.into_iter().map(BulkSession::of_listed).chain(unreadable).collect();
    match project {
        Some((_, directory)) if sessions.is_empty() && !options.allow_empty => Err(none_in(env, &directory)),
        _ => Ok(sessions),
    }
}

/// Returns the error for a project without sessions.
fn none_in(env: &Env, directory: &Path) -> CommandError {
    if !env.is_directory(directory) {
        return misuse!("there is no directory {}", directory.display())
            .hint("--project takes the word after it as its directory: write other arguments before it, or --project=DIRECTORY");
    }
    refusal!("no session was started in {}", directory.display())
        .hint("to search another directory: --project=DIRECTORY; all sessions: --all; the projects: aperture sessions")
        .hint("to accept that there are none: --allow-empty")
}

/// Returns the sessions with operations that the options select, in the order of the store, each with its title if its file exists.
/// Errors: as [`listed`], for a project without sessions; the store cannot be read.
pub fn stored(env: &Env, store: &Store, options: &BulkOptions) -> Result<Vec<(BulkSession, StoredSession)>, CommandError> {
    // A session in the store may have no file, so an empty list of files is not an error here.
    let files = listed(env, &BulkOptions { allow_empty: true, ..options.clone() })?;
    let found_any = !files.is_empty();
    let mut files: BTreeMap<PathBuf, BulkSession> = files
        .into_iter()
        .map(|session| (env.disk.resolve(&session.path).unwrap_or_else(|_| session.path.clone()), session))
        .collect();
    let project = project_of(env, options);
    let mut selected = Vec::new();
    for stored in store.sessions()? {
        let file = files.remove(&stored.path);
        if file.is_none() && project.as_ref().is_some_and(|(project, _)| !was_in(env, project, &stored)) {
            continue;
        }
        // A file that cannot be read is a finding of the command, which has the log of the session.
        let session = file.map(|file| BulkSession { problem: None, ..file }).unwrap_or_else(|| BulkSession {
            id: stored.session.clone(),
            provider: stored.provider.clone(),
            path: stored.path.clone(),
            ..BulkSession::default()
        });
        selected.push((session, stored));
    }
    match project {
        Some((_, directory)) if selected.is_empty() && !found_any && !options.allow_empty => Err(none_in(env, &directory)),
        _ => Ok(selected),
    }
}

/// Returns true if a session in the store belongs to a project, or did, according to its file or, if this is gone, to its path.
fn was_in(env: &Env, project: &Project, stored: &StoredSession) -> bool {
    let found = workspace::found(stored).ok().filter(|found| found.provider.locate(&found.path).is_some());
    found.is_some_and(|found| project.holds(env.disk, &found, workspace::stated(env.disk, &found).as_deref()))
}
