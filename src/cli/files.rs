//! Files of people that aperture is asked to change: settings, hooks, slash commands.
#![expect(clippy::disallowed_methods, reason = "links and directories are not what a disk of sessions is asked for")]

use crate::fsio::{Disk, read_head};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Longest file that is read, in bytes.
const LONGEST: usize = 16 << 20;

/// The text of a file of the user, if there is one.
///
/// # Errors
///
/// It cannot be read, is no text, or is longer than any settings are.
pub fn text(disk: &dyn Disk, path: &Path) -> io::Result<Option<String>> {
    let bytes = match read_head(disk, path, LONGEST + 1) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error),
    };
    if bytes.len() > LONGEST {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is too long for such a file"));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// Puts a text in the place of what a file says, in one step, or makes the file. A link stays one; mode and owner stay.
///
/// # Errors
///
/// The file is not what `before` says any more; the disk fails. The file is then as it was.
pub fn replace(disk: &dyn Disk, path: &Path, before: Option<&str>, after: &str) -> io::Result<()> {
    let real = target(disk, path)?;
    let directory = real.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let temporary = directory.join(format!(".{}.aperture", real.file_name().unwrap_or_default().to_string_lossy()));
    let written = || -> io::Result<()> {
        if before.is_some() {
            let mut file = disk.create(&temporary, &real)?;
            file.write_all(after.as_bytes())?;
            file.sync()?;
        } else {
            let mut file = fs::File::create(&temporary)?;
            file.write_all(after.as_bytes())?;
            file.sync_all()?;
        }
        expect(disk, &real, before)?;
        disk.rename(&temporary, &real)?;
        disk.sync_directory(directory)
    };
    written().inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Deletes a file, and the directories below `stop` that are empty without it.
///
/// # Errors
///
/// The file is not what `before` says any more; the disk fails.
pub fn delete(disk: &dyn Disk, path: &Path, before: &str, stop: &Path) -> io::Result<()> {
    expect(disk, path, Some(before))?;
    disk.remove(path)?;
    for directory in path.ancestors().skip(1).take_while(|directory| *directory != stop && directory.starts_with(stop)) {
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}

/// Whether a path is a link.
pub fn is_link(path: &Path) -> bool {
    path.is_symlink()
}

/// The file that a path leads to, or the path itself where there is nothing yet.
fn target(disk: &dyn Disk, path: &Path) -> io::Result<PathBuf> {
    match disk.resolve(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !is_link(path) => Ok(path.to_owned()),
        found => found,
    }
}

fn expect(disk: &dyn Disk, path: &Path, before: Option<&str>) -> io::Result<()> {
    if text(disk, path)?.as_deref() == before {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::ResourceBusy, "another program changed it meanwhile"))
}
