//! The file system behind a trait, so that tests can make any call of it fail.

mod real;

#[cfg(test)]
pub(crate) mod failing;

pub use real::RealDisk;

use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What aperture asks of a disk.
pub trait Disk: Sync {
    /// What tells one state of a file from another.
    fn identify(&self, path: &Path) -> io::Result<Identity>;

    /// Opens a file to be read from `offset` on.
    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>>;

    /// The entries of a directory, in no order.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;

    /// The real path, links followed.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
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
