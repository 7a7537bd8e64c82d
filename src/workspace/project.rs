//! Finds the project that a session belongs to: by the directory that the session records, because clients give one folder to
//! several directories. A session that records a directory without this folder was put there, as after a project is moved: it belongs
//! where the client continues it. The folder counts for one that records no directory that has it.

use super::find::{Found, find_all};
use crate::fsio::{Disk, is_packed, packed_path, read_range};
use crate::model::limits::{SNIFF_BYTES, SNIFF_LONGEST_BYTES};
use crate::model::paths::{is_windows, same_form};
use crate::model::request_id;
use crate::provider::{Places, ProviderAdapter};
use rayon::prelude::*;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A project: its directory, under all names under which it is known.
#[derive(Debug)]
pub struct Project {
    directories: Vec<PathBuf>,
    /// The folder of a session that was put there, or records no directory.
    folder: Option<String>,
    /// The recorded directories that were compared, and whether each is that of the project or below it.
    compared: Mutex<HashMap<PathBuf, Relation>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Same,
    Below,
    Other,
}

impl Project {
    /// Returns the project in a directory, which may not exist any more.
    pub fn at(disk: &dyn Disk, directory: &Path) -> Project {
        let mut directories = vec![same_form(directory), absolute(disk, directory)];
        directories.dedup();
        Project { directories, folder: None, compared: Mutex::default() }
    }

    pub fn of_session(disk: &dyn Disk, found: &Found) -> Project {
        let stated = stated(disk, found);
        match continued(disk, found, stated.as_deref()).or(stated) {
            Some(directory) => Project { folder: placed(found, Some(&directory)), ..Project::at(disk, &directory) },
            None => Project { directories: Vec::new(), folder: placed(found, None), compared: Mutex::default() },
        }
    }

    /// Returns true if a session belongs to the project, according to the directory that is `stated` in its file or, if it states
    /// none, to the folder that it lies in.
    pub fn holds(&self, disk: &dyn Disk, found: &Found, stated: Option<&Path>) -> bool {
        let is_same = |directory: &Path| self.relation(disk, directory) == Relation::Same;
        stated.is_some_and(is_same) || self.has_put(disk, found, stated, &is_same)
    }

    /// As [`Project::holds`], or the session was started in a directory below that of the project.
    pub fn covers(&self, disk: &dyn Disk, found: &Found, stated: Option<&Path>) -> bool {
        let is_inside = |directory: &Path| self.relation(disk, directory) != Relation::Other;
        stated.is_some_and(is_inside) || self.has_put(disk, found, stated, &is_inside)
    }

    pub fn has_sessions(&self, disk: &dyn Disk, places: &Places) -> bool {
        let found = find_all(disk, places, &mut |_, _| {});
        found.par_iter().any(|(found, _)| self.holds(disk, found, stated(disk, found).as_deref()))
    }

    /// Returns true if a session was put into the folder of the project, and is not continued in another one with this folder.
    fn has_put(&self, disk: &dyn Disk, found: &Found, stated: Option<&Path>, is_own: &dyn Fn(&Path) -> bool) -> bool {
        let has = |folder: &String| {
            self.folder.as_ref() == Some(folder) || self.directories.iter().any(|directory| is_folder_of(found, directory))
        };
        placed(found, stated).as_ref().is_some_and(has)
            && continued(disk, found, stated).is_none_or(|directory| is_own(&directory))
    }

    fn relation(&self, disk: &dyn Disk, directory: &Path) -> Relation {
        let known = self.compared.lock().unwrap_or_else(PoisonError::into_inner).get(directory).copied();
        known.unwrap_or_else(|| {
            let names = [same_form(directory), absolute(disk, directory)];
            let is =
                |test: &dyn Fn(&Path, &Path) -> bool| names.iter().any(|name| self.directories.iter().any(|own| test(name, own)));
            let relation = match () {
                () if is(&|name, own| name == own) => Relation::Same,
                () if is(&is_below) => Relation::Below,
                () => Relation::Other,
            };
            self.compared.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned(), relation);
            relation
        })
    }
}

/// Returns the folder of a session if it is not that of the directory that the session states; `None` if the client has no folders.
fn placed(found: &Found, stated: Option<&Path>) -> Option<String> {
    let is_own = stated.is_some_and(|directory| is_folder_of(found, directory));
    Some(found.location.project.clone()).filter(|folder| !folder.is_empty() && !is_own)
}

