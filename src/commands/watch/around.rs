//! The surroundings of the watched session: the directories to watch, and the other sessions of the project.

use super::follow::{Shown, Watch};
use crate::app::{CommandError, Env};
use crate::engine::{ActivityEvent, OtherSession, capacity};
use crate::fsio::RecursiveMode::{self, NonRecursive, Recursive};
use crate::model::request_id;
use crate::provider::PROVIDERS;
use crate::workspace::{self, Listed, Project};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The number of other sessions that are shown, newest first.
const OTHERS: usize = 5;

/// Returns the directories to watch: those of the session and the log and, if `follows` is true, those of the project's sessions and of
/// the file that `name` can be. A directory that does not exist is replaced with its nearest existing ancestor.
pub(super) fn directories(
    env: &Env,
    session: Option<&Path>,
    name: Option<&str>,
    follows: bool,
) -> BTreeMap<PathBuf, RecursiveMode> {
    let mut wanted: Vec<(PathBuf, RecursiveMode)> = Vec::new();
    if let Ok(store) = env.store_directory() {
        wanted.push((store, NonRecursive));
    }
    if let Some(session) = session.filter(|session| request_id(session).is_none()) {
        // If the path is a symbolic link, rows are appended to its target.
        let real = env.disk.resolve(session).unwrap_or_else(|_| session.to_owned());
        let parents = [session, &real].map(|path| path.parent().map(|parent| (parent.to_owned(), NonRecursive)));
        wanted.extend(parents.into_iter().flatten());
    }
    if follows {
        let file = name.map(|name| env.directory.join(name));
        wanted.extend(file.and_then(|file| Some((file.parent()?.to_owned(), NonRecursive))));
        let project = env.disk.resolve(&env.directory).unwrap_or_else(|_| env.directory.clone());
        for provider in PROVIDERS {
            for root in provider.roots(&env.places) {
                match provider.project_directory(&root, &project) {
                    Some(directory) => wanted.extend([(root, NonRecursive), (directory, NonRecursive)]),
                    None => wanted.push((root, Recursive)),
                }
            }
        }
    }
    let mut directories = BTreeMap::new();
    for (mut path, mut depth) in wanted {
        while env.disk.identify(&path).is_err() && path.pop() {
            depth = NonRecursive;
        }
        if depth == Recursive || !directories.contains_key(&path) {
            directories.insert(path, depth);
        }
    }
    directories
}

impl Watch<'_> {
    /// Reports the other sessions of the project that were written to.
    pub(super) fn scan_project(&mut self) -> Result<(), CommandError> {
        let Some(shown) = &self.shown else { return Ok(()) };
        let project = match self.arguments.project.as_ref().filter(|directory| directory.as_os_str() != ".") {
            Some(directory) => {
                Project::at(self.env.disk, &workspace::named_directory(self.env.disk, &self.env.directory, directory))
            }
            None => Project::of_session(self.env.disk, &shown.found),
        };
        let others = others(&self.env, shown, &project);
        let fresh: Vec<OtherSession> = others.iter().filter(|other| !self.others.contains(other)).cloned().collect();
        self.others = others;
        // Newest last, as in any log.
        fresh.into_iter().rev().try_for_each(|other| self.tell(&ActivityEvent::SessionUpdated(other)))
    }
}

fn others(env: &Env, shown: &Shown, project: &Project) -> Vec<OtherSession> {
    let location = &shown.found.location;
    let listed = workspace::list(env.disk, &env.totals(), &env.places, Some(project), true, &mut |_, _| {}).unwrap_or_default();
    let mut others: Vec<OtherSession> = listed
        .into_iter()
        .flatten()
        .filter(|other| other.found.location.id != location.id && !other.found.location.subagent)
        .filter(|other| other.totals.turns + other.totals.steps > 0)
        .map(|other| row(env, other))
        .collect();
    others.sort_by(|a, b| (b.modified_time, &a.id).cmp(&(a.modified_time, &b.id)));
    others.truncate(OTHERS);
    others
}

fn row(env: &Env, listed: Listed) -> OtherSession {
    let Listed { found, identity, totals, .. } = listed;
    let size = capacity(&totals.model, &totals.window, &env.settings).tokens.max(1);
    OtherSession {
        id: found.location.id,
        title: totals.title,
        tokens: totals.window_tokens,
        percent: totals.window_tokens as f64 / size as f64 * 100.0,
        modified_time: (identity.modified / 1_000_000) as i64,
    }
}
