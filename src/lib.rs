//! The context of AI coding agents as a structured memory.

pub use aperture_core::{engine, model, planning, provider, text};

pub mod app;
pub mod cli;
pub mod commands;
pub mod fsio;
pub mod mcp;
pub mod memory;
pub mod output;
#[cfg(feature = "proxy")]
pub mod proxy;
pub mod search;
#[cfg(feature = "proxy")]
pub mod sidecar;
pub mod store;
#[cfg(test)]
mod testing;
pub mod wire;
pub mod workspace;