/// Returns the directory in which a session is continued that was put into its folder: the last one that its rows name and that has
/// this folder; `None` if they name none, or the session began there.
fn continued(disk: &dyn Disk, found: &Found, stated: Option<&Path>) -> Option<PathBuf> {
    stated.filter(|stated| placed(found, Some(stated)).is_some())?;
    let main = main_session(found).filter(|main| disk.identify(main).is_ok());
    let path = main.as_ref().unwrap_or(&found.path);
    let bytes = disk.identify(path).ok()?.bytes;
    let length = bytes.min(SNIFF_BYTES as u64);
    let tail = read_range(disk, path, bytes - length, length as usize).ok()?;
    tail.rsplit(|byte| *byte == b'\n').find_map(|row| {
        let named = found.provider.parse(row).origin[1].take()?;
        Some(PathBuf::from(&*named)).filter(|directory| is_folder_of(found, directory))
    })
}

/// Returns true if the client keeps the sessions of a directory in the folder of a session.
fn is_folder_of(found: &Found, directory: &Path) -> bool {
    let folder = found.provider.project_directory(Path::new(""), directory);
    folder.is_some_and(|folder| folder == Path::new(&found.location.project))
}

/// Returns true if a directory is below another one; paths of Windows are compared on any system.
fn is_below(directory: &Path, above: &Path) -> bool {
    directory.starts_with(above)
        || is_windows(above)
            && directory.to_str().zip(above.to_str()).is_some_and(|(directory, above)| {
                directory.strip_prefix(above.trim_end_matches('\\')).is_some_and(|rest| rest.starts_with('\\'))
            })
}

/// Returns the directory that a user names, relative to another one. A path of Windows is absolute on any system, because sessions
/// of other machines are read too.
pub fn named_directory(disk: &dyn Disk, base: &Path, name: &Path) -> PathBuf {
    let joined = base.join(name);
    if is_windows(name) && disk.identify(&joined).is_err() { name.to_owned() } else { joined }
}

/// Returns the canonical path of a directory that may not exist: that of the nearest existing one above it, and the rest.
pub fn absolute(disk: &dyn Disk, directory: &Path) -> PathBuf {
    let existing = directory.ancestors().filter(|_| directory.is_absolute());
    let above = existing.into_iter().find_map(|above| Some((disk.resolve(above).ok()?, directory.strip_prefix(above).ok()?)));
    let canonical = above.map(|(above, rest)| if rest.as_os_str().is_empty() { above } else { above.join(rest) });
    same_form(canonical.as_deref().unwrap_or(directory))
}

/// Returns the directory in which a session was started: the first one that its rows name. A subagent belongs where the session does
/// that started it, also if it works in a directory of its own. `None` if no row names one, or the file is missing.
pub fn stated(disk: &dyn Disk, found: &Found) -> Option<PathBuf> {
    if request_id(&found.path).is_some() {
        return None;
    }
    let directory = |path: &Path| first_named(disk, found.provider, path, 1).map(PathBuf::from);
    main_session(found).and_then(|main| directory(&main)).or_else(|| directory(&found.path))
}

/// Returns the file of the session that started a subagent, whose path is beside the folder of its subagents.
pub(super) fn main_session(found: &Found) -> Option<PathBuf> {
    let parent = found.location.parent.as_ref()?;
    let folder = found.path.ancestors().find(|above| above.file_name().is_some_and(|name| name == parent.as_str()))?;
    let main = folder.with_file_name(format!("{parent}.jsonl"));
    Some(if is_packed(&found.path) { packed_path(&main) } else { main })
}

/// Returns the id of the session that the first row of a file names.
pub(super) fn named_session(disk: &dyn Disk, found: &Found) -> Option<String> {
    first_named(disk, found.provider, &found.path, 0)
}

/// Returns a part of the origin of rows, by its place, from the first row of a file that names it.
fn first_named(disk: &dyn Disk, provider: &dyn ProviderAdapter, path: &Path, place: usize) -> Option<String> {
    let mut rows = BufReader::new(disk.open(path, 0).ok()?.take(SNIFF_LONGEST_BYTES as u64));
    let mut row = Vec::new();
    while rows.read_until(b'\n', &mut row).ok()? > 0 {
        let named = provider.parse(row.trim_ascii_end()).origin[place].take().filter(|named| !named.is_empty());
        if let Some(named) = named {
            return Some(named.into_owned());
        }
        row.clear();
    }
    None
}
