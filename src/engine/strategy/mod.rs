//! Strategies: what is shortened, and how far.

mod level;
mod need;
mod plan;
mod preset;
mod select;
#[cfg(test)]
mod tests;

pub use level::{Context, reduce};
pub use need::Need;
pub use plan::{Planned, Shortened, Subject, newest, plan, why_old};
pub use preset::{DEFAULT_PRESET, PRESETS, Preset, preset};
