//! Finds sessions: by path, id, unique prefix, or the newest of the project.

use super::project::{Project, absolute, stated};
use crate::fsio::{Disk, Entry, Identity, is_packed, read_head, unpacked_path};
use crate::model::limits::{SNIFF_BYTES, SNIFF_LONGEST_BYTES};
use crate::model::{Event, id_starts_with};
use crate::provider::{self, FileKind, Location, PROVIDERS, Places, ProviderAdapter, claude_code, sniff};
use rayon::prelude::*;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// Number of files whose project is read at a time, when the newest session of a project is searched.
const NEWEST_FILES: usize = 64;

/// A session file and the provider that reads it.
#[derive(Clone)]
pub struct Found {
    pub provider: &'static dyn ProviderAdapter,
    pub path: PathBuf,
    pub location: Location,
}

impl Found {
    /// Returns the session that a path names, even if the file does not exist yet. `None` if it is not a session path of Claude
    /// Code, whose hooks report the path of a session before it is written.
    pub fn announced(path: &Path) -> Option<Found> {
        let provider: &'static dyn ProviderAdapter = &claude_code::ClaudeCode;
        Some(Found { provider, path: path.to_owned(), location: provider.locate(path)? })
    }
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The reason why no session was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("no sessions were found in {}", list(.0))]
    NoSessions(Vec<PathBuf>),
    #[error("no session belongs to {0} or a directory above it")]
    NoneHere(PathBuf),
    #[error("no session id starts with '{0}', and no such file exists")]
    Unknown(String),
    #[error("there is no file {}", .0.display())]
    Missing(PathBuf),
    #[error("session id prefix '{prefix}' is ambiguous ({} matches)", .candidates.len())]
    Ambiguous {
        prefix: String,
        /// The ids of the sessions, newest first.
        candidates: Vec<String>,
    },
    #[error("{} is {what}", .path.display())]
    NotASession { path: PathBuf, what: String },
    #[error("{} cannot be read", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns the directories that contain all sessions.
pub fn roots(places: &Places) -> Vec<PathBuf> {
    PROVIDERS.iter().flat_map(|provider| provider.roots(places)).collect()
}

#[derive(Default)]
struct Listing {
    directories: Vec<PathBuf>,
    /// Other entries, which can be links to directories.
    others: Vec<PathBuf>,
    sessions: Vec<(Found, Identity)>,
    files: Vec<(PathBuf, Identity)>,
    skipped: Vec<(PathBuf, io::Error)>,
}

/// The files in the directories of clients.
#[derive(Default)]
pub struct FoundFiles {
    pub sessions: Vec<Vec<(Found, Identity)>>,
    pub others: Vec<(PathBuf, Identity)>,
}

/// Returns all sessions of all providers with the state of their files, in no particular order.
///
/// Directories that cannot be read are passed to `skipped`; a missing directory has no sessions.
pub fn find_all(disk: &dyn Disk, places: &Places, skipped: &mut dyn FnMut(&Path, io::Error)) -> Vec<(Found, Identity)> {
    find_files(disk, &|provider| provider.roots(places), skipped).sessions.into_iter().flatten().collect()
}

