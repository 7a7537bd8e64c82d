//! The file system behind a trait, so that tests can make any call of it fail.

mod packed;
mod real;
mod watch;

#[cfg(test)]
pub(crate) mod failing;

pub use notify::RecursiveMode;
pub use packed::{is_packed, pack, packed_path, unpacked, unpacked_path};
pub use real::{RealDisk, make_with};
pub use watch::Watcher;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The interval of attempts to lock a file that another process changes.
pub const LOCK_STEP: Duration = Duration::from_millis(20);
/// The usual maximum number of such attempts.
pub const LOCK_STEPS: u32 = 150;

/// File system operations used by aperture. A disk over another one has its methods, at the paths that it gives, unless it has its own.
pub trait Disk: Sync {
    /// Returns the disk below this one, which has all methods itself if it is the lowest.
    fn below(&self) -> &dyn Disk;

    /// Returns the path that a file has on the disk below.
    fn path_below<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        Ok(Cow::Borrowed(path))
    }

    /// Returns the path below of a file that is written or removed.
    fn written_below<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        self.path_below(path)
    }

    /// Returns the state of a file.
    fn identify(&self, path: &Path) -> io::Result<Identity> {
        self.below().identify(&self.path_below(path)?)
    }

    /// Opens a regular file for reading from `offset`. Of a compressed file, its content is read.
    /// Errors: it is a pipe, a socket, a device or a directory, or cannot be opened.
    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        self.below().open(&self.path_below(path)?, offset)
    }

    /// Opens a regular file for reading as its client wrote it: a compressed one is unpacked, and one whose rows are put together is read
    /// as it is. A disk that puts sessions together has its own.
    fn open_written(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        self.open(path, 0)
    }

    /// Opens a regular file for reading as it is stored: a compressed one is not unpacked.
    fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        self.below().open_stored(&self.path_below(path)?)
    }

    /// Returns the entries of a directory, unordered.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.below().list(&self.path_below(path)?)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.below().resolve(&self.path_below(path)?)
    }

    /// Returns the number of names (hard links) of a file.
    fn names(&self, path: &Path) -> io::Result<u64> {
        self.below().names(&self.path_below(path)?)
    }

    /// Locks a file until the value is dropped; `None` if another process holds the lock.
    /// Errors: the file cannot be created, or its file system has no locks ([`io::ErrorKind::Unsupported`]).
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send>>> {
        self.below().lock(&self.path_below(path)?)
    }

    /// Creates a file that only this process writes until it is closed, with the mode and the owner of another one. One that is there
    /// already, as a killed process leaves it, is emptied.
    /// Errors: another process writes it ([`io::ErrorKind::ResourceBusy`]), or it cannot be created.
    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        self.below().create(&self.written_below(path)?, &self.path_below(like)?)
    }

    /// Creates an empty file and the directories above it, unless they exist. New ones are accessible to their owner only if `is_private`.
    fn make(&self, path: &Path, is_private: bool) -> io::Result<()> {
        self.below().make(&self.written_below(path)?, is_private)
    }

    /// Appends to an existing file in one write, and syncs it. Returns the offset of the bytes in the file.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<u64> {
        self.below().append(&self.written_below(path)?, bytes)
    }

    /// Renames a file over another one, atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.below().rename(&self.path_below(from)?, &self.written_below(to)?)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.below().sync_directory(&self.path_below(path)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.below().remove(&self.written_below(path)?)
    }

    /// Removes a file of [`Disk::create`] that a killed process left.
    /// Errors: as [`Disk::create`]; the file then stays.
    fn discard(&self, path: &Path) -> io::Result<()> {
        self.below().discard(&self.written_below(path)?)
    }

    /// Returns the processes that have the file of this state open for writing: on Linux those of the
    /// same user, on other platforms none.
    fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32> {
        self.path_below(path).map_or_else(|_| Vec::new(), |path| self.below().writers(&path, identity))
    }
}

/// A file open for reading; unaffected by renames of its path.
pub trait OpenFile: Read + Seek + Send {}

impl<T: Read + Seek + Send> OpenFile for T {}

/// A file open for writing.
pub trait NewFile: Write + Send {
    /// Sets the modification time, in nanoseconds since 1970.
    fn set_modified(&mut self, modified: i128) -> io::Result<()>;

    fn sync(&mut self) -> io::Result<()>;
}

/// State of a file: two different contents have different states, as far as the file system can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub bytes: u64,
    /// Modification time, in nanoseconds since 1970.
    pub modified: i128,
    /// Status change time, in nanoseconds since 1970; 0 if the platform has none.
    pub changed: i128,
    /// Device and inode; zeros if the platform has none.
    pub inode: (u64, u64),
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: PathBuf,
    pub directory: bool,
    /// State of a regular file. For a link, call [`Disk::identify`] for its target.
    pub identity: Option<Identity>,
}

/// Refuses a file that has several names: a file that is renamed over one of them would leave the others with the old content.
/// Errors: it has several ([`io::ErrorKind::TooManyLinks`]), or cannot be looked up.
pub fn expect_one_name(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.names(path)? {
        0 | 1 => Ok(()),
        names => {
            let text = format!("the file has {names} names (hard links), and the change would reach only this one");
            Err(io::Error::new(io::ErrorKind::TooManyLinks, text))
        }
    }
}

/// Returns what was read of a path; `None` if it does not exist.
pub fn if_exists<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        read => read.map(Some),
    }
}

/// Reads a range of a file completely.
pub fn read_range(disk: &dyn Disk, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    disk.open(path, offset)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file.
pub fn read_whole(disk: &dyn Disk, path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    disk.open(path, 0)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the path of the temporary file that replaces a file; no client recognizes it as a session.
pub fn temporary_path(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.aperture", path.file_name().unwrap_or_default().to_string_lossy()))
}

/// Writes a file that appears complete or not at all: `write` makes it under a temporary name. `failed` makes the error of the other steps.
/// Errors: as `write`; another process writes the file ([`io::ErrorKind::ResourceBusy`]).
pub fn write_whole<E>(
    disk: &dyn Disk,
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&Path) -> Result<Box<dyn NewFile>, E>,
) -> Result<(), E> {
    let temporary = temporary_path(path);
    // It stays open until it has its name, so that no other process takes it over.
    let renamed = write(&temporary).and_then(|file| {
        let renamed = disk.rename(&temporary, path);
        drop(file);
        renamed.map_err(&failed)
    });
    renamed.inspect_err(|_| drop(disk.discard(&temporary)))?;
    sync_directory_of(disk, path).map_err(failed)
}

/// Makes the entry of a file in its directory durable.
pub fn sync_directory_of(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |directory| disk.sync_directory(directory))
}

/// Reads at most `length` bytes from the beginning of a file.
pub fn read_head(disk: &dyn Disk, path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    disk.open(path, 0)?.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
