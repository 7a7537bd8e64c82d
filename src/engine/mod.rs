//! Decisions: what blocks cost, how they are used, what is stale, what a manifest says.
//!
//! Everything here is a function of values: no file, no clock, no format.

mod advice;
mod binding;
mod calls;
mod capacity;
mod check;
mod choices;
pub mod diff;
mod events;
mod explain;
mod git_hook;
mod ground;
mod keywords;
mod known;
mod label;
mod manifest;
pub mod marker;
mod measure;
pub mod model_commands;
mod numbers;
mod outdated;
mod passwords;
mod patience;
mod price;
mod prices;
mod reading;
pub mod recall;
mod reduce;
mod references;
mod retention;
mod rules;
mod secret_examples;
mod secret_shapes;
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
mod vocabulary;
mod zones;

pub use advice::{Advice, Forecast, Suggestion, SuggestionKind, expiring};
pub use binding::{Binding, binding, binding_of};
pub use capacity::{Capacity, CapacitySource, capacity};
pub use check::{CHECKS, Check, CheckLimits, Checked, Sighting, Violation, violations};
pub use choices::{Choice, choices, items};
pub use events::{BlockUpdate, Executed, Happening, Opened, OtherSession, Seen, SelectionChange, Update, opened};
pub use explain::{Explanation, LevelKept, Referred, explain, levels, stale_reason};
pub use git_hook::{GitHook, HookError, with_hook, without_hook};
pub use ground::{LEAST_BYTES, instructs, is_compacted, is_ground, is_said};
pub use known::{Known, could_be_named, kind_of, named_in};
pub use label::{label, placeholder_label};
pub use manifest::{ArchivedRun, Entry, Manifest, ZoneSummary, entry, manifest};
pub use measure::{counts, measure, preview};
pub use model_commands::{ModelPolicy, Permission};
pub use numbers::{amount, count, plural, unit};
pub use patience::{PERISHABLE, Patience, StalePolicy};
pub use price::{EditFacts, EditPrice, idle_milliseconds, price, steps_per_turn};
pub use prices::{Dollars, LongPrompt, ModelPrice, PriceSetting, PriceTable, Prices};
pub use reading::{ReadSettings, Reading, costs, outline, read, read_with, unbilled_costs};
pub use reduce::{KeptPieces, Reducible, hint};
pub use retention::{Forgettable, forgettable};
pub use rules::Rules;
pub use secret_examples::examples as secret_examples;
pub use secrets::{Secret, find as find_secrets, mask, mask_cut, masked};
pub use selector::{Selector, SelectorError};
pub use states::{TRANSITIONS, Transition, lifecycle};
pub use strategy::{
    Context, DEFAULT_PRESET, Left, Need, Old, Outlined, PRESETS, Preset, Selection, Shortened, Subject, Why, bounded_words,
    digest, newest, plan_key, preset, reduce, why_old,
};
pub use terms::terms as terms_of;
pub use vocabulary::o200k;
