//! Requests that run on many sessions at once, one session after the other.

mod changes;
mod interrupt;
mod options;
mod sessions;
mod visit;

pub use changes::run;
pub use options::BulkOptions;
pub use sessions::{BulkSession, listed, stored};
pub use visit::{Visited, fail, outcome, reason, row, visit, visit_with};
