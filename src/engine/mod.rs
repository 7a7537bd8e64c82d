//! Decisions: what blocks cost, how they are used, what is stale, what a manifest says.
//!
//! Everything here is a function of values: no file, no clock, no format.

mod calls;
mod capacity;
pub mod diff;
mod keywords;
mod label;
mod manifest;
pub mod marker;
mod measure;
mod numbers;
mod outdated;
mod price;
mod prices;
mod reading;
pub mod recall;
mod reduce;
mod references;
mod retention;
mod rules;
mod secrets;
pub mod selector;
mod states;
mod stop_words;
mod strategy;
pub mod summary;
mod terms;
pub mod tokens;
mod topics;
mod turns;
mod zones;

pub use capacity::{Capacity, CapacitySource, capacity};
pub use label::label;
pub use manifest::{ArchivedRun, Entry, Manifest, ZoneSummary, entry, manifest, stale_reason};
pub use measure::{load_vocabulary, measure, o200k, preview};
pub use numbers::{amount, count};
pub use price::{EditFacts, EditPrice, idle_milliseconds, price, price_of_stale, steps_per_turn};
pub use prices::{Dollars, LongPrompt, ModelPrice, PriceSetting, PriceTable, Prices};
pub use reading::{ReadSettings, Reading, read, read_with};
pub use reduce::{Reducible, hint};
pub use retention::{Forgettable, forgettable};
pub use rules::Rules;
pub use secrets::mask;
pub use selector::{Selector, SelectorError};
pub use states::StalePolicy;
pub use strategy::{
    Context, DEFAULT_PRESET, Need, PRESETS, Planned, Preset, Shortened, Subject, newest, plan, preset, reduce, why_old,
};
pub use terms::terms as terms_of;
