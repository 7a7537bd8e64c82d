//! The caches and indexes of the user: disposable files in one directory.

use super::Env;
use super::env::user_cache_directory;
use super::files::make_private;
use crate::fsio::Disk;
use crate::store::{
    BILLS_FILE, BillsCache, CACHE_FILE, Cache, MEMORY_INDEX_FILE, MemoryIndex, SEARCH_INDEX_FILE, SUMS_FILE, SearchIndex,
    TOTALS_FILE, TotalsCache,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Env {
    /// Returns the user's cache, or one that stores nothing; it is opened at the first call.
    pub fn cache(&self) -> &Arc<Cache> {
        let open = || self.cache_directory(CACHE_FILE).map_or_else(Cache::none, |directory| open_cache(self.disk, &directory));
        self.cache.get_or_init(|| Arc::new(open()))
    }

    /// Returns the cache of session totals, or one that stores nothing.
    pub fn totals(&self) -> TotalsCache {
        self.cache_directory(TOTALS_FILE).map_or_else(TotalsCache::none, |directory| TotalsCache::at(&directory))
    }

    /// Returns the cache of bills, or one that stores nothing.
    pub fn bills(&self) -> BillsCache {
        let directory = self.cache_directory(BILLS_FILE).and_then(|_| self.cache_directory(SUMS_FILE));
        directory.map_or_else(BillsCache::none, |directory| BillsCache::at(&directory))
    }

    /// Returns the index of memory, or one that stores nothing.
    pub fn memory_index(&self) -> MemoryIndex {
        self.cache_directory(MEMORY_INDEX_FILE).map_or_else(MemoryIndex::none, |directory| MemoryIndex::open(&directory))
    }

    /// Opens the index of search; one that is lost with the process if it cannot be kept.
    /// Errors: it cannot be opened or created.
    pub fn search_index(&self) -> rusqlite::Result<SearchIndex> {
        self.cache_directory(SEARCH_INDEX_FILE).map_or_else(SearchIndex::in_memory, |directory| SearchIndex::open(&directory))
    }

    /// Deletes the index of search, as far as possible.
    pub fn delete_search_index(&self) {
        if let Some(directory) = self.cache_directory(SEARCH_INDEX_FILE) {
            delete(self.disk, &directory, SEARCH_INDEX_FILE);
        }
    }

    /// Returns the cache directory, with a file in it that only the user can read; `None` if caching is off or impossible.
    fn cache_directory(&self, file: &str) -> Option<PathBuf> {
        user_cache_directory().filter(|directory| self.cached && make_private(directory, file).is_ok())
    }
}

/// Opens the cache in a directory; a broken cache is deleted and recreated.
fn open_cache(disk: &dyn Disk, directory: &Path) -> Cache {
    let cache = Cache::open(directory);
    if !cache.is_broken() {
        return cache;
    }
    delete(disk, directory, CACHE_FILE);
    if make_private(directory, CACHE_FILE).is_ok() { Cache::open(directory) } else { Cache::none() }
}

/// Deletes a database with the files beside it, as far as possible.
fn delete(disk: &dyn Disk, directory: &Path, file: &str) {
    for ending in ["", "-wal", "-shm"] {
        let _ = disk.remove(&directory.join(format!("{file}{ending}")));
    }
}
