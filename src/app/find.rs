//! Finds the session of a command: in the files of the clients, and in the memory of a running proxy.

use super::env::Chosen;
use super::hints::with_session;
use super::{CommandError, Env, misuse, refusal};
use crate::engine::Selector;
use crate::fsio::read_head;
use crate::model::{id_starts_with, request_id};
use crate::output::short_id;
use crate::provider::named_directory;
use crate::text::shell::quoted_word;
use crate::workspace::{self, FindError, Found, KeptCopies, Project, RequestSession};
use anyhow::anyhow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// Bytes of a session in requests in which its directory is searched for.
const REQUEST_BYTES: usize = 64 << 20;

impl Env {
    /// Parses selectors into their union. The error for an unknown name has a suggestion from the session.
    /// Errors: a selector is invalid.
    pub fn selector(&self, texts: &[String]) -> Result<Selector, CommandError> {
        Selector::parse_all(texts).map_err(|error| match self.open(None) {
            Ok(workspace) => error.in_session(&workspace.reading).into(),
            Err(_) => error.into(),
        })
    }

    /// Returns the value of `-s`.
    pub fn session(&self) -> Option<&str> {
        self.globals.session.as_deref()
    }

    /// Finds the selected session: the one named in the command, the one given by `-s`, the one of the client in which this runs,
    /// or the newest of the project.
    /// Errors: there is no such session, more than one, or the file is not a session.
    pub fn find(&self, named: Option<&str>) -> Result<Found, CommandError> {
        if let (Some(positional), Some(option)) = (named, &self.globals.session)
            && positional != option
            && self.at.is_none()
        {
            return Err(misuse!("two sessions are given: '{positional}' and, by --session, '{option}'"));
        }
        if let (None, Some(visited)) = (named, &self.visited) {
            return Ok(visited.clone());
        }
        let named = named.or(self.at.as_deref()).or(self.session());
        let found = match (named, &self.surrounding) {
            (None, Some(id)) => self.find_open(id)?,
            (Some(name), _) => self.find_by(name)?,
            (None, None) => self.newest()?,
        };
        let named = named.filter(|_| self.at.is_none()).map(str::to_owned);
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Chosen { found: found.clone(), named });
        Ok(found)
    }

    /// Returns the shortest name that selects a session with `-s`: the user's, the short id, the id or the path.
    pub fn name_of(&self, path: &Path, id: &str) -> String {
        let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let given = chosen.filter(|chosen| chosen.found.path == path).and_then(|chosen| chosen.named);
        if self.visited.is_some() && given.is_none() {
            // A run over many sessions searches none of them again.
            return id.to_owned();
        }
        let names = [given.clone().filter(|given| given.len() <= id.len()), Some(short_id(id)), Some(id.to_owned())];
        let selects = |name: &String| self.find_by(name).is_ok_and(|other| other.path == path);
        names.into_iter().flatten().find(selects).or(given).unwrap_or_else(|| path.display().to_string())
    }

    pub fn name_session_in(&self, mut error: CommandError) -> CommandError {
        let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(Chosen { found, .. }) = chosen.filter(|_| !error.hints.is_empty()) {
            let name = quoted_word(&self.name_of(&found.path, &found.location.id));
            let is_open = self.open_sessions().contains(&found.location.id);
            error.hints.iter_mut().for_each(|hint| *hint = with_session(hint, &name, is_open));
        }
        error
    }

    /// Returns the project in the directory that an argument names, which may not exist any more.
    pub fn project_named(&self, directory: &Path) -> Project {
        Project::at(self.disk, &workspace::named_directory(self.disk, &self.directory, directory))
    }

    /// Finds the newest session of the project.
    /// Errors: there is no session.
    pub fn newest(&self) -> Result<Found, CommandError> {
        Ok(workspace::find(self.disk, &self.places, &self.directory, None)?)
    }

    /// Finds the session with this id or path. Files precede the memory of a proxy.
    pub fn find_by(&self, name: &str) -> Result<Found, CommandError> {
        let error = match request_id(Path::new(name)) {
            Some(_) => FindError::Unknown(name.to_owned()),
            None => match workspace::find(self.disk, &self.places, &self.directory, Some(name)) {
                Ok(found) => return Ok(found),
                Err(error) => error,
            },
        };
        if !matches!(error, FindError::Unknown(_) | FindError::Missing(_) | FindError::NoSessions(_)) {
            return Err(error.into());
        }
        let id = request_id(Path::new(name)).unwrap_or(name);
        match workspace::find_in_requests(&self.request_sessions(), id)? {
            Some(session) => {
                return session.found().ok_or_else(|| {
                    refusal!(
                        "the proxy has {id} in the format '{}', which this version of aperture does not know",
                        session.format
                    )
                    .hint("update aperture: the proxy is newer")
                });
            }
            None => match self.find_copy(id) {
                Err(error) if matches!(error.source.downcast_ref(), Some(FindError::Unknown(_))) => {}
                found => return found,
            },
        }
        Err(self.without_proxy(id).unwrap_or_else(|| error.into()))
    }

    /// Returns the kept copies of sessions.
    /// Errors: there is no home directory.
    pub fn kept(&self) -> Result<KeptCopies<'_>, CommandError> {
        Ok(KeptCopies::new(self.disk, &self.places, &self.store_directory()?))
    }

    /// Finds the kept copy of a session, by the id of the session or a prefix of it, or by the path of the copy.
    /// Errors: there is no such copy, or more than one.
    pub fn find_copy(&self, name: &str) -> Result<Found, CommandError> {
        let path = self.directory.join(name);
        let is_named = |found: &Found| found.path == path || (!name.is_empty() && id_starts_with(&found.location.id, name));
        let mut copies = self.kept()?.all();
        copies.retain(|(found, _)| is_named(found));
        if copies.iter().any(|(found, _)| found.location.id == name) {
            copies.retain(|(found, _)| found.location.id == name);
        }
        copies.sort_by_key(|(_, identity)| std::cmp::Reverse(identity.modified));
        match &copies[..] {
            [] => Err(FindError::Unknown(name.to_owned()).into()),
            [(found, _)] => Ok(found.clone()),
            _ => {
                let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let candidates = copies.iter().map(|(found, _)| stem(&found.path)).collect();
                Err(FindError::Ambiguous { prefix: name.to_owned(), candidates }.into())
            }
        }
    }

    /// Returns the error for a session that existed in the requests of an earlier proxy; `None` if the store has none with this id.
    fn without_proxy(&self, id: &str) -> Option<CommandError> {
        let stored = self.existing_store().ok().flatten()?.sessions().ok()?;
        let is_named = |known: &str| !id.is_empty() && id_starts_with(known, id);
        let known = stored.iter().find_map(|session| request_id(&session.path).filter(|known| is_named(known)))?;
        let error = anyhow!("the session {known} is in no file: it exists only while its client runs behind the proxy");
        Some(CommandError::refused(error).hint("continue it in its client, behind the proxy; its changes are kept"))
    }

    /// Finds the session that a client reports as open. It does not fall back to another session if the file does not exist yet,
    /// because that would be the wrong one.
    /// Errors: there is no session with this id.
    pub fn find_open(&self, id: &str) -> Result<Found, CommandError> {
        self.find_by(id).map_err(|error| error.hint("a new session is written with its first answer: then try again"))
    }

    /// Returns the directory in which a session was started, if it exists.
    pub fn project_directory(&self, found: &Found) -> Option<PathBuf> {
        let in_requests = || {
            request_id(&found.path)?;
            named_directory(&read_head(self.disk, &found.path, REQUEST_BYTES).ok()?)
        };
        workspace::stated(self.disk, found).or_else(in_requests).filter(|directory| self.is_directory(directory))
    }

    /// Returns a copy for a session, in which the model may do only what the settings of its project allow too.
    /// Errors: those settings are invalid.
    pub fn for_model_on(&self, found: &Found, command: &str) -> Result<Env, CommandError> {
        let mut env = self.on(&found.path, command);
        if let Some(directory) = self.project_directory(found) {
            env.model = self.renewed(&directory)?.model.and(&self.model);
        }
        Ok(env)
    }

    /// Returns the sessions in the memory of a running proxy.
    pub fn request_sessions(&self) -> Vec<RequestSession> {
        self.requests.as_ref().map(|requests| requests.list()).unwrap_or_default()
    }

    pub fn open_sessions(&self) -> BTreeSet<String> {
        let mut open = workspace::open_sessions(self.disk, &self.places);
        open.extend(self.request_sessions().into_iter().map(|session| session.id));
        open
    }
}
