//! A disk that fails at its nth call, for tests.

use super::{Disk, Entry, Identity, NewFile, OpenFile, RealDisk};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The real disk, but call number `fails_at` (from 0) fails, and with `lasting` all after it.
pub struct FailingDisk {
    pub fails_at: usize,
    pub lasting: bool,
    /// True if the failing call simulates a kill, by a silent panic.
    pub killed: bool,
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
        self.faults().call()
    }

    fn faults(&self) -> Faults {
        Faults { fails_at: self.fails_at, lasting: self.lasting, killed: self.killed, calls: Arc::clone(&self.calls) }
    }
}

struct Faults {
    fails_at: usize,
    lasting: bool,
    killed: bool,
    calls: Arc<AtomicUsize>,
}

impl Faults {
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
    faults: Faults,
}

impl Read for FailingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.faults.call()?;
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
    faults: Faults,
}

impl Write for FailingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full disk accepts a part first.
        let half = self.file.write(&bytes[..bytes.len() / 2])?;
        self.faults.call()?;
        self.file.write_all(&bytes[half..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl NewFile for FailingFile {
    fn set_modified(&mut self, modified: i128) -> io::Result<()> {
        self.faults.call()?;
        self.file.set_modified(modified)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.faults.call()?;
        self.file.sync()
    }
}

impl Disk for FailingDisk {
    fn identify(&self, path: &Path) -> io::Result<Identity> {
        self.call()?;
        RealDisk.identify(path)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        self.call()?;
        Ok(Box::new(FailingReader { file: RealDisk.open(path, offset)?, faults: self.faults() }))
    }

    fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        self.call()?;
        Ok(Box::new(FailingReader { file: RealDisk.open_stored(path)?, faults: self.faults() }))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.call()?;
        RealDisk.list(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.call()?;
        RealDisk.resolve(path)
    }

    fn names(&self, path: &Path) -> io::Result<u64> {
        self.call()?;
        RealDisk.names(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send>>> {
        self.call()?;
        RealDisk.lock(path)
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        self.call()?;
        Ok(Box::new(FailingFile { file: RealDisk.create(path, like)?, faults: self.faults() }))
    }

    fn make(&self, path: &Path, is_private: bool) -> io::Result<()> {
        self.call()?;
        RealDisk.make(path, is_private)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.call()?;
        RealDisk.append(path, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call()?;
        RealDisk.rename(from, to)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.call()?;
        RealDisk.sync_directory(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call()?;
        RealDisk.remove(path)
    }

    fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32> {
        RealDisk.writers(path, identity)
    }
}
