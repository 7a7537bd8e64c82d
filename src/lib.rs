//! The context of AI coding agents as a structured memory.

pub mod app;
pub mod cli;
pub mod commands;
pub mod engine;
pub mod fsio;
pub mod mcp;
pub mod memory;
pub mod model;
pub mod output;
pub mod planning;
pub mod provider;
#[cfg(feature = "proxy")]
pub mod proxy;
pub mod search;
#[cfg(feature = "proxy")]
pub mod sidecar;
pub mod store;
#[cfg(test)]
mod testing;
pub mod text;
pub mod wire;
pub mod workspace;
