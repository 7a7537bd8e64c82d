//! An open session: found, read, and (only here) changed.

mod load;

pub use load::{load, parse_chunk};
