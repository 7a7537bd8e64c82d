//! Implements the storage traits of planning for the store and the cache.

use crate::model::{Address, Key};
use crate::planning::{OriginalError, Originals, PlanCache};
use crate::store::{Cache, Store, StoreError};

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
