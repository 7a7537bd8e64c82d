//! Copies of sessions that outlive the files of their clients: made before a client deletes a session, found, and restored byte for byte.
//!
//! The folder has the paths of the clients, so that a copy is found and read as a session: `CLIENT/ROOT/…/ID.jsonl.zst`. The files beside
//! a session are copied in the same way. A file is copied again when it changed. A copy whose content the file no longer begins with is
//! moved to `older/`, with a hash in its name, so that no byte is lost.

mod copy;
mod restore;
#[cfg(test)]
mod tests;

pub use copy::{CopyOutcome, CopyState, older_path};
pub use restore::{Restoration, RestoredState};

use super::find::{Found, FoundFiles, find_files, find_in};
use super::parts::shared_parts;
use crate::fsio::{Disk, Entry, Identity, if_exists, is_packed, packed_path, unpacked_path};
use crate::model::limits::DAY_MILLISECONDS;
use crate::provider::{PROVIDERS, Places, ProviderAdapter};
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The folder of the copies in aperture's data directory.
const FOLDER: &str = "kept";
/// The folder in it for copies that newer ones do not contain.
const OLDER: &str = "older";
/// The ending of a copy that is being written.
const TEMPORARY: &str = ".aperture.zst";

/// The reason why a session was not copied or not restored.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("{} is not in a directory in which its client keeps sessions", .0.display())]
    Elsewhere(PathBuf),
    #[error("{} exists with another content", .0.display())]
    Exists(PathBuf),
    #[error("a process has {} open for writing", .0.display())]
    HeldOpen(PathBuf),
    #[error("the copy {} cannot be read", .0.display())]
    Damaged(PathBuf, #[source] io::Error),
    #[error("the number of older copies is {0}")]
    NoSuchCopy(usize),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The kept copies of sessions.
pub struct KeptCopies<'a> {
    disk: &'a dyn Disk,
    places: &'a Places,
    directory: PathBuf,
}

/// Returns the folder of the copies in the data directory of aperture.
pub fn kept_folder(data: &Path) -> PathBuf {
    data.join(FOLDER)
}

/// Returns the number of days until a client deletes a file that was last changed at `modified`, in nanoseconds since 1970, if it deletes
/// files after `retention` days; `now` is in milliseconds since 1970. 0 if it does when it starts next.
pub fn days_left(modified: i128, retention: u32, now: i64) -> u32 {
    let day = i128::from(DAY_MILLISECONDS);
    let left = modified / 1_000_000 + i128::from(retention) * day - i128::from(now);
    u32::try_from((left + day - 1).div_euclid(day).max(0)).unwrap_or(u32::MAX)
}

