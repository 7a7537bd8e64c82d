//! What aperture keeps: the history of sessions, which is kept for good, and the cache, which can be lost.
//!
//! The store is one SQLite database with the operations that changed sessions and the bytes that undo them. The cache is
//! another one, and a file of totals: all of it is disposable, and every failure of it is a miss, never an error, so that
//! aperture reads on a read-only disk and beside a broken cache.

mod block_edits;
mod cache;
mod database;
mod export;
mod forget;
mod history;
mod packed;
mod proposals;
mod rows;
mod totals;
mod values;

pub use cache::{CACHE_FILE, Cache, CachedFile};
pub use database::{STORE_FILE, SessionKey, Store, StoreError, StoredSession};
pub use export::{Export, ExportError, Relation, relation};
pub use proposals::Outcome;
pub use totals::{FileTotals, KnownTotals, TOTALS_FILE, TotalsCache, directory_and_name};
pub use values::hexadecimal;
