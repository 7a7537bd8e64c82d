//! A disk on which the files in one folder are sealed, with their names and those of their folders.

use super::seal::Seal;
use crate::fsio::{Disk, Entry, NewFile, OpenFile, is_packed, unpacked};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Longest part of a sealed name, in characters: file systems have names of 255 bytes.
const PART: usize = 200;
/// The end of each part but the last one, which are directories.
const CONTINUED: char = '+';

/// A disk with a sealed folder. The paths of its files are those that they have in a clear one.
pub struct SealedDisk<D> {
    inner: D,
    folder: PathBuf,
    /// Returns the keys as they are now; a clear seal if the store is clear, `None` if it is locked.
    seal: Box<dyn Fn() -> Option<Seal> + Send + Sync>,
}

impl<D: Disk> SealedDisk<D> {
    pub fn new(inner: D, folder: PathBuf, seal: impl Fn() -> Option<Seal> + Send + Sync + 'static) -> SealedDisk<D> {
        SealedDisk { inner, folder, seal: Box::new(seal) }
    }

    /// Returns the keys of a file, if it is in the folder and that is sealed.
    fn seal_of(&self, path: &Path) -> Option<Seal> {
        path.starts_with(&self.folder).then(|| (self.seal)()).flatten().filter(Seal::is_sealed)
    }
}

/// Returns the path in the folder at which a file is stored.
pub(super) fn sealed_path(seal: &Seal, path: &Path) -> PathBuf {
    path.components().map(|component| sealed_name(seal, component.as_os_str())).collect()
}

fn sealed_name(seal: &Seal, name: &OsStr) -> PathBuf {
    let Some(sealed) = seal.seal_name(name.as_encoded_bytes()) else { return name.into() };
    let text = URL_SAFE_NO_PAD.encode(sealed);
    let mut parts = text.as_bytes().chunks(PART).map(String::from_utf8_lossy).peekable();
    let mut path = PathBuf::new();
    while let Some(part) = parts.next() {
        path.push(if parts.peek().is_some() { format!("{part}{CONTINUED}") } else { part.into_owned() });
    }
    path
}

/// Returns the path of a stored file in the folder as it is in a clear one; `None` if it is not sealed with these keys.
pub(super) fn opened_path(seal: &Seal, stored: &Path) -> Option<PathBuf> {
    let (mut path, mut name) = (PathBuf::new(), String::new());
    for component in stored.components() {
        let Component::Normal(part) = component else { return None };
        let part = part.to_str()?;
        name.push_str(part.strip_suffix(CONTINUED).unwrap_or(part));
        if !part.ends_with(CONTINUED) {
            path.push(opened_name(seal, &name)?);
            name.clear();
        }
    }
    name.is_empty().then_some(path)
}

fn opened_name(seal: &Seal, text: &str) -> Option<OsString> {
    let name = seal.open_name(URL_SAFE_NO_PAD.decode(text).ok()?)?;
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(name));
    #[cfg(not(unix))]
    return String::from_utf8(name).ok().map(OsString::from);
}

impl<D: Disk> Disk for SealedDisk<D> {
    fn below(&self) -> &dyn Disk {
        &self.inner
    }

