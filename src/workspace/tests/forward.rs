//! A macro for disks of tests that act as another disk, except in some methods.

/// Implements the named methods of `Disk` by those of `self.inner`.
macro_rules! forward {
    ($($method:ident)*) => { $(forward! { @ $method })* };
    (@ identify) => { fn identify(&self, path: &Path) -> io::Result<Identity> { self.inner.identify(path) } };
    (@ open) => { fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> { self.inner.open(path, offset) } };
    (@ open_stored) => { fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> { self.inner.open_stored(path) } };
    (@ list) => { fn list(&self, path: &Path) -> io::Result<Vec<Entry>> { self.inner.list(path) } };
    (@ resolve) => { fn resolve(&self, path: &Path) -> io::Result<PathBuf> { self.inner.resolve(path) } };
    (@ names) => { fn names(&self, path: &Path) -> io::Result<u64> { self.inner.names(path) } };
    (@ lock) => { fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send>>> { self.inner.lock(path) } };
    (@ create) => {
        fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> { self.inner.create(path, like) }
    };
    (@ make) => { fn make(&self, path: &Path, is_private: bool) -> io::Result<()> { self.inner.make(path, is_private) } };
    (@ append) => { fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> { self.inner.append(path, bytes) } };
    (@ rename) => { fn rename(&self, from: &Path, to: &Path) -> io::Result<()> { self.inner.rename(from, to) } };
    (@ sync_directory) => { fn sync_directory(&self, path: &Path) -> io::Result<()> { self.inner.sync_directory(path) } };
    (@ remove) => { fn remove(&self, path: &Path) -> io::Result<()> { self.inner.remove(path) } };
    (@ writers) => {
        fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32> { self.inner.writers(path, identity) }
    };
}