impl<'a> KeptCopies<'a> {
    pub fn new(disk: &'a dyn Disk, places: &'a Places, data: &Path) -> KeptCopies<'a> {
        KeptCopies { disk, places, directory: kept_folder(data) }
    }

    /// Returns the directory of the copies, which may not exist.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the number of days without a change after which a client deletes a session; `None` if it deletes none.
    pub fn retention_days(&self, provider: &dyn ProviderAdapter) -> Option<u32> {
        let mut settings = Vec::new();
        // Settings that cannot be read have the default, for the client as well.
        if let Ok(mut file) = self.disk.open(&provider.settings_file(self.places)?, 0)
            && file.read_to_end(&mut settings).is_err()
        {
            settings.clear();
        }
        provider.retention_days(&settings)
    }

    /// Returns the copies of all sessions with the states of their files, subagents included, in no particular order.
    pub fn all(&self) -> Vec<(Found, Identity)> {
        self.files_of_all().sessions.into_iter().flatten().collect()
    }

    /// Same as [`KeptCopies::all`], with the copies of the files beside them.
    fn files_of_all(&self) -> FoundFiles {
        find_files(self.disk, &|provider| vec![self.directory.join(provider.name())], &mut |_, _| {})
    }

    /// Returns the copies of sessions whose files no longer exist, under any name.
    pub fn orphans(&self) -> Vec<(Found, Identity)> {
        self.files_of_orphans().sessions.into_iter().flatten().collect()
    }

    /// Same as [`KeptCopies::orphans`], with the copies of files beside sessions.
    pub fn files_of_orphans(&self) -> FoundFiles {
        let FoundFiles { sessions, others } = self.files_of_all();
        let mut orphans: Vec<(Found, Identity)> = sessions.into_iter().flatten().collect();
        orphans.retain(|(found, _)| self.original_path(found.provider, &found.path).is_some_and(|path| !self.exists(&path)));
        // A client can move a session from one of its directories to another.
        for provider in PROVIDERS.iter().filter(|provider| provider.roots(self.places).len() > 1) {
            if !orphans.iter().any(|(found, _)| found.provider.name() == provider.name()) {
                continue;
            }
            let mut all = FoundFiles::default();
            find_in(self.disk, *provider, provider.roots(self.places), &mut |_, _| {}, &mut all);
            let ids: HashSet<String> = all.sessions.into_iter().flatten().map(|(found, _)| found.location.id).collect();
            orphans.retain(|(found, _)| found.provider.name() != provider.name() || !ids.contains(&found.location.id));
        }
        FoundFiles { sessions: vec![orphans], others }
    }

    /// Returns true if a file exists, as the client writes it or compressed by it.
    fn exists(&self, path: &Path) -> bool {
        let is_missing = |path: &Path| matches!(if_exists(self.disk.identify(path)), Ok(None));
        !is_missing(path) || !is_missing(&packed_path(path))
    }

    /// Returns the path of the copy of a client's file; `None` if it is in no directory of the client.
    pub fn copy_path(&self, provider: &dyn ProviderAdapter, path: &Path) -> Option<PathBuf> {
        let roots = provider.roots(self.places);
        let below = |path: &Path, root: &Path, name: &Path| {
            let below = path.strip_prefix(root).ok()?;
            Some(self.directory.join(provider.name()).join(name.file_name()?).join(below))
        };
        let real = |root: &PathBuf| below(&self.disk.resolve(path).ok()?, &self.disk.resolve(root).ok()?, root);
        let copy = roots.iter().find_map(|root| below(path, root, root)).or_else(|| roots.iter().find_map(real))?;
        Some(if is_packed_session(provider, path) { copy } else { packed_path(&copy) })
    }

    /// Returns the path at which the client has the file of a copy; `None` if it has none there.
    pub fn original_path(&self, provider: &dyn ProviderAdapter, copy: &Path) -> Option<PathBuf> {
        let below = copy.strip_prefix(self.directory.join(provider.name())).ok()?;
        let name = below.components().next()?;
        let root = provider.roots(self.places).into_iter().find(|root| root.file_name() == Some(name.as_os_str()))?;
        Some(root.join(unpacked_path(below.strip_prefix(name).ok()?)))
    }

    /// Returns the directories with the files beside a session, or beside its copy; they need not exist.
    fn directories_beside(found: &Found) -> [Option<PathBuf>; 2] {
        let provider = found.provider;
        [provider.companions_directory(&found.path), provider.memory_directory(&found.path)]
    }

    /// Returns the files of a session, or of its copy: its own, those beside it, and, separately, those of its project.
    fn files(&self, found: &Found) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let [beside, memory] = KeptCopies::directories_beside(found)
            .map(|directory| directory.map_or(Ok(Vec::new()), |directory| self.files_in(directory)));
        let shared = shared_parts(&found.path).into_iter().filter(|part| self.disk.identify(part).is_ok());
        Ok((std::iter::once(found.path.clone()).chain(beside?).collect(), memory?.into_iter().chain(shared).collect()))
    }

    /// Returns the regular files in a directory and below it, sorted.
    fn files_in(&self, directory: PathBuf) -> io::Result<Vec<PathBuf>> {
        let (mut files, mut directories) = (Vec::new(), vec![directory]);
        while let Some(directory) = directories.pop() {
            for Entry { path, directory, identity } in if_exists(self.disk.list(&directory))?.unwrap_or_default() {
                if directory {
                    directories.push(path);
                } else if identity.is_some() && !is_temporary(&path) {
                    files.push(path);
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// Returns the older copies of a session, or of another file of the client, by its copy: those with contents that the copy does not
    /// contain, newest first.
    pub fn older(&self, copy: &Path) -> Vec<PathBuf> {
        let Some((directory, name)) = self.older_place(copy) else { return Vec::new() };
        let entries = self.disk.list(&directory).unwrap_or_default();
        let is_of_copy = |path: &Path| {
            let hash =
                path.file_name().and_then(|file| file.to_str()?.strip_prefix(&name)?.strip_suffix(".zst").map(str::to_owned));
            hash.is_some_and(|hash| hash.len() == copy::HASH_CHARACTERS && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        let mut older: Vec<(i128, PathBuf)> = entries
            .into_iter()
            .filter(|entry| is_of_copy(&entry.path))
            .filter_map(|entry| Some((entry.identity?.modified, entry.path)))
            .collect();
        older.sort_by(|a, b| b.cmp(a));
        older.into_iter().map(|(_, path)| path).collect()
    }

    /// Returns the directory of the older copies of a file, and the beginning of their names.
    fn older_place(&self, copy: &Path) -> Option<(PathBuf, String)> {
        let below = copy.strip_prefix(&self.directory).ok()?;
        let name = unpacked_path(below).file_name()?.to_string_lossy().into_owned();
        Some((self.directory.join(OLDER).join(below.parent()?), name + "."))
    }

    /// Deletes the copies of a session and of the files beside it, older ones included; `found` is the copy. The memory of the project
    /// stays. Returns the number of deleted files.
    pub fn forget(&self, found: &Found) -> io::Result<usize> {
        let files = self.own_copies(found)?;
        for file in &files {
            self.disk.remove(file)?;
            self.disk.sync_directory(file.parent().unwrap_or(file))?;
        }
        Ok(files.len())
    }

    /// Returns the number and the size of the copies of a session, older ones included and without the memory of the project; `found` is
    /// the copy.
    pub fn size(&self, found: &Found) -> io::Result<(usize, u64)> {
        let files = self.own_copies(found)?;
        let bytes = files.iter().filter_map(|file| Some(self.disk.identify(file).ok()?.bytes)).sum();
        Ok((files.len(), bytes))
    }

    /// Returns the number of copies of a session and of the files beside it, older ones included, whose contents are meant; `found` is
    /// the session. One that cannot be read counts.
    pub fn copies_with(&self, found: &Found, is_meant: &dyn Fn(&[u8]) -> bool) -> usize {
        let Some(path) = self.copy_path(found.provider, &found.path) else { return 0 };
        let copies = self.own_copies(&Found { path, ..found.clone() }).unwrap_or_default();
        let holds = |copy: &&PathBuf| {
            let mut content = Vec::new();
            match if_exists(self.disk.open_written(copy).and_then(|mut file| file.read_to_end(&mut content))) {
                Ok(read) => read.is_some() && is_meant(&content),
                Err(_) => true,
            }
        };
        copies.iter().filter(holds).count()
    }

    /// The file of the session comes last, so that an interrupted deletion can be repeated.
    fn own_copies(&self, found: &Found) -> io::Result<Vec<PathBuf>> {
        let files = self.files(found)?.0;
        Ok(files.into_iter().flat_map(|file| [vec![file.clone()], self.older(&file)].concat()).rev().collect())
    }
}

/// Returns true if a file is a session that its client has compressed: its content is copied, not its bytes.
fn is_packed_session(provider: &dyn ProviderAdapter, path: &Path) -> bool {
    is_packed(path) && provider.locate(path).is_some()
}

/// Returns true if a file is a copy that was not completed.
fn is_temporary(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with('.') && name.ends_with(TEMPORARY))
}
