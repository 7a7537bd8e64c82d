//! The bills of all session files, in one file beside the cache, and their sums, in another: adding up the usage reads nothing else of
//! sessions that did not change, and only the sums if none did.

use super::seal::Seal;
use super::whole_file::{Parts, WholeFile, content, with_hash};
use crate::engine::UsageSums;
use crate::fsio::{Disk, Identity};
use crate::model::{FileUsage, Key};
use std::borrow::Cow;
use std::path::Path;

/// Version of the bills and sums; increased when their form or meaning changes, or a built-in price. Those of another version are ignored.
const FORMAT: u8 = 4;

/// File name of the bills in the directory of the cache.
pub const BILLS_FILE: &str = "bills";
/// File name of their sums there.
pub const SUMS_FILE: &str = "sums";

/// The state of a session file when it was read, and the key of the operations that its log had.
pub type BilledState = (Identity, Key);

/// The cache of bills. Every failure is a miss.
#[derive(Debug, Default)]
pub struct BillsCache {
    bills: WholeFile,
    sums: WholeFile,
}

impl BillsCache {
    /// Returns the cache in a directory where the files must exist; the default is one without files.
    pub fn at(directory: &Path, seal: &Seal) -> BillsCache {
        let [bills, sums] = [BILLS_FILE, SUMS_FILE].map(|name| WholeFile::at(directory.join(name), seal));
        BillsCache { bills, sums }
    }

    pub fn read(&self, disk: &dyn Disk) -> KnownBills {
        KnownBills(self.bills.read(disk).and_then(|bytes| Parts::parse(FORMAT, bytes)).unwrap_or_default())
    }

    pub fn sums(&self, disk: &dyn Disk) -> Option<(Key, UsageSums)> {
        postcard::from_bytes(content(FORMAT, &self.sums.read(disk)?)?).ok()
    }

    pub fn remember_sums(&self, disk: &dyn Disk, key: Key, sums: &UsageSums) {
        self.sums.replace(disk, || Some(with_hash(FORMAT, &postcard::to_stdvec(&(key, sums)).ok()?)));
    }

    /// Stores the bills of all session files; those of a file without new bills are the known ones.
    pub fn remember(&self, disk: &dyn Disk, known: &KnownBills, files: &[(&Path, BilledState, Option<&FileUsage>)]) {
        self.bills.replace(disk, || known.with(files));
    }
}

/// The packed bills of session files. Those of a file are unpacked on request.
#[derive(Debug, Default)]
pub struct KnownBills(Parts<BilledState>);

impl KnownBills {
    pub fn count(&self) -> usize {
        self.0.places.len()
    }

    /// Returns the bills of a session file; `None` if its state has changed.
    pub fn of_file(&self, path: &Path, state: &BilledState) -> Option<FileUsage> {
        postcard::from_bytes(self.part(path, state)?).ok()
    }

    fn part(&self, path: &Path, state: &BilledState) -> Option<&[u8]> {
        self.0.part(path.to_str()?).filter(|(known, _)| *known == state).map(|(_, part)| part)
    }

    /// Serializes the bills of files, of which those without new ones are known.
    fn with(&self, files: &[(&Path, BilledState, Option<&FileUsage>)]) -> Option<Vec<u8>> {
        let mut parts: Vec<(&str, BilledState, Cow<'_, [u8]>)> = Vec::with_capacity(files.len());
        for (path, state, usage) in files {
            let part = match usage {
                Some(usage) => postcard::to_stdvec(usage).ok()?.into(),
                None => self.part(path, state)?.into(),
            };
            parts.extend(path.to_str().map(|path| (path, *state, part)));
        }
        Parts::pack(FORMAT, &parts)
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
        let known = |bytes| KnownBills(Parts::parse(FORMAT, bytes).unwrap());
        let first = known(first);
        assert_eq!((first.of_file(a, &old), first.of_file(a, &new)), (Some(usage("opus")), None));
        assert_eq!(first.of_file(b, &(old.0, Key(2))), None, "other figures in the log");
        let second = known(first.with(&[(b, old, None), (a, new, Some(&usage("sonnet")))]).unwrap());
        assert_eq!((second.of_file(b, &old), second.of_file(a, &new)), (Some(usage("haiku")), Some(usage("sonnet"))));
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