    /// Errors: the store is locked.
    fn path_below<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        let Ok(below) = path.strip_prefix(&self.folder) else { return Ok(path.into()) };
        match (self.seal)() {
            Some(seal) => Ok(self.folder.join(sealed_path(&seal, below)).into()),
            None => Err(io::Error::new(ErrorKind::NotFound, "the store is locked")),
        }
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        if self.seal_of(path).is_none() {
            return self.inner.open(&self.path_below(path)?, offset);
        }
        let mut file = self.open_stored(path)?;
        if is_packed(path) {
            let mut stored = Vec::new();
            file.read_to_end(&mut stored)?;
            file = Box::new(unpacked(stored)?);
        }
        file.seek(io::SeekFrom::Start(offset))?;
        Ok(file)
    }

    fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        let mut file = self.inner.open_stored(&self.path_below(path)?)?;
        let Some(seal) = self.seal_of(path) else { return Ok(file) };
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        let damaged = || io::Error::new(ErrorKind::InvalidData, "the sealed file is damaged, or sealed with another key");
        Ok(Box::new(Cursor::new(seal.open_file(content).ok_or_else(damaged)?)))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let Some(seal) = self.seal_of(path) else { return self.inner.list(&self.path_below(path)?) };
        let mut entries = Vec::new();
        let mut open = vec![(self.path_below(path)?.into_owned(), String::new())];
        while let Some((directory, start)) = open.pop() {
            for mut entry in self.inner.list(&directory)? {
                let Some(part) = entry.path.file_name().and_then(OsStr::to_str) else { continue };
                match part.strip_suffix(CONTINUED) {
                    Some(part) if entry.directory => {
                        let start = format!("{start}{part}");
                        open.push((entry.path, start));
                    }
                    _ => {
                        let Some(name) = opened_name(&seal, &format!("{start}{part}")) else { continue };
                        entry.path = path.join(name);
                        entries.push(entry);
                    }
                }
            }
        }
        Ok(entries)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        match self.seal_of(path) {
            None => self.inner.resolve(&self.path_below(path)?),
            Some(_) => self.identify(path).map(|_| path.to_owned()),
        }
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        let file = self.inner.create(&self.path_below(path)?, &self.path_below(like)?)?;
        Ok(match self.seal_of(path) {
            None => file,
            Some(seal) => Box::new(SealedFile { file, seal, content: Vec::new(), modified: None }),
        })
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<u64> {
        match self.seal_of(path) {
            None => self.inner.append(&self.path_below(path)?, bytes),
            Some(_) => Err(io::Error::new(ErrorKind::Unsupported, "a sealed file is written as a whole")),
        }
    }
}

struct SealedFile {
    file: Box<dyn NewFile>,
    seal: Seal,
    content: Vec<u8>,
    modified: Option<i128>,
}

impl Write for SealedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for SealedFile {
    fn set_modified(&mut self, modified: i128) -> io::Result<()> {
        self.modified = Some(modified);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.write_all(&self.seal.seal_file(std::mem::take(&mut self.content)))?;
        if let Some(modified) = self.modified {
            self.file.set_modified(modified)?;
        }
        self.file.sync()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at the files")]
mod tests {
    use super::*;
    use crate::fsio::RealDisk;
    use zeroize::Zeroizing;

    #[test]
    fn a_sealed_folder_is_used_as_a_clear_one() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("kept");
        let seal = Seal::new(Some(&Zeroizing::new([1; 32])), None, false);
        let disk = SealedDisk::new(RealDisk, folder.clone(), move || Some(seal.clone()));
        let long = "x".repeat(250);
        let path = folder.join("client").join(&long).join("s.jsonl");
        let temporary = path.with_file_name(".new");
        disk.make(&temporary, true).unwrap();
        let mut file = disk.create(&temporary, &temporary).unwrap();
        file.write_all(b"the content").unwrap();
        file.set_modified(1_000_000_000).unwrap();
        file.sync().unwrap();
        disk.rename(&temporary, &path).unwrap();
        let paths = |path: &Path| disk.list(path).unwrap().into_iter().map(|entry| entry.path).collect::<Vec<_>>();
        assert_eq!(paths(&folder), [folder.join("client")]);
        assert_eq!(paths(&folder.join("client")), [folder.join("client").join(&long)]);
        assert_eq!(paths(path.parent().unwrap()), std::slice::from_ref(&path));
        assert_eq!(disk.identify(&path).unwrap().modified, 1_000_000_000);
        let mut content = String::new();
        disk.open(&path, 4).unwrap().read_to_string(&mut content).unwrap();
        assert_eq!(content, "content");
        assert!(!folder.join("client").exists());
        let locked = SealedDisk::new(RealDisk, folder.clone(), || None);
        assert!(locked.identify(&path).is_err() && locked.list(&folder).is_err());
        disk.remove(&path).unwrap();
        assert!(paths(path.parent().unwrap()).is_empty());
    }
}
