//! A disk that fails at its nth call, for tests.

use super::{Disk, Entry, Identity, RealDisk};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The real disk, but call number `fails_at` (from 0) fails, and with `lasting` all after it.
pub struct FailingDisk {
    pub fails_at: usize,
    pub lasting: bool,
    pub calls: AtomicUsize,
}

impl FailingDisk {
    pub fn new(fails_at: usize, lasting: bool) -> FailingDisk {
        FailingDisk { fails_at, lasting, calls: AtomicUsize::new(0) }
    }

    fn call(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if call == self.fails_at || (self.lasting && call > self.fails_at) {
            return Err(io::Error::other("injected fault"));
        }
        Ok(())
    }
}

impl Disk for FailingDisk {
    fn identify(&self, path: &Path) -> io::Result<Identity> {
        self.call()?;
        RealDisk.identify(path)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        self.call()?;
        RealDisk.open(path, offset)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.call()?;
        RealDisk.list(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.call()?;
        RealDisk.resolve(path)
    }
}
