//! Implements the storage traits of planning for the store and the cache, and gives readers the contents that the log replaced.

use super::masked;
use crate::engine::{self, Known};
use crate::model::{Address, History, Key, TraceEvent};
use crate::planning::{OriginalError, Originals, PlanCache, ReplacedValues};
use crate::provider::ProviderAdapter;
use crate::store::{Cache, SessionKey, Store, StoreError};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The contents of a session before operations of its log changed them, and values that are credentials in it.
#[derive(Clone, Debug, Default)]
pub struct LoggedContents {
    replaced: ReplacedValues,
    values: BTreeMap<Address, Vec<u8>>,
    pub named: Known,
}

impl LoggedContents {
    /// Reads them from the store; those that it no longer has are left out.
    /// Errors: the log of the session cannot be read.
    pub fn read(store: &Store, session: SessionKey) -> Result<LoggedContents, StoreError> {
        let history = store.history(session)?;
        let replaced = ReplacedValues::new(history.edits());
        let values = replaced.originals().filter_map(|address| Some((*address, store.original(address).ok()?))).collect();
        Ok(LoggedContents { replaced, values, named: logged_credentials(&history) })
    }

    /// Returns those of a session without a log.
    pub fn without(named: Known) -> LoggedContents {
        LoggedContents { named, ..LoggedContents::default() }
    }

    /// Returns a line of the file with its contents as they were.
    pub fn line<'l>(&self, provider: &dyn ProviderAdapter, line: &'l [u8]) -> Cow<'l, [u8]> {
        let restored = if self.values.is_empty() { None } else { self.replaced.restored(provider, line, &self.values) };
        restored.map_or(Cow::Borrowed(line), Cow::Owned)
    }

    /// Returns an event without the values that are credentials.
    pub fn masked(&self, event: TraceEvent) -> TraceEvent {
        if self.named.is_empty() { event } else { masked(&self.named, event) }
    }
}

/// Returns the values that contents named as credentials before operations changed them, and those that a person removed.
pub(super) fn logged_credentials(history: &History) -> Known {
    let replaced = history.redacted.iter().flat_map(|(before, after)| engine::replaced_texts(before, after));
    let replaced: Vec<String> = replaced.collect();
    let named = Known::new(history.naming.iter().flat_map(|text| engine::named_in(text)));
    named.with(&engine::chosen(replaced.iter().map(String::as_str)))
}

impl Originals for Store {
    fn original(&self, address: &Address) -> Result<Vec<u8>, OriginalError> {
        Ok(self.original(address)?)
    }

    fn original_length(&self, address: &Address) -> Result<u64, OriginalError> {
        Ok(self.original_length(address)?)
    }
}

impl PlanCache for Cache {
    fn plan(&self, key: Key) -> Option<Vec<u8>> {
        self.plan(key)
    }

    fn remember_plan(&self, key: Key, packed: &[u8]) {
        self.remember_plan(key, packed);
    }

    fn count(&self, hash: Key) -> Option<u32> {
        self.count(hash)
    }
}

impl From<StoreError> for OriginalError {
    fn from(error: StoreError) -> OriginalError {
        OriginalError(Box::new(error))
    }
}

/// Returns the error of the store; any other error means that the originals are damaged.
impl From<OriginalError> for StoreError {
    fn from(error: OriginalError) -> StoreError {
        error.0.downcast::<StoreError>().map_or_else(|other| StoreError::Damaged(other.to_string()), |error| *error)
    }
}
