//! Decisions: what blocks cost, how they are used, what is stale, what a manifest says.
//!
//! Everything here is a function of values: no file, no clock, no format.

mod calls;
mod capacity;
mod keywords;
mod label;
mod manifest;
mod measure;
mod outdated;
mod reading;
pub mod recall;
mod references;
mod secrets;
pub mod selector;
mod states;
mod stop_words;
mod terms;
pub mod tokens;
mod topics;
mod turns;
mod zones;

pub use capacity::{Capacity, CapacitySource, capacity};
pub use label::label;
pub use manifest::{Entry, Manifest, ZoneSummary, entry, manifest, stale_reason};
pub use measure::{load_vocabulary, measure, o200k, preview};
pub use reading::{ReadSettings, Reading, read};
pub use secrets::mask;
pub use selector::{Selector, SelectorError};
pub use states::StalePolicy;
