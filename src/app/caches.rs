//! The caches and indexes of the user: disposable files in one directory.

use super::Env;
use super::env::user_cache_directory;
use super::files::make_private;
use crate::store::{
    BILLS_FILE, BillsCache, CACHE_FILE, Cache, MEMORY_INDEX_FILE, MemoryIndex, SEARCH_INDEX_FILE, SUMS_FILE, Seal, SearchIndex,
    TOTALS_FILE, TotalsCache, delete,
};
use std::path::PathBuf;
use std::sync::Arc;

impl Env {
    /// Returns the user's cache, or one that stores nothing; it is opened at the first call.
    pub fn cache(&self) -> &Arc<Cache> {
        let open =
            || self.cache_directory(CACHE_FILE).map_or_else(Cache::default, |(directory, seal)| Cache::open(&directory, &seal));
        self.cache.get_or_init(|| Arc::new(open()))
    }

    /// Returns the cache of session totals, or one that stores nothing.
    pub fn totals(&self) -> TotalsCache {
        self.cache_directory(TOTALS_FILE)
            .map_or_else(TotalsCache::default, |(directory, seal)| TotalsCache::at(&directory, &seal))
    }

    /// Returns the cache of bills, or one that stores nothing.
    pub fn bills(&self) -> BillsCache {
        let directory = self.cache_directory(BILLS_FILE).and_then(|_| self.cache_directory(SUMS_FILE));
        directory.map_or_else(BillsCache::default, |(directory, seal)| BillsCache::at(&directory, &seal))
    }

    /// Returns the index of memory, or one that stores nothing.
    pub fn memory_index(&self) -> MemoryIndex {
        let directory = self.cache_directory(MEMORY_INDEX_FILE);
        directory.map_or_else(MemoryIndex::default, |(directory, seal)| MemoryIndex::open(&directory, &seal))
    }

    /// Opens the index of search; one that is lost with the process if it cannot be kept.
    /// Errors: it cannot be opened or created.
    pub fn search_index(&self) -> rusqlite::Result<SearchIndex> {
        let directory = self.cache_directory(SEARCH_INDEX_FILE);
        directory.map_or_else(SearchIndex::in_memory, |(directory, seal)| SearchIndex::open(&directory, &seal))
    }

    /// Deletes the index of search, as far as possible.
    pub fn delete_search_index(&self) {
        if let Some((directory, _)) = self.cache_directory(SEARCH_INDEX_FILE) {
            delete(&directory, SEARCH_INDEX_FILE);
        }
    }

    /// Returns the cache directory, with a file in it that only the user can read, and the keys; `None` if caching is off or impossible, or
    /// the store is locked.
    fn cache_directory(&self, file: &str) -> Option<(PathBuf, Seal)> {
        let directory = user_cache_directory().filter(|_| self.cached)?;
        let seal = self.keys.seal().ok()?;
        make_private(&directory, file).ok()?;
        Some((directory, seal))
    }

    /// Returns the directory of the caches and indexes, and their size in bytes; `None` if nothing is cached.
    pub fn cached_size(&self) -> Option<(PathBuf, u64)> {
        let directory = user_cache_directory().filter(|_| self.cached)?;
        let files = self.disk.list(&directory).unwrap_or_default();
        let size = files.iter().filter_map(|entry| self.disk.identify(&entry.path).ok()).map(|identity| identity.bytes).sum();
        Some((directory, size))
    }

    /// Deletes all caches and indexes, which are made again, as far as possible.
    pub fn delete_caches(&self) {
        for file in [CACHE_FILE, SEARCH_INDEX_FILE, MEMORY_INDEX_FILE, TOTALS_FILE, BILLS_FILE, SUMS_FILE] {
            user_cache_directory().iter().for_each(|directory| delete(directory, file));
        }
    }
}
