//! Storage: the history of sessions, which is durable, and the cache, which is disposable.
//!
//! The store is one SQLite database with the operations on sessions and the bytes that undo them. The cache is
//! another database, an index of search, a file of totals and one of bills; the log of requests is a third one. Every failure of the cache
//! is a miss, never an error, so that aperture works on a read-only disk and with a damaged cache.

mod bills;
mod cache;
mod convert;
mod database;
mod deferred;
mod disposable;
mod effects;
mod export;
mod forget;
mod history;
mod memories;
mod memory_index;
mod packed;
mod proposals;
mod recipient;
mod requests;
mod rows;
mod seal;
mod seal_file;
mod sealed_disk;
mod search_index;
mod sidecar;
mod totals;
mod values;
mod whole_file;
mod wire;

pub use bills::{BILLS_FILE, BilledState, BillsCache, KnownBills, SUMS_FILE};
pub use cache::{CACHE_FILE, Cache, CachedFile};
pub use convert::{DATABASES, StoreCounts, convert_database, convert_folder, counts, expect_unused, holds_sealed};
pub use database::{PATIENCE, STORE_FILE, SessionKey, Store, StoreError, StoredSession, open_unchanged};
pub use deferred::LiveOperation;
pub use disposable::{delete, is_damaged};
pub use effects::{Effects, LoggedCompanion};
pub use export::{Export, ExportError, Relation, relation};
pub use memory_index::{IndexedFile, MEMORY_INDEX_FILE, MemoryIndex};
pub use proposals::{Moment, NewProposal, Outcome};
pub use recipient::{Recipient, encrypt_for};
pub use requests::{LoggedRequest, REQUESTS_FILE, RequestLog};
pub use seal::{KeyBytes, Seal};
pub use seal_file::{KeyMethod, SEAL_FILE, SealFile, SealState, random};
pub use sealed_disk::SealedDisk;
pub use search_index::{IndexedSession, IndexedTurn, ReadSession, SEARCH_INDEX_FILE, SearchIndex, fingerprint};
pub use sidecar::{
    ModelState, NewTask, QueueCounts, QueuedTask, SIDECAR_FILE, SidecarCall, SidecarFailure, SidecarResult, SidecarStore,
};
pub use totals::{FileTotals, KnownTotals, TOTALS_FILE, TotalsCache, directory_and_name};
pub use values::hexadecimal;
pub use wire::{ContentOperation, Insertion, StagedText, WireLine};
