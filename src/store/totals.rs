//! The totals of all session files in one file of its own beside the cache: a list of sessions needs nothing else.
//!
//! In the database they took more time than anything else that a list does with files that it knows: to open it, to copy its
//! pages, and to copy each value out of them.

use crate::fsio::{Disk, Identity};
use crate::model::Key;
use crate::model::limits::TOTALS_BYTES;
use crate::provider::Totals;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;

/// Goes up when totals change their form or their meaning, or when more of a title is masked; those of another format are not
/// known.
const FORMAT: u8 = 2;

/// The name of the file in the directory of the cache.
pub const TOTALS_FILE: &str = "totals";

/// Where totals are remembered. Every failure is a miss.
#[derive(Debug)]
pub struct TotalsCache {
    file: Option<PathBuf>,
}

impl TotalsCache {
    /// A cache that knows nothing and keeps nothing.
    pub fn none() -> TotalsCache {
        TotalsCache { file: None }
    }

    /// The one in a directory, in which the file must exist: each new one takes the mode of the one before.
    pub fn at(directory: &Path) -> TotalsCache {
        TotalsCache { file: Some(directory.join(TOTALS_FILE)) }
    }

    /// All that is known.
    pub fn read(&self, disk: &dyn Disk) -> KnownTotals {
        let read = |path: &PathBuf| {
            let length = disk.identify(path)?.bytes as usize;
            let mut bytes = Vec::with_capacity(length.min(TOTALS_BYTES) + 1);
            disk.open(path, 0)?.take(TOTALS_BYTES as u64).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        self.file.as_ref().and_then(|path| KnownTotals::parse(read(path).ok()?)).unwrap_or_default()
    }

    /// Remembers totals of files. Those of others stay in directories that are `kept`, and are forgotten in all others.
    pub fn remember(&self, disk: &dyn Disk, files: &[(&Path, Identity, &Totals)], kept: impl Fn(&Path) -> bool) {
        let Some(path) = &self.file else { return };
        // Who writes at the same time writes much the same; what is lost is scanned again. Where nothing can be locked, the
        // hash tells what two of them wrote into one file.
        let lock = disk.lock(&path.with_extension("lock"));
        if matches!(lock, Ok(None)) {
            return;
        }
        let mut known = self.read(disk);
        known.directories.retain(|directory, _| kept(Path::new(directory)));
        let Some(bytes) = known.with(files) else { return };
        let temporary = path.with_extension("new");
        let written = || {
            disk.create(&temporary, path)?.write_all(&bytes)?;
            disk.rename(&temporary, path)
        };
        if written().is_err() {
            let _ = disk.remove(&temporary);
        }
    }
}

/// The totals of session files by directory, as they are packed.
///
/// They are unpacked when a directory is asked for: nothing of a project that is not listed takes time or memory.
#[derive(Debug, Default)]
pub struct KnownTotals {
    /// The file: the hash of what follows, the format, the directories with the lengths of their pieces, the pieces.
    bytes: Vec<u8>,
    directories: FxHashMap<String, Range<usize>>,
}

impl KnownTotals {
    /// What is known of the files of a directory.
    pub fn of_directory(&self, directory: &str) -> FileTotals<'_> {
        self.piece(directory).and_then(FileTotals::unpack).unwrap_or_default()
    }

    fn piece(&self, directory: &str) -> Option<&[u8]> {
        self.directories.get(directory).and_then(|range| self.bytes.get(range.clone()))
    }

    /// What a file holds; nothing if it is damaged or of another format.
    fn parse(bytes: Vec<u8>) -> Option<KnownTotals> {
        let (key, content) = bytes.split_first_chunk()?;
        let (format, content) = content.split_first().filter(|_| Key::from_bytes(content).0.to_le_bytes() == *key)?;
        let (index, pieces): (Vec<(String, u32)>, _) = postcard::take_from_bytes(content).ok().filter(|_| *format == FORMAT)?;
        let mut end = bytes.len() - pieces.len();
        let place = |(directory, length)| {
            let start = end;
            end += length as usize;
            (directory, start..end)
        };
        Some(KnownTotals { directories: index.into_iter().map(place).collect(), bytes })
    }

    /// The same with the totals of some files anew, as the bytes of a file.
    fn with(&self, files: &[(&Path, Identity, &Totals)]) -> Option<Vec<u8>> {
        let mut directories: BTreeMap<&str, Vec<(&str, Identity, &Totals)>> = BTreeMap::new();
        for (path, identity, totals) in files {
            if let Some((directory, name)) = directory_and_name(path) {
                directories.entry(directory).or_default().push((name, *identity, totals));
            }
        }
        let known = self.directories.keys().filter_map(|directory| Some((&**directory, Cow::Borrowed(self.piece(directory)?))));
        let mut pieces: BTreeMap<&str, Cow<'_, [u8]>> = known.collect();
        for (directory, files) in directories {
            pieces.insert(directory, pack(self.piece(directory).unwrap_or_default(), &files)?.into());
        }
        let index: Vec<(&str, u32)> = pieces.iter().map(|(directory, piece)| (*directory, piece.len() as u32)).collect();
        let mut content = postcard::to_extend(&index, vec![FORMAT]).ok()?;
        pieces.values().for_each(|piece| content.extend_from_slice(piece));
        Some([&Key::from_bytes(&content).0.to_le_bytes()[..], &content].concat())
    }
}

/// The directory of a file and its name, as the cache knows them.
pub fn directory_and_name(path: &Path) -> Option<(&str, &str)> {
    // As text: taking a path apart takes longer than all else that a list needs of a file that it knows.
    path.to_str()?.rsplit_once(is_separator)
}

