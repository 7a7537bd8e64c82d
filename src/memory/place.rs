//! The directories of memory trees, and the project that a directory belongs to.

use super::MemoryError;
use crate::fsio::{Disk, read_head};
use crate::model::MemoryScope;
use crate::provider::{PROVIDERS, Places};
use crate::workspace::{absolute, find_in_folder, stated};
use std::path::{Path, PathBuf};

/// The directory of a tree in its project.
pub const IN_PROJECT: &str = ".aperture/memory";
/// Directory of all trees among the data of aperture.
const TREES: &str = "memory";
/// Files in a directory that are read, and are not sessions, until it counts as another kind of directory.
const OTHER_FILES: usize = 4;
/// Maximum size of the file by which a worktree names its repository, in bytes.
const LINK_BYTES: usize = 4 << 10;
/// Hexadecimal digits of the hash in the name of a project's tree.
const HASH_DIGITS: usize = 8;

/// The place of a memory tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePlace {
    /// Its directory, which may not exist yet.
    pub directory: PathBuf,
    pub scope: MemoryScope,
    /// True if its files are accessible to their owner only: it is among the data of aperture, not in a project.
    pub is_private: bool,
}

/// A project, as memories know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryProject {
    /// Its root directory; of a folder of sessions whose project does not exist here, that folder.
    pub root: PathBuf,
    /// A folder of sessions of a client, if it was named instead of the project.
    pub sessions: Option<PathBuf>,
}

impl MemoryProject {
    /// Returns the project of a directory: the nearest one above it with memories or a repository, or the directory itself. All worktrees
    /// of a repository are its main checkout, and a folder of sessions is that of its project, if these exist.
    pub fn find(disk: &dyn Disk, places: &Places, data: &Path, directory: &Path) -> MemoryProject {
        let directory = absolute(disk, directory);
        if is_folder_of_sessions(disk, places, &directory) {
            let root = project_of_folder(disk, &directory).unwrap_or_else(|| directory.clone());
            return MemoryProject { root, sessions: Some(directory) };
        }
        let own = MemoryProject { root: directory.clone(), sessions: None };
        // A directory that was moved is not part of a project above it: it had a tree of its own.
        if !exists(disk, &directory) && exists(disk, &own.tree_in_data(data).directory) {
            return own;
        }
        MemoryProject { root: root_of(disk, data, &directory), sessions: None }
    }

    /// Returns true if a directory is a part of the project: it is in its repository or in a worktree of this. Of a root that does not
    /// exist here, every directory below is.
    pub fn has_part(&self, disk: &dyn Disk, data: &Path, directory: &Path) -> bool {
        let directory = absolute(disk, directory);
        if exists(disk, &self.root) { root_of(disk, data, &directory) == self.root } else { directory.starts_with(&self.root) }
    }

    /// Returns the place of the project's tree: in the project if there is one, else among the data of aperture.
    pub fn tree(&self, disk: &dyn Disk, data: &Path) -> TreePlace {
        let own = self.root.join(IN_PROJECT);
        if has_tree(disk, data, &self.root) { TreePlace::in_project(own) } else { self.tree_in_data(data) }
    }

    /// Returns the directory that all worktrees of the project's repository have in common: that of its main checkout, if git names one.
    pub fn main_checkout(&self, disk: &dyn Disk) -> PathBuf {
        main_checkout(disk, &self.root)
    }

    pub fn tree_in_project(&self) -> TreePlace {
        TreePlace::in_project(self.root.join(IN_PROJECT))
    }

    /// Returns the place of the project's tree among the data of aperture.
    pub fn tree_in_data(&self, data: &Path) -> TreePlace {
        let directory = data.join(TREES).join("projects").join(slug(&self.root));
        TreePlace { directory, scope: MemoryScope::Project, is_private: true }
    }
}

impl TreePlace {
    fn in_project(directory: PathBuf) -> TreePlace {
        TreePlace { directory, scope: MemoryScope::Project, is_private: false }
    }

    pub fn of_user(data: &Path) -> TreePlace {
        TreePlace { directory: data.join(TREES).join("user"), scope: MemoryScope::User, is_private: true }
    }

    /// Returns the name of the tree in the log.
    pub fn key(&self, disk: &dyn Disk) -> String {
        absolute(disk, &self.directory).to_string_lossy().into_owned()
    }

    /// Returns true if the entries of the tree are the user's: it is among the data of aperture, or the user accepted it on this machine.
    /// Those of a repository are words of strangers until then.
    pub fn is_accepted(&self, disk: &dyn Disk, data: &Path) -> bool {
        self.is_private || exists(disk, &self.acceptance(disk, data))
    }

