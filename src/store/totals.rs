//! The totals of all session files, in one file beside the cache: a list of sessions reads nothing else.
//!
//! In the database they dominated the time of a list of cached sessions: opening it, copying its
//! pages, and copying each value out of them.

use super::seal::Seal;
use super::whole_file;
use crate::fsio::{Disk, Identity};
use crate::provider::Totals;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;

/// Version of the totals; increased when their form or meaning changes, or more of a title is masked. Totals of another version are
/// ignored.
const FORMAT: u8 = 11;

/// File name in the directory of the cache.
pub const TOTALS_FILE: &str = "totals";

/// The cache of totals. Every failure is a miss.
#[derive(Debug)]
pub struct TotalsCache {
    file: Option<PathBuf>,
    seal: Seal,
}

impl TotalsCache {
    /// Returns a cache without a file: every lookup is a miss, every write a no-op.
    pub fn none() -> TotalsCache {
        TotalsCache { file: None, seal: Seal::default() }
    }

    /// Returns the cache in a directory where the file must exist: each new file takes the mode of the old one.
    pub fn at(directory: &Path, seal: &Seal) -> TotalsCache {
        TotalsCache { file: Some(directory.join(TOTALS_FILE)), seal: seal.clone() }
    }

    pub fn read(&self, disk: &dyn Disk) -> KnownTotals {
        self.file.as_ref().and_then(|path| KnownTotals::parse(whole_file::read(disk, path, &self.seal)?)).unwrap_or_default()
    }

    /// Stores totals of files. Totals of other files stay in the directories in `kept`, and are deleted in all others.
    pub fn remember(&self, disk: &dyn Disk, files: &[(&Path, Identity, &Totals)], kept: impl Fn(&Path) -> bool) {
        let Some(path) = &self.file else { return };
        whole_file::replace(disk, path, &self.seal, || {
            let mut known = self.read(disk);
            known.directories.retain(|directory, _| kept(Path::new(directory)));
            known.with(files)
        });
    }
}

/// The packed totals of session files, by directory.
///
/// A directory is unpacked on request: projects that are not listed take no time and no memory.
#[derive(Debug, Default)]
pub struct KnownTotals {
    /// The file: the hash of the rest, the version, the directories with the lengths of their parts, the parts.
    bytes: Vec<u8>,
    directories: FxHashMap<String, Range<usize>>,
}

impl KnownTotals {
    pub fn of_directory(&self, directory: &str) -> FileTotals<'_> {
        self.piece(directory).and_then(FileTotals::unpack).unwrap_or_default()
    }

    fn piece(&self, directory: &str) -> Option<&[u8]> {
        self.directories.get(directory).and_then(|range| self.bytes.get(range.clone()))
    }

    /// Parses the file; empty if it is damaged or of another version.
    fn parse(bytes: Vec<u8>) -> Option<KnownTotals> {
        let (index, pieces): (Vec<(String, u32)>, _) = postcard::take_from_bytes(whole_file::content(FORMAT, &bytes)?).ok()?;
        let mut end = bytes.len() - pieces.len();
        let place = |(directory, length)| {
            let start = end;
            end += length as usize;
            (directory, start..end)
        };
        Some(KnownTotals { directories: index.into_iter().map(place).collect(), bytes })
    }

    /// Serializes the totals with those of some files replaced.
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
        let mut content = postcard::to_stdvec(&index).ok()?;
        pieces.values().for_each(|piece| content.extend_from_slice(piece));
        Some(whole_file::with_hash(FORMAT, &content))
    }
}

/// Splits a path into the directory and the file name used as keys.
pub fn directory_and_name(path: &Path) -> Option<(&str, &str)> {
    // As text: parsing the path would dominate the time that a list needs for a cached file.
    path.to_str()?.rsplit_once(is_separator)
}

/// The totals of the session files of one directory.
#[derive(Debug, Default)]
pub struct FileTotals<'a> {
    texts: Vec<Arc<str>>,
    /// Files, sorted by name.
    files: Vec<File<'a>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File<'a> {
    name: &'a str,
    /// State of the file when it was read.
    identity: Identity,
    /// Indexes of model and directory in the texts.
    model: u32,
    directory: u32,
    totals: Totals,
}

impl FileTotals<'_> {
    /// Removes and returns the totals of a file; `None` if its state has changed.
    pub fn take(&mut self, name: &str, identity: &Identity) -> Option<Totals> {
        let place = self.files.binary_search_by_key(&name, |file| file.name).ok()?;
        let file = self.files.get_mut(place).filter(|file| file.identity == *identity)?;
        let text = |place: u32| self.texts.get(place as usize).cloned().unwrap_or_default();
        Some(Totals { model: text(file.model), directory: text(file.directory), ..std::mem::take(&mut file.totals) })
    }

    /// Unpacks the totals; empty if they are damaged.
    fn unpack(packed: &[u8]) -> Option<FileTotals<'_>> {
        let (texts, files): (Vec<&str>, _) = postcard::from_bytes(packed).ok()?;
        Some(FileTotals { texts: texts.into_iter().map(Arc::from).collect(), files })
    }
}

/// Packs the totals of a directory: those `known` before, replaced by `fresh` ones.
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
    fn packed_totals_are_restored() {
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
    fn damaged_totals_are_unknown() {
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
