//! Copies the files of a session.

use super::{KeepError, KeptCopies, OLDER, TEMPORARY, is_packed_session, is_temporary};
use crate::fsio::{Disk, Identity, NewFile, OpenFile, if_exists, pack, unpacked_path};
use crate::model::words;
use crate::provider::ProviderAdapter;
use crate::workspace::Found;
use crate::workspace::parts::shared_parts;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The length of the hash in the name of an older copy.
pub(super) const HASH_CHARACTERS: usize = 16;
const PIECE_BYTES: usize = 1 << 16;

words! {
    /// The state of the copy of a session.
    pub enum CopyState {
        /// There is none.
        Missing = "missing",
        /// The file changed since it was copied.
        Outdated = "outdated",
        /// It has the content of the file.
        Current = "current",
        /// The file no longer exists.
        Only = "only",
    }
}

/// The outcome of keeping a session.
#[derive(Debug, Default)]
pub struct CopyOutcome {
    pub copied: usize,
    /// The number of files whose copies were current.
    pub unchanged: usize,
    /// The size of these files in bytes, without those of the project, and that of their copies.
    pub bytes: u64,
    pub kept_bytes: u64,
    /// The files that were not copied, each with the cause.
    pub failed: Vec<(PathBuf, io::Error)>,
}

impl KeptCopies<'_> {
    /// Returns the state of the copy of a session, without the files beside it.
    pub fn state(&self, found: &Found, identity: &Identity) -> CopyState {
        let copy = self.copy_path(found.provider, &found.path);
        match copy.and_then(|copy| self.disk.identify(&copy).ok()) {
            None => CopyState::Missing,
            Some(copy) if is_current(identity, &copy) => CopyState::Current,
            Some(_) => CopyState::Outdated,
        }
    }

    /// Copies the files of a session that changed since they were last copied. A file that cannot be copied does not keep the others from
    /// it.
    /// Errors: the session is not in a directory of its client.
    pub fn keep(&self, found: &Found) -> Result<CopyOutcome, KeepError> {
        let mut outcome = CopyOutcome::default();
        let mut files = vec![(found.path.clone(), true)];
        files.extend(shared_parts(&found.path).into_iter().map(|part| (part, false)));
        for (directory, is_own) in KeptCopies::directories_beside(found).into_iter().zip([true, false]) {
            match directory.map(|directory| (self.files_in(directory.clone()), directory)) {
                None => {}
                Some((Ok(beside), _)) => files.extend(beside.into_iter().map(|file| (file, is_own))),
                Some((Err(error), directory)) => outcome.failed.push((directory, error)),
            }
        }
        for (file, is_own) in files {
            let copy = self.copy_path(found.provider, &file).ok_or_else(|| KeepError::Elsewhere(file.clone()))?;
            let kept = self.keep_file(found.provider, &file, &copy).and_then(|is_new| {
                let sizes = (self.disk.identify(&file)?.bytes, self.disk.identify(&copy)?.bytes);
                Ok((is_new, sizes))
            });
            match if file == found.path { kept.map(Some) } else { if_exists(kept) } {
                Ok(Some((is_new, (bytes, kept_bytes)))) => {
                    *(if is_new { &mut outcome.copied } else { &mut outcome.unchanged }) += 1;
                    // The files of a project belong to many sessions.
                    if is_own {
                        (outcome.bytes, outcome.kept_bytes) = (outcome.bytes + bytes, outcome.kept_bytes + kept_bytes);
                    }
                }
                // The client deleted it meanwhile: an earlier copy stays.
                Ok(None) => {}
                Err(error) => outcome.failed.push((file, error)),
            }
        }
        Ok(outcome)
    }

    /// Copies a file, unless its copy is current. Returns true if it was copied.
    pub(super) fn keep_file(&self, provider: &dyn ProviderAdapter, file: &Path, copy: &Path) -> io::Result<bool> {
        let disk = self.disk;
        let now = disk.identify(file)?;
        let before = if_exists(disk.identify(copy))?;
        if before.is_some_and(|before| is_current(&now, &before)) {
            return Ok(false);
        }
        let temporary = temporary(copy);
        let content = if is_packed_session(provider, file) { disk.open_written(file)? } else { disk.open_stored(file)? };
        let written = self.write(&temporary, content, &now).and_then(|()| match before {
            Some(before) if !begins_with(disk, &temporary, copy)? => self.set_aside(copy, &before),
            _ => Ok(()),
        });
        self.finish(&temporary, copy, written, before.is_none())?;
        Ok(true)
    }

    fn write(&self, copy: &Path, mut content: Box<dyn OpenFile>, file: &Identity) -> io::Result<()> {
        let mut new = private(self.disk, copy)?;
        // A compressed session has another length than its content.
        let bytes = content.seek(io::SeekFrom::End(0))?;
        content.seek(io::SeekFrom::Start(0))?;
        pack(&mut content, bytes, &mut new)?;
        new.set_modified(file.modified)?;
        new.sync()
    }

    /// Keeps a copy under a second name, because its successor does not contain it.
    fn set_aside(&self, copy: &Path, state: &Identity) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.disk.open_stored(copy)?.read_to_end(&mut bytes)?;
        let below = copy.strip_prefix(&self.directory).map_err(|_| io::ErrorKind::InvalidInput)?;
        let older = self.directory.join(older_path(below, &bytes));
        let temporary = temporary(&older);
        let mut new = private(self.disk, &temporary)?;
        let written = new.write_all(&bytes).and_then(|()| new.set_modified(state.modified)).and_then(|()| new.sync());
        drop(new);
        self.finish(&temporary, &older, written, true)
    }

    /// Renames a file that was written to its name, or deletes it if that failed. The directories above a new file become durable too.
    fn finish(&self, temporary: &Path, path: &Path, written: io::Result<()>, is_new: bool) -> io::Result<()> {
        let renamed = written.and_then(|()| self.disk.rename(temporary, path));
        renamed.inspect_err(|_| {
            // If it cannot be deleted, the next copy overwrites it.
            let _ = self.disk.remove(temporary);
        })?;
        let levels = if is_new { usize::MAX } else { 1 };
        let mut directories = path.ancestors().skip(1).take(levels).take_while(|above| above.starts_with(&self.directory));
        directories.try_for_each(|directory| self.disk.sync_directory(directory))
    }

    /// Deletes the rest of copies that were interrupted. No copy may be written meanwhile.
    pub fn clean(&self) {
        let mut directories = vec![self.directory.clone()];
        while let Some(directory) = directories.pop() {
            for entry in self.disk.list(&directory).unwrap_or_default() {
                if entry.directory {
                    directories.push(entry.path);
                } else if is_temporary(&entry.path) {
                    // If it cannot be deleted, it stays and is not read.
                    let _ = self.disk.remove(&entry.path);
                }
            }
        }
    }
}

