//! A disk on which the files in one folder are sealed, with their names and those of their folders.

use super::seal::Seal;
use crate::fsio::{Disk, Entry, NewFile, OpenFile, is_packed, unpacked};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::borrow::Cow;
use std::collections::HashSet;
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

    /// Returns the keys and the path in the folder of a file that is not simply stored as it is: it is in the folder, and that is sealed or
    /// being converted.
    /// Errors: the store is locked.
    fn seal_of<'p>(&self, path: &'p Path) -> io::Result<Option<(Seal, &'p Path)>> {
        let Ok(below) = path.strip_prefix(&self.folder) else { return Ok(None) };
        let locked = || io::Error::new(ErrorKind::NotFound, "the store is locked");
        let seal = (self.seal)().ok_or_else(locked)?;
        Ok((seal.forms().len() > 1).then_some((seal, below)))
    }

    /// Returns the paths at which a file can be stored, that of a new one first.
    fn places(&self, seal: &Seal, below: &Path) -> Vec<PathBuf> {
        seal.forms().iter().map(|form| self.folder.join(sealed_path(form, below))).collect()
    }

    /// Removes the files among these paths.
    fn remove_places(&self, places: &[PathBuf]) -> io::Result<()> {
        places.iter().filter(|place| self.inner.identify(place).is_ok()).try_for_each(|place| self.inner.remove(place))
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

/// Returns true if a file or a folder has a sealed name, or a part of one.
pub(super) fn is_sealed_name(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.ends_with(CONTINUED) || URL_SAFE_NO_PAD.decode(name).is_ok_and(|sealed| Seal::is_name(&sealed))
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

    fn path_below<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        let Some((seal, below)) = self.seal_of(path)? else { return Ok(path.into()) };
        let mut places = self.places(&seal, below);
        let stored = places.iter().position(|place| self.inner.identify(place).is_ok());
        Ok(places.swap_remove(stored.unwrap_or_default()).into())
    }

    fn written_below<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        let Some((seal, below)) = self.seal_of(path)? else { return Ok(path.into()) };
        Ok(self.places(&seal, below).swap_remove(0).into())
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        if self.seal_of(path)?.is_none() {
            return self.inner.open(path, offset);
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
        let stored = self.path_below(path)?;
        let mut file = self.inner.open_stored(&stored)?;
        // A clear file in a sealed store was written while its keys were missing.
        let Some((seal, _)) = self.seal_of(path)?.filter(|(seal, _)| stored != path || !seal.is_sealed()) else {
            return Ok(file);
        };
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        let damaged = || io::Error::new(ErrorKind::InvalidData, "the sealed file is damaged, or sealed with another key");
        Ok(Box::new(Cursor::new(seal.open_file(content).ok_or_else(damaged)?)))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let Some((seal, below)) = self.seal_of(path)? else { return self.inner.list(path) };
        let (mut entries, mut names, mut listed) = (Vec::new(), HashSet::new(), Err(ErrorKind::NotFound.into()));
        for form in seal.forms() {
            match self.list_form(&form, below) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                found => entries.extend(found?.into_iter().filter(|entry| names.insert(entry.path.clone()))),
            }
            listed = Ok(());
        }
        listed.map(|()| entries)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        match self.seal_of(path)? {
            None => self.inner.resolve(path),
            Some(_) => self.identify(path).map(|_| path.to_owned()),
        }
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        let file = self.inner.create(&self.written_below(path)?, &self.path_below(like)?)?;
        Ok(match self.seal_of(path)? {
            Some((seal, _)) if seal.is_sealed() => Box::new(SealedFile { file, seal, content: Vec::new(), modified: None }),
            _ => file,
        })
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<u64> {
        match self.seal_of(path)? {
            None => self.inner.append(path, bytes),
            Some(_) => Err(io::Error::new(ErrorKind::Unsupported, "a sealed file is written as a whole")),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(&self.path_below(from)?, &self.written_below(to)?)?;
        let Some((seal, below)) = self.seal_of(to)? else { return Ok(()) };
        // One in another form is replaced too.
        self.remove_places(&self.places(&seal, below)[1..])
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(&self.path_below(path)?)?;
        let Some((seal, below)) = self.seal_of(path)? else { return Ok(()) };
        self.remove_places(&self.places(&seal, below))
    }
}

impl<D: Disk> SealedDisk<D> {
    /// Returns the entries of a directory in the folder that are stored in one form.
    fn list_form(&self, form: &Seal, below: &Path) -> io::Result<Vec<Entry>> {
        let path = self.folder.join(below);
        if !form.is_sealed() {
            let is_clear = |entry: &Entry| !entry.path.file_name().is_some_and(is_sealed_name);
            return Ok(self.inner.list(&path)?.into_iter().filter(is_clear).collect());
        }
        let mut entries = Vec::new();
        let mut open = vec![(self.folder.join(sealed_path(form, below)), String::new())];
        while let Some((directory, start)) = open.pop() {
            for mut entry in self.inner.list(&directory)? {
                let Some(part) = entry.path.file_name().and_then(OsStr::to_str) else { continue };
                match part.strip_suffix(CONTINUED) {
                    Some(part) if entry.directory => {
                        let start = format!("{start}{part}");
                        open.push((entry.path, start));
                    }
                    _ => {
                        let Some(name) = opened_name(form, &format!("{start}{part}")) else { continue };
                        entry.path = path.join(name);
                        entries.push(entry);
                    }
                }
            }
        }
        Ok(entries)
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
