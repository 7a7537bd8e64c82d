//! Access to the stored originals, independent of the storage.

use crate::model::Address;
use std::collections::BTreeMap;
use std::error::Error;

/// The values that a log refers to, by their addresses.
pub trait Originals {
    /// Returns a value.
    /// Errors: the value is missing or damaged, or the store cannot be read.
    fn original(&self, address: &Address) -> Result<Vec<u8>, OriginalError>;

    /// Returns the length of a value in bytes.
    fn original_length(&self, address: &Address) -> Result<u64, OriginalError> {
        Ok(self.original(address)?.len() as u64)
    }
}

/// An error of the store that holds the originals.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OriginalError(pub Box<dyn Error + Send + Sync>);

impl Originals for BTreeMap<Address, Vec<u8>> {
    fn original(&self, address: &Address) -> Result<Vec<u8>, OriginalError> {
        self.get(address).cloned().ok_or_else(|| OriginalError("a value of the log is missing".into()))
    }
}
