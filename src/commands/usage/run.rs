use super::report::UsageReport;
use super::{Arguments, Day};
use crate::app::{CommandError, Env, misuse};
use crate::engine::{self, BilledFile, UsageFilter, UsageGroup, UsageSource};
use crate::fsio::unpacked_path;
use crate::model::Key;
use crate::store::{BilledState, SessionKey, Store};
use crate::workspace::{self, FindError, Listed};
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Prints the usage of the selected sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    check_client(arguments.client.as_deref())?;
    let mut skipped = Vec::new();
    let mut skip = |path: &Path, error: std::io::Error| skipped.push(format!("{}: {error}", path.display()));
    let (disk, totals, cache, places, titles) =
        (env.disk, env.totals(), env.bills(), &env.places, arguments.by == UsageGroup::Session);
    let (listed, known) = rayon::join(|| workspace::list(disk, &totals, places, None, titles, &mut skip), || cache.sums(disk));
    let kept = env.kept()?;
    let copies = workspace::list_found(disk, &totals, kept.orphans(), None, titles, &mut skip);
    let listed = match listed {
        Err(FindError::NoSessions(_)) if !copies.is_empty() => Vec::new(),
        listed => listed?,
    };
    let mut listed: Vec<Listed> = listed.into_iter().flatten().chain(copies).collect();
    listed.sort_unstable_by(|a, b| a.found.path.as_os_str().cmp(b.found.path.as_os_str()));
    let LoggedUsage { store, changes, files } = logged(env);
    // The log has a deleted session by the path that it had.
    let path = |listed: &Listed| kept.original_path(listed.found.provider, &listed.found.path);
    let paths: Vec<PathBuf> = listed.iter().map(|listed| path(listed).unwrap_or_else(|| listed.found.path.clone())).collect();
    let logged: Vec<Option<&(SessionKey, Key)>> = paths.iter().map(|path| of_file(env, &files, path)).collect();
    let state = |(listed, logged): (&Listed, &Option<&(_, Key)>)| (listed.identity, logged.map_or(Key(0), |(_, key)| *key));
    let states: Vec<BilledState> = listed.iter().zip(&logged).map(state).collect();
    let zone = (env.style.zone)();
    let key = sums_key(env, &listed, &states, &changes, &zone);
    let sums = match known.filter(|(known, _)| Some(*known) == key) {
        Some((_, sums)) => sums,
        None => {
            let with_session: Vec<_> =
                listed.iter().zip(logged.iter().map(|logged| logged.map(|(session, _)| *session))).collect();
            let bills = workspace::usage(disk, &cache, &with_session, &states, store.as_ref(), &mut skip);
            let file = |((listed, path), usage): ((_, &PathBuf), _)| BilledFile {
                session: session(listed),
                usage,
                changes: of_file(env, &changes, path).map_or(&[], Vec::as_slice),
            };
            let files: Vec<BilledFile<'_>> = listed.iter().zip(&paths).zip(&bills).map(file).collect();
            let sums = engine::usage_sums(&files, &zone, &env.prices);
            if let Some(key) = key.filter(|_| skipped.is_empty()) {
                cache.remember_sums(disk, key, &sums);
            }
            // The program ends soon: freeing the bills of thousands of sessions takes longer than writing the output.
            std::mem::forget(bills);
            sums
        }
    };
    for problem in skipped {
        env.note(&format!("skipped {problem}"));
    }
    let wanted = wanted(env, arguments)?;
    let titles: HashMap<&str, &str> = listed
        .iter()
        .filter(|listed| !listed.found.location.subagent)
        .map(|listed| (&*listed.found.location.id, &*listed.totals.title))
        .collect();
    let sources = listed.iter().map(|listed| {
        let session = session(listed);
        UsageSource {
            session,
            title: titles.get(session).copied().unwrap_or(&listed.totals.title),
            project: project(listed),
            selected: wanted(listed),
        }
    });
    let sources: Vec<UsageSource<'_>> = sources.collect();
    let today = env.style.now.to_zoned(zone).date();
    let day = |day: Option<Day>| day.map(|day| day.date(today));
    let filter = UsageFilter { since: day(arguments.since), until: day(arguments.until), model: arguments.model.clone() };
    let table = engine::usage(&sums, &sources, arguments.by, &filter);
    env.print(&UsageReport { by: arguments.by, table })
}

/// Checks the name of a client.
/// Errors: no client has this name.
pub fn check_client(name: Option<&str>) -> Result<(), CommandError> {
    let names: Vec<&str> = crate::provider::PROVIDERS.iter().map(|provider| provider.name()).collect();
    match name {
        Some(name) if !names.contains(&name) => {
            Err(misuse!("unknown client '{name}'").hint(format!("the clients are {}", names.join(", "))))
        }
        _ => Ok(()),
    }
}

/// Returns the key of all that the sums of the listed sessions depend on; `None` if the time zone has no name.
fn sums_key(
    env: &Env,
    listed: &[Listed],
    states: &[BilledState],
    changes: &BTreeMap<PathBuf, Vec<(i64, f64)>>,
    zone: &TimeZone,
) -> Option<Key> {
    let zone = zone
        .iana_name()
        .map_or_else(|| zone.to_fixed_offset().ok().map(|offset| offset.to_string()), |name| Some(name.to_owned()))?;
    let files: Vec<_> = listed.iter().map(|listed| listed.found.path.to_str()).zip(states).collect();
    let all = (env!("CARGO_PKG_VERSION"), files, changes, zone, format!("{:?}", env.prices));
    Some(Key::from_bytes(&postcard::to_stdvec(&all).ok()?))
}

/// Returns the test that selects sessions by the arguments and `-s`.
fn wanted(env: &Env, arguments: &Arguments) -> Result<impl Fn(&Listed) -> bool, CommandError> {
    let project = arguments.project.as_ref().map(|directory| env.project_named(directory));
    let named = env.session().map(|name| env.find_by(name)).transpose()?;
    let client = arguments.client.clone();
    let disk = env.disk;
    Ok(move |listed: &Listed| {
        project.as_ref().is_none_or(|project| project.holds(disk, &listed.found, listed.directory()))
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

/// The facts of the operation log, by the path of the session file.
#[derive(Default)]
struct LoggedUsage {
    store: Option<Store>,
    /// The changes of the window: the time, and the tokens that the model no longer receives.
    changes: BTreeMap<PathBuf, Vec<(i64, f64)>>,
    /// The session of each changed file, and the key of its operations.
    files: BTreeMap<PathBuf, (SessionKey, Key)>,
}

/// Returns the facts of the operation log; none, with a note, if it cannot be read.
fn logged(env: &Env) -> LoggedUsage {
    let read = || {
        let Some(store) = env.existing_store()? else { return Ok(LoggedUsage::default()) };
        let (changes, files) = (store.window_changes()?, store.logged_files()?);
        Ok(LoggedUsage { store: Some(store), changes, files })
    };
    env.or_note(read(), "savings, and bills that aperture replaced, are not available").unwrap_or_default()
}

fn of_file<'a, T>(env: &Env, values: &'a BTreeMap<PathBuf, T>, path: &Path) -> Option<&'a T> {
    // Without values, no path is resolved.
    // The store has the path of before the client compressed the file.
    let path = &*unpacked_path(path);
    let resolved = || env.disk.resolve(path).ok().and_then(|path| values.get(&path));
    if values.is_empty() { None } else { values.get(path).or_else(resolved) }
}
