//! Files of people that aperture reads whole or writes: settings, hooks, slash commands, exports.
#![expect(clippy::disallowed_methods, reason = "links, modes and directories are not what a disk of sessions is asked for")]

use crate::fsio::{Disk, read_head};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Longest file that is read, in bytes.
const LONGEST: usize = 16 << 20;

/// Who may do what with a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As with the file in whose place it comes, or any other new one.
    Plain,
    /// The same, and it may be run.
    Script,
    /// Only its owner may read it, whatever was there.
    Private,
}

/// The whole of a file of the user, if there is one.
///
/// # Errors
///
/// It cannot be read, or is longer than any such file is.
pub fn whole(disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_head(disk, path, LONGEST + 1) {
        Ok(bytes) if bytes.len() > LONGEST => Err(io::Error::new(ErrorKind::InvalidData, "it is too long for such a file")),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The same as text.
///
/// # Errors
///
/// As [`whole`], or it is no text.
pub fn text(disk: &dyn Disk, path: &Path) -> io::Result<Option<String>> {
    let text = whole(disk, path)?.map(String::from_utf8).transpose();
    text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// Puts bytes in the place of what a file holds, in one step, or makes the file and its directory. A link stays one; owner and
/// mode stay.
///
/// # Errors
///
/// The file is not what `before` says any more; the disk fails. The file is then as it was.
pub fn replace(disk: &dyn Disk, path: &Path, before: Option<&[u8]>, after: &[u8], mode: Mode) -> io::Result<()> {
    let real = target(disk, path)?;
    fs::create_dir_all(real.parent().unwrap_or(Path::new(".")))?;
    write(disk, &real, after, mode, &|| expect(disk, &real, before))
}

/// Writes a file that only its owner can read, in one step: it is there whole, or as it was.
///
/// # Errors
///
/// The disk fails.
pub fn write_private(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(disk, path, bytes, Mode::Private, &|| Ok(()))
}

/// Writes a file beside the one that it is to be, and puts it in its place if nothing speaks against that.
fn write(disk: &dyn Disk, path: &Path, bytes: &[u8], mode: Mode, check: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let temporary = directory.join(format!(".{}.aperture", path.file_name().unwrap_or_default().to_string_lossy()));
    // What an interrupted run left may have another mode.
    let _ = fs::remove_file(&temporary);
    let written = || {
        let like = if mode != Mode::Private && disk.identify(path).is_ok() { path } else { &temporary };
        if like == temporary {
            make(&temporary, mode)?;
        }
        let mut file = disk.create(&temporary, like)?;
        file.write_all(bytes)?;
        file.sync()?;
        #[cfg(unix)]
        if mode == Mode::Script {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&temporary)?.permissions().mode();
            fs::set_permissions(&temporary, PermissionsExt::from_mode(mode | 0o111))?;
        }
        check()?;
        disk.rename(&temporary, path)?;
        disk.sync_directory(directory)
    };
    written().inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Makes an empty file, if there is none.
fn make(path: &Path, mode: Mode) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if mode == Mode::Private { 0o600 } else { 0o666 });
    options.open(path).map(drop)
}

/// Makes a directory and a file in it, so that only their owner can read them.
///
/// # Errors
///
/// The disk fails.
pub fn make_private(directory: &Path, file: &str) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    make(&directory.join(file), Mode::Private)
}

/// Deletes a file, and the directories around it that are empty without it, from the innermost on, as long as they are `ours`.
///
/// # Errors
///
/// The file is not what `before` says any more; the disk fails.
pub fn delete(disk: &dyn Disk, path: &Path, before: &[u8], ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    expect(disk, path, Some(before))?;
    remove(disk, path, ours)
}

/// As [`delete`], whatever the file holds.
///
/// # Errors
///
/// The disk fails.
pub fn remove(disk: &dyn Disk, path: &Path, ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    disk.remove(path)?;
    for directory in path.ancestors().skip(1).take_while(|directory| ours(directory)) {
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}

/// Returns whether there is anything at a path, be it a link that leads nowhere.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
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

fn expect(disk: &dyn Disk, path: &Path, before: Option<&[u8]>) -> io::Result<()> {
    if whole(disk, path)?.as_deref() == before {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::ResourceBusy, "another program changed it meanwhile"))
}
