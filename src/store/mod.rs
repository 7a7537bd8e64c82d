//! The cache: what was read before, so that it need not be read again.
//!
//! One SQLite file. All of it is disposable: deleting it costs time and loses nothing. Every failure here is a miss, never
//! an error, so that aperture works on a read-only disk and beside a broken cache.

mod cache;
mod packed;

pub use cache::{CACHE_FILE, Cache, CachedFile, KnownTotals, directory_and_name};
