//! Strategies: the selection of blocks to shorten, and the degree of shortening.

mod automatic;
mod digest;
mod level;
mod need;
mod plan;
mod preset;
mod rules;
mod select;
#[cfg(test)]
mod tests;

pub use automatic::{AutomaticFacts, AutomaticRule, LastAutomatic, Verdict};
pub use digest::{Digest, DigestSource, bounded_words, is_prompt};
pub use level::{Context, reduce};
pub use need::Need;
pub use plan::{Left, Outlined, Shortened, Subject, Why, newest, plan_key, why_old};
pub use preset::{DEFAULT_PRESET, PRESETS, Preset, preset};
pub use rules::{Rules, first_of_last_turns, old_thinking};
pub use select::Selection;
