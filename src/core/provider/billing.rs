//! The usage figures that the API billed, and the life of its prompt cache.

/// Reads and writes the usage figures of one format.
pub trait Billing: Sync {
    /// Returns the usage value of a response with `sent` input tokens, from which the client computes how full the window is. `row`
    /// is the row that holds the value; `None` if the value holds no such figure.
    fn usage(&self, value: &[u8], sent: u64, row: &[u8]) -> Option<Vec<u8>>;

    /// Returns true if two usage values hold the same bill.
    fn same_bills(&self, before: &[u8], after: &[u8]) -> bool {
        before == after
    }

    /// Returns the life of the cache entries that a response wrote, in milliseconds, by its usage value.
    fn cache_milliseconds(&self, usage: &[u8]) -> i64;
}
