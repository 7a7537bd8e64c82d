//! Requests that read a session: its content and costs.

pub mod bare;
pub mod blocks;
mod everywhere;
pub mod explain;
pub mod manifest;
pub mod recall;
pub mod sessions;
pub mod show;
pub mod status;
pub mod summary;
pub mod transcript;
pub mod usage;