    /// Records that the user accepts the tree.
    pub fn accept(&self, disk: &dyn Disk, data: &Path) -> Result<(), MemoryError> {
        let path = self.acceptance(disk, data);
        if self.is_accepted(disk, data) {
            return Ok(());
        }
        disk.make(&path, true).map_err(MemoryError::of("write", &path))
    }

    fn acceptance(&self, disk: &dyn Disk, data: &Path) -> PathBuf {
        data.join(TREES).join("accepted").join(self.hash(disk))
    }

    /// Returns the path of the lock of the tree, among the data of aperture.
    pub(super) fn lock(&self, disk: &dyn Disk, data: &Path) -> PathBuf {
        data.join("locks").join(format!("memory-{}", self.hash(disk)))
    }

    fn hash(&self, disk: &dyn Disk) -> String {
        blake3::hash(self.key(disk).as_bytes()).to_hex()[..32].to_owned()
    }
}

/// Returns true if a directory has a tree that is not the one among the data of aperture. Without a file it is none: undoing the
/// operation that began it leaves empty directories.
fn has_tree(disk: &dyn Disk, data: &Path, directory: &Path) -> bool {
    let tree = directory.join(IN_PROJECT);
    let is_data = || disk.resolve(&tree).ok() == disk.resolve(&data.join(TREES)).ok();
    has_file(disk, &tree) && !is_data()
}

fn has_file(disk: &dyn Disk, directory: &Path) -> bool {
    let entries = disk.list(directory).unwrap_or_default();
    entries.iter().any(|entry| !entry.directory) || entries.iter().any(|entry| has_file(disk, &entry.path))
}

fn root_of(disk: &dyn Disk, data: &Path, directory: &Path) -> PathBuf {
    // The last ancestor of a relative path is the directory in which aperture runs.
    let mut above = directory.ancestors().filter(|above| !above.as_os_str().is_empty());
    let with_tree = above.clone().find(|above| has_tree(disk, data, above));
    let with_repository = || {
        let root = above.find(|above| exists(disk, &above.join(".git")))?;
        // A bare repository has no checkout.
        Some(main_checkout(disk, root)).filter(|main| exists(disk, &main.join(".git"))).or_else(|| Some(root.to_owned()))
    };
    with_tree.map(Path::to_owned).or_else(with_repository).unwrap_or_else(|| directory.to_owned())
}

fn main_checkout(disk: &dyn Disk, root: &Path) -> PathBuf {
    let linked = read_head(disk, &root.join(".git"), LINK_BYTES).unwrap_or_default();
    let linked = String::from_utf8_lossy(&linked).lines().find_map(|line| Some(line.strip_prefix("gitdir: ")?.to_owned()));
    let folder = linked.map(|linked| absolute(disk, &root.join(linked.trim())));
    let worktrees = folder.as_deref().and_then(Path::parent).filter(|folder| folder.ends_with("worktrees"));
    worktrees.and_then(|folder| folder.parent()?.parent()).unwrap_or(root).to_owned()
}

fn exists(disk: &dyn Disk, path: &Path) -> bool {
    disk.identify(path).is_ok()
}

/// Returns true if a directory is one in which a client keeps sessions, or below.
pub(super) fn is_of_client(disk: &dyn Disk, places: &Places, directory: &Path) -> bool {
    let roots = PROVIDERS.iter().flat_map(|provider| provider.roots(places));
    roots.into_iter().any(|root| disk.resolve(&root).is_ok_and(|root| directory.starts_with(root)))
}

/// Returns true if a directory holds sessions of a client: it is one of its directories of sessions or below, or has sessions in it.
fn is_folder_of_sessions(disk: &dyn Disk, places: &Places, directory: &Path) -> bool {
    is_of_client(disk, places, directory)
        || (!exists(disk, &directory.join(".git")) && !find_in_folder(disk, directory, OTHER_FILES).is_empty())
}

/// Returns the project of a folder of sessions that is named after it; `None` if it does not exist here.
fn project_of_folder(disk: &dyn Disk, folder: &Path) -> Option<PathBuf> {
    let found = find_in_folder(disk, folder, OTHER_FILES);
    let newest = found.iter().max_by_key(|(_, identity)| identity.modified)?;
    let project = stated(disk, &newest.0)?;
    let own = newest.0.provider.project_directory(folder.parent()?, &project)?;
    (own == folder && exists(disk, &project)).then_some(project)
}

/// Returns the name of a project's tree: its directory name, and a hash of its path.
fn slug(root: &Path) -> String {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).take(60).collect();
    let plain = plain.trim_matches('.');
    format!("{}-{}", if plain.is_empty() { "project" } else { plain }, &hash.as_str()[..HASH_DIGITS])
}
