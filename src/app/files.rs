//! User files that aperture reads whole or writes: settings, hooks, slash commands, exports.
#![expect(clippy::disallowed_methods, reason = "links, modes and directories are not what a disk of sessions is asked for")]

use crate::fsio::{Disk, expect_one_name, if_exists, make_with, read_head, write_whole};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The maximum size of a file that is read, in bytes.
const LONGEST: usize = 16 << 20;

/// The permissions of a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Those of the file that it replaces, or the default for a new file.
    Plain,
    /// Executable, for a new file.
    Script,
    /// Readable by its owner only, even if the replaced file was not.
    Private,
}

/// Reads a whole file of the user; `None` if it does not exist.
/// Errors: the file cannot be read, or is longer than 16 MiB.
pub fn whole(disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
    match if_exists(read_head(disk, path, LONGEST + 1))? {
        Some(bytes) if bytes.len() > LONGEST => Err(io::Error::new(ErrorKind::InvalidData, "it is too long for such a file")),
        read => Ok(read),
    }
}

/// Reads a whole file as text; `None` if it does not exist.
/// Errors: as [`whole`], or the file is not UTF-8.
pub fn text(disk: &dyn Disk, path: &Path) -> io::Result<Option<String>> {
    let text = whole(disk, path)?.map(String::from_utf8).transpose();
    text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// Replaces the content of a file atomically, or creates the file and its directory. A symbolic link is followed; owner and mode
/// are preserved.
/// Errors: the content is no longer `before`, or an I/O error. The file is then unchanged.
pub fn replace(disk: &dyn Disk, path: &Path, before: Option<&[u8]>, after: &[u8], mode: Mode) -> io::Result<()> {
    let real = target(disk, path)?;
    if before.is_some() {
        expect_one_name(disk, &real)?;
    }
    fs::create_dir_all(real.parent().unwrap_or(Path::new(".")))?;
    write(disk, &real, after, mode, &|| expect(disk, &real, before))
}

/// Creates a directory and those above it, unless it exists.
pub fn make_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

/// Writes a file atomically, readable by its owner only.
pub fn write_private(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(disk, path, bytes, Mode::Private, &|| Ok(()))
}

/// Writes a temporary file in the same directory, syncs it, and renames it to the path if `check` succeeds.
fn write(disk: &dyn Disk, path: &Path, bytes: &[u8], mode: Mode, check: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    write_whole(
        disk,
        path,
        |error| error,
        |temporary| {
            // One of an interrupted run may have another mode.
            let _ = disk.discard(temporary);
            let like = if mode != Mode::Private && disk.identify(path).is_ok() { path } else { temporary };
            if like == temporary {
                make(temporary, mode)?;
            }
            let mut file = disk.create(temporary, like)?;
            file.write_all(bytes)?;
            file.sync()?;
            #[cfg(unix)]
            if mode == Mode::Script {
                use std::os::unix::fs::PermissionsExt;
                let mode = fs::metadata(temporary)?.permissions().mode();
                fs::set_permissions(temporary, PermissionsExt::from_mode(mode | 0o111))?;
            }
            check()?;
            Ok(file)
        },
    )
}

/// Creates an empty file if it does not exist.
fn make(path: &Path, mode: Mode) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let bits = if mode == Mode::Private { 0o600 } else { 0o666 };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, bits);
    // Elsewhere, a file has the permissions of its directory.
    #[cfg(not(unix))]
    let _ = bits;
    make_with(&mut options, path)
}

/// Creates a directory and a file in it, accessible to their owner only.
pub fn make_private(directory: &Path, file: &str) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    let path = directory.join(file);
    match fs::metadata(&path) {
        // Closing an open file would release the locks that SQLite has on it.
        Ok(metadata) if metadata.is_file() => Ok(()),
        // Opening a pipe would wait for its reader.
        Ok(metadata) if !metadata.is_dir() => {
            Err(io::Error::new(ErrorKind::InvalidInput, format!("{file} is not a regular file")))
        }
        _ => make(&path, Mode::Private),
    }
}

/// Deletes a file, then its parent directories as long as they are empty and `ours`, innermost first.
/// Errors: the content is no longer `before`, or an I/O error.
pub fn delete(disk: &dyn Disk, path: &Path, before: &[u8], ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    expect(disk, path, Some(before))?;
    remove(disk, path, ours)
}

/// As [`delete`], without the check of the content.
pub fn remove(disk: &dyn Disk, path: &Path, ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    disk.remove(path)?;
    for directory in path.ancestors().skip(1).take_while(|directory| ours(directory)) {
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}

/// Returns true if the path exists, even as a dangling symbolic link.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Returns true if other users can read a directory or file.
#[cfg(unix)]
pub fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0)
}

/// Returns false: permissions are of another kind here.
#[cfg(not(unix))]
pub fn is_open_to_others(_path: &Path) -> bool {
    false
}

/// Returns true if somebody may execute a file.
#[cfg(unix)]
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0)
}

/// Returns true: permissions are of another kind here.
#[cfg(not(unix))]
pub fn is_executable(_path: &Path) -> bool {
    true
}

/// Returns true if the path is a symbolic link.
pub fn is_link(path: &Path) -> bool {
    path.is_symlink()
}

/// Returns the target of a path, or the path itself if it does not exist yet.
fn target(disk: &dyn Disk, path: &Path) -> io::Result<PathBuf> {
    match disk.resolve(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !is_link(path) => Ok(path.to_owned()),
        found => found,
    }
}

fn expect(disk: &dyn Disk, path: &Path, before: Option<&[u8]>) -> io::Result<()> {
    if whole(disk, path)?.as_deref() == before {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::ResourceBusy, "another program changed it meanwhile"))
}
