//! Costs: tokens of blocks and windows, window sizes, model prices, and the cost of an edit.

pub mod binding;
pub mod cache_loss;
pub mod capacity;
pub mod edit_cost;
pub mod model_prices;
pub mod tokens;
