//! A disk that fails at its nth call, for tests.

use super::{Disk, Identity, NewFile, OpenFile, RealDisk};
use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The real disk, but call number `fails_at` (from 0) fails, and with `lasting` all after it.
#[derive(Clone)]
pub struct FailingDisk {
    fails_at: usize,
    lasting: bool,
    /// True if the failing call simulates a kill, by a silent panic.
    killed: bool,
    pub calls: Arc<AtomicUsize>,
}

impl FailingDisk {
    pub fn new(fails_at: usize, lasting: bool) -> FailingDisk {
        FailingDisk { fails_at, lasting, killed: false, calls: Arc::default() }
    }

    pub fn killed(at: usize) -> FailingDisk {
        FailingDisk { killed: true, ..FailingDisk::new(at, true) }
    }

    fn call(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if call == self.fails_at || (self.lasting && call > self.fails_at) {
            // A killed program runs no destructors: during the cleanup, every call only fails.
            if self.killed && !std::thread::panicking() {
                std::panic::resume_unwind(Box::new("killed"));
            }
            return Err(io::Error::other("injected fault"));
        }
        Ok(())
    }
}

struct FailingReader {
    file: Box<dyn OpenFile>,
    disk: FailingDisk,
}

impl Read for FailingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.call()?;
        self.file.read(buffer)
    }
}

impl Seek for FailingReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

struct FailingFile {
    file: Box<dyn NewFile>,
    disk: FailingDisk,
}

impl Write for FailingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full disk accepts a part first.
        let half = self.file.write(&bytes[..bytes.len() / 2])?;
        self.disk.call()?;
        self.file.write_all(&bytes[half..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl NewFile for FailingFile {
    fn set_modified(&mut self, modified: i128) -> io::Result<()> {
        self.disk.call()?;
        self.file.set_modified(modified)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.call()?;
        self.file.sync()
    }
}

impl Disk for FailingDisk {
    fn below(&self) -> &dyn Disk {
        &RealDisk
    }

    fn path_below<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        self.call().map(|()| path.into())
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(FailingReader { file: RealDisk.open(&self.path_below(path)?, offset)?, disk: self.clone() }))
    }

    fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(FailingReader { file: RealDisk.open_stored(&self.path_below(path)?)?, disk: self.clone() }))
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(FailingFile { file: RealDisk.create(&self.path_below(path)?, like)?, disk: self.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(&self.path_below(from)?, to)
    }

    fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32> {
        RealDisk.writers(path, identity)
    }
}
