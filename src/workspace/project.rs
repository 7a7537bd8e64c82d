//! Finds the project that a session belongs to.

use super::find::Found;
use crate::fsio::{Disk, read_head};
use crate::model::limits::SNIFF_BYTES;
use std::path::{Path, PathBuf};

/// Maximum number of rows at the start of a session that are searched for its project.
const PROJECT_ROWS: usize = 20;

/// A project: its name in session paths, and its directory. Unknown values are empty.
#[derive(Clone, Debug)]
pub struct Project {
    name: String,
    directory: PathBuf,
}

impl Project {
    /// Returns the project in a directory.
    pub fn at(disk: &dyn Disk, directory: &Path) -> Project {
        Project { name: String::new(), directory: disk.resolve(directory).unwrap_or_else(|_| directory.to_owned()) }
    }

    /// Returns the project that a session belongs to.
    pub fn of_session(disk: &dyn Disk, found: &Found) -> Project {
        Project { name: found.location.project.clone(), directory: stated(disk, found).unwrap_or_default() }
    }

    /// Returns true if a session belongs to the project, according to its path or, if the path does not name a project, to the
    /// directory that is `stated` in its file. A subagent session belongs to the project of the session that started it.
    pub fn holds(&self, found: &Found, stated: impl FnOnce() -> Option<PathBuf>) -> bool {
        let name = &found.location.project;
        if name.is_empty() {
            return !self.directory.as_os_str().is_empty() && stated().as_ref() == Some(&self.directory);
        }
        if !self.name.is_empty() {
            return *name == self.name;
        }
        found.provider.project_directory(Path::new(""), &self.directory).is_some_and(|own| own == Path::new(name))
    }
}

/// Returns the directory that one of the first rows of a session names; `None` if there is none, or the file is missing.
pub fn stated(disk: &dyn Disk, found: &Found) -> Option<PathBuf> {
    let head = read_head(disk, &found.path, SNIFF_BYTES).ok()?;
    let rows = head.split(|byte| *byte == b'\n').take(PROJECT_ROWS);
    rows.filter_map(|row| found.provider.parse(row).origin[1].as_deref().map(PathBuf::from)).next()
}
