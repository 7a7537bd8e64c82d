//! Decisions: what blocks cost, how they are used, what is stale, what a manifest says.
//!
//! Everything here is a function of values: no file, no clock, no format.

mod calls;
mod keywords;
mod measure;
mod outdated;
mod references;
mod states;
mod terms;
mod topics;
mod turns;
mod zones;

pub use measure::{load_vocabulary, measure, o200k, preview};
pub use states::StalePolicy;
