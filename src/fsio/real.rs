#![expect(clippy::disallowed_methods, reason = "the one place that touches the file system")]

use super::packed::{PackedFile, is_packed};
use super::{Disk, Entry, Identity, NewFile, OpenFile};
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Metadata, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// The disk of this machine.
#[derive(Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn below(&self) -> &dyn Disk {
        self
    }

    fn identify(&self, path: &Path) -> io::Result<Identity> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(not_regular());
        }
        identity(&metadata)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        let mut file: Box<dyn OpenFile> = match open_regular(path)? {
            file if is_packed(path) => Box::new(PackedFile::new(file)?),
            file => Box::new(file),
        };
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        Ok(file)
    }

    fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(open_regular(path)?))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                // A link to a directory is not followed: its target is found elsewhere, and links can form loops.
                let kind = entry.file_type()?;
                let file = kind.is_file().then(|| entry.metadata().ok()).flatten();
                let identity = file.and_then(|file| identity(&file).ok());
                Ok(Entry { path: join(path, &entry.file_name()), directory: kind.is_dir(), identity })
            })
            .collect()
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn names(&self, path: &Path) -> io::Result<u64> {
        fs::metadata(path).map(|metadata| names(&metadata))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send>>> {
        self.make(path, true)?;
        // Windows locks no file that is opened for appending alone.
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(io::Error::new(io::ErrorKind::Unsupported, format!("files cannot be locked there: {error}")))
            }
        }
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        let file = open_alone(path, true)?;
        let metadata = fs::metadata(like)?;
        file.set_len(0)?;
        own_like(&file, &metadata)?;
        file.set_permissions(metadata.permissions())?;
        Ok(Box::new(file))
    }

    fn make(&self, path: &Path, is_private: bool) -> io::Result<()> {
        let mut directories = fs::DirBuilder::new();
        directories.recursive(true);
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        if is_private {
            std::os::unix::fs::DirBuilderExt::mode(&mut directories, 0o700);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = is_private;
        if let Some(directory) = path.parent() {
            directories.create(directory)?;
        }
        // Opening a pipe would wait for its reader.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Err(not_regular());
        }
        make_with(&mut options, path)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<u64> {
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(bytes)?;
        let end = file.stream_position()?;
        file.sync_all()?;
        Ok(end - bytes.len() as u64)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// No-op: a directory cannot be opened as a file on this platform.
    #[cfg(not(unix))]
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn discard(&self, path: &Path) -> io::Result<()> {
        let _alone = open_alone(path, false)?;
        fs::remove_file(path)
    }

    #[cfg(target_os = "linux")]
    fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32> {
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let own = std::process::id();
        let process = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok().filter(|process| *process != own);
        processes.flatten().filter_map(process).filter(|process| writes(*process, path, identity)).collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn writers(&self, _: &Path, _: &Identity) -> Vec<u32> {
        Vec::new()
    }
}

/// Joins a directory and a name in one allocation: growing it would take as long as a stat of the file.
fn join(directory: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(directory.as_os_str().len() + 1 + name.len());
    path.push(directory);
    path.push(name);
    path
}

fn open_regular(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its writer, without end.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(not_regular());
    }
    File::open(path)
}

/// Creates an empty file with these options, unless it exists.
/// Errors: a link in its place leads nowhere (a repository can hold one, so that the file would be made elsewhere), or it cannot be
/// opened for writing.
pub fn make_with(options: &mut OpenOptions, path: &Path) -> io::Result<()> {
    match options.append(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let opened = options.create_new(false).open(path).map(drop);
            let is_loose = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
            opened.map_err(
                |error| if is_loose(&error) { io::Error::new(error.kind(), "a link there leads nowhere") } else { error },
            )
        }
        opened => opened.map(drop),
    }
}

/// Opens a file for writing, which no other process opens in this way until it is closed. Where files cannot be locked, others can.
/// A link in its place is removed, and what it leads to is not opened: a repository can hold one.
/// Errors: another process has it open ([`io::ErrorKind::ResourceBusy`]), or it cannot be opened.
fn open_alone(path: &Path, creates: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(creates);
    // Private until it has the mode of the other file.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    // Others may only rename or remove it meanwhile: a lock would also keep them from the file after its rename.
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 4);
    if fs::symlink_metadata(path).is_ok_and(|named| named.is_symlink()) {
        fs::remove_file(path)?;
    }
    loop {
        let file = match options.open(path) {
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(32) => return Err(io::ErrorKind::ResourceBusy.into()),
            opened => opened?,
        };
        if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        // The holder before may have renamed or removed the file since it was opened.
        let opened = unix_identity(&file.metadata()?).1;
        if fs::metadata(path).is_ok_and(|named| unix_identity(&named).1 == opened) {
            return Ok(file);
        }
    }
}

/// Returns the error for a pipe, a socket or a device.
fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file: a session must be readable more than once")
}

#[cfg(unix)]
fn names(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

impl NewFile for File {
    fn set_modified(&mut self, modified: i128) -> io::Result<()> {
        let since = Duration::from_nanos(u64::try_from(modified).unwrap_or_default());
        self.set_times(FileTimes::new().set_modified(UNIX_EPOCH + since))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Copies the owner of another file; only the superuser needs this, and only they can do it.
#[cfg(unix)]
fn own_like(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    fchown(file, Some(like.uid()), Some(like.gid()))
}

#[cfg(not(unix))]
fn own_like(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// True if a process has a file open for writing, including a deleted file.
#[cfg(target_os = "linux")]
fn writes(process: u32, path: &Path, identity: &Identity) -> bool {
    const ACCESS_MODE: u32 = 0o3;
    let Ok(handles) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    handles.flatten().any(|handle| {
        // Compares names first, which is cheap; a deleted file has a suffix.
        let named = fs::read_link(handle.path()).is_ok_and(|target| {
            let (target, path) = (target.to_string_lossy(), path.to_string_lossy());
            target.strip_prefix(&*path).is_some_and(|rest| rest.is_empty() || rest == " (deleted)")
        });
        let same = || fs::metadata(handle.path()).is_ok_and(|metadata| unix_identity(&metadata).1 == identity.inode);
        let information =
            || fs::read_to_string(format!("/proc/{process}/fdinfo/{}", handle.file_name().to_string_lossy())).unwrap_or_default();
        let flags = |text: &str| {
            let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
            flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).unwrap_or_default()
        };
        named && same() && flags(&information()) & ACCESS_MODE != 0
    })
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
