//! The file system behind a trait, so that tests can make any call of it fail.

mod real;
mod watch;

#[cfg(test)]
pub(crate) mod failing;

pub use real::RealDisk;
pub use watch::{Depth, Watcher};

use serde::{Deserialize, Serialize};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// What aperture asks of a disk.
pub trait Disk: Sync {
    /// What tells one state of a file from another.
    fn identify(&self, path: &Path) -> io::Result<Identity>;

    /// Opens a file to be read from `offset` on.
    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>>;

    /// The entries of a directory, in no order.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;

    /// The real path, links followed.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Takes the lock that a file stands for, until the value is dropped; nothing when somebody else has it.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send>>>;

    /// Creates a file, or empties it, with the mode and the owner of another one.
    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Appends to a file that exists, in one write, and waits for the disk.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Puts a file in the place of another one, in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Waits until the entries of a directory are on the disk.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Deletes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// The processes that hold the file of this state open for writing, as far as the platform tells: on Linux those of the
    /// same user, elsewhere none.
    fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32>;
}

/// A file that is open for reading: the one that was opened, whatever takes its name meanwhile.
pub trait OpenFile: Read + Seek + Send {}

impl<T: Read + Seek + Send> OpenFile for T {}

/// A file that is being written.
pub trait NewFile: Write + Send {
    /// Sets the time of its last change, in nanoseconds since 1970.
    fn set_modified(&mut self, modified: i128) -> io::Result<()>;

    /// Waits until it is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// What tells one state of a file from another, as far as the file system can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Bytes.
    pub bytes: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub modified: i128,
    /// Last change of anything, in nanoseconds since 1970; 0 where the platform does not tell.
    pub changed: i128,
    /// Device and inode; zeros where the platform does not tell.
    pub inode: (u64, u64),
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is a directory.
    pub directory: bool,
    /// The state of a regular file; for a link, ask for the state of what it points at.
    pub identity: Option<Identity>,
}

/// Reads a range of a file whole.
pub fn read_range(disk: &dyn Disk, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    disk.open(path, offset)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads at most `length` bytes from the beginning of a file.
pub fn read_head(disk: &dyn Disk, path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    disk.open(path, 0)?.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
