//! The totals of all session files, in one file beside the cache: a list of sessions reads nothing else.
//!
//! In the database they dominated the time of a list of cached sessions: opening it, copying its
//! pages, and copying each value out of them.

use super::seal::Seal;
use super::whole_file::{Parts, WholeFile};
use crate::fsio::{Disk, Identity};
use crate::provider::Totals;
use crate::text::lists::index_in;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, is_separator};
use std::sync::Arc;

/// Version of the totals; increased when their form or meaning changes, or more of a title is masked. Totals of another version are
/// ignored.
const FORMAT: u8 = 16;

/// File name in the directory of the cache.
pub const TOTALS_FILE: &str = "totals";

/// The cache of totals. Every failure is a miss.
#[derive(Debug, Default)]
pub struct TotalsCache(WholeFile);

impl TotalsCache {
    /// Returns the cache in a directory where the file must exist; the default is one without a file.
    pub fn at(directory: &Path, seal: &Seal) -> TotalsCache {
        TotalsCache(WholeFile::at(directory.join(TOTALS_FILE), seal))
    }

    pub fn read(&self, disk: &dyn Disk) -> KnownTotals {
        KnownTotals(self.0.read(disk).and_then(|bytes| Parts::parse(FORMAT, bytes)).unwrap_or_default())
    }

    /// Stores totals of files. Totals of other files stay in the directories in `kept`, and are deleted in all others.
    pub fn remember(&self, disk: &dyn Disk, files: &[(&Path, Identity, &Totals)], kept: impl Fn(&Path) -> bool) {
        self.0.replace(disk, || {
            let mut known = self.read(disk);
            known.0.places.retain(|directory, _| kept(Path::new(directory)));
            known.with(files)
        });
    }
}

/// The packed totals of session files, by directory.
///
/// A directory is unpacked on request: projects that are not listed take no time and no memory.
#[derive(Debug, Default)]
pub struct KnownTotals(Parts<()>);

impl KnownTotals {
    pub fn of_directory(&self, directory: &str) -> FileTotals<'_> {
        self.piece(directory).and_then(FileTotals::unpack).unwrap_or_default()
    }

    fn piece(&self, directory: &str) -> Option<&[u8]> {
        self.0.part(directory).map(|(_, piece)| piece)
    }

    fn with(&self, files: &[(&Path, Identity, &Totals)]) -> Option<Vec<u8>> {
        let mut directories: BTreeMap<&str, Vec<(&str, Identity, &Totals)>> = BTreeMap::new();
        for (path, identity, totals) in files {
            if let Some((directory, name)) = directory_and_name(path) {
                directories.entry(directory).or_default().push((name, *identity, totals));
            }
        }
        let known = self.0.places.keys().filter_map(|directory| Some((&**directory, Cow::Borrowed(self.piece(directory)?))));
        let mut pieces: BTreeMap<&str, Cow<'_, [u8]>> = known.collect();
        for (directory, files) in directories {
            pieces.insert(directory, pack(self.piece(directory).unwrap_or_default(), &files)?.into());
        }
        Parts::pack(FORMAT, &pieces.into_iter().map(|(directory, piece)| (directory, (), piece)).collect::<Vec<_>>())
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
    let mut files: BTreeMap<&str, File<'_>> = BTreeMap::new();
    let fresh = fresh.iter().map(|(name, identity, totals)| {
        let (model, directory) = (index_in(&mut known.texts, &totals.model), index_in(&mut known.texts, &totals.directory));
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
        let known = |bytes| KnownTotals(Parts::parse(FORMAT, bytes).unwrap());
        let known = known(known(first).with(&[file("/r/a"), file("/q/c")]).unwrap());
        for (directory, names) in [("/p", &["a"][..]), ("/q", &["a", "b", "c"]), ("/r", &["a"]), ("/s", &[])] {
            let mut files = known.of_directory(directory);
            let taken: Vec<&str> = ["a", "b", "c"].into_iter().filter(|name| files.take(name, &identity).is_some()).collect();
            assert_eq!(taken, names, "{directory}");
        }
    }
}
