//! Queries over blocks: selectors.

pub mod selector;