/// Returns the path of an older copy with these bytes, by the path of a copy; both are in the folder of the copies.
pub fn older_path(copy: &Path, bytes: &[u8]) -> PathBuf {
    if copy.starts_with(OLDER) {
        return copy.to_owned();
    }
    let name = unpacked_path(copy).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hash = blake3::hash(bytes).to_hex();
    let name = format!("{name}.{}.zst", &hash.as_str()[..HASH_CHARACTERS]);
    Path::new(OLDER).join(copy).with_file_name(name)
}

/// Returns true if a copy with this state was made of the file in its present state. Changes of aperture keep the modification time, and
/// not the time of the status change.
fn is_current(file: &Identity, copy: &Identity) -> bool {
    copy.modified == file.modified && file.changed <= copy.changed
}

fn temporary(copy: &Path) -> PathBuf {
    let name = unpacked_path(copy).file_name().unwrap_or_default().to_string_lossy().into_owned();
    copy.with_file_name(format!(".{name}{TEMPORARY}"))
}

/// Creates a file that only its owner can read, and the directories above it.
pub(super) fn private(disk: &dyn Disk, path: &Path) -> io::Result<Box<dyn NewFile>> {
    disk.make(path, true)?;
    disk.create(path, path)
}

/// Returns true if the content of a copy begins with that of an older one. One that cannot be read is another content.
fn begins_with(disk: &dyn Disk, copy: &Path, older: &Path) -> io::Result<bool> {
    let new = disk.open_written(copy)?;
    let Ok(old) = disk.open_written(older) else { return Ok(false) };
    Ok(compare(old, new).is_ok_and(|common| common != Common::Other))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Common {
    Same,
    /// The second one begins with the first one.
    Beginning,
    Other,
}

pub(super) fn compare(first: impl Read, second: impl Read) -> io::Result<Common> {
    let (mut first, mut second) = (BufReader::with_capacity(PIECE_BYTES, first), BufReader::with_capacity(PIECE_BYTES, second));
    loop {
        let (a, b) = (first.fill_buf()?, second.fill_buf()?);
        let common = a.len().min(b.len());
        match (a.is_empty(), b.is_empty()) {
            (true, true) => return Ok(Common::Same),
            (true, false) => return Ok(Common::Beginning),
            _ if common == 0 || a[..common] != b[..common] => return Ok(Common::Other),
            _ => {}
        }
        first.consume(common);
        second.consume(common);
    }
}
