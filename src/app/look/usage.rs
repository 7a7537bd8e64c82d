//! `aperture usage`: adds up tokens and cost.

use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::usage::{Arguments, By};
use crate::engine::{self, UsageFilter, UsageGroup, UsageSource};
use crate::output::UsageReport;
use crate::workspace::{self, Listed, Project};
use anyhow::anyhow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Prints the usage of the selected sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    check_client(arguments.client.as_deref())?;
    let mut skipped = Vec::new();
    let mut skip = |path: &Path, error: std::io::Error| skipped.push(format!("{}: {error}", path.display()));
    let listed = workspace::list(env.disk, &env.totals(), &env.places, None, &mut skip)?;
    let listed: Vec<Listed> = listed.into_iter().flatten().collect();
    let bills = workspace::usage(env.disk, env.cache(), &listed, &mut skip);
    for problem in skipped {
        env.note(&format!("skipped {problem}"));
    }
    let changes = changes(env);
    let wanted = wanted(env, arguments)?;
    let titles: HashMap<&str, &str> = listed
        .iter()
        .filter(|listed| !listed.found.location.subagent)
        .map(|listed| (&*listed.found.location.id, &*listed.totals.title))
        .collect();
    let sources = listed.iter().zip(&bills).map(|(listed, usage)| {
        let session = session(listed);
        UsageSource {
            session,
            title: titles.get(session).copied().unwrap_or(&listed.totals.title),
            project: project(listed),
            usage,
            changes: changes_of(env, &changes, &listed.found.path),
            selected: wanted(listed),
        }
    });
    let sources: Vec<UsageSource<'_>> = sources.collect();
    let filter = UsageFilter { since: arguments.since, until: arguments.until, model: arguments.model.clone() };
    let group = match arguments.by {
        By::Day => UsageGroup::Day,
        By::Month => UsageGroup::Month,
        By::Session => UsageGroup::Session,
        By::Project => UsageGroup::Project,
        By::Model => UsageGroup::Model,
    };
    let table = engine::usage(&sources, group, &filter, &(env.style.zone)(), &env.prices);
    env.print(&UsageReport { group, table })
}

/// Checks the name of a client.
///
/// # Errors
///
/// No client has this name.
pub fn check_client(name: Option<&str>) -> Result<(), CommandError> {
    let names: Vec<&str> = crate::provider::PROVIDERS.iter().map(|provider| provider.name()).collect();
    match name {
        Some(name) if !names.contains(&name) => {
            let error = anyhow!("unknown client '{name}'");
            Err(CommandError::new(ErrorKind::Usage, error).hint(format!("the clients are {}", names.join(", "))))
        }
        _ => Ok(()),
    }
}

/// Returns the test that selects sessions by the arguments and `-s`.
fn wanted(env: &Env, arguments: &Arguments) -> Result<impl Fn(&Listed) -> bool, CommandError> {
    let project = arguments.project.as_ref().map(|project| Project::at(env.disk, &env.directory.join(project)));
    let named = env.session().map(|name| env.find_by(name)).transpose()?;
    let client = arguments.client.clone();
    Ok(move |listed: &Listed| {
        let stated = || Some(PathBuf::from(&*listed.totals.directory));
        project.as_ref().is_none_or(|project| project.holds(&listed.found, stated))
            && client.as_ref().is_none_or(|client| client == listed.found.provider.name())
            && named.as_ref().is_none_or(|named| {
                listed.found.path == named.path || (!named.location.subagent && session(listed) == named.location.id)
            })
    })
}

/// Returns the id of the session that a file belongs to: for a subagent, the session that started it.
fn session(listed: &Listed) -> &str {
    let location = &listed.found.location;
    location.parent.as_ref().unwrap_or(&location.id)
}

fn project(listed: &Listed) -> &str {
    if listed.totals.directory.is_empty() { &listed.found.location.project } else { &listed.totals.directory }
}

/// Returns the changes of windows in the operation log; none, with a note, if it cannot be read.
fn changes(env: &Env) -> BTreeMap<PathBuf, Vec<(i64, f64)>> {
    let read = || Ok(env.existing_store()?.map(|store| store.window_changes()).transpose()?.unwrap_or_default());
    read().unwrap_or_else(|error: CommandError| {
        env.note(&format!("savings are not available: {:#}", error.source));
        BTreeMap::new()
    })
}

fn changes_of<'a>(env: &Env, changes: &'a BTreeMap<PathBuf, Vec<(i64, f64)>>, path: &Path) -> &'a [(i64, f64)] {
    // Without changes, no path is resolved.
    let resolved = || env.disk.resolve(path).ok().and_then(|path| changes.get(&path));
    if changes.is_empty() { &[] } else { changes.get(path).or_else(resolved).map_or(&[], Vec::as_slice) }
}
