//! Files of the cache that are read and replaced as a whole: a hash of the rest, the version of the content, and the content.

use super::seal::Seal;
use crate::fsio::Disk;
use crate::model::Key;
use crate::model::limits::TOTALS_BYTES;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::PathBuf;

const FILE: &[u8] = b"cache file";

/// A file of the cache; without a path, every lookup is a miss and every write a no-op.
#[derive(Debug, Default)]
pub(super) struct WholeFile {
    path: Option<PathBuf>,
    seal: Seal,
}

impl WholeFile {
    /// Returns a file that must exist: each new one takes the mode of the old one.
    pub fn at(path: PathBuf, seal: &Seal) -> WholeFile {
        WholeFile { path: Some(path), seal: seal.clone() }
    }

    /// Reads the file; `None` if it cannot be read, or opened by the seal.
    pub fn read(&self, disk: &dyn Disk) -> Option<Vec<u8>> {
        let path = self.path.as_ref()?;
        let length = disk.identify(path).ok()?.bytes as usize;
        let mut bytes = Vec::with_capacity(length.min(TOTALS_BYTES) + 1);
        disk.open(path, 0).ok()?.take(TOTALS_BYTES as u64).read_to_end(&mut bytes).ok()?;
        self.seal.open(bytes, FILE)
    }

    /// Replaces the file. No-op while another process replaces it.
    pub fn replace(&self, disk: &dyn Disk, bytes: impl FnOnce() -> Option<Vec<u8>>) {
        let Some(path) = &self.path else { return };
        // Concurrent writers write nearly the same; what is lost is scanned again. Where locks are not available, the hash detects
        // interleaved writes.
        let lock = disk.lock(&path.with_extension("lock"));
        if matches!(lock, Ok(None)) {
            return;
        }
        let Some(bytes) = bytes().map(|bytes| self.seal.seal(bytes, FILE)) else { return };
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

/// Returns the bytes of a file with this content.
pub(super) fn with_hash(format: u8, content: &[u8]) -> Vec<u8> {
    let content = [&[format], content].concat();
    [&Key::from_bytes(&content).0.to_le_bytes()[..], &content].concat()
}

/// Returns the content of a file with these bytes; `None` if it is damaged or has another version.
pub(super) fn content(format: u8, bytes: &[u8]) -> Option<&[u8]> {
    let (key, content) = bytes.split_first_chunk()?;
    let content = (Key::from_bytes(content).0.to_le_bytes() == *key).then_some(content)?;
    content.split_first().filter(|(first, _)| **first == format).map(|(_, content)| content)
}

/// The content of a file in parts, which are unpacked on request: it begins with their names, their states and their lengths.
#[derive(Debug)]
pub(super) struct Parts<S> {
    bytes: Vec<u8>,
    pub places: FxHashMap<String, (S, Range<usize>)>,
}

impl<S> Default for Parts<S> {
    fn default() -> Parts<S> {
        Parts { bytes: Vec::new(), places: FxHashMap::default() }
    }
}

impl<S: Serialize + DeserializeOwned> Parts<S> {
    /// Parses a file; `None` if it is damaged or of another version.
    pub fn parse(format: u8, bytes: Vec<u8>) -> Option<Parts<S>> {
        let (index, parts): (Vec<(String, S, u32)>, _) = postcard::take_from_bytes(content(format, &bytes)?).ok()?;
        let mut end = bytes.len() - parts.len();
        let place = |(name, state, length)| {
            let start = end;
            end += length as usize;
            (name, (state, start..end))
        };
        Some(Parts { places: index.into_iter().map(place).collect(), bytes })
    }

    pub fn part(&self, name: &str) -> Option<(&S, &[u8])> {
        let (state, range) = self.places.get(name)?;
        Some((state, self.bytes.get(range.clone())?))
    }

    pub fn pack(format: u8, parts: &[(&str, S, impl AsRef<[u8]>)]) -> Option<Vec<u8>> {
        let index: Vec<_> = parts.iter().map(|(name, state, part)| (name, state, part.as_ref().len() as u32)).collect();
        let mut content = postcard::to_stdvec(&index).ok()?;
        parts.iter().for_each(|(.., part)| content.extend_from_slice(part.as_ref()));
        Some(with_hash(format, &content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let bytes = Parts::pack(7, &[("one", 1_u8, "first"), ("two", 2, "second")]).unwrap();
        let known: Parts<u8> = Parts::parse(7, bytes.clone()).unwrap();
        assert_eq!(
            ["one", "two", "three"].map(|name| known.part(name)),
            [Some((&1, &b"first"[..])), Some((&2, b"second")), None]
        );
        assert!(Parts::<u8>::parse(8, bytes.clone()).is_none(), "another version");
        for place in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[place] ^= 0x40;
            for broken in [&bytes[..place], &wrong] {
                assert!(Parts::<u8>::parse(7, broken.to_vec()).is_none(), "at {place}");
            }
        }
    }
}
