//! Queries over blocks: selectors name them, recall searches them.

pub mod recall;
pub mod selector;
