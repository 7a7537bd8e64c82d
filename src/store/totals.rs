//! The totals of the session files of a directory, packed into one piece in which each text stands once.

use crate::fsio::Identity;
use crate::provider::Totals;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, is_separator};
use std::sync::Arc;

/// The totals of session files by directory, as they are packed.
///
/// They are unpacked when a directory is asked for: nothing of a project that is not listed takes time or memory.
#[derive(Debug, Default)]
pub struct KnownTotals(pub(super) FxHashMap<String, Vec<u8>>);

impl KnownTotals {
    /// What is known of the files of a directory.
    pub fn of_directory(&self, directory: &str) -> FileTotals<'_> {
        self.0.get(directory).map(|packed| FileTotals::unpack(packed)).unwrap_or_default()
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
    fn unpack(packed: &[u8]) -> FileTotals<'_> {
        let read = postcard::take_from_bytes::<Vec<&str>>(packed);
        let Some((texts, files)) = read.ok().and_then(|(texts, rest)| Some((texts, postcard::from_bytes(rest).ok()?))) else {
            return FileTotals::default();
        };
        FileTotals { texts: texts.into_iter().map(Arc::from).collect(), files }
    }
}

/// What was `known` of the files of a directory as one piece of bytes, and in its place what is `fresh`.
pub(super) fn pack(known: &[u8], fresh: &[(&str, Identity, &Totals)]) -> Option<Vec<u8>> {
    let mut known = FileTotals::unpack(known);
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
    postcard::to_extend(&files.into_values().collect::<Vec<_>>(), postcard::to_stdvec(&texts).ok()?).ok()
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
        let mut files = FileTotals::unpack(&packed);
        assert_eq!(files.take("a", &new), Some(cart));
        assert_eq!(files.take("b", &new), None, "another state");
        assert_eq!(files.take("b", &old), Some(empty));
        assert_eq!(files.take("c", &old), None, "what is fresh is in the place of what was known");
        assert_eq!(files.take("c", &new), Some(accent));
        assert_eq!(files.take("d", &new), None);
        assert_eq!(packed.windows(5).filter(|bytes| bytes == b"/shop").count(), 1, "each text once");
    }

    #[test]
    fn what_is_damaged_is_not_known() {
        let identity = Identity::default();
        let packed = pack(&[], &[("a", identity, &totals("opus", "/shop", "the cart"))]).unwrap();
        for length in 0..packed.len() {
            assert_eq!(FileTotals::unpack(&packed[..length]).take("a", &identity), None);
        }
        assert!(FileTotals::unpack(&packed).take("a", &identity).is_some());
    }
}
