//! Queries over blocks: selectors and recall.

pub mod recall;
pub mod selector;
