//! Failed calls: why they failed, what worked instead, and the commands that calls run.

mod differences;
pub mod error_lines;
pub mod fixes;
pub mod resolutions;

pub use fixes::{Failure, Fixes};
