//! Restores the files of a session from its copies.

use super::copy::{Common, compare, older_path, private};
use super::{KeepError, KeptCopies};
use crate::fsio::{if_exists, packed_path, write_whole};
use crate::model::words;
use crate::provider::ProviderAdapter;
use crate::workspace::Found;
use crate::workspace::parts::is_in_database;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file of a session that is restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredFile {
    pub path: PathBuf,
    pub state: RestoredState,
}

words! {
    /// The way in which a file is restored.
    pub enum RestoredState {
        /// It did not exist, and was written.
        Written = "written",
        /// It was replaced, after its content was kept.
        Replaced = "replaced",
        /// It exists with this content.
        Same = "same",
        /// A memory of the project that has another content today, which stays.
        Newer = "newer",
    }
}

/// The files of a session that are restored, each with its copy and the one that has its content.
pub struct Restoration {
    provider: &'static dyn ProviderAdapter,
    steps: Vec<(PathBuf, PathBuf, RestoredFile)>,
}

impl Restoration {
    pub fn files(&self) -> impl Iterator<Item = &RestoredFile> {
        self.steps.iter().map(|(.., file)| file)
    }
}

impl KeptCopies<'_> {
    /// Returns the files of a session with the places where the client has them; `found` is the copy. Nothing is written. With `older`, the
    /// session gets the content of the older copy with this number, from 1. With `force`, files with other contents are replaced. Files
    /// of the project's memory that exist are never replaced.
    /// Errors: a file exists with another content. A copy cannot be read.
    pub fn restoration(&self, found: &Found, older: Option<usize>, force: bool) -> Result<Restoration, KeepError> {
        let (own, memory) = self.files(found)?;
        let mut steps = Vec::new();
        let memory = memory.into_iter().map(|copy| (copy, true));
        for (copy, is_memory) in memory.chain(own.into_iter().rev().map(|copy| (copy, false))) {
            let path = self.original_path(found.provider, &copy).ok_or_else(|| KeepError::Elsewhere(copy.clone()))?;
            let from = if copy == found.path { self.copy_of(found, older)? } else { copy.clone() };
            let state = match self.common(&from, &path)? {
                None => RestoredState::Written,
                Some(true) => RestoredState::Same,
                Some(false) if is_memory => RestoredState::Newer,
                Some(false) if force => RestoredState::Replaced,
                Some(false) => return Err(KeepError::Exists(path)),
            };
            steps.push((copy, from, RestoredFile { path, state }));
        }
        Ok(Restoration { provider: found.provider, steps })
    }

    /// Writes the files of a restoration, each that is replaced after its content was kept. The file of the session is written last, so
    /// that it is complete when it appears. The modification times are the present one, so that the client does not delete the files at
    /// once.
    /// Errors: a process has a replaced file open. A copy cannot be read, or the disk failed; files that were written stay.
    pub fn restore(&self, restoration: &Restoration) -> Result<(), KeepError> {
        for (copy, from, RestoredFile { path, state }) in &restoration.steps {
            match state {
                RestoredState::Written => self.write_back(from, path, &|| Ok(()))?,
                RestoredState::Replaced => {
                    let replaced = if self.disk.identify(path).is_ok() { path.clone() } else { packed_path(path) };
                    let identity = self.disk.identify(&replaced)?;
                    if !self.disk.writers(&replaced, &identity).is_empty() {
                        return Err(KeepError::HeldOpen(replaced));
                    }
                    self.write_back(from, path, &|| self.keep_file(restoration.provider, &replaced, copy).map(drop))?;
                    // The next restoration writes what the client has now.
                    self.keep_file(restoration.provider, path, copy)?;
                    self.forget_older(copy)?;
                }
                RestoredState::Same | RestoredState::Newer => {}
            }
        }
        Ok(())
    }

    /// Writes the content of a copy to any file; `older` is as in [`KeptCopies::restoration`].
    /// Errors: the file exists, unless `force` is true. The copy cannot be read, or the disk failed.
    pub fn write_to(
        &self,
        found: &Found,
        older: Option<usize>,
        path: &Path,
        force: bool,
        dry_run: bool,
    ) -> Result<(), KeepError> {
        if !force && self.disk.identify(path).is_ok() {
            return Err(KeepError::Exists(path.to_owned()));
        }
        let copy = self.copy_of(found, older)?;
        if dry_run { Ok(()) } else { self.write_back(&copy, path, &|| Ok(())) }
    }

    /// Returns the copy of a session, or the older one with this number.
    /// Errors: the number is wrong.
    pub fn copy_of(&self, found: &Found, older: Option<usize>) -> Result<PathBuf, KeepError> {
        let Some(number) = older else { return Ok(found.path.clone()) };
        let copies = self.older(&found.path);
        let place = number.checked_sub(1);
        place.and_then(|place| copies.get(place).cloned()).ok_or(KeepError::NoSuchCopy(copies.len()))
    }

    /// Returns true if a file of the client has the content of a copy; `None` if it does not exist.
    fn common(&self, copy: &Path, path: &Path) -> Result<Option<bool>, KeepError> {
        let file = match if_exists(self.disk.open_stored(path))? {
            Some(file) => Some(file),
            // The client has compressed it.
            None => if_exists(self.disk.open(&packed_path(path), 0))?,
        };
        let Some(file) = file else { return Ok(None) };
        let content = self.disk.open_written(copy).and_then(|content| compare(content, file));
        Ok(Some(content.map_err(|error| unreadable(copy, error))? == Common::Same))
    }

    /// Deletes the older copy that has the content of a copy.
    fn forget_older(&self, copy: &Path) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.disk.open_stored(copy)?.read_to_end(&mut bytes)?;
        let Ok(below) = copy.strip_prefix(&self.directory) else { return Ok(()) };
        if_exists(self.disk.remove(&self.directory.join(older_path(below, &bytes)))).map(drop)
    }

    /// Writes the content of a copy to a file, which appears complete or not at all; calls `before` when all of it is written.
    fn write_back(&self, copy: &Path, path: &Path, before: &dyn Fn() -> io::Result<()>) -> Result<(), KeepError> {
        let write = |temporary: &Path| {
            let mut file = private(self.disk, temporary)?;
            // A file cannot have the texts of a database, but it can have their rows.
            let mut content = if is_in_database(copy) { self.disk.open(copy, 0)? } else { self.disk.open_written(copy)? };
            io::copy(&mut content, &mut file)?;
            file.sync()?;
            before()?;
            Ok(file)
        };
        write_whole(self.disk, path, |error| error, write).map_err(|error| unreadable(copy, error))
    }
}

/// Returns the error of reading a copy, which is damaged if its content cannot be unpacked or opened.
fn unreadable(copy: &Path, error: io::Error) -> KeepError {
    if error.kind() == io::ErrorKind::InvalidData { KeepError::Damaged(copy.to_owned(), error) } else { error.into() }
}