/// The totals of the session files of one directory.
#[derive(Debug, Default)]
pub struct FileTotals<'a> {
    /// Models and directories.
    texts: Vec<Arc<str>>,
    /// In the order of their names.
    files: Vec<File<'a>>,
}

/// A file as it is packed.
#[derive(Debug, Serialize, Deserialize)]
struct File<'a> {
    name: &'a str,
    /// The state in which it was read.
    identity: Identity,
    /// Their places among the texts.
    model: u32,
    directory: u32,
    totals: Totals,
}

impl FileTotals<'_> {
    /// Takes the totals of a file out, if it was read in this state.
    pub fn take(&mut self, name: &str, identity: &Identity) -> Option<Totals> {
        let place = self.files.binary_search_by_key(&name, |file| file.name).ok()?;
        let file = self.files.get_mut(place).filter(|file| file.identity == *identity)?;
        let text = |place: u32| self.texts.get(place as usize).cloned().unwrap_or_default();
        Some(Totals { model: text(file.model), directory: text(file.directory), ..std::mem::take(&mut file.totals) })
    }

    /// The totals that were packed; none when they cannot be read.
    fn unpack(packed: &[u8]) -> Option<FileTotals<'_>> {
        let (texts, files): (Vec<&str>, _) = postcard::from_bytes(packed).ok()?;
        Some(FileTotals { texts: texts.into_iter().map(Arc::from).collect(), files })
    }
}

/// What was `known` of the files of a directory as one piece of bytes, and in its place what is `fresh`.
fn pack(known: &[u8], fresh: &[(&str, Identity, &Totals)]) -> Option<Vec<u8>> {
    let mut known = FileTotals::unpack(known).unwrap_or_default();
    let mut place = |text: &Arc<str>| {
        let place = known.texts.iter().position(|known| known == text).unwrap_or(known.texts.len());
        if place == known.texts.len() {
            known.texts.push(text.clone());
        }
        place as u32
    };
    let mut files: BTreeMap<&str, File<'_>> = BTreeMap::new();
    let fresh = fresh.iter().map(|(name, identity, totals)| {
        let (model, directory) = (place(&totals.model), place(&totals.directory));
        File { name, identity: *identity, model, directory, totals: (*totals).clone() }
    });
    let fresh: Vec<File<'_>> = fresh.collect();
    files.extend(known.files.into_iter().chain(fresh).map(|file| (file.name, file)));
    let texts: Vec<&str> = known.texts.iter().map(|text| &**text).collect();
    postcard::to_stdvec(&(texts, files.into_values().collect::<Vec<_>>())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(model: &str, directory: &str, title: &str) -> Totals {
        Totals { model: model.into(), directory: directory.into(), title: title.into(), steps: 3, ..Totals::default() }
    }

    #[test]
    fn what_is_packed_comes_back() {
        let (old, new) = (Identity::default(), Identity { bytes: 7, modified: 8, changed: 9, inode: (1, 2) });
        let (cart, empty, accent) = (totals("opus", "/shop", "the cart"), totals("haiku", "/shop", ""), totals("opus", "", "é"));
        let packed = pack(&[], &[("b", old, &empty), ("c", old, &cart)]).unwrap();
        let packed = pack(&packed, &[("c", new, &accent), ("a", new, &cart)]).unwrap();
        let mut files = FileTotals::unpack(&packed).unwrap();
        assert_eq!(files.take("a", &new), Some(cart));
        assert_eq!(files.take("b", &new), None, "another state");
        assert_eq!(files.take("b", &old), Some(empty));
        assert_eq!(files.take("c", &old), None, "what is fresh is in the place of what was known");
        assert_eq!(files.take("c", &new), Some(accent));
        assert_eq!(files.take("d", &new), None);
        assert_eq!(packed.windows(5).filter(|bytes| bytes == b"/shop").count(), 1, "each text once");
    }

    #[test]
    fn the_files_of_each_directory_are_known() {
        let (identity, cart) = (Identity::default(), totals("opus", "/shop", "the cart"));
        let file = |path: &'static str| (Path::new(path), identity, &cart);
        let first = KnownTotals::default().with(&[file("/p/a"), file("/q/a"), file("/q/b"), file("nowhere")]).unwrap();
        let both = KnownTotals::parse(first).unwrap().with(&[file("/r/a"), file("/q/c")]).unwrap();
        let known = KnownTotals::parse(both).unwrap();
        for (directory, names) in [("/p", &["a"][..]), ("/q", &["a", "b", "c"]), ("/r", &["a"]), ("/s", &[])] {
            let mut files = known.of_directory(directory);
            let taken: Vec<&str> = ["a", "b", "c"].into_iter().filter(|name| files.take(name, &identity).is_some()).collect();
            assert_eq!(taken, names, "{directory}");
        }
    }

    #[test]
    fn what_is_damaged_is_not_known() {
        let cart = totals("opus", "/shop", "the cart");
        let bytes = KnownTotals::default().with(&[(Path::new("/p/a"), Identity::default(), &cart)]).unwrap();
        assert!(KnownTotals::parse(bytes.clone()).is_some());
        for place in 0..bytes.len() {
            assert!(KnownTotals::parse(bytes[..place].to_vec()).is_none(), "cut at {place}");
            let mut wrong = bytes.clone();
            wrong[place] ^= 0x40;
            assert!(KnownTotals::parse(wrong).is_none(), "wrong at {place}");
        }
    }
}
