//! Files of the cache that are read and replaced as a whole: a hash of the rest, the version of the content, and the content.

use super::seal::Seal;
use crate::fsio::Disk;
use crate::model::Key;
use crate::model::limits::TOTALS_BYTES;
use std::io::{Read, Write};
use std::path::Path;

/// The context of these files.
const FILE: &[u8] = b"cache file";

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

/// Reads a file; `None` if it cannot be read, or opened by the seal.
pub(super) fn read(disk: &dyn Disk, path: &Path, seal: &Seal) -> Option<Vec<u8>> {
    let length = disk.identify(path).ok()?.bytes as usize;
    let mut bytes = Vec::with_capacity(length.min(TOTALS_BYTES) + 1);
    disk.open(path, 0).ok()?.take(TOTALS_BYTES as u64).read_to_end(&mut bytes).ok()?;
    seal.open(bytes, FILE)
}

/// Replaces a file, which must exist: the new one takes its mode. No-op while another process replaces it.
pub(super) fn replace(disk: &dyn Disk, path: &Path, seal: &Seal, bytes: impl FnOnce() -> Option<Vec<u8>>) {
    // Concurrent writers write nearly the same; what is lost is scanned again. Where locks are not available, the hash detects
    // interleaved writes.
    let lock = disk.lock(&path.with_extension("lock"));
    if matches!(lock, Ok(None)) {
        return;
    }
    let Some(bytes) = bytes().map(|bytes| seal.seal(bytes, FILE)) else { return };
    let temporary = path.with_extension("new");
    let written = || {
        disk.create(&temporary, path)?.write_all(&bytes)?;
        disk.rename(&temporary, path)
    };
    if written().is_err() {
        let _ = disk.remove(&temporary);
    }
}