/// Returns the files below the directories that `roots` returns for each client.
pub fn find_files(
    disk: &dyn Disk,
    roots: &dyn Fn(&dyn ProviderAdapter) -> Vec<PathBuf>,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> FoundFiles {
    let mut all = FoundFiles::default();
    for provider in PROVIDERS {
        find_in(disk, *provider, roots(*provider), skipped, &mut all);
    }
    all
}

/// Adds the files below some directories of a provider to `all`.
pub(super) fn find_in(
    disk: &dyn Disk,
    provider: &'static dyn ProviderAdapter,
    mut directories: Vec<PathBuf>,
    skipped: &mut dyn FnMut(&Path, io::Error),
    all: &mut FoundFiles,
) {
    let mut roots = directories.clone();
    // Breadth first; the directories of one level are listed in parallel.
    while !directories.is_empty() {
        let listed: Vec<Listing> =
            directories.into_par_iter().map(|directory| list_directory(disk, provider, directory)).collect();
        directories = Vec::new();
        let mut others = Vec::new();
        for listing in listed {
            directories.extend(listing.directories);
            others.extend(listing.others);
            all.sessions.push(listing.sessions);
            all.others.extend(listing.files);
            for (path, error) in listing.skipped {
                skipped(&path, error);
            }
        }
        // The folder of a project can be a link to another disk. Below it, links are not followed: they can form loops.
        let roots = std::mem::take(&mut roots);
        if !roots.is_empty() && !others.is_empty() {
            directories.extend(linked_directories(disk, &roots, others));
        }
    }
}

/// Leaves out each compressed file beside which the client has unpacked it: it writes only to that one.
fn drop_unpacked(sessions: &mut Vec<(Found, Identity)>) {
    if !sessions.iter().any(|(found, _)| is_packed(&found.path)) {
        return;
    }
    let plain: HashSet<PathBuf> =
        sessions.iter().filter(|(found, _)| !is_packed(&found.path)).map(|(found, _)| found.path.clone()).collect();
    sessions.retain(|(found, _)| !is_packed(&found.path) || !plain.contains(&*unpacked_path(&found.path)));
}

/// Returns the links to directories that are in none of the directories of a provider, and to each directory one.
fn linked_directories(disk: &dyn Disk, roots: &[PathBuf], mut entries: Vec<PathBuf>) -> Vec<PathBuf> {
    let roots: Vec<PathBuf> = roots.iter().filter_map(|root| disk.resolve(root).ok()).collect();
    let mut targets = HashSet::new();
    entries.sort();
    entries.retain(|entry| {
        disk.list(entry).is_ok()
            && disk.resolve(entry).is_ok_and(|target| {
                let is_known = |root: &PathBuf| target.starts_with(root) || root.starts_with(&target);
                !roots.iter().any(is_known) && targets.insert(target)
            })
    });
    entries
}

/// Lists the subdirectories and the sessions of a provider in a directory.
fn list_directory(disk: &dyn Disk, provider: &'static dyn ProviderAdapter, directory: PathBuf) -> Listing {
    let mut listing = Listing::default();
    match disk.list(&directory) {
        Ok(entries) => {
            listing.sessions.reserve(entries.len());
            for Entry { path, directory, identity } in entries {
                if directory {
                    listing.directories.push(path);
                } else if let Some(location) = provider.locate(&path) {
                    match identity.map_or_else(|| disk.identify(&path), Ok) {
                        Ok(identity) => listing.sessions.push((Found { provider, path, location }, identity)),
                        Err(error) => listing.skipped.push((path, error)),
                    }
                } else {
                    match identity {
                        Some(identity) => listing.files.push((path, identity)),
                        None => listing.others.push(path),
                    }
                }
            }
            drop_unpacked(&mut listing.sessions);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => listing.skipped.push((directory, error)),
    }
    listing
}

/// Returns the file of the session with an id, among the sessions that the client of the one at `path` stores.
pub(super) fn find_beside(disk: &dyn Disk, provider: &'static dyn ProviderAdapter, path: &Path, id: &str) -> Option<PathBuf> {
    let real = disk.resolve(path).unwrap_or_else(|_| path.to_owned());
    let named = |sessions: Vec<(Found, Identity)>| sessions.into_iter().find(|(found, _)| found.location.id == id);
    let near = real.parent().and_then(|directory| named(list_directory(disk, provider, directory.to_owned()).sessions));
    let anywhere = || {
        let mut all = FoundFiles::default();
        find_in(disk, provider, provider.roots_beside(&real), &mut |_, _| {}, &mut all);
        all.sessions.into_iter().find_map(named)
    };
    near.or_else(anywhere).map(|(found, _)| found.path)
}

/// Returns the sessions of the same client beside the one at `path` whose first row is `wanted`, each with what it says.
pub(super) fn by_first_row<T: Send>(
    disk: &dyn Disk,
    provider: &'static dyn ProviderAdapter,
    path: &Path,
    wanted: &(dyn Fn(&[u8]) -> Option<T> + Sync),
) -> Vec<(Found, T)> {
    let real = disk.resolve(path).unwrap_or_else(|_| path.to_owned());
    let mut roots = provider.roots_beside(&real);
    if roots.is_empty() {
        roots.extend(real.parent().map(Path::to_owned));
    }
    let mut all = FoundFiles::default();
    find_in(disk, provider, roots, &mut |_, _| {}, &mut all);
    let read = |(found, _): (Found, Identity)| {
        let mut head = read_head(disk, &found.path, SNIFF_BYTES).ok()?;
        if !head.contains(&b'\n') {
            head = read_head(disk, &found.path, SNIFF_LONGEST_BYTES).ok()?;
        }
        let said = wanted(head.split(|byte| *byte == b'\n').next()?)?;
        Some((found, said))
    };
    all.sessions.into_par_iter().flatten().filter_map(read).collect()
}

/// Returns the number of leading bytes of the session at `path` that other sessions of the same client continue from.
pub(super) fn inherited_bytes(disk: &dyn Disk, provider: &'static dyn ProviderAdapter, path: &Path, id: &str) -> u64 {
    let inherits = |row: &[u8]| match provider.parse(row).row.event.as_deref() {
        Some(Event::ForkedFrom { session, inherits }) if session == id => *inherits,
        _ => None,
    };
    by_first_row(disk, provider, path, &inherits).into_iter().map(|(_, bytes)| bytes).max().unwrap_or_default()
}

/// Returns the session that `name` identifies: a path, an id or a unique id prefix. Without a name, returns the newest session of
/// the project that contains `directory`.
/// Errors: [`FindError`]: no session, several sessions, or a file that is not a session.
pub fn find(disk: &dyn Disk, places: &Places, directory: &Path, name: Option<&str>) -> Result<Found, FindError> {
    match name {
        // An empty name would resolve to the directory itself.
        Some("") => Err(FindError::Unknown(String::new())),
        Some(name) => {
            let path = directory.join(name);
            match disk.identify(&path) {
                Ok(_) => open_path(disk, path),
                Err(error) if error.kind() == io::ErrorKind::NotFound && is_path(name) => Err(FindError::Missing(path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => by_id(disk, places, name),
                Err(source) => Err(FindError::Unreadable { path, source }),
            }
        }
        None => newest(disk, places, directory),
    }
}

/// Returns true if a name can only be a file name: ids have neither separators nor dots.
fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

/// Returns the sessions in a folder, detected by their content, without those in folders below; of other files at most `most` are read.
pub fn find_in_folder(disk: &dyn Disk, folder: &Path, most: usize) -> Vec<(Found, Identity)> {
    let mut files: Vec<PathBuf> = disk.list(folder).unwrap_or_default().into_iter().map(|entry| entry.path).collect();
    files.retain(|path| unpacked_path(path).extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let mut found = Vec::new();
    let mut others = 0;
    for path in files {
        match (open_path(disk, path.clone()), disk.identify(&path)) {
            (Ok(session), Ok(identity)) => found.push((session, identity)),
            _ => others += 1,
        }
        if others > most {
            break;
        }
    }
    found
}

fn open_path(disk: &dyn Disk, path: PathBuf) -> Result<Found, FindError> {
    if disk.list(&path).is_ok() {
        return Err(FindError::NotASession { path, what: "a directory: name one of its files, or use -C".to_owned() });
    }
    let read = |length| read_head(disk, &path, length).map_err(|source| FindError::Unreadable { path: path.clone(), source });
    let mut head = read(SNIFF_BYTES)?;
    if head.len() == SNIFF_BYTES && !head.contains(&b'\n') {
        // A first row this long is a paste; the format can be detected from whole rows only.
        head = read(SNIFF_LONGEST_BYTES)?;
    }
    let mut kind = sniff(&head);
    if head.len() == SNIFF_BYTES && !matches!(kind, FileKind::Session(_)) && head.trim_ascii_start().starts_with(b"{") {
        // A JSON document in several lines can be detected as a whole only.
        head = read(SNIFF_LONGEST_BYTES)?;
        kind = sniff(&head);
    }
    let provider = if let FileKind::Session(name) = kind { provider::by_name(name) } else { None };
    match provider {
        Some(provider) => {
            let real = disk.resolve(&path).unwrap_or_else(|_| path.clone());
            let name = || unpacked_path(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let location = provider.locate(&real).unwrap_or_else(|| Location::of_id(name()));
            Ok(Found { provider, path, location })
        }
        None => Err(FindError::NotASession { path, what: looks_like(kind) }),
    }
}

/// Describes a detected format that is not a session.
pub fn looks_like(format: FileKind) -> String {
    match format {
        FileKind::Session(name) => format!("a session of {name}"),
        FileKind::Known(what) => format!("not a session that aperture supports: it looks like {what}"),
        FileKind::Empty => "empty: no session yet".to_owned(),
        FileKind::Unknown => "not a session: none of its first lines has a known format".to_owned(),
    }
}

fn by_id(disk: &dyn Disk, places: &Places, prefix: &str) -> Result<Found, FindError> {
    let mut found = all(disk, places)?;
    let place = place_of_id(found.iter().map(|(found, identity)| (&*found.location.id, identity.modified)), prefix)?;
    place.map(|place| found.swap_remove(place).0).ok_or_else(|| FindError::Unknown(prefix.to_owned()))
}

/// Returns the place of the session with an id, or else of the only one whose id starts with a prefix; `None` if there is none. Each id
/// has the time of its last change.
/// Errors: several sessions have the prefix.
pub(super) fn place_of_id<'i>(
    ids: impl Iterator<Item = (&'i str, i128)> + Clone,
    prefix: &str,
) -> Result<Option<usize>, FindError> {
    if let Some(exact) = ids.clone().position(|(id, _)| id == prefix) {
        return Ok(Some(exact));
    }
    let mut begin: Vec<_> = ids.enumerate().filter(|(_, (id, _))| !prefix.is_empty() && id_starts_with(id, prefix)).collect();
    if begin.len() > 1 {
        begin.sort_by_key(|(_, (_, modified))| std::cmp::Reverse(*modified));
        let candidates = begin.into_iter().map(|(_, (id, _))| id.to_owned()).collect();
        return Err(FindError::Ambiguous { prefix: prefix.to_owned(), candidates });
    }
    Ok(begin.first().map(|(place, _)| *place))
}

fn all(disk: &dyn Disk, places: &Places) -> Result<Vec<(Found, Identity)>, FindError> {
    let mut first_error = None;
    let found = find_all(disk, places, &mut |path, source| {
        first_error.get_or_insert_with(|| FindError::Unreadable { path: path.to_owned(), source });
    });
    match first_error {
        Some(error) if found.is_empty() => Err(error),
        _ if found.is_empty() => Err(FindError::NoSessions(roots(places))),
        _ => Ok(found),
    }
}

/// Returns the newest session of the project at a directory or at its nearest ancestor with sessions. A directory that does not exist
/// has only its own: its name may be a mistake, and the session of another project must not be taken for it.
fn newest(disk: &dyn Disk, places: &Places, directory: &Path) -> Result<Found, FindError> {
    let directories = if disk.resolve(directory).is_ok() { usize::MAX } else { 1 };
    let projects: Vec<Project> =
        absolute(disk, directory).ancestors().take(directories).map(|directory| Project::at(disk, directory)).collect();
    let mut found = all(disk, places)?;
    found.retain(|(found, identity)| !found.location.subagent && identity.bytes > 0);
    found.sort_by(|(a, of_a), (b, of_b)| of_b.modified.cmp(&of_a.modified).then_with(|| a.path.cmp(&b.path)));
    let mut nearest: Option<(usize, Found)> = None;
    // The newest ones first: mostly one of them is of the project, and no other file is read.
    for files in found.chunks(NEWEST_FILES) {
        let place = |(found, _): &(Found, Identity)| {
            let stated = stated(disk, found);
            projects.iter().position(|project| project.holds(disk, found, stated.as_deref()))
        };
        let places: Vec<Option<usize>> = files.par_iter().map(place).collect();
        for (place, (found, _)) in places.into_iter().zip(files) {
            if let Some(place) = place.filter(|place| nearest.as_ref().is_none_or(|(nearest, _)| place < nearest)) {
                nearest = Some((place, found.clone()));
            }
        }
        if nearest.as_ref().is_some_and(|(place, _)| *place == 0) {
            break;
        }
    }
    nearest.map(|(_, found)| found).ok_or_else(|| FindError::NoneHere(directory.to_owned()))
}
