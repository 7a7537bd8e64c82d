//! `aperture recall`: what left the model's sight, searched and brought back.
use crate::cli::{CommandError, Env};
/// Arguments of `recall`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Query
    query: String,
}
/// x
pub fn run(_: &Env, _: &Arguments) -> Result<(), CommandError> { Ok(()) }
