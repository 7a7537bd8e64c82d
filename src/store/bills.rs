//! The bills of all session files, in one file beside the cache, and their sums, in another: adding up the usage reads nothing else of
//! sessions that did not change, and only the sums if none did.

use super::seal::Seal;
use super::whole_file;
use crate::engine::UsageSums;
use crate::fsio::{Disk, Identity};
use crate::model::{FileUsage, Key};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Version of the bills and sums; increased when their form or meaning changes, or a built-in price. Those of another version are ignored.
const FORMAT: u8 = 1;

/// File name of the bills in the directory of the cache.
pub const BILLS_FILE: &str = "bills";
/// File name of their sums there.
pub const SUMS_FILE: &str = "sums";

/// The state of a session file when it was read, and the key of the figures that the operation log had in the place of those in the file.
pub type BilledState = (Identity, Key);

/// The cache of bills. Every failure is a miss.
#[derive(Debug)]
pub struct BillsCache {
    files: Option<[PathBuf; 2]>,
    seal: Seal,
}

impl BillsCache {
    /// Returns a cache without a file: every lookup is a miss, every write a no-op.
    pub fn none() -> BillsCache {
        BillsCache { files: None, seal: Seal::default() }
    }

    /// Returns the cache in a directory where the files must exist: each new file takes the mode of the old one.
    pub fn at(directory: &Path, seal: &Seal) -> BillsCache {
        BillsCache { files: Some([BILLS_FILE, SUMS_FILE].map(|name| directory.join(name))), seal: seal.clone() }
    }

    pub fn read(&self, disk: &dyn Disk) -> KnownBills {
        self.files.as_ref().and_then(|[path, _]| KnownBills::parse(whole_file::read(disk, path, &self.seal)?)).unwrap_or_default()
    }

    pub fn sums(&self, disk: &dyn Disk) -> Option<(Key, UsageSums)> {
        let [_, path] = self.files.as_ref()?;
        postcard::from_bytes(whole_file::content(FORMAT, &whole_file::read(disk, path, &self.seal)?)?).ok()
    }

    pub fn remember_sums(&self, disk: &dyn Disk, key: Key, sums: &UsageSums) {
        if let Some([_, path]) = &self.files {
            whole_file::replace(disk, path, &self.seal, || {
                Some(whole_file::with_hash(FORMAT, &postcard::to_stdvec(&(key, sums)).ok()?))
            });
        }
    }

    /// Stores the bills of all session files; those of a file without new bills are the known ones.
    pub fn remember(&self, disk: &dyn Disk, known: &KnownBills, files: &[(&Path, BilledState, Option<&FileUsage>)]) {
        if let Some([path, _]) = &self.files {
            whole_file::replace(disk, path, &self.seal, || known.with(files));
        }
    }
}

/// The packed bills of session files. Those of a file are unpacked on request.
#[derive(Debug, Default)]
pub struct KnownBills {
    /// The file: its content begins with the paths and states of the session files, and the lengths of their parts; the parts follow.
    bytes: Vec<u8>,
    files: FxHashMap<String, (BilledState, Range<usize>)>,
}

impl KnownBills {
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Returns the bills of a session file; `None` if its state has changed.
    pub fn of_file(&self, path: &Path, state: &BilledState) -> Option<FileUsage> {
        postcard::from_bytes(self.part(path, state)?).ok()
    }

    fn part(&self, path: &Path, state: &BilledState) -> Option<&[u8]> {
        let (known, range) = self.files.get(path.to_str()?)?;
        self.bytes.get(range.clone()).filter(|_| known == state)
    }

    /// Parses the file; empty if it is damaged or of another version.
    fn parse(bytes: Vec<u8>) -> Option<KnownBills> {
        let (index, parts): (Vec<(String, BilledState, u32)>, _) =
            postcard::take_from_bytes(whole_file::content(FORMAT, &bytes)?).ok()?;
        let mut end = bytes.len() - parts.len();
        let place = |(path, state, length)| {
            let start = end;
            end += length as usize;
            (path, (state, start..end))
        };
        Some(KnownBills { files: index.into_iter().map(place).collect(), bytes })
    }

    /// Serializes the bills of files, of which those without new ones are known.
    fn with(&self, files: &[(&Path, BilledState, Option<&FileUsage>)]) -> Option<Vec<u8>> {
        let (mut index, mut parts) = (Vec::with_capacity(files.len()), Vec::new());
        for (path, state, usage) in files {
            let start = parts.len();
            match usage {
                Some(usage) => parts = postcard::to_extend(usage, parts).ok()?,
                None => parts.extend_from_slice(self.part(path, state)?),
            }
            index.extend(path.to_str().map(|path| (path, *state, (parts.len() - start) as u32)));
        }
        Some(whole_file::with_hash(FORMAT, &[postcard::to_stdvec(&index).ok()?, parts].concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsio::RealDisk;

    #[test]
    fn bills_come_back_for_the_same_state_only() {
        let usage = |model: &str| FileUsage { models: vec![model.to_owned()], ..FileUsage::default() };
        let (old, new) = ((Identity::default(), Key(1)), (Identity { bytes: 7, ..Identity::default() }, Key(1)));
        let (a, b) = (Path::new("/p/a"), Path::new("/p/b"));
        let first = KnownBills::default().with(&[(a, old, Some(&usage("opus"))), (b, old, Some(&usage("haiku")))]).unwrap();
        let first = KnownBills::parse(first).unwrap();
        assert_eq!((first.of_file(a, &old), first.of_file(a, &new)), (Some(usage("opus")), None));
        assert_eq!(first.of_file(b, &(old.0, Key(2))), None, "other figures in the log");
        let bytes = first.with(&[(b, old, None), (a, new, Some(&usage("sonnet")))]).unwrap();
        let second = KnownBills::parse(bytes.clone()).unwrap();
        assert_eq!((second.of_file(b, &old), second.of_file(a, &new)), (Some(usage("haiku")), Some(usage("sonnet"))));
        for place in 0..bytes.len() {
            assert!(KnownBills::parse(bytes[..place].to_vec()).is_none(), "cut at {place}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes files")]
    fn damaged_sums_are_unknown() {
        let directory = tempfile::tempdir().unwrap();
        let (cache, path) = (BillsCache::at(directory.path(), &Seal::default()), directory.path().join(SUMS_FILE));
        std::fs::write(&path, "").unwrap();
        assert_eq!(cache.sums(&RealDisk), None);
        cache.remember_sums(&RealDisk, Key(1), &UsageSums::default());
        assert_eq!(cache.sums(&RealDisk), Some((Key(1), UsageSums::default())));
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(cache.sums(&RealDisk), None);
    }
}
