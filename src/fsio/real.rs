#![expect(clippy::disallowed_methods, reason = "the one place that touches the file system")]

use super::{Disk, Entry, Identity};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The disk of this machine.
pub struct RealDisk;

impl Disk for RealDisk {
    fn identify(&self, path: &Path) -> io::Result<Identity> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is no regular file: a session has to be read more than once",
            ));
        }
        identity(&metadata)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(path)?;
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        Ok(Box::new(file))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                // A link to a directory is none: what it holds is found where it is, and a loop has no end.
                let kind = entry.file_type()?;
                let file = kind.is_file().then(|| entry.metadata().ok()).flatten();
                let identity = file.and_then(|file| identity(&file).ok());
                Ok(Entry { path: entry.path(), directory: kind.is_dir(), identity })
            })
            .collect()
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }
}

fn identity(metadata: &Metadata) -> io::Result<Identity> {
    let modified = metadata.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
    let (changed, inode) = unix_identity(metadata);
    Ok(Identity { bytes: metadata.len(), modified, changed, inode })
}

#[cfg(unix)]
fn unix_identity(metadata: &Metadata) -> (i128, (u64, u64)) {
    use std::os::unix::fs::MetadataExt;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    (changed, (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn unix_identity(_: &Metadata) -> (i128, (u64, u64)) {
    (0, (0, 0))
}
