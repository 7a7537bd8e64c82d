//! The layers of aperture without I/O, as functions of values: texts, sessions, decisions, formats and plans.

pub mod engine;
pub mod model;
pub mod planning;
pub mod provider;
#[cfg(test)]
mod testing;
pub mod text;
